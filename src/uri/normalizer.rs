//! From a target URI to the text that is hashed: the fast path, else the core, then the bets.

use std::mem;

use crate::policy::plan::{Base, Fragment, Parity, Plan};
use crate::policy::{Rule, RuleSet};
use crate::uri::bets::components::Components;
use crate::uri::bets::{Choice, Work};
use crate::uri::core::{self, Settings};
use crate::uri::fast::{self, Behind, Quote};
use crate::uri::parts::{self, Parts};
use crate::uri::{Kind, parity, query};

/// Passes of the bets before they are watched for going round.
const PASSES_UNWATCHED: u64 = 16;

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

/// The bets that fire on one URL: what is needed to measure rules one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// Bets of the whole catalogue that change the core form, each by itself.
    pub alone: RuleSet,
    /// Bets of the plan that changed something in one of its passes.
    pub in_policy: RuleSet,
}

/// The buffers that normalization reuses from one URL to the next.
#[derive(Debug, Default)]
pub struct Normalizer {
    /// The text under work, and its next form.
    text: Vec<u8>,
    next: Vec<u8>,
    /// A text without its TABs and line ends.
    joined: Vec<u8>,
    /// What bets write, before the core has seen it.
    raw: Vec<u8>,
    url: Components,
    work: Work,
}

impl Normalizer {
    /// What `plan` makes of `input`; total, and it allocates nothing once its buffers have grown,
    /// hosts that need `idna` or `url` apart.
    ///
    /// ```
    /// # use crawl_dedupe::{policy::plan::{Base, Plan}, uri::Normalizer};
    /// let mut normalizer = Normalizer::default();
    /// let plan = Plan::new(Base::Browser);
    /// let normalized = normalizer.normalize(&plan, b"HTTP://Example.org:80/%7Eann#top");
    /// assert_eq!(normalized.text, b"http://example.org/~ann");
    /// ```
    #[inline]
    pub fn normalize<'a>(&'a mut self, plan: &Plan, input: &'a [u8]) -> Normalized<'a> {
        match canonical(plan, input) {
            Some(normalized) if !has_bets(plan) && !normalized.fired.contains(Rule::PathEmpty) => {
                normalized
            }
            Some(normalized) => self.complete(plan, input, normalized),
            None => self.normalize_slowly(plan, input),
        }
    }

