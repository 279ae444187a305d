//! Files that many threads read in chunks: the same is found, to the last byte, for any number of threads and any size of
//! chunks, as by one thread that reads from begin to end.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::generated::generate::{Format, Health, Opening, Options, Storage};
use crate::generated::{make, options};
use crate::shared;
use crawl_dedupe::engine::{self, Archive, FailOn, Job, OnDamage, Reading, ReportPlan, Talk, plan};
use crawl_dedupe::group::{Listing, Thresholds};
use crawl_dedupe::policy::Policy;
use crawl_dedupe::report::{self, Escape, ProgressMode, Summary, Verbosity};
use crawl_dedupe::scan::warc::{DigestMode, VisibleText};
use flate2::Compression;

/// Numbers of threads, and stored bytes of chunks, that the report must not depend on.
const ALL: [(usize, u64); 9] = [
    (1, 64 << 10),
    (1, 1 << 20),
    (1, 64 << 20),
    (2, 64 << 10),
    (2, 1 << 20),
    (2, 64 << 20),
    (8, 64 << 10),
    (8, 1 << 20),
    (8, 64 << 20),
];

/// Borders everywhere.
const TINY: [(usize, u64); 2] = [(1, 700), (2, 1 << 10)];

/// All that reading `path` finds, as text: every row, every capture, all counts and all damage.
fn found(path: &Path, how: &Reading) -> String {
    let policy = Policy::load("safe@1").expect("it is built in");
    let pool = pool(how.threads.get());
    let plan = plan::inputs(&[path.into()]);
    let talk = Talk {
        progress: ProgressMode::Hidden,
        ..Talk::default()
    };
    let read = pool.install(|| Archive::read(&plan, &policy, how, VisibleText::Skip, talk));
    let archive = match read {
        Ok(archive) => archive,
        Err(error) => return error.to_string(),
    };
    let mut summary = Summary::new(String::new(), policy.id());
    archive.describe(&mut summary);
    let mut text = format!("{summary:#?}\n{:#?}\n", archive.losses());
    let catalog = archive.catalog();
    for id in catalog.ids() {
        let (row, capture) = (catalog.row(id), catalog.capture(id));
        writeln!(text, "{row:?} {capture:?}").expect("memory takes it");
    }
    text
}

/// Pools are kept: a test makes hundreds of runs.
fn pool(n_threads: usize) -> &'static rayon::ThreadPool {
    static POOLS: [OnceLock<rayon::ThreadPool>; 9] = [const { OnceLock::new() }; 9];
    POOLS[n_threads].get_or_init(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().expect("threads can be started")
    })
}

fn how(path: &Path, digests: DigestMode, n_threads: usize, chunk_bytes: u64) -> Reading {
    Reading {
        digests,
        threads: NonZeroUsize::new(n_threads).expect("a number of threads"),
        chunk_bytes: NonZeroU64::new(chunk_bytes).expect("a number of bytes"),
        ..Reading::of(vec![path.into()])
    }
}

/// Holds what is found in chunks against what one thread finds that reads from begin to end.
fn check(name: &str, path: &Path, digests: DigestMode, cuts: &[(usize, u64)]) {
    let expected = found(path, &how(path, digests, 1, u64::MAX));
    for &(n_threads, chunk_bytes) in cuts {
        let found = found(path, &how(path, digests, n_threads, chunk_bytes));
        let first = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
        assert!(
            found == expected,
            "{name}, {digests:?}, {n_threads} threads, chunks of {chunk_bytes}: {first:#?}"
        );
    }
}

/// Holds the reports of whole runs against each other, for every number of threads and size of chunks.
fn check_reports(name: &str, path: &Path, digests: DigestMode) {
    let expected = report(&how(path, digests, 1, u64::MAX));
    for (n_threads, chunk_bytes) in ALL {
        assert!(
            report(&how(path, digests, n_threads, chunk_bytes)) == expected,
            "{name}, {digests:?}, {n_threads} threads, chunks of {chunk_bytes}"
        );
    }
}

/// The report of a whole run, every capture listed; what is said instead if there is none.
fn report(how: &Reading) -> Vec<u8> {
    // In memory, where there is such a folder: a report is synced, and this makes thousands.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let folder = folder.expect("a folder can be made");
    let path = folder.path().join("report.csv");
    let job = Job {
        command: String::new(),
        reading: how.clone(),
        policy: "safe@1".to_owned(),
        thresholds: Thresholds::default(),
        report: Some(ReportPlan {
            target: path.clone().into(),
            format: report::Format::Csv,
            listing: Listing::WithUnique,
            escape: Escape::Formula,
        }),
        summaries: Vec::new(),
        fail_on: FailOn::Nothing,
        keys_in: Vec::new(),
        keys_out: None,
        talk: Talk {
            verbosity: Verbosity::Quiet,
            progress: ProgressMode::Hidden,
            ..Talk::default()
        },
    };
    match engine::run_unbound(&job) {
        Ok(outcome) => {
            let mut report = fs::read(&path).expect("the report was written");
            report.push(outcome.exit_code());
            report
        }
        Err(error) => error.to_string().into_bytes(),
    }
}

