//! The capture of a key that is nearest in time.
//!
//! Captures are sorted by key and date, so that each question is a few binary searches, however many
//! captures a key has.

use std::cmp::Reverse;

use rayon::slice::ParallelSliceMut;

use crate::capture::Timestamp;
use crate::catalog::{Catalog, RowId};

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
    all: Sorted,
    /// Those of `all` that do not lead on.
    resting: Sorted,
}

/// Places in order, and where the keys that start with the same bits begin.
///
/// Keys are hashes: what these bits are not enough for is a step or two, where a search through all places is twenty, each of
/// which waits for memory.
#[derive(Debug, Default)]
struct Sorted {
    places: Vec<Place>,
    /// By the upper bits of a key, and the end of all behind them.
    starts: Vec<u32>,
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
            resting: Sorted::of(resting.copied().collect()),
            all: Sorted::of(places),
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

impl Sorted {
    fn of(places: Vec<Place>) -> Self {
        let n_starts = places.len().next_power_of_two();
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
        let alike = self.starts[bits] as usize..self.starts[bits + 1] as usize;
        let places = &self.places[alike];
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
