//! Flags become typed plans. Must never see bytes of an archive.

use std::process::ExitCode;

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
