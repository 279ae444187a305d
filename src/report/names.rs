//! How reports, summary and flags spell what `group` and `capture` know.

use crate::capture::DigestStatus;
use crate::group::{Evidence, Role, Sameness};

/// `role`.
#[must_use]
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Keeper => "keeper",
        Role::Duplicate => "duplicate",
        Role::Version => "version",
        Role::Alias => "alias",
        Role::Unjudged => "unjudged",
        Role::Unique => "unique",
    }
}

/// `sameness`.
#[must_use]
pub fn sameness_name(sameness: Sameness) -> &'static str {
    match sameness {
        Sameness::SameRecord => "same-record",
        Sameness::SameUrl => "same-url",
        Sameness::SameKey => "same-key",
        Sameness::SamePage => "same-page",
    }
}

/// `evidence`, and the choices of `--evidence`.
#[must_use]
pub fn evidence_name(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Key => "key",
        Evidence::Digest => "digest",
        Evidence::Decoded => "decoded",
        Evidence::Revisit => "revisit",
        Evidence::Redirect => "redirect",
        Evidence::RedirectTemporary => "redirect-temporary",
        Evidence::Canonical => "canonical",
    }
}

/// `digest_status`.
#[must_use]
pub fn digest_status_name(status: DigestStatus) -> &'static str {
    match status {
        DigestStatus::Ok => "ok",
        DigestStatus::OkOverRawBody => "ok_over_raw_body",
        DigestStatus::Unchecked => "unchecked",
        DigestStatus::Absent => "absent",
        DigestStatus::Uncheckable => "uncheckable",
        DigestStatus::ByReference => "by_reference",
        DigestStatus::Mismatch => "mismatch",
    }
}
