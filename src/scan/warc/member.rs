//! Members and frames: where they end, and what their end says of the record that is being read.

use super::{Framing, IsCut, Reader, State};
use crate::capture::{Event, Warning};

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) offset: u64,
    /// Up to the end of its last part: a record may be stored as several members.
    pub(super) length: u64,
    pub(super) n_records: u64,
}

impl Reader<'_> {
    /// A member ended where it should; `end` is its last byte's offset and one.
    pub(super) fn end_member(&mut self, offset: u64, end: u64, sink: &mut impl FnMut(Event<'_>)) {
        let member = self.member.get_or_insert(Member {
            offset,
            length: 0,
            n_records: 0,
        });
        member.length = end - member.offset;
        match self.state {
            State::Header | State::Block(_) => self.is_at_boundary = true,
            _ => {
                self.end_input(sink);
                self.close_member(sink);
            }
        }
    }

    pub(super) fn close_member(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        let Some(member) = self.member.take() else {
            return;
        };
        if self.framing == Framing::Plain || member.n_records == 0 || member.length == 0 {
            return;
        }
        sink(Event::MemberEnd {
            offset: member.offset,
            length: member.length,
            n_records: member.n_records,
        });
        if member.n_records > 1 {
            sink(Event::Warning(Warning::SharedMember));
        }
    }

    /// Bytes that cannot be decoded come next: what is being read ends here, and not well.
    pub(super) fn cut(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        self.is_at_boundary = false;
        match self.state {
            State::Header => {
                if self.header.finish() && self.lost.is_none() {
                    self.emit_stub(sink);
                }
            }
            State::Block(_) | State::Endless | State::Tail => {
                self.feed_cut_line();
                self.release(0);
                self.end_record(self.position, IsCut::Yes, sink);
            }
            State::Between(_) | State::Lost(_) => {}
        }
        self.lost = None;
        self.member = None;
        self.state = State::Between(0);
    }
}
