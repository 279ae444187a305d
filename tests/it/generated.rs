//! The generator: its sample data, and its truth held against reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crawl_dedupe::key::Keyer;
use crawl_dedupe::policy::plan::{Base, Names, Plan};
use crawl_dedupe::policy::{Policy, Rule, RuleSet, Tier};
use generate::plant::{Fetches, Place, Plant, Rate};
use generate::{Format, Health, Limit, Opening, Options, Outputs, Storage};

#[path = "../../scripts/generate/mod.rs"]
pub(crate) mod generate;

/// The options of a small archive without anything planted.
pub(crate) fn options(seed: u64, n_captures: u64) -> Options {
    Options {
        seed,
        limit: Limit::Captures(n_captures),
        format: Format::Warc,
        storage: Storage::Gzip,
        name: "generated.warc.gz".to_owned(),
        median: 900,
        boilerplate: None,
        unstable: 0,
        plants: Vec::new(),
        rates: Vec::new(),
        domains: 300,
        fetches: Fetches::Once,
        opening: Opening::Random,
        health: Health::Sound,
    }
}

pub(crate) fn plant(rule: &str, right: u64, wrong: u64, unverifiable: u64) -> Plant {
    Plant {
        host: None,
        rule: rule.to_owned(),
        right,
        wrong,
        unverifiable,
    }
}

/// A CDXJ with pairs of a rule on single hosts: host, rule, right, wrong.
pub(crate) fn planted_on_hosts(seed: u64, hosts: &[(&str, &str, u64, u64)]) -> Vec<u8> {
    let on_host = |(host, rule, right, wrong): &(&str, &str, u64, u64)| Plant {
        host: Some((*host).to_owned()),
        ..plant(rule, *right, *wrong, 0)
    };
    let made = make(&Options {
        format: Format::Cdxj,
        storage: Storage::Plain,
        plants: hosts.iter().map(on_host).collect(),
        ..options(seed, 400)
    });
    made.archive
}

/// What the generator puts out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) archive: Vec<u8>,
    pub(crate) cdx: Vec<u8>,
    pub(crate) cdxj: Vec<u8>,
    pub(crate) truth: Vec<u8>,
}

pub(crate) fn make(options: &Options) -> Made {
    let mut made = Made::default();
    let outputs = Outputs {
        archive: &mut made.archive,
        cdx: &mut made.cdx,
        cdxj: &mut made.cdxj,
        truth: &mut made.truth,
    };
    generate::generate(options, outputs).expect("it writes to memory");
    made
}

/// Holds a sample against what was made; `UPDATE_EXPECT=1` writes it anew.
fn check_sample(name: &str, made: &[u8]) {
    let path = Path::new("sample-data").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, made).expect("sample-data is writable");
    }
    let kept = fs::read(&path).unwrap_or_default();
    assert!(
        kept == made,
        "{} is not what the generator makes",
        path.display()
    );
}

#[test]
fn sample_data_is_what_the_generator_makes() {
    let crawl = make(&Options {
        name: "crawl.warc.gz".to_owned(),
        opening: Opening::Tour,
        ..options(2026, 60)
    });
    check_sample("crawl.warc.gz", &crawl.archive);
    check_sample("crawl.cdx", &crawl.cdx);
    check_sample("crawl.cdxj", &crawl.cdxj);
    let damaged = make(&Options {
        health: Health::Damaged,
        ..options(7, 20)
    });
    check_sample("damaged.warc.gz", &damaged.archive);
    let rules = make(&Options {
        format: Format::Cdxj,
        storage: Storage::Plain,
        plants: vec![
            plant("www=www", 30, 2, 0),
            plant("trailing-slash=drop", 24, 3, 1),
            plant("query-drop-list=tracking", 40, 0, 0),
            plant("path-case=lower", 3, 14, 0),
            plant("index-file=default", 18, 1, 0),
        ],
        ..options(11, 40)
    });
    check_sample("rules.cdxj", &rules.archive);
    let on_host = |host: &str, rule, right, wrong| Plant {
        host: Some(host.to_owned()),
        ..plant(rule, right, wrong, 0)
    };
    let hosts = make(&Options {
        format: Format::Cdxj,
        plants: vec![
            on_host("shop.example", "query-drop=sid", 240, 0),
            on_host("data.example", "query-drop=sid", 0, 240),
            on_host("blog.example", "trailing-slash=drop", 0, 200),
        ],
        ..options(12, 40)
    });
    check_sample("hosts.cdxj.gz", &hosts.archive);
}

#[test]
fn sample_data_stays_small() {
    let files = fs::read_dir("sample-data").expect("sample-data is there");
    let sizes = files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len());
    assert!(sizes.sum::<u64>() <= 300_000);
}

