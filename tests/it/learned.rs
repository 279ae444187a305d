//! The learned policy on archives with rules planted on single hosts: it has exactly what the evidence supports,
//! and its printed error covers the true one.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use crawl_dedupe::capture::Timestamp;
use crawl_dedupe::engine::evaluate::{self, Evaluation, Outputs};
use crawl_dedupe::engine::{Outcome, Reading, Talk};
use crawl_dedupe::evaluate::Sample;
use crawl_dedupe::group;
use crawl_dedupe::policy::Policy;
use crawl_dedupe::report::{Color, ProgressMode, Target, Verbosity};
use serde_json::Value;

use crate::evaluate::Random;
use crate::expect::check;
use crate::generated::planted_on_hosts;

/// An evaluation of one archive with fixed date.
pub(crate) fn evaluation(archive: &Path, threads: usize) -> Evaluation {
    Evaluation {
        command: "test".to_owned(),
        reading: Reading {
            threads: NonZeroUsize::new(threads).expect("not zero"),
            ..Reading::of(vec![archive.into()])
        },
        policy: None,
        against: None,
        rules: Vec::new(),
        sample: None,
        within: 30 * 86_400,
        thresholds: group::Thresholds::default(),
        advice: crawl_dedupe::evaluate::Thresholds::default(),
        loss_max: None,
        outputs: Outputs::default(),
        date: Timestamp::parse_w3cdtf(b"2026-11-30"),
        talk: Talk {
            verbosity: Verbosity::Quiet,
            progress: ProgressMode::Hidden,
            color: Color::Never,
        },
    }
}

/// The learned policy and `evaluation.learned` of the summary.
fn learn(archive: &[u8], threads: usize) -> (String, Value) {
    learn_with(archive, threads, |_| ())
}

fn learn_with(
    archive: &[u8],
    threads: usize,
    adapt: impl FnOnce(&mut Evaluation),
) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.cdxj"), archive).expect("it is writable");
    let mut job = evaluation(&at("a.cdxj"), threads);
    job.outputs.policy = Some(Target::from(at("learned.toml")));
    job.outputs.summaries = vec![Target::from(at("summary.json"))];
    adapt(&mut job);
    assert_eq!(evaluate::run(&job).expect("it runs"), Outcome::Done);
    let text = fs::read_to_string(at("learned.toml")).expect("it was written");
    let summary = fs::read(at("summary.json")).expect("it was written");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    (text, summary["evaluation"]["learned"].clone())
}

/// A session on one host, the same name with a meaning on another, a slash that matters on a third.
const HOSTS: [(&str, &str, u64, u64); 7] = [
    ("shop.example", "query-drop=sid", 900, 0),
    ("data.example", "query-drop=sid", 0, 900),
    ("blog.example", "trailing-slash=drop", 0, 700),
    ("news.example", "trailing-slash=drop", 800, 0),
    ("few.example", "www=www", 100, 0),
    ("mixed.example", "path-case=lower", 700, 12),
    ("rare.example", "leading-zeros=drop", 1500, 1),
];

#[test]
fn has_exactly_what_the_evidence_supports() {
    let archive = planted_on_hosts(5, &HOSTS);
    let (text, figures) = learn(&archive, 1);
    check("learned.toml", text.as_bytes());
    let policy = Policy::parse(text.as_bytes(), Path::new("learned.toml")).expect("it is valid");
    assert_eq!(policy.id().label(), "learned@2026.11.30");
    let origins = policy.plan().origins.iter();
    let hosts: Vec<Vec<u8>> = origins
        .map(|origin| origin.authority.host.clone())
        .collect();
    assert!(hosts.contains(&b"shop.example".to_vec()) && hosts.contains(&b"news.example".to_vec()));
    for host in [
        &b"data.example"[..],
        b"blog.example",
        b"few.example",
        b"mixed.example",
    ] {
        assert!(!hosts.contains(&host.to_vec()), "{}", host.escape_ascii());
    }
    assert!(
        policy.plan().bets.rules.is_empty(),
        "nothing for other hosts"
    );
    let held_out = &figures["held_out"];
    assert!(held_out["wrong_rate_max"].as_f64().expect("a share") < 0.01);
}

