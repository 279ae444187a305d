//! The commands around policies, and `normalize`, as a person meets them.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn dedupe(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // Whoever does not read its input closes it.
    child
        .stdin
        .take()
        .expect("it has one")
        .write_all(stdin)
        .ok();
    child.wait_with_output().expect("it ends")
}

fn check(args: &[&str], stdin: &[u8], code: i32, expected: &str) {
    let output = dedupe(args, stdin);
    let text = [output.stdout, output.stderr].concat();
    let text = text.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(
        text.contains(expected),
        "{args:?}: {text}\nwithout {expected}"
    );
}

#[test]
fn normalize_gives_keys_of_every_policy() {
    let url = b"HTTP://www.Example.org:80/B/?b&a#x\n";
    for (policy, expected) in [
        ("safe@1", "http://www.example.org/B/?b&a\n"),
        ("rfc3986@1", "http://www.example.org/B/?b&a\n"),
        ("lee2005@1", "http://example.org/b?b&a\n"),
        ("surt@0.3.1", "org,example)/b?a&b\n"),
        ("w3lib@2.5", "http://www.example.org:80/B/?a=&b=\n"),
        ("urlcanon-semantic@0.3.1", "http://www.example.org/B/?a&b\n"),
    ] {
        let output = dedupe(&["normalize", "--policy", policy], url);
        assert_eq!(
            output.stdout.escape_ascii().to_string(),
            expected.escape_default().to_string()
        );
    }
    check(
        &["normalize", "--policy", "saef@1"],
        b"",
        2,
        "did you mean `safe@1`?",
    );
    check(
        &["normalize", "--base", "relative"],
        b"",
        2,
        "expected an absolute URL",
    );
    check(&["normalize", "--field", "0"], b"", 2, "--field");
}

#[test]
fn policy_files_are_checked_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("news.toml");
    let name = path.to_str().expect("a name in UTF-8");
    fs::write(
        &path,
        "name = \"news\"\nversion = 3\n[bets]\ntrailing-slsah = \"drop\"\n",
    )
    .expect("written");
    check(
        &["policy", "validate", name],
        b"",
        2,
        "news.toml:4:1: unknown rule `trailing-slsah`",
    );
    fs::write(
        &path,
        "name = \"news\"\nversion = 3\n[bets]\ntrailing-slash = \"drop\"\n",
    )
    .expect("written");
    check(&["policy", "validate", name], b"", 0, "valid, news@3+");
    check(&["policy", "show", name], b"", 0, "version = \\\"3\\\"");
    let urls = b"http://a/x\nhttp://a/x/\nhttp://a/y\nhttp://a/y\n";
    check(
        &["policy", "diff", "safe@1", name, "--in", "-"],
        urls,
        0,
        "only B: trailing-slash=drop\n",
    );
    check(
        &["policy", "diff", "safe@1", name, "--in", "-"],
        urls,
        0,
        "urls      3\nkeys A    3\nkeys B    2\nchanged   2\n",
    );
    check(&["policy", "list"], b"", 0, "urlcanon-semantic@0.3.1");
}

#[test]
fn explain_says_what_two_urls_would_share() {
    let urls = [
        "explain",
        "http://www.example.org/index.html",
        "http://example.org/",
    ];
    check(
        &urls,
        b"",
        0,
        "same key    no\nwould share with www=www;index-file=default\n",
    );
    check(&["explain"], b"", 2, "URL");
}
