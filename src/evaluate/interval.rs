//! Uncertainty of a share of merges: merges of one domain fail together, so the domain is the unit that was drawn.
//!
//! A plain Wilson interval on pairs covers the truth in 7 % of cases; this one counts what the
//! domains are worth (`n_eff`) and puts a Clopper-Pearson interval on that.

use statrs::function::beta::beta_reg;

/// Half of the two-sided error of an interval at 95 %.
const TAIL: f64 = 0.025;
/// Replicates of the bootstrap of page loss.
const REPLICATES: u64 = 1000;
/// Groups of domains that the bootstrap draws from.
pub const DOMAIN_GROUPS: usize = 1024;

/// Decidable merges of one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Merged rightly.
    pub right: u64,
    /// All of them; never 0.
    pub decidable: u64,
}

/// What the decidable merges of all domains say of the next domain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Precision {
    /// Merges that the domains are worth, as if they were independent.
    pub n_eff: Option<f64>,
    /// Right of decidable.
    pub verified: Option<f64>,
    /// Ends of the 95 % interval; none from one domain.
    pub interval: Option<(f64, f64)>,
    /// One-sided 95 % bound of the share of wrong merges.
    pub wrong_rate_max: Option<f64>,
}

impl Precision {
    /// Of the clusters, one for each domain with a decidable merge.
    #[must_use]
    pub fn of(clusters: &[Cluster]) -> Self {
        Self::worth(clusters, n_eff)
    }

    /// Of many small clusters, as skeletons are: as if all merges of one were right or wrong together.
    ///
    /// Their variance need not be estimated, which from one wrong merge can hardly be done.
    #[must_use]
    pub fn of_small(clusters: &[Cluster]) -> Self {
        Self::worth(clusters, |clusters, _, decidable| {
            let squares = clusters
                .iter()
                .map(|cluster| (cluster.decidable as f64).powi(2));
            (decidable as f64).powi(2) / squares.sum::<f64>()
        })
    }

    /// `n_eff` says what clusters with so many right and decidable merges are worth.
    fn worth(clusters: &[Cluster], n_eff: impl Fn(&[Cluster], u64, u64) -> f64) -> Self {
        let right: u64 = clusters.iter().map(|cluster| cluster.right).sum();
        let decidable: u64 = clusters.iter().map(|cluster| cluster.decidable).sum();
        if decidable == 0 {
            return Self::default();
        }
        let n_eff = n_eff(clusters, right, decidable);
        let verified = right as f64 / decidable as f64;
        let wrong_rate_max = if right == decidable {
            (3.0 / n_eff).min(1.0)
        } else {
            let wrong = (decidable - right) as f64 / decidable as f64 * n_eff;
            upper_end(wrong, n_eff, 2.0 * TAIL)
        };
        Self {
            n_eff: Some(n_eff),
            verified: Some(verified),
            interval: (clusters.len() > 1).then(|| {
                let successes = verified * n_eff;
                (
                    lower_end(successes, n_eff, TAIL),
                    upper_end(successes, n_eff, TAIL),
                )
            }),
            wrong_rate_max: Some(wrong_rate_max),
        }
    }
}

/// How many independent merges the clusters are worth.
fn n_eff(clusters: &[Cluster], right: u64, decidable: u64) -> f64 {
    let n_domains = clusters.len() as f64;
    let residual = |cluster: &Cluster| {
        i128::from(cluster.right) * i128::from(decidable)
            - i128::from(right) * i128::from(cluster.decidable)
    };
    if clusters.iter().all(|cluster| residual(cluster) == 0) {
        return n_domains;
    }
    let total = decidable as f64;
    // Each residual over (Σn)², so that nothing overflows.
    let squares: f64 = clusters
        .iter()
        .map(|cluster| (residual(cluster) as f64 / total / total).powi(2))
        .sum();
    let variance = n_domains / (n_domains - 1.0) * squares;
    let with_not_right = clusters
        .iter()
        .filter(|cluster| cluster.right < cluster.decidable)
        .count();
    let with_right = clusters.iter().filter(|cluster| cluster.right > 0).count();
    let freedom = with_not_right.min(with_right).min(clusters.len() - 1);
    let p = right as f64 / total;
    let shrink = 1.96 / student_t(freedom as f64);
    let worth = (p * (1.0 - p) / variance * shrink * shrink).min(total);
    if freedom < 10 {
        worth.min(n_domains)
    } else {
        worth
    }
}

