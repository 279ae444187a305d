//! The figures that a summary takes from groups.

use super::content::is_nothing;
use super::cost::Redundant;
use super::place::{KeyCounts, Place, blocks};
use super::{Basis, Conflict, Counts};
use crate::capture::RecordType;
use crate::catalog::RowId;
use rayon::prelude::*;

/// What the passes counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    pub(super) keys: KeyCounts,
    pub(super) redundant: Redundant,
    pub(super) page_groups: u64,
    pub(super) boilerplate_contents: u64,
}

/// Counts roles, sameness and conflicts of all rows, beside what the passes counted.
pub(super) fn tally(basis: Basis<'_>, places: &[Place], passes: Passes) -> Counts {
    let figures = basis.ends.figures();
    let mut counts = Counts {
        distinct_uris: passes.keys.uris,
        distinct_keys: passes.keys.keys,
        url_groups: passes.keys.groups,
        content_groups: basis.contents.n_groups,
        page_groups: passes.page_groups,
        urls_changed: passes.keys.changed,
        boilerplate_contents: passes.boilerplate_contents,
        key_collisions: passes.keys.collisions,
        digest_collisions: basis.contents.collisions,
        dangling: figures.dangling,
        chains: figures.chains,
        chains_temporary: figures.temporary,
        loops: figures.loops,
        redundant_bytes: passes.redundant.bytes,
        redundant_unknown: passes.redundant.unknown,
        ..Counts::default()
    };
    let of_rows = blocks(places)
        .map(|rows| OfRows::of(basis, rows))
        .reduce(OfRows::default, OfRows::add);
    counts.by_role = of_rows.by_role;
    counts.by_sameness = of_rows.by_sameness;
    counts.by_conflict = of_rows.by_conflict;
    counts.empty_payloads = of_rows.empty_payloads;
    counts
}

/// What some rows add up to.
#[derive(Clone, Copy, Debug)]
struct OfRows {
    by_role: [u64; 6],
    by_sameness: [u64; 4],
    by_conflict: [u64; Conflict::ALL.len()],
    empty_payloads: u64,
}

impl Default for OfRows {
    fn default() -> Self {
        Self {
            by_role: [0; 6],
            by_sameness: [0; 4],
            by_conflict: [0; Conflict::ALL.len()],
            empty_payloads: 0,
        }
    }
}

impl OfRows {
    fn of<'p>(basis: Basis<'_>, rows: impl Iterator<Item = (RowId, &'p Place)>) -> Self {
        let mut counts = Self::default();
        for (row, place) in rows {
            counts.count(basis, row, place);
        }
        counts
    }

    fn count(&mut self, basis: Basis<'_>, row: RowId, place: &Place) {
        self.by_role[place.role() as usize] += 1;
        if let Some(keeper) = place.keeper().filter(|keeper| *keeper != row) {
            self.by_sameness[basis.sameness(row, keeper) as usize] += 1;
        }
        for conflict in place.conflicts().iter() {
            self.by_conflict[conflict as usize] += 1;
        }
        let is_revisit = || basis.catalog.row(row).record_type == RecordType::Revisit;
        let is_empty = is_nothing(&basis.ends.facts(row)) && !is_revisit();
        self.empty_payloads += u64::from(is_empty);
    }

    fn add(mut self, other: Self) -> Self {
        let add = |own: &mut [u64], others: &[u64]| {
            for (own, other) in own.iter_mut().zip(others) {
                *own += other;
            }
        };
        add(&mut self.by_role, &other.by_role);
        add(&mut self.by_sameness, &other.by_sameness);
        add(&mut self.by_conflict, &other.by_conflict);
        self.empty_payloads += other.empty_payloads;
        self
    }
}
