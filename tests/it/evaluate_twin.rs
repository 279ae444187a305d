//! `dedupe evaluate` against its brute-force twin, from the files of random crawls to every cell of its tables.
//!
//! `DEDUPE_CRAWLS=10000 cargo test --release --test it evaluate_twin::` looks at ten thousand; with `DEDUPE_CRAWLS=1` and
//! `DEDUPE_CRAWLS_FROM` one is looked at, and printed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crawl_dedupe::policy::Policy;
use statrs::function::beta::beta_reg;

use crate::crawls::{Crawl, Size};
use crate::evaluate::Random;
use crate::evaluate_naive::{Naive, Row};
use crate::generated::cells as cells_of;
use crate::naive_crawl::{Limits, Twin};
use crate::questions::Asking;

/// Crawls that the twin looks at; more with `DEDUPE_CRAWLS`, others with `DEDUPE_CRAWLS_FROM`.
const N_CRAWLS: u64 = 100;

type Cells = BTreeMap<String, String>;

#[test]
fn agrees_with_the_twin_on_every_cell() {
    let number =
        |name: &str| -> Option<u64> { Some(std::env::var(name).ok()?.parse().expect("a number")) };
    let n_crawls = number("DEDUPE_CRAWLS").unwrap_or(N_CRAWLS);
    let first = number("DEDUPE_CRAWLS_FROM").unwrap_or(0);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + n_crawls {
        check(seed, folder.path(), &mut seen);
    }
    // A twin that never meets a case says nothing about it.
    let unseen: Vec<_> = seen.iter().filter(|(_, count)| **count == 0).collect();
    assert!(unseen.is_empty(), "no crawl has {unseen:?}");
}

fn seed_of(crawl: u64) -> u64 {
    crawl.wrapping_mul(7919) + 1
}

fn size_of(crawl: u64) -> Size {
    match crawl % 40 {
        7 | 8 => Size::Deep,
        9 | 10 => Size::Wide,
        _ => Size::Small,
    }
}

fn check(seed: u64, folder: &Path, seen: &mut BTreeMap<String, u64>) {
    let mut random = Random(seed_of(seed));
    let crawl = Crawl::random(size_of(seed), &mut random);
    let asking = match size_of(seed) {
        Size::Small => Asking::random(&mut random),
        // Of these it matters that something is merged.
        Size::Deep | Size::Wide => Asking::lee(),
    };
    let limits = Limits {
        within: 3600 * *random.pick(&[0, 1, 24, 30 * 24, 30 * 24, 90 * 24]),
        boilerplate: *random.pick(&[1, 2, 4, 50]),
        precision_min: *random.pick(&[0.999, 0.5, 0.8]),
    };
    check_core_forms(&crawl);
    let decidable_min = *random.pick(&[4000, 1, 10]);
    let found = run(&crawl, &asking, limits, decidable_min, folder);
    let twin = Twin::of(&crawl.given, &asking, limits);
    let naive = Naive::of(&twin.archive);
    let what = format!("seed {seed}, {limits:?}, {:?}", asking.flags);
    let names: Vec<&str> = asking
        .rows
        .iter()
        .map(|asked| asked.name.as_str())
        .collect();
    let found_names: Vec<&str> = found.rules.iter().map(|row| row["rule"].as_str()).collect();
    assert_eq!(found_names, names, "{what}");
    let (mut wrong, mut hosts) = (Vec::new(), Vec::new());
    for ((asked, rule), cells) in asking
        .rows
        .iter()
        .zip(&twin.archive.rules)
        .zip(&found.rules)
    {
        let row = naive.row(rule);
        let what = format!("{what}: {}", asked.name);
        let (fired, split) = twin.fired(asked);
        assert_eq!(cells["tier"], asked.tier, "{what}");
        check_row(&twin, &row, cells, &what);
        for (column, count) in [("urls_fired", fired), ("urls_split", split)] {
            assert_eq!(cells[column], count.to_string(), "{what}: {column}");
        }
        let decidable_min = u64::from(decidable_min);
        assert_eq!(
            cells["verdict"],
            verdict(cells, limits, decidable_min),
            "{what}"
        );
        for (column, cell) in cells.iter().filter(|(column, _)| *column != "approximate") {
            *seen.entry(column.clone()).or_default() +=
                u64::from(!matches!(cell.as_str(), "" | "0" | "0.00000000"));
        }
        *seen.entry(cells["verdict"].clone()).or_default() += 1;
        wrong.extend(twin.wrong(&naive, asked, &row));
        hosts.extend(twin.hosts(&naive, asked, &row));
    }
    for (found, expected) in found.wrong.iter().zip(&wrong) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.wrong.len(), wrong.len(), "{what}");
    for (host, expected) in found.hosts.iter().zip(&hosts) {
        let floor: Option<f64> = host[6].parse().ok();
        let floor = floor.map_or(String::new(), |floor| format!("{floor:.4}"));
        let host = [&host[..6], &[floor, host[7].clone()]].concat();
        assert_eq!(&host, expected, "{what}");
    }
    assert_eq!(found.hosts.len(), hosts.len(), "{what}");
    assert_eq!(found.interactions, interactions(&twin), "{what}");
}

