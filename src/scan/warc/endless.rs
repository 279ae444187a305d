//! Blocks of unknown length: they go to the next record, or to the end of the member.

use super::between::n_matching;
use super::block::{MISSING, UNUSABLE, slice_from};
use super::header::{PREFIX, find_record, starts_with_version};
use super::tail::is_filler;
use super::{Begins, Framing, IsCut, Reader, State};
use crate::capture::Event;

/// Bytes behind a piece of a map in which a version line, and the name of the field below it, ends.
const LOOK_AHEAD: usize = 32;

/// Bytes in which a version line ends.
const VERSION_MAX: usize = 16;

impl Reader<'_> {
    /// A block without known length goes to the next record.
    pub(super) fn take_endless(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) -> usize {
        if !self.cut_line.is_empty() {
            return self.go_on_in_line(bytes, sink);
        }
        // A version line may go on in the next piece.
        let ahead = match self.whole {
            Some(whole) => {
                let rest = slice_from(whole, self.position);
                &rest[..rest.len().min(bytes.len() + LOOK_AHEAD)]
            }
            None => bytes,
        };
        match find_record(ahead).filter(|index| *index < bytes.len()) {
            None => {
                let n_cut = match self.whole {
                    Some(_) => 0,
                    None => self.n_cut_version(bytes),
                };
                let (block, line) = bytes.split_at(bytes.len() - n_cut);
                self.feed(block);
                self.cut_line.extend_from_slice(line);
                bytes.len()
            }
            Some(index) => {
                self.feed(&bytes[..index]);
                self.end_endless(self.position + index as u64, IsCut::Yes, sink);
                index
            }
        }
    }

    /// How many bytes at the end of a stream's piece may be the start of a version line.
    fn n_cut_version(&self, bytes: &[u8]) -> usize {
        let from = bytes.len().saturating_sub(VERSION_MAX);
        let line = match memchr::memrchr(b'\n', &bytes[from..]) {
            Some(index) => &bytes[from + index + 1..],
            None if from == 0 && self.is_at_line_start => bytes,
            None => return 0,
        };
        if n_matching(line, PREFIX) == line.len().min(PREFIX.len()) {
            line.len()
        } else {
            0
        }
    }

    /// Takes what follows a line that may be a version, or gives that line to the block.
    fn go_on_in_line(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) -> usize {
        let n_cut = self.cut_line.len();
        let n = bytes.len().min(VERSION_MAX);
        self.cut_line.extend_from_slice(&bytes[..n]);
        let is_record = starts_with_version(&self.cut_line);
        let is_open = n == bytes.len()
            && self.cut_line.len() <= VERSION_MAX
            && memchr::memchr(b'\n', &self.cut_line).is_none();
        if !is_record && is_open {
            return n;
        }
        self.cut_line.truncate(n_cut);
        if !is_record {
            self.feed_cut_line();
            return 0;
        }
        let line = std::mem::take(&mut self.cut_line);
        let start = self.position - n_cut as u64;
        self.end_endless(start, IsCut::Yes, sink);
        match line.get(PREFIX.len()..) {
            None => self.state = State::Between(n_cut),
            Some(version) => {
                self.start_record(start + PREFIX.len() as u64, Begins::Line);
                self.header.push(version);
            }
        }
        0
    }

    /// The line that was kept back is none of a record's.
    pub(super) fn feed_cut_line(&mut self) {
        let mut line = std::mem::take(&mut self.cut_line);
        self.feed(&line);
        line.clear();
        self.cut_line = line;
    }

    /// A block of unknown length ends before `position`.
    pub(super) fn end_endless(
        &mut self,
        position: u64,
        is_cut: IsCut,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        let held = self.hold.held();
        let n_block = self.body.n_block() + held.len() as u64;
        let is_empty = n_block <= 4 && held.iter().all(|byte| is_filler(*byte));
        self.release(self.hold.n_separators());
        if self.open.fault == Some(MISSING) && is_empty {
            return self.end_record(position, IsCut::No, sink);
        }
        let is_cut = match self.framing {
            Framing::Plain => IsCut::Yes,
            Framing::Members => is_cut,
        };
        self.end_record(position, is_cut, sink);
        self.emit_fault(position, self.open.fault.unwrap_or(UNUSABLE), sink);
    }
}
