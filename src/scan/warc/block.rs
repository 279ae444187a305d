//! The block of a record and its end: what the header says of it, and what is true.

use super::between::{n_matching, warn_of_filler};
use super::header::{Length, PREFIX, find_record, starts_with_version};
use super::tail::{Verdict, is_filler};
use super::{Framing, IsCut, Reader, State, record};
use crate::capture::{Event, Warning};

const TOO_SMALL: &str = "the content-length of a record is too small";
const TOO_LARGE: &str = "the content-length of a record is too large";
pub(super) const UNUSABLE: &str = "the content-length of a record is no usable number";
pub(super) const MISSING: &str = "a record with a block has no content-length";

impl Reader<'_> {
    /// The header ended before `position`, and `ahead` follows it in the same piece.
    pub(super) fn start_block(&mut self, position: u64, ahead: &[u8]) {
        self.body.begin(record::plan(&self.header, self.options));
        self.expect_begun(position);
        self.hold.clear();
        self.tail.clear();
        let stated = match self.header.length() {
            Length::Stated(length) => Some(length),
            Length::Missing => {
                self.open.fault = Some(MISSING);
                None
            }
            Length::Unusable => {
                self.open.fault = Some(UNUSABLE);
                None
            }
        };
        let (ahead, reach) = match self.whole {
            Some(whole) => (slice_from(whole, position), Reach::All),
            None => (ahead, Reach::Part),
        };
        self.state = match stated {
            Some(length) => {
                let left = match true_end(ahead, length, reach) {
                    Some(end) => {
                        self.open.fault = Some(TOO_LARGE);
                        end
                    }
                    None => length,
                };
                block_of(left)
            }
            None => State::Endless,
        };
    }

    /// A payload may have been begun in the block that starts at `position`.
    fn expect_begun(&mut self, position: u64) {
        let (piece, member) = self.piece;
        if let Some((start, begun)) = self.coming.begun_in(member)
            && let Some(n_before) = (piece + start as u64).checked_sub(position)
        {
            self.body.expect(n_before, begun);
        }
    }

    pub(super) fn take_block(&mut self, bytes: &[u8], left: u64) -> usize {
        let n = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.feed(&bytes[..n]);
        self.state = block_of(left - n as u64);
        n
    }

    /// Takes what stands between a block and the next record.
    pub(super) fn take_tail(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) -> usize {
        let taken = self.tail.push(bytes);
        let position = self.position + taken as u64;
        let rest = &bytes[taken..];
        if rest.is_empty() && !self.tail.is_full() {
            return taken;
        }
        let n = n_matching(rest, PREFIX);
        let is_record = n == PREFIX.len() || n == rest.len() || self.tail.is_full();
        if is_record || self.open.fault.is_some() {
            self.end_tail(position, sink);
            return taken;
        }
        match (self.tail.verdict(&self.hold), self.framing) {
            (Verdict::Whole(_), Framing::Plain) => self.end_tail(position, sink),
            (_, Framing::Plain) => {
                let end = position - self.tail.bytes().len() as u64;
                let start = self.open.start;
                self.release(0);
                self.end_record(end, IsCut::Yes, sink);
                self.lose(start, end, TOO_SMALL);
            }
            (_, Framing::Members) => {
                self.open.fault = Some(TOO_SMALL);
                let tail = std::mem::take(&mut self.tail);
                self.feed(tail.bytes());
                self.state = State::Endless;
            }
        }
        taken
    }

    /// The record ends with the tail, which ends before `position`.
    fn end_tail(&mut self, position: u64, sink: &mut impl FnMut(Event<'_>)) {
        let n_tail = self.tail.bytes().len();
        let verdict = self.tail.verdict(&self.hold);
        if verdict == Verdict::Wrong && self.tail.bytes().iter().any(|byte| *byte != 0) {
            // The block's own last bytes are NULs or line ends.
            self.open.fault = Some(TOO_SMALL);
            let tail = std::mem::take(&mut self.tail);
            self.feed(tail.bytes());
            return self.end_endless(position, IsCut::No, sink);
        }
        let (n_separators, n_shifted) = match verdict {
            Verdict::Whole(n) => (n, 0),
            Verdict::Shifted(n) => {
                self.open.fault = Some(TOO_LARGE);
                (4 - n, n)
            }
            // The block was found to end at the next record, so its last bytes are the two line ends.
            Verdict::Bare(n) if self.open.fault.is_some() => (n, self.hold.n_separators()),
            Verdict::Bare(n) => {
                sink(Event::Warning(Warning::RecordSpacing));
                (n, 0)
            }
            Verdict::Wrong => (0, 0),
        };
        warn_of_filler(&self.tail.bytes()[n_separators..], sink);
        self.release(n_shifted);
        let fault = self.open.fault;
        let is_whole = fault.is_none() || self.framing == Framing::Members && n_shifted > 0;
        let is_cut = if is_whole { IsCut::No } else { IsCut::Yes };
        let end = position - (n_tail - n_separators) as u64;
        self.end_record(end, is_cut, sink);
        if let Some(what) = fault {
            self.emit_fault(position, what, sink);
        }
    }

    /// The record that ended before `position` is damaged as a whole.
    pub(super) fn emit_fault(&self, position: u64, what: &str, sink: &mut impl FnMut(Event<'_>)) {
        let length = self.stored_length(position - self.open.start);
        self.emit_damage(self.open.offset, length, what.to_owned(), sink);
    }

    /// The input, or the member, ends here.
    pub(super) fn end_input(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        self.feed_cut_line();
        match self.state {
            State::Between(0) => {}
            State::Between(matched) => {
                let start = self.position - matched as u64;
                self.lose(start, start, "bytes that belong to no record");
                self.tell_lost(self.position, sink);
            }
            State::Header => {
                if self.header.finish() {
                    self.end_stub(self.position, sink);
                } else {
                    self.reject();
                }
                self.tell_lost(self.position, sink);
            }
            State::Block(_) => self.end_short_block(sink),
            State::Tail => self.end_tail(self.position, sink),
            State::Endless => self.end_endless(self.position, IsCut::No, sink),
            State::Lost(_) => self.tell_lost(self.position, sink),
        }
        self.state = State::Between(0);
    }

    /// The block should go on, but nothing does. A member that ends as a record does was written like this, and its
    /// length is too large; all else is cut.
    fn end_short_block(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        let n_separators = match self.framing {
            Framing::Members => self.hold.n_separators(),
            Framing::Plain => 0,
        };
        let is_cut = if n_separators > 0 {
            IsCut::No
        } else {
            IsCut::Yes
        };
        self.release(n_separators);
        self.end_record(self.position, is_cut, sink);
        let what = match is_cut {
            IsCut::No => TOO_LARGE,
            IsCut::Yes => "a record is cut short",
        };
        self.emit_fault(self.position, what, sink);
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let body = &mut self.body;
        self.hold.push(bytes, |bytes| body.push(bytes));
    }

    /// Gives the bytes held back to the body, but for the last `n` of them.
    pub(super) fn release(&mut self, n: usize) {
        let held = self.hold.held();
        self.body.push(&held[..held.len().saturating_sub(n)]);
        self.hold.clear();
    }
}

fn block_of(left: u64) -> State {
    if left == 0 {
        State::Tail
    } else {
        State::Block(left)
    }
}

pub(super) fn slice_from(whole: &[u8], position: u64) -> &[u8] {
    usize::try_from(position)
        .ok()
        .and_then(|start| whole.get(start..))
        .unwrap_or_default()
}

/// How far the bytes reach that can be looked at ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// To the end of the input.
    All,
    /// Perhaps not that far.
    Part,
}

