//! Which capture of a group is kept: a total order that no thread and no order of inputs changes.

use super::{Basis, End, Keep};
use crate::capture::{Completeness, DigestStatus, RecordType, Timestamp};
use crate::catalog::RowId;
use std::cmp::Ordering;

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
        date: std::cmp::Reverse<Timestamp>,
    },
    Shortest(usize),
}

impl Basis<'_> {
    /// The keeper of a URL group; `None` of no rows.
    pub(super) fn keeper(&self, rows: impl Iterator<Item = RowId>) -> Option<RowId> {
        self.first(rows.map(|row| (row, false)))
    }

    /// The keeper of a page group: its own end, where one is.
    pub(super) fn page_keeper(&self, rows: impl Iterator<Item = RowId>) -> Option<RowId> {
        self.first(rows.map(|row| (row, self.ends.end(row) != End::Itself)))
    }

    /// The first by a handicap, then in keeper order.
    fn first(&self, mut rows: impl Iterator<Item = (RowId, bool)>) -> Option<RowId> {
        let (mut first, handicap) = rows.next()?;
        let mut best = (handicap, self.merit(first));
        for (row, handicap) in rows {
            let merit = (handicap, self.merit(row));
            if merit
                .cmp(&best)
                .then_with(|| self.compare_text(row, first))
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
            doubt: match row.digest_status {
                DigestStatus::Ok | DigestStatus::OkOverRawBody => 0,
                DigestStatus::Unchecked
                | DigestStatus::Absent
                | DigestStatus::Uncheckable
                | DigestStatus::ByReference => 1,
                DigestStatus::Mismatch => 2,
            },
            is_incomplete: row.completeness != Completeness::Complete,
            is_failure: !is_success_or_unknown(status),
            wish: match self.thresholds.keep {
                Keep::Earliest => Wish::Earliest(row.date),
                Keep::Latest => Wish::Latest {
                    is_unknown: !row.date.is_known(),
                    date: std::cmp::Reverse(row.date),
                },
                Keep::ShortestUrl => Wish::Shortest(self.catalog.target_uri(id).len()),
            },
        }
    }

    /// URL bytes, file base name, ordinal, and only then the order of the inputs.
    fn compare_text(&self, a: RowId, b: RowId) -> Ordering {
        let catalog = self.catalog;
        let (row_a, row_b) = (catalog.row(a), catalog.row(b));
        let base = |row: &crate::catalog::Row| base_name(catalog.file_name(row.file));
        catalog
            .target_uri(a)
            .cmp(catalog.target_uri(b))
            .then_with(|| base(row_a).cmp(base(row_b)))
            .then(row_a.ordinal.cmp(&row_b.ordinal))
            .then(row_a.file.cmp(&row_b.file))
            .then(a.cmp(&b))
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

/// The last component of a file's name.
pub(super) fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}
