//! `dedupe evaluate` from index lines to cells.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};

/// A capture: URL, 14-digit date, status, digest (`-` for none), redirect target (`-` for none).
type Line = (&'static str, &'static str, u16, char, &'static str);

/// A row of a table by column.
type Cells = BTreeMap<String, String>;

const DAY_1: &str = "20240501120000";
const DAY_2: &str = "20240502120000";
const DAY_90: &str = "20240730120000";

/// Runs the command on CDX lines in `folder`.
fn evaluate(folder: &Path, lines: &[Line], flags: &[&str]) -> Output {
    let mut cdx = " CDX N b a m s k r M S V g\n".to_owned();
    for (offset, (url, date, status, digest, to)) in lines.iter().enumerate() {
        let digest = match digest {
            '-' => "-".to_owned(),
            letter => letter.to_string().repeat(32),
        };
        cdx += &format!(
            "- {date} {url} text/html {status} {digest} {to} - 100 {} a.warc.gz\n",
            offset * 100
        );
    }
    std::fs::write(folder.join("a.cdx"), cdx).expect("a temporary folder is writable");
    Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["evaluate", "--in", "a.cdx"])
        .args(flags)
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

/// The rows of `rules.csv`.
fn rows(lines: &[Line], flags: &[&str]) -> Vec<Cells> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let flags = [&["--report", "-"], flags].concat();
    let output = evaluate(folder.path(), lines, &flags);
    assert!(output.status.success(), "{}", output.stderr.escape_ascii());
    cells(&output.stdout)
}

fn cells(csv: &[u8]) -> Vec<Cells> {
    let text = std::str::from_utf8(csv).expect("a table is text");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("a table has a header").collect();
    lines
        .map(|line| columns.iter().cloned().zip(line).collect())
        .collect()
}

/// Holds some cells of the row of one rule.
fn check(lines: &[Line], rule: &str, flags: &[&str], expected: &[(&str, &str)]) {
    let rows = rows(lines, &[&["--rules", rule], flags].concat());
    let row = &rows[0];
    for (column, cell) in expected {
        assert_eq!(row[*column], *cell, "{column} of {row:?}");
    }
}

const SLASH: &str = "trailing-slash=drop";

#[test]
fn a_permanent_redirect_is_a_right_merge_and_loses_nothing() {
    check(
        &[
            ("http://a.test/x", DAY_1, 301, '-', "http://a.test/x/"),
            ("http://a.test/x/", DAY_1, 200, 'A', "-"),
        ],
        SLASH,
        &[],
        &[
            ("urls_fired", "1"),
            ("urls_merged", "1"),
            ("pairs_right", "1"),
            ("pairs_right_redirect", "1"),
            ("pairs_wrong", "0"),
            ("pairs_wrong_near", ""),
            ("page_loss_first", "0"),
            ("contents", "1"),
            ("verified_precision", "1.00000000"),
        ],
    );
}

#[test]
fn temporary_and_unfollowed_redirects_and_errors_are_no_urls() {
    for (status, to) in [
        (302, "http://a.test/x/"),
        (301, "http://elsewhere.test/"),
        (404, "-"),
        (206, "-"),
    ] {
        check(
            &[
                ("http://a.test/x", DAY_1, status, 'B', to),
                ("http://a.test/x/", DAY_1, 200, 'A', "-"),
            ],
            SLASH,
            &[],
            &[
                ("urls_merged", "0"),
                ("contents", "1"),
                ("reduction", "0.00000000"),
            ],
        );
    }
}

#[test]
fn what_was_seen_too_far_apart_is_unverifiable() {
    let lines: [Line; 2] = [
        ("http://a.test/x", DAY_1, 200, 'A', "-"),
        ("http://a.test/x/", DAY_90, 200, 'B', "-"),
    ];
    check(
        &lines,
        SLASH,
        &[],
        &[
            ("pairs_unverifiable", "1"),
            ("pairs_wrong", "0"),
            ("urls_decidable", "0"),
        ],
    );
    check(&lines, SLASH, &["--within", "90d"], &[("pairs_wrong", "1")]);
}