    /// Gives a canonical URL its path, if it has none, and runs the bets.
    fn complete<'a>(
        &'a mut self,
        plan: &Plan,
        input: &'a [u8],
        facts: Normalized<'a>,
    ) -> Normalized<'a> {
        self.text.clear();
        self.text.extend_from_slice(facts.text);
        if facts.fired.contains(Rule::PathEmpty) {
            self.text.push(b'/');
        }
        if has_bets(plan) {
            self.bet(plan, input, facts)
        } else {
            self.finish(input, facts)
        }
    }

    /// Which bets fire on `input`, each alone and in the plan.
    pub fn masks(&mut self, plan: &Plan, input: &[u8]) -> Masks {
        let in_policy = self
            .normalize(plan, input)
            .fired
            .intersection(RuleSet::bets());
        let base = Plan {
            fragment: plan.fragment,
            ..Plan::new(plan.base)
        };
        let mut text = mem::take(&mut self.raw);
        text.clear();
        let core = self.normalize(&base, input);
        let mut alone = RuleSet::EMPTY;
        if core.kind == Kind::Http && !matches!(plan.base, Base::Parity(_)) {
            text.extend_from_slice(core.text);
            for rule in RuleSet::bets().iter() {
                self.url.read(&text);
                let host = self.url.host.as_slice();
                let choice = Choice {
                    rules: RuleSet::of(&[rule]),
                    lists: plan.bets_for(host, self.url.port_in_force(), &self.url.path),
                    base: plan.base,
                };
                alone = alone.union(choice.run(&mut self.url, &mut self.work));
            }
        }
        self.raw = text;
        Masks { alone, in_policy }
    }

    fn normalize_slowly<'a>(&'a mut self, plan: &Plan, input: &'a [u8]) -> Normalized<'a> {
        if let Base::Parity(library) = plan.base {
            return self.imitate(library, plan, input);
        }
        let facts = self.core(plan, input);
        match facts.kind {
            Kind::Http if has_bets(plan) => self.bet(plan, input, facts),
            _ => self.finish(input, facts),
        }
    }

    /// Writes the core form into `text`; the text of the facts is not that.
    fn core<'a>(&mut self, plan: &Plan, input: &'a [u8]) -> Normalized<'a> {
        let outcome = core::write(input, settings(plan), &mut self.joined, &mut self.text);
        let parts = Parts::of(&self.text);
        Normalized {
            text: input,
            kind: outcome.kind,
            fired: outcome.fired,
            is_route: outcome.is_route,
            has_credentials: match outcome.kind {
                Kind::Opaque => parts::userinfo_range(&self.text).is_some(),
                _ => parts.userinfo.is_some_and(|userinfo| !userinfo.is_empty()),
            },
            is_signed: outcome.kind != Kind::Opaque && parts.query.is_some_and(query::is_signed),
            in_scope: in_scope(plan, outcome.kind, &parts),
        }
    }

    /// Runs the bets, then the core, until nothing changes. Should a text come back (two origins can
    /// undo each other), the least of those that go round stands for all.
    fn bet<'a>(
        &'a mut self,
        plan: &Plan,
        input: &'a [u8],
        facts: Normalized<'a>,
    ) -> Normalized<'a> {
        let mut fired = facts.fired;
        let mut anchor = Vec::new();
        let mut n_passes = 0;
        let mut anchor_at = PASSES_UNWATCHED;
        while self.pass(plan, &mut fired) {
            n_passes += 1;
            if self.text == anchor {
                self.settle_on_least(plan, &anchor, &mut fired);
                break;
            }
            if n_passes == anchor_at {
                anchor.clone_from(&self.text);
                anchor_at *= 2;
            }
        }
        self.finish(input, Normalized { fired, ..facts })
    }

    /// Goes once round the circle that `anchor` is on.
    fn settle_on_least(&mut self, plan: &Plan, anchor: &[u8], fired: &mut RuleSet) {
        let mut least = anchor.to_vec();
        while self.pass(plan, fired) && self.text != anchor {
            if self.text < least {
                least.clone_from(&self.text);
            }
        }
        self.text = least;
    }

    /// Bets and core once; says whether the text has changed.
    fn pass(&mut self, plan: &Plan, fired: &mut RuleSet) -> bool {
        self.url.read(&self.text);
        let bets = plan.bets_for(&self.url.host, self.url.port_in_force(), &self.url.path);
        let choice = Choice {
            rules: bets.rules,
            lists: bets,
            base: plan.base,
        };
        let bet = choice.run(&mut self.url, &mut self.work);
        if bet.is_empty() {
            return false;
        }
        self.url.write(&mut self.raw);
        let outcome = core::write(&self.raw, settings(plan), &mut self.joined, &mut self.next);
        *fired = fired.union(bet).union(outcome.fired);
        mem::swap(&mut self.text, &mut self.next);
        self.text != self.next
    }

    /// The text as a slice of the input, if it is one.
    fn finish<'a>(&'a self, input: &'a [u8], facts: Normalized<'a>) -> Normalized<'a> {
        let text = if input.starts_with(&self.text) {
            &input[..self.text.len()]
        } else {
            &self.text
        };
        Normalized { text, ..facts }
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

/// Whether there is anything for bets to do.
fn has_bets(plan: &Plan) -> bool {
    !(plan.bets.rules.is_empty() && plan.origins.is_empty())
}

fn settings(plan: &Plan) -> Settings {
    Settings {
        base: plan.base,
        fragment: plan.fragment,
    }
}

/// What the fast path knows to be its own key, up to its fragment.
#[inline]
fn canonical<'a>(plan: &Plan, input: &'a [u8]) -> Option<Normalized<'a>> {
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
    if found.len < input.len() {
        fired.insert(Rule::Fragment);
    }
    if found.behind == Behind::Nothing {
        fired.insert(Rule::PathEmpty);
    }
    Some(Normalized {
        text,
        kind: Kind::Http,
        fired,
        is_route,
        has_credentials: false,
        is_signed: found.behind == Behind::Signed,
        in_scope: plan.scope.is_none() || in_scope(plan, Kind::Http, &Parts::of(text)),
    })
}

