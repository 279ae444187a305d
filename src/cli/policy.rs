//! `dedupe policy`: list, show, compare and check policies.

use crate::engine::Outcome;
use crate::{Error, Result};

/// Flags of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_args: Args) -> Result<Outcome> {
    Err(Error::failed("`policy` is not built yet"))
}
