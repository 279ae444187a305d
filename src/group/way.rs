//! The way of each capture under the evidence that is named: where it stands, and by which status.

use super::{Basis, End, Evidence, Hop, RowFlags};
use crate::capture::RecordType;
use crate::catalog::RowId;

/// Where pointers bring each capture; every way is gone once, however many captures share it.
#[derive(Debug)]
pub(super) struct Ways {
    stand: Vec<RowId>,
    first_answer: Vec<RowId>,
    original: Vec<RowId>,
    location: Vec<RowId>,
}

impl Ways {
    /// Goes all ways.
    pub(super) fn of(basis: Basis<'_>) -> Self {
        let n_rows = basis.catalog.len();
        let go = |admits: &dyn Fn(RowId, &Hop) -> bool| {
            follow(n_rows, |row| {
                basis.ends.hop(row).filter(|hop| admits(row, hop))
            })
        };
        Self {
            stand: go(&|_, hop| basis.admits(hop)),
            first_answer: go(&|row, hop| {
                basis.admits(hop) && is_redirect_status(basis.ends.facts(row).status)
            }),
            original: go(&|_, hop| hop.kind == Evidence::Revisit),
            location: go(&|row, hop| {
                hop.kind == Evidence::Revisit && basis.takes_location_of_original(row)
            }),
        }
    }

    /// The capture whose content serves a row.
    pub(super) fn stand(&self, row: RowId) -> RowId {
        self.stand[row.index()]
    }

    /// The first capture on the way of a row that is no redirect.
    pub(super) fn first_answer(&self, row: RowId) -> RowId {
        self.first_answer[row.index()]
    }

    /// What revisits lead a row to, before any redirect.
    pub(super) fn original(&self, row: RowId) -> RowId {
        self.original[row.index()]
    }

    /// The capture whose Location is that of a row.
    pub(super) fn location(&self, row: RowId) -> RowId {
        self.location[row.index()]
    }
}

/// The last row of each row's way; where a way came round, some row of the round.
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

/// 3xx but 304.
fn is_redirect_status(status: u16) -> bool {
    (300..400).contains(&status) && status != 304
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
            first.kind != Evidence::Revisit || hop(ways.original(row)).is_some()
        })
    }

    /// Whether the pointers on the way of `row` may serve a page group.
    pub(super) fn trusts(&self, ways: &Ways, row: RowId) -> bool {
        let needs = if self.ends.is_temporary(row) {
            Evidence::RedirectTemporary
        } else {
            Evidence::Redirect
        };
        matches!(self.ends.end(row), End::Itself | End::Row(_))
            && (!self.is_redirected(ways, row) || self.thresholds.names(needs))
    }

    /// A revisit without an HTTP head, or with a 304.
    fn takes_location_of_original(&self, row: RowId) -> bool {
        let row = self.catalog.row(row);
        row.record_type == RecordType::Revisit
            && (!row.flags.contains(RowFlags::HTTP_HEAD) || row.status == 304)
    }
}
