//! Which capture of a group is kept: a total order that no thread and no order of inputs changes.

use super::way::Ways;
use super::{Basis, End, Keep};
use crate::capture::{Completeness, RecordType, Timestamp};
use crate::catalog::RowId;
use std::cmp::Reverse;

/// What decides before the text of two captures is compared; the smaller is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    is_revisit: bool,
    doubt: u8,
    is_incomplete: bool,
    is_failure: bool,
    wish: Wish,
}

/// `--keep`, of one run always the same variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    /// Unknown dates sort last by themselves.
    Earliest(Timestamp),
    Latest {
        is_unknown: bool,
        date: Reverse<Timestamp>,
    },
    Shortest(usize),
}

/// What comes before all merit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Handicap {
    None,
    Revisit,
    Redirected,
}

impl Basis<'_> {
    /// The keeper of a URL group; `None` of no rows.
    pub(super) fn keeper(&self, rows: impl Iterator<Item = RowId>) -> Option<RowId> {
        self.first(rows.map(|row| (row, Handicap::None)))
    }

    /// The keeper of a page group: one that is its own end, if there is any; a redirect only if there is nothing else.
    pub(super) fn page_keeper(
        &self,
        ways: &Ways,
        rows: impl Iterator<Item = RowId>,
    ) -> Option<RowId> {
        self.first(rows.map(|row| {
            let handicap = if self.ends.end(row) == End::Itself {
                Handicap::None
            } else if self.is_redirected(ways, row) {
                Handicap::Redirected
            } else {
                Handicap::Revisit
            };
            (row, handicap)
        }))
    }

    /// The first by a handicap, then in keeper order.
    fn first(&self, mut rows: impl Iterator<Item = (RowId, Handicap)>) -> Option<RowId> {
        let (mut first, handicap) = rows.next()?;
        let mut best = (handicap, self.merit(first));
        for (row, handicap) in rows {
            let merit = (handicap, self.merit(row));
            if merit
                .cmp(&best)
                .then_with(|| self.catalog.tie_order(row, first))
                .is_lt()
            {
                (first, best) = (row, merit);
            }
        }
        Some(first)
    }

    fn merit(&self, id: RowId) -> Merit {
        let row = self.catalog.row(id);
        let status = self.ends.facts(id).status;
        Merit {
            is_revisit: row.record_type == RecordType::Revisit,
            doubt: row.digest_status.doubt(),
            is_incomplete: row.completeness != Completeness::Complete,
            is_failure: !is_success_or_unknown(status),
            wish: match self.thresholds.keep {
                Keep::Earliest => Wish::Earliest(row.date),
                Keep::Latest => Wish::Latest {
                    is_unknown: !row.date.is_known(),
                    date: Reverse(row.date),
                },
                Keep::ShortestUrl => Wish::Shortest(self.catalog.target_uri(id).len()),
            },
        }
    }
}

/// What joins pages and is kept before others.
pub(super) fn is_success_or_unknown(status: u16) -> bool {
    status == 0 || is_success(status)
}

/// 2xx.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}
