//! The capture of a key that is nearest in time.
//!
//! Captures are sorted by key and date. Those of a key are found by its first bits, and a date among them by a binary search,
//! however many captures a key has.

use std::cmp::Reverse;

use rayon::slice::ParallelSliceMut;

use crate::capture::Timestamp;
use crate::catalog::{Catalog, RowId};

/// Places that share their first bits, about.
const SHARE_BITS: usize = 4;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// A capture that may be led to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// What it is looked up by.
    pub(super) key: u128,
    /// When it was captured.
    pub(super) date: Timestamp,
    /// Whether it leads on itself; one that does not is preferred among equally near ones.
    pub(super) leads_on: bool,
    /// The capture.
    pub(super) row: RowId,
}

/// Captures by key and date.
#[derive(Debug, Default)]
pub(super) struct Places {
    all: ByKey,
    /// Those of `all` that do not lead on.
    resting: ByKey,
}

/// Places in order, and where the keys that start with the same bits begin.
///
/// Keys are hashes, so that few share these bits, and a search among those is short. A search through all places takes twenty
/// steps, each of which waits for memory.
#[derive(Debug, Default)]
struct ByKey {
    places: Vec<Place>,
    /// By the upper bits of a key, and the end of all behind them.
    starts: Vec<usize>,
}

impl Places {
    /// Sorts `places`; of one key and date, the first is preferred.
    pub(super) fn new(catalog: &Catalog, mut places: Vec<Place>) -> Self {
        places.par_sort_unstable_by(|one, other| {
            (one.key, one.date, one.leads_on)
                .cmp(&(other.key, other.date, other.leads_on))
                .then_with(|| catalog.tie_order(one.row, other.row))
        });
        let resting = places.iter().filter(|place| !place.leads_on);
        Self {
            resting: ByKey::of(resting.copied().collect()),
            all: ByKey::of(places),
        }
    }

    /// Whether `key` has a capture at all.
    pub(super) fn has(&self, key: u128) -> bool {
        !self.all.of_key(key).is_empty()
    }

    /// The first capture of `key` that is not `me`; for keys whose dates do not matter.
    pub(super) fn first_other(&self, key: u128, me: RowId) -> Option<RowId> {
        self.all
            .of_key(key)
            .iter()
            .find(|place| place.row != me)
            .map(|place| place.row)
    }

    /// The capture nearest to `date`, at most `within` seconds away; of equally near ones the one that does not
    /// lead on, then the later. An unknown date is farthest, and never too far.
    pub(super) fn nearest(&self, key: u128, date: Timestamp, within: i64) -> Option<RowId> {
        if date.is_known() {
            nearest(self.all.of_key(key), date, within)
        } else {
            self.latest_resting(key)
        }
    }

    /// As [`Places::nearest`], among captures that do not lead on.
    pub(super) fn nearest_resting(&self, key: u128, date: Timestamp, within: i64) -> Option<RowId> {
        if date.is_known() {
            nearest(self.resting.of_key(key), date, within)
        } else {
            latest(self.resting.of_key(key)).map(|place| place.row)
        }
    }

    /// The capture nearest to `date` and not later; an unknown date is farthest.
    pub(super) fn nearest_not_later(&self, key: u128, date: Timestamp) -> Option<RowId> {
        let (dated, undated) = split(self.all.of_key(key));
        let end = dated.partition_point(|place| place.date <= date);
        first_of_last_date(&dated[..end])
            .or(undated.first())
            .map(|place| place.row)
    }

    /// All are equally far from an unknown date.
    fn latest_resting(&self, key: u128) -> Option<RowId> {
        latest(self.resting.of_key(key))
            .or_else(|| latest(self.all.of_key(key)))
            .map(|place| place.row)
    }
}

impl ByKey {
    fn of(places: Vec<Place>) -> Self {
        let n_starts = (places.len() / SHARE_BITS).next_power_of_two();
        let mut starts = vec![0; n_starts + 1];
        for place in &places {
            starts[first_bits(place.key, n_starts) + 1] += 1;
        }
        let mut n_before = 0;
        for start in &mut starts {
            n_before += *start;
            *start = n_before;
        }
        Self { places, starts }
    }

    /// The places of one key.
    fn of_key(&self, key: u128) -> &[Place] {
        let Some(n_starts) = self.starts.len().checked_sub(1) else {
            return &[];
        };
        let bits = first_bits(key, n_starts);
        let places = &self.places[self.starts[bits]..self.starts[bits + 1]];
        let from = places.partition_point(|place| place.key < key);
        let len = places[from..].partition_point(|place| place.key == key);
        &places[from..from + len]
    }
}

/// The upper bits of a key, as a number below `n`, a power of two.
fn first_bits(key: u128, n: usize) -> usize {
    usize::try_from(((key >> 64) * n as u128) >> 64).expect("it is below `n`")
}

/// Those of known date, and the others.
fn split(places: &[Place]) -> (&[Place], &[Place]) {
    places.split_at(places.partition_point(|place| place.date.is_known()))
}

fn nearest(places: &[Place], date: Timestamp, within: i64) -> Option<RowId> {
    let (dated, undated) = split(places);
    let middle = dated.partition_point(|place| place.date < date);
    let earlier = first_of_last_date(&dated[..middle]);
    let later = dated.get(middle);
    let distance = |place: &Place| nanos(place.date).abs_diff(nanos(date));
    let limit = (i128::from(within) * NANOS_PER_SECOND)
        .max(0)
        .unsigned_abs();
    [earlier, later]
        .into_iter()
        .flatten()
        .filter(|place| distance(place) <= limit)
        .min_by_key(|place| (distance(place), place.leads_on, Reverse(place.date)))
        .or(undated.first())
        .map(|place| place.row)
}

/// The preferred one of the last known date, else of those without date.
fn latest(places: &[Place]) -> Option<&Place> {
    let (dated, undated) = split(places);
    first_of_last_date(dated).or(undated.first())
}

fn first_of_last_date(places: &[Place]) -> Option<&Place> {
    let date = places.last()?.date;
    places.get(places.partition_point(|place| place.date < date))
}

fn nanos(date: Timestamp) -> i128 {
    i128::from(date.seconds()) * NANOS_PER_SECOND + i128::from(date.nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_places_that_are_its_own() {
        let place = |row: u32, key| Place {
            key,
            date: Timestamp::UNKNOWN,
            leads_on: false,
            row: RowId(row),
        };
        let hash = |n: u32| xxhash_rust::xxh3::xxh3_128(&n.to_le_bytes());
        for n_keys in [0, 1, 3, 40, 1000] {
            // Some keys have several places, some share all but their last bits.
            let keys = (0..n_keys).flat_map(|n| [hash(n), hash(n / 3), hash(n) ^ 1, u128::from(n)]);
            let mut places: Vec<Place> =
                (0..).zip(keys).map(|(row, key)| place(row, key)).collect();
            places.sort_by_key(|place| place.key);
            let by_key = ByKey::of(places.clone());
            for key in (0..n_keys + 2).flat_map(|n| [hash(n), u128::from(n), !hash(n), u128::MAX]) {
                let rows = |places: &[Place]| -> Vec<RowId> {
                    places.iter().map(|place| place.row).collect()
                };
                let mut expected = places.clone();
                expected.retain(|place| place.key == key);
                assert_eq!(
                    rows(by_key.of_key(key)),
                    rows(&expected),
                    "{key:x} of {n_keys}"
                );
            }
        }
        assert!(ByKey::default().of_key(7).is_empty());
    }
}
