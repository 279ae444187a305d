//! Bytes of the inputs: memory maps, sniffing, gzip members, zstd frames, resynchronisation.
//! Must never know what a URL is.

/// A stretch of decoded bytes, or what happened between two stretches.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Decoded bytes, never empty.
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
