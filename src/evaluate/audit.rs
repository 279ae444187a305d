//! Merges for people to judge: drawn by a seed, the same number for each rule, and of a rule spread over its hosts
//! in proportion to their merges.
//!
//! Every merge of a rule is drawn with the same probability, so that the share of right ones among those drawn is
//! that of the rule, without weights.

use super::classes::Classes;
use super::interval::splitmix64;
use super::merge::{Excepted, differing_captures};
use super::noise::nearest;
use super::table::{Table, UrlId};

/// A merge that was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Which of the rows it is from.
    pub row: usize,
    /// The URL that is not kept.
    pub url: UrlId,
    /// The one that is.
    pub keeper: UrlId,
    /// How many merges of the rule it stands for.
    pub weight: f64,
    /// Sightings of both, nearest in time: where they differ if that makes the merge wrong. `None` where one has no
    /// digest.
    pub captures: Option<(u32, u32)>,
}

/// Draws `n` merges, or all if there are fewer, by row, host and chance. `rows` are numbered as the caller wants to see them.
#[must_use]
pub fn draw(table: &Table, rows: &[(usize, &Classes)], n: usize, seed: u64) -> Vec<Drawn> {
    let merges: Vec<Vec<(UrlId, UrlId)>> = rows
        .iter()
        .map(|(_, classes)| merges(table, classes, seed))
        .collect();
    let sizes: Vec<usize> = merges.iter().map(Vec::len).collect();
    let quotas = quotas(&sizes, n);
    rows.iter()
        .zip(&merges)
        .zip(quotas)
        .flat_map(|(((row, _), merges), quota)| {
            spread(merges.len(), quota, splitmix64(seed ^ *row as u64))
                .map(move |at| (*row, merges[at], merges.len() as f64 / quota as f64))
        })
        .map(|(row, (url, keeper), weight)| Drawn {
            row,
            url,
            keeper,
            weight,
            captures: differing_captures(table, url, keeper).or_else(|| {
                nearest(table.captures(url), table.captures(keeper))
                    .map(|(a, b)| (a.sighting, b.sighting))
            }),
        })
        .collect()
}

/// The merges of a row by host, and of a host in an order that only the seed knows.
fn merges(table: &Table, classes: &Classes, seed: u64) -> Vec<(UrlId, UrlId)> {
    let excepted = Excepted::of(None);
    let mut merges: Vec<(u32, u64, UrlId, UrlId)> = classes
        .iter()
        .flat_map(|(_, members)| {
            let urls = excepted.others(members);
            urls.map(move |url| (url, members[0]))
        })
        .map(|(url, keeper)| {
            let chance = splitmix64(table.url(url).key.key ^ splitmix64(seed));
            (table.url(keeper).domain, chance, url, keeper)
        })
        .collect();
    merges.sort_unstable();
    merges
        .into_iter()
        .map(|(_, _, url, keeper)| (url, keeper))
        .collect()
}

/// Equal numbers, but no row more than it has; the first rows get what cannot be divided.
fn quotas(sizes: &[usize], n: usize) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|row| sizes[*row]);
    let mut quotas = vec![0; sizes.len()];
    let mut rest = n;
    for (index, row) in by_size.iter().enumerate() {
        let n_rows = sizes.len() - index;
        quotas[*row] = sizes[*row].min(rest.div_ceil(n_rows));
        rest -= quotas[*row];
    }
    quotas
}

/// `quota` of `n` places at equal distances, from a first one by chance.
fn spread(n: usize, quota: usize, chance: u64) -> impl Iterator<Item = usize> {
    let (n, quota) = (n as u128, quota as u128);
    let start = u128::from(chance) % n.max(1);
    (0..quota)
        .map(move |index| usize::try_from((index * n + start) / quota).expect("a place below n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_share_what_is_drawn_as_equally_as_they_can() {
        assert_eq!(quotas(&[100, 3, 100], 23), [10, 3, 10]);
        assert_eq!(quotas(&[5, 5], 100), [5, 5]);
        assert_eq!(quotas(&[9, 9], 5), [3, 2]);
        assert_eq!(quotas(&[], 5), [0; 0]);
        assert_eq!(quotas(&[0, 9], 5), [0, 5]);
    }

    #[test]
    fn places_are_spread_and_each_is_drawn_once() {
        for (n, quota, chance) in [(100, 10, 7), (7, 7, 3), (10, 3, u64::MAX), (1, 1, 9)] {
            let places: Vec<usize> = spread(n, quota, chance).collect();
            assert_eq!(places.len(), quota);
            assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
            assert!(places.iter().all(|place| *place < n), "{places:?}");
        }
    }
}
