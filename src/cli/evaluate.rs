//! `dedupe evaluate`: what a rule would cost.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::flags::{
    ReadingArgs, SummaryArgs, TalkArgs, command_line, parse_duration, refuse_two_on_stdout,
};
use crate::capture::Timestamp;
use crate::engine::evaluate::Audit;
use crate::engine::{self, Evaluation, Outcome, Outputs};
use crate::evaluate::{Sample, Thresholds};
use crate::report::{Target, Verdicts};
use crate::{Error, Result, group};

/// Flags of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupe evaluate --in crawl.warc.gz --report rules.csv
  dedupe evaluate --in crawl.warc.gz --policy mine.toml --report rules.csv --pairs wrong.csv --max-loss 0.1%
  dedupe evaluate --in crawl.warc.gz --html report.html
  dedupe evaluate --in index.cdxj --sample 10% --report rules.csv
  dedupe evaluate --in crawl.warc.gz --policy-out learned.toml
  dedupe evaluate --in crawl.warc.gz --audit 200 --audit-to audit.csv
  dedupe evaluate --verdicts audit.csv")]
pub(super) struct Args {
    #[command(flatten)]
    reading: ReadingArgs,
    /// An audit with verdicts filled in: prints the precision that people found beside the measured one. Reads no archive
    /// and writes no file, so what people say stands here and not in --report or --html. A merge in several rows counts
    /// once; different verdicts on it are a mistake
    #[arg(long, value_name = "FILE", exclusive = true, help_heading = "Question")]
    verdicts: Option<PathBuf>,

    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    talk: TalkArgs,
}

/// What is measured.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Question")]
struct Question {
    /// Policy under test: each of its bets alone, all together, and all but one. Without it every bet
    /// of the catalogue is measured alone
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,

    /// Another policy: adds what the one merges and the other does not, and the other way round
    #[arg(long, value_name = "NAME|FILE", requires = "policy")]
    against: Option<String>,

    /// Only these rules, as in www=www,trailing-slash=drop
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    rules: Vec<String>,

    /// Measure on this share of the URLs: a first answer on a large archive. URLs are drawn so that what
    /// any rule merges is drawn together
    #[arg(long, value_name = "SHARE", value_parser = parse_sample, conflicts_with = "max_loss")]
    sample: Option<f64>,

    /// Draws another sample, and another audit
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How far apart two captures may be and still say something of each other
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30d")]
    within: i64,

    /// Unrelated URLs of one host that may share a content before it says nothing
    #[arg(long, value_name = "N", default_value_t = 50)]
    boilerplate: u64,

    /// Exit with 3 if the policy (without one: any rule) loses more than this share of the contents
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    max_loss: Option<f64>,

    /// Precision that the lower end of the interval must reach before a rule is to be adopted
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "0.999")]
    min_precision: f64,

    /// Merges with a verdict that a rule needs before it is to be adopted
    #[arg(long, value_name = "N", default_value_t = 4000)]
    min_pairs: u64,

    /// Merges with a verdict in half B of one host that a rule for this host alone needs, none of them wrong
    #[arg(long, value_name = "N", default_value_t = 300)]
    min_host_pairs: u64,
}

/// What is written, and where.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Output {
    /// A row for each rule, by suffix .csv or .jsonl, also with .gz or .zst; - is CSV on stdout
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// A row for each wrong merge: the two URLs and the captures that show it
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,

    /// A row for each rule and registrable domain
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,

    /// All of it as one page for people: what to adopt, what to reject, and why
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// A policy file with what can be merged on single hosts: learned from half of each host's URLs,
    /// measured once on the other half, with the counts as evidence
    #[arg(long, value_name = "FILE")]
    policy_out: Option<PathBuf>,

    /// Draw so many merges for people to judge (of the policy, or the same number of each rule, spread over
    /// hosts), by --seed; fill in the column `verdict` with right, wrong or unsure
    #[arg(long, value_name = "N")]
    audit: Option<usize>,

    /// Where they go, as CSV
    #[arg(long, value_name = "FILE", default_value = "-", requires = "audit")]
    audit_to: PathBuf,

    #[command(flatten)]
    summary: SummaryArgs,
}

