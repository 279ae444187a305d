//! The reader of WARC files (WARC 0.17 to 1.1), fed with pieces of an input.
//!
//! The idea: a machine of six states, of which each takes a slice and says how much of it it used.
//!
//! ```text
//! between --"WARC/"--> header --empty line--> block --Content-Length bytes--> tail --"WARC/"--> between
//!    |                    |                     |                               |
//!    | other bytes        | no version          | no usable length              | other bytes
//!    v                    v                     v                               v
//!   lost <----------------+                  endless (to the member's end, or the next record) or lost
//! ```
//!
//! A record may lie in one piece, span many, or share one with others; its bytes are never copied, but for the fields
//! of its header that are kept. Whatever its size, memory holds one header, four bytes of the block, and what is left
//! of an HTTP header.
//!
//! What is true where a length lies: of a gzip member its end, else the next line that starts a record. Where the
//! bytes to come are at hand (a mapped file, or the rest of a piece), the length is held against what stands behind
//! the block before the block is read, so that a length too large does not swallow the records behind it. The search
//! for the true end runs over bytes of the block only, so the whole stays linear.

mod between;
mod block;
mod body;
mod coming;
mod endless;
mod header;
mod member;
mod plan;
mod record;
mod start;
mod tail;
#[cfg(test)]
mod tests;
mod trial;

pub use between::find_start;

use body::Body;
use coming::Coming;
use header::{Header, starts_with_version};
use member::Member;
use record::Record;
use tail::{Hold, Tail};
use trial::Mark;

use super::coding::Coding;
use crate::capture::{Damage, Event, FileId, Locator, Warning};
use crate::source::Piece;

/// What the pieces of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Slices of a plain file.
    Plain,
    /// Decoded gzip members or zstd frames, with their ends.
    Members,
}

/// What is done with payloads (`--digests`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum DigestMode {
    /// Hash every payload and hold it against its declared digest.
    #[default]
    Verify,
    /// One BLAKE3 per payload; declared digests are carried, not checked.
    Content,
    /// Believe the declared digests; bodies are not inflated.
    Declared,
}

/// Whether the visible text of payloads that are read is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibleText {
    /// It is not looked at.
    Skip,
    /// Of HTML and plain text.
    Hash,
}

/// How records are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is done with payloads.
    pub digests: DigestMode,
    /// Whether pages are compared by their text too.
    pub text: VisibleText,
}

/// Decoders of content codings, which cost more to make than most bodies cost to decode.
#[derive(Default)]
pub struct Codings(Coding);

impl std::fmt::Debug for Codings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codings").finish_non_exhaustive()
    }
}

/// Reads records; see the module's description.
pub struct Reader<'m> {
    file: FileId,
    framing: Framing,
    options: Options,
    /// The whole input, where it is plain and mapped.
    whole: Option<&'m [u8]>,
    state: State,
    header: Header,
    body: Body,
    hold: Hold,
    tail: Tail,
    open: Open,
    /// Bytes given up, up to where the next record starts.
    lost: Option<Lost>,
    ordinal: u64,
    /// Of the next byte: its offset in a plain file, else the number of decoded bytes before it.
    position: u64,
    member: Option<Member>,
    /// A member has ended within a record: the next one tells whether the record ended too.
    is_at_boundary: bool,
    /// The last byte taken ended a line.
    is_at_line_start: bool,
    /// The start of a line that may be a version, in a block of unknown length.
    cut_line: Vec<u8>,
    /// How it stood before the member that is on trial.
    trial: Option<Mark>,
    /// Payloads whose hash was begun.
    coming: Coming,
    /// Of decoded members: the position of the piece's first byte, and the member it is of.
    piece: (u64, u64),
    /// Of a plain input: where another reader goes on.
    limit: u64,
    stopped_at: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between records; so many bytes of the next one's prefix were seen.
    Between(usize),
    Header,
    /// In a block, with so many bytes to come.
    Block(u64),
    /// In a block of unknown length.
    Endless,
    /// Behind a block.
    Tail,
    /// In bytes that belong to no record; so many bytes of a record's prefix were seen.
    Lost(usize),
}

/// Where a record's first byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Begins {
    /// At the start of a line.
    Line,
    /// Behind other bytes of a line, or nobody knows.
    #[default]
    InLine,
}

/// The record that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// Where it starts in the file as stored.
    offset: u64,
    /// The position of its first byte.
    start: u64,
    begins: Begins,
    /// What is wrong with its length.
    fault: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
