//! `--audit` and `--verdicts`: a file filled in from the truth gives the truth.

use std::path::Path;
use std::process::Command;

use crate::generated::planted_on_hosts;

/// On these hosts all merges are right, and on the others wrong.
const RIGHT: [&str; 2] = ["shop.example", "news.example"];
const HOSTS: [(&str, &str, u64, u64); 4] = [
    ("shop.example", "query-drop=sid", 90, 0),
    ("data.example", "query-drop=sid", 0, 60),
    ("news.example", "trailing-slash=drop", 80, 0),
    ("blog.example", "trailing-slash=drop", 0, 20),
];

fn dedupe(folder: &Path, flags: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .arg("evaluate")
        .args(flags)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code().expect("it ends by itself");
    (code, text(output.stdout), text(output.stderr))
}

/// An audit of `n` merges, and the same with verdicts.
fn audit(folder: &Path, n: &str, seed: &str) -> (String, String) {
    let archive = planted_on_hosts(3, &HOSTS);
    std::fs::write(folder.join("a.cdxj"), archive).expect("it is writable");
    let rules = "trailing-slash=drop,query-all=drop";
    let flags = [
        "-q", "--in", "a.cdxj", "--rules", rules, "--audit", n, "--seed", seed,
    ];
    let (code, csv, stderr) = dedupe(folder, &flags);
    assert_eq!(code, 0, "{stderr}");
    let judged = csv.lines().map(|line| {
        let verdict = match line.split(',').nth(1) {
            Some("host") => "",
            Some(host) if RIGHT.contains(&host) => "right",
            Some(host) if HOSTS.iter().any(|known| known.0 == host) => "wrong",
            _ => "unsure",
        };
        format!("{line}{verdict}\n")
    });
    let judged: String = judged.collect();
    (csv, judged)
}

fn verdicts(folder: &Path, csv: &str) -> String {
    std::fs::write(folder.join("judged.csv"), csv).expect("it is writable");
    let (code, stdout, stderr) = dedupe(folder, &["--verdicts", "judged.csv"]);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

#[test]
fn an_audit_filled_in_from_the_truth_gives_the_truth() {
    let folder = tempfile::tempdir().expect("a folder");
    let (csv, judged) = audit(folder.path(), "100000", "1");
    assert!(csv.starts_with(
        "rule,host,url_a,url_b,timestamp_a,timestamp_b,locator_a,locator_b,stands_for,"
    ));
    let text = verdicts(folder.path(), &judged);
    let line = |rule: &str| {
        text.lines()
            .find(|line| line.starts_with(rule))
            .expect("a line")
    };
    let slash = line("trailing-slash=drop");
    assert!(
        slash.contains("people 80.000 %") && slash.contains("80 right, 20 wrong"),
        "{slash}"
    );
    let query = line("query-all=drop");
    assert!(
        query.contains("people 60.000 %") && query.contains("90 right, 60 wrong"),
        "{query}"
    );
    // What was measured stands beside it: one near miss of another host is wrong too.
    assert!(slash.contains("measured 79.208 %"), "{slash}");
}

#[test]
fn a_part_of_them_is_spread_over_rules_and_hosts() {
    let folder = tempfile::tempdir().expect("a folder");
    let (csv, judged) = audit(folder.path(), "50", "1");
    let count = |rule: &str, host: &str| {
        let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        rows.filter(|row| row[0] == rule && row[1] == host).count()
    };
    assert_eq!(csv.lines().count(), 51);
    assert!((19..=21).contains(&count("trailing-slash=drop", "news.example")));
    assert!((4..=6).contains(&count("trailing-slash=drop", "blog.example")));
    assert!((14..=16).contains(&count("query-all=drop", "shop.example")));
    assert!(
        csv.lines().skip(1).all(|line| line.ends_with(',')),
        "no verdict yet"
    );
    assert!(verdicts(folder.path(), &judged).contains("on 2 hosts"));
    assert_eq!(audit(folder.path(), "50", "1").0, csv);
    assert_ne!(audit(folder.path(), "50", "2").0, csv);
}

#[test]
fn verdicts_are_read_alone_and_mistakes_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (csv, _) = audit(folder.path(), "3", "1");
    std::fs::write(folder.path().join("judged.csv"), format!("{csv}x,y\n")).expect("writable");
    let (code, _, stderr) = dedupe(folder.path(), &["--verdicts", "judged.csv"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("judged.csv: line 5: 2 cells; expected 13"),
        "{stderr}"
    );
    let flags = ["--verdicts", "judged.csv", "--in", "a.cdxj"];
    assert_eq!(dedupe(folder.path(), &flags).0, 2);
    assert_eq!(
        dedupe(folder.path(), &[]).0,
        2,
        "without both nothing is to be done"
    );
}

#[test]
fn a_merge_counts_once_and_a_contradiction_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, judged) = audit(folder.path(), "100000", "1");
    let all = verdicts(folder.path(), &judged);
    // Everything twice, as when two sheets are put together.
    let rows: Vec<&str> = judged.lines().skip(1).collect();
    let twice = verdicts(folder.path(), &format!("{judged}{}\n", rows.join("\n")));
    let repeated = format!(
        "{} rows repeat a merge and were not counted again\n",
        rows.len()
    );
    assert_eq!(twice, all + &repeated);
    let first = rows.iter().find(|row| row.ends_with(",right"));
    let first = first
        .expect("a right one")
        .strip_suffix("right")
        .expect("it ends so");
    std::fs::write(
        folder.path().join("judged.csv"),
        format!("{judged}{first}wrong\n"),
    )
    .expect("it is writable");
    let (code, stdout, stderr) = dedupe(folder.path(), &["--verdicts", "judged.csv"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(
        stderr.contains("`wrong`, but line") && stderr.contains("says `right` of the same merge"),
        "{stderr}"
    );
}

#[test]
fn no_text_of_a_file_moves_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, judged) = audit(folder.path(), "40", "1");
    let hostile = judged.replace("query-all=drop", "\u{1b}]0;x\u{7}\u{202e}rule");
    let text = verdicts(folder.path(), &hostile);
    assert!(text.contains("\\u{1b}]0;x\\u{7}\\u{202e}rule"), "{text}");
    let name = "a\u{1b}[2J\u{202e}.csv";
    let broken = judged.replacen(",right", ",\u{1b}[2J", 1);
    std::fs::write(folder.path().join(name), broken).expect("it is writable");
    let (code, _, stderr) = dedupe(folder.path(), &["--verdicts", name]);
    assert_eq!(code, 2);
    assert!(!stderr.contains(['\u{1b}', '\u{202e}']), "{stderr:?}");
}