#[test]
fn reports_agree_with_the_truth_row_by_row() {
    for seed in 1..3 {
        let everything = Options {
            opening: Opening::Tour,
            boilerplate: Some(60),
            unstable: 5,
            plants: vec![
                plant("www=www", 10, 6, 4),
                plant("path-case=lower", 10, 6, 4),
                plant("userinfo=drop", 3, 3, 0),
            ],
            ..options(seed, 1_500)
        };
        check_truth(&everything);
        check_truth(&Options {
            storage: Storage::Plain,
            fetches: Fetches::Twice,
            ..everything.clone()
        });
        for (format, storage) in [(Format::Cdx, Storage::Plain), (Format::Cdxj, Storage::Gzip)] {
            check_truth(&Options {
                format,
                storage,
                ..everything.clone()
            });
        }
    }
}

#[test]
fn a_planted_pair_is_joined_by_its_rule_and_few_others() {
    let place = Place {
        domain: "plant0-1.example",
        index: 0,
    };
    // These two read lists that nobody has given.
    let needs_list = [Rule::IndexFileList, Rule::QueryDropFile];
    let bets = Rule::ALL
        .into_iter()
        .filter(|rule| rule.tier() == Tier::Bet && !needs_list.contains(rule));
    for rule in bets.clone() {
        let pair = generate::plant::pair(rule.name(), place)
            .unwrap_or_else(|| panic!("{rule} has no pair"));
        assert!(!are_one(RuleSet::EMPTY, &pair), "{rule}: {pair:?}");
        let joining: Vec<&str> = bets
            .clone()
            .filter(|other| are_one(RuleSet::of(&[*other]), &pair))
            .map(Rule::name)
            .collect();
        let expected = JOINED_BY_OTHERS.iter().find(|row| row.0 == rule.name());
        let alone = [rule.name()];
        assert_eq!(joining, expected.map_or(&alone[..], |row| row.1));
    }
}

/// Rules whose pair others join too.
const JOINED_BY_OTHERS: [(&str, &[&str]); 19] = [
    (
        "amp-entity=decode",
        &["amp-entity=decode", "query-all=drop"],
    ),
    (
        "trailing-slash=drop",
        &["trailing-slash=drop", "trailing-slash=add"],
    ),
    (
        "trailing-slash=add",
        &["trailing-slash=drop", "trailing-slash=add"],
    ),
    (
        "leading-zeros=drop",
        &["leading-zeros=drop", "query-all=drop"],
    ),
    ("query-drop=list", &["query-drop=list", "query-all=drop"]),
    (
        "query-drop-list=tracking",
        &["query-drop-list=tracking", "query-all=drop"],
    ),
    (
        "query-session=drop",
        &["query-session=drop", "query-all=drop"],
    ),
    ("query-empty=mark", &["query-empty=mark", "query-all=drop"]),
    (
        "query-empty=params",
        &["query-empty=params", "query-all=drop"],
    ),
    (
        "query-empty=value",
        &["query-empty=value", "query-all=drop"],
    ),
    ("query-plus=space", &["query-plus=space", "query-all=drop"]),
    (
        "query-order=sort-stable",
        &[
            "query-order=sort-stable",
            "query-order=sort-full",
            "query-all=drop",
        ],
    ),
    (
        "query-order=sort-full",
        &["query-order=sort-full", "query-all=drop"],
    ),
    (
        "query-order=dedupe",
        &["query-order=dedupe", "query-all=drop"],
    ),
    ("query-case=lower", &["query-case=lower", "query-all=drop"]),
    (
        "escapes=encode-grey",
        &[
            "query-all=drop",
            "escapes=encode-grey",
            "escapes=decode-repeated",
        ],
    ),
    (
        "escapes=decode-sub-delims",
        &[
            "escapes=decode-sub-delims",
            "escapes=decode-reserved",
            "escapes=decode-repeated",
        ],
    ),
    (
        "escapes=decode-reserved",
        &["escapes=decode-reserved", "escapes=decode-repeated"],
    ),
    (
        "language-param=drop",
        &["query-all=drop", "language-param=drop"],
    ),
];

/// Whether the two URLs have one key under `safe@1` and `rules`.
fn are_one(rules: RuleSet, (one, other): &(String, String)) -> bool {
    let mut plan = Plan::new(Base::Browser);
    plan.bets.rules = rules;
    plan.bets.query_drop = Names::new([&b"list"[..]]);
    let policy = Policy::of("test", "1", plan);
    let mut keyer = Keyer::new(&policy);
    let key = keyer.key(one.as_bytes()).key;
    key == keyer.key(other.as_bytes()).key
}

