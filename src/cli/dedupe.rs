//! The main job: `dedupe --in crawl.warc.gz --report dupes.csv`, without a command's name.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::flags::{
    ReadingArgs, SummaryArgs, TalkArgs, command_line, parse_duration, refuse_two_on_stdout,
};
use crate::engine::{self, FailOn, Job, Outcome, ReportPlan};
use crate::group::{Evidence, Keep, Listing, Thresholds};
use crate::report::{Escape, Format, Target};
use crate::{Error, Result};

/// Flags of the main job.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    sameness: Sameness,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    talk: TalkArgs,
}

/// What is the same as what.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sameness")]
struct Sameness {
    /// Policy that makes comparison keys: a name (see `dedupe policy list`) or a policy file
    #[arg(long, value_name = "NAME|FILE", default_value = "safe@1")]
    policy: String,

    /// What joins pages beyond equal keys
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        num_args = 1,
        default_value = "digest,decoded,revisit,redirect"
    )]
    evidence: Vec<EvidenceName>,

    /// Which of equally good captures of a group is kept
    #[arg(long, value_name = "WHICH", value_enum, default_value = "earliest")]
    keep: KeepName,

    /// How far apart in time a redirect and its target may be
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30d")]
    redirect_within: i64,

    /// Hops of a chain that are followed, at most 1000
    // Each row names every hop of its way: without a limit a long chain would make a quadratic report.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=1000))]
    max_redirects: u32,

    /// Sources that may redirect to one target before it is taken for a soft 404
    #[arg(long, value_name = "N", default_value_t = 50)]
    redirect_fan_in: u64,

    /// Unrelated URLs of one host that may share a content before it no longer joins pages
    #[arg(long, value_name = "N", default_value_t = 50)]
    boilerplate: u64,

    /// Key set of an earlier run (--keys-out): captures whose key is there are flagged seen-before
    #[arg(long, value_name = "FILE")]
    keys_in: Vec<PathBuf>,
}

/// What is written, and where.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct Output {
    /// Report, by suffix .csv or .jsonl, also with .gz or .zst; - is CSV on stdout
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    summary: SummaryArgs,

    /// Sorted keys of this run, for --keys-in of a later one
    #[arg(long, value_name = "FILE")]
    keys_out: Option<PathBuf>,

    /// List rows with a URL group, with a page group, or both; a row with a conflict always
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    level: Level,

    /// List every capture, so that each one's fate can be audited
    #[arg(long)]
    include_unique: bool,

    /// Guard cells that a spreadsheet would compute (= + - @) with a leading '
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    csv_escape: Escape,

    /// Exit with 3 if there is any duplicate; the report is written all the same
    #[arg(long)]
    fail_on_dupes: bool,
}

/// Runs the main job.
pub(super) fn run(args: Args) -> Result<Outcome> {
    engine::run(&args.plan()?)
}

impl Args {
    fn plan(self) -> Result<Job> {
        let report = self.output.report_plan()?;
        let summaries = self.output.summary.targets();
        let target = report.iter().map(|plan| &plan.target);
        refuse_two_on_stdout(target.chain(&summaries))?;
        refuse_packed_keys(self.output.keys_out.as_deref())?;
        Ok(Job {
            command: command_line(),
            reading: self.reading.plan(),
            thresholds: self.sameness.thresholds(),
            policy: self.sameness.policy,
            report,
            summaries,
            fail_on: if self.output.fail_on_dupes {
                FailOn::Duplicates
            } else {
                FailOn::Nothing
            },
            keys_in: self.sameness.keys_in,
            keys_out: self.output.keys_out,
            talk: self.talk.plan(),
        })
    }
}

impl Sameness {
    fn thresholds(&self) -> Thresholds {
        let mut evidence: Vec<Evidence> = self.evidence.iter().map(|name| name.0).collect();
        evidence.sort_unstable();
        evidence.dedup();
        Thresholds {
            evidence,
            keep: self.keep.0,
            redirect_within: self.redirect_within,
            redirects_max: self.max_redirects,
            fan_in_max: self.redirect_fan_in,
            boilerplate_max: self.boilerplate,
        }
    }
}

impl Output {
    fn report_plan(&self) -> Result<Option<ReportPlan>> {
        let Some(path) = &self.report else {
            return Ok(None);
        };
        let target = Target::from(path.clone());
        Ok(Some(ReportPlan {
            format: Format::of(&target)?,
            target,
            listing: match (self.include_unique, self.level) {
                (true, _) => Listing::WithUnique,
                (false, Level::Url) => Listing::Url,
                (false, Level::Page) => Listing::Page,
                (false, Level::All) => Listing::All,
            },
            escape: self.csv_escape,
        }))
    }
}

