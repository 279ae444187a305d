//! Inputs that are not compressed.

use super::{Halt, Input, Piece, hand};

use std::ops::ControlFlow;

/// Bytes of a piece: small enough that the sink can break off soon.
const WINDOW: usize = 1 << 22;

/// Hands the input over as it is.
pub(super) fn pieces(
    input: &mut impl Input,
    sink: &mut impl FnMut(Piece<'_>) -> ControlFlow<()>,
) -> Result<(), Halt> {
    let mut offset = 0;
    loop {
        let bytes = input.at(offset, 1)?;
        let bytes = &bytes[..bytes.len().min(WINDOW)];
        if bytes.is_empty() {
            return Ok(());
        }
        let n = bytes.len() as u64;
        hand(Piece::Bytes { bytes, offset }, sink)?;
        offset += n;
    }
}
