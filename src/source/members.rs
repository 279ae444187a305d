//! The walk over a compressed input: gzip members (RFC 1952; WARC 1.1 annex D) or zstd frames, one after the other.
//!
//! After damage the reader goes on at the next member. It looks for one right behind the *start* of the damaged
//! member, not where inflating failed: an inflater that lost its way runs over the start of the next member before it
//! notices. So bytes may be inflated twice; crafted input could make that quadratic, hence the budget in
//! [`Members::search_start`].

use super::ahead::Decoded;
use super::skim::{Ahead, Depth};
use super::{Halt, Input, Next, Piece, hand};

use std::ops::Range;

/// Bytes that tell what comes next.
const HEAD: usize = 16;

/// Bytes of a piece of a member that is decoded in steps: what a core keeps in its cache.
pub(super) const CHUNK: usize = 1 << 18;

/// Stored bytes that a probe may look at.
const PROBE: usize = 1 << 12;

/// Stored bytes searched at once.
const SEARCH: usize = 1 << 16;

/// Bytes that may be inflated in vain before the search starts behind what was inflated.
const IN_VAIN: u64 = 64 << 20;

/// Output bytes that a member must give before it is believed in the midst of damage.
pub(super) const PROBED: usize = 256;

/// Stored bytes that are decoded first of a member that is looked at only, and decoded ones that are enough: most heads of
/// records are in them.
pub(super) const FIRST: (usize, usize) = (640, 4 << 10);

/// What decodes one member at a time, into a buffer of its own.
pub(super) trait Codec {
    /// How a member starts.
    const MAGIC: &'static [u8];
    /// Said of bytes that start no member, of a member that the input's end cuts, and of a damaged one.
    const WHAT: [&'static str; 3];

    /// Whether the start of a member reads as one that a compressor wrote.
    fn is_plausible(stored: &[u8]) -> bool;

    /// Bytes that hold no data but belong to the format, if some start here.
    fn n_passed_over(head: &[u8]) -> Option<u64>;

    /// How many bytes a whole member states that it holds, modulo 2^32; `None` where the format does not say.
    fn stated_length(member: &[u8]) -> Option<u32>;

    /// Decodes the member at the start of `stored` into the buffer, behind its first `filled` bytes, if it is sound and fits:
    /// bytes taken and given.
    fn whole(&mut self, stored: &[u8], filled: usize) -> Option<(usize, usize)>;

    /// Decodes the first bytes of the member at the start of `stored`, without checking what follows: so many of the
    /// stored ones, or less if that fills `room` bytes. Whether the member is sound so far, and goes on.
    fn head(&mut self, stored: &[u8], n_stored: usize, room: usize) -> bool;

    /// Decodes on, up to so many stored or decoded bytes in all.
    fn longer_head(&mut self, stored: &[u8], n_stored: usize, room: usize) -> bool;

    /// What `whole` gave.
    fn given(&self, range: Range<usize>) -> &[u8];

    /// Starts a member, to be decoded step by step.
    fn begin(&mut self);

    /// Decodes as much as fits a buffer of so many bytes.
    fn step(&mut self, stored: &[u8], limit: usize) -> Step;

    /// What the buffer holds.
    fn filled(&self) -> &[u8];

    /// Empties the buffer.
    fn clear(&mut self);
}

/// What one step did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Input bytes taken.
    pub(super) taken: usize,
    /// How the member stands.
    pub(super) state: State,
}

/// How a member stands after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It goes on: the buffer is full, or the input is used up.
    Open,
    /// It ended, and its checksum is right.
    Ended,
    /// It cannot be decoded, or its checksum is wrong.
    Bad,
}

/// Where a walk stands, and what of the way behind it decides how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    position: u64,
    /// Stored bytes of members that turned out to be damaged, each counted as often as it was decoded.
    in_vain: u64,
    /// What `in_vain` may be at the walk's start without any of its decisions being another.
    spare: u64,
}

impl Walk {
    /// A walk that starts at `position` of its input.
    #[must_use]
    pub fn starting_at(position: u64) -> Self {
        Self {
            position,
            in_vain: 0,
            spare: u64::MAX,
        }
    }

    /// Offset of what comes next.
    #[must_use]
    pub fn position(self) -> u64 {
        self.position
    }

