//! What to do with a rule.

use super::interval::Precision;
use super::merge::Merges;

/// Domains that an interval needs to be believed.
pub const DOMAINS_MIN: usize = 30;

/// What `--min-precision` and `--min-pairs` ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Verified precision that an adopted rule has at least, at the lower end of its interval.
    pub precision_min: f64,
    /// Decidable merges that this is known from.
    pub decidable_min: u64,
    /// Decidable merges of one host in half B that a rule for this host alone needs.
    pub host_decidable_min: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            precision_min: 0.999,
            decidable_min: 4000,
            host_decidable_min: 300,
        }
    }
}

/// The advice on one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// The evidence carries it.
    Adopt,
    /// It merges wrongly more often than is allowed, and this is hard evidence.
    Reject,
    /// On some hosts the evidence carries it.
    AdoptPerHost,
    /// Nobody can tell.
    NotEnoughEvidence,
}

impl Advice {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Adopt => "adopt",
            Self::Reject => "reject",
            Self::AdoptPerHost => "adopt-per-host",
            Self::NotEnoughEvidence => "not-enough-evidence",
        }
    }

    /// The first that applies. `passing` has the domains where it is to be adopted alone.
    #[must_use]
    pub fn of(
        merges: &Merges,
        precision: &Precision,
        thresholds: &Thresholds,
        passing: &[u32],
    ) -> Self {
        let high = precision.interval.map(|(_, high)| high);
        if Lack::of(merges, precision, thresholds).is_empty() {
            Self::Adopt
        } else if high.is_some_and(|high| high < thresholds.precision_min)
            && merges.total().wrong_stable > 0
        {
            Self::Reject
        } else if passing.is_empty() {
            Self::NotEnoughEvidence
        } else {
            Self::AdoptPerHost
        }
    }
}

/// What a rule lacks to be adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The lower end of its interval is too low, or there is none.
    Precision,
    /// Too few decidable merges.
    Decidable,
    /// Too few domains with one.
    Domains,
    /// Too few of its merges are decidable.
    Share,
    /// It is worse than is allowed, but no wrong merge is of two stable URLs: it cannot be rejected either.
    HardEvidence,
}

impl Lack {
    /// Everything that stands against adopting the rule; nothing where the advice is to adopt it.
    #[must_use]
    pub fn of(merges: &Merges, precision: &Precision, thresholds: &Thresholds) -> Vec<Self> {
        let total = merges.total();
        let (low, high) = precision.interval.unzip();
        let is_worse = high.is_some_and(|high| high < thresholds.precision_min);
        [
            (
                low.is_none_or(|low| low < thresholds.precision_min),
                Self::Precision,
            ),
            (total.decidable < thresholds.decidable_min, Self::Decidable),
            (merges.clusters().len() < DOMAINS_MIN, Self::Domains),
            (total.decidable * 2 < total.merged, Self::Share),
            (is_worse && total.wrong_stable == 0, Self::HardEvidence),
        ]
        .into_iter()
        .filter_map(|(is_lacking, lack)| is_lacking.then_some(lack))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Evidence, MergeCounts};

    /// So many domains with these merges each.
    fn check(n_domains: u32, host: MergeCounts, lacks: &[Lack], advice: Advice) {
        let host = MergeCounts {
            merged: host.right + host.wrong + host.unverifiable,
            decidable: host.right + host.wrong,
            right_decidable: host.right,
            ..host
        };
        let merges = Merges {
            by_domain: (0..n_domains).map(|domain| (domain, host)).collect(),
            ..Merges::default()
        };
        let precision = Precision::of(&merges.clusters());
        let thresholds = Thresholds::default();
        assert_eq!(Lack::of(&merges, &precision, &thresholds), lacks);
        let passing: Vec<u32> = merges.passing_domains(&thresholds).collect();
        let found = Advice::of(&merges, &precision, &thresholds, &passing);
        assert_eq!(found, advice);
    }

    #[test]
    fn a_host_needs_both_halves() {
        let half = |right, wrong| Evidence {
            right,
            wrong,
            unverifiable: 5,
        };
        let of = |half_a, half_b| MergeCounts {
            right: 400,
            half_a,
            half_b,
            ..MergeCounts::default()
        };
        let lacks = [Lack::Precision, Lack::Decidable, Lack::Domains];
        for (half_a, half_b, advice) in [
            (half(30, 0), half(300, 0), Advice::AdoptPerHost),
            (half(29, 0), half(300, 0), Advice::NotEnoughEvidence),
            (half(300, 1), half(300, 0), Advice::NotEnoughEvidence),
            (half(300, 0), half(299, 0), Advice::NotEnoughEvidence),
            (half(300, 0), half(300, 1), Advice::NotEnoughEvidence),
        ] {
            check(1, of(half_a, half_b), &lacks, advice);
        }
    }

    #[test]
    fn what_is_lacking_is_what_stands_against_adopting() {
        use Lack::{Decidable, Domains, HardEvidence, Precision, Share};
        let right = MergeCounts {
            right: 2,
            ..MergeCounts::default()
        };
        let unclear = MergeCounts {
            unverifiable: 3,
            ..right
        };
        let wrong = MergeCounts {
            wrong: 1,
            ..MergeCounts::default()
        };
        let stable = MergeCounts {
            wrong_stable: 1,
            ..wrong
        };
        check(4000, right, &[], Advice::Adopt);
        check(4000, unclear, &[Share], Advice::NotEnoughEvidence);
        check(2500, right, &[Precision], Advice::NotEnoughEvidence);
        check(
            40,
            right,
            &[Precision, Decidable],
            Advice::NotEnoughEvidence,
        );
        check(
            1,
            right,
            &[Precision, Decidable, Domains],
            Advice::NotEnoughEvidence,
        );
        check(
            40,
            wrong,
            &[Precision, Decidable, HardEvidence],
            Advice::NotEnoughEvidence,
        );
        check(40, stable, &[Precision, Decidable], Advice::Reject);
    }
}
