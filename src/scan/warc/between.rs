//! Bytes between records: blank lines, and those that belong to no record, up to where the next one starts.

use super::header::{PREFIX, starts_with_version};
use super::tail::is_filler;
use super::{Begins, Framing, Lost, Reader, State};
use crate::capture::{Event, Warning};

use std::ops::Range;

impl Reader<'_> {
    /// Passes over blank lines and NULs; other bytes are a record's, or lost.
    pub(super) fn between(
        &mut self,
        bytes: &[u8],
        matched: usize,
        sink: &mut impl FnMut(Event<'_>),
    ) -> usize {
        let blank = if matched == 0 {
            let n = bytes.iter().take_while(|byte| is_filler(**byte)).count();
            warn_of_filler(&bytes[..n], sink);
            n
        } else {
            0
        };
        let rest = &bytes[blank..];
        let n = n_matching(rest, &PREFIX[matched..]);
        if matched + n == PREFIX.len() {
            self.start_record(self.position + (blank + n) as u64, Begins::Line);
        } else if n == rest.len() {
            self.state = State::Between(matched + n);
        } else {
            let start = self.position + blank as u64 - matched as u64;
            self.lose(start, start, "bytes that belong to no record");
        }
        blank + n
    }

    /// Looks for the next record among bytes that belong to none.
    pub(super) fn seek(&mut self, bytes: &[u8], matched: usize) -> usize {
        let n = n_matching(bytes, &PREFIX[matched..]);
        if matched > 0 && matched + n == PREFIX.len() {
            self.start_record(self.position + n as u64, self.open.begins);
            return n;
        }
        if matched > 0 && n == bytes.len() {
            self.state = State::Lost(matched + n);
            return n;
        }
        if let Some(index) = memchr::memmem::find(bytes, PREFIX) {
            let end = index + PREFIX.len();
            let begins = self.begins(bytes, index);
            self.start_record(self.position + end as u64, begins);
            return end;
        }
        let partial = (1..PREFIX.len())
            .rev()
            .find(|n| bytes.ends_with(&PREFIX[..*n]));
        if let Some(n) = partial {
            self.open.begins = self.begins(bytes, bytes.len() - n);
        }
        self.state = State::Lost(partial.unwrap_or(0));
        bytes.len()
    }

    /// How a record at `index` of `bytes` begins, wherever the pieces were cut.
    pub(super) fn begins(&self, bytes: &[u8], index: usize) -> Begins {
        let is_at_line_start = match bytes[..index].last() {
            Some(last) => *last == b'\n',
            None => self.is_at_line_start,
        };
        if is_at_line_start {
            Begins::Line
        } else {
            Begins::InLine
        }
    }

    /// What looked like a record is none.
    pub(super) fn reject(&mut self) {
        let start = self.open.start;
        if self.lost.is_none() {
            self.lose(start, start, "bytes that belong to no record");
        }
        self.state = State::Lost(0);
    }

    /// Whether the header is a record's; if so, what was lost before it is told.
    pub(super) fn accept(&mut self, sink: &mut impl FnMut(Event<'_>)) -> bool {
        if self.lost.is_none() {
            return true;
        }
        if self.header.is_bare() && self.open.begins == Begins::InLine {
            return false;
        }
        self.tell_lost(self.open.start, sink);
        true
    }

    /// From here on bytes belong to no record; the damage starts at the byte at `damage`.
    pub(super) fn lose(&mut self, damage: u64, start: u64, what: &'static str) {
        self.lost = Some(Lost {
            offset: self.offset_of(damage),
            start,
            what,
        });
        self.state = State::Lost(0);
    }

    /// Tells what was lost before the byte at `end`.
    pub(super) fn tell_lost(&mut self, end: u64, sink: &mut impl FnMut(Event<'_>)) {
        let Some(lost) = self.lost.take() else { return };
        match self.framing {
            Framing::Plain => {
                let length = Some(end - lost.offset);
                self.emit_damage(lost.offset, length, lost.what.to_owned(), sink);
            }
            Framing::Members => {
                let n = end - lost.start;
                let what = format!("{} ({n} decoded bytes of this member)", lost.what);
                self.emit_damage(lost.offset, None, what, sink);
            }
        }
    }
}

/// The first place in a plain file, among `searched` of its bytes, that looks like a record's start: a version at the start
/// of a line behind a blank one.
#[must_use]
pub fn find_start(whole: &[u8], searched: Range<u64>) -> Option<u64> {
    let end = usize::try_from(searched.end).map_or(whole.len(), |end| end.min(whole.len()));
    let start = usize::try_from(searched.start)
        .ok()
        .filter(|start| *start < end)?;
    let bytes = &whole[start..whole.len().min(end + PREFIX.len() - 1)];
    memchr::memmem::find_iter(bytes, PREFIX)
        .map(|index| start + index)
        .find(|at| {
            let before = &whole[..*at];
            (before.ends_with(b"\n\r\n") || before.ends_with(b"\n\n"))
                && starts_with_version(&whole[*at..])
        })
        .map(|at| at as u64)
}

/// How many bytes at the start are the expected ones, in any case.
pub(super) fn n_matching(bytes: &[u8], expected: &[u8]) -> usize {
    bytes
        .iter()
        .zip(expected)
        .take_while(|(byte, expected)| byte.eq_ignore_ascii_case(expected))
        .count()
}

/// Blank lines where none belong, and NULs.
pub(super) fn warn_of_filler(filler: &[u8], sink: &mut impl FnMut(Event<'_>)) {
    if filler.contains(&0) {
        sink(Event::Warning(Warning::ZeroPadding));
    }
    if filler.contains(&b'\n') {
        sink(Event::Warning(Warning::RecordSpacing));
    }
}
