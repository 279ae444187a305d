//! The parts of a summary, in the order in which their fields are printed.

use std::collections::BTreeMap;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::names::{role_name, sameness_name};
use super::text::clean;
use crate::capture::Damage;
use crate::group::{self, Role, Sameness};
use crate::policy::PolicyId;

/// Counts by name. All names of a kind are there, in a fixed order or sorted.
pub type CountsByName = serde_json::Map<String, serde_json::Value>;

/// An input that was read.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Input {
    /// As given or found.
    pub path: String,
    /// What its first bytes said it is.
    pub format: &'static str,
    /// Bytes as stored.
    pub bytes: u64,
    /// Records with a readable header, or index lines.
    pub records: u64,
}

/// The policy in force.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Policy {
    name: String,
    version: String,
    id: String,
}

/// What was believed how far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ThresholdsInForce {
    /// `--digests`.
    pub digests: &'static str,
    pub(super) evidence: Vec<&'static str>,
    pub(super) keep: &'static str,
    pub(super) redirect_within_seconds: i64,
    pub(super) max_redirects: u32,
    pub(super) redirect_fan_in: u64,
    pub(super) boilerplate: u64,
}

/// Captures, groups and roles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// Records with a readable header.
    pub records: u64,
    /// Captures that are not revisits.
    pub captures: u64,
    /// Revisits.
    pub revisits: u64,
    /// Index lines that name a record among the inputs, or one that another line has named.
    pub index_lines: u64,
    /// Files of a folder that are no archives.
    pub ignored_files: u64,
    /// Target URIs, as bytes.
    pub distinct_uris: u64,
    /// Comparison keys.
    pub distinct_keys: u64,
    /// Of two captures or more.
    pub url_groups: u64,
    /// Of two captures or more.
    pub content_groups: u64,
    /// Of two captures or more.
    pub page_groups: u64,
    /// Captures and revisits by role.
    pub by_role: CountsByName,
    /// Captures and revisits by sameness.
    pub by_sameness: CountsByName,
    /// Captures and revisits by scheme of the target URI.
    pub by_scheme: BTreeMap<String, u64>,
    /// URL groups whose 2xx captures show two contents or more.
    pub urls_changed: u64,
    /// Captures with an empty payload.
    pub empty_payloads: u64,
    /// Revisits whose original is not in the input.
    pub dangling: u64,
    /// Captures with `WARC-Truncated`.
    pub truncated: u64,
    /// Contents shared by too many unrelated URLs.
    pub boilerplate_contents: u64,
    /// Equal keys with different checks.
    pub key_collisions: u64,
    /// Equal digests of different bytes.
    pub digest_collisions: u64,
    /// All pieces of damage, listed or not.
    pub damaged: u64,
    /// Captures whose key a key set of an earlier run has.
    pub seen_before: u64,
}

/// Bytes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bytes {
    /// Of the inputs, as stored.
    pub read: u64,
    /// After inflating.
    pub inflated: u64,
    /// Of payloads.
    pub payload: u64,
    /// Of duplicates that are no revisits.
    pub redundant: u64,
    /// Rows whose part in `redundant` is unknown.
    pub redundant_unknown: u64,
}

/// Declared against computed digests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Digests {
    /// Equal.
    pub ok: u64,
    /// Another payload's.
    pub mismatch: u64,
    /// None declared.
    pub absent: u64,
    /// Cannot be compared.
    pub uncheckable: u64,
    /// Bodies were not read.
    pub unchecked: u64,
    /// Equal only with the chunk marks.
    pub ok_over_raw_body: u64,
    /// Of revisits.
    pub by_reference: u64,
    /// Captures per algorithm of the digest they are compared by.
    pub algorithms: BTreeMap<&'static str, u64>,
}

/// Redirecting captures; `loops` are distinct sets of keys.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Redirects {
    pub(super) chains: u64,
    pub(super) temporary: u64,
    pub(super) loops: u64,
    pub(super) outside: u64,
    pub(super) not_http: u64,
    pub(super) limit: u64,
    pub(super) gap: u64,
    pub(super) end_not_2xx: u64,
    pub(super) fan_in: u64,
    pub(super) suspect_home: u64,
}

/// `rel=canonical`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Canonical {
    /// Captures with a claim.
    pub found: u64,
    /// Claims that agree with the content.
    pub agrees: u64,
    pub(super) conflicts: CountsByName,
}

/// How fast it was.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Throughput {
    pub(super) seconds: f64,
    pub(super) bytes_per_second: u64,
    pub(super) records_per_second: u64,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Memory {
    /// Highest figure seen, 0 where the system does not tell; mapped pages do not count.
    pub peak_anonymous: u64,
    /// The most bytes that stood on disk at once for want of memory.
    pub spilled: u64,
}

/// A part of an input that was lost, or an input that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The input as given or found.
    pub file: String,
    /// First byte concerned.
    pub offset: u64,
    /// Bytes concerned, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Of an index, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What happened.
    pub what: String,
}

/// An output.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

impl Policy {
    pub(super) fn of(id: &PolicyId) -> Self {
        Self {
            name: id.name.clone(),
            version: id.version.clone(),
            id: id.to_string(),
        }
    }

    /// `name@version`, for people.
    pub(super) fn label(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

impl std::fmt::Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, bytes) = (HumanCount(self.rows), HumanBytes(self.bytes));
        write!(f, "{}, {rows} rows, {bytes}", self.path)
    }
}

impl Counts {
    pub(super) fn set_groups(&mut self, found: &group::Counts) {
        self.distinct_uris = found.distinct_uris;
        self.distinct_keys = found.distinct_keys;
        self.url_groups = found.url_groups;
        self.content_groups = found.content_groups;
        self.page_groups = found.page_groups;
        self.by_role = by_name(ROLES.map(|role| (role_name(role), found.by_role[role as usize])));
        self.by_sameness = by_name(SAMENESSES.map(|sameness| {
            let count = found.by_sameness[sameness as usize];
            (sameness_name(sameness), count)
        }));
        self.urls_changed = found.urls_changed;
        self.empty_payloads = found.empty_payloads;
        self.dangling = found.dangling;
        self.boilerplate_contents = found.boilerplate_contents;
        self.key_collisions = found.key_collisions;
        self.digest_collisions = found.digest_collisions;
    }
}

const ROLES: [Role; 6] = [
    Role::Keeper,
    Role::Duplicate,
    Role::Version,
    Role::Alias,
    Role::Unjudged,
    Role::Unique,
];

const SAMENESSES: [Sameness; 4] = [
    Sameness::SameRecord,
    Sameness::SameUrl,
    Sameness::SameKey,
    Sameness::SamePage,
];

impl Loss {
    /// A damage of the input with this name.
    #[must_use]
    pub fn of(damage: &Damage, file_name: &[u8]) -> Self {
        Self {
            file: clean(file_name),
            offset: damage.offset,
            length: damage.length,
            line: damage.line,
            what: damage.what.clone(),
        }
    }

    /// An input that was skipped.
    #[must_use]
    pub fn skipped(file_name: &[u8], what: impl Into<String>) -> Self {
        Self {
            file: clean(file_name),
            offset: 0,
            length: None,
            line: None,
            what: what.into(),
        }
    }
}

pub(super) fn by_name(counts: impl IntoIterator<Item = (&'static str, u64)>) -> CountsByName {
    counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect()
}