#[test]
fn does_not_depend_on_threads() {
    let archive = planted_on_hosts(6, &HOSTS[..4]);
    assert_eq!(learn(&archive, 1), learn(&archive, 3));
}

/// By single rules the verdicts of the report, and by single rules the hosts of the policy.
fn verdicts_and_hosts(archive: &[u8]) -> (BTreeMap<String, String>, BTreeMap<String, usize>) {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules.csv");
    let (text, _) = learn_with(archive, 1, |job| {
        job.outputs.report = Some(Target::from(rules.clone()));
    });
    let policy = Policy::parse(text.as_bytes(), Path::new("learned.toml")).expect("it is valid");
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    for origin in policy.plan().origins.iter() {
        for rule in origin.bets.rules.iter() {
            *hosts.entry(rule.name().to_owned()).or_default() += 1;
        }
    }
    let report = fs::read_to_string(rules).expect("it was written");
    let verdicts = report.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[46].to_owned())
    });
    (verdicts.collect(), hosts)
}

#[test]
fn the_verdict_names_hosts_exactly_where_the_policy_has_the_rule() {
    let mut n_refused = 0;
    let mut n_learned = 0;
    for seed in 0..6 {
        let archive = planted_on_hosts(
            seed,
            &[
                ("news.example", "trailing-slash=drop", 800, 0),
                ("shop.example", "query-drop=sid", 900, 0),
                // Its one wrong merge is in half A as often as in half B.
                ("rare.example", "leading-zeros=drop", 900, 1),
            ],
        );
        let (verdicts, hosts) = verdicts_and_hosts(&archive);
        for (rule, verdict) in &verdicts {
            let is_learned = hosts.contains_key(rule);
            assert_eq!(
                verdict == "adopt-per-host",
                is_learned,
                "seed {seed}: {rule} {verdict}"
            );
            n_learned += usize::from(is_learned);
        }
        // A narrower rule was learned in place of this one.
        assert_eq!(verdicts["query-all=drop"], "not-enough-evidence");
        n_refused += usize::from(!hosts.contains_key("leading-zeros=drop"));
    }
    assert!(n_learned >= 6 && n_refused == 6, "{n_learned} {n_refused}");
}

#[test]
fn hosts_that_no_entry_can_be_about_alone_are_named() {
    let archive = planted_on_hosts(
        7,
        &[
            ("localhost", "query-drop=sid", 900, 0),
            ("github.io", "trailing-slash=drop", 800, 0),
            ("192.0.2.7", "query-drop=sid", 900, 0),
        ],
    );
    let (text, figures) = learn(&archive, 1);
    assert!(text.contains("host = \"192.0.2.7\""), "{text}");
    assert!(!text.contains("host = \"localhost\"") && !text.contains("host = \"github.io\""));
    let said = "not learned for 2 hosts with 3400 URLs, since an entry for one would be about other sites too: \
                github.io (1600 URLs), localhost (1800 URLs)";
    assert!(text.contains(said), "{text}");
    assert_eq!(figures["left_out"][0], said);
}

#[test]
fn a_name_that_no_policy_can_say_is_left_out_with_a_word() {
    let archive = planted_on_hosts(
        8,
        &[
            ("shop.example", "query-drop=s*", 900, 0),
            ("data.example", "query-drop=%2541", 900, 0),
        ],
    );
    let (text, _) = learn(&archive, 1);
    assert!(!text.contains("query-all"), "{text}");
    assert!(
        text.contains("# shop.example: not tried, since no policy file can say it: s* (900 URLs)"),
        "{text}"
    );
    // One that reads like an escape can be said.
    assert!(text.contains("name = \"%2541\""), "{text}");
    let policy = Policy::parse(text.as_bytes(), Path::new("learned.toml")).expect("it is valid");
    let mut origins = policy.plan().origins.iter();
    assert!(origins.any(|origin| origin.bets.query_drop.contains(b"%41")));
}

