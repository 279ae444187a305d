//! Keys of the public cases: exact texts, pairs that must merge and pairs that must not.

use std::fs;

use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;
use serde_json::Value;

use crate::shared;

fn key(policy: &Policy, uri: &str) -> (String, ComparisonKey) {
    let mut keyer = Keyer::new(policy);
    let keyed = keyer.key(uri.as_bytes());
    let text = String::from_utf8(keyed.text.to_vec());
    (text.expect("a key of UTF-8 is ASCII"), keyed.key)
}

#[test]
fn public_cases_have_their_keys() {
    let Some(shared) = shared::dir() else { return };
    let cases = fs::read_to_string(shared.join("data/cases/public/cases.jsonl")).unwrap();
    let mut n_checked = 0;
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let expected = &case["expected"];
        for policy in ["rfc3986@1", "safe@1"] {
            let policy = Policy::load(policy).unwrap();
            for (uri, text) in expected["keys"].as_object().into_iter().flatten() {
                assert_eq!(key(&policy, uri).0, text.as_str().unwrap(), "{uri}");
                n_checked += 1;
            }
            for pair in expected["pairs"].as_array().into_iter().flatten() {
                let [want, left, right] = [0, 1, 2].map(|at| pair[at].as_str().unwrap());
                let is_same = key(&policy, left).1 == key(&policy, right).1;
                assert_eq!(is_same, want == "same", "{left} {right}");
                n_checked += 1;
            }
        }
    }
    assert!(n_checked >= 100, "only {n_checked} facts");
}
