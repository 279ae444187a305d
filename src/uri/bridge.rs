//! Which bets would give two URLs one key: the shortest sets of them.
//!
//! Every rule of a shortest set fires on one of the two URLs when the set runs, or the set without it would
//! do as well. So only rules that fire in some small set are combined; then sets are tried by size.

use crate::policy::plan::{Base, Bets, Plan};
use crate::policy::{Rule, RuleSet};
use crate::uri::Normalizer;

/// Sets up to this size are all tried, to learn which rules fire at all.
const PROBE_LEN: usize = 3;
/// Sets that are tried at most: some seconds.
const SETS_MAX: usize = 1 << 20;

/// All shortest sets of bets that, on top of `plan`, give both URLs one key text, in policy order.
///
/// Empty if they share one already, or if no set does. Bets that read a list read the plan's own.
///
/// ```
/// # use crawl_dedupe::{policy::plan::{Base, Plan}, uri};
/// let plan = Plan::new(Base::Browser);
/// let sets = uri::bridges(&plan, b"http://www.example.org/a", b"https://example.org/a");
/// let names: Vec<&str> = sets[0].iter().map(|rule| rule.name()).collect();
/// assert_eq!(names, ["scheme=merge", "www=www"]);
/// ```
#[must_use]
pub fn bridges(plan: &Plan, first: &[u8], second: &[u8]) -> Vec<RuleSet> {
    let mut pair = Pair {
        plan: plan.clone(),
        with_rules: plan.clone(),
        urls: [first, second],
        normalizers: Default::default(),
    };
    if matches!(plan.base, Base::Parity(_)) || pair.run(RuleSet::EMPTY).0 {
        return Vec::new();
    }
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    let mut relevant = RuleSet::EMPTY;
    for len in 1..=PROBE_LEN {
        let mut found = Vec::new();
        for_each_set(&bets, len, &mut |set| {
            let (is_shared, fired) = pair.run(set);
            relevant = relevant.union(fired);
            found.extend(is_shared.then_some(set));
            true
        });
        if !found.is_empty() {
            return found;
        }
    }
    let relevant: Vec<Rule> = relevant.intersection(RuleSet::bets()).iter().collect();
    let mut n_left = SETS_MAX;
    for len in PROBE_LEN + 1..=relevant.len() {
        let mut found = Vec::new();
        for_each_set(&relevant, len, &mut |set| {
            found.extend(pair.run(set).0.then_some(set));
            n_left -= 1;
            n_left > 0
        });
        if !found.is_empty() || n_left == 0 {
            return found;
        }
    }
    Vec::new()
}

/// Two URLs under a plan and more bets.
struct Pair<'u> {
    plan: Plan,
    with_rules: Plan,
    urls: [&'u [u8]; 2],
    normalizers: [Normalizer; 2],
}

impl Pair<'_> {
    /// Whether both have one key text under the plan with `rules`, and what fired on either.
    fn run(&mut self, rules: RuleSet) -> (bool, RuleSet) {
        add(&mut self.with_rules.bets, &self.plan.bets, rules);
        let bets = self.with_rules.origins.bets_mut();
        for (bets, own) in bets.zip(&self.plan.origins) {
            add(bets, &own.bets, rules);
        }
        let [first, second] = &mut self.normalizers;
        let first = first.normalize(&self.with_rules, self.urls[0]);
        let second = second.normalize(&self.with_rules, self.urls[1]);
        let is_allowed = !undo_each_other(self.with_rules.bets.rules);
        (
            is_allowed && first.text == second.text,
            first.fired.union(second.fired),
        )
    }
}

fn add(bets: &mut Bets, own: &Bets, rules: RuleSet) {
    bets.rules = own.rules.union(rules);
}

fn undo_each_other(rules: RuleSet) -> bool {
    rules.contains(Rule::TrailingSlashDrop) && rules.contains(Rule::TrailingSlashAdd)
}

