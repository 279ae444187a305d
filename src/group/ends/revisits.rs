//! What revisits refer to, in the order of design "The end of a capture": record id; else target URI and
//! date; else digest and URI; else digest alone; else nothing.
//!
//! A digest leads to a capture that holds a payload, never to another revisit: it would lead nowhere that its own
//! digest does not, and a URL revisited a thousand times would be a chain of a thousand. For the same reason a revisit
//! of a revisit leads straight to the original of both, unless that one has a Location or a scope of its own.

use hashbrown::HashSet;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::facts::{Payloads, own_digest};
use super::forest::Forest;
use super::nearest::{Place, Places};
use super::redirects::is_redirect;
use super::subset::Subset;
use super::wanted::Wanted;
use crate::capture::{Completeness, RecordType, Timestamp};
use crate::catalog::{Catalog, Reference, Row, RowFlags, RowId};
use crate::key::ComparisonKey;

/// The revisits of a catalog, resolved.
#[derive(Debug)]
pub(super) struct Revisits {
    rows: Subset,
    resolved: Vec<Resolved>,
}

/// One revisit, resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    /// What it refers to; `None` for a dangling one.
    pub(super) referred: Option<RowId>,
    /// Where it leads: what it refers to, or what the revisits in between lead to.
    pub(super) original: Option<RowId>,
    /// The capture whose payload, digest and mime are its own.
    pub(super) content: RowId,
    /// The capture whose status, Location and language are its own.
    pub(super) head: RowId,
}

impl Revisits {
    pub(super) fn of(catalog: &Catalog, payloads: &Payloads) -> Self {
        let rows = Subset::of(catalog.len(), |row| {
            catalog.row(row).record_type == RecordType::Revisit
        });
        let mut originals = Originals::find(catalog, payloads, rows.members());
        let next: Vec<Option<u32>> = originals
            .iter()
            .map(|original| original.and_then(|row| slot(&rows, row)))
            .collect();
        let forest = Forest::of(&next);
        for node in forest.cycles.iter().flatten() {
            originals[*node as usize] = None;
        }
        let mut resolved: Vec<Resolved> = rows
            .members()
            .iter()
            .map(|row| Resolved {
                referred: None,
                original: None,
                content: *row,
                head: *row,
            })
            .collect();
        for node in forest.order {
            let node = node as usize;
            let Some(original) = originals[node] else {
                continue;
            };
            let (content, head) = match rows.index(original) {
                Some(slot) => (resolved[slot].content, resolved[slot].head),
                None => (original, original),
            };
            let led_on = rows
                .index(original)
                .filter(|_| !is_redirect(&catalog.row(original)))
                .and_then(|slot| resolved[slot].original)
                .filter(|on| [original, *on].iter().all(|row| is_in_scope(catalog, *row)));
            let own = &mut resolved[node];
            own.referred = Some(original);
            own.original = Some(led_on.unwrap_or(original));
            own.content = content;
            if !has_own_head(&catalog.row(rows.members()[node])) {
                own.head = head;
            }
        }
        Self { rows, resolved }
    }

    /// What became of a revisit; `None` for any other row.
    pub(super) fn get(&self, row: RowId) -> Option<&Resolved> {
        self.rows.index(row).map(|slot| &self.resolved[slot])
    }

    /// The status of a row; of a revisit, that of its head.
    pub(super) fn status(&self, catalog: &Catalog, row: RowId) -> u16 {
        let head = self.get(row).map_or(row, |found| found.head);
        catalog.row(head).status
    }

    /// Number of revisits whose original is not in the input.
    pub(super) fn n_dangling(&self) -> u64 {
        let dangling = self.resolved.iter().filter(|one| one.original.is_none());
        dangling.count() as u64
    }
}

/// Whether status and Location of a revisit are its own: its block has an HTTP head that is no 304, or an index line
/// states as much.
pub(super) fn has_own_head(row: &Row) -> bool {
    let has_head = row.flags.contains(RowFlags::HTTP_HEAD)
        || row.flags.contains(RowFlags::INDEX_LINE) && row.status != 0;
    has_head && row.status != 304
}

fn is_in_scope(catalog: &Catalog, row: RowId) -> bool {
    let flags = catalog.row(row).flags;
    !flags.contains(RowFlags::OUT_OF_SCOPE)
}

