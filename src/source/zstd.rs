//! Zstandard inputs, frame by frame (warc-zstd 1.0), with or without a dictionary at their start.

use super::{Halt, Input, Piece};

use std::ops::ControlFlow;

pub(super) fn pieces(
    _input: &mut impl Input,
    _sink: &mut impl FnMut(Piece<'_>) -> ControlFlow<()>,
) -> Result<(), Halt> {
    Ok(())
}

/// The first decoded bytes of an input that starts like this.
pub(super) fn first_bytes(_first: &[u8]) -> Option<Vec<u8>> {
    None
}