/// A key set is mapped and searched in place, which a compressed one cannot be.
fn refuse_packed_keys(keys_out: Option<&Path>) -> Result<()> {
    let is_packed = |path: &&Path| {
        path.extension()
            .is_some_and(|suffix| suffix == "gz" || suffix == "zst")
    };
    match keys_out.filter(is_packed) {
        Some(path) => Err(Error::usage(
            "a key set is searched where it stands: give it a name without .gz or .zst",
        )
        .at(path)),
        None => Ok(()),
    }
}

/// Spellings of `--level`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Level {
    /// Rows with a `url_group`.
    Url,
    /// Rows with a `page_group`.
    Page,
    /// Both.
    #[default]
    All,
}

/// Spellings of `--evidence`; `key` alone is no choice, since it always joins.
#[derive(Clone, Copy, Debug)]
struct EvidenceName(Evidence);

impl ValueEnum for EvidenceName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(Evidence::Digest),
            Self(Evidence::Decoded),
            Self(Evidence::Revisit),
            Self(Evidence::Redirect),
            Self(Evidence::RedirectTemporary),
            Self(Evidence::Canonical),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(crate::report::evidence_name(self.0)))
    }
}

/// Spellings of `--keep`.
#[derive(Clone, Copy, Debug)]
struct KeepName(Keep);

impl ValueEnum for KeepName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(Keep::Earliest),
            Self(Keep::Latest),
            Self(Keep::ShortestUrl),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Keep::Earliest => "earliest",
            Keep::Latest => "latest",
            Keep::ShortestUrl => "shortest-url",
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::engine::OnDamage;
    use crate::report::Verbosity;
    use crate::scan::warc::DigestMode;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn job(flags: &[&str]) -> Job {
        let line = [&["dedupe", "--in", "a.warc"], flags].concat();
        Line::try_parse_from(line).unwrap().args.plan().unwrap()
    }

    #[test]
    fn without_flags_the_plan_is_that_of_the_design() {
        let job = job(&[]);
        let thresholds = Thresholds::default();
        assert_eq!(job.thresholds.evidence, thresholds.evidence);
        assert_eq!(job.thresholds.keep, thresholds.keep);
        assert_eq!(job.thresholds.redirect_within, thresholds.redirect_within);
        assert_eq!(job.thresholds.redirects_max, thresholds.redirects_max);
        assert_eq!(job.thresholds.fan_in_max, thresholds.fan_in_max);
        assert_eq!(job.thresholds.boilerplate_max, thresholds.boilerplate_max);
        assert_eq!(job.policy, "safe@1");
        assert_eq!(job.reading.digests, DigestMode::Verify);
        assert_eq!(job.reading.on_damage, OnDamage::Continue);
        assert_eq!(job.fail_on, FailOn::Nothing);
        assert!(job.report.is_none() && job.summaries.is_empty());
    }

    #[test]
    fn each_flag_has_its_place_in_the_plan() {
        let changed = job(&[
            "b.warc",
            "-i",
            "c.warc",
            "--evidence",
            "revisit,digest,revisit",
            "--keep",
            "shortest-url",
            "--redirect-within",
            "1d",
            "--max-redirects",
            "3",
            "--redirect-fan-in",
            "4",
            "--boilerplate",
            "5",
            "--policy",
            "rfc3986@1",
            "--digests",
            "content",
            "--strict",
            "--threads",
            "2",
            "--fail-on-dupes",
            "--summary",
            "s.json",
            "--json",
            "-v",
        ]);
        assert_eq!(changed.reading.inputs, ["a.warc", "b.warc", "c.warc"]);
        assert_eq!(
            changed.thresholds.evidence,
            [Evidence::Digest, Evidence::Revisit]
        );
        assert_eq!(changed.thresholds.keep, Keep::ShortestUrl);
        assert_eq!(changed.thresholds.redirect_within, 86_400);
        assert_eq!(changed.thresholds.redirects_max, 3);
        assert_eq!(changed.thresholds.fan_in_max, 4);
        assert_eq!(changed.thresholds.boilerplate_max, 5);
        assert_eq!(changed.policy, "rfc3986@1");
        assert_eq!(changed.reading.digests, DigestMode::Content);
        assert_eq!(changed.reading.on_damage, OnDamage::Stop);
        assert_eq!(changed.reading.threads.get(), 2);
        assert_eq!(changed.fail_on, FailOn::Duplicates);
        let file = Target::File("s.json".into());
        assert_eq!(changed.summaries, [file, Target::Stdout]);
        assert_eq!(changed.talk.verbosity, Verbosity::Verbose);
    }

    #[test]
    fn every_capture_is_listed_whatever_the_level() {
        for (flags, listing) in [
            (&["--report", "r.csv"][..], Listing::All),
            (&["--report", "r.csv", "--level", "url"], Listing::Url),
            (&["--report", "r.csv", "--level", "page"], Listing::Page),
            (
                &["--report", "r.csv", "--level", "page", "--include-unique"],
                Listing::WithUnique,
            ),
        ] {
            assert_eq!(job(flags).report.unwrap().listing, listing, "{flags:?}");
        }
    }
}
