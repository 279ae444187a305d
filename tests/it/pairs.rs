//! Pairs that must share a key and pairs that must not, by the standards: `pairs.tsv` says which and why.

use std::fs;

use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;

fn key(policy: &Policy, url: &[u8]) -> ComparisonKey {
    Keyer::new(policy).key(url).key
}

/// The text that Rust would write with these escapes.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (escape, behind) = after.split_at(1);
        rest = behind;
        match escape {
            "t" => out.push('\t'),
            "n" => out.push('\n'),
            "r" => out.push('\r'),
            "0" => out.push('\0'),
            "u" => {
                let (digits, behind) = behind[1..].split_once('}').expect("a brace closes it");
                let code = u32::from_str_radix(digits, 16).expect("hex digits");
                out.push(char::from_u32(code).expect("a character"));
                rest = behind;
            }
            other => out.push_str(other),
        }
    }
    out + rest
}

#[test]
fn pairs_share_a_key_where_the_standards_say_so() {
    let pairs = fs::read_to_string("tests/it/pairs.tsv").expect("the pairs are there");
    let policies = ["rfc3986@1", "safe@1"].map(|name| Policy::load(name).expect("built in"));
    let mut wrong = Vec::new();
    let mut n_pairs = 0;
    for line in pairs.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [grammar, safe, left, right, why] = columns[..] else {
            panic!("not five columns: {line}");
        };
        n_pairs += 1;
        for (policy, expected) in policies.iter().zip([grammar, safe]) {
            let [left, right] = [left, right].map(|url| key(policy, unescaped(url).as_bytes()));
            let found = if left == right { "same" } else { "apart" };
            if found != expected {
                wrong.push(format!("{}: {found}: {line}", policy.id().label()));
            }
        }
        assert!(!why.is_empty(), "no reason: {line}");
    }
    assert!(n_pairs > 200, "only {n_pairs} pairs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
