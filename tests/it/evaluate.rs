//! `evaluate` against its brute-force twin, and through the command.

use std::collections::BTreeMap;

use crawl_dedupe::evaluate::{
    Classes, Content, Fired, Lanes, Limits, Outcome, Question, Settings, Sighting, Skeleton, Table,
    Url, Window, by_key, evaluate,
};
use crawl_dedupe::key::ComparisonKey;
use statrs::function::beta::beta_reg;

use crate::evaluate_naive::{Archive, Naive, Row, Rule};

const HOUR: i64 = 3_600_000_000;

/// Archives that the twin looks at; more with `DEDUPE_ARCHIVES`.
const N_ARCHIVES: u64 = 10_000;

#[test]
fn agrees_with_the_brute_force_twin_on_random_archives() {
    let n_archives = std::env::var("DEDUPE_ARCHIVES")
        .ok()
        .map_or(N_ARCHIVES, |n| {
            n.parse().expect("DEDUPE_ARCHIVES is a number")
        });
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..n_archives {
        let mut random = Random(seed);
        let archive = random.archive();
        let limits = Limits {
            class_listed_max: *random.pick(&[32, 0, 0]),
            ..Limits::default()
        };
        let naive = Naive::of(&archive);
        for (rule, outcome) in archive.rules.iter().zip(outcomes(&archive, limits)) {
            let row = naive.row(rule);
            compare(&row, &outcome, &format!("seed {seed}, {limits:?}"));
            for (column, count) in &row.counts {
                *seen.entry(column).or_default() += count;
            }
            *seen.entry("noise_floor").or_default() += u64::from(outcome.floor.noise.is_some());
        }
    }
    // A twin that never meets a case says nothing about it.
    let unseen: Vec<_> = seen.iter().filter(|(_, count)| **count == 0).collect();
    assert!(unseen.is_empty(), "no archive has {unseen:?}");
}

#[test]
fn estimates_stay_within_what_is_merged() {
    let limits = Limits {
        class_listed_max: 0,
        together_max: 1,
        tokens_max: 1,
        several_runs_max: 0,
        irregular_pairs_max: 0,
    };
    let mut n_estimates = 0;
    for seed in 0..500 {
        let archive = Random(seed).archive();
        let naive = Naive::of(&archive);
        for (rule, outcome) in archive.rules.iter().zip(outcomes(&archive, limits)) {
            let merged = outcome.pairs_right + outcome.pairs_wrong + outcome.pairs_unverifiable();
            let listed = naive.row(rule).counts.get("pairs_merged").copied();
            assert_eq!(merged, u128::from(listed.unwrap_or(0)), "seed {seed}");
            n_estimates += outcome.approximate;
        }
    }
    assert!(n_estimates > 0);
}

fn outcomes(archive: &Archive, limits: Limits) -> Vec<Outcome> {
    let table = Table::new(
        archive.urls.clone(),
        &archive.sightings,
        Window::new(archive.window),
        archive.boilerplate_max,
    );
    let order = by_key(&archive.urls, |_| true);
    let classes = |keys: &[u64]| {
        let fired = (0..)
            .zip(keys)
            .map(|(url, key)| {
                (
                    url,
                    ComparisonKey {
                        key: *key,
                        check: 0,
                    },
                )
            })
            .filter(|(url, key)| archive.urls[*url as usize].key != *key)
            .map(|(url, key)| Fired { key, url })
            .collect();
        Classes::of(fired, &archive.urls, &order)
    };
    let questions: Vec<Question> = archive
        .rules
        .iter()
        .map(|rule| Question {
            classes: classes(&rule.keys),
            except: rule.except.as_deref().map(classes),
            ..Question::default()
        })
        .collect();
    let settings = Settings {
        limits,
        domain_groups: archive.domain_groups.clone(),
        has_redirects: true,
        has_texts: true,
        ..Settings::default()
    };
    evaluate(&table, &questions, &settings).outcomes
}

