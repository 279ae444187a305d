//! The keys of `safe@1`, held against a file: no key changes without a new version of the policy.
//!
//! A line is key, kind and URL; new URLs go to the end. The keys of shared lists are held by one hash
//! each, since the lists are not ours to copy.

use std::fmt::Write;
use std::fs;

use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;

use crate::shared;

const FILE: &str = "tests/it/golden/safe-1.keys";

/// Keys of all lines of the shared lists, joined and hashed.
const SHARED: [(&str, &str); 2] = [
    ("top100.txt", "1ad7d757a3735c1bd5574fd263a826e7"),
    ("progscrape_stories.txt", "7a07c71f627d9eecc56c40fa8c2b4c89"),
];

fn keys(urls: &[String]) -> String {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let mut out = String::new();
    for url in urls {
        let keyed = keyer.key(url.as_bytes());
        let (key, kind) = (keyed.key, keyed.kind);
        let url = serde_json::to_string(url).expect("a string is JSON");
        writeln!(out, "{:016x}{:016x} {kind:?} {url}", key.check, key.key)
            .expect("a string takes all");
    }
    out
}

#[test]
fn no_key_of_safe_1_has_changed() {
    let expected = fs::read_to_string(FILE).expect("the golden file is there");
    let url = |line: &str| {
        let json = line
            .splitn(3, ' ')
            .last()
            .expect("a line has three columns");
        serde_json::from_str(json).expect("the URL is a JSON string")
    };
    let urls: Vec<String> = expected.lines().map(url).collect();
    assert!(urls.len() > 1_000, "only {} URLs", urls.len());
    let found = keys(&urls);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(
            found, expected,
            "a key of safe@1 has changed: that needs safe@2"
        );
    }
}

#[test]
fn no_key_of_the_shared_lists_has_changed() {
    let Some(shared) = shared::dir() else { return };
    for (name, expected) in SHARED {
        let list = fs::read_to_string(shared.join("data/url-lists").join(name))
            .expect("the list is readable");
        let urls: Vec<String> = list.lines().map(str::to_owned).collect();
        let hash = ComparisonKey::of(keys(&urls).as_bytes());
        assert_eq!(
            format!("{:016x}{:016x}", hash.check, hash.key),
            expected,
            "{name}"
        );
    }
}
