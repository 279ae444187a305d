//! Reads parts of inputs: pieces from `source`, events from a reader of `scan`, rows from [`Collector`].

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};

use super::collect::{Collector, Found};
use super::in_order::Outlet;
use super::job::{self, OnDamage};
use super::parts::{Extent, Part, Source, forced};
use super::pipeline;
use super::plan::Access;
use super::readers::{Reader, bytes_of, holds};
use super::stretch::Stretch;
use crate::key::Keyer;
use crate::policy::Policy;
use crate::scan::warc;
use crate::source::{self, Decoder, Format, Input, SNIFFED, Stream};
use crate::{Error, Result};

/// Rows of a whole input that are handed on before it is read to its end.
const ROWS_HELD: usize = 1 << 13;

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    /// What keys are made by.
    pub(super) policy: &'a Policy,
    /// What the user asked for.
    pub(super) how: &'a job::Reading,
    /// Whether the text of payloads is hashed too.
    pub(super) text: warc::VisibleText,
    /// Where whole inputs are decoded.
    pub(super) decoding: Decoding,
}

/// Where a whole input is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoding {
    /// In the thread that reads it.
    Inline,
    /// In a thread of its own: there is a core to spare.
    Apart,
}

/// Some of an input, read.
#[derive(Debug)]
pub(super) struct Outcome<'p> {
    /// Of which input.
    pub(super) source: Source<'p>,
    /// What was found.
    pub(super) read: Read,
}

/// What was found in an input, or in some of it.
#[derive(Debug)]
pub(super) enum Read {
    /// In a chunk, as it seems; `None` where nothing seems to start in it.
    Chunk(Range<u64>, Option<Box<Stretch>>),
    /// In what comes next of a whole input of a format.
    Some(Box<Found>),
    /// In the rest of it.
    Rest(Format, Box<Found>),
    /// Nothing: it was saved.
    Saved,
    /// It is of no format that can be read, or empty: what it is instead, for people.
    Skipped(&'static str),
    /// It cannot be read.
    Failed(Error),
}

impl<'a> Setting<'a> {
    /// How records of a WARC are read.
    pub(super) fn warc_options(self) -> warc::Options {
        warc::Options {
            digests: self.how.digests,
            text: self.text,
        }
    }

    /// A collector of what an input of this format holds.
    pub(super) fn collector(self, source: &Source<'_>, format: Format) -> Collector<'a> {
        Collector::new(Keyer::new(self.policy), source.file, holds(format)).over(source.inputs())
    }

    /// Whether reading ends here: at the first damage of a strict run.
    pub(super) fn is_over(self, collector: &Collector<'_>) -> bool {
        self.how.on_damage == OnDamage::Stop && collector.is_damaged()
    }
}

/// A thread that reads, with buffers of its own.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) decoder: Decoder,
    /// Decoders of content codings.
    pub(super) codings: warc::Codings,
}

impl<'a> Worker<'a> {
    /// A worker whose buffers come when they are needed.
    pub(super) fn new(setting: Setting<'a>) -> Self {
        Self {
            setting,
            decoder: Decoder::default(),
            codings: warc::Codings::default(),
        }
    }

    /// Reads a part.
    pub(super) fn read<'p>(&mut self, part: Part<'p>, outlet: &Outlet<'_, Outcome<'p>>) {
        let Part { source, extent } = part;
        let read = match extent {
            Extent::Chunk(chunk) => {
                let stretch = self.read_chunk(&source, &chunk);
                Read::Chunk(chunk, stretch.map(Box::new))
            }
            Extent::Whole => self
                .read_whole(&source, outlet)
                .unwrap_or_else(Read::Failed),
            Extent::Saved => Read::Saved,
            Extent::Nothing(error) => Read::Failed(error),
        };
        outlet.put(Outcome { source, read });
    }

    fn read_whole<'p>(
        &mut self,
        source: &Source<'p>,
        outlet: &Outlet<'_, Outcome<'p>>,
    ) -> Result<Read> {
        let path = &source.input.path;
        if let Some(mapped) = &source.mapped {
            return self.read_all(&**mapped.map, mapped.format, (source, outlet));
        }
        match source.input.access {
            Access::Stdin => self.read_stream(io::stdin(), (source, outlet)),
            Access::Pipe | Access::File => {
                let pipe = File::open(path).map_err(|error| Error::io("open", path, error))?;
                self.read_stream(pipe, (source, outlet))
            }
        }
    }

    fn read_stream<'p>(
        &mut self,
        read: impl io::Read + Send,
        place: (&Source<'p>, &Outlet<'_, Outcome<'p>>),
    ) -> Result<Read> {
        let failed = |error| Error::io("read", &place.0.input.path, error);
        let mut stream = Stream::new(read);
        let first = stream.at(0, SNIFFED).map_err(failed)?;
        // As much as of a file, however much there is.
        let first = &first[..first.len().min(SNIFFED)];
        let format = forced(source::sniff(first), self.setting.how.format);
        self.read_all(stream, format, place)
    }

    /// Reads an input from begin to end; of many rows some go to the outlet on the way.
    fn read_all<'p>(
        &mut self,
        mut input: impl Input + Send,
        format: Format,
        (source, outlet): (&Source<'p>, &Outlet<'_, Outcome<'p>>),
    ) -> Result<Read> {
        let setting = self.setting;
        let mut reader = match Reader::new(format, source.file, setting.warc_options()) {
            Ok(reader) => reader,
            Err(what) => return Ok(Read::Skipped(what)),
        };
        let mut collector = setting.collector(source, format);
        let sink = |piece: source::Piece<'_>| {
            reader.push(piece, &mut |event| collector.take(&event));
            let (stored, decoded) = bytes_of(piece, format.compression);
            collector.count_bytes(stored, decoded);
            if collector.n_rows() >= ROWS_HELD {
                let read = Read::Some(Box::new(collector.hand_over()));
                let source = source.clone();
                outlet.put(Outcome { source, read });
            }
            if setting.is_over(&collector) || outlet.is_over() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let decoded = match setting.decoding {
            Decoding::Inline => self.decoder.pieces(&mut input, format.compression, sink),
            Decoding::Apart => pipeline::pieces(input, format.compression, sink),
        };
        decoded.map_err(|error| Error::io("read", &source.input.path, error))?;
        if !setting.is_over(&collector) {
            reader.finish(&mut |event| collector.take(&event));
        }
        Ok(Read::Rest(format, Box::new(collector.hand_over())))
    }
}
