//! Cuts the pieces of an index into lines. Must never touch files, nor know what a line means.
//!
//! ```text
//! for each piece:
//!     find LF after LF (memchr); a line that lies in the piece is handed on as it lies there
//!     what is left waits in `carry` for the next piece, up to LINE_MAX; what is longer is counted, not kept
//!     where members end inside a line, each part that is a line by itself is one (pywb's zipnum sample has no LF there)
//!     lost bytes cut the line that is waiting
//! ```

use crate::capture::{Damage, Event, FileId, Warning};
use crate::source::Piece;

/// Longest line that is read. The longest URL of Common Crawl is below 100 kB.
pub(super) const LINE_MAX: usize = 1 << 20;

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) file: FileId,
    /// From 1.
    pub(super) number: u64,
    /// Of a plain file the line's first byte, of a compressed one its member's.
    pub(super) offset: u64,
    /// Bytes with the line end; unknown in a compressed file.
    pub(super) length: Option<u64>,
}

impl Place {
    /// Whether a byte order mark may stand here: at the start of the file.
    pub(super) fn is_first(self) -> bool {
        self.number == 1 && self.offset == 0
    }

    /// The event that names this line as lost.
    pub(super) fn damage(self, what: impl Into<String>) -> Event<'static> {
        Event::Damage(Damage {
            file: self.file,
            offset: self.offset,
            length: self.length,
            line: Some(self.number),
            what: what.into(),
        })
    }
}

/// A line without its line end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub(super) text: &'a [u8],
    pub(super) place: Place,
    /// Whether a line end followed; the last line of a cut file has none.
    pub(super) is_terminated: bool,
}

/// What a line reader does with its lines.
pub trait Parse: Default {
    /// A parser that takes for granted what this one learnt of the lines before, to start further on.
    fn further_on(&self) -> Self;

    /// A parser for the lines that follow those this one has read.
    fn next(&self) -> Self;

    /// Whether this one, made by [`further_on`](Self::further_on), has read its lines as the `next` of `before` would.
    fn follows(&self, before: &Self) -> bool;

    /// Reads a line.
    fn line(&mut self, line: Line<'_>, sink: &mut impl FnMut(Event<'_>));

    /// Whether `text` is a whole line, beyond doubt.
    fn is_whole(&mut self, text: &[u8]) -> bool;
}

/// How the bytes lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Plain,
    Members,
}

/// A file of lines, piece by piece.
#[derive(Debug)]
pub struct Reader<P> {
    lines: Lines,
    parser: P,
}

impl<P: Parse> Reader<P> {
    /// A reader of the plain input `file`.
    #[must_use]
    pub fn new(file: FileId) -> Self {
        Self {
            lines: Lines::new(file),
            parser: P::default(),
        }
    }

    /// The same for a compressed input, where the pieces' offsets are those of members.
    #[must_use]
    pub fn compressed(file: FileId) -> Self {
        let mut reader = Self::new(file);
        reader.lines.compressed();
        reader
    }

    /// A reader of a later part of the plain input, that takes for granted what this one learnt from the lines before.
    /// It counts its lines from 1.
    #[must_use]
    pub fn further_on(&self) -> Self {
        Self {
            lines: Lines::new(self.lines.file),
            parser: self.parser.further_on(),
        }
    }

    /// A reader of what follows the lines that this one has read. It counts its lines from 1.
    #[must_use]
    pub fn next(&self) -> Self {
        Self {
            lines: Lines::new(self.lines.file),
            parser: self.parser.next(),
        }
    }

    /// Whether this reader, which took something for granted, has read its lines as the [`next`](Self::next) of `before`
    /// would have.
    #[must_use]
    pub fn follows(&self, before: &Self) -> bool {
        self.parser.follows(&before.parser)
    }

    /// Lines so far.
    #[must_use]
    pub fn n_lines(&self) -> u64 {
        self.lines.n_lines
    }

    /// Reads a piece; what it completes goes to `sink`.
    pub fn push(&mut self, piece: Piece<'_>, sink: &mut impl FnMut(Event<'_>)) {
        self.lines.push(piece, &mut self.parser, sink);
    }

    /// Reads what is left when the input has ended.
    pub fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        self.lines.finish(&mut self.parser, sink);
    }
}

/// The line that is being read, over the pieces it lies in.
#[derive(Debug)]
pub(super) struct Lines {
    file: FileId,
    storage: Storage,
    carry: Vec<u8>,
    /// Bytes of the line that precede the present piece, kept or not.
    pending: u64,
    /// Where the pending line starts.
    start: u64,
    /// Lengths of `carry` at which a member ended, and where the next one starts.
    borders: Vec<(usize, u64)>,
    n_lines: u64,
}

impl Lines {
    pub(super) fn new(file: FileId) -> Self {
        Self {
            file,
            storage: Storage::Plain,
            carry: Vec::new(),
            pending: 0,
            start: 0,
            borders: Vec::new(),
            n_lines: 0,
        }
    }

