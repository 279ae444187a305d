//! Flags become typed plans, one file a command. Must never see bytes of an archive.

mod dedupe;
mod evaluate;
mod explain;
mod flags;
mod normalize;
mod policy;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::engine::Outcome;
use crate::policy::Policy;
use crate::report::{self, Target};
use crate::{Error, Result};

/// Finds the captures of crawl archives that are the same, and says why.
#[derive(Debug, Parser)]
#[command(
    name = "dedupe",
    version,
    about,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(flatten)]
    dedupe: dedupe::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

const LONG_ABOUT: &str = "\
Reads crawl archives (WARC, CDX, CDXJ) and reports which captures are the same: by URL, under a \
versioned policy, and by content, by payload digest, redirect and revisit. An input is never \
written to, and nothing is deleted: the report says what could be.";

const AFTER_HELP: &str = "\
Examples:
  dedupe --in crawl.warc.gz --report dupes.csv
  dedupe --in crawls/ --report dupes.jsonl.gz --summary summary.json
  dedupe normalize --policy safe@1 < urls.txt

Exit codes: 0 done · 1 failed, no report · 2 usage · 3 a threshold was crossed ·
4 report complete, but some input was damaged or skipped · 130 interrupted";

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the comparison key text of each URL of stdin.
    Normalize(normalize::Args),
    /// Say what a policy makes of a URL, or whether two share a key.
    Explain(explain::Args),
    /// List, show, compare and check policies.
    Policy(policy::Args),
    /// Measure what normalization rules would merge rightly and wrongly.
    Evaluate(Box<evaluate::Args>),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Verdicts are read without an archive.
    let command = Cli::command().mut_subcommand("evaluate", evaluate::admit_verdicts);
    let matches = command.try_get_matches_from(args);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(usage) => return print_usage(&usage),
    };
    match report::remove_on_signals().and_then(|()| cli.run()) {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            report::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

impl Cli {
    fn run(self) -> Result<Outcome> {
        match self.command {
            None => dedupe::run(self.dedupe),
            Some(Command::Normalize(args)) => normalize::run(args),
            Some(Command::Explain(args)) => explain::run(args),
            Some(Command::Policy(args)) => policy::run(args),
            Some(Command::Evaluate(args)) => evaluate::run(*args),
        }
    }
}

/// Prints the answer of a command that has one.
fn print(text: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text)
        .and_then(|()| stdout.flush())
        .map_err(cannot_print)
}

/// The policy of a command that prints, unless what it prints would be written over a file of the policy.
fn load_policy(name: &str) -> Result<Policy> {
    let policy = Policy::load(name)?;
    report::refuse_overwriting(&[&Target::Stdout], policy.files())?;
    Ok(policy)
}

fn cannot_print(source: io::Error) -> Error {
    Error::io("write", Path::new("stdout"), source)
}

/// Help and version go to stdout with 0, mistakes to stderr with 2. A closed pipe is no failure.
fn print_usage(usage: &clap::Error) -> ExitCode {
    usage.print().ok();
    ExitCode::from(if usage.use_stderr() { 2 } else { 0 })
}
