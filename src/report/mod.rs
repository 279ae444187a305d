//! Text for people and for programs: report, summary, progress, messages. The only place that makes it.
//! Decides nothing: what a row is comes from `group`, what is listed from `engine`.

use crate::group::Evidence;

mod format;
mod output;
mod people;
mod temporary;

pub use format::Format;
pub use output::{Finished, Output, Target, publish, refuse_overwriting};
pub use people::{Color, ProgressMode, Verbosity};
pub use temporary::remove_on_signals;

/// `--csv-escape`: whether a cell that a spreadsheet would compute is guarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Escape {
    /// A text cell that starts with `= + - @` or a tab gets a leading `'`.
    #[default]
    Formula,
    /// Cells are what they are.
    None,
}

/// The name of a kind of evidence in reports and flags.
#[must_use]
pub fn evidence_name(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Key => "key",
        Evidence::Digest => "digest",
        Evidence::Decoded => "decoded",
        Evidence::Revisit => "revisit",
        Evidence::Redirect => "redirect",
        Evidence::RedirectTemporary => "redirect-temporary",
        Evidence::Canonical => "canonical",
    }
}
