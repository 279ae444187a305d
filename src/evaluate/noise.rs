//! Noise: how often one URL, fetched twice, differs from itself.

use hashbrown::HashMap;

use super::run::Instant;
use super::table::{CaptureRow, Lanes, Table, UrlId};

/// How far apart the two captures of a trial are: ≤ 1 h, ≤ 1 d, ≤ 7 d, ≤ 30 d, more.
pub const N_BINS: usize = 5;

const HOUR: Instant = 3_600_000_000;
/// The largest gap of each bin but the last.
pub(super) const BIN_ENDS: [Instant; N_BINS - 1] = [HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];

/// Trials that a share is known from.
pub(super) const TRIALS_MIN: u64 = 20;

/// A counted share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Pairs of captures that were compared.
    pub trials: u64,
    /// Of these, with the outcome in question.
    pub hits: u64,
}

impl Share {
    /// The share; `None` without trials.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.trials > 0).then(|| self.hits as f64 / self.trials as f64)
    }

    pub(super) fn join(&mut self, other: Self) {
        self.trials += other.trials;
        self.hits += other.hits;
    }
}

/// Differing shares of consecutive captures of one URL.
#[derive(Debug, Default)]
pub struct Noise {
    /// By bin, over all domains.
    pub overall: [Share; N_BINS],
    cells: HashMap<u32, [Share; N_BINS]>,
    within: HashMap<u32, Share>,
}

impl Noise {
    /// The first pair of each URL and bin.
    #[must_use]
    pub(super) fn of(table: &Table) -> Self {
        let mut noise = Self::default();
        let can_differ = |url: &UrlId| table.captures(*url).len() > 1;
        for url in table.ids().filter(can_differ) {
            let domain = table.url(url).domain;
            for (bin, trial) in first_trials(table, table.captures(url)) {
                noise.overall[bin].join(trial.differing());
                noise.cells.entry(domain).or_default()[bin].join(trial.differing());
                if trial.gap <= table.window.microseconds() {
                    noise
                        .within
                        .entry(domain)
                        .or_default()
                        .join(trial.differing());
                }
            }
        }
        noise
    }

    /// The trials of a domain, by bin.
    #[must_use]
    pub fn cells(&self, domain: u32) -> [Share; N_BINS] {
        self.cells.get(&domain).copied().unwrap_or_default()
    }

    /// Whether any bin of a domain has enough trials.
    #[must_use]
    pub(super) fn is_known(&self, domain: u32) -> bool {
        self.cells(domain)
            .iter()
            .any(|share| share.trials >= TRIALS_MIN)
    }

    /// Whether any bin of any domain has enough trials: else no noise floor is known of any rule.
    #[must_use]
    pub(super) fn is_known_somewhere(&self) -> bool {
        self.cells.keys().any(|domain| self.is_known(*domain))
    }

    /// The differing share of a domain by its trials within the window, where there are enough.
    #[must_use]
    pub fn floor_of(&self, domain: u32) -> Option<f64> {
        let share = self.within.get(&domain)?;
        share.rate().filter(|_| share.trials >= TRIALS_MIN)
    }

    /// Number of noisy domains.
    #[must_use]
    pub fn n_noisy(&self) -> usize {
        let domains = self.within.keys();
        domains.filter(|domain| self.is_noisy(**domain)).count()
    }

    /// Above 25 %, known from 20 pairs or more.
    #[must_use]
    pub fn is_noisy(&self, domain: u32) -> bool {
        self.within
            .get(&domain)
            .is_some_and(|share| share.trials >= TRIALS_MIN && share.hits * 4 > share.trials)
    }
}

/// Two captures held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// How far apart they are.
    pub(super) gap: Instant,
    /// Whether their digests differ.
    pub(super) is_different: bool,
}

impl Trial {
    fn of(a: &CaptureRow, b: &CaptureRow) -> Self {
        Self {
            gap: distance(a, b).0,
            is_different: a.digest != b.digest,
        }
    }

