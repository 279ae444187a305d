//! Hops one after the other: cycles, the limit, and what a chain comes to.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::forest::Forest;
use super::redirects::{FirstHop, Redirects, is_redirect, kind};
use super::revisits::Revisits;
use super::subset::Subset;
use super::{Conflict, Conflicts, End, Evidence, Hop, Thresholds};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::key::ComparisonKey;

/// Rows that lead elsewhere, or would; and those out of scope, which lead nowhere.
#[derive(Debug)]
pub(super) struct Chains {
    rows: Subset,
    ways: Vec<Way>,
    /// Distinct sets of keys that go round.
    pub(super) n_loops: u64,
}

/// What becomes of one row that points elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) hop: Option<Hop>,
    pub(super) end: End,
    /// The first capture on the way that is no redirect: whose status counts.
    pub(super) page: RowId,
    pub(super) conflicts: Conflicts,
    pub(super) is_temporary: bool,
    /// Redirects followed to the end.
    depth: u32,
    /// Index of the first redirect on the way, itself included.
    redirect: Option<u32>,
}

/// What chains are made of.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) thresholds: &'a Thresholds,
    pub(super) revisits: &'a Revisits,
}

impl Chains {
    pub(super) fn of(parts: Parts<'_>) -> Self {
        let Parts {
            catalog, revisits, ..
        } = parts;
        let rows = Subset::of(catalog.len(), |row| {
            let fixed = catalog.row(row);
            is_redirect(&fixed)
                || revisits.get(row).is_some()
                || fixed.flags.contains(RowFlags::OUT_OF_SCOPE)
        });
        let leading_on = leading_on(parts, &rows);
        let redirects = Redirects::new(catalog, parts.thresholds, |row| {
            rows.index(row).is_some_and(|slot| leading_on[slot])
        });
        let mut firsts: Vec<FirstHop> = rows
            .members()
            .par_iter()
            .map(|row| {
                if is_redirect(&catalog.row(*row)) {
                    redirects.first_hop(*row)
                } else {
                    reference(parts, *row)
                }
            })
            .collect();
        let n_loops = break_cycles(catalog, &redirects, &rows, &mut firsts);
        let mut chains = Self {
            ways: rows.members().iter().map(|row| Way::of(*row)).collect(),
            rows,
            n_loops,
        };
        let order = Forest::of(&nodes(&chains.rows, &firsts)).order;
        chains.follow(parts, &firsts, &order);
        chains.limit(parts.thresholds.redirects_max);
        chains.judge_ends(parts, &order);
        chains
    }

    /// What becomes of `row`; `None` for a row that points nowhere.
    pub(super) fn get(&self, row: RowId) -> Option<&Way> {
        self.rows.index(row).map(|slot| &self.ways[slot])
    }

    pub(super) fn rows(&self) -> &Subset {
        &self.rows
    }

    /// What becomes of all rows that point elsewhere, or would.
    pub(super) fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Follows every chain to its end, ends first.
    fn follow(&mut self, parts: Parts<'_>, firsts: &[FirstHop], order: &[u32]) {
        for node in order {
            let slot = *node as usize;
            let row = self.rows.members()[slot];
            let fixed = parts.catalog.row(row);
            let is_redirect = is_redirect(&fixed);
            let mut way = match firsts[slot] {
                Err(conflicts) => Way {
                    end: unfollowed_end(parts, row, conflicts),
                    conflicts,
                    ..Way::of(row)
                },
                Ok(to) if is_redirect => self.way_of(to).behind(to, kind(&fixed)),
                Ok(to) => self.way_of(to).behind(to, Evidence::Revisit),
            };
            if is_redirect {
                way.redirect = Some(*node);
            } else if !stands_for_redirect(parts, row) {
                way.page = row;
            }
            self.ways[slot] = way;
        }
    }

    fn way_of(&self, row: RowId) -> Way {
        self.get(row).copied().unwrap_or(Way::of(row))
    }

    /// Gives up on chains of more than `redirects_max` redirects, at the hop beyond.
    fn limit(&mut self, redirects_max: u32) {
        if self.ways.iter().all(|way| way.depth <= redirects_max) {
            return;
        }
        let slots = 0..RowId::from_index(self.ways.len()).0;
        let first = |slot: u32| self.ways[slot as usize].redirect.unwrap_or(slot);
        // By doubling: `stride` leads 1, 2, 4, … redirects ahead.
        let mut at: Vec<u32> = slots.clone().map(first).collect();
        let mut stride: Vec<u32> = slots
            .map(|slot| {
                let hop = self.ways[first(slot) as usize].hop;
                let next = hop.and_then(|hop| self.get(hop.to)?.redirect);
                next.unwrap_or(first(slot))
            })
            .collect();
        let mut left = redirects_max;
        while left > 0 {
            if left & 1 == 1 {
                at.iter_mut()
                    .for_each(|place| *place = stride[*place as usize]);
            }
            stride = stride.iter().map(|place| stride[*place as usize]).collect();
            left >>= 1;
        }
        for (way, place) in self.ways.iter_mut().zip(at) {
            if way.depth > redirects_max {
                way.end = End::Unfollowed(self.rows.members()[place as usize]);
                way.conflicts = Conflict::RedirectLimit.into();
            }
        }
    }

