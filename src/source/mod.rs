//! Bytes of the inputs: memory maps, sniffing, gzip members, zstd frames, resynchronisation.
//! Must never know what a URL is. Knows `error` only; the only module with `unsafe`.

mod ahead;
pub mod fault;
mod gzip;
mod inflate;
mod input;
mod map;
mod members;
mod plain;
mod skim;
mod sniff;
pub mod spill;
pub mod unnamed;
mod version;
mod zstd;

use std::io;
use std::ops::{ControlFlow, Range};

use members::Members;

pub use ahead::Coming;
pub use input::{Input, Stream};
pub use map::{Map, Pages};
pub use members::Walk;
pub use skim::Depth;
pub use sniff::{Compression, Content, Format, SNIFFED, sniff};
pub use version::Version;

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
    /// The first bytes of a member, on trial ([`Depth::Heads`]): unless [`Piece::Passed`] follows, the member comes again
    /// from its start.
    First {
        /// The bytes.
        bytes: &'a [u8],
        /// Offset of the member.
        offset: u64,
    },
    /// Decoded members ([`Depth::Ahead`]) that come next, each as one [`Piece::Bytes`] and its end.
    Coming(Coming<'a>),
    /// The rest of the member, which [`Next::Rest`] has no interest in, is there but was not decoded.
    Passed,
}

/// What the taker of a piece wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next piece.
    Piece,
    /// Of a [`Piece::First`]: to know only whether its member goes on for exactly so many bytes.
    Rest(u64),
    /// No more.
    Stop,
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
        let mut sink = |piece: Piece<'_>| match sink(piece) {
            ControlFlow::Continue(()) => Next::Piece,
            ControlFlow::Break(()) => Next::Stop,
        };
        let outcome = match compression {
            Compression::Plain => plain::pieces(input, 0, &mut sink),
            Compression::Gzip => {
                let inflater = self.inflater.get_or_insert_default();
                Members::new(input, inflater, &mut sink, Walk::starting_at(0)).run()
            }
            Compression::Zstd => zstd::pieces(input, &mut sink),
        };
        match outcome {
            Ok(()) | Err(Halt::Sink) => Ok(()),
            Err(Halt::Io(error)) => Err(error),
        }
    }

    /// Hands over the gzip members of a mapped input from where `walk` stands, until the input ends or the sink wants no
    /// more; says where the walk stands then.
    pub fn members(
        &mut self,
        mut stored: &[u8],
        walk: Walk,
        depth: Depth,
        mut sink: impl FnMut(Piece<'_>) -> Next,
    ) -> Walk {
        let inflater = self.inflater.get_or_insert_default();
        let mut members = Members::new(&mut stored, inflater, &mut sink, walk);
        members.skim(depth);
        // Halts because the sink does: a slice can always be read.
        members.run().ok();
        members.walk()
    }

    /// The first place in `range` of a mapped input at which a gzip member starts whose content starts with `prefix`.
    pub fn find_member(&mut self, stored: &[u8], range: Range<u64>, prefix: &[u8]) -> Option<u64> {
        members::find(self.inflater.get_or_insert_default(), stored, range, prefix)
    }
}

/// Hands over a mapped plain input from `start` on, until it ends or the sink wants no more. Pieces are cut at the same
/// places wherever one starts.
pub fn plain_from(mut stored: &[u8], start: u64, mut sink: impl FnMut(Piece<'_>) -> Next) {
    // Halts because the sink does: a slice can always be read.
    plain::pieces(&mut stored, start, &mut sink).ok();
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
fn hand(piece: Piece<'_>, sink: &mut impl FnMut(Piece<'_>) -> Next) -> Result<(), Halt> {
    match sink(piece) {
        Next::Piece | Next::Rest(_) => Ok(()),
        Next::Stop => Err(Halt::Sink),
    }
}