    /// Counts it, a hit if the digests differ.
    pub(super) fn differing(self) -> Share {
        Share {
            trials: 1,
            hits: u64::from(self.is_different),
        }
    }

    /// Counts it, a hit if the digests are equal.
    pub(super) fn equal(self) -> Share {
        Share {
            trials: 1,
            hits: u64::from(!self.is_different),
        }
    }

    /// The bin of its gap.
    #[must_use]
    pub(super) fn bin(self) -> usize {
        BIN_ENDS
            .iter()
            .position(|end| self.gap <= *end)
            .unwrap_or(N_BINS - 1)
    }
}

/// The trial between two URLs: their captures nearest in time that can be compared.
#[must_use]
pub(super) fn trial(table: &Table, a: UrlId, b: UrlId) -> Option<Trial> {
    if let ([left], [right]) = (table.captures(a), table.captures(b)) {
        let is_trial =
            left.is_in_trials && right.is_in_trials && lanes(table, left).meet(lanes(table, right));
        return is_trial.then(|| Trial::of(left, right));
    }
    let candidates = |url| {
        table
            .captures(url)
            .iter()
            .filter(|capture| capture.is_in_trials)
    };
    let all = |url| {
        candidates(url)
            .map(|capture| lanes(table, capture).0)
            .fold(0, |all, lanes| all | lanes)
    };
    let in_lane = |url, lane| -> Vec<CaptureRow> {
        candidates(url)
            .filter(|capture| lanes(table, capture).meet(lane))
            .copied()
            .collect()
    };
    Lanes(all(a) & all(b))
        .each()
        .filter_map(|lane| nearest(&in_lane(a, lane), &in_lane(b, lane)))
        .min_by_key(|(left, right)| distance(left, right))
        .map(|(left, right)| Trial::of(&left, &right))
}

/// The two captures nearest in time, one of each side; of equally near ones the earliest.
///
/// Both sides come in the order of sightings.
#[must_use]
pub(super) fn nearest(
    left: &[CaptureRow],
    right: &[CaptureRow],
) -> Option<(CaptureRow, CaptureRow)> {
    left.iter()
        .flat_map(|capture| {
            let after = right.partition_point(|other| other.sighting < capture.sighting);
            // Undated ones come last.
            let earlier = &right[..after];
            let before = earlier
                .last()
                .map(|last| earlier.partition_point(|other| other.instant < last.instant));
            // An undated one is equally far from all.
            let first = capture.instant.is_none().then_some(0);
            [first, before, Some(after)]
                .into_iter()
                .flatten()
                .filter_map(|index| Some((*capture, *right.get(index)?)))
        })
        .min_by_key(|(left, right)| distance(left, right))
}

/// By gap, then by the earlier capture, then by the later one.
pub(super) fn distance(a: &CaptureRow, b: &CaptureRow) -> (Instant, u32, u32) {
    let gap = match (a.instant, b.instant) {
        (Some(a), Some(b)) => a.abs_diff(b).try_into().unwrap_or(Instant::MAX),
        _ => Instant::MAX,
    };
    (gap, a.sighting.min(b.sighting), a.sighting.max(b.sighting))
}

fn first_trials(table: &Table, captures: &[CaptureRow]) -> Vec<(usize, Trial)> {
    let mut first: [Option<Trial>; N_BINS] = [None; N_BINS];
    let mut previous: Option<&CaptureRow> = None;
    for capture in captures.iter().filter(|capture| capture.is_in_trials) {
        if let Some(previous) = previous
            && lanes(table, previous).meet(lanes(table, capture))
        {
            let trial = Trial::of(previous, capture);
            first[trial.bin()].get_or_insert(trial);
        }
        previous = Some(capture);
    }
    (0..N_BINS)
        .filter_map(|bin| Some((bin, first[bin]?)))
        .collect()
}

/// The kinds of a capture's digest.
pub(super) fn lanes(table: &Table, capture: &CaptureRow) -> Lanes {
    table.digests[capture.digest as usize].lanes
}