#[test]
fn a_wrong_merge_of_stable_urls_is_hard_evidence() {
    check(
        &[
            ("http://a.test/x", DAY_1, 200, 'A', "-"),
            ("http://a.test/x", DAY_2, 200, 'A', "-"),
            ("http://a.test/x/", DAY_1, 200, 'B', "-"),
            ("http://a.test/x/", DAY_2, 200, 'B', "-"),
        ],
        SLASH,
        &[],
        &[
            ("pairs_wrong_stable", "1"),
            ("urls_wrong_stable", "1"),
            ("page_loss_first", "1"),
            ("worst_host", "a.test"),
            ("pairs_right_redirect", ""),
        ],
    );
}

#[test]
fn a_page_that_changes_decides_nothing() {
    check(
        &[
            ("http://a.test/x", DAY_1, 200, 'A', "-"),
            ("http://a.test/x", DAY_2, 200, 'C', "-"),
            ("http://a.test/x/", DAY_1, 200, 'B', "-"),
        ],
        SLASH,
        &[],
        &[
            ("pairs_unverifiable", "1"),
            ("contents", "1"),
            ("contents_unstable", "2"),
        ],
    );
}

#[test]
fn boilerplate_is_no_evidence() {
    let lines: [Line; 5] = [
        ("http://a.test/x", DAY_1, 200, 'A', "-"),
        ("http://a.test/x/", DAY_1, 200, 'A', "-"),
        ("http://a.test/y", DAY_1, 200, 'A', "-"),
        ("http://a.test/z", DAY_1, 200, 'B', "-"),
        ("http://a.test/z/", DAY_1, 200, 'A', "-"),
    ];
    check(
        &lines,
        SLASH,
        &["--boilerplate", "2"],
        &[
            ("pairs_right", "0"),
            ("pairs_unverifiable", "1"),
            ("pairs_wrong", "1"),
            ("pairs_missed", "0"),
            ("contents", "1"),
        ],
    );
}

#[test]
fn a_page_of_fifty_domains_is_evidence_and_of_one_more_is_none() {
    let row = |n_domains: u32| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let line = |url: String| {
            let digest = "A".repeat(32);
            let offset = url.len() * 1000 + url.bytes().map(usize::from).sum::<usize>();
            format!("- {DAY_1} {url} text/html 200 {digest} - - 100 {offset} {url}.warc.gz\n")
        };
        let lines: String = (0..n_domains)
            .map(|domain| line(format!("http://d{domain}.test/x")))
            .collect();
        let cdx = format!(
            " CDX N b a m s k r M S V g\n{lines}{}",
            line("http://d0.test/x/".to_owned())
        );
        std::fs::write(folder.path().join("a.cdx"), cdx).expect("the folder is writable");
        let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args(["evaluate", "--in", "a.cdx", "--rules", SLASH])
            .args(["--boilerplate", "2", "--report", "-", "-q"])
            .current_dir(folder.path())
            .output()
            .expect("the binary runs");
        cells(&output.stdout).remove(0)
    };
    let (few, many) = (row(50), row(51));
    assert_eq!([&few["pairs_right"], &few["contents"]], ["1", "1"]);
    assert_eq!([&many["pairs_right"], &many["contents"]], ["0", "0"]);
    assert_eq!(many["pairs_unverifiable"], "1");
}

#[test]
fn urls_of_one_core_form_are_one() {
    check(
        &[
            ("http://a.test:80/%7Ex", DAY_1, 200, 'A', "-"),
            ("http://A.test/~x#top", DAY_2, 200, 'B', "-"),
            ("http://a.test/~x/", DAY_1, 200, 'A', "-"),
        ],
        SLASH,
        &[],
        &[
            ("urls_merged", "1"),
            ("pairs_right", "1"),
            ("contents_unstable", "1"),
        ],
    );
}

const POLICY: &str = "name = \"news\"\nversion = 3\nbase = \"safe@1\"\n[bets]\nwww = \"www\"\ntrailing-slash = \"drop\"\n";