/// Runs the command.
pub(super) fn run(args: Args) -> Result<Outcome> {
    match &args.verdicts {
        Some(path) => print_verdicts(path),
        None => engine::evaluate::run(&args.plan()?),
    }
}

/// Nothing has to be read if verdicts are.
pub(super) fn admit_verdicts(command: clap::Command) -> clap::Command {
    command.mut_arg("inputs", |inputs| {
        inputs.required(false).required_unless_present("verdicts")
    })
}

fn print_verdicts(path: &Path) -> Result<Outcome> {
    let bytes = fs::read(path).map_err(|source| Error::io("read", path, source))?;
    super::print(Verdicts::parse(&bytes, path)?.text().as_bytes())?;
    Ok(Outcome::Done)
}

impl Args {
    fn plan(self) -> Result<Evaluation> {
        let question = self.question;
        Ok(Evaluation {
            command: command_line(),
            reading: self.reading.plan(),
            policy: question.policy,
            against: question.against,
            rules: question.rules,
            sample: question.sample.map(|share| Sample {
                share,
                seed: question.seed,
            }),
            within: question.within,
            thresholds: group::Thresholds {
                boilerplate_max: question.boilerplate,
                ..group::Thresholds::default()
            },
            advice: Thresholds {
                precision_min: question.min_precision,
                decidable_min: question.min_pairs,
                host_decidable_min: question.min_host_pairs,
            },
            loss_max: question.max_loss,
            outputs: self.output.plan(question.seed)?,
            date: today(),
            talk: self.talk.plan(),
        })
    }
}

impl Output {
    fn plan(self, seed: u64) -> Result<Outputs> {
        let target = |path: Option<PathBuf>| path.map(Target::from);
        let outputs = Outputs {
            report: target(self.report),
            pairs: target(self.pairs),
            hosts: target(self.hosts),
            html: target(self.html),
            policy: target(self.policy_out),
            audit: self
                .audit
                .map(|n| (Audit { n, seed }, Target::from(self.audit_to))),
            summaries: self.summary.targets(),
        };
        let tables = [
            &outputs.report,
            &outputs.pairs,
            &outputs.hosts,
            &outputs.html,
            &outputs.policy,
        ];
        let audit = outputs.audit.iter().map(|(_, target)| target);
        let tables = tables.into_iter().flatten().chain(audit);
        let all = tables.chain(&outputs.summaries);
        refuse_two_on_stdout(all)?;
        Ok(outputs)
    }
}

/// When the run started, read once.
fn today() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since_epoch.map_or(0, |since| since.as_secs());
    Timestamp::new(i64::try_from(seconds).unwrap_or(0), 0)
}

/// A share: `0.1%` or `0.001`.
fn parse_share(text: &str) -> std::result::Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    number
        .trim_end()
        .parse::<f64>()
        .ok()
        .map(|number| number / unit)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("`{text}` is no share; expected as in 0.1% or 0.001"))
}

/// A share of which something is left.
fn parse_sample(text: &str) -> std::result::Result<f64, String> {
    let share = parse_share(text)?;
    if share > 0.0 {
        Ok(share)
    } else {
        Err("nothing would be drawn; expected as in 10% or 0.1".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_shares_with_and_without_a_percent_sign() {
        for (text, share) in [
            ("0.1%", Some(0.001)),
            ("0.999", Some(0.999)),
            ("0", Some(0.0)),
            ("100 %", Some(1.0)),
            ("1.5", None),
            ("-1%", None),
            ("NaN", None),
            ("%", None),
            ("", None),
        ] {
            assert_eq!(parse_share(text).ok(), share, "{text}");
        }
    }
}
