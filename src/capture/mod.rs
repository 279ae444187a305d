//! Plain data: what one record of an archive says, as borrowed bytes. A leaf: it imports nothing of this crate.

mod timestamp;

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

/// Whether the stored payload is the whole payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Completeness {
    /// All of it.
    Complete,
    /// `WARC-Truncated`: the crawler stopped, or (of a revisit) left the body off.
    Truncated,
    /// The record ends before its Content-Length says so, or its bytes are damaged.
    Cut,
    /// Status 206 with a part of the resource.
    Partial,
    /// One of several segments, not all of which are in the input.
    Segment,
}

/// How a declared payload digest stands to the computed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestStatus {
    /// Equal to the computed digest of the payload.
    Ok,
    /// Equal only if the transfer coding (chunk marks) is hashed too.
    OkOverRawBody,
    /// Not compared: bodies were not read.
    Unchecked,
    /// None declared.
    Absent,
    /// Cannot be compared: unknown algorithm, impossible value, cut payload, foreign protocol.
    Uncheckable,
    /// A revisit's: it names the payload of another record.
    ByReference,
    /// Another payload's.
    Mismatch,
}

/// A payload digest: algorithm and bytes, compared as bytes whatever the text was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The hash function.
    pub algorithm: Algorithm,
    len: u8,
    bytes: [u8; 64],
}

/// Hash functions seen in `WARC-Payload-Digest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// 20 bytes; the field's own.
    Sha1,
    /// 32 bytes.
    Sha256,
    /// 64 bytes.
    Sha512,
    /// 16 bytes.
    Md5,
    /// 32 bytes; `--digests content`.
    Blake3,
}

impl Algorithm {
    /// Length of a digest in bytes.
    #[must_use]
    pub fn digest_len(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha512 => 64,
        }
    }

    /// The label, without dash, as reports print it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Md5 => "md5",
            Self::Blake3 => "blake3",
        }
    }
}

impl Digest {
    /// A digest of `bytes`, which must have the algorithm's length (else `None`).
    #[must_use]
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        let mut own = [0; 64];
        if bytes.len() != algorithm.digest_len() {
            return None;
        }
        own[..bytes.len()].copy_from_slice(bytes);
        Some(Self {
            algorithm,
            len: u8::try_from(bytes.len()).ok()?,
            bytes: own,
        })
    }

    /// The digest's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.algorithm.label())?;
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What is known of a capture's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    /// Length in bytes, after transfer decoding; `None` where no body was read and none is stated.
    pub bytes: Option<u64>,
    /// Computed where bodies are read, else declared. SHA-1 in `verify`, BLAKE3 in `content`.
    /// `None` for an unreadable or absent digest.
    pub digest: Option<Digest>,
    /// XXH3-128 of the payload where it was read; SHA-1 can be forged.
    pub body_hash: Option<u128>,
    /// Digest after content decoding, where there was a content coding and it could be decoded.
    pub decoded: Option<Digest>,
    /// Whether the payload decodes to nothing.
    pub decodes_to_nothing: bool,
    /// The declared digest as written (label included), empty for none.
    pub declared_text: &'a [u8],
    /// The declared digest, where its text can be read.
    pub declared: Option<Digest>,
    /// The one against the other.
    pub status: DigestStatus,
    /// Whether all of it is there.
    pub completeness: Completeness,
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
    /// Whether the record has the content of its member to itself, so that `locator.length` is its cost.
    pub shares_member: bool,
    /// Of an index line: the file name it states (as written). Empty for a record.
    pub stated_file: &'a [u8],
    /// Whether this is an index line and not a record.
    pub is_index_line: bool,
}

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
