//! Figures of a sample: what it says of the whole archive, and how surely.
//!
//! URLs are drawn by skeleton, so every merge of the whole is in the sample with its share as probability, all of
//! a skeleton together. What is counted in it over that share estimates the whole. How far it may be off depends on
//! how many skeletons it comes from: as many as would give the same variance, were all alike.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use statrs::function::beta::beta_reg;

use super::classes::Classes;
use super::halves::Skeleton;
use super::interval::splitmix64;
use super::limits::Limits;
use super::merge::{MergeCounts, Merges};
use super::outcome::{Counted, Outcome};
use super::table::{Table, UrlId};

/// Half of the two-sided error of an interval at 95 %.
const TAIL: f64 = 0.025;

/// Which URLs are keyed under what is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many of the skeletons, above 0.
    pub share: f64,
    /// Other seeds draw others.
    pub seed: u64,
}

impl Sample {
    /// Whether the URLs of a skeleton are drawn.
    #[must_use]
    pub fn holds(self, skeleton: Skeleton) -> bool {
        let place = |hash: NonZeroU64| splitmix64(hash.get() ^ splitmix64(self.seed));
        // 2^-64, so that places are spread over 0 to 1.
        let is_below = |place: u64| place as f64 * (-64_f64).exp2() < self.share;
        skeleton.hash().is_some_and(|hash| is_below(place(hash)))
    }

    /// A count of the sample as one of the whole, which has `most`.
    pub(super) fn whole(self, count: u64, most: u64) -> u64 {
        let count = self.whole_pairs(count.into(), most.into());
        count.try_into().unwrap_or(u64::MAX)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count over a share is not negative, and beyond 2^128 it is held to that"
    )]
    pub(super) fn whole_pairs(self, count: u128, most: u128) -> u128 {
        ((count as f64 / self.share).round() as u128).min(most)
    }
}

/// What is known of the whole without a sample: no count of it can be beyond.
#[derive(Clone, Debug)]
pub(super) struct Known {
    sample: Sample,
    /// URLs that are not drawn, by domain.
    undrawn: Vec<u64>,
    n_undrawn: u64,
    /// Pairs of which not both URLs are drawn.
    pairs_undrawn: u128,
    /// Pairs that share evidence.
    pairs_same: u128,
    contents: u64,
}

impl Known {
    /// Of a table; `pairs_same` of its pairs share evidence.
    pub(super) fn of(table: &Table, sample: Sample, (pairs_same, contents): (u128, u64)) -> Self {
        let n_domains = table.urls.iter().map(|url| url.domain as usize + 1).max();
        let mut undrawn = vec![0; n_domains.unwrap_or(0)];
        for url in &table.urls {
            undrawn[url.domain as usize] += u64::from(!sample.holds(url.skeleton));
        }
        let n_undrawn: u64 = undrawn.iter().sum();
        let pairs = |n: u128| n * n.saturating_sub(1) / 2;
        let n_urls = table.urls.len() as u128;
        Self {
            sample,
            undrawn,
            n_undrawn,
            pairs_undrawn: pairs(n_urls) - pairs(n_urls - u128::from(n_undrawn)),
            pairs_same,
            contents,
        }
    }

    /// Whether the URLs of a skeleton are drawn.
    pub(super) fn holds(&self, skeleton: Skeleton) -> bool {
        self.sample.holds(skeleton)
    }

    /// A count that is part of `merged` merges: each URL that is not drawn can make one more.
    fn part(&self, count: u64, merged: u64) -> u64 {
        self.part_beside(count, merged, self.n_undrawn)
    }

    fn part_beside(&self, count: u64, merged: u64, n_undrawn: u64) -> u64 {
        let most = u128::from(count) * u128::from(merged + n_undrawn) / u128::from(merged.max(1));
        self.sample
            .whole(count, most.try_into().unwrap_or(u64::MAX))
    }