#[test]
fn what_was_learned_of_a_sample_says_so() {
    let archive = planted_on_hosts(9, &HOSTS[..4]);
    let sample = Sample {
        share: 0.8,
        seed: 4,
    };
    let (text, _) = learn_with(&archive, 1, |job| job.sample = Some(sample));
    let mut lines = text.lines();
    let first = lines.next().expect("a first line");
    assert!(
        first.contains("half A of a sample (80.000 %, seed 4) of "),
        "{first}"
    );
    let second = lines.next().expect("a second line");
    assert!(
        second.contains("merges of the sample are wrong"),
        "{second}"
    );
    assert!(text.contains("host = \"shop.example\""));
}

/// The error in the first lines of a policy: the merges of half B, the wrong ones, and the interval in percent.
fn printed(text: &str) -> Option<(u64, u64, (f64, f64))> {
    let line = text.lines().nth(1).expect("a second line");
    let (wrong, rest) = line.split_once("chosen, ")?.1.split_once(" of ")?;
    let (n, rest) = rest.split_once(" merges are wrong (95 %: ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let percents: Vec<f64> = words
        .windows(2)
        .filter(|pair| pair[1] == "%")
        .map(|pair| pair[0].parse().expect("a number"))
        .collect();
    let interval = match percents[..] {
        [low, high] => (low, high),
        [high] => (0.0, high),
        _ => return None,
    };
    Some((n.parse().ok()?, wrong.parse().ok()?, interval))
}

/// On ten hosts each merge is wrong with a chance of its host; what half A has let pass is wrong in half B as often.
#[test]
fn the_printed_error_covers_the_true_one() {
    const N_ARCHIVES: u64 = 100;
    const CHANCES: [f64; 4] = [0.0, 0.01, 0.02, 0.04];
    let mut n_covered = 0;
    let (mut expected, mut variance, mut found, mut width) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..N_ARCHIVES {
        let mut random = Random(seed);
        let names: Vec<String> = (0..10).map(|host| format!("host{host}.example")).collect();
        let chance = |host: usize| CHANCES[host % CHANCES.len()];
        let hosts: Vec<(&str, &str, u64, u64)> = names
            .iter()
            .enumerate()
            .map(|(index, host)| {
                let is_wrong = |_: &u64| f64::from(random.below(10_000)) < chance(index) * 1e4;
                let n_wrong = (0..120).filter(is_wrong).count() as u64;
                (host.as_str(), "query-drop=sid", 120 - n_wrong, n_wrong)
            })
            .collect();
        let archive = planted_on_hosts(seed, &hosts);
        let (text, figures) = learn_with(&archive, 2, |job| {
            job.advice.host_decidable_min = 30;
            job.rules = vec!["www=www".to_owned()];
        });
        let Some((n, n_wrong, (low, high))) = printed(&text) else {
            panic!("nothing was learned: {text}");
        };
        let mut n_expected = 0.0;
        for entry in figures["entries"].as_array().expect("a list") {
            let host = entry["host"].as_str().expect("a name");
            let index = names.iter().position(|name| name == host).expect("a host");
            let counts = ["right", "wrong"].map(|key| entry["measured"][key].as_u64());
            let of_host: u64 = counts.iter().map(|count| count.expect("a count")).sum();
            n_expected += of_host as f64 * chance(index);
            variance += of_host as f64 * chance(index) * (1.0 - chance(index));
        }
        let truth = n_expected / n as f64 * 100.0;
        n_covered += u64::from(low <= truth && truth <= high);
        expected += n_expected;
        found += n_wrong as f64;
        width += (high - low) / N_ARCHIVES as f64;
    }
    assert!(n_covered * 100 >= 93 * N_ARCHIVES, "{n_covered}");
    assert!(width < 4.0, "{width} %: an interval that says nothing");
    // What was removed counts too: without it there would be no wrong merge at all.
    assert!(
        expected > 50.0 && (found - expected).abs() < 4.0 * f64::sqrt(variance),
        "{found} {expected}"
    );
}
