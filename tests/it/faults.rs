//! What can go wrong around an archive: each fault one clear line, the right exit code, no half file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// A folder with an archive `good.warc` in it, and the binary run in it.
struct Scene {
    folder: TempDir,
}

/// What a run came to.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let scene = Self { folder };
        scene.put(
            "good.warc",
            &archive(&["http://example.org/a", "http://example.org/b"]),
        );
        scene
    }

    fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.folder.path().join(name.as_ref())
    }

    fn put(&self, name: impl AsRef<OsStr>, bytes: &[u8]) {
        fs::write(self.at(name), bytes).expect("the file can be written");
    }

    fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedupe"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Ended {
        let output = self.command(args).output().expect("the binary runs");
        Ended {
            status: output.status,
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    /// Names in the folder, sorted.
    fn names(&self) -> Vec<OsString> {
        let mut names: Vec<OsString> = fs::read_dir(self.folder.path())
            .expect("the folder is readable")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    }
}

impl Ended {
    /// Holds exit code and message; every word must stand in one line of stderr.
    fn check(&self, code: i32, words: &[&str]) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.stderr);
        let is_named = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(
            words.is_empty() || self.stderr.lines().any(is_named),
            "{words:?}: {}",
            self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// A plain WARC of responses with equal bodies.
fn archive(uris: &[&str]) -> Vec<u8> {
    let mut warc = Vec::new();
    for (index, uri) in uris.iter().enumerate() {
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello";
        write!(
            warc,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{index:032}>\r\n\
             WARC-Date: 2024-01-01T00:00:{:02}Z\r\nWARC-Target-URI: {uri}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            index % 60,
            http.len()
        )
        .expect("a Vec takes all");
    }
    warc
}

#[test]
fn an_input_that_cannot_be_read_fails_alone_and_warns_among_others() {
    for (name, make) in [
        ("missing.warc", (|_| {}) as fn(&Path)),
        ("empty.warc", |path| fs::write(path, "").expect("written")),
        ("notes.txt", |path| {
            fs::write(path, "not an archive\n").expect("written");
        }),
        ("dangling.warc", |path| {
            symlink("nowhere", path).expect("linked");
        }),
    ] {
        let scene = Scene::new();
        make(&scene.at(name));
        scene
            .run(&["--in", name, "--report", "r.csv"])
            .check(1, &[name]);
        assert!(!scene.at("r.csv").exists(), "{name}");
        scene
            .run(&[
                "--in",
                name,
                "good.warc",
                "--report",
                "r.csv",
                "--summary",
                "s.json",
            ])
            .check(4, &[name]);
        assert!(scene.at("r.csv").exists(), "{name}");
        let summary = fs::read(scene.at("s.json")).expect("the summary is there");
        let summary: serde_json::Value = serde_json::from_slice(&summary).expect("it is JSON");
        assert_eq!(summary["damage"][0]["file"], name);
        assert_eq!(summary["damage"][0]["offset"], 0);
    }
}

#[test]
fn an_unreadable_file_is_named() {
    let scene = Scene::new();
    scene.put("secret.warc", b"WARC/1.0\r\n");
    fs::set_permissions(scene.at("secret.warc"), fs::Permissions::from_mode(0o0)).expect("chmod");
    if fs::read(scene.at("secret.warc")).is_ok() {
        // Root reads everything.
        return;
    }
    scene
        .run(&["--in", "secret.warc", "--report", "r.csv"])
        .check(1, &["secret.warc"]);
}

#[test]
fn what_is_no_archive_in_a_folder_is_ignored() {
    let scene = Scene::new();
    fs::create_dir(scene.at("crawl")).expect("a folder");
    fs::create_dir(scene.at("none")).expect("a folder");
    scene.put("crawl/notes.txt", b"not an archive\n");
    scene.put("none/notes.txt", b"not an archive\n");
    fs::copy(scene.at("good.warc"), scene.at("crawl/good.warc")).expect("copied");
    scene
        .run(&["--in", "crawl", "--report", "r.csv"])
        .check(0, &[]);
    scene
        .run(&["--in", "none", "--report", "n.csv"])
        .check(1, &["no archive"]);
    assert!(!scene.at("n.csv").exists());
}

#[test]
fn a_list_that_never_ends_is_named() {
    let scene = Scene::new();
    scene
        .run(&["--in", "@/dev/zero"])
        .check(1, &["@/dev/zero", "256 MiB"]);
}

#[test]
fn a_full_disk_is_1_and_named() {
    let scene = Scene::new();
    for args in [
        ["--in", "good.warc", "--report", "/dev/full"],
        ["--in", "good.warc", "--summary", "/dev/full"],
        ["--in", "good.warc", "--keys-out", "/dev/full"],
    ] {
        scene.run(&args).check(1, &["/dev/full", "space"]);
    }
    let ended = scene.run(&[
        "--in",
        "good.warc",
        "--report",
        "r.csv",
        "--summary",
        "/dev/full",
    ]);
    ended.check(1, &["/dev/full"]);
    assert_eq!(scene.names(), ["good.warc"]);
}

#[test]
fn reads_more_indexes_than_it_may_open() {
    let scene = Scene::new();
    fs::create_dir(scene.at("indexes")).unwrap();
    for nth in 0..200 {
        let line = format!(
            "org,example)/{nth} 20240501120000 http://example.org/{} text/html 200 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 5 9 f{nth}.warc.gz\n",
            nth / 2
        );
        scene.put(format!("indexes/{nth:03}.cdx"), line.as_bytes());
    }
    let script = "ulimit -n 60; exec \"$0\" --in indexes --report report.csv -q --no-progress";
    let status = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_dedupe")])
        .current_dir(scene.folder.path())
        .status();
    assert!(status.expect("a shell").success());
    let report = fs::read_to_string(scene.at("report.csv")).unwrap();
    assert_eq!(report.lines().count(), 201);
}

#[test]
fn a_limit_on_file_sizes_is_as_a_full_disk() {
    let scene = Scene::new();
    scene.put("many.warc", &archive(&vec!["http://example.org/"; 100]));
    let binary = env!("CARGO_BIN_EXE_dedupe");
    let script = format!("ulimit -f 1; exec {binary} --in many.warc --report r.csv");
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", &script])
        .current_dir(scene.folder.path())
        .output()
        .expect("sh runs");
    let ended = Ended {
        status: output.status,
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    };
    ended.check(1, &["r.csv"]);
    assert_eq!(scene.names(), ["good.warc", "many.warc"]);
}

#[test]
fn a_missing_folder_for_the_report_is_1_and_named() {
    let scene = Scene::new();
    scene
        .run(&["--in", "good.warc", "--report", "no/r.csv"])
        .check(1, &["no/r.csv"]);
    scene
        .run(&["--in", "good.warc", "--report", "good.warc/r.csv"])
        .check(1, &["good.warc/r.csv"]);
}

#[test]
fn never_writes_onto_an_input() {
    let scene = Scene::new();
    let before = fs::read(scene.at("good.warc")).expect("the archive");
    fs::rename(scene.at("good.warc"), scene.at("good.csv")).expect("renamed");
    symlink("good.csv", scene.at("soft.csv")).expect("linked");
    fs::hard_link(scene.at("good.csv"), scene.at("hard.csv")).expect("linked");
    for (output, name) in [
        ("--report", "good.csv"),
        ("--report", "soft.csv"),
        ("--report", "hard.csv"),
        ("--report", "./good.csv"),
        ("--summary", "soft.csv"),
        ("--summary", "good.csv"),
    ] {
        scene
            .run(&["--in", "good.csv", output, name])
            .check(2, &[name, "input"]);
        assert!(
            fs::read(scene.at("good.csv")).expect("the archive") == before,
            "{name}"
        );
    }
    let out = fs::OpenOptions::new()
        .append(true)
        .open(scene.at("good.csv"))
        .expect("opened");
    let mut command = scene.command(&["--in", "good.csv", "--report", "-"]);
    let status = command
        .stdout(out)
        .stderr(Stdio::null())
        .status()
        .expect("the binary runs");
    assert_eq!(status.code(), Some(2));
    assert!(fs::read(scene.at("good.csv")).expect("the archive") == before);
    assert_eq!(scene.names(), ["good.csv", "hard.csv", "soft.csv"]);
}

#[test]
fn a_closed_pipe_is_a_quiet_0() {
    let scene = Scene::new();
    for output in [&["--report", "-"][..], &["--json"]] {
        let mut command = scene.command(&[&["--in", "good.warc"], output].concat());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let ended = ended(child);
        ended.check(0, &[]);
        assert!(
            !ended.stderr.contains("error") && !ended.stderr.contains("ipe"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_closed_pipe_does_not_cost_the_other_outputs() {
    let scene = Scene::new();
    let mut command = scene.command(&["--in", "good.warc", "--report", "r.csv", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(scene.at("r.csv").exists());
}

#[test]
fn names_that_are_not_utf8_are_read_and_written() {
    let scene = Scene::new();
    let input = OsString::from_vec(b"caf\xe9.warc".to_vec());
    let output = OsString::from_vec(b"r\xff.csv".to_vec());
    fs::rename(scene.at("good.warc"), scene.at(&input)).expect("renamed");
    let args = [OsStr::new("--in"), &input, OsStr::new("--report"), &output];
    scene
        .run(&[&args[..], &[OsStr::new("--summary"), OsStr::new("s.json")]].concat())
        .check(0, &[]);
    let report = fs::read_to_string(scene.at(&output)).expect("the report is UTF-8");
    assert!(report.contains(",caf%E9.warc,"), "{report}");
    let summary = fs::read_to_string(scene.at("s.json")).expect("the summary is UTF-8");
    assert!(
        summary.contains("caf%E9.warc") && summary.contains("r%FF.csv"),
        "{summary}"
    );
    let missing = OsStr::from_bytes(b"no\xe9.warc");
    scene
        .run(&[OsStr::new("--in"), missing, OsStr::new("--json")])
        .check(1, &["no%E9.warc"]);
}

#[test]
fn a_signal_leaves_no_file_and_is_130() {
    for signal in ["INT", "TERM", "QUIT", "USR1"] {
        let scene = Scene::new();
        let args = ["--in", "-", "--report", "r.csv", "--summary", "s.json"];
        let mut child = scene
            .command(&args)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // More than a pipe holds: once it is written, the reader is at work.
        let uris = vec!["http://example.org/"; 2000];
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&archive(&uris)).expect("it reads");
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        let ended = ended(child);
        drop(stdin);
        ended.check(130, &["interrupted"]);
        assert_eq!(scene.names(), ["good.warc"], "{signal}");
    }
}

#[test]
fn stdin_in_small_pieces_is_the_file() {
    let scene = Scene::new();
    let whole = scene.run(&["--in", "good.warc", "--report", "-", "--csv-escape", "none"]);
    whole.check(0, &[]);
    let mut command = scene.command(&["--in", "-", "--report", "-", "--csv-escape", "none"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    for piece in fs::read(scene.at("good.warc"))
        .expect("the archive")
        .chunks(7)
    {
        stdin.write_all(piece).expect("it reads");
    }
    drop(stdin);
    let pieces = ended(child);
    pieces.check(0, &[]);
    let text = String::from_utf8(pieces.stdout).expect("a report is UTF-8");
    let named = text
        .replace(",-,", ",good.warc,")
        .replace(",-:", ",good.warc:");
    assert_eq!(named.into_bytes(), whole.stdout);
}

#[test]
fn duplicates_are_3_if_the_user_says_so_and_go_before_damage() {
    let scene = Scene::new();
    scene
        .run(&["--in", "good.warc", "--report", "r.csv"])
        .check(0, &[]);
    scene
        .run(&["--in", "good.warc", "--report", "r.csv", "--fail-on-dupes"])
        .check(3, &[]);
    let args = [
        "--in",
        "good.warc",
        "missing.warc",
        "--report",
        "r3.csv",
        "--fail-on-dupes",
    ];
    scene.run(&args).check(3, &["missing.warc"]);
    assert!(scene.at("r3.csv").exists());
}

#[test]
fn a_bad_line_of_a_compressed_index_is_at_its_member() {
    let scene = Scene::new();
    let line = |path: &str| {
        format!(
            "org,example)/{path} 20240501120000 http://example.org/{path} text/html 200 ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ - - 500 100 a.warc.gz\n"
        )
    };
    let member = |text: String| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let first = member(line("a") + &line("b"));
    let second = member(line("c") + "no line of an index\n" + &line("d"));
    let offset = first.len();
    scene.put("i.cdx.gz", &[first, second].concat());
    let ended = scene.run(&["--in", "i.cdx.gz"]);
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    let expected = format!("i.cdx.gz at offset {offset}, line 4: ");
    assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
}

#[test]
fn the_first_damage_ends_a_strict_run() {
    let scene = Scene::new();
    let mut cut = archive(&["http://example.org/", "http://example.org/"]);
    cut.truncate(cut.len() - 10);
    scene.put("cut.warc", &cut);
    scene
        .run(&["--in", "cut.warc", "--report", "r.csv"])
        .check(4, &["cut.warc", "offset"]);
    scene
        .run(&["--in", "cut.warc", "--report", "s.csv", "--strict"])
        .check(1, &["cut.warc"]);
    assert!(!scene.at("s.csv").exists());
}

#[test]
fn quiet_is_quiet_and_stderr_has_no_control_bytes() {
    let scene = Scene::new();
    let quiet = scene.run(&["--in", "good.warc", "--report", "r.csv", "-q"]);
    quiet.check(0, &[]);
    assert_eq!(quiet.stderr, "");
    let loud = scene.run(&["--in", "good.warc", "--report", "r.csv"]);
    loud.check(0, &["duplicates"]);
    assert!(
        !loud.stderr.chars().any(|c| c.is_control() && c != '\n'),
        "{}",
        loud.stderr
    );
}

#[test]
fn outputs_have_mode_0644_less_the_umask() {
    let scene = Scene::new();
    let binary = env!("CARGO_BIN_EXE_dedupe");
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("000", 0o644)] {
        let script = format!("umask {umask}; exec {binary} -q --in good.warc --report {umask}.csv");
        let mut shell = Command::new("sh");
        let status = shell
            .args(["-c", &script])
            .current_dir(scene.folder.path())
            .status();
        assert!(status.expect("sh runs").success());
        let found = fs::metadata(scene.at(format!("{umask}.csv"))).expect("the report");
        assert_eq!(found.permissions().mode() & 0o777, mode, "{umask}");
    }
}

#[test]
fn a_closed_stderr_changes_nothing() {
    let scene = Scene::new();
    let binary = env!("CARGO_BIN_EXE_dedupe");
    let script = format!("exec {binary} --in good.warc missing.warc --report r.csv 2>&-");
    let mut shell = Command::new("sh");
    let status = shell
        .args(["-c", &script])
        .current_dir(scene.folder.path())
        .status();
    assert_eq!(status.expect("sh runs").code(), Some(4));
    assert!(scene.at("r.csv").exists());
}

/// Waits for the end and reads what was said.
fn ended(mut child: Child) -> Ended {
    let mut stdout = Vec::new();
    let mut stderr = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut stderr)
            .expect("messages are UTF-8");
    }
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_end(&mut stdout).expect("stdout is readable");
    }
    Ended {
        status: child.wait().expect("it ends"),
        stdout,
        stderr,
    }
}