/// What is written differs from the core form by the core alone.
fn check_core_forms(crawl: &Crawl) {
    let safe = Policy::load("safe@1").expect("it is built in");
    let mut keyer = crawl_dedupe::key::Keyer::new(&safe);
    for given in &crawl.given {
        let text = keyer.key(given.spelled.as_bytes()).text;
        assert_eq!(
            text.escape_ascii().to_string(),
            given.url,
            "{}",
            given.spelled
        );
    }
}

/// The outputs of one run.
struct Found {
    rules: Vec<Cells>,
    wrong: Vec<Vec<String>>,
    hosts: Vec<Vec<String>>,
    interactions: serde_json::Value,
}

fn run(crawl: &Crawl, asking: &Asking, limits: Limits, decidable_min: u32, folder: &Path) -> Found {
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("the folder is writable");
    };
    put("crawl.warc.gz", &crawl.records);
    put("crawl.cdx", crawl.lines.as_bytes());
    for (name, file) in &asking.files {
        put(&format!("{name}.toml"), file.as_bytes());
    }
    let mut inputs = Vec::new();
    if !crawl.records.is_empty() {
        inputs.push("crawl.warc.gz");
    }
    if !crawl.lines.is_empty() {
        inputs.push("crawl.cdx");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .arg("evaluate")
        .arg("--in")
        .args(inputs)
        .args(&asking.flags)
        .args(["--within", &format!("{}s", limits.within)])
        .args(["--boilerplate", &limits.boilerplate.to_string()])
        .args(["--min-precision", &limits.precision_min.to_string()])
        .args(["--min-pairs", &decidable_min.to_string()])
        .args([
            "--report",
            "r.csv",
            "--pairs",
            "w.csv",
            "--hosts",
            "h.csv",
            "--summary",
            "s.json",
            "-q",
        ])
        .args(["--threads", "2"])
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let summary = std::fs::read(folder.join("s.json")).unwrap_or_default();
    assert!(
        output.status.success(),
        "{}: {}: {} {}",
        crawl.lines,
        output.status,
        output.stderr.escape_ascii(),
        summary.escape_ascii()
    );
    let table = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("it was written");
        let rows: Vec<Vec<String>> = text.lines().map(cells_of).collect();
        rows
    };
    let mut rules = table("r.csv");
    let columns = rules.remove(0);
    let summary = std::fs::read(folder.join("s.json")).expect("it was written");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("it is JSON");
    Found {
        rules: rules
            .into_iter()
            .map(|row| columns.iter().cloned().zip(row).collect())
            .collect(),
        wrong: table("w.csv").split_off(1),
        hosts: table("h.csv").split_off(1),
        interactions: summary["evaluation"]["interactions"].clone(),
    }
}

