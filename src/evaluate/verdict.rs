//! What to do with a rule.

use super::interval::Precision;
use super::merge::{MergeCounts, Merges};

/// Domains that an interval needs to be believed.
pub(super) const DOMAINS_MIN: usize = 30;
/// Decidable merges of a host in half B that a rule for this host alone needs.
const HOST_MERGES_MIN: u64 = 300;

/// What `--min-precision` and `--min-pairs` ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Verified precision that an adopted rule has at least, at the lower end of its interval.
    pub precision_min: f64,
    /// Decidable merges that this is known from.
    pub decidable_min: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            precision_min: 0.999,
            decidable_min: 4000,
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

    /// The first that applies.
    #[must_use]
    pub fn of(merges: &Merges, precision: &Precision, thresholds: &Thresholds) -> Self {
        let total = merges.total();
        let (low, high) = precision.interval.unzip();
        if low.is_some_and(|low| low >= thresholds.precision_min)
            && total.decidable >= thresholds.decidable_min
            && merges.clusters().len() >= DOMAINS_MIN
            && total.decidable * 2 >= total.merged
        {
            Self::Adopt
        } else if high.is_some_and(|high| high < thresholds.precision_min) && total.wrong_stable > 0
        {
            Self::Reject
        } else if merges.by_domain.values().any(passes) {
            Self::AdoptPerHost
        } else {
            Self::NotEnoughEvidence
        }
    }
}

fn passes(host: &MergeCounts) -> bool {
    host.decidable_half_b >= HOST_MERGES_MIN && host.wrong_half_b == 0
}
