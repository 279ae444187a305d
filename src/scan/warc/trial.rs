//! Members of which only the first bytes come ([`Piece::First`](crate::source::Piece::First)): read on trial, and taken back
//! unless the rest turns out to be there.

use super::{IsCut, Open, Reader, State};
use crate::capture::Event;

/// How a reader stood between records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    ordinal: u64,
    position: u64,
    is_at_line_start: bool,
}

/// Bytes behind a block.
const SEPARATORS: u64 = 4;

impl Reader<'_> {
    /// Takes the first bytes of a member on trial: how many must follow if it holds one record, of which nothing that
    /// follows is of interest. `None`, and as if nothing had come, where that cannot be said.
    pub fn try_first(&mut self, bytes: &[u8], offset: u64) -> Option<u64> {
        if !self.is_between() || self.is_at_boundary {
            return None;
        }
        let mark = Mark {
            ordinal: self.ordinal,
            position: self.position,
            is_at_line_start: self.is_at_line_start,
        };
        let mut is_odd = false;
        self.push_bytes(bytes, offset, &mut |_| is_odd = true);
        match self.state {
            State::Block(left) if !is_odd && self.is_skipping() => {
                self.trial = Some(mark);
                Some(left + SEPARATORS)
            }
            _ => {
                self.go_back(mark);
                None
            }
        }
    }

    fn is_skipping(&self) -> bool {
        self.open.fault.is_none() && self.lost.is_none() && self.body.is_skipped()
    }

    /// The trial came to nothing.
    pub(super) fn go_back(&mut self, mark: Mark) {
        self.ordinal = mark.ordinal;
        self.position = mark.position;
        self.is_at_line_start = mark.is_at_line_start;
        self.state = State::Between(0);
        self.open = Open::default();
        self.lost = None;
        self.member = None;
        self.cut_line.clear();
        self.is_at_boundary = false;
    }

    /// The rest of the record is there.
    pub(super) fn pass(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        let State::Block(left) = self.state else {
            return;
        };
        self.release(0);
        self.body.pass_over(left);
        self.position += left + SEPARATORS;
        self.end_record(self.position, IsCut::No, sink);
    }
}