    /// The offsets of pieces are those of gzip members or zstd frames.
    pub(super) fn compressed(&mut self) {
        self.storage = Storage::Members;
    }

    pub(super) fn push(
        &mut self,
        piece: Piece<'_>,
        parser: &mut impl Parse,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        match piece {
            Piece::Bytes { bytes, offset } => self.bytes(bytes, offset, parser, sink),
            Piece::MemberEnd { offset, length } => self.note_border(offset + length),
            Piece::Padding { .. } => sink(Event::Warning(Warning::ZeroPadding)),
            // Lines are never read by their first bytes.
            Piece::First { .. } | Piece::Coming(_) | Piece::Passed => {}
            Piece::Lost {
                offset,
                length,
                what,
            } => {
                sink(Event::Damage(Damage {
                    file: self.file,
                    offset,
                    length,
                    line: Some(self.n_lines + 1),
                    what: what.into(),
                }));
                self.n_lines += u64::from(self.pending > 0);
                self.forget();
            }
        }
    }

    /// Hands on the last line, if it has no line end.
    pub(super) fn finish(&mut self, parser: &mut impl Parse, sink: &mut impl FnMut(Event<'_>)) {
        if self.pending > 0 {
            self.end_line(&[], Ending::EndOfFile, parser, sink);
        }
    }

    fn bytes(
        &mut self,
        bytes: &[u8],
        offset: u64,
        parser: &mut impl Parse,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        let mut from = 0;
        for line_feed in memchr::memchr_iter(b'\n', bytes) {
            self.begin_at(offset, from);
            self.end_line(&bytes[from..line_feed], Ending::LineFeed, parser, sink);
            from = line_feed + 1;
        }
        if from < bytes.len() {
            self.begin_at(offset, from);
            self.keep(&bytes[from..]);
        }
    }

    /// A member ended inside the line. Members without content end at the same place: one border for all of them.
    fn note_border(&mut self, next_member: u64) {
        let at = self.carry.len();
        self.borders.pop_if(|(last, _)| *last == at);
        if at > 0 {
            self.borders.push((at, next_member));
        }
    }

    /// Notes where the line starts, unless it started in an earlier piece.
    fn begin_at(&mut self, offset: u64, index: usize) {
        if self.pending == 0 {
            self.start = match self.storage {
                Storage::Plain => offset + index as u64,
                Storage::Members => offset,
            };
        }
    }

    fn keep(&mut self, part: &[u8]) {
        self.pending += part.len() as u64;
        if self.pending > LINE_MAX as u64 {
            self.carry.clear();
            self.borders.clear();
        } else {
            self.carry.extend_from_slice(part);
        }
    }

    fn end_line(
        &mut self,
        last_part: &[u8],
        ending: Ending,
        parser: &mut impl Parse,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        let is_terminated = ending == Ending::LineFeed;
        let is_in_piece = self.pending == 0;
        if is_in_piece {
            self.pending = last_part.len() as u64;
        } else {
            self.keep(last_part);
            self.end_at_borders(parser, sink);
        }
        let place = self.place(ending);
        if self.pending > LINE_MAX as u64 {
            sink(place.damage(format!("line longer than {LINE_MAX} bytes, not read")));
        } else {
            let text = if is_in_piece { last_part } else { &self.carry };
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let line = Line {
                text,
                place,
                is_terminated,
            };
            parser.line(line, sink);
        }
        self.forget();
    }

    /// Hands on the parts between borders, if each is a line; the last one is left.
    fn end_at_borders(&mut self, parser: &mut impl Parse, sink: &mut impl FnMut(Event<'_>)) {
        let end = self.carry.len();
        self.borders.retain(|(border, _)| *border < end);
        if self.borders.is_empty() {
            return;
        }
        let mut from = 0;
        let ends = self.borders.iter().map(|(end, _)| *end);
        let are_lines = ends.chain([end]).all(|end| {
            let part = self.carry.get(from..end).unwrap_or(b"");
            from = end;
            parser.is_whole(part)
        });
        if !are_lines {
            return;
        }
        let mut from = 0;
        for (end, next_member) in std::mem::take(&mut self.borders) {
            let place = self.place(Ending::LineFeed);
            let line = Line {
                text: &self.carry[from..end],
                place,
                is_terminated: true,
            };
            parser.line(line, sink);
            from = end;
            self.start = next_member;
        }
        self.carry.drain(..from);
        self.pending = self.carry.len() as u64;
    }

    /// Counts the line that ends, and says where it stands.
    fn place(&mut self, ending: Ending) -> Place {
        self.n_lines += 1;
        let stored = self.pending + u64::from(ending == Ending::LineFeed);
        Place {
            file: self.file,
            number: self.n_lines,
            offset: self.start,
            length: (self.storage == Storage::Plain).then_some(stored),
        }
    }

    fn forget(&mut self) {
        self.carry.clear();
        self.borders.clear();
        self.pending = 0;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    LineFeed,
    EndOfFile,
}
