//! What is known of payloads across the catalog: which declared digest names which payload, and what
//! a payload decodes to.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::Facts;
use crate::capture::{Completeness, DigestStatus, RecordType};
use crate::catalog::{Catalog, Row, RowFlags, RowId};

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
    /// Digests that index lines and revisits declare, where these are not what their rows have.
    own: HashMap<RowId, u128>,
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
        let noteworthy = RowFlags::DECLARED_DIFFERS
            .with(RowFlags::EMPTY, true)
            .with(RowFlags::DECODES_TO_NOTHING, true)
            .with(RowFlags::DECODED, true);
        let noted: Vec<RowId> = catalog
            .par_ids()
            .filter(|id| catalog.row(*id).flags.has_any(noteworthy))
            .collect();
        for id in noted {
            let row = catalog.row(id);
            let differs = row.flags.contains(RowFlags::DECLARED_DIFFERS);
            if differs && names_a_payload(&row) {
                payloads.own.insert(id, own_digest(catalog, id));
            }
            if row.payload != 0 && row.record_type != RecordType::Revisit {
                payloads.note(&row, catalog.decoded(id));
            }
        }
        payloads.named = named(catalog);
        payloads
    }

    /// The digests by which a revisit may find a row: its payload's, and the declared one where that was not checked.
    /// 0 for none; never the same twice.
    pub(super) fn digests(&self, catalog: &Catalog, id: RowId) -> [u128; 2] {
        let row = catalog.row(id);
        if !row.flags.contains(RowFlags::DECLARED_DIFFERS) && self.named.is_empty() {
            debug_assert_eq!(self.facts(id, &row).payload, row.payload);
            debug_assert_eq!(unchecked_digest(catalog, id), None);
            return [row.payload, 0];
        }
        let payload = self.facts(id, &row).payload;
        let declared = match unchecked_digest(catalog, id) {
            // It names this payload, or none that is agreed on.
            Some(declared) if trust(&row).is_some() => declared,
            Some(declared) => self.named_by(declared),
            None => 0,
        };
        [payload, if declared == payload { 0 } else { declared }]
    }

    /// Whether it is known of any payload what it decodes to.
    pub(super) fn has_decoded(&self) -> bool {
        !self.decoded.is_empty()
    }

    /// Notes what the payload of a row is, and what it decodes to (0 for unknown).
    fn note(&mut self, row: &Row, decoded: u128) {
        if row.flags.contains(RowFlags::EMPTY) {
            self.empty.insert(row.payload);
        }
        if row.flags.contains(RowFlags::DECODES_TO_NOTHING) {
            self.decode_to_nothing.insert(row.payload);
        }
        if decoded != 0 && row.completeness == Completeness::Complete {
            self.decoded
                .entry(row.payload)
                .and_modify(|known| *known = decoded.min(*known))
                .or_insert(decoded);
        }
    }

    /// The payload that `digest`, declared by an index line or revisit, names.
    pub(super) fn named_by(&self, digest: u128) -> u128 {
        self.named.get(&digest).copied().unwrap_or(digest)
    }

    /// Whether `payload` is one of no bytes.
    pub(super) fn is_empty(&self, payload: u128) -> bool {
        self.empty.contains(&payload)
    }

    /// Whether the facts of a row are those that stand in it, of a payload that is usable.
    pub(super) fn are_ordinary(&self, id: RowId, row: &Row) -> bool {
        row.record_type != RecordType::Revisit && self.facts(id, row) == Facts::ordinary(row)
    }

    /// The facts of a row by its own digests.
    pub(super) fn facts(&self, id: RowId, row: &Row) -> Facts {
        let is_revisit = row.record_type == RecordType::Revisit;
        let payload = if names_a_payload(row) {
            let own = self.own.get(&id).copied();
            self.named_by(own.unwrap_or(row.payload))
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
            decoded: match self.decoded.get(&payload) {
                Some(decoded) if is_complete => *decoded,
                _ => 0,
            },
            is_empty,
            decodes_to_nothing,
            is_usable: is_content && is_complete && !row.flags.contains(RowFlags::HEAD),
        }
    }
}

/// Declared digests that name a payload of another digest, as far as a row is known by them.
fn named(catalog: &Catalog) -> HashMap<u128, u128> {
    let names_another =
        |row: &Row| row.flags.contains(RowFlags::DECLARED_DIFFERS) && trust(row).is_some();
    if !catalog
        .par_ids()
        .any(|row| names_another(&catalog.row(row)))
    {
        return HashMap::new();
    }
    let wanted: HashSet<u128> = catalog
        .ids()
        .filter_map(|row| {
            let fixed = catalog.row(row);
            if names_a_payload(&fixed) {
                Some(own_digest(catalog, row))
            } else {
                unchecked_digest(catalog, row).filter(|_| trust(&fixed).is_none())
            }
        })
        .collect();
    let mut named = HashMap::new();
    for id in catalog.ids() {
        let row = catalog.row(id);
        if let Some(trust) = trust(&row) {
            let declared = catalog.declared(id);
            if wanted.contains(&declared) {
                name(&mut named, declared, (trust, row.payload));
            }
        }
    }
    named
        .into_iter()
        .filter_map(|(declared, (_, payload))| Some((declared, payload?)))
        .filter(|(declared, payload)| declared != payload)
        .collect()
}

/// Whether the row only names a payload, and holds none.
fn names_a_payload(row: &Row) -> bool {
    row.record_type == RecordType::Revisit || row.flags.contains(RowFlags::INDEX_LINE)
}

/// The digest an index line or revisit names its payload by.
pub(super) fn own_digest(catalog: &Catalog, row: RowId) -> u128 {
    match catalog.declared(row) {
        0 => catalog.row(row).payload,
        declared => declared,
    }
}

/// The declared digest of a row, where it says more than the payload's and nothing is known for or against it.
fn unchecked_digest(catalog: &Catalog, row: RowId) -> Option<u128> {
    let fixed = catalog.row(row);
    let is_judged = matches!(
        fixed.digest_status,
        DigestStatus::Ok | DigestStatus::OkOverRawBody | DigestStatus::Mismatch
    );
    let says_more = fixed.flags.contains(RowFlags::DECLARED_DIFFERS);
    (says_more && !is_judged).then(|| catalog.declared(row))
}

/// Whether the declared digest of a record whose body was read says which payload it names.
fn trust(row: &Row) -> Option<Trust> {
    if names_a_payload(row) || row.payload == 0 || !row.flags.contains(RowFlags::DECLARED) {
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

/// Notes that `declared` names a payload. The better trusted naming stands; where unchecked ones disagree, none does.
fn name(
    named: &mut HashMap<u128, (Trust, Option<u128>)>,
    declared: u128,
    (trust, payload): (Trust, u128),
) {
    match named.entry(declared) {
        Entry::Vacant(entry) => {
            entry.insert((trust, Some(payload)));
        }
        Entry::Occupied(mut entry) => {
            let (known, agreed) = *entry.get();
            if trust < known {
                entry.insert((trust, Some(payload)));
            } else if trust == known && agreed != Some(payload) {
                let either = agreed.map(|agreed| agreed.min(payload));
                let agreed = if trust == Trust::Stated { None } else { either };
                entry.insert((trust, agreed));
            }
        }
    }
}
