//! `safe@1` against the composite oracle: what `fluent-uri` (RFC 3986) makes of what `ada-url`
//! (WHATWG URL) makes of it, wherever that is a valid URI; user info is left out of the comparison.
//!
//! `DEDUPE_MUTATIONS=10000000 cargo test --release --test it oracle::` runs as many mutations.

use std::fs;

use crawl_dedupe::key::{Keyer, Kind};
use crawl_dedupe::policy::Policy;
use fluent_uri::Uri;

use crate::mutations::{Random, generated, mutate, n_mutations, seeded};
use crate::shared;

/// What the two standards make of `input`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// This text.
    Text(String),
    /// No browser sends it.
    Failure,
    /// Another scheme, or a URL that the grammar does not admit.
    NotComparable,
}

pub(crate) fn standards(input: &str) -> Verdict {
    let Ok(mut url) = ada_url::Url::parse(input, None) else {
        return Verdict::Failure;
    };
    if !matches!(url.protocol(), "http:" | "https:") {
        return Verdict::NotComparable;
    }
    url.set_hash(None);
    let _ = url.set_username(None);
    let _ = url.set_password(None);
    match Uri::parse(url.href()) {
        Ok(uri) => Verdict::Text(uri.normalize().into_string()),
        Err(_) => Verdict::NotComparable,
    }
}

/// Holds ours against the standards, if they have a common say.
fn check(keyer: &mut Keyer<'_>, input: &str) -> Result<bool, String> {
    let keyed = keyer.key(input.as_bytes());
    let text = without_userinfo(keyed.text, keyed.kind);
    let text = String::from_utf8(text).unwrap_or_default();
    match standards(input) {
        Verdict::NotComparable => Ok(false),
        Verdict::Failure if keyed.kind == Kind::Http => {
            Err(format!("{input:?}: a browser fails, ours {text}"))
        }
        Verdict::Failure => Ok(true),
        Verdict::Text(expected) if expected == text => Ok(true),
        Verdict::Text(expected) => Err(format!("{input:?}: {expected} but ours {text}")),
    }
}

/// The text of a key without user info, which the standards write otherwise.
pub(crate) fn without_userinfo(text: &[u8], kind: Kind) -> Vec<u8> {
    let mut text = text.to_vec();
    let end = path_start(&text);
    if kind == Kind::Http
        && let Some(at) = text[..end].iter().rposition(|byte| *byte == b'@')
    {
        let start = text
            .iter()
            .position(|byte| *byte == b'/')
            .map_or(0, |it| it + 2);
        text.drain(start..=at);
    }
    text
}

/// Where the path of a normalized http URL starts.
fn path_start(text: &[u8]) -> usize {
    let mut slashes = text.iter().enumerate().filter(|it| *it.1 == b'/');
    slashes.nth(2).map_or(text.len(), |it| it.0)
}

fn check_all(seeds: &[String]) {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let mut random = seeded(1);
    let mut failures = Vec::new();
    let mut n_compared = 0;
    let mut check = |input: &str| match check(&mut keyer, input) {
        Ok(is_compared) => n_compared += usize::from(is_compared),
        Err(failure) if failures.len() < 25 => failures.push(failure),
        Err(_) => {}
    };
    seeds.iter().for_each(|seed| check(seed));
    for _ in 0..n_mutations() {
        let seed = &seeds[random.below(seeds.len())];
        check(&mutate(seed, &mut random));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_compared > n_mutations() / 4, "only {n_compared} compared");
}

#[test]
fn generated_urls_are_what_the_standards_make_of_them() {
    let mut random = Random(2);
    let seeds: Vec<String> = (0..2_000).map(|_| generated(&mut random)).collect();
    check_all(&seeds);
}

#[test]
fn shared_lists_are_what_the_standards_make_of_them() {
    let Some(shared) = shared::dir() else { return };
    let mut seeds = Vec::new();
    for list in ["top100.txt", "progscrape_stories.txt"] {
        let text = fs::read_to_string(shared.join("data/url-lists").join(list))
            .expect("the list is readable");
        seeds.extend(text.lines().map(str::to_owned));
    }
    check_all(&seeds);
}
