//! The whole main job through the library, from a file to a report: `cargo bench --bench end_to_end`.

#![expect(
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that shows nothing measures nothing; its macro writes no docs"
)]

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use crawl_dedupe::engine::{self, FailOn, Job, Outcome, Reading, ReportPlan, Talk};
use crawl_dedupe::group::{Listing, Thresholds};
use crawl_dedupe::report::{Escape, Format, ProgressMode, Target, Verbosity};
use crawl_dedupe::scan::warc::DigestMode;
use criterion::{Criterion, Throughput};
use generate::Storage;
use made::{N_CAPTURES, made, tell};

#[path = "../scripts/generate/mod.rs"]
#[expect(dead_code, reason = "a bench needs little of what it can make")]
mod generate;
mod made;

fn job(input: &Path, folder: &Path, digests: DigestMode, threads: usize) -> Job {
    Job {
        command: "bench".to_owned(),
        reading: Reading {
            digests,
            threads: NonZeroUsize::new(threads).expect("there is a thread"),
            ..Reading::of(vec![OsString::from(input)])
        },
        policy: "safe@1".to_owned(),
        thresholds: Thresholds::default(),
        report: Some(ReportPlan {
            target: Target::File(folder.join("report.csv")),
            format: Format::Csv,
            listing: Listing::All,
            escape: Escape::Formula,
        }),
        summaries: vec![Target::File(folder.join("summary.json"))],
        fail_on: FailOn::Nothing,
        keys_in: Vec::new(),
        keys_out: None,
        talk: Talk {
            verbosity: Verbosity::Quiet,
            progress: ProgressMode::Hidden,
            ..Talk::default()
        },
    }
}

/// Captures and revisits, by the summary of the run before.
fn n_captures(folder: &Path) -> u64 {
    let summary = std::fs::read(folder.join("summary.json")).expect("the run wrote it");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("it is JSON");
    ["captures", "revisits"]
        .iter()
        .filter_map(|name| summary["counts"][name].as_u64())
        .sum()
}

fn end_to_end(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("there is a place for files");
    let all = [
        DigestMode::Verify,
        DigestMode::Content,
        DigestMode::Declared,
    ];
    for (name, format, storage, n, modes) in [
        (
            "crawl.warc.gz",
            generate::Format::Warc,
            Storage::Gzip,
            N_CAPTURES,
            &all[..],
        ),
        (
            "crawl.warc",
            generate::Format::Warc,
            Storage::Plain,
            N_CAPTURES,
            &all[1..],
        ),
        (
            "crawl.cdx",
            generate::Format::Cdx,
            Storage::Plain,
            100 * N_CAPTURES,
            &all[2..],
        ),
        (
            "crawl.cdxj",
            generate::Format::Cdxj,
            Storage::Plain,
            100 * N_CAPTURES,
            &all[2..],
        ),
    ] {
        let bytes = made(n, format, storage);
        let input = folder.path().join(name);
        std::fs::write(&input, &bytes).expect("there is room");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.sample_size(10);
        for (digests, threads) in modes.iter().flat_map(|mode| [(*mode, 1), (*mode, 2)]) {
            let job = job(&input, folder.path(), digests, threads);
            let run = || assert_eq!(engine::run(&job).expect("it is sound"), Outcome::Done);
            run();
            let n_read = n_captures(folder.path());
            assert!((n..n + 20).contains(&n_read), "{n_read} captures of {n}");
            let title = format!("{digests:?}, threads {threads}").to_ascii_lowercase();
            tell(&format!("{name}: {title}"), bytes.len(), n_read, run);
            group.bench_function(title, |bencher| bencher.iter(run));
        }
        group.finish();
    }
}

criterion::criterion_group!(benches, end_to_end);
criterion::criterion_main!(benches);
