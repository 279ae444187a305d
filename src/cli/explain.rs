//! `dedupe explain`: what a policy makes of a URL, and whether two URLs share a key.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use super::normalize::kind_name;
use super::{load_policy, print};
use crate::engine::Outcome;
use crate::error::commands;
use crate::key::{ComparisonKey, Keyed, Keyer, Kind};
use crate::policy::Policy;
use crate::policy::plan::Base;
use crate::{Result, uri};

/// Shortest sets that are printed at most; more are as good.
const SETS_MAX: usize = 5;

/// Flags of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// URLs; of two it is said too whether they share a key, and which rules would make them
    #[arg(value_name = "URL", required = true)]
    urls: Vec<OsString>,

    /// Policy that makes the keys: a name (see `dedupe policy list`) or a policy file
    #[arg(long, value_name = "NAME|FILE", default_value = "safe@1")]
    policy: String,

    /// Print user info in clear instead of ***
    #[arg(long)]
    show_credentials: bool,
}

/// Runs the command.
#[expect(
    clippy::needless_pass_by_value,
    reason = "every command takes its flags"
)]
pub(super) fn run(args: Args) -> Result<Outcome> {
    let policy = load_policy(&args.policy)?;
    let mut text = Text {
        out: Vec::new(),
        shows_credentials: args.show_credentials,
    };
    let urls: Vec<&[u8]> = args.urls.iter().map(|url| url.as_bytes()).collect();
    for url in &urls {
        text.explain(&policy, url);
    }
    if let [first, second] = urls[..] {
        text.compare(&policy, first, second);
    }
    print(&text.out)?;
    Ok(Outcome::Done)
}

/// What is printed.
struct Text {
    out: Vec<u8>,
    shows_credentials: bool,
}

impl Text {
    /// One line: a name in a column of its own, and bytes.
    fn line(&mut self, name: &str, text: &[u8]) {
        self.out.extend_from_slice(format!("{name:<12}").as_bytes());
        self.out.extend_from_slice(text);
        self.out.push(b'\n');
    }

    fn url(&self, url: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        if self.shows_credentials {
            shown.extend_from_slice(url);
        } else {
            uri::write_redacted(url, &mut shown);
        }
        printable(&shown)
    }

    fn explain(&mut self, policy: &Policy, url: &[u8]) {
        let mut keyer = Keyer::new(policy);
        let keyed = keyer.key(url);
        let shown = self.url(url);
        self.line("url", &shown);
        self.line("policy", policy.id().to_string().as_bytes());
        self.line("kind", kind_name(keyed.kind).as_bytes());
        let flags = flags(&keyed);
        if !flags.is_empty() {
            self.line("flags", flags.join(";").as_bytes());
        }
        let has_components =
            keyed.kind != Kind::Opaque && !matches!(policy.plan().base, Base::Parity(_));
        if has_components {
            for (name, component) in uri::components(keyed.text) {
                let is_hidden = name == "userinfo" && !self.shows_credentials;
                let component = if is_hidden { b"***" } else { component };
                self.line(name, &printable(component));
            }
        }
        for step in uri::trace(policy.plan(), url) {
            self.line("rule", step.rules.to_string().as_bytes());
            let (before, after) = (self.url(&step.before), self.url(&step.after));
            self.line("  before", &before);
            self.line("  after", &after);
        }
        let shown = self.url(keyed.text);
        self.line("key text", &shown);
        self.line("key", hex(keyed.key).as_bytes());
        self.out.push(b'\n');
    }

