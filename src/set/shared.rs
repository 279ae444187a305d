//! Elements that share a hash with another: the only ones that must be sorted, or compared, to be grouped.
//!
//! Of a crawl most captures are alone with their key. A pass over a set finds those that are not, at a fraction of what
//! sorting all of them costs.

use rayon::prelude::*;

use super::Sharded;

/// Those of `n` elements whose hash another one has too: their indices, ascending. `coarse`, which is cheaper to tell, is equal
/// where elements are: `hash` is asked once of each element, and again only of those that have it with one of these in common.
///
/// Different things of one hash pass as the same: who groups the elements compares all of them.
pub fn shared(
    n: usize,
    coarse: impl Fn(usize) -> u64 + Sync,
    hash: impl Fn(usize) -> u64 + Sync,
) -> Vec<usize> {
    let again = Sharded::default().insert_all(n, &hash);
    if again.is_empty() {
        return Vec::new();
    }
    let (mut alike, mut shared) = (Sharded::default(), Sharded::default());
    alike.insert_all(again.len(), |nth| coarse(again[nth]));
    shared.insert_all(again.len(), |nth| hash(again[nth]));
    drop(again);
    (0..n)
        .into_par_iter()
        .filter(|index| alike.contains(coarse(*index)) && shared.contains(hash(*index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_elements_that_are_not_alone() {
        let hashes: [u64; 7] = [9, 4, 9, u64::MAX, 0, 9, 0];
        let n_distinct = |indices: &[usize]| {
            let mut set = Sharded::default();
            set.insert_all(indices.len(), |nth| hashes[indices[nth]]);
            set.len()
        };
        let found = shared(
            hashes.len(),
            |index| hashes[index] % 5,
            |index| hashes[index],
        );
        assert_eq!(found, [0, 2, 4, 5, 6]);
        let all: Vec<usize> = (0..hashes.len()).collect();
        assert_eq!((n_distinct(&all), n_distinct(&found)), (4, 2));
        let none = shared(0, |index| hashes[index], |index| hashes[index]);
        assert_eq!((none.len(), n_distinct(&none)), (0, 0));
    }
}
