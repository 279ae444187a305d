//! The fast normalizer against its slow twin, on every policy: the first nine bytes choose it.
#![no_main]

#[path = "../../tests/it/naive.rs"]
mod naive;
#[path = "../../tests/it/naive_bets.rs"]
mod naive_bets;

use crawl_dedupe::policy::plan::{Base, Bets, Fragment, Plan};
use crawl_dedupe::policy::{Rule, RuleSet};
use crawl_dedupe::uri::Normalizer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, input)) = data.split_first_chunk::<9>() else {
        return;
    };
    let [first, rules @ ..] = *choice;
    let base = if first & 1 == 0 { Base::Browser } else { Base::Grammar };
    let mut rules = RuleSet(u64::from_le_bytes(rules) & RuleSet::bets().0);
    if rules.contains(Rule::TrailingSlashDrop) {
        rules.remove(Rule::TrailingSlashAdd);
    }
    let plan = Plan {
        fragment: if first & 2 == 0 { Fragment::Drop } else { Fragment::KeepRoutes },
        bets: Bets {
            rules,
            ..Bets::default()
        },
        ..Plan::new(base)
    };
    let mut normalizer = Normalizer::default();
    let fast = normalizer.normalize(&plan, input);
    let (slow, kind) = naive::normalize_naive(&plan, input);
    assert_eq!((fast.text, fast.kind), (slow.as_slice(), kind));
    let once = fast.text.to_vec();
    assert_eq!(normalizer.normalize(&plan, &once).text, once, "idempotent");
});