fn compare(row: &Row, outcome: &Outcome, what: &str) {
    for (column, count) in counts(outcome) {
        let expected = u128::from(row.counts.get(column).copied().unwrap_or(0));
        assert_eq!(count, expected, "{what}: {column}");
    }
    for (column, got) in reals(outcome) {
        let expected = row.reals.get(column).copied().flatten();
        let are_close = match (got, expected) {
            (Some(got), Some(expected)) => (got - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            (got, expected) => got == expected,
        };
        assert!(are_close, "{what}: {column}: {got:?}, not {expected:?}");
    }
    assert_eq!(outcome.merges.worst_domain(), row.worst_domain, "{what}");
    let mut wrong: Vec<(u32, u32)> = outcome
        .merges
        .wrong
        .iter()
        .map(|merge| (merge.url, merge.keeper))
        .collect();
    let mut expected = row.wrong_merges.clone();
    wrong.sort_unstable();
    expected.sort_unstable();
    assert_eq!(wrong, expected, "{what}: wrong merges");
    check_precision(row, outcome, what);
    check_loss_interval(row, outcome, what);
}

fn counts(outcome: &Outcome) -> BTreeMap<&'static str, u128> {
    let merges = &outcome.merges;
    let total = merges.total();
    let pairs = [
        ("pairs_merged", Some(outcome.pairs_merged)),
        ("pairs_right", Some(outcome.pairs_right)),
        ("pairs_right_redirect", outcome.pairs_right_redirect),
        ("pairs_wrong", Some(outcome.pairs_wrong)),
        ("pairs_wrong_stable", Some(outcome.pairs_wrong_stable)),
        ("pairs_wrong_near", outcome.pairs_wrong_near),
        ("pairs_unverifiable", Some(outcome.pairs_unverifiable())),
        ("pairs_missed", Some(outcome.pairs_missed)),
    ];
    let others = [
        ("urls_merged", total.merged),
        ("urls_right", total.right),
        ("urls_wrong", total.wrong),
        ("urls_wrong_stable", total.wrong_stable),
        ("urls_unverifiable", total.unverifiable),
        ("urls_right_decidable", total.right_decidable),
        ("urls_decidable", total.decidable),
        ("classes_right", merges.classes_right),
        ("classes_wrong", merges.classes_wrong),
        ("classes_unverifiable", merges.classes_unverifiable),
        ("domains", merges.clusters().len() as u64),
        ("contents", outcome.contents),
        ("contents_unstable", outcome.contents_unstable),
        ("page_loss_first", outcome.loss.first),
        ("page_loss_best", outcome.loss.best),
        ("page_loss_worst", outcome.loss.worst),
        ("noise_pairs", outcome.floor.trials),
        ("approximate", outcome.approximate),
    ];
    pairs
        .into_iter()
        .map(|(column, count)| (column, count.expect("redirects and texts are known")))
        .chain(others.map(|(column, count)| (column, u128::from(count))))
        .collect()
}