/// Every set of `len` of `rules`, in policy order, until `take` says stop.
fn for_each_set(rules: &[Rule], len: usize, take: &mut impl FnMut(RuleSet) -> bool) {
    let mut chosen: Vec<usize> = (0..len).collect();
    if len > rules.len() {
        return;
    }
    loop {
        if !take(chosen.iter().map(|index| rules[*index]).collect()) {
            return;
        }
        // The last place that can still move on; those behind it follow closely.
        let Some(place) = (0..len)
            .rev()
            .find(|place| chosen[*place] < rules.len() - len + place)
        else {
            return;
        };
        chosen[place] += 1;
        for behind in place + 1..len {
            chosen[behind] = chosen[behind - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sets of the catalogue up to four rules, tried one by one.
    fn brute_force(plan: &Plan, first: &[u8], second: &[u8]) -> Vec<RuleSet> {
        let bets: Vec<Rule> = RuleSet::bets().iter().collect();
        for len in 0..=4 {
            let mut found = Vec::new();
            for_each_set(&bets, len, &mut |set| {
                let mut plan = plan.clone();
                plan.bets.rules = plan.bets.rules.union(set);
                let (mut one, mut other) = (Normalizer::default(), Normalizer::default());
                let one = one.normalize(&plan, first).text;
                let is_shared = one == other.normalize(&plan, second).text;
                found.extend((is_shared && !undo_each_other(plan.bets.rules)).then_some(set));
                true
            });
            if !found.is_empty() {
                return if len == 0 { Vec::new() } else { found };
            }
        }
        Vec::new()
    }

    #[test]
    fn the_shortest_sets_are_those_of_a_brute_force_search() {
        let plan = Plan::new(Base::Browser);
        for (first, second, len) in [
            ("http://a.example/x", "http://a.example/x", 0),
            ("http://a.example/x", "http://b.example/x", 0),
            ("http://www.example.org/a", "https://example.org/a/", 3),
            ("http://example.org/", "http://example.org/index.html", 1),
            (
                "http://example.org/A?b=1&a=2",
                "http://example.org/a?a=2&b=1",
                2,
            ),
            ("http://example.org/?utm_source=x", "http://example.org/", 1),
            ("http://example.org/?a=%2541", "http://example.org/?a=A", 1),
            ("http://u@m.example.org./a//b", "http://example.org/a/b", 4),
            (
                "http://example.org/?lang=en&sid=0123456789",
                "http://example.org/?",
                1,
            ),
            (
                "http://example.org/a.html;jsessionid=1",
                "http://example.org/a",
                2,
            ),
            (
                "http://example.org/07?x=%c3%a9",
                "http://example.org/7?x=e%cc%81",
                2,
            ),
        ] {
            let (first, second) = (first.as_bytes(), second.as_bytes());
            let found = bridges(&plan, first, second);
            let label = format!("{} {}", first.escape_ascii(), second.escape_ascii());
            assert_eq!(found, brute_force(&plan, first, second), "{label}");
            assert_eq!(found.first().map_or(0, |set| set.len()), len, "{label}");
        }
    }

    #[test]
    fn sets_of_more_rules_are_found_among_those_that_fire() {
        let plan = Plan::new(Base::Browser);
        let first = b"http://u@www.example.org./a//B/index.html?utm_source=1";
        let found = bridges(&plan, first, b"https://example.org/a/b");
        assert_eq!(found[0].len(), 9, "{found:?}");
        assert!(found[0].contains(Rule::SchemeMerge) && found[0].contains(Rule::UserinfoDrop));
    }

    #[test]
    fn no_set_has_both_of_two_that_undo_each_other() {
        let mut plan = Plan::new(Base::Browser);
        plan.bets.rules.insert(Rule::TrailingSlashAdd);
        for set in bridges(
            &plan,
            b"http://a.example/x.html",
            b"http://a.example/x.html/",
        ) {
            assert!(!set.contains(Rule::TrailingSlashDrop));
        }
    }
}