    /// The end of one walk, if this one, which started there and knew nothing of it, went as it would have gone on.
    #[must_use]
    pub fn behind(self, earlier: Self) -> Option<Self> {
        (earlier.in_vain <= self.spare).then(|| Self {
            in_vain: earlier.in_vain + self.in_vain,
            ..self
        })
    }

    /// Whether so much was decoded in vain that the input must be crafted.
    fn has_spent_all(&mut self, failed_at: u64) -> bool {
        let budget = IN_VAIN + 4 * failed_at;
        match budget.checked_sub(self.in_vain) {
            Some(left) => {
                self.spare = self.spare.min(left);
                false
            }
            None => true,
        }
    }
}

/// The walk over an input's members.
pub(super) struct Members<'a, I, C, S> {
    pub(super) input: &'a mut I,
    pub(super) codec: &'a mut C,
    pub(super) sink: &'a mut S,
    pub(super) walk: Walk,
    pub(super) depth: Depth,
    /// Room for members that were decoded and not handed over.
    pub(super) coming: Vec<Decoded>,
    /// The next member, if its first bytes were decoded to prove where the last one ends.
    pub(super) ahead: Option<Ahead>,
}

impl<'a, I: Input, C: Codec, S: FnMut(Piece<'_>) -> Next> Members<'a, I, C, S> {
    /// A walk from where `walk` stands.
    pub(super) fn new(input: &'a mut I, codec: &'a mut C, sink: &'a mut S, walk: Walk) -> Self {
        Self {
            input,
            codec,
            sink,
            walk,
            depth: Depth::Whole,
            coming: Vec::new(),
            ahead: None,
        }
    }

    /// How deep to look into members.
    pub(super) fn skim(&mut self, depth: Depth) {
        self.depth = depth;
    }

    /// Where the walk stands.
    pub(super) fn walk(&self) -> Walk {
        self.walk
    }

    /// Hands over all members.
    pub(super) fn run(&mut self) -> Result<(), Halt> {
        loop {
            let head = self.input.at(self.walk.position, HEAD)?;
            let Some(first) = head.first() else {
                return Ok(());
            };
            if head.starts_with(C::MAGIC) {
                self.member()?;
            } else if *first == 0 {
                self.padding()?;
            } else if let Some(n) = C::n_passed_over(head) {
                self.pass_over(n)?;
            } else {
                let start = self.walk.position;
                self.lose(start, start, C::WHAT[0])?;
            }
        }
    }

    fn member(&mut self) -> Result<(), Halt> {
        if let Depth::Heads(prefix) = self.depth
            && self.pass(prefix)?
        {
            return Ok(());
        }
        let start = self.walk.position;
        if let Depth::Ahead(limit) = self.depth {
            return self.several(limit);
        }
        let stored = self.input.whole().map(|all| tail(all, start));
        let Some((taken, given)) = stored.and_then(|stored| self.codec.whole(stored, 0)) else {
            return self.member_in_steps();
        };
        let bytes = self.codec.given(0..given);
        if !bytes.is_empty() {
            let offset = start;
            hand(Piece::Bytes { bytes, offset }, self.sink)?;
        }
        self.end_member(start + taken as u64)
    }

    pub(super) fn member_in_steps(&mut self) -> Result<(), Halt> {
        let start = self.walk.position;
        let mut at = start;
        self.codec.begin();
        loop {
            let stored = self.input.at(at, 1)?;
            let is_ended = stored.is_empty();
            let step = self.codec.step(stored, CHUNK);
            at += step.taken as u64;
            let what = match step.state {
                State::Open if self.codec.filled().len() == CHUNK => {
                    self.hand_filled()?;
                    continue;
                }
                State::Open if !is_ended => continue,
                State::Ended => {
                    self.hand_filled()?;
                    return self.end_member(at);
                }
                State::Open => C::WHAT[1],
                State::Bad => C::WHAT[2],
            };
            self.hand_filled()?;
            self.walk.in_vain += at - start;
            return self.lose(start, at, what);
        }
    }

    fn hand_filled(&mut self) -> Result<(), Halt> {
        let bytes = self.codec.filled();
        if !bytes.is_empty() {
            let offset = self.walk.position;
            hand(Piece::Bytes { bytes, offset }, self.sink)?;
        }
        self.codec.clear();
        Ok(())
    }

    pub(super) fn end_member(&mut self, end: u64) -> Result<(), Halt> {
        let (offset, length) = (self.walk.position, end - self.walk.position);
        self.walk.position = end;
        hand(Piece::MemberEnd { offset, length }, self.sink)
    }

    fn pass_over(&mut self, n: u64) -> Result<(), Halt> {
        let start = self.walk.position;
        let end = start.saturating_add(n);
        while self.walk.position < end {
            let left = end - self.walk.position;
            let n = self.input.at(self.walk.position, 1)?.len() as u64;
            if n == 0 {
                return self.lose(start, start, C::WHAT[1]);
            }
            self.walk.position += n.min(left);
        }
        Ok(())
    }

    fn padding(&mut self) -> Result<(), Halt> {
        let offset = self.walk.position;
        loop {
            let bytes = self.input.at(self.walk.position, SEARCH)?;
            let n_zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = n_zeros == bytes.len() && n_zeros > 0;
            self.walk.position += n_zeros as u64;
            if !is_all {
                return hand(Piece::Padding { offset }, self.sink);
            }
        }
    }

    /// Gives up the bytes from `start` to the next member.
    fn lose(&mut self, start: u64, failed_at: u64, what: &'static str) -> Result<(), Halt> {
        let mut at = self.search_start(start, failed_at);
        self.walk.position = loop {
            let bytes = self.input.at(at, SEARCH)?;
            if bytes.len() < C::MAGIC.len() {
                break at + bytes.len() as u64;
            }
            match memchr::memmem::find(bytes, C::MAGIC) {
                None => at += (bytes.len() - (C::MAGIC.len() - 1)) as u64,
                Some(index) => {
                    at += index as u64;
                    let stored = self.input.at(at, PROBE)?;
                    let stored = &stored[..stored.len().min(PROBE)];
                    if C::is_plausible(stored) && probe(self.codec, stored) {
                        break at;
                    }
                    at += 1;
                }
            }
        };
        let length = Some(self.walk.position - start);
        let offset = start;
        hand(
            Piece::Lost {
                offset,
                length,
                what,
            },
            self.sink,
        )
    }

    /// Where to look for the next member: behind the start of the damaged one, unless so much was inflated in vain
    /// that the input must be crafted; then behind what was inflated.
    fn search_start(&mut self, start: u64, failed_at: u64) -> u64 {
        let start = if self.walk.has_spent_all(failed_at) {
            failed_at
        } else {
            start
        };
        (start + 1).max(self.input.earliest())
    }
}

