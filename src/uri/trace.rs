//! How a key text came about: for people who ask why. Slow, and no part of making keys.

use crate::policy::plan::{Base, Plan};
use crate::policy::{Rule, RuleSet};
use crate::uri::core::{cut, scheme_len, split_port, split_userinfo};
use crate::uri::parts::Parts;
use crate::uri::table::PATH;
use crate::uri::{Kind, Normalizer, dots, percent};

/// What rules did to a whole URL: mostly one rule, several where nothing stands between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rules.
    pub rules: RuleSet,
    /// The URL before.
    pub before: Vec<u8>,
    /// The URL after.
    pub after: Vec<u8>,
}

/// The steps from `input` to its key text under `plan`, in policy order: core steps, then bets. None
/// for a parity plan, which has no rules.
#[must_use]
pub fn trace(plan: &Plan, input: &[u8]) -> Vec<Step> {
    if matches!(plan.base, Base::Parity(_)) {
        return Vec::new();
    }
    let mut normalizer = Normalizer::default();
    let core_plan = restricted(plan, RuleSet::EMPTY);
    let core = normalizer.normalize(&core_plan, input);
    let mut steps = Steps {
        text: input.to_vec(),
        pending: RuleSet::EMPTY,
        steps: Vec::new(),
    };
    let core_steps = core.fired.without(RuleSet::bets());
    match core.kind {
        Kind::Http => trace_http(plan.base, core_steps, core.text, &mut steps),
        Kind::OtherScheme | Kind::Opaque => core_steps
            .iter()
            .for_each(|rule| steps.pending.insert(rule)),
    }
    let text = core.text.to_vec();
    steps.reach(RuleSet::EMPTY, text);

    let bets = normalizer
        .normalize(plan, input)
        .fired
        .intersection(RuleSet::bets());
    let mut so_far = RuleSet::EMPTY;
    for rule in bets.iter() {
        so_far.insert(rule);
        let text = normalizer
            .normalize(&restricted(plan, so_far), input)
            .text
            .to_vec();
        steps.reach(RuleSet::of(&[rule]), text);
    }
    steps.steps
}

/// The components of a key text that it has, by the names of RFC 3986.
#[must_use]
pub fn components(key_text: &[u8]) -> Vec<(&'static str, &[u8])> {
    let parts = Parts::of(key_text);
    let mut found = vec![("scheme", parts.scheme)];
    found.extend(parts.userinfo.map(|userinfo| ("userinfo", userinfo)));
    found.extend((!parts.host.is_empty()).then_some(("host", parts.host)));
    found.extend(parts.port.map(|port| ("port", port)));
    found.push(("path", parts.path));
    found.extend(parts.query.map(|query| ("query", query)));
    found.extend(parts.fragment.map(|fragment| ("fragment", fragment)));
    found
}

/// `plan` with no other bets than these.
fn restricted(plan: &Plan, bets: RuleSet) -> Plan {
    let mut plan = plan.clone();
    plan.bets.rules = plan.bets.rules.intersection(bets);
    for own in plan.origins.bets_mut() {
        own.rules = own.rules.intersection(bets);
    }
    plan
}

/// The steps so far.
struct Steps {
    text: Vec<u8>,
    /// Rules that fired without a visible change yet; they go with the next step.
    pending: RuleSet,
    steps: Vec<Step>,
}

impl Steps {
    fn reach(&mut self, rules: RuleSet, text: Vec<u8>) {
        self.pending = self.pending.union(rules);
        if text == self.text {
            return;
        }
        self.steps.push(Step {
            rules: std::mem::take(&mut self.pending),
            before: std::mem::replace(&mut self.text, text.clone()),
            after: text,
        });
    }
}

/// An http URL in pieces, delimiters included, so that joining them gives the text again.
struct Pieces {
    scheme: Vec<u8>,
    slashes: Vec<u8>,
    userinfo: Vec<u8>,
    host: Vec<u8>,
    port: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

impl Pieces {
    /// Cuts as the core cuts; `text` is trimmed.
    fn of(text: &[u8], base: Base) -> Self {
        let is_slash = |byte: &u8| *byte == b'/' || (*byte == b'\\' && base == Base::Browser);
        let (rest, fragment) = cut(text, b'#');
        let scheme = scheme_len(rest).unwrap_or(0);
        let (scheme, rest) = rest.split_at(scheme);
        let (rest, query) = cut(rest, b'?');
        let behind = rest.get(1..).unwrap_or_default();
        let n_slashes = behind.iter().take_while(|byte| is_slash(byte)).count();
        let n_slashes = if base == Base::Browser {
            n_slashes
        } else {
            n_slashes.min(2)
        };
        let (slashes, behind) = behind.split_at(n_slashes);
        let end = behind.iter().position(is_slash).unwrap_or(behind.len());
        let (authority, path) = behind.split_at(end);
        let (userinfo, host_port) = split_userinfo(authority);
        let (host, port) = split_port(host_port);
        let with = |mark: &[u8], text: Option<&[u8]>| {
            text.map_or(Vec::new(), |text| [mark, text].concat())
        };
        Self {
            scheme: scheme.to_vec(),
            slashes: [b":", slashes].concat(),
            userinfo: userinfo.map_or(Vec::new(), |userinfo| [userinfo, b"@"].concat()),
            host: host.to_vec(),
            port: with(b":", port),
            path: path.to_vec(),
            query: with(b"?", query),
            fragment: with(b"#", fragment),
        }
    }

