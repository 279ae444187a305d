//! From a target URI to the text that is hashed: the fast path, else the core, then the bets.

use crate::policy::plan::{Base, Fragment, Parity, Plan};
use crate::policy::{Rule, RuleSet};
use crate::uri::core::{self, Settings};
use crate::uri::fast::{self, Quote};
use crate::uri::parts::{self, Parts};
use crate::uri::{Kind, parity, query};

/// What a plan makes of one target URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four facts that do not exclude each other"
)]
pub struct Normalized<'a> {
    /// The bytes to be hashed: a slice of the input wherever that is possible.
    pub text: &'a [u8],
    /// What sort of URI it is.
    pub kind: Kind,
    /// Steps and bets that changed something.
    pub fired: RuleSet,
    /// The fragment starts with `!` or `/`.
    pub is_route: bool,
    /// There is non-empty user info.
    pub has_credentials: bool,
    /// The query has a signature parameter.
    pub is_signed: bool,
    /// Whether the plan's scope admits it.
    pub in_scope: bool,
}

/// The buffers that normalization reuses from one URL to the next.
#[derive(Debug, Default)]
pub struct Normalizer {
    /// The text under work.
    text: Vec<u8>,
    /// Its next form.
    next: Vec<u8>,
}

impl Normalizer {
    /// What `plan` makes of `input`; total, and it allocates nothing once its buffers have grown,
    /// hosts that need `idna` or `url` apart.
    pub fn normalize<'a>(&'a mut self, plan: &Plan, input: &'a [u8]) -> Normalized<'a> {
        if let Some(normalized) = fast(plan, input) {
            return normalized;
        }
        let settings = Settings {
            base: plan.base,
            fragment: plan.fragment,
        };
        if let Base::Parity(library) = plan.base {
            return self.imitate(library, plan, input);
        }
        let outcome = core::write(input, settings, &mut self.next, &mut self.text);
        let text = if self.text == input {
            input
        } else {
            &self.text
        };
        let parts = Parts::of(text);
        Normalized {
            text,
            kind: outcome.kind,
            fired: outcome.fired,
            is_route: outcome.is_route,
            has_credentials: match outcome.kind {
                Kind::Opaque => parts::userinfo_range(text).is_some(),
                _ => parts.userinfo.is_some_and(|userinfo| !userinfo.is_empty()),
            },
            is_signed: outcome.kind != Kind::Opaque && parts.query.is_some_and(query::is_signed),
            in_scope: in_scope(plan, outcome.kind, &parts),
        }
    }

    /// The key that another library gives; the facts are those of the safe core. Where the library
    /// raises, the input itself is the key, of kind opaque.
    fn imitate<'a>(&'a mut self, library: Parity, plan: &Plan, input: &'a [u8]) -> Normalized<'a> {
        let safe = Plan {
            scope: plan.scope.clone(),
            ..Plan::new(Base::Browser)
        };
        let facts = Normalized {
            text: input,
            ..self.normalize(&safe, input)
        };
        let kind = match parity::write(library, input, &mut self.text) {
            Ok(()) => facts.kind,
            Err(_raised) => Kind::Opaque,
        };
        Normalized {
            text: &self.text,
            kind,
            fired: RuleSet::EMPTY,
            ..facts
        }
    }
}

/// What the fast path knows to be its own key, up to its fragment.
#[inline]
fn fast<'a>(plan: &Plan, input: &'a [u8]) -> Option<Normalized<'a>> {
    let quote = match plan.base {
        Base::Browser => Quote::Escaped,
        Base::Grammar => Quote::Kept,
        Base::Parity(_) => return None,
    };
    let found = fast::scan(input, quote)?;
    let text = &input[..found.len];
    let is_route = matches!(input[found.len..], [_, b'!' | b'/', ..]);
    if is_route && plan.fragment == Fragment::KeepRoutes {
        return None;
    }
    let mut fired = RuleSet::EMPTY;
    if found.has_fragment {
        fired.insert(Rule::Fragment);
    }
    Some(Normalized {
        text,
        kind: Kind::Http,
        fired,
        is_route,
        has_credentials: false,
        is_signed: found.is_signed,
        in_scope: plan.scope.is_none() || in_scope(plan, Kind::Http, &Parts::of(text)),
    })
}

/// Whether the plan's scope admits a text of the core; never one of kind opaque, which has no host.
fn in_scope(plan: &Plan, kind: Kind, parts: &Parts<'_>) -> bool {
    plan.scope.as_ref().is_none_or(|scope| {
        kind != Kind::Opaque && scope.admits(parts.scheme, parts.host, parts.port_in_force())
    })
}
