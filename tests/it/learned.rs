//! The learned policy on archives with rules planted on single hosts: it has exactly what the evidence supports,
//! and its printed error covers the true one.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use crawl_dedupe::capture::Timestamp;
use crawl_dedupe::engine::evaluate::{self, Evaluation, Outputs};
use crawl_dedupe::engine::{Outcome, Reading, Talk};
use crawl_dedupe::group;
use crawl_dedupe::policy::Policy;
use crawl_dedupe::report::{Color, ProgressMode, Target, Verbosity};
use serde_json::Value;

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

/// Of a hundred merges on each of these hosts some are wrong; half A cannot see all of them.
#[test]
fn the_printed_error_covers_the_true_one() {
    let mut n_covered = 0;
    let mut n_wrong = 0;
    for seed in 0..8 {
        let names: Vec<String> = (0..8).map(|host| format!("host{host}.example")).collect();
        let hosts: Vec<(&str, &str, u64, u64)> = names
            .iter()
            .map(|host| (host.as_str(), "query-drop=sid", 118, 2))
            .collect();
        let archive = planted_on_hosts(seed, &hosts);
        let (_, figures) = learn_with(&archive, 1, |job| job.advice.host_decidable_min = 30);
        let held_out = &figures["held_out"];
        n_wrong += held_out["wrong"].as_u64().expect("a count");
        let Some(max) = held_out["wrong_rate_max"].as_f64() else {
            n_covered += 1;
            continue;
        };
        // Of what half A has let pass, all wrong merges are in half B; the true share is that of both halves.
        let chosen = figures["entries"].as_array().expect("a list");
        let sum = |half: &str, verdict: &str| -> u64 {
            let counts = chosen.iter().map(|entry| entry[half][verdict].as_u64());
            counts.map(|count| count.expect("a count")).sum()
        };
        let wrong = sum("learned", "wrong") + sum("measured", "wrong");
        let all = wrong + sum("learned", "right") + sum("measured", "right");
        n_covered += u64::from(wrong as f64 / all as f64 <= max);
    }
    assert!(n_wrong > 0, "a test that could not fail");
    assert!(n_covered >= 7, "{n_covered} of 8");
}