fn reals(outcome: &Outcome) -> [(&'static str, Option<f64>); 4] {
    [
        ("page_loss_expected", Some(outcome.loss.expected)),
        ("n_eff", outcome.precision.n_eff),
        ("noise_floor", outcome.floor.noise),
        ("corrected_precision", outcome.floor.corrected),
    ]
}

/// The ends of the intervals are where the distribution functions say.
fn check_precision(row: &Row, outcome: &Outcome, what: &str) {
    let column = |name| row.counts.get(name).copied().unwrap_or(0);
    let (right, decidable) = (column("urls_right_decidable"), column("urls_decidable"));
    let precision = &outcome.precision;
    assert_eq!(precision.verified.is_some(), decidable > 0, "{what}");
    assert_eq!(
        precision.interval.is_some(),
        column("domains") > 1,
        "{what}"
    );
    let is_end_of = |(a, b): (f64, f64), end: f64, share: f64| {
        let below = beta_reg(a, b, (end - 1e-12).max(0.0));
        let above = beta_reg(a, b, (end + 1e-12).min(1.0));
        assert!(
            below - 1e-9 <= share && share <= above + 1e-9,
            "{what}: {end} {share}"
        );
    };
    let (Some(n), Some(p), Some(max)) = (
        precision.n_eff,
        precision.verified,
        precision.wrong_rate_max,
    ) else {
        return;
    };
    assert_eq!(p, right as f64 / decidable as f64, "{what}");
    let wrong = (1.0 - p) * n;
    if right == decidable {
        assert_eq!(max, (3.0 / n).min(1.0), "{what}");
    } else if right > 0 {
        is_end_of((wrong + 1.0, n - wrong), max, 0.95);
    }
    let Some((low, high)) = precision.interval else {
        return;
    };
    assert!(low <= p && p <= high, "{what}");
    if right > 0 {
        is_end_of((p * n, wrong + 1.0), low, 0.025);
    }
    if right < decidable {
        is_end_of((p * n + 1.0, wrong), high, 0.975);
    }
}

/// Two groups give an interval, and no replicate loses more than the worst group alone would.
fn check_loss_interval(row: &Row, outcome: &Outcome, what: &str) {
    let groups = &row.lost_by_group;
    assert_eq!(outcome.loss_interval.is_some(), groups.len() > 1, "{what}");
    let Some((low, high)) = outcome.loss_interval else {
        return;
    };
    let most = groups
        .values()
        .map(|(contents, lost)| *lost as f64 / *contents as f64)
        .fold(0.0, f64::max)
        * outcome.contents as f64;
    assert!(0.0 <= low && low <= high && high <= most + 1e-9, "{what}");
}

/// The generator of Steele, Lea and Flood.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        u32::try_from(self.next() % u64::from(n)).expect("a remainder is smaller")
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let n = u32::try_from(from.len()).expect("a short list");
        &from[self.below(n) as usize]
    }

    fn archive(&mut self) -> Archive {
        // One in forty is large enough for the noise of a host to be known.
        let is_large = self.below(40) == 0;
        let n_urls = if is_large {
            40 + self.below(30)
        } else {
            2 + self.below(12)
        };
        let n_domains = 1 + self.below(if is_large { 2 } else { 3 });
        let n_digests = *self.pick(&[2, 3, 2 + n_urls, 2 + n_urls, 2 + n_urls]);
        let changing = if is_large { self.below(3) * 8 } else { 30 };
        let urls: Vec<Url> = (0..n_urls).map(|url| self.url(url, n_domains)).collect();
        let span = *self.pick(&[4, 60, 48 * 40]);
        let mut sightings: Vec<Sighting> = Vec::new();
        for url in 0..n_urls {
            let own = self.below(n_digests);
            for _ in 0..=self.below(4) {
                let digest = if self.below(100) < changing {
                    self.below(n_digests)
                } else {
                    own
                };
                sightings.push(self.sighting(url, digest, span));
            }
        }
        if self.below(2) == 0 {
            self.redirect(&mut sightings);
        }
        sightings.sort_by_key(|sighting| sighting.instant.unwrap_or(i64::MAX));
        let rules = (0..=self.below(3)).map(|_| self.rule(&urls)).collect();
        Archive {
            urls,
            sightings,
            window: *self.pick(&[0, HOUR, 24 * HOUR, 30 * 24 * HOUR]),
            boilerplate_max: *self.pick(&[1, 2, 4, 50]),
            domain_groups: vec![0, 7, 900],
            rules,
        }
    }

    fn url(&mut self, url: u32, n_domains: u32) -> Url {
        let domain = self.below(n_domains);
        Url {
            key: ComparisonKey {
                key: u64::from(url) * 7919 % 10_007,
                check: 0,
            },
            domain,
            host: domain * 2 + self.below(2),
            resource: u64::from(self.below(6)),
            skeleton: Skeleton::default(),
        }
    }

    fn sighting(&mut self, url: u32, digest: u32, span: u32) -> Sighting {
        // Most bodies have no content coding; some were decoded, some never read, some of another algorithm.
        let lanes = match digest % 11 {
            8 => *self.pick(&[1, 2, 3]),
            9 => 2,
            10 => 12,
            _ => 3,
        };
        let half_hours = i64::from(self.below(span));
        Sighting {
            url,
            instant: (self.below(25) > 0).then_some(half_hours * HOUR / 2),
            content: Some(Content {
                identity: u128::from(digest) + 1,
                lanes: Lanes(lanes),
                text: u64::from(digest % 4),
            }),
            leads_to: None,
        }
    }

    /// Turns some sightings into redirects to others.
    fn redirect(&mut self, sightings: &mut [Sighting]) {
        let originals = sightings.to_vec();
        for sighting in sightings.iter_mut() {
            let end = self.pick(&originals);
            if self.below(4) == 0 {
                sighting.leads_to = Some(end.url);
                sighting.content = end.content.filter(|_| self.below(12) > 0);
            }
        }
    }

    fn rule(&mut self, urls: &[Url]) -> Rule {
        let except = (self.below(4) == 0).then(|| self.keys(urls));
        Rule {
            keys: self.keys(urls),
            except,
        }
    }

    /// Keys of their own, another URL's, or one that no URL has.
    fn keys(&mut self, urls: &[Url]) -> Vec<u64> {
        let fires = self.below(100);
        let n_new = 1 + self.below(3);
        urls.iter()
            .map(|url| {
                if self.below(100) >= fires {
                    url.key.key
                } else if self.below(4) == 0 {
                    self.pick(urls).key.key
                } else {
                    20_000 + u64::from(self.below(n_new))
                }
            })
            .collect()
    }
}