/// `x` and `www…/x/` are one page, which takes both bets to see; `y` and `www…/y` are two.
const BOTH: [Line; 4] = [
    ("http://a.test/x", DAY_1, 200, 'A', "-"),
    ("http://www.a.test/x/", DAY_2, 200, 'A', "-"),
    ("http://a.test/y", DAY_1, 200, 'C', "-"),
    ("http://www.a.test/y", DAY_2, 200, 'D', "-"),
];

#[test]
fn a_policy_is_measured_by_rule_whole_and_without_each_rule() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("news.toml"), POLICY).expect("the folder is writable");
    let flags = [
        "--policy",
        "news.toml",
        "--against",
        "safe@1",
        "--report",
        "r.csv",
        "--pairs",
        "w.csv",
        "--hosts",
        "h.csv",
        "--summary",
        "s.json",
        "--max-loss",
        "10%",
    ];
    let output = evaluate(folder.path(), &BOTH, &flags);
    assert_eq!(output.status.code(), Some(3), "a content of three is lost");
    let table = |name: &str| cells(&std::fs::read(folder.path().join(name)).expect("it is there"));
    let found: Vec<[String; 5]> = table("r.csv")
        .iter()
        .map(|row| {
            ["rule", "tier", "urls_fired", "urls_right", "urls_wrong"]
                .map(|column| row[column].clone())
        })
        .collect();
    let expected = [
        ["www=www", "bet", "2", "0", "1"],
        ["trailing-slash=drop", "bet", "1", "0", "0"],
        ["news@3", "policy", "2", "1", "1"],
        ["news@3 without www=www", "policy", "1", "0", "0"],
        [
            "news@3 without trailing-slash=drop",
            "policy",
            "2",
            "0",
            "1",
        ],
        ["news@3 against safe@1", "policy", "2", "1", "1"],
        ["safe@1 against news@3", "policy", "0", "0", "0"],
    ];
    assert_eq!(found, expected.map(|row| row.map(str::to_owned)));
    let wrong = &table("w.csv")[1];
    assert_eq!(wrong["rule"], "news@3");
    assert_eq!(wrong["rules"], "www=www");
    assert_eq!(wrong["shortest_rules"], "www=www");
    assert_eq!(wrong["url_a"], "http://www.a.test/y");
    assert_eq!(wrong["url_b"], "http://a.test/y");
    assert_eq!(wrong["key_text"], "http://a.test/y");
    assert_eq!(wrong["timestamp_a"], "2024-05-02T12:00:00Z");
    assert_eq!(wrong["locator_b"], "a.warc.gz:200");
    assert_eq!(table("h.csv")[1]["domain"], "a.test");
    let summary = std::fs::read(folder.path().join("s.json")).expect("it is there");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("it is JSON");
    assert_eq!(
        summary["evaluation"]["interactions"],
        serde_json::json!([
            { "rules": ["www=www", "trailing-slash=drop"], "needs_both": 1, "either": 0 }
        ])
    );
    assert_eq!(summary["evaluation"]["max_loss_crossed"][0], "news@3");
    assert_eq!(summary["policy"]["name"], "news");
}

#[test]
fn a_parity_policy_is_measured_and_may_split() {
    let rows = rows(
        &[
            ("http://www.a.test/x", DAY_1, 200, 'A', "-"),
            ("http://a.test/X", DAY_1, 200, 'A', "-"),
            ("http://b.test/%20", DAY_1, 200, 'B', "-"),
            ("http://b.test/ ", DAY_2, 200, 'B', "-"),
        ],
        &["--policy", "surt@0.3.1"],
    );
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["rule"], "surt@0.3.1");
    assert_eq!(rows[0]["urls_merged"], "1");
    assert_eq!(rows[0]["pairs_right"], "1");
}

#[test]
fn outputs_are_the_same_for_any_number_of_threads() {
    let run = |threads: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let status = Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args([
                "evaluate",
                "--in",
                "sample-data/rules.cdxj",
                "--in",
                "sample-data/crawl.warc.gz",
            ])
            .args(["--policy", "lee2005@1", "-q", "--threads", threads])
            .arg("--report")
            .arg(folder.path().join("r.csv"))
            .arg("--pairs")
            .arg(folder.path().join("w.csv"))
            .arg("--hosts")
            .arg(folder.path().join("h.csv"))
            .status()
            .expect("the binary runs");
        assert!(status.success());
        ["r.csv", "w.csv", "h.csv"]
            .map(|name| std::fs::read_to_string(folder.path().join(name)).expect("it is there"))
    };
    assert_eq!(run("1"), run("7"));
}

