//! What the fuzz target does with its bytes. It stands here so that it is built and run with the tests.

use crawl_dedupe::policy::RuleSet;
use crawl_dedupe::policy::plan::{Base, Fragment, Plan};
use crawl_dedupe::uri::Normalizer;

use crate::mutations::Random;
use crate::naive::normalize_naive;
use crate::plans::{allowed, any, plan};

/// The normalizer against its slow twin, and against itself; the first nine bytes choose the policy.
pub(crate) fn run(data: &[u8]) {
    let Some((&[choice, ref rules @ ..], input)) = data.split_first_chunk::<9>() else {
        return;
    };
    let bits = u64::from_le_bytes(*rules);
    let plan = if choice & 4 == 0 {
        let base = [Base::Browser, Base::Grammar][usize::from(choice & 1)];
        Plan {
            fragment: [Fragment::Drop, Fragment::KeepRoutes][usize::from(choice >> 1 & 1)],
            ..plan(base, allowed(RuleSet(bits).intersection(RuleSet::bets())))
        }
    } else {
        any(&mut Random(bits))
    };
    let mut normalizer = Normalizer::default();
    let fast = normalizer.normalize(&plan, input);
    let (slow, kind) = normalize_naive(&plan, input);
    assert_eq!((fast.text, fast.kind), (slow.as_slice(), kind));
    let once = fast.text.to_vec();
    assert_eq!(normalizer.normalize(&plan, &once).text, once, "idempotent");
}

#[test]
fn a_fuzzed_url_has_the_key_of_the_twin() {
    let mut random = Random(11);
    for _ in 0..2_000 {
        let choice: Vec<u8> = (0..9).map(|_| random.next().to_le_bytes()[0]).collect();
        let input = random.pick(&["http://a/b", "HTTPS://www.a.example/?b", "urn:x", "\0"]);
        run(&[&choice, input.as_bytes()].concat());
    }
}
