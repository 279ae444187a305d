//! What one run is to do, as plain typed data. Of clap it knows only how the choices are spelled.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use super::memory::Memory;
use crate::group::{Listing, Thresholds};
use crate::report::{Color, Escape, Format, ProgressMode, Target, Verbosity};
use crate::scan::warc::DigestMode;

/// The main job: read, key, group, report.
#[derive(Clone, Debug)]
pub struct Job {
    /// The command line, for the summary.
    pub command: String,
    /// What to read.
    pub reading: Reading,
    /// The policy by name (`safe@1`) or the path of a policy file.
    pub policy: String,
    /// Which evidence joins pages, and the limits of belief.
    pub thresholds: Thresholds,
    /// The report; `None`: only the summary.
    pub report: Option<ReportPlan>,
    /// Where the summary goes: `--summary`, `--json`, both or neither.
    pub summaries: Vec<Target>,
    /// What ends the run with exit code 3.
    pub fail_on: FailOn,
    /// Key sets of earlier runs.
    pub keys_in: Vec<PathBuf>,
    /// Where this run's key set goes.
    pub keys_out: Option<PathBuf>,
    /// How much is said on stderr.
    pub talk: Talk,
}

/// What to read and how.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Files, folders, globs, `@list` files and `-`, as given.
    pub inputs: Vec<OsString>,
    /// The format of every input, in place of what its first bytes say.
    pub format: Option<InFormat>,
    /// How payloads are digested.
    pub digests: DigestMode,
    /// What the first damage does.
    pub on_damage: OnDamage,
    /// Threads that read and group.
    pub threads: NonZeroUsize,
    /// How much memory it may take.
    pub memory: Memory,
    /// Stored bytes that one thread reads at a time. What is found does not depend on it.
    pub chunk_bytes: NonZeroU64,
}

impl Reading {
    /// Bytes of a chunk: some hundred records of an archive, which take a core some ten milliseconds.
    pub const CHUNK_BYTES: NonZeroU64 = NonZeroU64::new(4 << 20).expect("it is not zero");

    /// Reads `inputs` as without any flag, in one thread.
    #[must_use]
    pub fn of(inputs: Vec<OsString>) -> Self {
        Self {
            inputs,
            format: None,
            digests: DigestMode::default(),
            on_damage: OnDamage::default(),
            threads: NonZeroUsize::MIN,
            chunk_bytes: Self::CHUNK_BYTES,
            memory: Memory::default(),
        }
    }
}

/// The report and what is listed in it.
#[derive(Clone, Debug)]
pub struct ReportPlan {
    /// Where it goes.
    pub target: Target,
    /// CSV or JSONL, by the suffix.
    pub format: Format,
    /// Which rows are listed.
    pub listing: Listing,
    /// Whether cells that a spreadsheet would compute are guarded.
    pub escape: Escape,
}

/// What is said on stderr.
#[derive(Clone, Copy, Debug, Default)]
pub struct Talk {
    /// `-q`, `-v`.
    pub verbosity: Verbosity,
    /// `--no-progress`.
    pub progress: ProgressMode,
    /// `--color`.
    pub color: Color,
}

/// `--in-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InFormat {
    /// WARC, plain or compressed.
    Warc,
    /// Space-separated index lines.
    Cdx,
    /// Index lines with JSON.
    Cdxj,
}

/// `--strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// Damage is data: it is named, and the run goes on.
    #[default]
    Continue,
    /// The first damage ends the run with 1 and no report.
    Stop,
}

/// `--fail-on-dupes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Duplicates are a result, not a failure.
    #[default]
    Nothing,
    /// Any row of role `duplicate` ends the run with 3; the report is written all the same.
    Duplicates,
}

/// How a run ended that wrote its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// A threshold that the user set was crossed: exit code 3.
    Crossed,
    /// Some input was damaged or skipped: exit code 4.
    Incomplete,
}

impl Outcome {
    /// The process exit code.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Crossed => 3,
            Self::Incomplete => 4,
        }
    }
}
