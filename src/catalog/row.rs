//! The fixed-width part of a capture: all that grouping needs without its text.

use super::{Keys, Target};
use crate::capture::{
    Algorithm, Capture, Completeness, DigestStatus, Payload, RecordType, Timestamp,
};
use crate::digest;
use crate::key::{ComparisonKey, Kind};

/// A row of the catalog, in input order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u32);

impl RowId {
    /// The row at an index.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a catalog in memory holds fewer than 2^32 rows"))
    }

    /// The index of the row.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Yes-or-no facts of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowFlags(u32);

impl RowFlags {
    /// Fragment that starts with `!` or `/`.
    pub const ROUTE: Self = Self(1);
    /// Non-empty user info in the target URI.
    pub const CREDENTIALS: Self = Self(1 << 1);
    /// Signature parameter in the query.
    pub const SIGNED: Self = Self(1 << 2);
    /// The policy's scope does not admit the target URI.
    pub const OUT_OF_SCOPE: Self = Self(1 << 3);
    /// An index line, not a record.
    pub const INDEX_LINE: Self = Self(1 << 4);
    /// Its gzip member holds other records too.
    pub const SHARES_MEMBER: Self = Self(1 << 5);
    /// The method is another than GET.
    pub const NOT_GET: Self = Self(1 << 6);
    /// The method is HEAD: no content evidence.
    pub const HEAD: Self = Self(1 << 7);
    /// The record has an HTTP head of its own.
    pub const HTTP_HEAD: Self = Self(1 << 8);
    /// HSTS made this redirect.
    pub const HSTS: Self = Self(1 << 9);
    /// The payload has no bytes.
    pub const EMPTY: Self = Self(1 << 10);
    /// The payload decodes to nothing.
    pub const DECODES_TO_NOTHING: Self = Self(1 << 11);
    /// The key set of `--keys-in` has its key.
    pub const SEEN_BEFORE: Self = Self(1 << 12);
    /// Its digest, declared or else computed, is that of no bytes; of a revisit, too.
    pub const DIGEST_OF_NOTHING: Self = Self(1 << 13);
    /// It states where it leads: [`Catalog::target`](super::Catalog::target) is some.
    pub const LEADS: Self = Self(1 << 14);
    /// A digest is declared and can be read.
    pub const DECLARED: Self = Self(1 << 15);
    /// The declared digest is another than `payload`.
    pub const DECLARED_DIFFERS: Self = Self(1 << 16);
    /// There is a digest after content decoding.
    pub const DECODED: Self = Self(1 << 17);
    /// There is a hash of its visible text.
    pub const TEXT: Self = Self(1 << 18);
    /// It has a content coding that could not be undone.
    pub const UNDECODABLE: Self = Self(1 << 19);
    /// Its payload digest is SHA-1, as nearly all are: this is known without the spool.
    pub const SHA1: Self = Self(1 << 20);

    /// Its key text is the target URI as found, and no rule fired on it.
    pub const VERBATIM: Self = Self(1 << 21);
    /// Its target URI is http, by TLS. Known of those that are their own key text.
    pub const HTTPS: Self = Self(1 << 22);
    /// It has a record id.
    pub const RECORD_ID: Self = Self(1 << 23);
    /// It has a `Content-Language`.
    pub const LANGUAGE: Self = Self(1 << 24);

    /// Whether all of `other` are set.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    #[must_use]
    pub fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets `other`.
    pub fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Sets `other` if `condition` holds.
    #[must_use]
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "the condition is what is asked, not a mode"
    )]
    pub fn with(self, other: Self, condition: bool) -> Self {
        if condition {
            Self(self.0 | other.0)
        } else {
            self
        }
    }
}

/// The fixed-width part of one capture. What few captures have, or few questions need, stands in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Key of target URI, method and request body.
    pub key: ComparisonKey,
    /// Identity of the payload digest (algorithm and bytes hashed), 0 for none.
    pub payload: u128,
    /// When it was captured.
    pub date: Timestamp,
    /// HTTP status, 0 for unknown.
    pub status: u16,
    /// Facts.
    pub flags: RowFlags,
    /// Response, resource, conversion or revisit.
    pub record_type: RecordType,
    /// What sort of URI it is.
    pub kind: Kind,
    /// Whether all of the payload is there.
    pub completeness: Completeness,
    /// Declared against computed digest.
    pub digest_status: DigestStatus,
}

impl Row {
    pub(super) fn new(capture: &Capture<'_>, keys: &Keys<'_>) -> Self {
        let payload = &capture.payload;
        Self {
            key: keys.url,
            payload: payload.digest.as_ref().map_or(0, digest::identity),
            date: capture.date,
            status: capture.status.unwrap_or(0),
            flags: keys
                .flags
                .with(RowFlags::INDEX_LINE, capture.is_index_line)
                .with(RowFlags::SHARES_MEMBER, capture.shares_member)
                .with(RowFlags::HEAD, capture.method.name == b"HEAD")
                .with(RowFlags::NOT_GET, !capture.method.is_get())
                .with(RowFlags::HTTP_HEAD, capture.has_http_head)
                .with(RowFlags::HSTS, capture.is_hsts)
                .with(RowFlags::EMPTY, is_empty(capture))
                .with(RowFlags::DECODES_TO_NOTHING, payload.decodes_to_nothing)
                .with(RowFlags::UNDECODABLE, payload.is_undecodable)
                .with(RowFlags::DIGEST_OF_NOTHING, names_nothing(payload))
                .with(RowFlags::LEADS, keys.target != Target::None)
                .with(RowFlags::DECLARED, payload.declared.is_some())
                .with(
                    RowFlags::DECLARED_DIFFERS,
                    payload.declared.is_some() && payload.declared != payload.digest,
                )
                .with(RowFlags::DECODED, payload.decoded.is_some())
                .with(RowFlags::TEXT, payload.text.is_some())
                .with(RowFlags::RECORD_ID, !capture.record_id.is_empty())
                .with(RowFlags::LANGUAGE, !capture.language.is_empty())
                .with(
                    RowFlags::SHA1,
                    payload
                        .digest
                        .is_some_and(|digest| digest.algorithm == Algorithm::Sha1),
                ),
            record_type: capture.record_type,
            kind: keys.kind,
            completeness: payload.completeness,
            digest_status: payload.status,
        }
    }
}

/// A payload of no bytes, by its length where it was read or else by its digest. A revisit has none of its own.
fn is_empty(capture: &Capture<'_>) -> bool {
    capture.record_type != RecordType::Revisit
        && (capture.payload.bytes == Some(0)
            && capture.payload.completeness == Completeness::Complete
            || capture
                .payload
                .digest
                .is_some_and(|digest| digest::is_of_nothing(&digest)))
}

/// Whether the digest that names the payload, declared if there is one, is that of no bytes.
fn names_nothing(payload: &Payload<'_>) -> bool {
    payload
        .declared
        .or(payload.digest)
        .is_some_and(|digest| digest::is_of_nothing(&digest))
}

/// Hash of an id, 0 for an empty one.
#[must_use]
pub(super) fn hash_or_zero(text: &[u8]) -> u128 {
    if text.is_empty() {
        0
    } else {
        xxhash_rust::xxh3::xxh3_128(text)
    }
}