    /// The merges of each domain by itself: of one that was drawn with all its URLs, what was counted. Their sum is not
    /// that of the whole, since others were not drawn.
    fn by_domain(&self, merges: &Merges) -> BTreeMap<u32, MergeCounts> {
        let whole = |(domain, counts): (&u32, &MergeCounts)| {
            let n_undrawn = self.undrawn[*domain as usize];
            let whole = |count| self.part_beside(count, counts.merged, n_undrawn);
            (*domain, counts.of_whole(whole))
        };
        merges.by_domain.iter().map(whole).collect()
    }
}

/// What a sample says of a count of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The count over the share.
    pub count: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a sample says of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// How it was drawn.
    pub sample: Sample,
    /// URLs merged, and of these by verdict: right, wrong, unverifiable.
    pub urls: [Estimate; 4],
    /// Pairs merged, and of these right and wrong.
    pub pairs: [Estimate; 3],
    /// Pairs that share evidence and are left apart.
    pub pairs_missed: Estimate,
    /// Contents lost: at least if all that URLs outside the sample show is kept there, at most if nothing is.
    pub page_loss: (f64, f64),
}

impl Estimate {
    /// Held to what there is.
    fn at_most(self, most: f64) -> Self {
        let [count, low, high] = [self.count, self.low, self.high].map(|count| count.min(most));
        Self { count, low, high }
    }
}

/// A row's counts by skeleton.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    urls: [Vec<(Skeleton, i128)>; 4],
    pairs: [Vec<(Skeleton, i128)>; 3],
    /// Pairs merged rightly, whatever the other policy does.
    right: Vec<(Skeleton, i128)>,
}

impl Spread {
    /// Of `classes`; what `part` of them merges does not count.
    pub(super) fn of(
        table: &Table,
        classes: &Classes,
        (except, part): (Option<&Classes>, Option<&Classes>),
        limits: &Limits,
    ) -> Self {
        let mut spread = Self::default();
        Merges::each(table, classes, except, |keeper, counts| {
            let skeleton = table.url(keeper).skeleton;
            let counts = [
                counts.merged,
                counts.right,
                counts.wrong,
                counts.unverifiable,
            ];
            for (all, count) in spread.urls.iter_mut().zip(counts) {
                all.push((skeleton, count.into()));
            }
        });
        for (sign, classes) in [(1, Some(classes)), (-1, part)] {
            for (_, members) in classes.into_iter().flat_map(Classes::iter) {
                let skeleton = table.url(members[0]).skeleton;
                let counts = table.count(members, limits);
                let right = i128::try_from(counts.right).unwrap_or(i128::MAX);
                if sign == 1 {
                    spread.right.push((skeleton, right));
                }
                let counts = [counts.merged, counts.right, counts.wrong];
                for (all, count) in spread.pairs.iter_mut().zip(counts) {
                    all.push((skeleton, sign * i128::try_from(count).unwrap_or(i128::MAX)));
                }
            }
        }
        spread
    }

    /// `lost` has the homes of contents lost at least and at most.
    pub(super) fn sampled(
        self,
        table: &Table,
        known: &Known,
        lost: [&[(UrlId, i128)]; 2],
    ) -> Sampled {
        let share = known.sample.share;
        let all_of = |counts: &[(Skeleton, i128)]| -> i128 { counts.iter().map(|row| row.1).sum() };
        let urls_most = all_of(&self.urls[0]) as f64 + known.n_undrawn as f64;
        let pairs_most = all_of(&self.pairs[0]) as f64 + known.pairs_undrawn as f64;
        let n_same = known.pairs_same as f64;
        let mut weight = 1.0;
        let urls = self
            .urls
            .map(|counts| estimate(counts, share, &mut weight).at_most(urls_most));
        let mut pair_weight = 1.0;
        let pairs = self
            .pairs
            .map(|counts| estimate(counts, share, &mut pair_weight).at_most(pairs_most));
        let [merged, right_of_these, wrong] = pairs;
        let pairs = [merged, right_of_these.at_most(n_same), wrong];
        let right = estimate(self.right, share, &mut 1.0);
        let missed = |right: f64| (n_same - right).max(0.0);
        let [at_least, at_most] = lost.map(|homes| {
            let homes = homes.iter();
            let homes = homes.map(|(url, n)| (table.url(*url).skeleton, *n));
            estimate(homes.collect(), share, &mut 1.0).at_most(known.contents as f64)
        });
        Sampled {
            sample: known.sample,
            urls,
            pairs_missed: Estimate {
                count: missed(right.count),
                low: missed(right.high),
                high: missed(right.low),
            },
            pairs,
            page_loss: (at_least.low, at_most.high),
        }
    }
}

