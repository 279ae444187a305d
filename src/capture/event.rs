//! What a reader finds besides captures, and the events in which it tells of all of it.

use super::{Capture, FileId, Locator, Method, RecordType, Timestamp};

/// A part of an input that was lost, or read only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which input.
    pub file: FileId,
    /// First byte concerned, in the file as stored.
    pub offset: u64,
    /// Bytes lost in the file as stored; `None` where unknown.
    pub length: Option<u64>,
    /// Line of an index, from 1.
    pub line: Option<u64>,
    /// What happened, for people: lower case, no full stop.
    pub what: String,
}

/// Oddities that leave exit code 0; each has its own count in the summary's `warnings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Warning {
    /// Header lines that end in LF alone.
    LfLines,
    /// A header line without colon, a field given twice, a missing mandatory field.
    OddHeader,
    /// A date that cannot be read.
    BadDate,
    /// Zero bytes after the last member.
    ZeroPadding,
    /// Several records in one gzip member: no random access.
    SharedMember,
    /// Blank lines missing or too many between records.
    RecordSpacing,
    /// A declared digest that is not the payload's.
    DigestMismatch,
    /// A declared digest that cannot be compared.
    DigestUncheckable,
    /// `WARC-Truncated`.
    Truncated,
    /// A content coding that could not be decoded, or beyond the limit against bombs.
    UndecodableBody,
    /// A chunked body that has no (or broken) chunks.
    BadChunks,
    /// An index line that differs from the record it names.
    IndexDiffers,
    /// A dangling revisit.
    Dangling,
}

impl Warning {
    /// Each of them.
    pub const ALL: [Self; 13] = [
        Self::LfLines,
        Self::OddHeader,
        Self::BadDate,
        Self::ZeroPadding,
        Self::SharedMember,
        Self::RecordSpacing,
        Self::DigestMismatch,
        Self::DigestUncheckable,
        Self::Truncated,
        Self::UndecodableBody,
        Self::BadChunks,
        Self::IndexDiffers,
        Self::Dangling,
    ];

    /// The code in the summary.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::LfLines => "lf-lines",
            Self::OddHeader => "odd-header",
            Self::BadDate => "bad-date",
            Self::ZeroPadding => "zero-padding",
            Self::SharedMember => "shared-member",
            Self::RecordSpacing => "record-spacing",
            Self::DigestMismatch => "digest-mismatch",
            Self::DigestUncheckable => "digest-uncheckable",
            Self::Truncated => "truncated",
            Self::UndecodableBody => "undecodable-body",
            Self::BadChunks => "bad-chunks",
            Self::IndexDiffers => "index-differs",
            Self::Dangling => "dangling",
        }
    }
}

/// A request that was not a GET, kept to key the capture that answers it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Where it stands.
    pub locator: Locator,
    /// `WARC-Record-ID` without `<>`.
    pub record_id: &'a [u8],
    /// Every `WARC-Concurrent-To`, without `<>`, separated by a blank.
    pub concurrent_to: &'a [u8],
    /// The URI asked for.
    pub target_uri: &'a [u8],
    /// `WARC-Date`.
    pub date: Timestamp,
    /// Method and body.
    pub method: Method<'a>,
}

/// A segment of a record that was stored in several (WARC 1.1 section 7).
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Where it stands.
    pub locator: Locator,
    /// Record id of the first segment.
    pub origin_id: &'a [u8],
    /// `WARC-Segment-Number`, from 1.
    pub number: u64,
    /// `WARC-Segment-Total-Length`, on the last segment only.
    pub total_length: Option<u64>,
    /// Block bytes of this segment.
    pub block_bytes: u64,
}

/// What a reader found, in input order.
#[expect(
    clippy::large_enum_variant,
    reason = "an event is handed on at once and never stored"
)]
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A record with a readable header, or an index line; counted whether or not a capture follows.
    Record {
        /// Its `WARC-Type`.
        record_type: RecordType,
        /// Where its member, frame or (plain) header starts in the file; of an index line, the line's own place.
        offset: u64,
    },
    /// A capture. Its `locator.length` may still be unknown; `MemberEnd` then brings it.
    Capture(Capture<'a>),
    /// The ids of the requests or responses that a capture names as concurrent (`WARC-Concurrent-To`),
    /// separated by blanks; follows its `Capture`.
    ConcurrentTo(&'a [u8]),
    /// A request that was no GET.
    Request(Request<'a>),
    /// A segment, the first one included (its `Capture` comes too, with completeness `Segment`).
    Segment(Segment<'a>),
    /// The gzip member or frame in which the last records stood: its offset, length, and number of records.
    MemberEnd {
        /// Offset of the member in the file.
        offset: u64,
        /// Its length in the file.
        length: u64,
        /// Records whose header stood in it.
        n_records: u64,
    },
    /// Something was lost.
    Damage(Damage),
    /// Something was odd.
    Warning(Warning),
    /// A cdx `!meta` line, a header or comment line: read, no record.
    Ignored,
}