/// Lower Clopper-Pearson end of `successes` of `trials`, real numbers both.
#[must_use]
pub(super) fn lower_end(successes: f64, trials: f64, tail: f64) -> f64 {
    if successes <= 0.0 {
        0.0
    } else {
        beta_quantile(successes, trials - successes + 1.0, tail)
    }
}

/// Upper Clopper-Pearson end of `successes` of `trials`, real numbers both.
#[must_use]
pub(super) fn upper_end(successes: f64, trials: f64, tail: f64) -> f64 {
    if successes >= trials {
        1.0
    } else {
        beta_quantile(successes + 1.0, trials - successes, 1.0 - tail)
    }
}

/// P(X ≥ `successes`) of a binomial X.
#[must_use]
pub(super) fn binomial_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes == 0 {
        1.0
    } else {
        beta_reg(
            successes as f64,
            (trials - successes) as f64 + 1.0,
            p.clamp(0.0, 1.0),
        )
    }
}

/// The 97.5 % quantile of Student's t.
fn student_t(freedom: f64) -> f64 {
    // P(|T| > t) = I_x(ν/2, 1/2) with x = ν / (ν + t²).
    let x = beta_quantile(freedom / 2.0, 0.5, 2.0 * TAIL);
    (freedom * (1.0 - x) / x).sqrt()
}

/// Where the distribution function of Beta(a, b) reaches `share`.
///
/// Bisection: the function is monotone, and an end to the search must not depend on its shape.
fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if beta_reg(a, b, middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

/// Contents and lost contents of one group of domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupLoss {
    /// All contents charged to the group.
    pub contents: u64,
    /// Of these, lost.
    pub lost: u64,
}

/// Bootstrap interval of the contents lost, over groups of domains; none below two groups.
#[must_use]
pub(super) fn page_loss(groups: &[GroupLoss]) -> Option<(f64, f64)> {
    let groups: Vec<&GroupLoss> = groups.iter().filter(|group| group.contents > 0).collect();
    if groups.len() < 2 {
        return None;
    }
    let contents: u64 = groups.iter().map(|group| group.contents).sum();
    let n_groups = groups.len() as u64;
    let group_of = |seed| {
        usize::try_from(splitmix64(seed) % n_groups).expect("a remainder of the number of groups")
    };
    let mut losses: Vec<f64> = (0..REPLICATES)
        .map(|replicate| {
            let drawn = (0..n_groups).fold(GroupLoss::default(), |sum, draw| {
                let seed = replicate * DOMAIN_GROUPS as u64 + draw;
                let group = groups[group_of(seed)];
                GroupLoss {
                    contents: sum.contents + group.contents,
                    lost: sum.lost + group.lost,
                }
            });
            drawn.lost as f64 / drawn.contents as f64 * contents as f64
        })
        .collect();
    losses.sort_unstable_by(f64::total_cmp);
    Some((losses[24], losses[974]))
}

