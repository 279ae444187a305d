//! Bytes of the inputs: memory maps, sniffing, gzip members, zstd frames, resynchronisation.
//! Must never know what a URL is. Knows `error` only; the only module with `unsafe`.

pub mod fault;
mod gzip;
mod inflate;
mod input;
mod map;
mod members;
mod plain;
mod sniff;
pub mod spill;
mod zstd;

use std::io;
use std::ops::ControlFlow;

pub use input::{Input, Stream};
pub use map::Map;
pub use sniff::{Compression, Content, Format, SNIFFED, sniff};

/// A stretch of decoded bytes, or what happened between two stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Decoded bytes, never empty. The first of a member are as many as there are, or a full buffer.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
        /// Of a compressed input: offset of the member or frame they come from. Of a plain one: of the first byte.
        offset: u64,
    },
    /// A gzip member or zstd frame ended where it should.
    MemberEnd {
        /// Offset of the member in the file.
        offset: u64,
        /// Bytes of it in the file.
        length: u64,
    },
    /// Stored bytes that could not be decoded; the record being read is cut here.
    Lost {
        /// First byte lost.
        offset: u64,
        /// Bytes lost; `None` where the stream ends with it.
        length: Option<u64>,
        /// For people: lower case, no full stop.
        what: &'static str,
    },
    /// Zero bytes after a member (tape padding): no loss.
    Padding {
        /// First zero byte.
        offset: u64,
    },
}

/// Decodes inputs; holds the buffers, so one per thread, used for any number of inputs.
#[derive(Debug, Default)]
pub struct Decoder {
    inflater: Option<inflate::Inflater>,
}

impl Decoder {
    /// Hands `input` to `sink`, piece by piece, until it ends or the sink breaks off.
    ///
    /// # Errors
    ///
    /// Where the input cannot be read; a mapped one always can. What cannot be decoded is no error but
    /// [`Piece::Lost`].
    pub fn pieces(
        &mut self,
        input: &mut impl Input,
        compression: Compression,
        mut sink: impl FnMut(Piece<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let flow = match compression {
            Compression::Plain => plain::pieces(input, &mut sink),
            Compression::Gzip => {
                let inflater = self.inflater.get_or_insert_default();
                members::Members::new(input, inflater, &mut sink, 0).run()
            }
            Compression::Zstd => zstd::pieces(input, &mut sink),
        };
        match flow {
            Ok(()) | Err(Halt::Sink) => Ok(()),
            Err(Halt::Io(error)) => Err(error),
        }
    }
}

/// Why reading ends before the input does.
#[derive(Debug)]
enum Halt {
    /// The sink wants no more.
    Sink,
    /// The system does not give more.
    Io(io::Error),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Gives a piece to the sink.
fn hand(piece: Piece<'_>, sink: &mut impl FnMut(Piece<'_>) -> ControlFlow<()>) -> Result<(), Halt> {
    match sink(piece) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Halt::Sink),
    }
}
