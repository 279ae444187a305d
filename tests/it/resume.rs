//! `--resume`: after an interruption the report is what it would have been without, and what cannot be gone on from is
//! refused.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// The last one is damaged, so that a strict run ends when all others are read.
const INPUTS: [&str; 5] = [
    "first.cdxj",
    "post.warc",
    "crawl.warc.gz",
    "crawl.cdx",
    "damaged.warc.gz",
];

/// A request by POST, what answers it, and a response in two segments: what concerns more than one record.
fn post_and_segments() -> Vec<u8> {
    let mut warc = Vec::new();
    let mut record = |kind: &str, fields: &str, block: &str| {
        let length = block.len();
        write!(
            warc,
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
             WARC-Target-URI: http://post.test/\r\n{fields}Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
        .expect("memory takes all");
    };
    let http = "Content-Type: application/http\r\n";
    let id = |n: u32| format!("WARC-Record-ID: <urn:x:{n}>\r\n");
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    let concurrent = format!("{http}{}WARC-Concurrent-To: <urn:x:2>\r\n", id(1));
    record("response", &concurrent, &format!("{ok}same"));
    let request = "POST / HTTP/1.1\r\nHost: post.test\r\n\r\na=1";
    record("request", &format!("{http}{}", id(2)), request);
    record(
        "response",
        &format!("{http}{}", id(3)),
        &format!("{ok}same"),
    );
    let first = format!("{http}{}WARC-Segment-Number: 1\r\n", id(4));
    record("response", &first, &format!("{ok}sa"));
    let total = ok.len() + 4;
    let rest = format!(
        "{}WARC-Segment-Origin-ID: <urn:x:4>\r\nWARC-Segment-Number: 2\r\n\
         WARC-Segment-Total-Length: {total}\r\n",
        id(5)
    );
    record("continuation", &rest, "me");
    warc
}

struct Crawl {
    folder: TempDir,
}

impl Crawl {
    fn new() -> Self {
        let folder = TempDir::new().expect("there is a folder for temporary files");
        let crawl = Self { folder };
        fs::create_dir(crawl.at("temp")).expect("a folder can be made");
        for name in ["crawl.warc.gz", "crawl.cdx", "damaged.warc.gz"] {
            fs::copy(Path::new("sample-data").join(name), crawl.at(name)).expect("it is there");
        }
        fs::copy("sample-data/crawl.cdxj", crawl.at("first.cdxj")).expect("it is there");
        fs::write(crawl.at("post.warc"), post_and_segments()).expect("there is room");
        crawl
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedupe"));
        command.current_dir(self.folder.path()).args(args).args([
            "--temp-dir",
            "temp",
            "--report",
            "report.csv",
            "--no-progress",
            "--threads",
            "2",
        ]);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output();
        output.expect("the binary runs")
    }

    /// The report of a run that ends well, and what it said; nothing is left behind.
    fn report(&self, args: &[&str]) -> (Vec<u8>, String) {
        let output = self.run(args);
        let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert!(
            matches!(output.status.code(), Some(0 | 4)),
            "{args:?}: {said}"
        );
        assert_eq!(self.n_saved(), 0, "{args:?}");
        assert!(!self.at("temp/dedupe-resume").exists(), "{args:?}");
        let report = fs::read(self.at("report.csv")).expect("it was written");
        fs::remove_file(self.at("report.csv")).expect("it is there");
        (report, said)
    }

    /// Exit code and message of a run that is refused.
    fn refusal(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.run(args);
        let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert!(!self.at("report.csv").exists(), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
        (output.status.code(), said)
    }

    fn saved(&self, number: usize) -> PathBuf {
        self.at(&format!("temp/dedupe-resume/input-{number:010}"))
    }

    fn n_saved(&self) -> usize {
        fs::read_dir(self.at("temp/dedupe-resume")).map_or(0, Iterator::count)
    }

    /// Ends a run of `command` when all inputs but the last are read; only those saved that `is_kept` names stay.
    fn interrupt(&self, command: &[&str], is_kept: impl Fn(usize) -> bool) {
        let args = [command, &["--strict", "-q", "--in"], &INPUTS].concat();
        let (code, said) = self.refusal(&args);
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(self.n_saved(), INPUTS.len() - 1, "{said}");
        for number in (1..INPUTS.len()).filter(|number| !is_kept(*number)) {
            fs::remove_file(self.saved(number)).expect("it was saved");
        }
    }
}

#[test]
fn a_report_does_not_tell_which_inputs_were_saved() {
    let crawl = Crawl::new();
    for command in [&["--include-unique"][..], &["evaluate"]] {
        let args = [command, &["--in"], &INPUTS].concat();
        let resumed = [command, &["--resume", "--in"], &INPUTS].concat();
        let (whole, _) = crawl.report(&args);
        for kept in 0_usize..1 << (INPUTS.len() - 1) {
            crawl.interrupt(command, |number| kept >> (number - 1) & 1 == 1);
            let (report, said) = crawl.report(&resumed);
            assert!(report == whole, "{command:?} {kept:b}");
            let n_kept = kept.count_ones();
            let line = format!(
                "dedupe: {n_kept} of 5 inputs were saved in temp, and are not read again\n"
            );
            assert!(said.starts_with(&line), "{said}");
        }
    }
}

#[test]
fn a_saved_input_is_not_read_again() {
    let crawl = Crawl::new();
    crawl.interrupt(&[], |_| true);
    // What it holds now is known from its size and time alone.
    let path = crawl.at("post.warc");
    let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
    let other: Vec<u8> = post_and_segments().iter().map(|byte| byte ^ 1).collect();
    fs::write(&path, &other).expect("it is writable");
    let file = File::options()
        .write(true)
        .open(&path)
        .expect("it is there");
    file.set_modified(modified.expect("it has a time"))
        .expect("it can be set");
    let (report, _) =
        crawl.report(&[&["--include-unique", "--resume", "--in"][..], &INPUTS].concat());
    let report = String::from_utf8(report).expect("it is UTF-8");
    assert!(report.contains("http://post.test/"), "{report}");
}

#[test]
fn what_is_no_part_of_this_run_is_refused() {
    let cases: &[(&str, &[&str], i32, &str)] = &[
        ("", &["--policy", "rfc3986@1"], 2, "policy safe@1+"),
        ("", &["--digests", "content"], 2, "--digests verify"),
        ("", &["--in-format", "warc"], 2, "--in-format none"),
        ("evaluate", &[], 2, "command dedupe"),
        ("order", &[], 2, "it was input 1, and is input 2 now"),
        ("fewer", &[], 2, "it was input 3, and is none of this run's"),
        ("longer", &[], 1, "post.warc: cannot be resumed: it had "),
        ("touched", &[], 1, "it was modified or replaced"),
        ("replaced", &[], 1, "it was modified or replaced"),
        ("swapped", &[], 1, "is damaged"),
        ("cut", &[], 1, "is damaged"),
        ("flipped", &[], 1, "is damaged"),
        ("header", &[], 1, "is damaged"),
        ("empty", &[], 1, "is damaged"),
        ("taken", &[], 1, "another run"),
    ];
    let crawl = Crawl::new();
    for (what, flags, code, expected) in cases {
        crawl.interrupt(&[], |_| true);
        let (input, saved) = (crawl.at("post.warc"), crawl.saved(2));
        let bytes = fs::read(&saved).expect("it was saved");
        let mut inputs = INPUTS.to_vec();
        let mut flipped = bytes.clone();
        let mut lock = None;
        match *what {
            "order" => inputs.swap(0, 1),
            "fewer" => drop(inputs.remove(2)),
            "longer" => fs::write(&input, [post_and_segments(), vec![b'\n']].concat())
                .expect("it is writable"),
            "touched" => fs::write(&input, post_and_segments()).expect("it is writable"),
            "replaced" => replace_by_its_like(&input),
            "swapped" => {
                let other = crawl.saved(1);
                fs::rename(&other, crawl.at("kept")).expect("it can be moved");
                fs::rename(&saved, &other).expect("it can be moved");
                fs::rename(crawl.at("kept"), &saved).expect("it can be moved");
            }
            "cut" => fs::write(&saved, &bytes[..bytes.len() - 1]).expect("it is writable"),
            "flipped" => {
                *flipped.last_mut().expect("it has bytes") ^= 1;
                fs::write(&saved, &flipped).expect("it is writable");
            }
            "header" => {
                flipped[40] ^= 1;
                fs::write(&saved, &flipped).expect("it is writable");
            }
            "empty" => fs::write(&saved, b"").expect("it is writable"),
            "taken" => {
                let folder = File::open(crawl.at("temp/dedupe-resume")).expect("it is there");
                folder.lock().expect("nobody holds it");
                lock = Some(folder);
            }
            _ => {}
        }
        let command: &[&str] = if *what == "evaluate" {
            &["evaluate"]
        } else {
            &[]
        };
        let args = [command, flags, &["--resume", "-q", "--in"], &inputs].concat();
        let (was, said) = crawl.refusal(&args);
        assert_eq!(was, Some(*code), "{what} {flags:?}: {said}");
        assert!(said.contains(expected), "{what} {flags:?}: {said}");
        drop(lock);
        fs::write(&input, post_and_segments()).expect("it is writable");
        // What was refused is still there, for the run that it is part of.
        assert_eq!(crawl.n_saved(), INPUTS.len() - 1, "{what} {flags:?}");
    }
}

/// Another file of the same size and time takes the place of `path`.
fn replace_by_its_like(path: &Path) {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let other = path.with_extension("other");
    fs::copy(path, &other).expect("it can be copied");
    let file = File::options().write(true).open(&other);
    let file = file.expect("it is there");
    file.set_modified(modified.expect("it has a time"))
        .expect("it can be set");
    fs::rename(&other, path).expect("it can be moved");
}

#[test]
fn a_run_without_resume_starts_afresh_and_says_so() {
    let crawl = Crawl::new();
    let args = [&["--include-unique", "--in"][..], &INPUTS].concat();
    let (whole, _) = crawl.report(&args);
    crawl.interrupt(&["--policy", "rfc3986@1"], |_| true);
    let (report, said) = crawl.report(&args);
    assert!(report == whole);
    assert!(
        said.starts_with("dedupe: what an interrupted run had saved in temp (4 inputs) is removed"),
        "{said}"
    );
}

#[test]
fn two_runs_in_one_folder_do_not_disturb_each_other() {
    let crawl = Crawl::new();
    crawl.interrupt(&[], |_| true);
    let folder = File::open(crawl.at("temp/dedupe-resume")).expect("it is there");
    folder.lock().expect("nobody holds it");
    let output = crawl.run(&["--in", "crawl.cdx"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(crawl.n_saved(), INPUTS.len() - 1);
}

#[test]
fn resume_without_a_folder_is_a_usage_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["--in", "sample-data/crawl.cdx", "--resume"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
}

/// Starts a run that reads two files and then waits for stdin, and lets it go on until both are saved.
fn started(crawl: &Crawl, args: &[&str]) -> Child {
    let mut run = crawl
        .command(args)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    while !crawl.saved(2).exists() {
        assert!(
            run.try_wait().expect("it can be asked").is_none(),
            "it ended"
        );
        std::thread::yield_now();
    }
    run
}

#[test]
fn a_run_that_was_killed_is_gone_on_from_and_a_pipe_is_read_again() {
    let crawl = Crawl::new();
    let stdin = fs::read("sample-data/rules.cdxj").expect("it is there");
    let args = [
        "--include-unique",
        "--in",
        "crawl.warc.gz",
        "post.warc",
        "-",
    ];
    let resumed = [&args[..], &["--resume"]].concat();
    let report = |args: &[&str]| {
        let mut run = crawl
            .command(args)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut pipe = run.stdin.take().expect("it is piped");
        pipe.write_all(&stdin).expect("it is read");
        drop(pipe);
        let output = run.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(output.status.code(), Some(0), "{said}");
        (
            fs::read(crawl.at("report.csv")).expect("it was written"),
            said,
        )
    };
    let (whole, _) = report(&args);
    for signal in ["KILL", "INT"] {
        let mut run = started(&crawl, &args);
        let id = run.id().to_string();
        let kill = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(kill.is_ok_and(|status| status.success()), "kill {signal}");
        run.wait().expect("it ends");
        assert_eq!(crawl.n_saved(), 2, "{signal}");
        let (resumed, said) = report(&resumed);
        assert!(resumed == whole, "{signal}");
        assert!(said.starts_with("dedupe: 2 of 3 inputs were saved in temp, and are not read again; what comes through a pipe"), "{said}");
        assert!(!crawl.at("temp/dedupe-resume").exists());
    }
}