    fn compare(&mut self, policy: &Policy, first: &[u8], second: &[u8]) {
        let (mut one, mut other) = (Keyer::new(policy), Keyer::new(policy));
        let (one, other) = (one.key(first), other.key(second));
        if one.key == other.key {
            let fired = one.fired.union(other.fired);
            self.line("same key", b"yes");
            if !fired.is_empty() {
                self.line("by", fired.to_string().as_bytes());
            }
            return;
        }
        self.line("same key", b"no");
        if policy.plan().base == Base::Grammar {
            let mut plan = policy.plan().clone();
            plan.base = Base::Browser;
            let browser = Policy::of("", "", plan);
            let (mut one, mut other) = (Keyer::new(&browser), Keyer::new(&browser));
            if one.key(first).key == other.key(second).key {
                self.line("would share", b"with base safe@1 in place of rfc3986@1");
                return;
            }
        }
        let sets = uri::bridges(policy.plan(), first, second);
        for set in sets.iter().take(SETS_MAX) {
            self.line("would share", format!("with {set}").as_bytes());
        }
        if sets.len() > SETS_MAX {
            let more = format!(
                "with {} more sets of {} rules",
                sets.len() - SETS_MAX,
                sets[0].len()
            );
            self.line("would share", more.as_bytes());
        }
        if sets.is_empty() {
            self.line("would share", b"under no set of rules");
        }
    }
}

fn flags(keyed: &Keyed<'_>) -> Vec<&'static str> {
    [
        (keyed.is_route, "route"),
        (keyed.has_credentials, "credentials"),
        (keyed.is_signed, "signed"),
        (!keyed.in_scope, "out-of-scope"),
    ]
    .into_iter()
    .filter_map(|(is_set, name)| is_set.then_some(name))
    .collect()
}

fn hex(key: ComparisonKey) -> String {
    format!("{:016x}{:016x}", key.check, key.key)
}

/// Bytes as they are where a terminal can show them, else as `\xXX`.
pub(super) fn printable(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if commands(c) {
                out.extend_from_slice(c.escape_default().to_string().as_bytes());
            } else {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out.extend_from_slice(chunk.invalid().escape_ascii().to_string().as_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(policy: &str, urls: &[&str]) -> String {
        let policy = Policy::load(policy).unwrap();
        let mut text = Text {
            out: Vec::new(),
            shows_credentials: false,
        };
        match urls {
            [url] => text.explain(&policy, url.as_bytes()),
            [first, second] => text.compare(&policy, first.as_bytes(), second.as_bytes()),
            _ => {}
        }
        String::from_utf8(text.out).unwrap()
    }

    #[test]
    fn shows_components_rules_and_key_without_secrets() {
        let found = told("safe@1", &["HTTP://u:p@Example.org/%7Ea?x#!r"]);
        for line in [
            "url         HTTP://***@Example.org/%7Ea?x#!r\n",
            "kind        http\n",
            "flags       route;credentials\n",
            "userinfo    ***\n",
            "host        example.org\n",
            "rule        path-escapes\n  before    http://***@example.org/%7Ea?x\n  after     http://***@example.org/~a?x\n",
            "key text    http://***@example.org/~a?x\n",
        ] {
            assert!(found.contains(line), "{found}\nwithout {line}");
        }
        assert!(!found.contains("u:p"), "{found}");
        assert!(told("surt@0.3.1", &["http://a.b/"]).contains("key text    b,a)/\n"));
        assert!(
            told("safe@1", &["http://a b\u{1b}/"]).contains("key text    http://a b\\u{1b}/\n")
        );
    }

    #[test]
    fn two_urls_share_a_key_or_would() {
        for (policy, first, second, expected) in [
            (
                "safe@1",
                "http://A/",
                "http://a",
                "same key    yes\nby          host-case;path-empty\n",
            ),
            ("safe@1", "http://a/", "http://a/", "same key    yes\n"),
            (
                "safe@1",
                "http://a/",
                "https://a/",
                "same key    no\nwould share with scheme=merge\n",
            ),
            (
                "safe@1",
                "http://a/",
                "http://b/",
                "same key    no\nwould share under no set of rules\n",
            ),
            (
                "rfc3986@1",
                "http:/a/",
                "http://a/",
                "same key    no\nwould share with base safe@1 in place of rfc3986@1\n",
            ),
        ] {
            assert_eq!(told(policy, &[first, second]), expected);
        }
    }
}