fn slot(rows: &Subset, row: RowId) -> Option<u32> {
    rows.index(row).and_then(|slot| u32::try_from(slot).ok())
}

/// Finds the originals of revisits.
struct Originals<'a> {
    catalog: &'a Catalog,
    payloads: &'a Payloads,
}

impl<'a> Originals<'a> {
    /// The original of each of `revisits`, cycles not yet cut.
    fn find(
        catalog: &'a Catalog,
        payloads: &'a Payloads,
        revisits: &[RowId],
    ) -> Vec<Option<RowId>> {
        let this = Self { catalog, payloads };
        let references: Vec<Reference> = revisits
            .par_iter()
            .map(|row| catalog.reference(*row))
            .collect();
        let by_name = this.by_name(revisits, &references);
        let by_digest = this.by_digest(revisits, &by_name);
        revisits
            .par_iter()
            .zip(&references)
            .zip(by_name)
            .map(|((row, reference), named)| {
                named.or_else(|| this.look_up(*row, reference, &by_digest))
            })
            .collect()
    }

    /// By record id; else by target URI and date.
    fn by_name(&self, revisits: &[RowId], references: &[Reference]) -> Vec<Option<RowId>> {
        let ids: HashSet<u128> = references
            .iter()
            .map(|reference| reference.record_id)
            .filter(|id| *id != 0)
            .collect();
        let moments: HashSet<u128> = references.iter().filter_map(moment_referred_to).collect();
        if ids.is_empty() && moments.is_empty() {
            return vec![None; revisits.len()];
        }
        let mut places = Vec::new();
        for row in self.catalog.ids() {
            let fixed = self.catalog.row(row);
            let moment = moment(self.catalog.url_key(row), fixed.date);
            if !ids.is_empty() {
                let id = self.catalog.record_id(row);
                if ids.contains(&id) {
                    self.shelve(row, name_by_id(id), &mut places);
                }
            }
            if moments.contains(&moment) {
                for nanos in [Nanos::Any, Nanos::Exactly(fixed.date.nanos())] {
                    self.shelve(row, name_by_moment(moment, nanos), &mut places);
                }
            }
        }
        let places = Places::new(self.catalog, places);
        revisits
            .iter()
            .zip(references)
            .map(|(row, reference)| {
                self.named(*row, &names_by_id(reference), &places)
                    .or_else(|| self.named(*row, &names_by_moment(reference), &places))
            })
            .collect()
    }

    /// Enters `row` under `name`, alone and with each of its digests.
    fn shelve(&self, row: RowId, name: u128, places: &mut Vec<Place>) {
        let digests = self.payloads.digests(self.catalog, row);
        let keys = digests
            .into_iter()
            .filter(|digest| *digest != 0)
            .map(|digest| joined(name, digest));
        places.extend(keys.chain([name]).map(|key| Place {
            key,
            date: Timestamp::UNKNOWN,
            leads_on: false,
            row,
        }));
    }

    /// Of the captures that have one of `names` the first that has the revisit's digest, else the first.
    fn named(&self, row: RowId, names: &[u128], places: &Places) -> Option<RowId> {
        let first = |key| places.first_other(key, row);
        let with_digest = self
            .digest(row)
            .and_then(|digest| names.iter().find_map(|name| first(joined(*name, digest))));
        with_digest.or_else(|| names.iter().find_map(|name| first(*name)))
    }

    /// Captures with a digest that an unresolved revisit has, under the digest with its URI, and alone.
    fn by_digest(&self, revisits: &[RowId], named: &[Option<RowId>]) -> Places {
        let wanted: Wanted = revisits
            .iter()
            .zip(named)
            .filter(|(_, original)| original.is_none())
            .filter_map(|(row, _)| self.digest(*row))
            .collect();
        if wanted.is_empty() {
            return Places::default();
        }
        let places = self
            .catalog
            .par_ids()
            .filter(|row| self.may_serve(*row, &wanted))
            .flat_map_iter(|row| self.shelved(row, &wanted))
            .collect();
        Places::new(self.catalog, places)
    }

