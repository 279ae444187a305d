//! How many target URIs are distinct, told from keys: equal URIs have equal keys, so that URIs are compared within a key group
//! only; and what is its own key text is equal to all others of its key that are.
//!
//! Texts of the others are read when all groups are known, in the order of the input: in that of keys each would be a page of
//! its own where texts do not fit in memory.

use super::Basis;
use super::tags::Tag;
use crate::catalog::{Catalog, RowFlags, RowId};
use hashbrown::HashSet;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

/// Counts the distinct URIs of key groups.
#[derive(Debug, Default)]
pub(super) struct Uris {
    n_distinct: u64,
    /// Rows that were asked for in another way than GET, whose keys cover that way too.
    n_not_get: u64,
    /// Rows that are not their own key text, and the first row of their key.
    others: Vec<Other>,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    row: RowId,
    first_of_key: RowId,
}

/// A key by its first row, and a URI of it by its hash: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spelling {
    first_of_key: RowId,
    uri: [u32; 4],
}

impl Uris {
    /// Adds all rows of a key.
    pub(super) fn add(&mut self, basis: Basis<'_>, same_key: &[Tag]) {
        let has = |row: RowId, flag| basis.catalog.row(row).flags.contains(flag);
        let first_of_key = same_key[0].row();
        if has(first_of_key, RowFlags::NOT_GET) {
            self.n_not_get += same_key.len() as u64;
            return;
        }
        let rows = same_key.iter().map(|tag| tag.row());
        if same_key.len() == 1 {
            self.n_distinct += 1;
            return;
        }
        let n_before = self.others.len();
        self.others.extend(
            rows.filter(|row| !has(*row, RowFlags::VERBATIM))
                .map(|row| Other { row, first_of_key }),
        );
        let is_any_verbatim = self.others.len() - n_before < same_key.len();
        self.n_distinct += u64::from(is_any_verbatim);
    }

    /// With other keys.
    pub(super) fn and(mut self, others: Self) -> Self {
        self.n_distinct += others.n_distinct;
        self.n_not_get += others.n_not_get;
        self.others.extend(others.others);
        self
    }

    /// All of them, where `n_alone` rows that were not added are alone with their keys.
    pub(super) fn count(self, basis: Basis<'_>, n_alone: u64) -> u64 {
        let Self {
            n_distinct,
            n_not_get,
            others,
        } = self;
        let not_get: Vec<RowId> = basis
            .catalog
            .par_ids()
            .filter(|row| !is_get(basis, *row))
            .collect();
        let n_alone_not_get = not_get.len() as u64 - n_not_get;
        let n_got = n_distinct + n_alone - n_alone_not_get + n_spellings(basis, others);
        n_got + n_further(basis, not_get)
    }
}

/// Distinct URIs of each key among rows that are not their own key text.
fn n_spellings(basis: Basis<'_>, mut others: Vec<Other>) -> u64 {
    others.par_sort_unstable_by_key(|other| other.row);
    let spelling = |other: &Other| {
        let bytes = uri(basis, other.row).to_le_bytes();
        let part = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|nth| bytes[at + nth]));
        Spelling {
            first_of_key: other.first_of_key,
            uri: [0, 4, 8, 12].map(part),
        }
    };
    let mut spellings: Vec<Spelling> = others
        .par_chunks(Catalog::TOUCHED_ROWS)
        .flat_map_iter(|others| {
            let rows: Vec<RowId> = others.iter().map(|other| other.row).collect();
            basis.catalog.touch(&rows);
            others.iter().map(spelling)
        })
        .collect();
    drop(others);
    spellings.par_sort_unstable();
    spellings.chunk_by(|a, b| a == b).count() as u64
}

/// URIs of rows that were not asked for with GET, and that no GET asked for.
fn n_further(basis: Basis<'_>, not_get: Vec<RowId>) -> u64 {
    if not_get.is_empty() {
        return 0;
    }
    let keys = not_get.iter().map(|row| basis.catalog.url_key(*row));
    let keys: HashSet<_> = keys.collect();
    let got: Vec<u128> = basis
        .catalog
        .par_ids()
        .filter(|row| is_get(basis, *row) && keys.contains(&basis.catalog.row(*row).key))
        .map(|row| uri(basis, row))
        .collect();
    let got: HashSet<u128> = got.into_iter().collect();
    let further: HashSet<u128> = not_get
        .into_iter()
        .map(|row| uri(basis, row))
        .filter(|uri| !got.contains(uri))
        .collect();
    further.len() as u64
}

fn is_get(basis: Basis<'_>, row: RowId) -> bool {
    let flags = basis.catalog.row(row).flags;
    !flags.contains(RowFlags::NOT_GET)
}

fn uri(basis: Basis<'_>, row: RowId) -> u128 {
    xxh3_128(basis.catalog.target_uri(row))
}
