//! Members of which only the first bytes are wanted.
//!
//! The idea: where a member ends can be known without decoding it.
//!
//! ```text
//! for each member:
//!     its end should be where the next magic stands; the four bytes before say how long it is when decoded (ISIZE)
//!     if that is little: decode it whole
//!     decode its first bytes; the taker says how many must follow, by what they state (header + Content-Length + 4)
//!     where the next member starts as all do, and both lengths agree: go on there
//!     else decode it whole, as if nothing had been tried
//! ```
//!
//! Two numbers that agree by chance do so once in 2^32; but who writes a member that holds another, and a length to fit,
//! can make the inner one be taken for the next. What was passed over is in no checksum.

use super::members::{Codec, Members, State, starts_with, tail};
use super::{Halt, Input, Next, Piece, hand};

/// How deep a reader looks into members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All of every member.
    Whole,
    /// Not deeper than needed; each member is known to start with these bytes.
    Heads(&'static [u8]),
}

/// A member of so few bytes is decoded whole: that takes no longer than a part of it.
const SMALL: u32 = 2 << 10;

/// Decoded bytes that are tried: most heads fit the first number, nearly all the second.
const TRIALS: [usize; 2] = [2 << 10, 16 << 10];

/// Bytes of the smallest member.
const MEMBER_MIN: usize = 18;

/// Places that are tried as a member's end. The magic stands once in 16 MiB of what is compressed by chance alone.
const ENDS_MAX: usize = 16;

impl<I: Input, C: Codec, S: FnMut(Piece<'_>) -> Next> Members<'_, I, C, S> {
    /// Passes over the member that comes next; says whether it could.
    pub(super) fn pass(&mut self, prefix: &[u8]) -> Result<bool, Halt> {
        let offset = self.walk.position();
        let stored = self.input.whole().map(|all| tail(all, offset));
        let Some(stored) = stored else {
            return Ok(false);
        };
        let is_small = ends::<C>(stored)
            .next()
            .and_then(|end| C::stated_length(&stored[..end]))
            .is_none_or(|length| length <= SMALL);
        if is_small {
            return Ok(false);
        }
        let mut taken = 0;
        self.codec.begin();
        for limit in TRIALS {
            let step = self.codec.step(&stored[taken..], limit);
            taken += step.taken;
            if step.state != State::Open {
                break;
            }
            let bytes = self.codec.filled();
            let n_given = bytes.len() as u64;
            let Next::Rest(n_left) = (self.sink)(Piece::First { bytes, offset }) else {
                continue;
            };
            self.codec.clear();
            let Some(end) = end_of(self.codec, stored, n_given + n_left, prefix) else {
                return Ok(false);
            };
            hand(Piece::Passed, self.sink)?;
            self.end_member(offset + end as u64)?;
            return Ok(true);
        }
        self.codec.clear();
        Ok(false)
    }
}

/// Where the member at the start of `stored` ends, if it holds so many bytes. Of records of one length the second must
/// not speak for the first, so no place is tried behind one at which a member starts.
fn end_of<C: Codec>(codec: &mut C, stored: &[u8], n_bytes: u64, prefix: &[u8]) -> Option<usize> {
    let end = ends::<C>(stored)
        .find(|end| *end == stored.len() || starts_with(codec, &stored[*end..], prefix))?;
    let stated = C::stated_length(&stored[..end]).map(u64::from);
    (stated == Some(n_bytes & u64::from(u32::MAX))).then_some(end)
}

/// The places at which the member at the start of `stored` may end.
fn ends<C: Codec>(stored: &[u8]) -> impl Iterator<Item = usize> {
    let from = MEMBER_MIN.min(stored.len());
    memchr::memmem::find_iter(&stored[from..], C::MAGIC)
        .map(move |index| from + index)
        .chain([stored.len()])
        .take(ENDS_MAX)
}