    /// Whether `row` has one of the wanted digests, and may be an original.
    fn may_serve(&self, row: RowId, wanted: &Wanted) -> bool {
        let fixed = self.catalog.row(row);
        let no_original = RowFlags::EMPTY.with(RowFlags::HEAD, true);
        fixed.record_type != RecordType::Revisit
            && !fixed.flags.has_any(no_original)
            && self
                .payloads
                .digests(self.catalog, row)
                .into_iter()
                .any(|digest| wanted.has(digest))
    }

    /// Where `row` stands by those of its digests that are wanted.
    fn shelved(&self, row: RowId, wanted: &Wanted) -> impl Iterator<Item = Place> {
        let fixed = self.catalog.row(row);
        let digests = self.payloads.digests(self.catalog, row);
        let digests = digests.map(|digest| Some(digest).filter(|digest| wanted.has(*digest)));
        digests.into_iter().flatten().flat_map(move |digest| {
            let alone = scoped(digest, &fixed);
            let with_uri = joined(alone, bits(self.catalog.url_key(row)));
            let keys = [
                Some(with_uri),
                (fixed.completeness == Completeness::Complete).then_some(alone),
            ];
            keys.into_iter().flatten().map(move |key| Place {
                key,
                date: fixed.date,
                leads_on: false,
                row,
            })
        })
    }

    /// By digest and URI; else by digest alone.
    fn look_up(&self, row: RowId, reference: &Reference, places: &Places) -> Option<RowId> {
        let fixed = self.catalog.row(row);
        let alone = scoped(self.digest(row)?, &fixed);
        let uri = reference.key.unwrap_or_else(|| self.catalog.url_key(row));
        places
            .nearest_not_later(joined(alone, bits(uri)), fixed.date)
            .or_else(|| places.nearest_not_later(alone, fixed.date))
    }

    /// The payload digest by which a revisit finds its original; never the empty one.
    fn digest(&self, row: RowId) -> Option<u128> {
        let fixed = self.catalog.row(row);
        let digest = self.payloads.named_by(own_digest(self.catalog, row));
        let is_usable = digest != 0
            && !fixed.flags.contains(RowFlags::DIGEST_OF_NOTHING)
            && !self.payloads.is_empty(digest);
        is_usable.then_some(digest)
    }
}

/// Fractions of a second in a date by which a capture is looked up.
#[derive(Clone, Copy)]
enum Nanos {
    Any,
    Exactly(u32),
}

fn names_by_id(reference: &Reference) -> Vec<u128> {
    let id = Some(reference.record_id).filter(|id| *id != 0);
    id.map(name_by_id).into_iter().collect()
}

/// The most exact first. A date of whole seconds, on either side, may have lost its fraction.
fn names_by_moment(reference: &Reference) -> Vec<u128> {
    let Some(moment) = moment_referred_to(reference) else {
        return Vec::new();
    };
    let coarser = match reference.date.nanos() {
        0 => Nanos::Any,
        _ => Nanos::Exactly(0),
    };
    [Nanos::Exactly(reference.date.nanos()), coarser]
        .map(|nanos| name_by_moment(moment, nanos))
        .to_vec()
}

fn moment_referred_to(reference: &Reference) -> Option<u128> {
    let key = reference.key.filter(|_| reference.date.is_known())?;
    Some(moment(key, reference.date))
}

/// A URI at a second.
fn moment(key: ComparisonKey, date: Timestamp) -> u128 {
    joined(bits(key), i128::from(date.seconds()).cast_unsigned())
}

fn name_by_id(record_id: u128) -> u128 {
    joined(record_id, 0)
}

fn name_by_moment(moment: u128, nanos: Nanos) -> u128 {
    let nanos = match nanos {
        Nanos::Any => u128::MAX,
        Nanos::Exactly(nanos) => u128::from(nanos),
    };
    joined(moment, nanos)
}

/// A digest among captures on one side of the scope, since the two sides never join.
fn scoped(digest: u128, row: &Row) -> u128 {
    joined(
        digest,
        u128::from(row.flags.contains(RowFlags::OUT_OF_SCOPE)),
    )
}

/// The 128 bits of a key.
pub(super) fn bits(key: ComparisonKey) -> u128 {
    u128::from(key.key) << 64 | u128::from(key.check)
}

fn joined(one: u128, other: u128) -> u128 {
    let mut both = [0; 32];
    both[..16].copy_from_slice(&one.to_le_bytes());
    both[16..].copy_from_slice(&other.to_le_bytes());
    xxh3_128(&both)
}
