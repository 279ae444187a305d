//! The order of the report: groups by keeper, each keeper first.

use std::cmp::Reverse;

use super::place::{Fact, Place};
use super::tags::{Tag, tags};
use crate::catalog::Catalog;

/// All rows in output order; numbers the groups, and returns the size of each by its number.
///
/// Rows stand in the order of the input, so that a row id says where its capture stands.
pub(super) fn arrange(catalog: &Catalog, places: &[Place]) -> (Vec<Tag>, Vec<u32>) {
    // A unique row stands for itself.
    let mut order = tags(catalog.par_ids(), |row| {
        Some(places[row.index()].keeper().unwrap_or(row).0)
    });
    let mut sizes = vec![0];
    for of_keeper in order.chunk_by_mut(|a, b| a.bits() == b.bits()) {
        let is_by_key = |tag: &Tag| !places[tag.row().index()].is(Fact::InPageGroup);
        if of_keeper.len() > 1 {
            of_keeper.sort_unstable_by_key(|tag| {
                let is_kept = tag.row().0 == tag.bits();
                // A keeper's own page group goes before the remainder of its URL group.
                (
                    is_by_key(tag),
                    Reverse(is_kept),
                    catalog.row(tag.row()).date,
                    *tag,
                )
            });
        }
        let n_by_page = of_keeper.partition_point(|tag| !is_by_key(tag));
        let (by_page, by_key) = of_keeper.split_at(n_by_page);
        for group in [by_page, by_key] {
            number(group, places, &mut sizes);
        }
    }
    (order, sizes)
}

/// Gives the rows of a group the next number.
fn number(group: &[Tag], places: &[Place], sizes: &mut Vec<u32>) {
    let Some(first) = group.first() else { return };
    if places[first.row().index()].keeper().is_none() {
        return;
    }
    let group_id = u32::try_from(sizes.len()).expect("groups are no more than rows");
    sizes.push(u32::try_from(group.len()).expect("a group has no more than all rows"));
    for tag in group {
        places[tag.row().index()].set_group_id(group_id);
    }
}