#[test]
fn a_mistake_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for flags in [
        &["--rules", "www"][..],
        &["--rules", "trim"],
        &["--rules", "query-drop=list"],
        &["--policy", "no-such@1"],
        &["--max-loss", "200%"],
        &["--report", "-", "--pairs", "-"],
        &["--report", "a.cdx"],
    ] {
        let output = evaluate(folder.path(), &BOTH, flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn the_sample_data_holds_what_was_planted() {
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args([
            "evaluate",
            "--in",
            "sample-data/rules.cdxj",
            "--report",
            "-",
            "-q",
        ])
        .output()
        .expect("the binary runs");
    let rows = cells(&output.stdout);
    for (rule, planted) in [
        ("www=www", ["30", "2", "0"]),
        ("trailing-slash=drop", ["24", "3", "1"]),
        ("query-drop-list=tracking", ["40", "0", "0"]),
        ("path-case=lower", ["3", "14", "0"]),
        ("index-file=default", ["18", "1", "0"]),
    ] {
        let row = rows.iter().find(|row| row["rule"] == rule);
        let row = row.expect("every bet has a row");
        let found =
            ["urls_right", "urls_wrong", "urls_unverifiable"].map(|column| row[column].as_str());
        assert_eq!(found, planted, "{rule}");
    }
}

/// A response of 1 May 2024 with this page.
fn response(url: &str, page: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:{url}>\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Target-URI: {url}\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// The row of `trailing-slash=drop`, and `near` of each wrong merge by the URL that is not kept.
fn near(warc: &str, flags: &[&str]) -> (Cells, Vec<(String, String)>) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("a.warc"), warc).expect("a temporary folder is writable");
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["evaluate", "--in", "a.warc", "--rules", SLASH])
        .args(["--report", "rules.csv", "--pairs", "wrong.csv"])
        .args(flags)
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", output.stderr.escape_ascii());
    let table = |name| cells(&std::fs::read(folder.path().join(name)).expect("it was written"));
    let wrong = table("wrong.csv")
        .into_iter()
        .map(|row| (row["url_a"].clone(), row["near"].clone()))
        .collect();
    (table("rules.csv").remove(0), wrong)
}

#[test]
fn pages_that_differ_by_a_clock_are_near() {
    let digest = |letter: char| letter.to_string().repeat(32);
    let with_digest = |url, page, letter| {
        response(url, page).replace(
            "Content-Length",
            &format!(
                "WARC-Payload-Digest: sha1:{}\r\nContent-Length",
                digest(letter)
            ),
        )
    };
    let clock = ["<p>It is 12:30</p>", "<p id=b>It  is <!-- x -->9:05</p>"];
    let words = ["<p>one 1</p>", "<p>two 1</p>"];
    let pages = [
        ("http://clock.test/x", clock[0], 'A'),
        ("http://clock.test/x/", clock[1], 'B'),
        ("http://words.test/x", words[0], 'C'),
        ("http://words.test/x/", words[1], 'D'),
    ];
    let warc: String = pages
        .iter()
        .map(|(url, page, _)| response(url, page))
        .collect();
    let own = |(url, near): (&str, &str)| (url.to_owned(), near.to_owned());
    for flags in [&[][..], &["--digests", "content"]] {
        let (row, wrong) = near(&warc, flags);
        assert_eq!(row["pairs_wrong"], "2", "{row:?}");
        assert_eq!(row["pairs_wrong_near"], "1", "{row:?}");
        let expected = [
            ("http://clock.test/x/", "true"),
            ("http://words.test/x/", "false"),
        ];
        let mut wrong = wrong;
        wrong.sort();
        assert_eq!(wrong, expected.map(own));
    }
    let declared: String = pages
        .iter()
        .map(|(url, page, letter)| with_digest(*url, page, *letter))
        .collect();
    let (row, mut wrong) = near(&declared, &["--digests", "declared"]);
    wrong.sort();
    assert_eq!(row["pairs_wrong"], "2", "{row:?}");
    assert_eq!(row["pairs_wrong_near"], "", "{row:?}");
    let expected = [("http://clock.test/x/", ""), ("http://words.test/x/", "")];
    assert_eq!(wrong, expected.map(own));
}