fn check_reports_of(name: &str, bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("it can be written to");
    for digests in [DigestMode::Verify, DigestMode::Declared] {
        check_reports(name, file.path(), digests);
    }
}

fn check_bytes(name: &str, bytes: &[u8], cuts: &[(usize, u64)]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("it can be written to");
    check(name, file.path(), DigestMode::Verify, cuts);
    check(name, file.path(), DigestMode::Verify, &TINY);
    check(name, file.path(), DigestMode::Declared, &TINY[1..]);
}

/// A gzip member, stored if the level is 0.
pub(crate) fn gzip(text: &[u8], level: u32) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), Compression::new(level));
    member.write_all(text).expect("memory takes it");
    member.finish().expect("memory takes it")
}

pub(crate) fn record(index: usize, mime: &str, body: &[u8]) -> Vec<u8> {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n");
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{index}>\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Target-URI: http://e.test/{index}\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n",
        http.len() + body.len()
    );
    [head.as_bytes(), http.as_bytes(), body, b"\r\n\r\n"].concat()
}

/// Text that no compressor makes much smaller.
pub(crate) fn noise(seed: usize, len: usize) -> Vec<u8> {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b' ' + u8::try_from(state % 90).expect("it is small")
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Records of all sizes.
pub(crate) fn records(n: usize) -> Vec<Vec<u8>> {
    let body = |index| noise(index, 300 + index * index * 37 % 9000);
    (0..n)
        .map(|index| record(index, "text/html", &body(index)))
        .collect()
}

fn members(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().flat_map(|record| gzip(record, 6)).collect()
}

pub(crate) fn generated(health: Health, storage: Storage, format: Format) -> Vec<u8> {
    let options = Options {
        storage,
        format,
        health,
        opening: Opening::Tour,
        ..options(5, 120)
    };
    make(&options).archive
}

#[test]
fn generated_archives_read_the_same_in_any_chunks() {
    for health in [Health::Sound, Health::Damaged] {
        for storage in [Storage::Gzip, Storage::Plain] {
            let archive = generated(health, storage, Format::Warc);
            check_bytes("generated", &archive, &ALL[3..5]);
            check_reports_of("generated", &archive);
        }
    }
}

#[test]
fn generated_indexes_read_the_same_in_any_chunks() {
    for format in [Format::Cdx, Format::Cdxj] {
        for storage in [Storage::Gzip, Storage::Plain] {
            let index = generated(Health::Sound, storage, format);
            check_bytes("generated index", &index, &ALL[3..5]);
            check_reports_of("generated index", &index);
        }
    }
}

#[test]
fn archives_in_archives_read_the_same_in_any_chunks() {
    let inner = members(&records(60));
    let plain_inner = records(60).concat();
    let mut outer = Vec::new();
    for index in 0..6 {
        for (body, mime) in [
            (&inner, "application/gzip"),
            (&plain_inner, "application/warc"),
        ] {
            outer.push(record(1000 + index, mime, body));
            outer.extend(records(3));
        }
    }
    let stored: Vec<u8> = outer.iter().flat_map(|record| gzip(record, 0)).collect();
    let (deflated, plain) = (members(&outer), outer.concat());
    for (name, archive) in [
        ("stored blocks", &stored),
        ("deflated", &deflated),
        ("plain", &plain),
    ] {
        check_bytes(name, archive, &ALL[3..5]);
        check_reports_of(name, archive);
    }
}

#[test]
fn bytes_made_to_look_like_a_start_read_the_same_in_any_chunks() {
    let start = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    let bare = gzip(b"WARC/1.0\r\n\r\n", 6);
    let cut = &gzip(&record(7, "text/html", b"inner"), 6)[..80];
    let line = b"\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9999999\r\n\r\n";
    let mut bait = Vec::new();
    for index in 0..400 {
        let piece: &[u8] = [&start[..], &bare, cut, line][index % 4];
        bait.extend_from_slice(piece);
        bait.extend(noise(index, index % 60));
    }
    let mut archive = records(20);
    for index in 0..8 {
        archive.push(record(100 + index, "text/html", &bait));
        // The inner member ends as one that is as long as its record would.
        let whole = record(200 + index, "text/html", b"bait");
        archive.push(record(
            300 + index,
            "text/html",
            &[gzip(&whole, 6), bait.clone()].concat(),
        ));
    }
    let stored: Vec<u8> = archive.iter().flat_map(|record| gzip(record, 0)).collect();
    for (name, archive) in [("stored blocks", &stored), ("plain", &archive.concat())] {
        check_bytes(name, archive, &ALL[3..5]);
        check_reports_of(name, archive);
    }
}

#[test]
fn members_of_any_make_read_the_same_in_any_chunks() {
    let records = records(120);
    check_bytes("one member", &gzip(&records.concat(), 6), &ALL[3..5]);
    let several: Vec<u8> = records
        .chunks(7)
        .flat_map(|some| gzip(&some.concat(), 6))
        .collect();
    check_bytes("several records a member", &several, &ALL[3..5]);
    let halves = records.iter().flat_map(|record| {
        let (head, body) = record.split_at(record.len() / 2);
        [gzip(head, 6), gzip(body, 6), gzip(b"", 6)].concat()
    });
    check_bytes(
        "records over members",
        &halves.collect::<Vec<u8>>(),
        &ALL[3..5],
    );
    let padded = records.iter().enumerate().flat_map(|(index, record)| {
        [
            gzip(record, 6),
            vec![0; index * 61 % 3000],
            b"junk"[..index % 5 / 4 * 4].to_vec(),
        ]
        .concat()
    });
    check_bytes("padding and junk", &padded.collect::<Vec<u8>>(), &ALL[3..5]);
}

#[test]
fn damage_at_the_border_of_chunks_reads_the_same() {
    let records = records(150);
    for sound in [members(&records), records.concat()] {
        for shift in [-20_i64, -3, 0, 1, 40] {
            let mut damaged = sound.clone();
            for border in (64 << 10..sound.len()).step_by(64 << 10) {
                let at = usize::try_from(border as i64 + shift).expect("no file starts there");
                let end = (at + 6).min(damaged.len());
                damaged[at..end].fill(0x5a);
            }
            check_bytes("overwritten", &damaged, &ALL[3..4]);
        }
        check_bytes("cut", &sound[..(64 << 10) + 100], &ALL[3..5]);
    }
}

#[test]
fn what_was_inflated_in_vain_counts_across_chunks() {
    // Each member is a stored block that covers the following ones; all of them end in the same garbage.
    let mut stored = members(&records(30));
    for _ in 0..5_000 {
        stored.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
        stored.extend_from_slice(b"\x00\x00\x40\xff\xbfWARC/1.0\r\nX: y\r\n");
    }
    stored.extend(members(&records(30)));
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&stored).expect("it can be written to");
    check(
        "covering members",
        file.path(),
        DigestMode::Verify,
        &ALL[3..4],
    );
}

