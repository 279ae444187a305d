//! The figures that a summary takes from groups.

use super::content::{ContentId, is_nothing};
use super::cost::Redundant;
use super::place::{KeyCounts, Place};
use super::tags::{Alone, for_each_group};
use super::{Basis, Counts};
use crate::capture::RecordType;
use crate::catalog::RowId;

/// What the passes counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    pub(super) keys: KeyCounts,
    pub(super) redundant: Redundant,
    pub(super) content_groups: u64,
    pub(super) page_groups: u64,
    pub(super) boilerplate_contents: u64,
}

/// Adds up.
pub(super) fn tally(basis: Basis<'_>, places: &[Place], passes: Passes) -> Counts {
    let figures = basis.ends.figures();
    let mut counts = Counts {
        distinct_uris: distinct_uris(basis),
        distinct_keys: passes.keys.keys,
        url_groups: passes.keys.groups,
        content_groups: passes.content_groups,
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
    for (index, place) in places.iter().enumerate() {
        count_row(&mut counts, basis, RowId::from_index(index), place);
    }
    counts
}

fn count_row(counts: &mut Counts, basis: Basis<'_>, row: RowId, place: &Place) {
    counts.by_role[place.role() as usize] += 1;
    if let Some(keeper) = place.keeper().filter(|keeper| *keeper != row) {
        counts.by_sameness[basis.sameness(row, keeper) as usize] += 1;
    }
    for conflict in place.conflicts().iter() {
        counts.by_conflict[conflict as usize] += 1;
    }
    let is_revisit = basis.catalog.row(row).record_type == RecordType::Revisit;
    counts.empty_payloads += u64::from(!is_revisit && is_nothing(&basis.ends.facts(row)));
}

fn distinct_uris(basis: Basis<'_>) -> u64 {
    let mut n_shared = 0;
    let hash = |row| {
        let uri = basis.catalog.target_uri(row);
        Some(ContentId::new(xxhash_rust::xxh3::xxh3_128(uri)))
    };
    let n_alone = for_each_group(basis.catalog.len(), Alone::Counted, hash, |_, _| {
        n_shared += 1;
    });
    n_alone + n_shared
}
