//! The way of each capture under the evidence that is named.

use super::{Basis, Conflict, Conflicts, End, Ends, Evidence, Hop};
use crate::catalog::RowId;

/// Where pointers bring the captures that point elsewhere; every way is gone once, however many captures share it.
#[derive(Debug)]
pub(super) struct Ways {
    /// By index in [`Ends::pointing`]; no other row goes anywhere.
    stand: Vec<RowId>,
    after_revisits: Vec<RowId>,
}

impl Ways {
    /// Goes all ways.
    pub(super) fn of(basis: Basis<'_>) -> Self {
        let (stand, after_revisits) = rayon::join(
            || follow(basis.ends, |hop| basis.admits(hop)),
            || follow(basis.ends, |hop| hop.kind == Evidence::Revisit),
        );
        Self {
            stand,
            after_revisits,
        }
    }
}

/// The last row of each way of hops that `admits` takes.
fn follow(ends: &Ends, admits: impl Fn(&Hop) -> bool) -> Vec<RowId> {
    let pointing = ends.pointing();
    let mut lasts: Vec<Option<RowId>> = vec![None; pointing.members().len()];
    let mut path = Vec::new();
    for row in pointing.members() {
        let mut at = *row;
        let last = loop {
            let Some(slot) = pointing.index(at) else {
                break at;
            };
            if let Some(last) = lasts[slot] {
                break last;
            }
            // Stands until the way is known; a pointer that came back to it would end here.
            lasts[slot] = Some(at);
            match ends.hop(at).filter(&admits) {
                Some(hop) => {
                    path.push(slot);
                    at = hop.to;
                }
                None => break at,
            }
        };
        for passed in path.drain(..) {
            lasts[passed] = Some(last);
        }
    }
    lasts.into_iter().flatten().collect()
}

impl Basis<'_> {
    /// The capture whose content serves a row.
    pub(super) fn stand(&self, ways: &Ways, row: RowId) -> RowId {
        let slot = self.ends.pointing().index(row);
        slot.map_or(row, |slot| ways.stand[slot])
    }

    /// Whether evidence takes a hop: a revisit stands by its own digest if revisits are not named.
    pub(super) fn admits(&self, hop: &Hop) -> bool {
        hop.kind != Evidence::Revisit || self.thresholds.names(Evidence::Revisit)
    }

    /// Whether a redirect is on the way of `row`.
    pub(super) fn is_redirected(&self, ways: &Ways, row: RowId) -> bool {
        let hop = |row| self.ends.hop(row).filter(|hop| self.admits(hop));
        hop(row).is_some_and(|first| {
            first.kind != Evidence::Revisit || hop(self.after_revisits(ways, row)).is_some()
        })
    }

    /// Where the revisits at the start of a way lead.
    fn after_revisits(&self, ways: &Ways, row: RowId) -> RowId {
        let slot = self.ends.pointing().index(row);
        slot.map_or(row, |slot| ways.after_revisits[slot])
    }

    /// The first capture on the way that is no redirect.
    pub(super) fn answer(&self, ways: &Ways, row: RowId) -> RowId {
        if self.thresholds.names(Evidence::Revisit) {
            self.ends.page(row)
        } else {
            // All hops before it are redirects.
            self.stand(ways, row)
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
