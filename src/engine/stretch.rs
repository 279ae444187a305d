//! What one thread reads of a file that many read: from a place that looks like a start to one where a new reader can go on.
//!
//! ```text
//! for each chunk, in any thread:
//!     look for a place in it that looks like a start: a member that inflates to "WARC/", a version line, a line
//!     read on from there, as a single thread would, to the first place behind the chunk at which nothing is left over
//! for each chunk, in order (`joining`):
//!     if its reader began where the one before ended, knowing enough of what came before: what it found is what
//!         a single thread would have found
//!     else throw it away, and read from where the one before ended
//! ```
//!
//! So nothing depends on how good a guess a start is: a WARC stored in a WARC, bytes made to look like a member, a record
//! that fills ten chunks, or damage at a border cost time, never a record. What a reader must know of what came before is
//! little: how much was inflated in vain ([`Walk`]), and of an index what its lines are ([`Lines`]); its rows,
//! segments and damage count from the stretch's start, and are moved when it is joined.

use std::ops::Range;

use super::collect::{Collector, Found};
use super::parts::{Mapped, PREFIX, Source};
use super::read::Worker;
use super::readers::{Lines, bytes_of};
use crate::scan::warc::{self, DigestMode};
use crate::source::{self, Compression, Content, Depth, Next, Pages, Piece, Walk};

/// Stored bytes of a member: nearly all have fewer.
const MEMBER: u64 = 1 << 16;

/// Where a file can be read on from.
#[derive(Debug)]
pub(super) struct Border {
    walk: Walk,
    /// Of an index: the reader of the lines before.
    lines: Option<Lines>,
}

/// What was read from one border to the next.
#[derive(Debug)]
pub(super) struct Stretch {
    start: u64,
    end: Border,
    /// What was found.
    pub(super) found: Found,
    /// Records or lines: what the ordinals of the next stretch count from.
    pub(super) n_ordinals: u64,
}

impl Border {
    /// The begin of a file.
    pub(super) fn begin(mapped: &Mapped, source: &Source<'_>) -> Self {
        let has_lines = mapped.first_lines.is_some();
        Self {
            walk: Walk::starting_at(0),
            lines: has_lines.then(|| Lines::new(mapped.format, source.file)),
        }
    }

    /// Where it is.
    pub(super) fn position(&self) -> u64 {
        self.walk.position()
    }

    /// The same, to read on from.
    pub(super) fn next(&self) -> Self {
        Self {
            walk: self.walk,
            lines: self.lines.as_ref().map(Lines::next),
        }
    }

    /// Where a stretch ends, if what it holds is what stands behind this border.
    pub(super) fn behind(&self, stretch: &mut Stretch) -> Option<Self> {
        let end = &mut stretch.end;
        let walk = end.walk.behind(self.walk)?;
        let follows = match (&end.lines, &self.lines) {
            (Some(lines), Some(before)) => lines.follows(before),
            _ => true,
        };
        (stretch.start == self.position() && follows).then(|| Self {
            walk,
            lines: end.lines.take(),
        })
    }
}

impl Stretch {
    /// What was found, and where it ends: of a stretch that began at a true border.
    pub(super) fn into_parts(self) -> (Found, u64, Border) {
        (self.found, self.n_ordinals, self.end)
    }
}

