//! The command line as a person meets it.

use std::process::{Command, Output};

fn dedupe(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(args)
        .output()
        .expect("the binary runs")
}

#[test]
fn wrong_usage_is_2_and_named_on_stderr_alone() {
    for (args, named) in [
        (&[][..], "Usage"),
        (&["--report", "r.csv"], "--in"),
        (&["--in", "a.warc", "--no-such-flag"], "--no-such-flag"),
        (&["--in", "a.warc", "--evidence", "digets"], "digest"),
        (&["--in", "a.warc", "--keep", "best"], "earliest"),
        (&["--in", "a.warc", "--redirect-within", "30"], "30d"),
        (&["--in", "a.warc", "--threads", "0"], "--threads"),
        (&["--in", "a.warc", "--threads", "1000000"], "1024"),
        (&["--in", "a.warc", "--max-redirects", "1001"], "1000"),
        (&["--in", "a.warc", "--policy", "/dev/zero"], "64 MiB"),
        (&["--in", "a.warc", "--report", "-", "--json"], "stdout"),
        (&["--in", "a.warc", "--report", "r.txt"], "r.txt"),
        (&["--in", "a.warc", "-q", "-v"], "--verbose"),
        (&["--in", "a.warc", "--digests", "guess"], "declared"),
    ] {
        let output = dedupe(args);
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(named), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_are_0_and_on_stdout() {
    for (args, named) in [
        (&["--help"][..], "--include-unique"),
        (&["-h"], "--include-unique"),
        (&["help", "evaluate"], "Usage: dedupe evaluate"),
        (&["normalize", "--help"], "Usage: dedupe normalize"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let output = dedupe(args);
        let stdout = String::from_utf8(output.stdout).expect("help is UTF-8");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(stdout.contains(named), "{args:?}: {stdout}");
        assert!(output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn help_states_the_defaults_of_the_design() {
    let help = String::from_utf8(dedupe(&["-h"]).stdout).expect("help is UTF-8");
    let words: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for default in [
        "[default: safe@1]",
        "[default: digest,decoded,revisit,redirect]",
        "[default: earliest]",
        "[default: 30d]",
        "[default: 20]",
        "[default: 50]",
        "[default: verify]",
        "[default: all]",
        "[default: formula]",
    ] {
        assert!(words.contains(default), "{default}: {help}");
    }
}

#[test]
fn nothing_that_is_read_is_written_to() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name);
    std::fs::copy("sample-data/rules.cdxj", at("in.cdxj")).expect("it is there");
    std::fs::write(at("list"), "in.cdxj\n").expect("it is writable");
    std::fs::write(at("mine.toml"), "name = \"mine\"\nversion = 1\n").expect("it is writable");
    std::fs::write(at("tracking.txt"), "utm_*\n").expect("it is writable");
    std::fs::write(
        at("listed.toml"),
        "name = \"listed\"\nversion = 1\n[bets]\nquery-drop-list = { file = \"tracking.txt\" }\n",
    )
    .expect("it is writable");
    for (args, read) in [
        (
            "--in in.cdxj --report in.cdxj.csv --summary in.cdxj",
            "in.cdxj",
        ),
        ("--in - --summary in.cdxj", "in.cdxj"),
        ("--in @list --summary list", "list"),
        (
            "--in in.cdxj --policy mine.toml --summary mine.toml",
            "mine.toml",
        ),
        (
            "--in in.cdxj --policy listed.toml --summary tracking.txt",
            "tracking.txt",
        ),
        (
            "evaluate --in in.cdxj --policy listed.toml --html tracking.txt",
            "tracking.txt",
        ),
        (
            "evaluate --in in.cdxj --policy lee2005@1 --against listed.toml --summary tracking.txt",
            "tracking.txt",
        ),
        ("evaluate --in - --html in.cdxj", "in.cdxj"),
        ("evaluate --in @list --html list", "list"),
        (
            "evaluate --in in.cdxj --policy mine.toml --policy-out mine.toml",
            "mine.toml",
        ),
        (
            "evaluate --in in.cdxj --policy lee2005@1 --against mine.toml --summary mine.toml",
            "mine.toml",
        ),
    ] {
        let before = std::fs::read(at(read)).expect("it is there");
        let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args(args.split(' '))
            .current_dir(folder.path())
            .stdin(std::fs::File::open(at("in.cdxj")).expect("it is there"))
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(
            std::fs::read(at(read)).expect("it is there") == before,
            "{args}"
        );
    }
}

#[test]
fn what_is_printed_goes_to_no_file_that_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("urls"), "http://a.example/\n").expect("it is writable");
    std::fs::write(at("list"), "utm_*\n").expect("it is writable");
    std::fs::write(
        at("mine.toml"),
        "name = \"mine\"\nversion = 1\n[bets]\nquery-drop-list = { file = \"list\" }\n",
    )
    .expect("it is writable");
    for (args, read) in [
        ("normalize", "urls"),
        ("normalize --policy mine.toml", "list"),
        ("explain --policy mine.toml http://a.example/", "mine.toml"),
        ("policy show mine.toml", "mine.toml"),
        ("policy validate mine.toml", "list"),
        ("policy diff safe@1 mine.toml", "list"),
        ("policy diff safe@1 mine.toml --in urls", "urls"),
    ] {
        let before = std::fs::read(at(read)).expect("it is there");
        let stdout = std::fs::File::options().append(true).open(at(read));
        let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args(args.split(' '))
            .current_dir(folder.path())
            .stdin(std::fs::File::open(at("urls")).expect("it is there"))
            .stdout(stdout.expect("it is there"))
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(
            std::fs::read(at(read)).expect("it is there") == before,
            "{args}"
        );
    }
}

#[test]
fn a_key_sends_one_path_home_however_it_is_spelled() {
    // Two paths, though the first is spelled in two ways; then three. Which letter it is does not matter.
    for (urls, n_suspect) in [
        (
            [
                "http://a.test/./x",
                "http://a.test/x",
                "http://b.test/x",
                "http://c.test/y",
            ],
            0,
        ),
        (
            [
                "http://a.test/./x",
                "http://a.test/x",
                "http://b.test/z",
                "http://c.test/y",
            ],
            4,
        ),
    ] {
        for letter in ["x", "q", "m", "w", "k", "d"] {
            let mut lines = String::from(
                " CDX N b a m s k r M S V g\nk 20240101000000 http://t.test/ text/html 200 CH3K3DWFFIUYJK5K7V6DWULFAN4FYIDS - - 1 9 f\n",
            );
            for (nth, url) in urls.iter().enumerate() {
                let url = url.replace("x", letter);
                lines +=
                    &format!("k 20240101000000 {url} text/html 301 - http://t.test/ - 1 {nth} f\n");
            }
            let file = tempfile::NamedTempFile::new().expect("there is room for it");
            std::fs::write(file.path(), lines).expect("there is room for it");
            let path = file.path().to_str().expect("its name is UTF-8");
            let output = dedupe(&["--in", path, "--json", "-q"]);
            let summary: serde_json::Value =
                serde_json::from_slice(&output.stdout).expect("it is JSON");
            assert_eq!(summary["redirects"]["suspect_home"], n_suspect, "{letter}");
        }
    }
}
