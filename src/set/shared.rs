//! Elements that share a hash with another: the only ones that must be sorted, or compared, to be grouped.
//!
//! Of a crawl most captures are alone with their key. A pass over a set finds those that are not, at a fraction of what
//! sorting all of them costs.

use rayon::prelude::*;

use super::Sharded;

/// Which of some elements share a hash.
#[derive(Debug)]
pub struct Shared {
    /// Indices of the elements whose hash another one has too, ascending.
    pub indices: Vec<usize>,
    /// Different hashes of all elements.
    pub n_distinct: u64,
    /// Different hashes of those in `indices`.
    pub n_shared: u64,
}

impl Shared {
    /// Finds those of `n` elements whose hash another one has too.
    ///
    /// Different things of one hash pass as the same: who groups the elements compares all of them.
    pub fn of(n: usize, hash: impl Fn(usize) -> u64 + Sync) -> Self {
        let mut all = Sharded::default();
        let again = all.insert_all(n, &hash);
        let n_distinct = all.len() as u64;
        drop(all);
        let mut shared = Sharded::default();
        shared.insert_all(again.len(), |nth| hash(again[nth]));
        drop(again);
        let indices = (0..n)
            .into_par_iter()
            .filter(|index| shared.contains(hash(*index)))
            .collect();
        Self {
            indices,
            n_distinct,
            n_shared: shared.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_elements_that_are_not_alone() {
        let hashes: [u64; 7] = [9, 4, 9, u64::MAX, 0, 9, 0];
        let shared = Shared::of(hashes.len(), |index| hashes[index]);
        assert_eq!(shared.indices, [0, 2, 4, 5, 6]);
        assert_eq!((shared.n_distinct, shared.n_shared), (4, 2));
        let none = Shared::of(0, |index| hashes[index]);
        assert_eq!((none.indices.len(), none.n_distinct), (0, 0));
    }
}
