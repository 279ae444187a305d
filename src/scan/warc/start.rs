//! The start of a record: from its first byte to the end of its header.

use super::header::PREFIX;
use super::plan::{Envelope, Plan, Purpose};
use super::{Begins, Open, Reader, State, VisibleText};
use crate::capture::Event;

use super::super::fields::Step;

impl Reader<'_> {
    /// A record's prefix ended before `position`.
    pub(super) fn start_record(&mut self, position: u64, begins: Begins) {
        let start = position - PREFIX.len() as u64;
        self.open_record(start, begins);
        self.header.begin();
        self.state = State::Header;
    }

    fn open_record(&mut self, start: u64, begins: Begins) {
        self.open = Open {
            offset: self.offset_of(start),
            start,
            begins,
            fault: None,
        };
    }

    pub(super) fn take_header(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) -> usize {
        match self.header.push(bytes) {
            Step::More => bytes.len(),
            Step::NotHead(taken) => {
                self.reject();
                taken
            }
            Step::Restarts { taken, at } => {
                let start = self.open.start + at;
                if self.header.has_version() {
                    self.end_stub(start, sink);
                } else {
                    self.reject();
                }
                self.header.begin_again();
                self.open_record(start, Begins::InLine);
                self.state = State::Header;
                taken
            }
            Step::Ended(taken) => {
                if self.accept(sink) {
                    self.start_block(self.position + taken as u64, &bytes[taken..]);
                } else {
                    self.reject();
                }
                taken
            }
        }
    }

    /// A header that another record cuts, or the end of the input.
    pub(super) fn end_stub(&mut self, end: u64, sink: &mut impl FnMut(Event<'_>)) {
        if !self.accept(sink) {
            return self.reject();
        }
        let Open { offset, start, .. } = self.open;
        self.body.begin(Plan {
            envelope: Envelope::None,
            purpose: Purpose::Nothing,
            text: VisibleText::Skip,
            syntax: None,
        });
        self.emit_stub(sink);
        let length = self.stored_length(end - start);
        let what = "the header of a record is cut".to_owned();
        self.emit_damage(offset, length, what, sink);
        self.state = State::Between(0);
    }

    pub(super) fn emit_stub(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        sink(Event::Record {
            record_type: self.header.record_type(),
            offset: self.open.offset,
        });
        self.count_record();
    }
}