struct Lost {
    /// Where the damage starts in the file as stored.
    offset: u64,
    /// The position of the first byte that belongs to no record.
    start: u64,
    what: &'static str,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("file", &self.file)
            .field("state", &self.state)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl<'m> Reader<'m> {
    /// A reader of an input whose pieces come as `framing` says.
    #[must_use]
    pub fn new(file: FileId, framing: Framing, options: Options) -> Self {
        Self {
            file,
            framing,
            options,
            whole: None,
            state: State::Between(0),
            header: Header::new(),
            body: Body::new(),
            hold: Hold::default(),
            tail: Tail::default(),
            open: Open::default(),
            lost: None,
            ordinal: 0,
            position: 0,
            member: None,
            is_at_boundary: false,
            is_at_line_start: false,
            cut_line: Vec::new(),
            trial: None,
            coming: Coming::new(),
            piece: (0, 0),
            limit: u64::MAX,
            stopped_at: None,
        }
    }

    /// A reader of a plain file that is mapped: it can look ahead, and so finds the records that a length which is
    /// too large would swallow.
    #[must_use]
    pub fn over_map(file: FileId, whole: &'m [u8], options: Options) -> Self {
        Self {
            whole: Some(whole),
            ..Self::new(file, Framing::Plain, options)
        }
    }

    /// Exchanges the decoders that it uses: those of the reader before go on with the next one's bodies.
    pub fn swap_codings(&mut self, codings: &mut Codings) {
        std::mem::swap(self.body.coding_mut(), &mut codings.0);
    }

    /// Of a plain input: stops between records, at the first place from `limit` on.
    pub fn stop_at(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Where it stopped.
    #[must_use]
    pub fn stopped_at(&self) -> Option<u64> {
        self.stopped_at
    }

    /// Whether it stands between records, and between members: from here on, a new reader would read the same.
    #[must_use]
    pub fn is_between(&self) -> bool {
        let is_in_member = self.framing == Framing::Members && self.member.is_some();
        self.state == State::Between(0) && !is_in_member && self.lost.is_none()
    }

    /// Records so far.
    #[must_use]
    pub fn n_records(&self) -> u64 {
        self.ordinal
    }

    /// Takes a piece and tells `sink` what it brings.
    pub fn push(&mut self, piece: Piece<'_>, sink: &mut impl FnMut(Event<'_>)) {
        if let Some(mark) = self.trial.take() {
            if piece == Piece::Passed {
                return self.pass(sink);
            }
            self.go_back(mark);
        }
        match piece {
            Piece::Bytes { bytes, offset } => self.push_bytes(bytes, offset, sink),
            Piece::MemberEnd { offset, length } => self.end_member(offset, offset + length, sink),
            Piece::Lost {
                offset,
                length,
                what,
            } => {
                self.cut(sink);
                self.emit_damage(offset, length, what.to_owned(), sink);
            }
            Piece::Padding { .. } => sink(Event::Warning(Warning::ZeroPadding)),
            Piece::Coming(members) => self.coming.begin(members),
            // Without a trial there is nothing to tell of.
            Piece::First { .. } | Piece::Passed => {}
        }
    }

    /// The input has ended.
    pub fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        self.is_at_boundary = false;
        self.end_input(sink);
        self.close_member(sink);
    }

    fn push_bytes(&mut self, bytes: &[u8], offset: u64, sink: &mut impl FnMut(Event<'_>)) {
        if self.framing == Framing::Plain {
            self.position = offset;
        } else if std::mem::take(&mut self.is_at_boundary) && starts_with_version(bytes) {
            self.end_input(sink);
            self.close_member(sink);
        }
        self.piece = (self.position, offset);
        self.member.get_or_insert(Member {
            offset,
            length: 0,
            n_records: 0,
        });
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.position >= self.limit && self.is_between() {
                self.stopped_at = Some(self.position);
                return;
            }
            let taken = match self.state {
                State::Between(matched) => self.between(rest, matched, sink),
                State::Header => self.take_header(rest, sink),
                State::Block(left) => self.take_block(rest, left),
                State::Endless => self.take_endless(rest, sink),
                State::Tail => self.take_tail(rest, sink),
                State::Lost(matched) => self.seek(rest, matched),
            };
            if let Some(last) = rest[..taken].last() {
                self.is_at_line_start = *last == b'\n';
            }
            rest = &rest[taken..];
            self.position += taken as u64;
        }
    }

    /// Tells of the record that ends at `end`, blank lines included.
    fn end_record(&mut self, end: u64, is_cut: IsCut, sink: &mut impl FnMut(Event<'_>)) {
        self.body.finish();
        let length = end - self.open.start;
        Record {
            header: &self.header,
            body: &self.body,
            options: self.options,
            locator: Locator {
                file: self.file,
                ordinal: self.ordinal,
                offset: self.open.offset,
                length: self.stored_length(length),
            },
            is_cut: is_cut == IsCut::Yes,
            shares_member: self.member.is_some_and(|member| member.n_records > 0)
                && self.framing == Framing::Members,
        }
        .emit(sink);
        if self.header.is_target_uri_overlong() {
            let what = "the target URI of a record is longer than 1 MiB".to_owned();
            let length = self.stored_length(length);
            self.emit_damage(self.open.offset, length, what, sink);
        }
        self.count_record();
        self.state = State::Between(0);
    }

    fn count_record(&mut self) {
        self.ordinal += 1;
        if let Some(member) = &mut self.member {
            member.n_records += 1;
        }
    }

    fn emit_damage(
        &self,
        offset: u64,
        length: Option<u64>,
        what: String,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        sink(Event::Damage(Damage {
            file: self.file,
            offset,
            length,
            line: None,
            what,
        }));
    }

    /// Where the byte at `position` stands in the file as stored.
    fn offset_of(&self, position: u64) -> u64 {
        match (self.framing, self.member) {
            (Framing::Members, Some(member)) => member.offset,
            _ => position,
        }
    }

    /// What so many decoded bytes take in the file, where that is known.
    fn stored_length(&self, decoded: u64) -> Option<u64> {
        (self.framing == Framing::Plain).then_some(decoded)
    }
}

/// Whether a record's block is not all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IsCut {
    No,
    Yes,
}
