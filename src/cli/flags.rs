//! Flags that several commands share.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{ArgAction, Args};

use crate::engine::{InFormat, Memory, OnDamage, OnSaved, Reading, Talk};
use crate::report::{self, Color, ProgressMode, Target, Verbosity};
use crate::scan::warc::DigestMode;
use crate::{Error, Result};

const THREADS_MAX: usize = 1024;

/// What to read and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct ReadingArgs {
    /// Archives: files, folders (all that is in them), globs, @LIST files with one path a line and
    /// # comments, - for stdin. A file given twice is read once
    #[arg(short, long = "in", value_name = "PATH", num_args = 1.., required = true,
        value_parser = OsStringValueParser::new().try_map(named))]
    inputs: Vec<OsString>,

    /// Format of every input; without it each one's first bytes say
    #[arg(long, value_name = "FORMAT")]
    in_format: Option<InFormat>,

    /// verify: hash every payload and hold it against its declared digest; content: one BLAKE3 per
    /// payload; declared: believe what the archive says and read no bodies
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    digests: DigestMode,

    /// End at the first damage with exit code 1 and no report
    #[arg(long)]
    strict: bool,

    /// Threads; the output is the same for any number [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    /// Most memory to take, as in 500MiB or 4G; what is more is spilled to --temp-dir, and the output is
    /// the same [default: half of what the machine or the control group has]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,

    /// Where to spill, a folder on a real disk. If it is given, what was read of each input is kept there too until
    /// the run is done; only an interrupted run leaves anything [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "FOLDER")]
    temp_dir: Option<PathBuf>,

    /// Go on after an interruption: inputs that were read to their end, and have not changed, are not read again
    #[arg(long, requires = "temp_dir")]
    resume: bool,
}

impl ReadingArgs {
    pub(super) fn plan(self) -> Reading {
        Reading {
            inputs: self.inputs,
            format: self.in_format,
            digests: self.digests,
            on_damage: if self.strict {
                OnDamage::Stop
            } else {
                OnDamage::Continue
            },
            threads: self.threads.unwrap_or_else(cores),
            memory: Memory {
                bytes_max: self.memory,
                temp_dir: self.temp_dir,
                on_saved: if self.resume {
                    OnSaved::GoOn
                } else {
                    OnSaved::Replace
                },
            },
            chunk_bytes: Reading::CHUNK_BYTES,
        }
    }
}

/// An input's name, as an unset variable in a script would not give it.
fn named(value: OsString) -> std::result::Result<OsString, &'static str> {
    if value.is_empty() {
        Err("an empty name")
    } else {
        Ok(value)
    }
}

/// Every thread has a stack and a share of the work: a number far beyond any machine's would only never get going.
fn threads(text: &str) -> std::result::Result<NonZeroUsize, String> {
    let n: NonZeroUsize = text.parse().map_err(|error| format!("{error}"))?;
    match n.get() {
        1..=THREADS_MAX => Ok(n),
        _ => Err(format!("expected at most {THREADS_MAX}")),
    }
}

fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// How much is said on stderr.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct TalkArgs {
    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Name up to 100 pieces of damage, not only the first few
    #[arg(short, long, action = ArgAction::SetTrue)]
    verbose: bool,

    /// Colors on stderr; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Color,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,
}

impl TalkArgs {
    pub(super) fn plan(&self) -> Talk {
        Talk {
            verbosity: match (self.quiet, self.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, true) => Verbosity::Verbose,
                (false, false) => Verbosity::Normal,
            },
            progress: if self.no_progress || self.quiet {
                ProgressMode::Hidden
            } else {
                ProgressMode::Shown
            },
            color: self.color,
        }
    }
}

/// Where the summary goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct SummaryArgs {
    /// Summary as JSON
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Summary as JSON on stdout
    #[arg(long)]
    json: bool,
}

impl SummaryArgs {
    pub(super) fn targets(&self) -> Vec<Target> {
        let file = self.summary.clone().map(Target::from);
        let stdout = self.json.then_some(Target::Stdout);
        file.into_iter().chain(stdout).collect()
    }
}

/// Two texts on one stdout are neither of them.
pub(super) fn refuse_two_on_stdout<'a>(targets: impl Iterator<Item = &'a Target>) -> Result<()> {
    if targets.filter(|target| **target == Target::Stdout).count() > 1 {
        return Err(Error::usage(
            "two outputs cannot both go to stdout: give one of them a file name",
        ));
    }
    Ok(())
}

/// The command line as it was given, for the summary.
pub(super) fn command_line() -> String {
    let words: Vec<String> = std::env::args_os()
        .map(|word| report::clean(word.as_encoded_bytes()))
        .collect();
    words.join(" ")
}

/// A length of time as seconds: `30d`, `12h`, `45m`, `90s`, `2w`, `0`.
pub(super) fn parse_duration(text: &str) -> std::result::Result<i64, String> {
    let expected = || {
        format!("`{text}` is no length of time; expected a number and s, m, h, d or w, as in 30d")
    };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        "" if digits == "0" => 1,
        _ => return Err(expected()),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    digits
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(expected)
}

/// Below this a run would spill its smallest tables.
const MEMORY_MIN: u64 = 16 << 20;

/// A number of bytes: `64MiB`, `4G`, `500kB`, `1.5TiB`; K, M, G and T alone are powers of 1024.
fn parse_size(text: &str) -> std::result::Result<u64, String> {
    let expected =
        || format!("`{text}` is no size; expected a number and a unit, as in 500MiB or 4G");
    let n_digits = text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic())
        .len();
    let (digits, unit) = text.split_at(n_digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(expected()),
    };
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 3 {
        return Err(expected());
    }
    let thousandths: u64 = format!("{fraction:0<3}").parse().map_err(|_| expected())?;
    let whole: Option<u64> = whole.parse().ok().and_then(|n: u64| n.checked_mul(factor));
    let bytes = whole
        .and_then(|whole| whole.checked_add(thousandths.checked_mul(factor)? / 1000))
        .ok_or_else(expected)?;
    if bytes < MEMORY_MIN {
        return Err(format!("`{text}` is too little; expected at least 16MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_with_a_unit() {
        for (text, bytes) in [
            ("64MiB", Some(64 << 20)),
            ("64m", Some(64 << 20)),
            ("1.5G", Some(3 << 29)),
            ("2TiB", Some(2 << 40)),
            ("500MB", Some(500_000_000)),
            ("16777216", Some(16 << 20)),
            ("16777215", None),
            ("1K", None),
            ("G", None),
            ("", None),
            ("-1G", None),
            ("1 G", None),
            ("1.G", None),
            ("1GiBs", None),
            ("1.2345G", None),
            ("18446744073709551616", None),
            ("99999999999T", None),
        ] {
            assert_eq!(parse_size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn reads_durations_with_a_unit() {
        for (text, seconds) in [
            ("30d", Some(2_592_000)),
            ("0", Some(0)),
            ("2w", Some(1_209_600)),
            ("90s", Some(90)),
            ("45m", Some(2700)),
            ("12h", Some(43_200)),
            ("30", None),
            ("d", None),
            ("", None),
            ("-1d", None),
            ("+1d", None),
            ("1 d", None),
            ("1é", None),
            ("99999999999999999999d", None),
            ("9223372036854775807w", None),
        ] {
            assert_eq!(parse_duration(text).ok(), seconds, "{text}");
        }
    }
}
