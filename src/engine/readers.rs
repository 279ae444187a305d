//! The reader of an input, by its format.

use super::collect::Holds;
use crate::capture::{Event, FileId};
use crate::scan::{cdx, cdxj, warc};
use crate::source::{Compression, Content, Format, Piece};

/// Bytes at the start of an index that say of what sort its lines are.
const FIRST_LINES: usize = 1 << 16;

/// The reader of one input.
#[derive(Debug)]
pub(super) enum Reader {
    /// Of records.
    Warc(Box<warc::Reader<'static>>),
    /// Of lines.
    Lines(Lines),
}

/// The reader of an index.
#[derive(Debug)]
pub(super) enum Lines {
    /// Of CDX.
    Cdx(Box<cdx::Reader>),
    /// Of CDXJ.
    Cdxj(Box<cdxj::Reader>),
}

impl Reader {
    /// A reader of all of an input; `Err` says what it is, if it cannot be read.
    pub(super) fn new(
        format: Format,
        file: FileId,
        options: warc::Options,
    ) -> Result<Self, &'static str> {
        match format.content {
            Content::Warc => {
                let framing = match format.compression {
                    Compression::Plain => warc::Framing::Plain,
                    Compression::Gzip | Compression::Zstd => warc::Framing::Members,
                };
                let reader = warc::Reader::new(file, framing, options);
                Ok(Self::Warc(Box::new(reader)))
            }
            Content::Cdx | Content::Cdxj => Ok(Self::Lines(Lines::new(format, file))),
            Content::Arc => {
                Err("is ARC, the format before WARC, which is not read: convert it to WARC first")
            }
            Content::Zip => {
                Err("is a zip archive (WACZ?): unpack it and give the WARC or CDXJ files in it")
            }
            Content::Empty => Err("is empty"),
            Content::Unknown => {
                Err("is no WARC, CDX or CDXJ, by its first bytes (--in-format forces one)")
            }
        }
    }

    pub(super) fn push(&mut self, piece: Piece<'_>, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Warc(reader) => reader.push(piece, sink),
            Self::Lines(lines) => lines.push(piece, sink),
        }
    }

    pub(super) fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Warc(reader) => reader.finish(sink),
            Self::Lines(lines) => lines.finish(sink),
        }
    }
}

impl Lines {
    /// A reader of an index from its begin.
    pub(super) fn new(format: Format, file: FileId) -> Self {
        match (format.content, format.compression) {
            (Content::Cdxj, Compression::Plain) => Self::Cdxj(Box::new(cdxj::Reader::new(file))),
            (Content::Cdxj, _) => Self::Cdxj(Box::new(cdxj::Reader::compressed(file))),
            (_, Compression::Plain) => Self::Cdx(Box::new(cdx::Reader::new(file))),
            _ => Self::Cdx(Box::new(cdx::Reader::compressed(file))),
        }
    }

    /// A reader that has read the first whole lines of a plain index.
    pub(super) fn of_first(format: Format, file: FileId, all: &[u8]) -> Self {
        let first = &all[..all.len().min(FIRST_LINES)];
        let end = memchr::memrchr(b'\n', first).map_or(0, |at| at + 1);
        let mut lines = Self::new(format, file);
        if end > 0 {
            let bytes = &first[..end];
            lines.push(Piece::Bytes { bytes, offset: 0 }, &mut |_| {});
        }
        lines
    }

    /// See [`cdx::Reader`].
    pub(super) fn further_on(&self) -> Self {
        match self {
            Self::Cdx(reader) => Self::Cdx(Box::new(reader.further_on())),
            Self::Cdxj(reader) => Self::Cdxj(Box::new(reader.further_on())),
        }
    }

    /// See [`cdx::Reader`].
    pub(super) fn next(&self) -> Self {
        match self {
            Self::Cdx(reader) => Self::Cdx(Box::new(reader.next())),
            Self::Cdxj(reader) => Self::Cdxj(Box::new(reader.next())),
        }
    }

    /// See [`cdx::Reader`].
    pub(super) fn follows(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::Cdx(reader), Self::Cdx(before)) => reader.follows(before),
            (Self::Cdxj(reader), Self::Cdxj(before)) => reader.follows(before),
            _ => false,
        }
    }

    /// Lines so far.
    pub(super) fn n_lines(&self) -> u64 {
        match self {
            Self::Cdx(reader) => reader.n_lines(),
            Self::Cdxj(reader) => reader.n_lines(),
        }
    }

    pub(super) fn push(&mut self, piece: Piece<'_>, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Cdx(reader) => reader.push(piece, sink),
            Self::Cdxj(reader) => reader.push(piece, sink),
        }
    }

    pub(super) fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Cdx(reader) => reader.finish(sink),
            Self::Cdxj(reader) => reader.finish(sink),
        }
    }
}

/// What an input of this format holds.
pub(super) fn holds(format: Format) -> Holds {
    match format.content {
        Content::Cdx | Content::Cdxj => Holds::IndexLines,
        _ => Holds::Records,
    }
}

/// As the summary names it.
pub(super) fn format_name(format: Format) -> &'static str {
    match (format.content, format.compression) {
        (Content::Warc, Compression::Plain) => "warc",
        (Content::Warc, Compression::Gzip) => "warc.gz",
        (Content::Warc, Compression::Zstd) => "warc.zst",
        (Content::Cdx, Compression::Plain) => "cdx",
        (Content::Cdx, Compression::Gzip) => "cdx.gz",
        (Content::Cdx, Compression::Zstd) => "cdx.zst",
        (Content::Cdxj, Compression::Plain) => "cdxj",
        (Content::Cdxj, Compression::Gzip) => "cdxj.gz",
        (Content::Cdxj, Compression::Zstd) => "cdxj.zst",
        _ => "unknown",
    }
}

/// Bytes as stored, and as decoded, that a piece stands for.
pub(super) fn bytes_of(piece: Piece<'_>, compression: Compression) -> (u64, u64) {
    match (piece, compression) {
        (Piece::Bytes { bytes, .. }, Compression::Plain) => {
            (bytes.len() as u64, bytes.len() as u64)
        }
        (Piece::Bytes { bytes, .. }, _) => (0, bytes.len() as u64),
        (Piece::MemberEnd { length, .. }, _) => (length, 0),
        (Piece::Lost { length, .. }, _) => (length.unwrap_or(0), 0),
        (Piece::Padding { .. } | Piece::First { .. } | Piece::Coming(_) | Piece::Passed, _) => {
            (0, 0)
        }
    }
}
