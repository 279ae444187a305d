//! Plain data: what one record of an archive says, as borrowed bytes. A leaf: it imports nothing of this crate.

mod event;
mod payload;
mod timestamp;

pub use event::{Damage, Event, Request, Segment, Warning};
pub use payload::{Algorithm, Completeness, Digest, DigestStatus, Payload};
pub use timestamp::Timestamp;

/// An input file, by its place in the reading plan (0 is the first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// The input that was read.
    pub file: FileId,
    /// The record's ordinal in that input, from 0; of an index, the line's.
    pub ordinal: u64,
    /// Byte offset of the gzip member, zstd frame or plain record; of an index line, the one it states.
    pub offset: u64,
    /// Bytes of that member or record; of an index line, the one it states. `None`: unknown.
    pub length: Option<u64>,
}

/// `WARC-Type`, WARC 1.1 section 5.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordType {
    /// A server's answer.
    Response,
    /// A resource without protocol envelope.
    Resource,
    /// Another form of another record's content (WET text).
    Conversion,
    /// A capture whose content was stored earlier.
    Revisit,
    /// What the crawler sent.
    Request,
    /// Remarks about another record.
    Metadata,
    /// Remarks about the archive.
    Warcinfo,
    /// A further segment of a record.
    Continuation,
    /// Any other, or none.
    Other,
}

impl RecordType {
    /// Whether records of this type are captures, and so are deduped.
    #[must_use]
    pub fn is_capture(self) -> bool {
        matches!(
            self,
            Self::Response | Self::Resource | Self::Conversion | Self::Revisit
        )
    }

    /// The name in `WARC-Type`, lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Resource => "resource",
            Self::Conversion => "conversion",
            Self::Revisit => "revisit",
            Self::Request => "request",
            Self::Metadata => "metadata",
            Self::Warcinfo => "warcinfo",
            Self::Continuation => "continuation",
            Self::Other => "other",
        }
    }
}

/// What a revisit refers to (WARC 1.1 section 6.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefersTo<'a> {
    /// `WARC-Refers-To`, without `<>`.
    pub record_id: &'a [u8],
    /// `WARC-Refers-To-Target-URI`.
    pub target_uri: &'a [u8],
    /// `WARC-Refers-To-Date`.
    pub date: Timestamp,
}

/// How a capture was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'a> {
    /// Upper case; `GET` unless something says otherwise.
    pub name: &'a [u8],
    /// Hash of the request body (XXH3-128), 0 for none.
    pub body_hash: u128,
}

impl Method<'_> {
    /// The method of a capture of which nothing else is known.
    pub const GET: Method<'static> = Method {
        name: b"GET",
        body_hash: 0,
    };

    /// Whether nothing says that it was another than GET.
    #[must_use]
    pub fn is_get(&self) -> bool {
        matches!(self.name, b"" | b"GET")
    }
}

/// A response, resource, conversion or revisit with a target URI, or the index line of one.
///
/// Empty slices mean absent. All text is as found, but for `<>` around URIs and ids.
#[expect(
    clippy::struct_excessive_bools,
    reason = "four facts that have nothing to do with each other"
)]
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// Where it stands.
    pub locator: Locator,
    /// Response, resource, conversion or revisit.
    pub record_type: RecordType,
    /// `WARC-Target-URI`, or the original URL of an index line.
    pub target_uri: &'a [u8],
    /// `WARC-Record-ID` without `<>`.
    pub record_id: &'a [u8],
    /// `WARC-Date`, or the line's timestamp.
    pub date: Timestamp,
    /// As known from the record or line itself; the concurrent request may say more.
    pub method: Method<'a>,
    /// HTTP status; `None` for unknown or not HTTP.
    pub status: Option<u16>,
    /// Whether the block holds (or a line states) an HTTP head of its own; `false` for a revisit without block.
    pub has_http_head: bool,
    /// Media type as found: the HTTP header's, else the record's, else the line's.
    pub mime: &'a [u8],
    /// `Content-Language`.
    pub language: &'a [u8],
    /// `Location` as found (or a line's redirect column), of a 3xx; else empty.
    pub location: &'a [u8],
    /// `Non-Authoritative-Reason: HSTS`: makes a 307 permanent.
    pub is_hsts: bool,
    /// The payload.
    pub payload: Payload<'a>,
    /// `WARC-Truncated` as found.
    pub truncated: &'a [u8],
    /// What a revisit refers to; default for others.
    pub refers_to: RefersTo<'a>,
    /// `WARC-Profile` of a revisit, raw.
    pub profile: &'a [u8],
    /// Whether its member holds other records too, so that `locator.length` is not its own cost.
    pub shares_member: bool,
    /// Of an index line: the file name it states (as written). Empty for a record.
    pub stated_file: &'a [u8],
    /// Whether this is an index line and not a record.
    pub is_index_line: bool,
}
