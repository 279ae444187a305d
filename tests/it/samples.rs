//! `--sample`: counts of the whole from a part of it, with intervals that hold the full answer.

use std::collections::BTreeMap;
use std::fs;

use crawl_dedupe::engine::evaluate;
use crawl_dedupe::evaluate::Sample;
use crawl_dedupe::report::Target;
use serde_json::Value;

use crate::generated::planted_on_hosts;
use crate::learned::evaluation;

/// Rows by rule, and of each its cells by column.
type Table = BTreeMap<String, BTreeMap<String, String>>;

/// `rules.csv` and `evaluation{}` of an archive.
fn run(archive: &[u8], threads: usize, sample: Option<Sample>) -> (Table, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.cdxj"), archive).expect("it is writable");
    let mut job = evaluation(&at("a.cdxj"), threads);
    job.sample = sample;
    job.outputs.report = Some(Target::from(at("rules.csv")));
    job.outputs.summaries = vec![Target::from(at("summary.json"))];
    evaluate::run(&job).expect("it runs");
    let text = fs::read_to_string(at("rules.csv")).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("a header").collect();
    let rows = lines.map(|cells| {
        let row: BTreeMap<_, _> = columns.iter().cloned().zip(cells).collect();
        (row["rule"].clone(), row)
    });
    let summary = fs::read(at("summary.json")).expect("it was written");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    (rows.collect(), summary["evaluation"].clone())
}

const HOSTS: [(&str, &str, u64, u64); 4] = [
    ("shop.example", "query-drop=sid", 300, 30),
    ("news.example", "trailing-slash=drop", 240, 0),
    ("blog.example", "trailing-slash=drop", 0, 160),
    ("wiki.example", "path-case=lower", 90, 110),
];

#[test]
fn a_sample_of_everything_is_the_whole() {
    let archive = planted_on_hosts(1, &HOSTS);
    let (whole, _) = run(&archive, 1, None);
    let all = Sample {
        share: 1.0,
        seed: 1,
    };
    let (sampled, evaluation) = run(&archive, 1, Some(all));
    assert_eq!(evaluation["urls_without_skeleton"], 0);
    // Of a sample only bounds of the page loss are known.
    let bounds = [
        "page_loss_first",
        "page_loss_first_ci_low",
        "page_loss_first_ci_high",
        "page_loss_expected",
        "loss_per_url_saved",
    ];
    for (rule, row) in &whole {
        for (column, cell) in row.iter().filter(|cell| !bounds.contains(&cell.0.as_str())) {
            assert_eq!(&sampled[rule][column], cell, "{rule} {column}");
        }
        let ends = ["page_loss_first_ci_low", "page_loss_first_ci_high"];
        for end in ends.map(|end| sampled[rule][end].parse::<f64>().expect("a count")) {
            let first: f64 = row["page_loss_first"].parse().expect("a count");
            assert!((end - first).abs() < 0.5, "{rule}");
        }
    }
}

#[test]
fn intervals_hold_the_full_answer() {
    let figures = [
        "urls_merged",
        "urls_right",
        "urls_wrong",
        "pairs_right",
        "pairs_missed",
    ];
    let mut n_held: BTreeMap<&str, usize> = BTreeMap::new();
    let mut widest: f64 = 0.0;
    for seed in 0..12 {
        let archive = planted_on_hosts(seed, &HOSTS);
        let (whole, _) = run(&archive, 1, None);
        let (sampled, evaluation) = run(&archive, 1, Some(Sample { share: 0.2, seed }));
        let rule = "trailing-slash=drop";
        for figure in figures {
            let interval = &evaluation["sampled"]["rows"][rule][figure];
            let end = |name: &str| interval[name].as_f64().expect("a count");
            let count: f64 = whole[rule][figure].parse().expect("a count");
            *n_held.entry(figure).or_default() +=
                usize::from((end("low")..=end("high")).contains(&count));
            if figure == "urls_right" {
                widest = widest.max((end("high") - end("low")) / count);
                let estimate: f64 = sampled[rule][figure].parse().expect("a count");
                assert!((estimate - end("estimate")).abs() <= 0.5);
            }
        }
    }
    assert!(n_held.values().all(|n| *n >= 10), "{n_held:?}");
    assert!(widest < 1.0, "{widest}: an interval that says nothing");
}

