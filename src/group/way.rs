//! The way of each capture under the evidence that is named.

use super::{Basis, Conflict, Conflicts, End, Evidence, Hop};
use crate::catalog::RowId;

/// Where pointers bring each capture; every way is gone once, however many captures share it.
#[derive(Debug)]
pub(super) struct Ways {
    stand: Vec<RowId>,
    after_revisits: Vec<RowId>,
}

impl Ways {
    /// Goes all ways.
    pub(super) fn of(basis: Basis<'_>) -> Self {
        let go = |admits: &dyn Fn(&Hop) -> bool| {
            follow(basis.catalog.len(), |row| {
                basis.ends.hop(row).filter(|hop| admits(hop))
            })
        };
        Self {
            stand: go(&|hop| basis.admits(hop)),
            after_revisits: go(&|hop| hop.kind == Evidence::Revisit),
        }
    }

    /// The capture whose content serves a row.
    pub(super) fn stand(&self, row: RowId) -> RowId {
        self.stand[row.index()]
    }
}

/// The last row of each row's way.
fn follow(n_rows: usize, hop: impl Fn(RowId) -> Option<Hop>) -> Vec<RowId> {
    let mut lasts: Vec<Option<RowId>> = vec![None; n_rows];
    let mut path = Vec::new();
    for row in (0..n_rows).map(RowId::from_index) {
        let mut at = row;
        let last = loop {
            if let Some(last) = lasts[at.index()] {
                break last;
            }
            // Stands until the way is known; a pointer that came back to it would end here.
            lasts[at.index()] = Some(at);
            match hop(at) {
                Some(hop) => {
                    path.push(at);
                    at = hop.to;
                }
                None => break at,
            }
        };
        for passed in path.drain(..) {
            lasts[passed.index()] = Some(last);
        }
    }
    lasts.into_iter().flatten().collect()
}

impl Basis<'_> {
    /// Whether evidence takes a hop: a revisit stands by its own digest if revisits are not named.
    pub(super) fn admits(&self, hop: &Hop) -> bool {
        hop.kind != Evidence::Revisit || self.thresholds.names(Evidence::Revisit)
    }

    /// Whether a redirect is on the way of `row`.
    pub(super) fn is_redirected(&self, ways: &Ways, row: RowId) -> bool {
        let hop = |row| self.ends.hop(row).filter(|hop| self.admits(hop));
        hop(row).is_some_and(|first| {
            first.kind != Evidence::Revisit || hop(ways.after_revisits[row.index()]).is_some()
        })
    }

    /// The first capture on the way that is no redirect.
    pub(super) fn answer(&self, ways: &Ways, row: RowId) -> RowId {
        if self.thresholds.names(Evidence::Revisit) {
            self.ends.page(row)
        } else {
            // All hops before it are redirects.
            ways.stand(row)
        }
    }

    /// Whether the pointers on the way of `row` may serve a page group.
    pub(super) fn trusts(&self, ways: &Ways, row: RowId) -> bool {
        let has_end = matches!(self.ends.end(row), End::Itself | End::Row(_));
        if !self.is_redirected(ways, row) {
            return has_end;
        }
        let needs = if self.ends.is_temporary(row) {
            Evidence::RedirectTemporary
        } else {
            Evidence::Redirect
        };
        let dangling_alone = Conflicts::from(Conflict::Dangling);
        let conflicts = self.ends.conflicts(row);
        let is_agreed = conflicts.is_empty() || conflicts == dangling_alone;
        has_end && is_agreed && self.thresholds.names(needs)
    }
}
