//! All figures of one rule or policy.

use std::collections::BTreeMap;

use super::floor::Floor;
use super::interval::{Precision, binomial_tail, discoveries};
use super::loss::Loss;
use super::merge::{MergeCounts, Merges};
use super::sample::Sampled;
use super::verdict::{Advice, DOMAINS_MIN, Lack, Thresholds};

/// False discovery rate of flagged hosts.
const DISCOVERY_RATE: f64 = 0.05;

/// One row of the report on rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// URLs whose key it changes.
    pub urls_fired: u64,
    /// URLs whose raw forms get several keys.
    pub urls_split: u64,
    /// URLs that are no longer kept apart, by verdict and domain.
    pub merges: Merges,
    /// URLs evaluated.
    pub n_urls: u64,
    /// Pairs merged.
    pub pairs_merged: u128,
    /// Pairs merged rightly.
    pub pairs_right: u128,
    /// Of these, known by redirects alone; `None` where no input states one.
    pub pairs_right_redirect: Option<u128>,
    /// Pairs merged wrongly.
    pub pairs_wrong: u128,
    /// Of these, of two stable URLs.
    pub pairs_wrong_stable: u128,
    /// Of these, with equal text; `None` where no body was read.
    pub pairs_wrong_near: Option<u128>,
    /// Pairs that share evidence and are left apart.
    pub pairs_missed: u128,
    /// Parts of the counts that are estimates.
    pub approximate: u64,
    /// Contents that could be lost.
    pub contents: u64,
    /// Contents that only unstable URLs show.
    pub contents_unstable: u64,
    /// Contents that are.
    pub loss: Loss,
    /// Bootstrap interval of the loss.
    pub loss_interval: Option<(f64, f64)>,
    /// What the decidable merges say.
    pub precision: Precision,
    /// What noise says.
    pub floor: Floor,
    /// What to do.
    pub advice: Advice,
    /// Domains where it is to be adopted alone.
    pub passing: Vec<u32>,
    /// Where only a sample was keyed: how sure the counts are, which are those of the sample over its share.
    pub sampled: Option<Sampled>,
    /// Where only a sample was keyed: what was counted in it.
    pub counted: Option<Counted>,
}

/// What was counted in a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Its merges, without their list.
    pub merges: Merges,
    /// What it says of each domain by itself.
    pub by_domain: BTreeMap<u32, MergeCounts>,
}

impl Outcome {
    /// Pairs of which nothing is known.
    #[must_use]
    pub fn pairs_unverifiable(&self) -> u128 {
        self.pairs_merged
            .saturating_sub(self.pairs_right)
            .saturating_sub(self.pairs_wrong)
    }

    /// Fewer domains than an interval needs to be believed.
    #[must_use]
    pub fn has_few_hosts(&self) -> bool {
        self.merges.clusters().len() < DOMAINS_MIN
    }

    /// Share of URLs that need no longer be kept.
    #[must_use]
    pub fn reduction(&self) -> Option<f64> {
        ratio(self.merges.total().merged, self.n_urls)
    }

    /// Contents lost for each URL saved.
    #[must_use]
    pub fn loss_per_url_saved(&self) -> Option<f64> {
        let merged = self.merges.total().merged;
        ratio(self.loss.first, merged).filter(|_| self.sampled.is_none())
    }

    /// Contents lost of all contents; of a sample only bounds are known.
    #[must_use]
    pub fn loss_rate(&self) -> Option<f64> {
        ratio(self.loss.first, self.contents).filter(|_| self.sampled.is_none())
    }

    /// Precision if all that is unverifiable is wrong, and if all of it is right.
    #[must_use]
    pub fn precision_bounds(&self) -> Option<(f64, f64)> {
        let total = self.merges.total();
        Some((
            ratio(total.right, total.merged)?,
            ratio(total.right + total.unverifiable, total.merged)?,
        ))
    }

    /// Right pairs of all that share evidence.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        let all = self.pairs_right + self.pairs_missed;
        (all > 0).then(|| self.pairs_right as f64 / all as f64)
    }

    /// What stands against adopting it.
    #[must_use]
    pub fn lacks(&self, thresholds: &Thresholds) -> Vec<Lack> {
        Lack::of(self.evidence(), &self.precision, thresholds)
    }

    /// The merges that were looked at: those of a sample as they were counted in it.
    #[must_use]
    pub fn evidence(&self) -> &Merges {
        let counted = self.counted.as_ref();
        counted.map_or(&self.merges, |counted| &counted.merges)
    }

    /// The domains with their counts, and whether the rule is worse there than is allowed.
    #[must_use]
    pub fn hosts(&self, precision_min: f64) -> Vec<(u32, MergeCounts, bool)> {
        let p_values: Vec<f64> = self
            .evidence()
            .by_domain
            .values()
            .map(|counts| binomial_tail(counts.wrong, counts.decidable, 1.0 - precision_min))
            .collect();
        let counted = self.counted.as_ref();
        counted
            .map_or(&self.merges.by_domain, |counted| &counted.by_domain)
            .iter()
            .zip(discoveries(&p_values, DISCOVERY_RATE))
            .map(|((domain, counts), is_flagged)| (*domain, *counts, is_flagged))
            .collect()
    }
}

fn ratio(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}