fn interactions(twin: &Twin<'_>) -> serde_json::Value {
    let place = |name: &&str| {
        crawl_dedupe::policy::Rule::parse(name)
            .expect("a bet")
            .index()
    };
    let mut found: Vec<_> = twin.interactions().into_iter().collect();
    found.sort_by_key(|(rules, _)| rules.iter().map(place).collect::<Vec<_>>());
    found
        .into_iter()
        .map(|(rules, (needs_both, either))| {
            serde_json::json!({ "rules": rules, "needs_both": needs_both, "either": either })
        })
        .collect()
}

/// Holds all cells but those of firing and the verdict.
fn check_row(twin: &Twin<'_>, row: &Row, cells: &Cells, what: &str) {
    let count = |column: &str| row.counts.get(column).copied().unwrap_or(0);
    for column in [
        "pairs_right",
        "pairs_wrong",
        "pairs_wrong_stable",
        "pairs_unverifiable",
        "pairs_missed",
        "urls_merged",
        "urls_right",
        "urls_wrong",
        "urls_wrong_stable",
        "urls_unverifiable",
        "urls_right_decidable",
        "urls_decidable",
        "classes_right",
        "classes_wrong",
        "classes_unverifiable",
        "domains",
        "contents",
        "contents_unstable",
        "page_loss_first",
        "page_loss_best",
        "page_loss_worst",
        "noise_pairs",
        "approximate",
    ] {
        assert_eq!(cells[column], count(column).to_string(), "{what}: {column}");
    }
    let classes = count("classes_right") + count("classes_wrong") + count("classes_unverifiable");
    assert_eq!(cells["classes_merged"], classes.to_string(), "{what}");
    for (column, is_known) in [
        ("pairs_right_redirect", twin.has_redirects()),
        ("pairs_wrong_near", twin.has_texts()),
    ] {
        let expected = if is_known {
            count(column).to_string()
        } else {
            String::new()
        };
        assert_eq!(cells[column], expected, "{what}: {column}");
    }
    assert_eq!(
        cells["few_hosts"],
        (count("domains") < 30).to_string(),
        "{what}"
    );
    let worst = row
        .worst_domain
        .map_or("", |domain| twin.domain_name(domain));
    assert_eq!(cells["worst_host"], worst, "{what}");
    check_reals(twin, row, cells, what);
    check_precision(row, cells, what);
    check_loss_interval(row, cells, what);
}

/// A cell as a number.
fn real(cells: &Cells, column: &str) -> Option<f64> {
    cells[column].parse().ok()
}

fn check_real(cells: &Cells, column: &str, expected: Option<f64>, what: &str) {
    let got = real(cells, column);
    let are_close = match (got, expected) {
        (Some(got), Some(expected)) => (got - expected).abs() <= 1e-8 * expected.abs().max(1e-3),
        (got, expected) => got.is_none() && expected.is_none(),
    };
    assert!(are_close, "{what}: {column}: {got:?}, not {expected:?}");
}

fn check_reals(twin: &Twin<'_>, row: &Row, cells: &Cells, what: &str) {
    let count = |column: &str| row.counts.get(column).copied().unwrap_or(0) as f64;
    let ratio = |part: f64, all: f64| (all > 0.0).then(|| part / all);
    let merged = count("urls_merged");
    let known = |name: &str| row.reals.get(name).copied().flatten();
    let corrected = known("corrected_precision").map(|share| share.clamp(0.0, 1.0));
    for (column, expected) in [
        ("reduction", ratio(merged, twin.urls.len() as f64)),
        (
            "loss_per_url_saved",
            ratio(count("page_loss_first"), merged),
        ),
        ("precision_low", ratio(count("urls_right"), merged)),
        (
            "precision_high",
            ratio(count("urls_right") + count("urls_unverifiable"), merged),
        ),
        (
            "verified_precision",
            ratio(count("urls_right_decidable"), count("urls_decidable")),
        ),
        (
            "recall",
            ratio(
                count("pairs_right"),
                count("pairs_right") + count("pairs_missed"),
            ),
        ),
        ("page_loss_expected", known("page_loss_expected")),
        ("n_eff", known("n_eff")),
        ("noise_floor", known("noise_floor")),
        ("corrected_precision", corrected),
    ] {
        check_real(cells, column, expected, what);
    }
}

