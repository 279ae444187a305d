//! Members that are decoded some at a time, one behind the other, before the first of them is handed over: so a taker can do
//! with many at once what takes longer with each alone.
//!
//! They are as many as a core's cache holds, and are handed over as if each had been decoded alone.

use super::members::{Codec, Members, tail};
use super::{Halt, Input, Next, Piece, hand};

/// Decoded bytes of members that are decoded one behind the other: what a core's cache holds.
pub(super) const AHEAD: usize = 1 << 20;

/// As many members at most.
pub(super) const AHEAD_MAX: usize = 64;

/// A member that was decoded: where it is stored, and where it stands in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Members that come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coming<'a> {
    members: &'a [Decoded],
    bytes: &'a [u8],
}

impl<'a> Coming<'a> {
    /// So many at most.
    pub const MAX: usize = AHEAD_MAX;

    /// Where each is stored, and all of its bytes.
    pub fn members(self) -> impl Iterator<Item = (u64, &'a [u8])> {
        let bytes = self.bytes;
        self.members
            .iter()
            .map(move |member| (member.offset, &bytes[member.start..member.end]))
    }
}

impl<I: Input, C: Codec, S: FnMut(Piece<'_>) -> Next> Members<'_, I, C, S> {
    /// Decodes some members one behind the other, tells of them, and hands them over.
    pub(super) fn several(&mut self, limit: u64) -> Result<(), Halt> {
        let mut coming = std::mem::take(&mut self.coming);
        self.decode_several(limit, &mut coming);
        if let Some(last) = coming.last() {
            let members = Coming {
                members: &coming,
                bytes: self.codec.given(0..last.end),
            };
            hand(Piece::Coming(members), self.sink)?;
        } else {
            self.member_in_steps()?;
        }
        for member in coming.drain(..) {
            let bytes = self.codec.given(member.start..member.end);
            if !bytes.is_empty() {
                let offset = member.offset;
                hand(Piece::Bytes { bytes, offset }, self.sink)?;
            }
            self.end_member(member.offset + member.length)?;
        }
        self.coming = coming;
        Ok(())
    }

    fn decode_several(&mut self, limit: u64, coming: &mut Vec<Decoded>) {
        let Some(all) = self.input.whole() else {
            return;
        };
        let (mut offset, mut filled) = (self.walk.position(), 0);
        while filled < AHEAD && coming.len() < AHEAD_MAX && (coming.is_empty() || offset < limit) {
            let stored = tail(all, offset);
            if !stored.starts_with(C::MAGIC) {
                return;
            }
            let Some((taken, given)) = self.codec.whole(stored, filled) else {
                return;
            };
            coming.push(Decoded {
                offset,
                length: taken as u64,
                start: filled,
                end: filled + given,
            });
            offset += taken as u64;
            filled += given;
        }
    }
}
