//! The order of the report: groups by keeper, each keeper first.

use super::place::Place;
use crate::capture::Timestamp;
use crate::catalog::{Catalog, RowId};
use rayon::prelude::*;

/// By what a row is sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    /// Where the keeper of its group stands in the input; a unique row stands for itself.
    keeper: u32,
    /// A keeper's own page group goes before the remainder of its URL group.
    is_by_key: bool,
    is_kept: std::cmp::Reverse<bool>,
    date: Timestamp,
    own: u32,
}

/// All rows in output order; numbers the groups, and returns the size of each by its number.
pub(super) fn arrange(catalog: &Catalog, places: &mut [Place]) -> (Vec<RowId>, Vec<u32>) {
    let (by_position, position) = positions(catalog);
    let mut slots: Vec<Slot> = places
        .par_iter()
        .enumerate()
        .map(|(index, place)| {
            let row = RowId::from_index(index);
            let keeper = place.keeper.unwrap_or(row);
            Slot {
                keeper: position[keeper.index()],
                is_by_key: place.page == 0,
                is_kept: std::cmp::Reverse(keeper == row),
                date: catalog.row(row).date,
                own: position[index],
            }
        })
        .collect();
    slots.par_sort_unstable();
    let mut sizes = vec![0];
    let order: Vec<RowId> = slots
        .iter()
        .map(|slot| by_position[slot.own as usize])
        .collect();
    for group in slots.chunk_by(|a, b| (a.keeper, a.is_by_key) == (b.keeper, b.is_by_key)) {
        let first = by_position[group[0].own as usize];
        if places[first.index()].keeper.is_none() {
            continue;
        }
        let group_id = u32::try_from(sizes.len()).expect("groups are no more than rows");
        sizes.push(u32::try_from(group.len()).expect("a group has no more than all rows"));
        for slot in group {
            places[by_position[slot.own as usize].index()].group_id = group_id;
        }
    }
    (order, sizes)
}

/// The rows by input and ordinal, and where each row stands among them.
fn positions(catalog: &Catalog) -> (Vec<RowId>, Vec<u32>) {
    let mut rows: Vec<RowId> = catalog.ids().collect();
    rows.par_sort_by_key(|row| {
        let of = catalog.row(*row);
        (of.file, of.ordinal, *row)
    });
    let mut position = vec![0; rows.len()];
    for (at, row) in (0..).zip(&rows) {
        position[row.index()] = at;
    }
    (rows, position)
}
