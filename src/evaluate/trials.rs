//! Trials among the merged pairs of a class, by bin, without listing pairs where there are many.

use super::limits::Limits;
use super::noise::{BIN_ENDS, N_BINS, Share, lanes, trial};
use super::run::{Instant, Token};
use super::sweep::{pairs, within};
use super::table::{Lanes, Table, UrlId};

/// Trials and those that differ, by bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trials {
    pub(super) bins: [Share; N_BINS],
    pub(super) approximate: u64,
}

impl Trials {
    pub(super) fn join(&mut self, other: &Self) {
        for (own, other) in self.bins.iter_mut().zip(other.bins) {
            own.join(other);
        }
        self.approximate += other.approximate;
    }

    /// Takes off the trials of a part.
    pub(super) fn part(&mut self, other: &Self) {
        for (own, other) in self.bins.iter_mut().zip(other.bins) {
            own.trials = own.trials.saturating_sub(other.trials);
            own.hits = own.hits.saturating_sub(other.hits);
        }
        self.approximate += other.approximate;
    }
}

/// The one capture of a URL that trials may use.
#[derive(Clone, Copy)]
struct Single {
    instant: Instant,
    digest: Token,
    lanes: Lanes,
}

impl Table {
    /// The trials among the pairs of one class.
    pub(super) fn trials(&self, members: &[UrlId], limits: &Limits) -> Trials {
        if members.len() <= limits.class_listed_max {
            return self.trials_listed(members, &[]);
        }
        let mut singles = Vec::new();
        let mut lone = Vec::new();
        let mut several = Vec::new();
        for url in members {
            let mut captures = self
                .captures(*url)
                .iter()
                .filter(|capture| capture.is_in_trials);
            let Some(first) = captures.next() else {
                continue;
            };
            let single = Single {
                instant: first.instant.expect("a capture of a trial is dated"),
                digest: first.digest,
                lanes: lanes(self, first),
            };
            if captures.next().is_none() {
                singles.push(single);
                lone.push(*url);
            } else {
                several.push((*url, single));
            }
        }
        let n_listed = several.len() as u128 * (several.len() + lone.len()) as u128;
        if n_listed > limits.irregular_pairs_max as u128 {
            // As if each had only its first capture.
            singles.extend(several.iter().map(|(_, single)| *single));
            return Trials {
                bins: swept(&singles),
                approximate: 1,
            };
        }
        let several: Vec<UrlId> = several.into_iter().map(|(url, _)| url).collect();
        let mut trials = self.trials_listed(&several, &lone);
        trials.join(&Trials {
            bins: swept(&singles),
            approximate: 0,
        });
        trials
    }

    /// Among `members`, and of each of them with each of `others`.
    fn trials_listed(&self, members: &[UrlId], others: &[UrlId]) -> Trials {
        let mut trials = Trials::default();
        for (index, a) in members.iter().enumerate() {
            for b in members[..index].iter().chain(others) {
                if let Some(trial) = trial(self, *a, *b) {
                    trials.bins[trial.bin()].join(trial.differing());
                }
            }
        }
        trials
    }
}

/// All pairs that can be compared, and of these the ones of different digests.
fn swept(singles: &[Single]) -> [Share; N_BINS] {
    let comparable = in_lanes(singles);
    let mut by_digest: Vec<Single> = singles.to_vec();
    by_digest.sort_unstable_by_key(|single| (single.digest, single.instant));
    let mut equal = [0_u128; N_BINS];
    for same in by_digest.chunk_by(|a, b| a.digest == b.digest) {
        for (sum, count) in equal.iter_mut().zip(by_bin(same.iter())) {
            *sum += count;
        }
    }
    std::array::from_fn(|bin| Share {
        trials: comparable[bin].try_into().unwrap_or(u64::MAX),
        hits: (comparable[bin] - equal[bin])
            .try_into()
            .unwrap_or(u64::MAX),
    })
}

/// Pairs of one kind or the other, less those of both.
fn in_lanes(singles: &[Single]) -> [u128; N_BINS] {
    let mut kinds: Vec<Lanes> = singles.iter().map(|single| single.lanes).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let all = kinds.iter().fold(0, |all, lanes| all | lanes.0);
    let of = |lanes: Lanes| {
        let has_all = move |single: &&Single| single.lanes.0 & lanes.0 == lanes.0;
        by_bin(singles.iter().filter(has_all))
    };
    let mut sum = [0_u128; N_BINS];
    for lane in Lanes(all).each() {
        let counts = of(lane);
        (0..N_BINS).for_each(|bin| sum[bin] += counts[bin]);
    }
    for both in kinds.iter().filter(|lanes| lanes.0.count_ones() == 2) {
        let counts = of(*both);
        (0..N_BINS).for_each(|bin| sum[bin] -= counts[bin]);
    }
    sum
}

/// All pairs, by bin of their gap.
fn by_bin<'a>(singles: impl Iterator<Item = &'a Single>) -> [u128; N_BINS] {
    let mut instants: Vec<Instant> = singles.map(|single| single.instant).collect();
    instants.sort_unstable();
    let mut below = 0;
    std::array::from_fn(|bin| {
        let up_to = BIN_ENDS
            .get(bin)
            .map_or(pairs(instants.len()), |end| within(&instants, *end));
        let in_bin = up_to - below;
        below = up_to;
        in_bin
    })
}