#[test]
fn a_sample_does_not_depend_on_threads_and_a_seed_draws_another() {
    let archive = planted_on_hosts(2, &HOSTS);
    let sample = |seed| Some(Sample { share: 0.3, seed });
    let (one, evaluation) = run(&archive, 1, sample(1));
    assert_eq!(
        run(&archive, 3, sample(1)),
        (one.clone(), evaluation.clone())
    );
    assert_ne!(run(&archive, 1, sample(2)).0, one);
    let (n, all) = (&evaluation["sampled"]["urls"], &evaluation["urls"]);
    let share = n.as_f64().expect("a count") / all.as_f64().expect("a count");
    assert!((share - 0.3).abs() < 0.05, "{share}");
}

#[test]
fn no_figure_is_beyond_what_the_archive_has() {
    let hosts: Vec<(String, u64)> = (0..6).map(|n| (format!("host{n}.example"), n)).collect();
    let hosts: Vec<(&str, &str, u64, u64)> = hosts
        .iter()
        .map(|(host, n)| (host.as_str(), "trailing-slash=drop", 2 + n, 3))
        .collect();
    let mut n_held = 0;
    for seed in 0..12 {
        let archive = planted_on_hosts(seed, &hosts);
        let (sampled, evaluation) = run(&archive, 1, Some(Sample { share: 0.02, seed }));
        let n_urls = evaluation["urls"].as_f64().expect("a count");
        let contents = evaluation["contents"].as_f64().expect("a count");
        for (rule, row) in &sampled {
            let cell = |column: &str| row[column].parse::<f64>().unwrap_or(0.0);
            for column in ["urls_fired", "urls_merged", "urls_right", "urls_wrong"] {
                assert!(cell(column) <= n_urls, "{rule} {column}");
            }
            assert!(cell("reduction") < 1.0, "{rule}");
            for column in [
                "page_loss_best",
                "page_loss_worst",
                "page_loss_first_ci_high",
            ] {
                assert!(cell(column) <= contents, "{rule} {column}");
            }
            let verdicts = ["urls_right", "urls_wrong", "urls_unverifiable"].map(cell);
            assert!((cell("urls_merged") - verdicts.iter().sum::<f64>()).abs() < 0.5);
            let estimates = &evaluation["sampled"]["rows"][rule];
            for (figure, estimate) in estimates.as_object().expect("figures") {
                let most = match figure.as_str() {
                    "page_loss" => contents,
                    figure if figure.starts_with("urls") => n_urls,
                    _ => n_urls * (n_urls - 1.0) / 2.0,
                };
                let high = estimate["high"].as_f64().expect("a count");
                assert!(high <= most, "{rule} {figure}: {high} of {most}");
                let share = cell("urls_merged").max(1.0) / 0.02;
                n_held += usize::from(high > 0.0 && high < share);
            }
        }
    }
    assert!(n_held > 0, "a test that could not fail");
}

/// Pairs on domains of their own are drawn as a whole or not at all.
#[test]
fn the_mean_of_samples_is_the_whole() {
    let archive = fs::read("sample-data/rules.cdxj").expect("it is there");
    let (whole, _) = run(&archive, 1, None);
    let n_seeds = 40;
    let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let picked = [
        ("query-drop-list=tracking", "urls_merged"),
        ("query-drop-list=tracking", "classes_merged"),
        ("trailing-slash=drop", "urls_right"),
        ("path-case=lower", "urls_wrong"),
        ("path-case=lower", "pairs_wrong"),
    ];
    for seed in 0..n_seeds {
        let (sampled, _) = run(&archive, 1, Some(Sample { share: 0.5, seed }));
        for (rule, column) in picked {
            let count: f64 = sampled[rule][column].parse().expect("a count");
            *sums.entry((rule, column)).or_default() += count / n_seeds as f64;
        }
    }
    for ((rule, column), mean) in sums {
        let truth: f64 = whole[rule][column].parse().expect("a count");
        // Four times the standard error of the mean.
        let error = 4.0 * (truth / n_seeds as f64).sqrt();
        assert!(
            (mean - truth).abs() < error,
            "{rule} {column}: {mean}, {truth}"
        );
    }
}
