//! Vertices of link graphs: hosts with their labels turned round (`com.example.www`).

use crate::policy::plan::{Base, Plan};
use crate::policy::{Rule, RuleSet};
use crate::uri::bets::authority::drop_www;
use crate::uri::host;

const WWW: RuleSet = RuleSet::of(&[Rule::WwwWww, Rule::WwwNumbered, Rule::WwwMobile]);

/// The host that a vertex names, as the keys of `plan` write it: step 6 of the core, then the `www` bet
/// and nothing else, since a vertex has neither scheme nor path. `None` if it is no host.
///
/// Two vertices are one under `plan` if these are equal. Entries of `plan` count that are about neither a
/// port nor a path.
///
/// ```
/// # use crawl_dedupe::{policy::{Rule, plan::{Base, Plan}}, uri};
/// let mut plan = Plan::new(Base::Browser);
/// let host = |plan: &Plan, vertex: &[u8]| uri::vertex_host(plan, vertex);
/// assert_eq!(host(&plan, b"com.Example.www").as_deref(), Some(&b"www.example.com"[..]));
/// plan.bets.rules.insert(Rule::WwwWww);
/// assert_eq!(host(&plan, b"com.example.www"), host(&plan, b"com.example"));
/// assert_ne!(host(&plan, b"com.www"), host(&plan, b"com"));
/// ```
#[must_use]
pub fn vertex_host(plan: &Plan, vertex: &[u8]) -> Option<Vec<u8>> {
    let base = match plan.base {
        Base::Parity(_) => Base::Browser,
        base => base,
    };
    let mut labels: Vec<&[u8]> = vertex.split(|byte| *byte == b'.').collect();
    labels.reverse();
    let mut name = Vec::new();
    host::write(&labels.join(&b'.'), base, &mut name).ok()?;
    let rules = plan.bets_for(&name, PORT_UNKNOWN, b"/").rules;
    drop_www(&mut name, rules.intersection(WWW), &mut RuleSet::default());
    Some(name)
}

/// No entry is about it.
const PORT_UNKNOWN: u16 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::origins::{Authority, Origin, Origins};
    use crate::policy::plan::Bets;

    fn check(plan: &Plan, vertex: &str, expected: Option<&str>) {
        let host = vertex_host(plan, vertex.as_bytes());
        assert_eq!(host.as_deref(), expected.map(str::as_bytes), "{vertex}");
    }

    #[test]
    fn a_vertex_is_turned_round_and_written_as_a_host() {
        let plan = Plan::new(Base::Browser);
        check(&plan, "org.example.www", Some("www.example.org"));
        check(&plan, "uk.co.EXAMPLE", Some("example.co.uk"));
        check(&plan, "example.b\u{fc}cher", Some("xn--bcher-kva.example"));
        check(&plan, "com", Some("com"));
        check(&plan, ".org.example", Some("example.org."));
        check(&plan, "1.0.0.127", Some("127.0.0.1"));
        check(&plan, "", None);
        check(&plan, "org.exa mple", None);
        check(&plan, "org.example/a", None);
    }

    #[test]
    fn only_the_www_bet_runs() {
        let mut plan = Plan::new(Base::Grammar);
        plan.bets.rules = RuleSet::bets();
        check(&plan, "org.example.www2.www", Some("example.org"));
        check(&plan, "com.www", Some("www.com"));
        check(&plan, ".org.example", Some("example.org."));
    }

    #[test]
    fn an_entry_counts_if_it_is_about_the_whole_host() {
        let entry = |host: &str, port, path: &str| Origin {
            authority: Authority {
                host: host.as_bytes().to_vec(),
                port,
            },
            path: path.as_bytes().to_vec(),
            bets: Bets {
                rules: WWW,
                ..Bets::default()
            },
        };
        let mut plan = Plan::new(Base::Browser);
        plan.origins = Origins::new(vec![
            entry("a.example", None, ""),
            entry("b.example", Some(80), ""),
            entry("c.example", None, "/x"),
        ]);
        check(&plan, "example.a.www", Some("a.example"));
        check(&plan, "example.b.www", Some("www.b.example"));
        check(&plan, "example.c.www", Some("www.c.example"));
    }
}
