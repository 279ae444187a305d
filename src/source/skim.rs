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
//! The head that proves where one member ends is the next one's first trial: it is decoded once. A raw stream does it,
//! without checksum.
//!
//! Two numbers that agree by chance do so once in 2^32; but who writes a member that holds another, and a length to fit,
//! can make the inner one be taken for the next. What was passed over is in no checksum.

use super::members::{Codec, FIRST, Members, starts_with, tail};
use super::{Halt, Input, Next, Piece, hand};

/// How deep a reader looks into members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All of every member.
    Whole,
    /// The same, but of those that start before this offset some are decoded before the first of them is handed over.
    Ahead(u64),
    /// Not deeper than needed; each member is known to start with these bytes.
    Heads(&'static [u8]),
}

/// A member of so few bytes is decoded whole: that takes no longer than a part of it.
const SMALL: u32 = 4 << 10;

/// Stored bytes that are tried, and decoded ones that are enough: most heads fit the first numbers, nearly all the second.
const TRIALS: [(usize, usize); 2] = [FIRST, (8 << 10, 32 << 10)];

/// Bytes of the smallest member.
const MEMBER_MIN: usize = 18;

/// Places that are tried as a member's end. The magic stands once in 16 MiB of what is compressed by chance alone.
const ENDS_MAX: usize = 16;

/// A member whose first bytes the codec holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    position: u64,
    /// The first place at which it may end.
    end: usize,
    state: State,
}

/// How much of a member was decoded.
#[derive(Clone, Copy, Debug)]
enum State {
    /// All of it: stored and decoded bytes.
    Whole(usize, usize),
    /// As many bytes as the first trial gives.
    Head,
}

impl<I: Input, C: Codec, S: FnMut(Piece<'_>) -> Next> Members<'_, I, C, S> {
    /// Hands over the member that comes next if that is little, or passes over it; says whether it could.
    pub(super) fn pass(&mut self, prefix: &[u8]) -> Result<bool, Halt> {
        let offset = self.walk.position();
        let stored = self.input.whole().map(|all| tail(all, offset));
        let Some(stored) = stored else {
            return Ok(false);
        };
        let ahead = self.ahead.take();
        let ahead = ahead.filter(|ahead| ahead.position == offset);
        let Some(ahead) = ahead.or_else(|| Ahead::look(self.codec, stored, offset)) else {
            return Ok(false);
        };
        if let State::Whole(taken, given) = ahead.state {
            let bytes = self.codec.given(0..given);
            if !bytes.is_empty() {
                hand(Piece::Bytes { bytes, offset }, self.sink)?;
            }
            self.end_member(offset + taken as u64)?;
            return Ok(true);
        }
        for (nth, (n_stored, room)) in TRIALS.into_iter().enumerate() {
            if nth > 0 && !self.codec.longer_head(stored, n_stored, room) {
                break;
            }
            let bytes = self.codec.filled();
            let n_given = bytes.len() as u64;
            let Next::Rest(n_left) = (self.sink)(Piece::First { bytes, offset }) else {
                continue;
            };
            let found = end_of(self.codec, (stored, ahead), n_given + n_left, prefix);
            let Some((end, next)) = found else {
                break;
            };
            self.ahead = next;
            hand(Piece::Passed, self.sink)?;
            self.end_member(offset + end as u64)?;
            return Ok(true);
        }
        self.codec.clear();
        Ok(false)
    }
}

/// Where the member at the start of `stored` ends, if it holds so many bytes; and the next one, if that was looked
/// at.
///
/// Of records of one length the second must not speak for the first, so no place is tried behind one at which a member
/// starts.
fn end_of<C: Codec>(
    codec: &mut C,
    (stored, ahead): (&[u8], Ahead),
    n_bytes: u64,
    prefix: &[u8],
) -> Option<(usize, Option<Ahead>)> {
    let states_it = |end: usize| {
        let stated = C::stated_length(&stored[..end]).map(u64::from);
        stated == Some(n_bytes & u64::from(u32::MAX))
    };
    let first = ahead.end;
    if states_it(first) && first < stored.len() {
        let position = ahead.position + first as u64;
        let next = Ahead::look(codec, &stored[first..], position);
        let next = next.filter(|next| next.first_bytes(codec).starts_with(prefix));
        if next.is_some() {
            return Some((first, next));
        }
    }
    let end = ends::<C>(stored)
        .find(|end| *end == stored.len() || starts_with(codec, &stored[*end..], prefix))?;
    states_it(end).then_some((end, None))
}

impl Ahead {
    /// Decodes the first bytes of the member at the start of `stored`, or all of it.
    fn look<C: Codec>(codec: &mut C, stored: &[u8], position: u64) -> Option<Self> {
        if !C::is_plausible(stored) {
            return None;
        }
        let end = ends::<C>(stored).next()?;
        let is_small = C::stated_length(&stored[..end]).is_some_and(|length| length <= SMALL);
        let state = if is_small {
            let (taken, given) = codec.whole(&stored[..end], 0)?;
            State::Whole(taken, given)
        } else if codec.head(stored, FIRST.0, FIRST.1) {
            State::Head
        } else {
            return None;
        };
        Some(Self {
            position,
            end,
            state,
        })
    }

    fn first_bytes<'c, C: Codec>(&self, codec: &'c C) -> &'c [u8] {
        match self.state {
            State::Whole(_, given) => codec.given(0..given),
            State::Head => codec.filled(),
        }
    }
}

/// The places at which the member at the start of `stored` may end.
fn ends<C: Codec>(stored: &[u8]) -> impl Iterator<Item = usize> {
    let from = MEMBER_MIN.min(stored.len());
    memchr::memmem::find_iter(&stored[from..], C::MAGIC)
        .map(move |index| from + index)
        .chain([stored.len()])
        .take(ENDS_MAX)
}
