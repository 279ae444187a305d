//! A bit for each row.

use rayon::prelude::*;

use crate::catalog::RowId;

const BITS: usize = u64::BITS as usize;

/// Some rows of a catalog, a bit each.
#[derive(Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The rows of a catalog of `len` rows that `is_member` admits.
    pub(super) fn of(len: usize, is_member: impl Fn(RowId) -> bool + Sync) -> Self {
        let word = |nth: usize| {
            let rows = nth * BITS..len.min((nth + 1) * BITS);
            rows.map(RowId::from_index).fold(0, |word, row| {
                word | u64::from(is_member(row)) << (row.index() % BITS)
            })
        };
        let words = (0..len.div_ceil(BITS)).into_par_iter().map(word).collect();
        Self { words }
    }

    /// Whether a row is among them; none is a member of an empty set.
    pub(super) fn has(&self, row: RowId) -> bool {
        let word = self.words.get(row.index() / BITS);
        word.is_some_and(|word| word >> (row.index() % BITS) & 1 == 1)
    }

    /// Sixty-four rows at a time.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }
}
