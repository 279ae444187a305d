//! Runs the commands of README.md and holds what they print against what it shows.
//!
//! In a ```` ```console ```` block a line `$ command` is run by `sh` in a folder that holds a copy of `sample-data`;
//! the lines below it are its output, stdout and stderr together. `UPDATE_EXPECT=1` writes the real output in.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn readme_shows_what_its_commands_print() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    copy_sample_data(folder.path());
    let readme = std::fs::read_to_string("README.md").expect("README.md stands at the top");
    let real = with_real_output(&readme, folder.path());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write("README.md", &real).expect("README.md is writable");
    } else {
        let differing = readme
            .lines()
            .zip(real.lines())
            .find(|(shown, real)| shown != real);
        assert!(
            readme == real,
            "README.md shows other output (UPDATE_EXPECT=1 mends it): {differing:?}"
        );
    }
}

#[test]
fn readme_has_commands_to_run() {
    let readme = std::fs::read_to_string("README.md").expect("README.md stands at the top");
    assert!(readme.matches("\n$ dedupe ").count() >= 2);
}

fn with_real_output(readme: &str, folder: &Path) -> String {
    let mut real = String::new();
    let mut is_console = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        if !is_console || line == "```console" {
            writeln!(real, "{line}").expect("a string can be written");
        } else if let Some(command) = line.strip_prefix("$ ") {
            write!(real, "{line}\n{}", output_of(command, folder))
                .expect("a string can be written");
        }
    }
    real
}

fn output_of(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_dedupe"))
        .parent()
        .expect("a binary stands in a folder");
    let path = std::env::join_paths(std::iter::once(binary.to_owned()).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ));
    let output = Command::new("sh")
        .args(["-c", &format!("({command}) 2>&1")])
        .current_dir(folder)
        .env("PATH", path.expect("PATH has no colon in a part"))
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("sh runs");
    let mut text = String::from_utf8(output.stdout).expect("the output is text");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn copy_sample_data(to: &Path) {
    std::fs::create_dir(to.join("sample-data")).expect("a folder can be made");
    for entry in std::fs::read_dir("sample-data").expect("sample-data stands at the top") {
        let path = entry.expect("sample-data is readable").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, to.join("sample-data").join(name)).expect("a file can be copied");
        }
    }
}