/// Where a block ends before its length says so: at the next record, if the length leads to no place where a record
/// may end. `ahead` are the bytes from the block's start on, all that there are or some of them.
fn true_end(ahead: &[u8], length: u64, reach: Reach) -> Option<u64> {
    let end = usize::try_from(length).unwrap_or(usize::MAX);
    if end > ahead.len() && reach == Reach::Part {
        return None;
    }
    let behind = ahead.get(end..);
    if behind.is_some_and(may_follow_block) {
        return None;
    }
    // The next record's first line may go beyond the end.
    let searched = &ahead[..end.saturating_add(64).min(ahead.len())];
    find_record(searched)
        .filter(|start| *start < end)
        .map(|start| start as u64)
}

/// Whether bytes read as those behind a block: its two line ends, and then the next record or nothing.
///
/// A false no costs a search of the block, and harms only a block that holds another record.
fn may_follow_block(bytes: &[u8]) -> bool {
    let ([b'\r', b'\n', b'\r', b'\n', rest @ ..] | [b'\n', b'\n', rest @ ..]) = bytes else {
        return bytes.iter().all(|byte| *byte == 0);
    };
    let n_filler = rest
        .iter()
        .take(64)
        .take_while(|byte| is_filler(**byte))
        .count();
    let rest = &rest[n_filler..];
    rest.is_empty() || n_filler == 64 || starts_with_version(rest)
}
