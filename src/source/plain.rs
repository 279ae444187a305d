//! Inputs that are not compressed.

use super::{Halt, Input, Next, Piece, hand};

/// Bytes of a piece: small enough that the sink can break off soon. Pieces of a mapped input are cut at its multiples,
/// wherever the first one starts, so that what depends on a cut does not depend on that.
const WINDOW: u64 = 1 << 22;

/// Hands the input over as it is, from `start` on.
pub(super) fn pieces(
    input: &mut impl Input,
    start: u64,
    sink: &mut impl FnMut(Piece<'_>) -> Next,
) -> Result<(), Halt> {
    let mut offset = start;
    loop {
        let bytes = input.at(offset, 1)?;
        let room = usize::try_from(WINDOW - offset % WINDOW).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return Ok(());
        }
        let n = bytes.len() as u64;
        hand(Piece::Bytes { bytes, offset }, sink)?;
        offset += n;
    }
}
