//! Text for people and for programs: report, summary, progress, messages. The only place that makes it.
//! Decides nothing: what a row is comes from `group`, what is listed from `engine`. Must never import `engine` or `cli`.

mod advice;
mod audit;
mod csv;
mod evaluation;
mod figures;
mod format;
mod html;
mod jsonl;
mod learned;
mod memory;
mod names;
mod output;
mod people;
mod progress;
mod row;
mod rows;
mod summary;
mod table;
mod temporary;
mod text;
mod verdicts;

pub use advice::Evaluated;
pub use audit::{AuditRow, AuditTable};
pub use evaluation::{HostRow, HostTable, RuleRow, RuleTable, WrongPair, WrongSide, WrongTable};
pub use figures::{Bytes, Canonical, Counts, CountsByName, Digests, Input, Loss, Memory};
pub use format::Format;
pub use html::{Page, PageRow, Subject};
pub use learned::{LearnedHost, LearnedPolicy, parameter_text};
pub use names::{digest_status_name, evidence_name, role_name, sameness_name};
pub use output::{Finished, Output, Target, publish, refuse_overwriting};
pub use people::{Color, People, ProgressMode, Verbosity, print_error};
pub use progress::Progress;
pub use row::{Link, Place, Row};
pub use rows::{Lines, Report};
pub use summary::{DAMAGE_LISTED_MAX, Summary};
pub use table::{Cell, Table};
pub use temporary::{end_with, remove_on_signals};
pub use text::{clean, visible};
pub use verdicts::Verdicts;

/// `--csv-escape`: whether a cell that a spreadsheet would compute is guarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Escape {
    /// A text cell that starts with `= + - @` gets a leading `'`.
    #[default]
    Formula,
    /// Cells are what they are.
    None,
}
