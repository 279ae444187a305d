//! The place of each capture: its groups, its keeper and its role.

use super::content::{ContentId, is_usable, label_of};
use super::judge::Verdict;
use super::keeper::is_success;
use super::page::{PageContent, Paged};
use super::way::Ways;
use super::{Basis, Conflict, Conflicts, Role, Urls};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::key::ComparisonKey;
use rayon::prelude::*;

/// What grouping keeps of a row; labels are 0 for a group in which it would be alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) url: u64,
    pub(super) content: u64,
    pub(super) page: u64,
    /// Of its own group; `None` of a unique row.
    pub(super) keeper: Option<RowId>,
    /// From 1 in output order, 0 for a unique row.
    pub(super) group_id: u32,
    pub(super) conflicts: Conflicts,
    pub(super) role: Role,
    /// Neither it nor its keeper has any content: its bytes are never redundant.
    pub(super) is_both_empty: bool,
}

impl Place {
    /// The place of a row in no group.
    pub(super) const ALONE: Self = Self {
        url: 0,
        content: 0,
        page: 0,
        keeper: None,
        group_id: 0,
        conflicts: Conflicts::NONE,
        role: Role::Unique,
        is_both_empty: false,
    };
}

/// Figures of the pass over keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyCounts {
    pub(super) keys: u64,
    pub(super) collisions: u64,
    pub(super) groups: u64,
    pub(super) changed: u64,
}

/// Places the members of page groups; returns the number of groups. `boilerplate` is sorted.
pub(super) fn place_pages(
    basis: Basis<'_>,
    ways: &Ways,
    paged: &[Paged],
    boilerplate: &[ContentId],
    places: &mut [Place],
) -> u64 {
    let mut n_groups = 0;
    let mut own_labels = hashbrown::HashMap::new();
    for page in paged.chunk_by(|a, b| a.0 == b.0) {
        let label = match page[0].0 {
            PageContent::Digest(id) if boilerplate.binary_search(&id).is_ok() => {
                for (_, row) in page {
                    places[row.index()].conflicts.insert(Conflict::Boilerplate);
                }
                continue;
            }
            _ if page.len() < 2 => continue,
            PageContent::Digest(id) => id.label(),
            PageContent::Own(end) => {
                // Two inputs of one name may hold copies of one record.
                let label = basis.own_label(end);
                let n_before = own_labels.entry(label).or_insert(0);
                *n_before += 1;
                match *n_before {
                    1 => label,
                    n => label_of(label, n),
                }
            }
        };
        n_groups += 1;
        let keeper = basis.page_keeper(ways, page.iter().map(|(_, row)| *row));
        for (_, row) in page {
            let place = &mut places[row.index()];
            place.page = label;
            place.keeper = keeper;
        }
    }
    n_groups
}

/// Places the members of URL groups; those in page groups keep their keeper.
pub(super) fn place_urls(basis: Basis<'_>, places: &mut [Place]) -> KeyCounts {
    let mut keyed: Vec<(ComparisonKey, RowId)> = (0..basis.catalog.len())
        .into_par_iter()
        .map(RowId::from_index)
        .map(|row| (basis.catalog.row(row).key, row))
        .collect();
    keyed.par_sort_unstable();
    let mut counts = KeyCounts::default();
    for same_bits in keyed.chunk_by(|a, b| a.0.key == b.0.key) {
        for (nth, same_key) in same_bits.chunk_by(|a, b| a.0 == b.0).enumerate() {
            counts.keys += 1;
            counts.collisions += u64::from(nth > 0);
            let key = same_key[0].0;
            let label = match nth {
                0 => key.key.max(1),
                _ => label_of(key.key, key.check),
            };
            let rows: Vec<RowId> = same_key
                .iter()
                .map(|(_, row)| *row)
                .filter(|row| !basis.is_out_of_scope(*row))
                .collect();
            if rows.len() > 1 {
                counts.groups += 1;
                counts.changed += u64::from(is_changed(basis, &rows));
                place_url_group(basis, label, &rows, places);
            }
        }
    }
    counts
}

fn place_url_group(basis: Basis<'_>, label: u64, rows: &[RowId], places: &mut [Place]) {
    let keeper = basis.keeper(rows.iter().copied());
    let mut rest = rows.iter().filter(|row| places[row.index()].page == 0);
    let is_sole_keeper = rest.next().copied() == keeper && rest.next().is_none();
    for row in rows {
        let place = &mut places[row.index()];
        place.url = label;
        if place.page == 0 && !is_sole_keeper {
            place.keeper = keeper;
        }
    }
}

/// Whether the 2xx captures of a URL group show two contents or more.
fn is_changed(basis: Basis<'_>, rows: &[RowId]) -> bool {
    let mut contents = rows.iter().filter_map(|row| {
        let facts = basis.ends.facts(*row);
        (is_success(facts.status) && is_usable(&facts))
            .then(|| basis.contents.decoded(*row, &facts))
    });
    contents
        .next()
        .is_some_and(|first| contents.any(|other| other != first))
}

/// Gives every row with a keeper its role.
pub(super) fn judge(basis: Basis<'_>, ways: &Ways, urls: &Urls<'_>, places: &mut [Place]) {
    places
        .par_iter_mut()
        .enumerate()
        .for_each(|(index, place)| {
            let row = RowId::from_index(index);
            let Some(keeper) = place.keeper else { return };
            if row == keeper {
                place.role = Role::Keeper;
                return;
            }
            let verdict = if place.page == 0 {
                basis.judge_by_key(row, keeper)
            } else {
                basis.judge_by_page(ways, row, keeper)
            };
            place.role = verdict.role();
            place.is_both_empty = verdict == Verdict::BothEmpty;
            let key = |row| basis.catalog.row(row).key;
            let base_key = |row| (urls.base_key)(row);
            if place.role == Role::Version
                && key(row) == key(keeper)
                && base_key(row) != base_key(keeper)
            {
                place.conflicts.insert(Conflict::ContentDiffers);
            }
        });
}

/// A capture whose key an earlier run holds is not unique, though it stands alone here: same key, and no content to judge by.
pub(super) fn judge_seen(catalog: &Catalog, places: &mut [Place]) {
    for (place, row) in places.iter_mut().zip(catalog.rows()) {
        if place.role == Role::Unique && row.flags.contains(RowFlags::SEEN_BEFORE) {
            place.role = Role::Unjudged;
        }
    }
}