/// The output function of the generator of Steele, Lea and Flood for one state.
pub(super) fn splitmix64(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Which of p-values are discoveries at a false discovery rate (Benjamini and Hochberg 1995).
#[must_use]
pub(super) fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let limit = sorted
        .iter()
        .enumerate()
        .rev()
        .find(|(index, p)| **p <= (*index as f64 + 1.0) / n * rate)
        .map(|(_, p)| *p);
    p_values
        .iter()
        .map(|p| limit.is_some_and(|limit| *p <= limit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() <= 1e-10 * expected.abs().max(1e-3),
            "got {got:.15}, want {expected:.15}"
        );
    }

    /// Numbers of mpmath at 30 digits.
    #[test]
    fn small_clusters_of_one_merge_are_as_many_merges() {
        let cluster = |right, decidable| Cluster { right, decidable };
        let mut clusters = vec![cluster(1, 1); 370];
        clusters.push(cluster(0, 1));
        let alone = Precision::of_small(&clusters);
        assert!((alone.n_eff.unwrap() - 371.0).abs() < 1e-9);
        // Clopper-Pearson of 370 of 371.
        let (low, high) = alone.interval.unwrap();
        assert!(
            (low - 0.985_08).abs() < 1e-4 && (high - 0.999_93).abs() < 1e-4,
            "{low} {high}"
        );
        let together = Precision::of_small(&vec![cluster(4, 4); 100]);
        assert!((together.n_eff.unwrap() - 100.0).abs() < 1e-9);
        assert!((together.wrong_rate_max.unwrap() - 0.03).abs() < 1e-9);
    }

    #[test]
    fn clopper_pearson_ends_are_quantiles_of_beta() {
        for (successes, trials, low, high) in [
            (5.0, 10.0, 0.187_086_028_447_398_5, 0.812_913_971_552_601_5),
            (
                0.5,
                2.5,
                0.000_177_819_932_934_757_7,
                0.882_136_611_929_419_7,
            ),
            (
                990.25,
                1000.75,
                0.981_057_568_836_729_5,
                0.994_851_169_345_793_3,
            ),
            (3690.0, 3690.0, 0.999_000_803_200_873_7, 1.0),
            (
                90_000.5,
                100_000.0,
                0.898_129_038_955_744_6,
                0.901_857_724_120_278_1,
            ),
            (
                500_000.0,
                1_000_000.0,
                0.499_019_519_195_311_8,
                0.500_980_480_804_688_2,
            ),
        ] {
            check(lower_end(successes, trials, TAIL), low);
            check(upper_end(successes, trials, TAIL), high);
        }
        check(lower_end(0.0, 7.0, TAIL), 0.0);
    }

    #[test]
    fn quantiles_of_t_are_those_of_tables() {
        for (freedom, quantile) in [
            (1.0, 12.706_204_736_174_7),
            (2.0, 4.302_652_729_749_464),
            (5.0, 2.570_581_835_636_316),
            (9.0, 2.262_157_162_798_206),
            (30.0, 2.042_272_456_301_238),
            (200.0, 1.971_896_223_633_909),
        ] {
            check(student_t(freedom), quantile);
        }
    }

    #[test]
    fn binomial_tail_sums_from_the_given_count() {
        check(binomial_tail(0, 100, 0.001), 1.0);
        check(binomial_tail(3, 100, 0.001), 0.000_150_376_365_854_211_9);
        check(binomial_tail(2, 2, 0.5), 0.25);
    }

    #[test]
    fn splitmix64_is_the_published_one() {
        assert_eq!(splitmix64(0), 16_294_208_416_658_607_535);
        assert_eq!(splitmix64(1_234_567), 6_457_827_717_110_365_317);
    }

    fn clusters(of: &[(u64, u64)]) -> Vec<Cluster> {
        of.iter()
            .map(|&(right, decidable)| Cluster { right, decidable })
            .collect()
    }

    #[test]
    fn one_domain_gives_no_interval() {
        let precision = Precision::of(&clusters(&[(9, 10)]));
        assert_eq!(precision.interval, None);
        assert_eq!(precision.n_eff, Some(1.0));
        assert_eq!(precision.verified, Some(0.9));
    }

    #[test]
    fn nothing_decidable_gives_nothing() {
        assert_eq!(Precision::of(&[]), Precision::default());
    }

    #[test]
    fn all_right_is_worth_its_domains_and_the_rule_of_three() {
        let precision = Precision::of(&clusters(&[(5, 5), (1, 1), (70, 70), (2, 2)]));
        assert_eq!(precision.n_eff, Some(4.0));
        assert_eq!(precision.wrong_rate_max, Some(0.75));
        check(precision.interval.unwrap().0, 0.025_f64.powf(0.25));
    }

    #[test]
    fn few_wrong_domains_are_worth_no_more_than_all_domains() {
        let mut of = vec![(10, 10); 40];
        of[..9].fill((9, 10));
        assert_eq!(Precision::of(&clusters(&of)).n_eff, Some(40.0));
    }

    #[test]
    fn domains_that_fail_together_are_worth_less_than_their_merges() {
        // 20 domains of 10 merges each, all right or all wrong by turns: p = 1/2, H = 20,
        // var = 20/19 · 20·25 / 200² = 1/76, p(1-p)/var = 19, K = 10, t = 2.228138851964939.
        let of: Vec<_> = (0..20).map(|h| (h % 2 * 10, 10)).collect();
        let n_eff = Precision::of(&clusters(&of)).n_eff.unwrap();
        check(n_eff, 19.0 * (1.96_f64 / 2.228_138_851_964_939).powi(2));
    }

    #[test]
    fn bootstrap_needs_two_groups_and_repeats_itself() {
        let group = |contents, lost| GroupLoss { contents, lost };
        assert_eq!(page_loss(&[group(10, 1), group(0, 0)]), None);
        let groups = [group(10, 1), group(20, 0), group(5, 5)];
        assert_eq!(page_loss(&groups), Some((0.0, 35.0)));
    }

    #[test]
    fn discoveries_take_all_below_the_last_that_passes() {
        assert_eq!(
            discoveries(&[0.04, 0.001, 0.9, 0.03], 0.08),
            [true, true, false, true]
        );
        assert_eq!(discoveries(&[0.04, 0.9], 0.05), [false, false]);
        assert_eq!(discoveries(&[], 0.05), [] as [bool; 0]);
    }
}
