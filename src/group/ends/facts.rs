//! What is known of payloads across the catalog: which declared digest names which payload, and what
//! a payload decodes to.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use super::Facts;
use crate::capture::{Completeness, DigestStatus, RecordType};
use crate::catalog::{Catalog, Row, RowFlags};

/// What digests stand for, everywhere in the catalog.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    /// Declared digests that were found to name a payload of another digest.
    named: HashMap<u128, u128>,
    /// What payloads decode to.
    decoded: HashMap<u128, u128>,
    /// Payloads of no bytes.
    empty: HashSet<u128>,
    /// Payloads that decode to nothing.
    decode_to_nothing: HashSet<u128>,
}

/// How far a declared digest is to be believed, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    Checked,
    CheckedOverRawBody,
    Stated,
}

impl Payloads {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut payloads = Self::default();
        let mut named = HashMap::new();
        let wanted: HashSet<u128> = catalog
            .rows()
            .iter()
            .filter_map(|row| {
                if names_a_payload(row) {
                    Some(own_digest(row))
                } else {
                    unchecked_digest(row)
                }
            })
            .collect();
        for row in catalog.rows() {
            if row.payload == 0 || row.record_type == RecordType::Revisit {
                continue;
            }
            if row.flags.contains(RowFlags::EMPTY) {
                payloads.empty.insert(row.payload);
            }
            if row.flags.contains(RowFlags::DECODES_TO_NOTHING) {
                payloads.decode_to_nothing.insert(row.payload);
            }
            if row.decoded != 0 && row.completeness == Completeness::Complete {
                payloads
                    .decoded
                    .entry(row.payload)
                    .and_modify(|known| *known = row.decoded.min(*known))
                    .or_insert(row.decoded);
            }
            if let Some(trust) = trust(row).filter(|_| wanted.contains(&row.declared)) {
                name(&mut named, row, trust);
            }
        }
        payloads.named = named
            .into_iter()
            .filter_map(|(declared, (_, payload))| Some((declared, payload?)))
            .filter(|(declared, payload)| declared != payload)
            .collect();
        payloads
    }

    /// The payload that `digest`, declared by an index line or revisit, names.
    pub(super) fn named_by(&self, digest: u128) -> u128 {
        self.named.get(&digest).copied().unwrap_or(digest)
    }

    /// Whether `payload` is one of no bytes.
    pub(super) fn is_empty(&self, payload: u128) -> bool {
        self.empty.contains(&payload)
    }

    /// The facts of a row by its own digests.
    pub(super) fn facts(&self, row: &Row) -> Facts {
        let is_revisit = row.record_type == RecordType::Revisit;
        let payload = if names_a_payload(row) {
            self.named_by(own_digest(row))
        } else {
            row.payload
        };
        let is_complete = is_revisit || row.completeness == Completeness::Complete;
        let is_empty = row.flags.contains(RowFlags::EMPTY)
            || is_revisit && row.flags.contains(RowFlags::DIGEST_OF_NOTHING)
            || self.is_empty(payload);
        let decodes_to_nothing = row.flags.contains(RowFlags::DECODES_TO_NOTHING)
            || self.decode_to_nothing.contains(&payload);
        let is_content = payload != 0 && !is_empty && !decodes_to_nothing;
        Facts {
            status: row.status,
            payload,
            body_hash: row.body_hash,
            decoded: match self.decoded.get(&payload) {
                Some(decoded) if is_complete => *decoded,
                _ => row.decoded,
            },
            is_empty,
            decodes_to_nothing,
            is_usable: is_content && is_complete && !row.flags.contains(RowFlags::HEAD),
        }
    }
}

/// Whether the row only names a payload, and holds none.
fn names_a_payload(row: &Row) -> bool {
    row.record_type == RecordType::Revisit || row.flags.contains(RowFlags::INDEX_LINE)
}

/// The digest an index line or revisit names its payload by.
pub(super) fn own_digest(row: &Row) -> u128 {
    if row.declared == 0 {
        row.payload
    } else {
        row.declared
    }
}

/// The declared digest of a row, where it says more than the payload's and nothing is known for or against it.
pub(super) fn unchecked_digest(row: &Row) -> Option<u128> {
    let is_judged = matches!(
        row.digest_status,
        DigestStatus::Ok | DigestStatus::OkOverRawBody | DigestStatus::Mismatch
    );
    let says_more = row.declared != 0 && row.declared != row.payload;
    (says_more && !is_judged).then_some(row.declared)
}

/// Whether the declared digest of a record whose body was read says which payload it names.
fn trust(row: &Row) -> Option<Trust> {
    if row.declared == 0 || row.flags.contains(RowFlags::INDEX_LINE) {
        return None;
    }
    match row.digest_status {
        DigestStatus::Ok => Some(Trust::Checked),
        DigestStatus::OkOverRawBody => Some(Trust::CheckedOverRawBody),
        DigestStatus::Unchecked if row.completeness == Completeness::Complete => {
            Some(Trust::Stated)
        }
        _ => None,
    }
}

/// Notes that the declared digest of `row` names its payload. The better trusted naming stands; where unchecked ones
/// disagree, none does.
fn name(named: &mut HashMap<u128, (Trust, Option<u128>)>, row: &Row, trust: Trust) {
    match named.entry(row.declared) {
        Entry::Vacant(entry) => {
            entry.insert((trust, Some(row.payload)));
        }
        Entry::Occupied(mut entry) => {
            let (known, payload) = *entry.get();
            if trust < known {
                entry.insert((trust, Some(row.payload)));
            } else if trust == known && payload != Some(row.payload) {
                let either = payload.map(|payload| payload.min(row.payload));
                let agreed = if trust == Trust::Stated { None } else { either };
                entry.insert((trust, agreed));
            }
        }
    }
}
