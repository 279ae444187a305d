//! What is known of a capture by its keys, beside the capture itself.

use super::RowFlags;
use crate::capture::Timestamp;
use crate::key::{ComparisonKey, Kind};

/// What a redirect's `Location` (resolved) or a revisit's reference leads to, keyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// No target.
    None,
    /// Followed by its key.
    Key(ComparisonKey),
    /// Another scheme, or nothing that can be resolved (`not-http`).
    NotHttp,
    /// User info in it (`credentials`).
    Credentials,
    /// Outside the policy's scope (`out-of-scope`).
    OutOfScope,
}

/// What keying found of one capture; given to [`Batch::push`](super::Batch::push) beside the capture.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    /// Key of the target URI, as if asked for with GET.
    pub url: ComparisonKey,
    /// What sort of URI it is.
    pub kind: Kind,
    /// Fragment route, credentials, signature.
    pub flags: RowFlags,
    /// Of a redirect: where it leads.
    pub target: Target,
    /// Of a redirect: the resolved `Location`; else empty.
    pub redirect_to: &'a [u8],
    /// Of a revisit: key of `WARC-Refers-To-Target-URI`.
    pub refers_to: Option<ComparisonKey>,
}

/// What a revisit refers to, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Hash of the record id as in [`Catalog::record_id`](super::Catalog::record_id), 0 for none.
    pub record_id: u128,
    /// Key of the URI, as if asked for with GET.
    pub key: Option<ComparisonKey>,
    /// Date of the record referred to.
    pub date: Timestamp,
}
