//! `--memory`: what does not fit is spilled, and nothing that is written shows it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::generated::generate::{Format, Options, Storage};
use crate::generated::{make, options};
use crate::shared;

/// Captures of each shape.
const N_SHAPED: usize = 4000;
/// Holds less than the rows and texts of the archive.
const TOO_LITTLE: &str = "16MiB";
/// Bytes of a row.
const ROW_BYTES: u64 = 56;
/// Bytes of the text of a line whose parts stand in a mapped file.
const TEXT_BYTES: u64 = 24;

/// Index lines of the shapes that are hardest on whoever divides the work by key, by digest or by host.
fn hostile() -> String {
    let mut cdx = String::from(" CDX N b a m s k r M S V g\n");
    let mut n_lines = 0;
    let mut push = |url: String, (status, digest, to): (u16, u64, &str)| {
        n_lines += 1;
        let digest = format!("{digest:032}").replace(['0', '1', '8', '9'], "A");
        cdx += &format!(
            "k)/ 2024{:02}{:02}{:02}0000 {url} text/html {status} {digest} {to} - 700 {n_lines} hostile.warc.gz\n",
            n_lines % 12 + 1,
            n_lines % 28 + 1,
            n_lines % 24
        );
    };
    for nth in 0..N_SHAPED as u64 {
        let own = 22_222 + nth * 7;
        push(format!("http://one-host.test/{nth}"), (200, own, "-"));
        push(format!("http://host-{nth}.test/"), (200, 3, "-"));
        push(
            format!("http://host-{nth}.test/old"),
            (301, 4, "http://hub.test/"),
        );
        push("http://one-key.test/".to_owned(), (200, own, "-"));
        push("http://one-key.test/same".to_owned(), (200, 5, "-"));
        // A chain of all of them.
        let next = format!("http://chain.test/{}", nth + 1);
        push(format!("http://chain.test/{nth}"), (302, 6, &next));
    }
    push("http://hub.test/".to_owned(), (200, 7, "-"));
    cdx
}

/// What every run reads: the hostile index, an archive and an index of the generator, and all samples there are.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("there is room for it");
        path
    };
    let small = options(1, 300);
    let index = Options {
        format: Format::Cdxj,
        storage: Storage::Gzip,
        ..options(2, 3000)
    };
    let own = [
        write("hostile.cdx", hostile().as_bytes()),
        write("generated.warc.gz", &make(&small).archive),
        write("generated.cdxj.gz", &make(&index).archive),
    ];
    let samples = shared::dir().into_iter();
    let samples = samples.flat_map(|dir| [dir.join("archives"), dir.join("cases")]);
    let given = ["sample-data".into()].into_iter();
    own.into_iter().chain(given).chain(samples).collect()
}

/// Report and summary of a run on `inputs`.
fn run(inputs: &[PathBuf], args: &[&str], folder: &Path) -> (Vec<u8>, Value) {
    let (report, summary) = (folder.join("report.csv"), folder.join("summary.json"));
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(args)
        .arg("--in")
        .args(inputs)
        .arg("--report")
        .arg(&report)
        .arg("--summary")
        .arg(&summary)
        .arg("--temp-dir")
        .arg(folder.join("spill"))
        .output()
        .expect("the binary runs");
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(
        matches!(output.status.code(), Some(0 | 4)),
        "{args:?}: {stderr}"
    );
    let summary = fs::read(summary).expect("a summary was written");
    let summary = serde_json::from_slice(&summary).expect("it is JSON");
    (fs::read(report).expect("a report was written"), summary)
}

fn spilled(summary: &Value) -> u64 {
    let spilled = &summary["memory"]["spilled"];
    spilled.as_u64().expect("it is a number")
}

/// Runs with all numbers of threads and all bounds, and holds every report against the first.
fn check(command: &[&str]) {
    let folder = TempDir::new().expect("there is a folder for temporary files");
    fs::create_dir(folder.path().join("spill")).expect("a folder can be made");
    let inputs = inputs(folder.path());
    let mut first = None;
    for memory in [None, Some("1GiB"), Some("64MiB"), Some(TOO_LITTLE)] {
        for threads in ["1", "2", "8"] {
            let bound = memory.iter().flat_map(|memory| ["--memory", memory]);
            let args: Vec<&str> = command
                .iter()
                .copied()
                .chain(["--threads", threads])
                .chain(bound)
                .collect();
            let (report, summary) = run(&inputs, &args, folder.path());
            let spilled = spilled(&summary);
            assert_eq!(
                spilled > 0,
                memory == Some(TOO_LITTLE),
                "{args:?}: {spilled}"
            );
            let is_same = report == *first.get_or_insert_with(|| report.clone());
            assert!(is_same, "{args:?}");
        }
    }
    let left = fs::read_dir(folder.path().join("spill")).expect("the folder is there");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_report_does_not_depend_on_threads_or_memory() {
    check(&["--include-unique"]);
}

#[test]
fn an_evaluation_does_not_depend_on_threads_or_memory() {
    check(&["evaluate"]);
}

/// Bytes that `n` captures take, most of them spilled.
fn taken(n: u64, folder: &Path) -> u64 {
    let mut cdx = String::from(" CDX N b a m s k r M S V g\n");
    for nth in 0..n {
        let digest = format!("{:032}", nth / 2).replace(['0', '1', '8', '9'], "A");
        cdx += &format!(
            "k)/ 20240101000000 http://a.test/{nth:08} text/html 200 {digest} - - 700 {nth} a.warc.gz\n"
        );
    }
    let path = folder.join("many.cdx");
    fs::write(&path, cdx).expect("there is room for it");
    let args = ["--memory", TOO_LITTLE, "--threads", "1"];
    let (_, summary) = run(std::slice::from_ref(&path), &args, folder);
    spilled(&summary)
}

#[test]
fn a_capture_takes_80_bytes_beside_its_text() {
    let folder = TempDir::new().expect("there is a folder for temporary files");
    fs::create_dir(folder.path().join("spill")).expect("a folder can be made");
    // Neither ends just behind the size at which its texts are given more room than they need.
    let (few, many) = (200_000, 400_000);
    let all = (taken(many, folder.path()) - taken(few, folder.path())) / (many - few);
    assert!(all <= 80 + TEXT_BYTES, "{all} bytes");
    assert!(
        all > ROW_BYTES + TEXT_BYTES,
        "not all of it was spilled: {all} bytes"
    );
}

#[test]
fn a_folder_that_takes_no_files_is_named_at_once() {
    let folder = TempDir::new().expect("there is a folder for temporary files");
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["--in", "sample-data/crawl.cdx", "--temp-dir"])
        .arg(folder.path().join("none"))
        .output()
        .expect("the binary runs");
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("none"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