/// Whether the plan's scope admits a text of the core; never one of kind opaque, which has no host.
fn in_scope(plan: &Plan, kind: Kind, parts: &Parts<'_>) -> bool {
    plan.scope.as_ref().is_none_or(|scope| {
        kind != Kind::Opaque && scope.admits(parts.scheme, parts.host, parts.port_in_force())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::origins::Authority;
    use crate::policy::plan::{Names, Scope};

    fn plan(rules: &[Rule]) -> Plan {
        let mut plan = Plan::new(Base::Browser);
        plan.bets.rules = RuleSet::of(rules);
        plan.bets.query_drop = Names::new([&b"a"[..]]);
        plan
    }

    fn check(plan: &Plan, input: &str, text: &str, fired: &str) {
        let mut normalizer = Normalizer::default();
        let found = normalizer.normalize(plan, input.as_bytes());
        let found_text = found.text.escape_ascii().to_string();
        assert_eq!(
            (found_text.as_str(), found.fired.to_string().as_str()),
            (text, fired)
        );
        let masks = normalizer.masks(plan, input.as_bytes());
        let bets: RuleSet = fired.split(';').filter_map(Rule::parse).collect();
        assert_eq!(
            masks.in_policy,
            bets.intersection(RuleSet::bets()),
            "{input}"
        );
    }

    #[test]
    fn a_text_is_a_slice_of_the_input_where_it_can_be() {
        let mut normalizer = Normalizer::default();
        let slash = plan(&[Rule::TrailingSlashDrop]);
        for (plan, input, is_slice) in [
            (&plan(&[]), "http://example.org/a", true),
            (&plan(&[]), "http://example.org/a#b", true),
            (&plan(&[]), "http://a/", true),
            (&plan(&[]), "no URL", true),
            (&plan(&[]), "http://example.org", false),
            (&plan(&[]), "http://example.org/%7e", false),
            (&slash, "http://example.org/a", true),
            (&slash, "http://example.org/a/", true),
            (&slash, "http://example.org/a/?b", false),
        ] {
            let text = normalizer.normalize(plan, input.as_bytes()).text;
            assert_eq!(
                input.as_bytes().as_ptr_range().contains(&text.as_ptr()),
                is_slice,
                "{input}"
            );
        }
    }

    #[test]
    fn bets_run_until_nothing_changes() {
        check(
            &plan(&[Rule::TrailingSlashDrop, Rule::IndexFileDefault]),
            "http://a.example/b//index.html",
            "http://a.example/b",
            "index-file=default;trailing-slash=drop",
        );
        check(
            &plan(&[Rule::EscapesDecodeRepeated]),
            "http://a.example/b/%252e%252e/c",
            "http://a.example/c",
            "dot-segments;escapes=decode-repeated",
        );
        check(
            &plan(&[Rule::QueryDropList]),
            "http://a.example?a=1",
            "http://a.example/",
            "path-empty;query-drop=list",
        );
        check(
            &plan(&[Rule::WwwWww]),
            "ftp://www.a.example/",
            "ftp://www.a.example/",
            "",
        );
        check(
            &plan(&[Rule::QueryDropList]),
            "http://a.example/?a=1&sig=2",
            "http://a.example/?a=1&sig=2",
            "",
        );
    }

    #[test]
    fn a_mask_has_the_bets_that_would_fire_alone() {
        let mut normalizer = Normalizer::default();
        let masks = normalizer.masks(&plan(&[]), b"https://www.example.org/A/?a=1");
        assert_eq!(
            masks.alone.to_string(),
            "scheme=merge;www=www;trailing-slash=drop;path-case=lower;query-drop=list;query-all=drop"
        );
        assert!(masks.in_policy.is_empty());
        assert_eq!(
            normalizer.masks(&plan(&[]), b"ftp://www.example.org/"),
            Masks::default()
        );
    }

    #[test]
    fn facts_are_those_of_the_url() {
        let mut scoped = plan(&[]);
        scoped.scope = Some(Scope {
            hosts: vec![Authority {
                host: b"example.org".to_vec(),
                port: None,
            }],
            schemes: Vec::new(),
        });
        let mut normalizer = Normalizer::default();
        for (input, kind, facts) in [
            ("http://example.org/abcdefg", Kind::Http, "in"),
            ("http://www.example.org/#!a", Kind::Http, "route in"),
            ("http://u@example.org/", Kind::Http, "credentials in"),
            ("http://example.org/?sig=1", Kind::Http, "signed in"),
            ("http://example.net/", Kind::Http, ""),
            ("ftp://example.org/", Kind::OtherScheme, "in"),
            ("http://u:p@exa mple.org/", Kind::Opaque, "credentials"),
            ("example.org", Kind::Opaque, ""),
        ] {
            let found = normalizer.normalize(&scoped, input.as_bytes());
            let told: Vec<&str> = [
                (found.is_route, "route"),
                (found.has_credentials, "credentials"),
                (found.is_signed, "signed"),
                (found.in_scope, "in"),
            ]
            .into_iter()
            .filter_map(|(is_set, name)| is_set.then_some(name))
            .collect();
            assert_eq!(
                (found.kind, told.join(" ").as_str()),
                (kind, facts),
                "{input}"
            );
        }
    }

    #[test]
    fn what_an_imitated_library_refuses_is_its_own_text() {
        let surt = Plan::new(Base::Parity(Parity::Surt));
        check(&surt, "http://www.Example.org/b?a", "org,example)/b?a", "");
        let w3lib = Plan::new(Base::Parity(Parity::W3lib));
        let mut normalizer = Normalizer::default();
        let found = normalizer.normalize(&w3lib, b"http://a.example:99999999/");
        assert_eq!(
            (found.text, found.kind),
            (&b"http://a.example:99999999/"[..], Kind::Opaque)
        );
    }
}
