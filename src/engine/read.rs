//! Reads inputs: pieces from `source`, events from a reader of `scan`, rows from [`Collector`].

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::collect::{Collector, Found, Holds};
use super::job::{Digests, InFormat, OnDamage};
use super::plan::{self, Access};
use crate::capture::{Event, FileId};
use crate::key::Keyer;
use crate::policy::Policy;
use crate::report::Progress;
use crate::scan::{cdx, cdxj, warc};
use crate::source::{
    self, Compression, Content, Decoder, Format, Input, Map, Piece, SNIFFED, Stream,
};
use crate::{Error, Result};

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// What keys are made by.
    pub(super) policy: &'a Policy,
    /// How payloads are digested.
    pub(super) digests: Digests,
    /// Whether their text is hashed too.
    pub(super) text: warc::VisibleText,
    /// The format of every input, in place of what its first bytes say.
    pub(super) format: Option<InFormat>,
    /// What the first damage does.
    pub(super) on_damage: OnDamage,
    /// Told of bytes and records as they are read.
    pub(super) progress: &'a Progress,
}

/// What became of one input.
#[derive(Debug)]
pub(super) enum Read {
    /// It was read.
    Found(Box<Found>),
    /// It is of no format that can be read, or empty: what it is instead, for people.
    Skipped(&'static str),
}

impl Reading<'_> {
    /// Reads one input from begin to end.
    ///
    /// # Errors
    /// It changed while it was read, a stream broke off, or it is damaged and the run is strict.
    pub(super) fn read(self, input: &plan::Input, file: FileId) -> Result<Read> {
        let path = &input.path;
        match input.access {
            Access::Stdin => {
                self.read_from(Stream::new(io::stdin().lock()), Source::new(path, file))
            }
            Access::Pipe => {
                let pipe = File::open(path).map_err(|error| Error::io("open", path, error))?;
                self.read_from(Stream::new(pipe), Source::new(path, file))
            }
            Access::File => {
                let map = Map::open(path)?;
                let source = Source {
                    map: Some(&map),
                    ..Source::new(path, file)
                };
                let read = self.read_from(&*map, source)?;
                map.check_unchanged()?;
                Ok(read)
            }
        }
    }

    fn read_from(self, mut input: impl Input, source: Source<'_>) -> Result<Read> {
        let failed = |error| Error::io("read", source.path, error);
        let format = forced(
            source::sniff(input.at(0, SNIFFED).map_err(failed)?),
            self.format,
        );
        let mut reader = match Reader::new(format, source, self.warc_options()) {
            Ok(reader) => reader,
            Err(what) => return Ok(Read::Skipped(what)),
        };
        let mut collector = Collector::new(Keyer::new(self.policy), source.file, holds(format));
        let mut seen = Seen::default();
        let decoded = Decoder::default().pieces(&mut input, format.compression, |piece| {
            reader.push(piece, &mut |event| collector.take(&event));
            let (stored, inflated) = bytes_of(piece, format.compression);
            collector.count_bytes(stored, inflated);
            seen.tell(self.progress, &collector, stored);
            self.go_on(&collector)
        });
        decoded.map_err(failed)?;
        if self.go_on(&collector).is_continue() {
            reader.finish(&mut |event| collector.take(&event));
            seen.tell(self.progress, &collector, 0);
        }
        let found = collector.finish(format_name(format));
        match found.tally.damage.first() {
            Some(damage) if self.on_damage == OnDamage::Stop => {
                let what = format!(
                    "{} (--strict ends the run at the first damage)",
                    damage.what
                );
                Err(Error::failed(what).at(source.path).at_offset(damage.offset))
            }
            _ => Ok(Read::Found(Box::new(found))),
        }
    }

    /// How records of a WARC are read.
    pub(super) fn warc_options(self) -> warc::Options {
        warc::Options {
            digests: digest_mode(self.digests),
            text: self.text,
        }
    }