    fn join(&self) -> Vec<u8> {
        let pieces: [&[u8]; 8] = [
            &self.scheme,
            &self.slashes,
            &self.userinfo,
            &self.host,
            &self.port,
            &self.path,
            &self.query,
            &self.fragment,
        ];
        pieces.concat()
    }

    /// Does what `rule` did, given the pieces of the finished text.
    fn apply(&mut self, rule: Rule, finished: &Self, fired: RuleSet) {
        match rule {
            Rule::SchemeCase => self.scheme.make_ascii_lowercase(),
            Rule::Slashes => {
                self.slashes.clone_from(&finished.slashes);
                self.path
                    .iter_mut()
                    .filter(|b| **b == b'\\')
                    .for_each(|b| *b = b'/');
            }
            Rule::Fragment => self.fragment.clone_from(&finished.fragment),
            Rule::UserinfoEmpty => self.userinfo.clone_from(&finished.userinfo),
            Rule::HostCase if fired.contains(Rule::HostIdna) || fired.contains(Rule::HostIp) => {
                self.host.make_ascii_lowercase();
            }
            // What stands between IDNA and the address is not kept.
            Rule::HostIdna if fired.contains(Rule::HostIp) => {}
            Rule::HostCase | Rule::HostIdna | Rule::HostIp => self.host.clone_from(&finished.host),
            Rule::Port => self.port.clone_from(&finished.port),
            Rule::PathEscapes => {
                let mut path = Vec::new();
                percent::settle(&self.path, PATH, &mut path);
                self.path = path;
            }
            Rule::DotSegments => {
                dots::remove(&mut self.path, 0);
            }
            Rule::PathEmpty => self.path.clone_from(&finished.path),
            Rule::QueryEscapes => self.query.clone_from(&finished.query),
            _ => {}
        }
    }
}

/// The core steps that fired on an http URL, one by one.
fn trace_http(base: Base, fired: RuleSet, finished: &[u8], steps: &mut Steps) {
    let text = if fired.contains(Rule::Trim) {
        let inner = steps.text.trim_ascii();
        let start = inner
            .iter()
            .position(|byte| *byte > b' ')
            .unwrap_or(inner.len());
        let end = inner
            .iter()
            .rposition(|byte| *byte > b' ')
            .map_or(start, |at| at + 1);
        let is_kept = |byte: &u8| !matches!(byte, b'\t' | b'\r' | b'\n');
        inner[start..end].iter().copied().filter(is_kept).collect()
    } else {
        steps.text.clone()
    };
    let mut pieces = Pieces::of(&text, base);
    steps.reach(fired.intersection(RuleSet::of(&[Rule::Trim])), text);
    let finished = Pieces::of(finished, base);
    for rule in fired.iter().filter(|rule| *rule != Rule::Trim) {
        pieces.apply(rule, &finished, fired);
        steps.reach(RuleSet::of(&[rule]), pieces.join());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::plan::Fragment;
    use proptest::prelude::*;

    fn told(plan: &Plan, input: &[u8]) -> Vec<String> {
        let tell = |step: &Step| {
            let names: Vec<&str> = step.rules.iter().map(Rule::name).collect();
            format!("{} {}", names.join(";"), step.after.escape_ascii())
        };
        trace(plan, input).iter().map(tell).collect()
    }

    #[test]
    fn each_step_shows_what_its_rule_did() {
        let mut plan = Plan::new(Base::Browser);
        plan.bets.rules = RuleSet::of(&[Rule::WwwWww, Rule::SlashCollapse, Rule::ExtensionDrop]);
        let found = told(
            &plan,
            b" HTTP:\\\\:@WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xE9#top",
        );
        let expected = [
            r"trim HTTP:\\\\:@WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xe9#top",
            r"scheme-case http:\\\\:@WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xe9#top",
            r"slashes http://:@WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xe9#top",
            r"fragment http://:@WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xe9",
            r"userinfo-empty http://WWW.Example.org:080/a/%2e%2e//%7Eann?caf\xe9",
            r"host-case http://www.example.org:080/a/%2e%2e//%7Eann?caf\xe9",
            r"port http://www.example.org/a/%2e%2e//%7Eann?caf\xe9",
            r"path-escapes http://www.example.org/a/..//~ann?caf\xe9",
            r"dot-segments http://www.example.org//~ann?caf\xe9",
            r"query-escapes http://www.example.org//~ann?caf%E9",
            r"www=www http://example.org//~ann?caf%E9",
            r"slash-collapse=on http://example.org/~ann?caf%E9",
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn steps_lead_from_the_input_to_the_key_text(
            input in "(HTTP|https|ftp|:|//|/|\\\\|www\\.|\\.\\.|%2e|%41|%|é|A|b|@|:80|\\?|#|&| |0x7f|\t|\\[|\\]|&amp;|index\\.html){0,12}",
            bits in any::<u64>(),
            is_grammar in any::<bool>(),
        ) {
            let mut plan = Plan::new(if is_grammar { Base::Grammar } else { Base::Browser });
            if bits % 2 == 0 {
                plan.fragment = Fragment::KeepRoutes;
            }
            plan.bets.rules = RuleSet(bits).intersection(RuleSet::bets());
            let mut normalizer = Normalizer::default();
            let normalized = normalizer.normalize(&plan, input.as_bytes());
            let mut text = input.clone().into_bytes();
            for step in trace(&plan, input.as_bytes()) {
                prop_assert_eq!(&step.before, &text);
                prop_assert_ne!(&step.before, &step.after);
                prop_assert_eq!(step.rules.without(normalized.fired), RuleSet::EMPTY);
                text = step.after;
            }
            prop_assert_eq!(text, normalized.text);
        }
    }
}
