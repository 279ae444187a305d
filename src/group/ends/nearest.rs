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
    all: Vec<Place>,
    /// Those of `all` that do not lead on.
    resting: Vec<Place>,
}

impl Places {
    /// Sorts `places`; of one key and date, the first is preferred.
    pub(super) fn new(catalog: &Catalog, mut places: Vec<Place>) -> Self {
        places.par_sort_unstable_by(|one, other| {
            (one.key, one.date, one.leads_on)
                .cmp(&(other.key, other.date, other.leads_on))
                .then_with(|| catalog.tie_order(one.row, other.row))
        });
        let resting = places
            .iter()
            .filter(|place| !place.leads_on)
            .copied()
            .collect();
        Self {
            all: places,
            resting,
        }
    }

    /// Whether `key` has a capture at all.
    pub(super) fn has(&self, key: u128) -> bool {
        !span(&self.all, key).is_empty()
    }

    /// The first capture of `key` that is not `me`; for keys whose dates do not matter.
    pub(super) fn first_other(&self, key: u128, me: RowId) -> Option<RowId> {
        span(&self.all, key)
            .iter()
            .find(|place| place.row != me)
            .map(|place| place.row)
    }

    /// The capture nearest to `date`, at most `within` seconds away; of equally near ones the one that does not
    /// lead on, then the later. An unknown date is farthest, and never too far.
    pub(super) fn nearest(&self, key: u128, date: Timestamp, within: i64) -> Option<RowId> {
        if date.is_known() {
            nearest(span(&self.all, key), date, within)
        } else {
            self.latest_resting(key)
        }
    }

    /// As [`Places::nearest`], among captures that do not lead on.
    pub(super) fn nearest_resting(&self, key: u128, date: Timestamp, within: i64) -> Option<RowId> {
        if date.is_known() {
            nearest(span(&self.resting, key), date, within)
        } else {
            latest(span(&self.resting, key)).map(|place| place.row)
        }
    }

    /// The capture nearest to `date` and not later; an unknown date is farthest.
    pub(super) fn nearest_not_later(&self, key: u128, date: Timestamp) -> Option<RowId> {
        let (dated, undated) = split(span(&self.all, key));
        let end = dated.partition_point(|place| place.date <= date);
        first_of_last_date(&dated[..end])
            .or(undated.first())
            .map(|place| place.row)
    }

    /// All are equally far from an unknown date.
    fn latest_resting(&self, key: u128) -> Option<RowId> {
        latest(span(&self.resting, key))
            .or_else(|| latest(span(&self.all, key)))
            .map(|place| place.row)
    }
}

/// The places of one key.
fn span(places: &[Place], key: u128) -> &[Place] {
    let from = places.partition_point(|place| place.key < key);
    let len = places[from..].partition_point(|place| place.key == key);
    &places[from..from + len]
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
