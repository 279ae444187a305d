//! How many target URIs are distinct. Equal ones have equal keys, so that URIs are compared within a key group only; and what
//! is its own key text is equal to all others of its key that are.

use super::Basis;
use super::tags::Tag;
use crate::catalog::{RowFlags, RowId};
use hashbrown::HashSet;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

/// Counts the distinct URIs of key groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uris {
    n_distinct: u64,
    /// Rows that were asked for in another way than GET, whose keys cover that way too.
    n_not_get: u64,
}

impl Uris {
    /// Adds all rows of a key.
    pub(super) fn add(&mut self, basis: Basis<'_>, same_key: &[Tag]) {
        let has = |row: RowId, flag| basis.catalog.row(row).flags.contains(flag);
        if has(same_key[0].row(), RowFlags::NOT_GET) {
            self.n_not_get += same_key.len() as u64;
            return;
        }
        let mut is_any_verbatim = false;
        let mut others: HashSet<u128> = HashSet::new();
        for row in same_key.iter().map(|tag| tag.row()) {
            if has(row, RowFlags::VERBATIM) {
                is_any_verbatim = true;
            } else {
                others.insert(uri(basis, row));
            }
        }
        self.n_distinct += u64::from(is_any_verbatim) + others.len() as u64;
    }

    /// With other keys.
    pub(super) fn and(self, others: Self) -> Self {
        Self {
            n_distinct: self.n_distinct + others.n_distinct,
            n_not_get: self.n_not_get + others.n_not_get,
        }
    }

    /// All of them, where `n_alone` rows that were not added are alone with their keys.
    pub(super) fn count(self, basis: Basis<'_>, n_alone: u64) -> u64 {
        let rows = || {
            let rows = (0..basis.catalog.len()).into_par_iter();
            rows.map(RowId::from_index)
        };
        let is_get = |row: &RowId| {
            let flags = basis.catalog.row(*row).flags;
            !flags.contains(RowFlags::NOT_GET)
        };
        let not_get: Vec<RowId> = rows().filter(|row| !is_get(row)).collect();
        let n_alone_not_get = not_get.len() as u64 - self.n_not_get;
        let n_distinct = self.n_distinct + n_alone - n_alone_not_get;
        if not_get.is_empty() {
            return n_distinct;
        }
        // These have further URIs, unless a GET asked for the same.
        let keys: HashSet<_> = not_get
            .iter()
            .map(|row| basis.catalog.url_key(*row))
            .collect();
        let got: Vec<u128> = rows()
            .filter(|row| is_get(row) && keys.contains(&basis.catalog.row(*row).key))
            .map(|row| uri(basis, row))
            .collect();
        let got: HashSet<u128> = got.into_iter().collect();
        let further: HashSet<u128> = not_get
            .into_iter()
            .map(|row| uri(basis, row))
            .filter(|uri| !got.contains(uri))
            .collect();
        n_distinct + further.len() as u64
    }
}

fn uri(basis: Basis<'_>, row: RowId) -> u128 {
    xxh3_128(basis.catalog.target_uri(row))
}