/// From the counts of skeletons in the sample. `weight` is what one skeleton counts for; where there is none it is
/// that of the counts before, of which these are a part.
fn estimate(mut counts: Vec<(Skeleton, i128)>, share: f64, weight: &mut f64) -> Estimate {
    counts.sort_unstable();
    let (mut sum, mut squares) = (0.0, 0.0);
    for together in counts.chunk_by(|a, b| a.0 == b.0) {
        let count: i128 = together.iter().map(|(_, count)| *count).sum();
        sum += count as f64;
        squares += (count as f64).powi(2);
    }
    if sum <= 0.0 {
        return Estimate {
            count: 0.0,
            low: 0.0,
            high: *weight * trials_max(0.0, share),
        };
    }
    *weight = squares / sum;
    let n_seen = sum / *weight;
    Estimate {
        count: sum / share,
        low: (*weight * trials_min(n_seen, share)).max(sum),
        high: (*weight * trials_max(n_seen, share)).max(sum),
    }
}

/// The fewest trials of which `seen` or more succeed with a probability of 2.5 %.
fn trials_min(seen: f64, share: f64) -> f64 {
    if share >= 1.0 {
        return seen;
    }
    search(seen, share, |trials| {
        beta_reg(seen, trials - seen + 1.0, share) < TAIL
    })
}

/// The most trials of which `seen` or fewer succeed with a probability of 2.5 %.
fn trials_max(seen: f64, share: f64) -> f64 {
    if share >= 1.0 {
        return seen;
    }
    search(seen, share, |trials| {
        trials <= seen || 1.0 - beta_reg(seen + 1.0, trials - seen, share) > TAIL
    })
}

