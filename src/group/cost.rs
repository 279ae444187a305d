//! What the duplicates cost: bytes that a crawl would be smaller by.

use super::content::ContentId;
use super::place::{Fact, Place, blocks};
use super::{Basis, Conflict, Role, RowFlags};
use crate::capture::RecordType;
use crate::catalog::RowId;
use rayon::prelude::*;

/// Bytes of redundant rows, and the rows of unknown cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Redundant {
    pub(super) bytes: u64,
    pub(super) unknown: u64,
}

/// Rows of which one a keeper and payload must stay.
type Spared = (RowId, ContentId, RowId);

/// Sums up redundant bytes; marks the rows whose payload no other record keeps.
///
/// A keeper has its own payload only: of duplicates that decode to the same, one of each further
/// payload is no redundant copy. A keeper that is a revisit has none at all.
pub(super) fn redundant(basis: Basis<'_>, places: &[Place]) -> Redundant {
    let (mut sum, mut others) = blocks(places).map(|rows| copies(basis, rows)).reduce(
        Default::default,
        |(sum, mut others), more| {
            others.extend(more.1);
            (sum.and(more.0), others)
        },
    );
    others.sort_unstable();
    for others in others.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (keeper, payload, _) = others[0];
        let spared = basis.keeper(others.iter().map(|other| other.2));
        for (_, _, id) in others.iter().filter(|other| Some(other.2) != spared) {
            sum.add(basis, *id);
        }
        if let Some(spared) = spared
            && payload != basis.payload(keeper)
        {
            places[spared.index()].add_conflicts(Conflict::EncodingDiffers.into());
        }
    }
    sum
}

/// What copies of their keepers' payloads add up to, and the duplicates whose payload the record of their keeper does not have.
fn copies<'p>(
    basis: Basis<'_>,
    rows: impl Iterator<Item = (RowId, &'p Place)>,
) -> (Redundant, Vec<Spared>) {
    let mut sum = Redundant::default();
    let mut others = Vec::new();
    for (id, place) in rows {
        let Some(keeper) = place.keeper().filter(|_| place.role() == Role::Duplicate) else {
            continue;
        };
        let is_revisit = |id| basis.catalog.row(id).record_type == RecordType::Revisit;
        if is_revisit(id) || place.is(Fact::BothEmpty) {
            continue;
        }
        let (own, kept) = (basis.payload(id), basis.payload(keeper));
        if own == kept && !is_revisit(keeper) {
            sum.add(basis, id);
        } else {
            others.push((keeper, own, id));
        }
    }
    (sum, others)
}

impl Redundant {
    fn and(self, others: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(others.bytes),
            unknown: self.unknown + others.unknown,
        }
    }

    fn add(&mut self, basis: Basis<'_>, id: RowId) {
        let row = basis.catalog.row(id);
        let length = basis.catalog.locator(id).length;
        match length.filter(|_| !row.flags.contains(RowFlags::SHARES_MEMBER)) {
            Some(length) => self.bytes = self.bytes.saturating_add(length),
            None => self.unknown += 1,
        }
    }
}

impl Basis<'_> {
    pub(super) fn payload(&self, row: RowId) -> ContentId {
        self.contents.payload(row, &self.ends.facts(row))
    }
}