    fn go_on(self, collector: &Collector<'_>) -> ControlFlow<()> {
        if self.on_damage == OnDamage::Stop && collector.is_damaged() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// An input that is being read.
#[derive(Clone, Copy, Debug)]
struct Source<'a> {
    path: &'a Path,
    file: FileId,
    /// All of it, where it is mapped.
    map: Option<&'a [u8]>,
}

impl<'a> Source<'a> {
    fn new(path: &'a Path, file: FileId) -> Self {
        Self {
            path,
            file,
            map: None,
        }
    }
}

/// Records that the progress has been told of.
#[derive(Debug, Default)]
struct Seen {
    records: u64,
}

impl Seen {
    fn tell(&mut self, progress: &Progress, collector: &Collector<'_>, stored: u64) {
        let records = collector.n_records();
        progress.add(stored, records - self.records);
        self.records = records;
    }
}

/// Bytes as stored, and as decoded, that a piece stands for.
fn bytes_of(piece: Piece<'_>, compression: Compression) -> (u64, u64) {
    match (piece, compression) {
        (Piece::Bytes { bytes, .. }, Compression::Plain) => {
            (bytes.len() as u64, bytes.len() as u64)
        }
        (Piece::Bytes { bytes, .. }, _) => (0, bytes.len() as u64),
        (Piece::MemberEnd { length, .. }, _) => (length, 0),
        (Piece::Lost { length, .. }, _) => (length.unwrap_or(0), 0),
        (Piece::Padding { .. }, _) => (0, 0),
    }
}

/// What `--in-format` says in place of the first bytes; how the input is compressed is always seen.
fn forced(seen: Format, format: Option<InFormat>) -> Format {
    let content = match format {
        None => seen.content,
        Some(InFormat::Warc) => Content::Warc,
        Some(InFormat::Cdx) => Content::Cdx,
        Some(InFormat::Cdxj) => Content::Cdxj,
    };
    Format { content, ..seen }
}

fn holds(format: Format) -> Holds {
    match format.content {
        Content::Cdx | Content::Cdxj => Holds::IndexLines,
        _ => Holds::Records,
    }
}

/// As the summary names it.
fn format_name(format: Format) -> &'static str {
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

/// The reader of one input, by its format.
#[derive(Debug)]
enum Reader<'a> {
    Warc(Box<warc::Reader<'a>>),
    Cdx(Box<cdx::Reader>),
    Cdxj(Box<cdxj::Reader>),
}

impl<'a> Reader<'a> {
    fn new(
        format: Format,
        source: Source<'a>,
        options: warc::Options,
    ) -> std::result::Result<Self, &'static str> {
        match format.content {
            Content::Warc => {
                let reader = match (format.compression, source.map) {
                    (Compression::Plain, Some(map)) => {
                        warc::Reader::over_map(source.file, map, options)
                    }
                    (Compression::Plain, None) => {
                        warc::Reader::new(source.file, warc::Framing::Plain, options)
                    }
                    _ => warc::Reader::new(source.file, warc::Framing::Members, options),
                };
                Ok(Self::Warc(Box::new(reader)))
            }
            Content::Cdx => Ok(Self::Cdx(Box::new(match format.compression {
                Compression::Plain => cdx::Reader::new(source.file),
                _ => cdx::Reader::compressed(source.file),
            }))),
            Content::Cdxj => Ok(Self::Cdxj(Box::new(match format.compression {
                Compression::Plain => cdxj::Reader::new(source.file),
                _ => cdxj::Reader::compressed(source.file),
            }))),
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

    fn push(&mut self, piece: Piece<'_>, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Warc(reader) => reader.push(piece, sink),
            Self::Cdx(reader) => reader.push(piece, sink),
            Self::Cdxj(reader) => reader.push(piece, sink),
        }
    }

    fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        match self {
            Self::Warc(reader) => reader.finish(sink),
            Self::Cdx(reader) => reader.finish(sink),
            Self::Cdxj(reader) => reader.finish(sink),
        }
    }
}

fn digest_mode(digests: Digests) -> warc::DigestMode {
    match digests {
        Digests::Verify => warc::DigestMode::Verify,
        Digests::Content => warc::DigestMode::Content,
        Digests::Declared => warc::DigestMode::Declared,
    }
}