pub(super) fn tail(all: &[u8], start: u64) -> &[u8] {
    usize::try_from(start)
        .ok()
        .and_then(|start| all.get(start..))
        .unwrap_or_default()
}

/// Whether `stored` starts with a member, as far as its first bytes tell.
fn probe(codec: &mut impl Codec, stored: &[u8]) -> bool {
    codec.begin();
    let is_believed = match codec.step(stored, PROBED).state {
        State::Bad => false,
        State::Ended => true,
        State::Open => !codec.filled().is_empty(),
    };
    codec.clear();
    is_believed
}

/// The first place in `range` at which a member starts whose content starts with `prefix`.
pub(super) fn find<C: Codec>(
    codec: &mut C,
    stored: &[u8],
    range: Range<u64>,
    prefix: &[u8],
) -> Option<u64> {
    let end = usize::try_from(range.end).map_or(stored.len(), |end| end.min(stored.len()));
    let start = usize::try_from(range.start)
        .ok()
        .filter(|start| *start < end)?;
    // The magic may go beyond the end of the range.
    let searched = &stored[start..stored.len().min(end + C::MAGIC.len() - 1)];
    let found = memchr::memmem::find_iter(searched, C::MAGIC)
        .map(|index| start + index)
        .find(|at| starts_with(codec, &stored[*at..], prefix))?;
    Some(found as u64)
}

/// Whether `stored` starts with a member whose content starts with `prefix`.
pub(super) fn starts_with<C: Codec>(codec: &mut C, stored: &[u8], prefix: &[u8]) -> bool {
    if !C::is_plausible(stored) {
        return false;
    }
    let (n_stored, room) = FIRST;
    codec.head(stored, n_stored, room);
    let is_so = codec.filled().starts_with(prefix);
    codec.clear();
    is_so
}