/// The row of `trailing-slash=drop` for two responses, each a page with a `Content-Encoding`.
fn coded(pages: [(&str, &[u8]); 2]) -> Cells {
    let urls = ["http://a.test/x", "http://a.test/x/"];
    let mut warc = Vec::new();
    for (url, (coding, page)) in urls.into_iter().zip(pages) {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        let block = [head.as_bytes(), page].concat();
        let header = response(url, "");
        let header = header.split("Content-Length").next().unwrap_or_default();
        warc.extend(format!("{header}Content-Length: {}\r\n\r\n", block.len()).into_bytes());
        warc.extend(block);
        warc.extend(b"\r\n\r\n");
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("a.warc"), warc).expect("a temporary folder is writable");
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["evaluate", "--in", "a.warc", "--rules", SLASH])
        .args(["--report", "-"])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    cells(&output.stdout).remove(0)
}

#[test]
fn a_body_that_cannot_be_decoded_is_held_against_payloads_alone() {
    let mut zipped = Vec::new();
    flate2::read::GzEncoder::new(&b"one page"[..], flate2::Compression::fast())
        .read_to_end(&mut zipped)
        .expect("it reads memory");
    let broken = ("gzip", &b"no gzip"[..]);
    for (pages, wrong, unverifiable) in [
        ([broken, ("gzip", &zipped[..])], "0", "1"),
        ([broken, ("own", b"another")], "1", "0"),
        ([broken, ("identity", b"another")], "1", "0"),
        ([("identity", b"another"), ("gzip", &zipped[..])], "1", "0"),
        ([("own", b"another"), ("gzip", &zipped[..])], "0", "1"),
    ] {
        let row = coded(pages);
        assert_eq!(row["pairs_wrong"], wrong, "{pages:?}");
        assert_eq!(row["pairs_unverifiable"], unverifiable, "{pages:?}");
    }
}

#[test]
fn numbers_and_truth_values_are_such_in_jsonl() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let lines = [
        ("http://a.test/x", DAY_1, 200, 'A', "-"),
        ("http://a.test/x/", DAY_1, 200, 'B', "-"),
    ];
    let flags = [
        "-q",
        "--rules",
        "trailing-slash=drop",
        "--report",
        "r.jsonl",
        "--pairs",
        "w.jsonl",
        "--hosts",
        "h.jsonl",
    ];
    let output = evaluate(folder.path(), &lines, &flags);
    assert!(output.status.success(), "{}", output.stderr.escape_ascii());
    let first = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        serde_json::from_str(text.lines().next().expect("a row")).expect("JSON")
    };
    let rule = first("r.jsonl");
    for column in [
        "pairs_right",
        "pairs_wrong",
        "pairs_wrong_stable",
        "pairs_unverifiable",
        "pairs_missed",
    ] {
        assert!(rule[column].is_u64(), "{column}: {}", rule[column]);
    }
    assert_eq!(
        (&rule["pairs_wrong"], &rule["few_hosts"]),
        (&1.into(), &true.into())
    );
    assert!(rule["pairs_wrong_near"].is_null());
    let pair = first("w.jsonl");
    assert_eq!(
        (&pair["stable"], &pair["near"]),
        (&false.into(), &serde_json::Value::Null)
    );
    assert_eq!(first("h.jsonl")["flagged"], serde_json::Value::Bool(true));
}

#[test]
fn an_empty_name_among_rules_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (rules, said) in [
        (
            "",
            "--rules: a name is empty; expected as in www=www,trailing-slash=drop",
        ),
        ("www=www,,scheme=merge", "--rules: a name is empty"),
        ("\u{1b}[2Jx", "no such bet"),
    ] {
        let output = evaluate(folder.path(), &[], &["--rules", rules]);
        let stderr = std::str::from_utf8(&output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(said) && !stderr.contains('\u{1b}'),
            "{stderr}"
        );
    }
}
