//! Rows that one thread has read, before they are appended to the catalog.

use super::packed::Packed;
use super::spool::Spool;
use super::{Inputs, Keys, Row, RowFlags};
use crate::capture::{Capture, Locator};

/// A batch of more rows grows by an eighth.
const DOUBLED_MAX: usize = 1 << 17;

/// Rows of one stretch of one input.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) rows: Vec<Packed>,
    pub(super) spool: Spool,
}

impl Batch {
    /// A batch of captures whose texts may stand in `inputs`.
    #[must_use]
    pub fn over(inputs: Inputs) -> Self {
        Self {
            rows: Vec::new(),
            spool: Spool::over(inputs),
        }
    }

    /// Adds a capture.
    pub fn push(&mut self, capture: &Capture<'_>, keys: &Keys<'_>) {
        let text = self.spool.push(capture, keys);
        make_room(&mut self.rows, 1);
        self.rows.push(Packed::new(&Row::new(capture, keys), text));
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Gives the last rows, as far as they stand in the member at `offset`, its length; how many rows stand before these.
    pub fn end_member(&mut self, offset: u64, length: u64, n_records: u64) -> usize {
        let is_in = |locator: &Locator| locator.offset == offset;
        end_member(&mut self.rows, &mut self.spool, is_in, (length, n_records))
    }

    /// Counts ordinals from `n_before` on.
    pub fn move_ordinals(&mut self, n_before: u64) {
        self.spool.move_ordinals(n_before);
    }
}

/// Grows by less than doubling once that would cost more memory than the rows do.
pub(super) fn make_room(rows: &mut Vec<Packed>, n_rows: usize) {
    if rows.capacity() - rows.len() < n_rows {
        let step = rows.len() / if rows.len() < DOUBLED_MAX { 1 } else { 8 };
        rows.reserve_exact(step.max(n_rows).max(16));
    }
}

/// Gives the last of `rows`, as far as `is_in` says that they stand in a member, its length; how many rows stand before these.
pub(super) fn end_member(
    rows: &mut [Packed],
    spool: &mut Spool,
    is_in: impl Fn(&Locator) -> bool,
    (length, n_records): (u64, u64),
) -> usize {
    let is_elsewhere = |row: &Packed| !is_in(&spool.locator(row.text()));
    let n_before = rows
        .iter()
        .rposition(is_elsewhere)
        .map_or(0, |last| last + 1);
    for row in &mut rows[n_before..] {
        spool.set_length(row.text(), length);
        if n_records > 1 {
            row.set_flag(RowFlags::SHARES_MEMBER);
        }
    }
    n_before
}
