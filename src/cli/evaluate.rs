//! `dedupe evaluate`: what a rule would cost.

use std::path::PathBuf;

use super::flags::{
    ReadingArgs, SummaryArgs, TalkArgs, command_line, parse_duration, refuse_two_on_stdout,
};
use crate::engine::{self, Evaluation, Outcome, Outputs};
use crate::evaluate::Thresholds;
use crate::report::Target;
use crate::{Result, group};

/// Flags of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupe evaluate --in crawl.warc.gz --report rules.csv
  dedupe evaluate --in crawl.warc.gz --policy mine.toml --report rules.csv --pairs wrong.csv --max-loss 0.1%
  dedupe evaluate --in crawl.warc.gz --html report.html")]
pub(super) struct Args {
    #[command(flatten)]
    reading: ReadingArgs,
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

    #[command(flatten)]
    summary: SummaryArgs,
}

/// Runs the command.
pub(super) fn run(args: Args) -> Result<Outcome> {
    engine::evaluate::run(&args.plan()?)
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
            within: question.within,
            thresholds: group::Thresholds {
                boilerplate_max: question.boilerplate,
                ..group::Thresholds::default()
            },
            advice: Thresholds {
                precision_min: question.min_precision,
                decidable_min: question.min_pairs,
            },
            loss_max: question.max_loss,
            outputs: self.output.plan()?,
            talk: self.talk.plan(),
        })
    }
}

impl Output {
    fn plan(self) -> Result<Outputs> {
        let target = |path: Option<PathBuf>| path.map(Target::from);
        let outputs = Outputs {
            report: target(self.report),
            pairs: target(self.pairs),
            hosts: target(self.hosts),
            html: target(self.html),
            summaries: self.summary.targets(),
        };
        let files = [
            &outputs.report,
            &outputs.pairs,
            &outputs.hosts,
            &outputs.html,
        ];
        let all = files.into_iter().flatten().chain(&outputs.summaries);
        refuse_two_on_stdout(all)?;
        Ok(outputs)
    }
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
