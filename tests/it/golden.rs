//! The keys of `safe@1`, held against a file: no key changes without a new version of the policy.
//!
//! `UPDATE_EXPECT=1` writes the file anew, which is right for new URLs at its end only. The keys of
//! shared lists are held by one hash each, since the lists are not ours to copy.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;

use crate::mutations::{Random, generated, mutate};
use crate::shared;

const FILE: &str = "tests/it/golden/safe-1.keys";
const N_GENERATED: usize = 600;

/// Keys of all lines of the shared lists, joined and hashed.
const SHARED: [(&str, &str); 2] = [
    ("top100.txt", "9b1820134c90f7821d8e9f7f96334c77"),
    ("progscrape_stories.txt", "f001c2dca9b97160fe7d0a02fc155969"),
];

/// One URL for each thing that the steps do.
const HAND_MADE: &[&str] = &[
    "http://example.org/",
    "HTTP://WWW.Example.ORG",
    " http://exa\tmple.org/ \n",
    "http:\\\\example.org\\a\\..\\b?\\",
    "http:example.org",
    "https:////example.org//a",
    "http://example.org/#top",
    "http://example.org/#!/route",
    "http://user:secret@example.org/",
    "http://user:@example.org/",
    "http://@example.org/",
    "http://b\u{fc}cher.example/",
    "http://ex%41mple.org/",
    "http://xn--a/",
    "http://0x7f.1/",
    "http://[2001:DB8:0::A]/",
    "http://example.org./",
    "http://example.org:080/",
    "https://example.org:0443/",
    "http://example.org:8080/",
    "http://example.org:65536/",
    "http://exa mple.org/",
    "http://example.org/%7Eann/%2f%3a/a b/caf\u{e9}/%%34%31/%zz%",
    "http://example.org/a/./b/../c/%2e%2E/d/..",
    "http://example.org?q",
    "http://example.org/?",
    "http://example.org/?it's ^`{}|[]\"<>%41+%2B",
    "dns:Example.ORG",
    "FTP://Example.org:21/%7e/../a?b#c",
    "urn:ISBN:0",
    "mailto:a@b",
    "//example.org/",
    "example.org",
    "",
];

fn keys(urls: &[String]) -> String {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let mut out = String::new();
    for url in urls {
        let keyed = keyer.key(url.as_bytes());
        let (key, kind) = (keyed.key, keyed.kind);
        let url = url.escape_default();
        writeln!(out, "{:016x}{:016x} {kind:?} {url}", key.check, key.key)
            .expect("a string takes all");
    }
    out
}

#[test]
fn no_key_of_safe_1_has_changed() {
    let mut random = Random(9);
    let mut urls: Vec<String> = HAND_MADE.iter().map(|url| (*url).to_owned()).collect();
    for _ in 0..N_GENERATED {
        let url = generated(&mut random);
        urls.push(mutate(&url, &mut random));
        urls.push(url);
    }
    let found = keys(&urls);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(FILE, &found).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(Path::new(FILE)).expect("the golden file is there");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(
            found, expected,
            "a key of safe@1 has changed: that needs safe@2"
        );
    }
    assert_eq!(found.lines().count(), expected.lines().count());
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