#[test]
fn odd_indexes_read_the_same_in_any_chunks() {
    let line = |index: usize, n_columns: usize| {
        let columns = [
            format!("test,e)/{index} 20240501120000 http://e.test/{index} text/html 200"),
            format!("{:032} - - 100 {} a.warc.gz", index, index * 100),
        ]
        .join(" ");
        let columns: Vec<&str> = columns.split(' ').collect();
        columns[..n_columns].join(" ")
    };
    let lines = |range: std::ops::Range<usize>, n: usize| -> String {
        range.map(|index| line(index, n) + "\n").collect()
    };
    let header = " CDX N b a m s k r M S V g\n";
    let other = " CDX N b a m s k r V g\n";
    let unfinished = &line(1, 11)[..line(1, 11).len() - 4];
    for (name, text) in [
        ("with header", format!("{header}{}", lines(0..3000, 11))),
        (
            "byte order mark",
            format!("\u{feff}{header}{}", lines(0..900, 11)),
        ),
        (
            "two headers",
            format!("{header}{}{other}{}", lines(0..900, 11), lines(0..900, 9)),
        ),
        (
            "late header",
            format!("{}{header}{}", lines(0..1500, 11), lines(0..900, 11)),
        ),
        (
            "two orders",
            format!("{}{}", lines(0..900, 11), lines(0..900, 7)),
        ),
        ("cut", format!("{}{unfinished}", lines(0..900, 11))),
        (
            "long line",
            format!(
                "{}{}\n{}",
                lines(0..9, 11),
                "x".repeat(200_000),
                lines(0..900, 11)
            ),
        ),
        (
            "bad lines",
            format!("{}bad\nworse\n{}", lines(0..900, 11), lines(0..900, 11)).repeat(3),
        ),
        ("returns", lines(0..900, 11).replace('\n', "\r\n")),
    ] {
        check_bytes(name, text.as_bytes(), &ALL[3..4]);
    }
}

#[test]
fn a_strict_run_ends_at_the_same_damage() {
    let mut damaged = members(&records(100));
    let at = damaged.len() / 2;
    damaged[at..at + 9].fill(0x5a);
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&damaged).expect("it can be written to");
    let strict = |n_threads, chunk_bytes| Reading {
        on_damage: OnDamage::Stop,
        ..how(file.path(), DigestMode::Verify, n_threads, chunk_bytes)
    };
    let expected = found(file.path(), &strict(1, u64::MAX));
    assert!(expected.contains("--strict"), "{expected}");
    for (n_threads, chunk_bytes) in [(1, 4096), (2, 4096), (8, 4096), (8, 1 << 20)] {
        assert_eq!(
            found(file.path(), &strict(n_threads, chunk_bytes)),
            expected
        );
    }
}

#[test]
fn all_samples_read_the_same_in_any_chunks() {
    let Some(dir) = shared::dir() else { return };
    let files = files(&dir.join("data/archives"));
    assert!(files.len() > 100, "{} samples", files.len());
    for path in files {
        let name = path.display().to_string();
        check_reports(&name, &path, DigestMode::Verify);
        check(&name, &path, DigestMode::Verify, &TINY[1..]);
        check(&name, &path, DigestMode::Declared, &TINY[1..]);
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("the folder can be read");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry can be read").path()) {
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