    /// Holds redirects against the ends they lead to.
    fn judge_ends(&mut self, parts: Parts<'_>, order: &[u32]) {
        let catalog = parts.catalog;
        for node in order {
            let slot = *node as usize;
            let (row, way) = (self.rows.members()[slot], self.ways[slot]);
            let (End::Row(end), Some(hop)) = (way.end, way.hop) else {
                continue;
            };
            let is_known_error = |status: u16| status != 0 && !(200..300).contains(&status);
            let mut conflicts = way.conflicts;
            if way.page != row && is_known_error(parts.revisits.status(catalog, way.page)) {
                conflicts.insert(Conflict::EndNot2xx);
            }
            if hop.kind != Evidence::Revisit && catalog.languages_differ(row, end)
                || self.way_of(hop.to).conflicts.contains(Conflict::Language)
            {
                conflicts.insert(Conflict::Language);
            }
            self.ways[slot].conflicts = conflicts;
        }
    }
}

impl Way {
    /// Whether there is a redirect on the way, the row itself included.
    pub(super) fn redirects(&self) -> bool {
        self.redirect.is_some()
    }

    /// A row that leads nowhere else.
    fn of(row: RowId) -> Self {
        Self {
            hop: None,
            end: End::Itself,
            page: row,
            conflicts: Conflicts::default(),
            is_temporary: false,
            depth: 0,
            redirect: None,
        }
    }

    /// The way of a row that leads by `kind` to `to`, whose own way this is.
    fn behind(self, to: RowId, kind: Evidence) -> Self {
        let hops = u32::from(kind != Evidence::Revisit);
        Self {
            hop: Some(Hop { to, kind }),
            end: match self.end {
                End::Itself => End::Row(to),
                end => end,
            },
            is_temporary: self.is_temporary || kind == Evidence::RedirectTemporary,
            depth: self.depth.saturating_add(hops),
            ..self
        }
    }
}

/// Where a row that is no redirect leads: a revisit to its original, any other nowhere.
fn reference(parts: Parts<'_>, row: RowId) -> FirstHop {
    let is_out_of_scope = |row| {
        let flags = parts.catalog.row(row).flags;
        flags.contains(RowFlags::OUT_OF_SCOPE)
    };
    match parts.revisits.get(row).and_then(|found| found.original) {
        _ if is_out_of_scope(row) => Err(Conflict::OutOfScope.into()),
        Some(original) if is_out_of_scope(original) => Err(Conflict::OutOfScope.into()),
        Some(original) => Ok(original),
        None => Err(Conflicts::default()),
    }
}

/// Whether a revisit has the status of an original that redirects.
fn stands_for_redirect(parts: Parts<'_>, row: RowId) -> bool {
    let found = parts.revisits.get(row);
    found.is_some_and(|found| found.head != row && is_redirect(&parts.catalog.row(found.head)))
}

fn unfollowed_end(parts: Parts<'_>, row: RowId, conflicts: Conflicts) -> End {
    if conflicts.contains(Conflict::RedirectLoop) {
        End::Loop
    } else if is_redirect(&parts.catalog.row(row)) {
        End::Unfollowed(row)
    } else {
        End::Itself
    }
}

/// Which of `rows` redirect, themselves or by what they refer to.
fn leading_on(parts: Parts<'_>, rows: &Subset) -> Vec<bool> {
    let references: Vec<FirstHop> = rows
        .members()
        .iter()
        .map(|row| match is_redirect(&parts.catalog.row(*row)) {
            true => Err(Conflicts::default()),
            false => reference(parts, *row),
        })
        .collect();
    let next = nodes(rows, &references);
    let mut leading_on: Vec<bool> = vec![false; next.len()];
    for node in Forest::of(&next).order {
        let slot = node as usize;
        leading_on[slot] = match next[slot] {
            Some(to) => leading_on[to as usize],
            None => is_redirect(&parts.catalog.row(rows.members()[slot])),
        };
    }
    leading_on
}

/// The graph of hops between `rows`; what leads to any other row leads to an end.
fn nodes(rows: &Subset, hops: &[FirstHop]) -> Vec<Option<u32>> {
    hops.iter()
        .map(|hop| {
            rows.index((*hop).ok()?)
                .and_then(|slot| u32::try_from(slot).ok())
        })
        .collect()
}

/// Leads captures whose hops come round to the nearest capture that does not; where none of a cycle has one, they
/// are a loop. Returns the number of distinct sets of keys that go round.
fn break_cycles(
    catalog: &Catalog,
    redirects: &Redirects<'_>,
    rows: &Subset,
    hops: &mut [FirstHop],
) -> u64 {
    let mut loops: BTreeSet<Vec<ComparisonKey>> = BTreeSet::new();
    for cycle in Forest::of(&nodes(rows, hops)).cycles {
        let mut is_loop = true;
        for node in &cycle {
            let row = rows.members()[*node as usize];
            if is_redirect(&catalog.row(row))
                && let Some(to) = redirects.way_out(row)
            {
                hops[*node as usize] = Ok(to);
                is_loop = false;
            }
        }
        if is_loop {
            let members = cycle.iter().map(|node| rows.members()[*node as usize]);
            let keys: BTreeSet<_> = members.map(|row| catalog.row(row).key).collect();
            loops.insert(keys.into_iter().collect());
            for node in cycle {
                hops[node as usize] = Err(Conflict::RedirectLoop.into());
            }
        }
    }
    loops.len() as u64
}