/// Where `is_below`, which holds for few trials, ceases to hold.
fn search(seen: f64, share: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (seen, (seen + 10.0) / share * 4.0);
    for _ in 0..100 {
        let middle = low + (high - low) / 2.0;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

impl Outcome {
    /// The counts of a sample as those of the whole; shares and the advice stay those of the sample, whose evidence they are.
    pub(super) fn blow_up(&mut self, sampled: Sampled, known: &Known) {
        let sample = sampled.sample;
        for count in [&mut self.urls_fired, &mut self.urls_split] {
            *count = sample.whole(*count, *count + known.n_undrawn);
        }
        let loss = &mut self.loss;
        for count in [&mut loss.first, &mut loss.best, &mut loss.worst] {
            *count = sample.whole(*count, known.contents);
        }
        loss.expected = f64::NAN;
        self.loss_interval = Some(sampled.page_loss);
        let merged = self.merges.total().merged;
        self.counted = Some(Counted {
            by_domain: known.by_domain(&self.merges),
            merges: self.merges.blow_up(|count| known.part(count, merged)),
        });
        let pairs_most = self.pairs_merged + known.pairs_undrawn;
        for count in [
            &mut self.pairs_merged,
            &mut self.pairs_right,
            &mut self.pairs_wrong,
            &mut self.pairs_wrong_stable,
        ]
        .into_iter()
        .chain(&mut self.pairs_right_redirect)
        .chain(&mut self.pairs_wrong_near)
        {
            *count = sample.whole_pairs(*count, pairs_most);
        }
        self.pairs_right = self.pairs_right.min(known.pairs_same);
        self.sampled = Some(sampled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_its_share_and_another_seed_another_one() {
        let held = |share, seed| -> Vec<u64> {
            let sample = Sample { share, seed };
            (1..20_000_u64)
                .filter(|hash| sample.holds(Skeleton::new(Some(*hash))))
                .collect()
        };
        let tenth = held(0.1, 1);
        assert!((1_850..2_150).contains(&tenth.len()), "{}", tenth.len());
        let half = held(0.5, 1);
        assert!(tenth.iter().all(|hash| half.contains(hash)));
        assert_ne!(tenth, held(0.1, 2));
        assert_eq!(held(1.0, 1).len(), 19_999);
        assert!(
            !Sample {
                share: 1.0,
                seed: 1
            }
            .holds(Skeleton::default())
        );
    }

    #[test]
    fn intervals_invert_the_binomial() {
        let check = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-6, "{got}");
        // Nothing seen of K with probability 0.9^K = 0.025.
        check(trials_max(0.0, 0.1), 0.025_f64.ln() / 0.9_f64.ln());
        // One or more of K with probability 1 - 0.5^K = 0.025: fewer than one trial.
        assert!(trials_min(1.0, 0.5) <= 1.0 + 1e-9);
        let (low, high) = (trials_min(10.0, 0.1), trials_max(10.0, 0.1));
        check(beta_reg(10.0, low - 9.0, 0.1), TAIL);
        check(1.0 - beta_reg(11.0, high - 10.0, 0.1), TAIL);
        check(trials_min(7.0, 1.0), 7.0);
    }

    #[test]
    fn no_count_is_beyond_what_there_is() {
        let known = |undrawn: [u64; 2]| Known {
            sample: Sample {
                share: 0.1,
                seed: 1,
            },
            undrawn: undrawn.to_vec(),
            n_undrawn: undrawn.iter().sum(),
            pairs_undrawn: 0,
            pairs_same: 0,
            contents: 0,
        };
        // Of 8 merges 6 are right, and 4 URLs more cannot make 72 merges more.
        assert_eq!(known([4, 0]).part(6, 8), 9);
        assert_eq!(known([4, 0]).part(8, 8), 12);
        assert_eq!(known([4, 90]).part(6, 8), 60);
        assert_eq!(known([4, 90]).part(8, 8), 80);
        assert_eq!(known([0, 0]).part(0, 0), 0);
        let counts = MergeCounts {
            merged: 8,
            right: 6,
            wrong: 2,
            ..MergeCounts::default()
        };
        let merges = Merges {
            by_domain: [(0, counts), (1, counts)].into(),
            ..Merges::default()
        };
        let by_domain = known([4, 90]).by_domain(&merges);
        assert_eq!([by_domain[&0].merged, by_domain[&1].merged], [12, 80]);
        let most = Estimate {
            count: 70.0,
            low: 5.0,
            high: 120.0,
        };
        let held = most.at_most(60.0);
        assert_eq!([held.count, held.low, held.high], [60.0, 5.0, 60.0]);
    }

    #[test]
    fn counts_of_one_skeleton_stand_for_one() {
        let of = |counts: &[(u64, i128)]| {
            let counts = counts
                .iter()
                .map(|(hash, count)| (Skeleton::new(Some(*hash)), *count));
            estimate(counts.collect(), 0.5, &mut 1.0)
        };
        let together = of(&[(1, 4), (1, 4), (2, 8)]);
        let apart = of(&[(1, 1), (2, 1)]);
        assert!((together.count - 32.0).abs() < 1e-9);
        assert!((together.high - 8.0 * apart.high).abs() < 1e-6);
        assert!(together.low >= 16.0);
    }
}
