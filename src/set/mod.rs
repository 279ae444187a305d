//! Sets of 64-bit hashes in shards: how many are distinct, and which are not the first of their kind.
//!
//! ```text
//! for each round of four million hashes:
//!     each worker, a block of them: count by shard, then scatter hashes and indices, shard by shard
//!     each worker, a shard: for each block, in order: insert what it has for this shard
//! ```
//! - **By rounds**, not one by one: a table of ten million hashes is larger than any cache, and an insert into it waits for
//!   memory. A shard of it is not, and stays in the cache for all that a round has for it.
//! - **No lock**: a block belongs to its worker, then a shard does. What was there before is told by index, and
//!   does not depend on threads: blocks come in order.
//! - **No hashing**: the hashes are hashes. A table takes the slot from the low 32 bits, so shards go by the bits above.
//!
//! What each bought stands in `benches/README.md`. Knows numbers only; must never import anything
//! of this crate.

mod shared;
mod table;

use rayon::prelude::*;

pub use shared::shared;
use table::Table;

/// A power of two. At ten million hashes a shard takes less than a megabyte.
const N_SHARDS: usize = 256;
/// The lowest bit that shards go by: tables of 2³² buckets a shard do not reach it.
const SHARD_SHIFT: u32 = 32;
/// Hashes that are scattered before any of them is inserted: bounds the memory that this takes.
const ROUND_LEN: usize = 1 << 22;
/// Hashes that one worker scatters.
const BLOCK_LEN: usize = 1 << 16;

/// A set of hashes whose bits are all equally random.
#[derive(Clone, Debug)]
pub struct Sharded {
    shards: Vec<Table>,
}

impl Default for Sharded {
    fn default() -> Self {
        Self {
            shards: vec![Table::default(); N_SHARDS],
        }
    }
}

impl Sharded {
    /// Inserts `hash(0)` to `hash(n - 1)`; returns the indices of those that stood in the set already, in no order that
    /// means anything, yet always the same.
    pub fn insert_all(&mut self, n: usize, hash: impl Fn(usize) -> u64 + Sync) -> Vec<usize> {
        let mut again = Vec::new();
        for start in (0..n).step_by(ROUND_LEN) {
            let end = n.min(start + ROUND_LEN);
            let blocks: Vec<Block> = (start..end)
                .into_par_iter()
                .step_by(BLOCK_LEN)
                .map(|start| Block::scatter(start, end.min(start + BLOCK_LEN), &hash))
                .collect();
            let found: Vec<Vec<usize>> = self
                .shards
                .par_iter_mut()
                .enumerate()
                .map(|(nth, shard)| insert(shard, nth, &blocks))
                .collect();
            again.extend(found.into_iter().flatten());
        }
        again
    }

    /// Whether `hash` is in it.
    #[must_use]
    pub fn contains(&self, hash: u64) -> bool {
        self.shards[shard_of(hash)].contains(hash)
    }

    /// How many hashes are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(Table::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that its tables take.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.shards.iter().map(Table::bytes).sum()
    }
}

fn shard_of(hash: u64) -> usize {
    usize::from((hash >> SHARD_SHIFT).to_le_bytes()[0])
}

/// Hashes of one stretch, by shard.
struct Block {
    /// Index of the first.
    start: usize,
    /// Each with its distance from `start`.
    hashes: Vec<(u64, u32)>,
    /// Where the hashes of each shard end.
    ends: [u32; N_SHARDS],
}

impl Block {
    /// Counting sort: each hash goes straight to its place.
    fn scatter(start: usize, end: usize, hash: &impl Fn(usize) -> u64) -> Self {
        let plain: Vec<u64> = (start..end).map(hash).collect();
        let mut ends = [0_u32; N_SHARDS];
        for hash in &plain {
            ends[shard_of(*hash)] += 1;
        }
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        // What is now the start of each shard is its end once all are placed.
        let mut hashes = vec![(0, 0); plain.len()];
        for (distance, hash) in (0..).zip(plain) {
            let place = &mut ends[shard_of(hash)];
            hashes[*place as usize] = (hash, distance);
            *place += 1;
        }
        Self {
            start,
            hashes,
            ends,
        }
    }

    fn of_shard(&self, nth: usize) -> &[(u64, u32)] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[start as usize..self.ends[nth] as usize]
    }
}

/// Inserts what `blocks` have for a shard; the indices of what it had already.
fn insert(shard: &mut Table, nth: usize, blocks: &[Block]) -> Vec<usize> {
    let mut again = Vec::new();
    for block in blocks {
        for &(hash, distance) in block.of_shard(nth) {
            if !shard.insert(hash) {
                again.push(block.start + distance as usize);
            }
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    /// What the design allows a distinct key.
    const BYTES_MAX: usize = 21;

    /// Hashes as a good hash makes them.
    fn hash(index: usize) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
    }

    fn check(hashes: &[u64]) {
        let mut set = Sharded::default();
        let half = hashes.len() / 2;
        let mut again = set.insert_all(half, |index| hashes[index]);
        let later = set.insert_all(hashes.len() - half, |index| hashes[half + index]);
        again.extend(later.into_iter().map(|index| index + half));
        again.sort_unstable();
        let mut oracle = BTreeSet::new();
        let expected: Vec<usize> = (0..hashes.len())
            .filter(|index| !oracle.insert(hashes[*index]))
            .collect();
        assert_eq!(again, expected);
        assert_eq!(set.len(), oracle.len());
        assert_eq!(set.is_empty(), oracle.is_empty());
        for hash in hashes.iter().flat_map(|hash| [*hash, hash ^ 1, !hash]) {
            assert_eq!(set.contains(hash), oracle.contains(&hash));
        }
    }

    proptest! {
        #[test]
        fn holds_what_an_ordered_set_holds(
            hashes in proptest::collection::vec(prop_oneof![any::<u64>(), 0_u64..40, (0_u64..9).prop_map(|n| n << 32)], 0..500),
        ) {
            check(&hashes);
        }
    }

    #[test]
    fn names_all_but_the_first_over_several_rounds() {
        const N_DISTINCT: usize = 700_001;
        let mut set = Sharded::default();
        let n = ROUND_LEN + 3 * BLOCK_LEN + 5;
        let mut again = set.insert_all(n, |index| hash(index % N_DISTINCT));
        again.sort_unstable();
        assert!(again.into_iter().eq(N_DISTINCT..n));
        assert_eq!(set.len(), N_DISTINCT);
    }

    /// Tables double, and are fullest just before: the worst is just after. All shards have as many hashes but for
    /// chance, so that all of them double at about the same number.
    #[test]
    fn a_hash_takes_at_most_21_bytes() {
        let mut set = Sharded::default();
        let mut worst = 0;
        let mut n = 0;
        while n < 400_000 {
            let more = n / 50 + 20_000;
            set.insert_all(more, |index| hash(n + index));
            n += more;
            worst = worst.max(set.table_bytes().div_ceil(set.len()));
        }
        assert_eq!(set.len(), n);
        assert!(worst <= BYTES_MAX, "{worst} bytes");
        assert!(worst >= 15, "the worst was not met: {worst} bytes");
    }
}