#[test]
fn an_archive_with_its_own_indexes_reports_as_without() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let made = make(&options(5, 800));
    let put = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("the folder is writable");
        path
    };
    let archive = put("generated.warc.gz", &made.archive);
    let (cdx, cdxj) = (put("a.cdx", &made.cdx), put("a.cdxj", &made.cdxj));
    let alone = report(dir.path(), &[&archive], "1");
    assert_eq!(report(dir.path(), &[&archive, &cdx, &cdxj], "1"), alone);
    assert_eq!(report(dir.path(), &[&archive], "2"), alone);
    assert_eq!(report(dir.path(), &[&archive], "8"), alone);
}

#[test]
fn a_rate_is_the_share_of_wrong_pairs() {
    let made = make(&Options {
        format: Format::Cdx,
        storage: Storage::Plain,
        rates: vec![Rate {
            rule: "www=www".to_owned(),
            wrong: 0.2,
        }],
        domains: 2_000,
        ..options(1, 0)
    });
    let truth = String::from_utf8(made.truth).expect("URLs are ASCII");
    let count = |planted: &str| truth.lines().filter(|line| line.ends_with(planted)).count();
    let (right, wrong) = (count("right:www=www"), count("wrong:www=www"));
    assert_eq!(right + wrong, truth.lines().count() - 1);
    let per_mille = 1_000 * wrong / (right + wrong);
    assert!((180..220).contains(&per_mille), "{per_mille}");
}

#[test]
fn a_size_is_kept_to() {
    let made = make(&Options {
        limit: Limit::Bytes(1_000_000),
        ..options(1, 0)
    });
    let size = made.archive.len();
    assert!((900_000..1_200_000).contains(&size), "{size}");
}

/// The report of all captures of `inputs`.
fn report(dir: &Path, inputs: &[&Path], threads: &str) -> String {
    let path = dir.join("report.csv");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedupe"));
    command.arg("--in").args(inputs).arg("--report").arg(&path);
    command.args(["--include-unique", "-q", "--threads", threads]);
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", output.stderr.escape_ascii());
    fs::read_to_string(&path).expect("a report was written")
}

/// Rows by offset, as cells by column name.
type Rows = BTreeMap<u64, BTreeMap<String, String>>;

fn rows(csv: &str) -> Rows {
    let mut lines = csv.lines().map(cells);
    let header = lines.next().expect("a header");
    lines
        .map(|cells| {
            let row: BTreeMap<_, _> = header.iter().cloned().zip(cells).collect();
            (row["offset"].parse().expect("an offset"), row)
        })
        .collect()
}

/// The cells of a line (RFC 4180); no cell here has a line end in it.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().expect("there is one from the start");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cell.push(letter),
        }
    }
    cells
}

/// Holds the report against the truth: the same captures, roles, and partitions by URL, content and page.
fn check_truth(options: &Options) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(&options.name);
    let made = make(options);
    fs::write(&path, &made.archive).expect("the folder is writable");
    let truth = rows(&String::from_utf8(made.truth).expect("URLs are ASCII"));
    let report = rows(&report(dir.path(), &[&path], "2"));
    let offsets = |rows: &Rows| rows.keys().copied().collect::<Vec<_>>();
    assert_eq!(offsets(&report), offsets(&truth));
    for (true_row, row) in truth.values().zip(report.values()) {
        let planted = &true_row["planted"];
        // A report prints no secrets.
        let url = true_row["url"].replace("reader:secret@", "***@");
        assert_eq!(row["url"], url);
        for column in ["timestamp", "length"] {
            assert_eq!(row[column], true_row[column], "{column} of {true_row:?}");
        }
        if !true_row["role"].is_empty() {
            assert_eq!(row["role"], true_row["role"], "{planted}: {row:?}");
        }
    }
    for (class, group) in [
        ("url_class", "url_group"),
        ("content", "content_group"),
        ("page", "page_group"),
    ] {
        let (expected, found) = (partition(&truth, class), partition(&report, group));
        let lost: Vec<_> = expected.difference(&found).collect();
        let invented: Vec<_> = found.difference(&expected).collect();
        assert!(
            lost.is_empty() && invented.is_empty(),
            "{group}, seed {}: not found {lost:?}, not true {invented:?}",
            options.seed
        );
    }
}

/// The sets of two rows or more that have the same in `column`, by offset.
fn partition(rows: &Rows, column: &str) -> BTreeSet<Vec<u64>> {
    let mut sets: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (offset, row) in rows.iter().filter(|(_, row)| !row[column].is_empty()) {
        sets.entry(&row[column]).or_default().push(*offset);
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}