/// The ends of the intervals are where the distribution functions say.
fn check_precision(row: &Row, cells: &Cells, what: &str) {
    let count = |column: &str| row.counts.get(column).copied().unwrap_or(0);
    let (right, decidable) = (count("urls_right_decidable"), count("urls_decidable"));
    let [low, high, max] = [
        "verified_precision_ci_low",
        "verified_precision_ci_high",
        "wrong_rate_max",
    ]
    .map(|column| real(cells, column));
    assert_eq!(
        (low.is_some(), high.is_some()),
        (count("domains") > 1, count("domains") > 1),
        "{what}"
    );
    assert_eq!(max.is_some(), decidable > 0, "{what}");
    let (Some(n), Some(max)) = (row.reals["n_eff"], max) else {
        return;
    };
    let p = right as f64 / decidable as f64;
    let wrong = (1.0 - p) * n;
    let is_end_of = |(a, b): (f64, f64), end: f64, share: f64| {
        let slack = 2e-9 * end.max(1e-3);
        let [below, above] = [end - slack, end + slack].map(|x| beta_reg(a, b, x.clamp(0.0, 1.0)));
        assert!(
            below - 1e-9 <= share && share <= above + 1e-9,
            "{what}: {end} {share}"
        );
    };
    match (right == decidable, right) {
        (true, _) => check_real(cells, "wrong_rate_max", Some((3.0 / n).min(1.0)), what),
        (false, 0) => assert_eq!(max, 1.0, "{what}"),
        (false, _) => is_end_of((wrong + 1.0, n - wrong), max, 0.95),
    }
    let (Some(low), Some(high)) = (low, high) else {
        return;
    };
    match right {
        0 => assert_eq!(low, 0.0, "{what}"),
        _ => is_end_of((p * n, wrong + 1.0), low, 0.025),
    }
    match right == decidable {
        true => assert_eq!(high, 1.0, "{what}"),
        false => is_end_of((p * n + 1.0, wrong), high, 0.975),
    }
}

/// The 25th and the 975th of a thousand drawings of as many groups as there are.
fn check_loss_interval(row: &Row, cells: &Cells, what: &str) {
    let groups: Vec<(u64, u64)> = row.lost_by_group.values().copied().collect();
    let contents: u64 = groups.iter().map(|group| group.0).sum();
    let n_groups = groups.len() as u64;
    let mut losses: Vec<f64> = (0..1000_u64)
        .filter(|_| n_groups > 1)
        .map(|replicate| {
            let drawn: Vec<(u64, u64)> = (0..n_groups)
                .map(|draw| Random(replicate * 1024 + draw).next() % n_groups)
                .map(|group| groups[usize::try_from(group).expect("few groups")])
                .collect();
            let [all, lost] = [0, 1].map(|side| {
                drawn
                    .iter()
                    .map(|group| [group.0, group.1][side])
                    .sum::<u64>() as f64
            });
            lost / all * contents as f64
        })
        .collect();
    losses.sort_by(f64::total_cmp);
    check_real(
        cells,
        "page_loss_first_ci_low",
        losses.get(24).copied(),
        what,
    );
    check_real(
        cells,
        "page_loss_first_ci_high",
        losses.get(974).copied(),
        what,
    );
}

/// From cells that were held already.
fn verdict(cells: &Cells, limits: Limits, decidable_min: u64) -> &'static str {
    let count = |column: &str| -> u64 { cells[column].parse().expect("a count") };
    let low = real(cells, "verified_precision_ci_low");
    let high = real(cells, "verified_precision_ci_high");
    let is_proven = low.is_some_and(|low| low >= limits.precision_min)
        && count("urls_decidable") >= decidable_min
        && count("domains") >= 30
        && 2 * count("urls_decidable") >= count("urls_merged");
    if is_proven {
        "adopt"
    } else if high.is_some_and(|high| high < limits.precision_min) && count("urls_wrong_stable") > 0
    {
        "reject"
    } else {
        "not-enough-evidence"
    }
}
