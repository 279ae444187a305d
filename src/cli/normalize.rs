//! `dedupe normalize`: URLs on stdin, key texts on stdout.

use crate::engine::Outcome;
use crate::{Error, Result};

/// Flags of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_args: Args) -> Result<Outcome> {
    Err(Error::failed("`normalize` is not built yet"))
}