impl Worker<'_> {
    /// Reads what seems to start in a chunk; `None` where nothing does.
    pub(super) fn read_chunk(
        &mut self,
        source: &Source<'_>,
        chunk: &Range<u64>,
    ) -> Option<Stretch> {
        let mapped = source.mapped.as_deref()?;
        let start = match chunk.start {
            0 => Border::begin(mapped, source),
            _ => self.find_start(mapped, chunk.clone())?,
        };
        Some(self.read_on(source, mapped, start, chunk.end))
    }

    /// Reads from `start` to the first border at or behind `limit`.
    pub(super) fn read_on(
        &mut self,
        source: &Source<'_>,
        mapped: &Mapped,
        start: Border,
        limit: u64,
    ) -> Stretch {
        let Border { walk, lines } = start;
        let mut collector = self.setting.collector(source, mapped.format);
        let (end, n_ordinals) = match (lines, mapped.format.compression) {
            (Some(lines), _) => self.read_lines(mapped, (walk, lines), limit, &mut collector),
            (None, Compression::Plain) => self.read_records(mapped, walk, limit, &mut collector),
            (None, _) => self.read_members(mapped, walk, limit, &mut collector),
        };
        Stretch {
            start: walk.position(),
            end,
            found: collector.hand_over(),
            n_ordinals,
        }
    }

    fn find_start(&mut self, mapped: &Mapped, chunk: Range<u64>) -> Option<Border> {
        let all = &mapped.map;
        let first_lines = mapped.first_lines.as_ref();
        let start = match (mapped.format.content, mapped.format.compression) {
            (Content::Warc, Compression::Plain) => warc::find_start(all, chunk)?,
            (Content::Warc, _) => self.decoder.find_member(all, chunk, PREFIX)?,
            _ => Some(behind_line(all, chunk.start)).filter(|start| *start < chunk.end)?,
        };
        Some(Border {
            walk: Walk::starting_at(start),
            lines: first_lines.map(Lines::further_on),
        })
    }

    /// Gzip members, to the first one behind the limit before which no record is open.
    fn read_members(
        &mut self,
        mapped: &Mapped,
        walk: Walk,
        limit: u64,
        collector: &mut Collector<'_>,
    ) -> (Border, u64) {
        let setting = self.setting;
        let options = setting.warc_options();
        let mut reader = warc::Reader::new(collector.file(), warc::Framing::Members, options);
        reader.swap_codings(&mut self.codings);
        let depth = match options.digests {
            DigestMode::Declared => Depth::Heads(PREFIX),
            DigestMode::Verify => Depth::Ahead(limit),
            DigestMode::Content => Depth::Whole,
        };
        let mut pages = Pages::new(&mapped.map, walk.position()..limit);
        pages.reach(walk.position() + 1);
        let mut n_tried = 0;
        let end = self.decoder.members(&mapped.map, walk, depth, |piece| {
            if let Piece::First { bytes, offset } = piece {
                n_tried = bytes.len() as u64;
                return reader
                    .try_first(bytes, offset)
                    .map_or(Next::Piece, Next::Rest);
            }
            reader.push(piece, &mut |event| collector.take(&event));
            let (stored, decoded) = bytes_of(piece, Compression::Gzip);
            collector.count_bytes(stored, decoded);
            let position = match piece {
                Piece::MemberEnd { offset, length } => offset + length,
                Piece::Lost { offset, length, .. } => offset + length.unwrap_or(0),
                Piece::Passed => {
                    collector.count_bytes(0, n_tried);
                    0
                }
                _ => 0,
            };
            pages.reach(position + MEMBER);
            if position >= limit && reader.is_between() || setting.is_over(collector) {
                Next::Stop
            } else {
                Next::Piece
            }
        });
        pages.leave(end.position());
        // At the end, unless it stopped there: then it stands between records, and has nothing to tell.
        if end.position() >= mapped.map.len() as u64 && !setting.is_over(collector) {
            reader.finish(&mut |event| collector.take(&event));
        }
        reader.swap_codings(&mut self.codings);
        let border = Border {
            walk: end,
            lines: None,
        };
        (border, reader.n_records())
    }

    /// Plain records, to the first one behind the limit.
    fn read_records(
        &mut self,
        mapped: &Mapped,
        walk: Walk,
        limit: u64,
        collector: &mut Collector<'_>,
    ) -> (Border, u64) {
        let setting = self.setting;
        let options = setting.warc_options();
        let mut reader = warc::Reader::over_map(collector.file(), &mapped.map, options);
        reader.swap_codings(&mut self.codings);
        reader.stop_at(limit);
        let mut pages = Pages::new(&mapped.map, walk.position()..limit);
        source::plain_from(&mapped.map, walk.position(), |piece| {
            // Where bodies are passed over, most pages are not read.
            if options.digests != DigestMode::Declared {
                pages.reach(end_of(piece));
            }
            reader.push(piece, &mut |event| collector.take(&event));
            if reader.stopped_at().is_some() || setting.is_over(collector) {
                Next::Stop
            } else {
                Next::Piece
            }
        });
        let end = reader.stopped_at().unwrap_or(mapped.map.len() as u64);
        if reader.stopped_at().is_none() && !setting.is_over(collector) {
            reader.finish(&mut |event| collector.take(&event));
        }
        reader.swap_codings(&mut self.codings);
        pages.leave(end);
        let n_bytes = end - walk.position();
        collector.count_bytes(n_bytes, n_bytes);
        let border = Border {
            walk: Walk::starting_at(end),
            lines: None,
        };
        (border, reader.n_records())
    }

    /// Lines, to the first one behind the limit.
    fn read_lines(
        &mut self,
        mapped: &Mapped,
        (walk, mut lines): (Walk, Lines),
        limit: u64,
        collector: &mut Collector<'_>,
    ) -> (Border, u64) {
        let setting = self.setting;
        let all = &mapped.map;
        let (start, end) = (walk.position(), behind_line(all, limit));
        let read = usize::try_from(end).map_or(&all[..], |end| &all[..end]);
        let mut pages = Pages::new(all, start..end);
        source::plain_from(read, start, |piece| {
            pages.reach(end_of(piece));
            lines.push(piece, &mut |event| collector.take(&event));
            if setting.is_over(collector) {
                Next::Stop
            } else {
                Next::Piece
            }
        });
        if end == all.len() as u64 && !setting.is_over(collector) {
            lines.finish(&mut |event| collector.take(&event));
        }
        collector.count_bytes(end.saturating_sub(start), end.saturating_sub(start));
        let n_lines = lines.n_lines();
        let border = Border {
            walk: Walk::starting_at(end),
            lines: Some(lines),
        };
        (border, n_lines)
    }
}

/// Where a piece of a plain file ends.
fn end_of(piece: Piece<'_>) -> u64 {
    match piece {
        Piece::Bytes { bytes, offset } => offset + bytes.len() as u64,
        _ => 0,
    }
}

/// Where the first line starts that does so at `position` or behind it; the end, if none does.
fn behind_line(all: &[u8], position: u64) -> u64 {
    let from = usize::try_from(position).map_or(all.len(), |position| position.min(all.len()));
    if from == 0 {
        return 0;
    }
    let line_feed = memchr::memchr(b'\n', &all[from - 1..]);
    line_feed.map_or(all.len(), |index| from + index) as u64
}
