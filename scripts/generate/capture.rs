//! One planned capture: what the records will say, and what is true of it.

use super::text::Body;

/// A record that will be written, with what goes with it.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) url: String,
    /// Seconds since the epoch.
    pub(crate) time: i64,
    pub(crate) kind: Kind,
    /// 0 for what is not HTTP.
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: Body,
    pub(crate) coding: Coding,
    pub(crate) framing: Framing,
    pub(crate) declared: Declared,
    /// The body of a POST; `None` for a GET.
    pub(crate) posted: Option<String>,
    pub(crate) wholeness: Wholeness,
    pub(crate) truth: Truth,
}

/// The type of its record.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Response,
    Resource,
    /// Of a page that was captured at this URL and time.
    Revisit(Original),
}

/// What a revisit says of its original.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    pub(crate) url: String,
    pub(crate) time: i64,
    pub(crate) says: Says,
}

/// How much of it the revisit record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// The URI and the date.
    UriAndDate,
    /// The record id.
    RecordId,
    /// Nothing but the digest.
    Digest,
    /// `server-not-modified` with the URI and date.
    NotModified,
}

/// `Content-Encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// How the body lies in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    /// Chunked; the declared digest is of the payload.
    Chunked,
    /// Chunked; the declared digest is of the chunk marks too.
    ChunkedDigestOverRaw,
}

/// How `WARC-Payload-Digest` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    Sha1,
    Sha1Hex,
    Sha256,
    Absent,
    /// Another payload's.
    Wrong,
}

/// Whether all of it is stored in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wholeness {
    Whole,
    /// `WARC-Truncated: length`, and half of the body.
    Truncated,
    /// The second half is in a continuation record.
    Segmented,
}

/// What the report must say.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// Equal for URLs (and methods) that are one under `safe@1`.
    pub(crate) class: u64,
    /// Equal for captures of one page; `None` for what is in no page group.
    pub(crate) page: Option<u64>,
    /// `None` where it depends on more than the scene knows.
    pub(crate) role: Option<Role>,
    /// Why it was made.
    pub(crate) planted: String,
}

/// `role` in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Keeper,
    Duplicate,
    Version,
    Alias,
    Unjudged,
    Unique,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Keeper => "keeper",
            Self::Duplicate => "duplicate",
            Self::Version => "version",
            Self::Alias => "alias",
            Self::Unjudged => "unjudged",
            Self::Unique => "unique",
        }
    }
}

impl Capture {
    /// Equal for captures with equal payloads; `None` for those in no content group.
    pub(crate) fn content(&self) -> Option<String> {
        let id = self.body.id()?;
        match (self.wholeness, self.coding) {
            (Wholeness::Truncated, _) => None,
            (_, Coding::Identity) => Some(id.to_string()),
            (_, coding) => Some(format!("{id}-{coding:?}").to_ascii_lowercase()),
        }
    }
}
