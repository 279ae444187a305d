//! `--keys-out` and `--keys-in`: a new crawl held against what is held already.

use std::path::Path;
use std::process::{Command, Output};

const FIRST: &str = " CDX N b a m s k r M S V g
- 20260101000000 http://a.example/1 text/html 200 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - - 100 0 x.warc.gz
- 20260101000000 http://a.example/2 text/html 200 BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB - - 100 100 x.warc.gz
";
const SECOND: &str = " CDX N b a m s k r M S V g
- 20260201000000 HTTP://A.example:80/1 text/html 200 CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC - - 100 0 y.warc.gz
- 20260201000000 http://a.example/3 text/html 200 DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD - - 100 100 y.warc.gz
";

#[test]
fn a_second_crawl_is_held_against_the_keys_of_the_first() {
    let folder = folder();
    let at = folder.path();
    assert!(
        run(at, &["--in", "first.cdx", "--keys-out", "first.keys"])
            .status
            .success()
    );
    let second = run(
        at,
        &[
            "--in",
            "second.cdx",
            "--keys-in",
            "first.keys",
            "--report",
            "-",
            "--include-unique",
            "--summary",
            "s.json",
        ],
    );
    assert!(second.status.success(), "{}", text(&second.stderr));
    let rows: Vec<(String, String)> = text(&second.stdout)
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            (cells[2].to_owned(), cells[7].to_owned())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("unjudged".into(), "seen-before".into()),
            ("unique".into(), String::new())
        ]
    );
    let summary = std::fs::read_to_string(at.join("s.json")).expect("a summary is written");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("a summary is JSON");
    assert_eq!(summary["counts"]["seen_before"], 1);
    assert_eq!(summary["counts"]["by_role"]["unique"], 1);
}

#[test]
fn a_key_set_of_another_policy_is_refused_with_both_ids() {
    let folder = folder();
    run(
        folder.path(),
        &["--in", "first.cdx", "--keys-out", "first.keys"],
    );
    let refused = run(
        folder.path(),
        &[
            "--in",
            "second.cdx",
            "--policy",
            "rfc3986@1",
            "--keys-in",
            "first.keys",
        ],
    );
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    for part in ["safe@1", "rfc3986@1", "dedupe policy diff", "first.keys"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_key_set_that_was_cut_or_changed_is_refused() {
    let folder = folder();
    let set = folder.path().join("first.keys");
    run(
        folder.path(),
        &["--in", "first.cdx", "--keys-out", "first.keys"],
    );
    let whole = std::fs::read(&set).expect("a key set is written");
    let mut flipped = whole.clone();
    *flipped.last_mut().expect("a key set has bytes") ^= 1;
    for broken in [&whole[..whole.len() - 1], &whole[..10], &flipped, b""] {
        std::fs::write(&set, broken).expect("a file can be written");
        let refused = run(
            folder.path(),
            &[
                "--in",
                "second.cdx",
                "--keys-in",
                "first.keys",
                "--report",
                "r.csv",
            ],
        );
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(!folder.path().join("r.csv").exists());
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, text) in [("first.cdx", FIRST), ("second.cdx", SECOND)] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedupe"));
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}
