//! The order of the report: groups by keeper, each keeper first.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::place::{self, Fact, Place};
use super::tags::{Tag, for_each_window, stretches, tags};
use crate::catalog::Catalog;

/// All rows in output order; numbers the groups, and returns the size of each by its number.
///
/// Rows stand in the order of the input, so that a row id says where its capture stands.
pub(super) fn arrange(catalog: &Catalog, places: &[Place]) -> (Vec<Tag>, Vec<u32>) {
    // A unique row stands for itself.
    let mut order = tags(catalog.par_ids(), |row| {
        Some(places[row.index()].keeper().unwrap_or(row).0)
    });
    let n_groups: Vec<u32> = stretches(&mut order)
        .into_par_iter()
        .map(|stretch| arrange_stretch(catalog, places, stretch))
        .collect();
    let mut sizes = vec![0; 1 + n_groups.iter().map(|n| *n as usize).sum::<usize>()];
    let mut rest = &mut sizes[1..];
    let mut first_id = 1;
    let mut numberings = Vec::with_capacity(n_groups.len());
    for n_groups in n_groups {
        let sizes = rest.split_off_mut(..n_groups as usize);
        numberings.push((first_id, sizes.unwrap_or_default()));
        first_id += n_groups;
    }
    stretches(&mut order)
        .into_par_iter()
        .zip(numberings)
        .for_each(|(stretch, (first_id, sizes))| number(stretch, places, first_id, sizes));
    (order, sizes)
}

/// Sorts the rows of each keeper, and numbers the groups of the stretch from 1 on; returns how many there are.
fn arrange_stretch(catalog: &Catalog, places: &[Place], stretch: &mut [Tag]) -> u32 {
    let mut n_groups = 0;
    let is_shared = |of_keeper: &[Tag]| of_keeper.len() > 1;
    for_each_window(stretch, is_shared, |window, rows| {
        place::touch(catalog, places, rows);
        for of_keeper in window.chunk_by_mut(|a, b| a.bits() == b.bits()) {
            n_groups = arrange_keeper(catalog, places, of_keeper, n_groups);
        }
    });
    n_groups
}

/// The same for the rows of one keeper, behind `n_groups` groups.
fn arrange_keeper(
    catalog: &Catalog,
    places: &[Place],
    of_keeper: &mut [Tag],
    mut n_groups: u32,
) -> u32 {
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
        let place = |tag: &Tag| &places[tag.row().index()];
        // A unique row has no keeper.
        if group
            .first()
            .is_none_or(|tag| place(tag).keeper().is_none())
        {
            continue;
        }
        n_groups += 1;
        for tag in group {
            place(tag).set_group_id(n_groups);
        }
    }
    n_groups
}

/// Numbers the groups of a stretch from `first_id` on, and counts the rows of each.
fn number(stretch: &[Tag], places: &[Place], first_id: u32, sizes: &mut [u32]) {
    for tag in stretch {
        let place = &places[tag.row().index()];
        if let Some(nth) = place.group_id().checked_sub(1) {
            sizes[nth as usize] += 1;
            place.set_group_id(first_id + nth);
        }
    }
}
