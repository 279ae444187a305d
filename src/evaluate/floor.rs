//! The noise floor of a rule, and its right share corrected by it.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::classes::Classes;
use super::limits::Limits;
use super::noise::{N_BINS, Share, TRIALS_MIN, trial};
use super::table::{Table, UrlId};
use super::trials::Trials;

/// Trials of the equal share of one domain.
const TRIALS_MAX: u64 = 10_000;
/// Pairs of one domain that are looked at for them.
const PAIRS_MAX: usize = 200_000;
/// The share of merged pairs that may lie where noise is unknown.
const UNKNOWN_MAX: f64 = 0.1;
/// 1 - β - ν below this says that equal and different digests mean too little.
const CONTRAST_MIN: f64 = 0.5;

/// The merged pairs of a rule by the keeper's domain and bin, and how many differ.
pub(super) type Weights = BTreeMap<u32, Trials>;

/// What noise says of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floor {
    /// How often a URL would have differed from itself; `None` for unknown.
    pub noise: Option<f64>,
    /// The trials it is known from.
    pub trials: u64,
    /// The right share without noise and chance, not yet held to 0..1.
    pub corrected: Option<f64>,
}

/// How often two URLs of a domain that nobody merges are equal, by bin.
#[derive(Debug, Default)]
pub struct Chance {
    cells: HashMap<u32, [Share; N_BINS]>,
}

impl Chance {
    /// Of `domains`, where `merged` has all classes of the run.
    #[must_use]
    pub(super) fn of(
        table: &Table,
        domains: &[u32],
        merged: &[&Classes],
        is_keyed: impl Fn(UrlId) -> bool,
    ) -> Self {
        let memberships = Memberships::of(merged);
        let wanted: HashSet<u32> = domains.iter().copied().collect();
        let mut urls: Vec<UrlId> = table
            .ids()
            .filter(|url| wanted.contains(&table.url(*url).domain) && is_keyed(*url))
            .collect();
        urls.sort_unstable_by_key(|url| (table.url(*url).domain, table.url(*url).key));
        let by_domain: Vec<&[UrlId]> = urls
            .chunk_by(|a, b| table.url(*a).domain == table.url(*b).domain)
            .collect();
        let cells: Vec<(u32, [Share; N_BINS])> = by_domain
            .par_iter()
            .map(|urls| {
                (
                    table.url(urls[0]).domain,
                    equal_shares(table, urls, &memberships),
                )
            })
            .collect();
        Self {
            cells: cells.into_iter().collect(),
        }
    }

    /// The trials of a domain, by bin.
    #[must_use]
    pub fn cells(&self, domain: u32) -> [Share; N_BINS] {
        self.cells.get(&domain).copied().unwrap_or_default()
    }
}

/// Each URL with its next, then each with its next but one, and so on.
fn equal_shares(table: &Table, urls: &[UrlId], merged: &Memberships) -> [Share; N_BINS] {
    let mut shares = [Share::default(); N_BINS];
    let mut n_trials = 0;
    let by_distance = (1..urls.len())
        .flat_map(|distance| urls.iter().zip(&urls[distance..]))
        .take(PAIRS_MAX);
    for (a, b) in by_distance {
        if merged.are_together(*a, *b) {
            continue;
        }
        if let Some(trial) = trial(table, *a, *b) {
            shares[trial.bin()].join(trial.equal());
            n_trials += 1;
            if n_trials == TRIALS_MAX {
                break;
            }
        }
    }
    shares
}

/// Which classes of all rules each merged URL is in.
struct Memberships {
    rows: Vec<(UrlId, u32, u32)>,
    ranges: HashMap<UrlId, (u32, u32)>,
}

impl Memberships {
    fn of(merged: &[&Classes]) -> Self {
        let mut rows: Vec<(UrlId, u32, u32)> = (0..)
            .zip(merged)
            .flat_map(|(rule, classes)| {
                classes
                    .class_of_url()
                    .into_iter()
                    .map(move |(url, class)| (url, rule, class))
            })
            .collect();
        rows.sort_unstable();
        let mut ranges = HashMap::new();
        let mut start = 0;
        for of_url in rows.chunk_by(|a, b| a.0 == b.0) {
            let end = start + u32::try_from(of_url.len()).expect("fewer than 2^32 memberships");
            ranges.insert(of_url[0].0, (start, end));
            start = end;
        }
        Self { rows, ranges }
    }

    fn of_url(&self, url: UrlId) -> &[(UrlId, u32, u32)] {
        self.ranges.get(&url).map_or(&[], |(start, end)| {
            &self.rows[*start as usize..*end as usize]
        })
    }

    /// Whether a rule merges the two.
    fn are_together(&self, a: UrlId, b: UrlId) -> bool {
        let mut rest = self.of_url(b);
        self.of_url(a).iter().any(|(_, rule, class)| {
            while let [(_, other, _), tail @ ..] = rest
                && other < rule
            {
                rest = tail;
            }
            rest.first()
                .is_some_and(|(_, other, other_class)| (other, other_class) == (rule, class))
        })
    }
}

/// The trials of a rule's merged pairs by the domain of their keeper; those of `except` do not count.
pub(super) fn weights(
    table: &Table,
    classes: &Classes,
    except: Option<&Classes>,
    limits: &Limits,
) -> Weights {
    let mut weights = Weights::new();
    for (_, members) in classes.iter() {
        let trials = table.trials(members, limits);
        weights
            .entry(table.url(members[0]).domain)
            .or_default()
            .join(&trials);
    }
    let Some(except) = except else {
        return weights;
    };
    let keepers: HashMap<UrlId, UrlId> = classes
        .iter()
        .flat_map(|(_, members)| members.iter().map(|url| (*url, members[0])))
        .collect();
    for (_, members) in except.iter() {
        let trials = table.trials(members, limits);
        weights
            .entry(table.url(keepers[&members[0]]).domain)
            .or_default()
            .part(&trials);
    }
    weights
}

impl Floor {
    /// Means over domains and bins, weighted by the rule's merged pairs.
    #[must_use]
    pub(super) fn of(table: &Table, chance: &Chance, weights: &Weights) -> Self {
        let mut sums = Sums::default();
        for (domain, trials) in weights {
            let noise = table.noise.cells(*domain);
            let equal = chance.cells(*domain);
            for (bin, merged) in trials.bins.iter().enumerate() {
                sums.add(*merged, noise[bin], equal[bin]);
            }
        }
        sums.floor()
    }
}

#[derive(Default)]
struct Sums {
    all: u128,
    differing: u128,
    used: u128,
    trials: u64,
    noise: f64,
    chance: f64,
}

impl Sums {
    fn add(&mut self, merged: Share, noise: Share, chance: Share) {
        self.all += u128::from(merged.trials);
        self.differing += u128::from(merged.hits);
        if merged.trials == 0 || noise.trials < TRIALS_MIN || chance.trials < TRIALS_MIN {
            return;
        }
        let weight = merged.trials as f64;
        self.used += u128::from(merged.trials);
        self.trials += noise.trials;
        self.noise += weight * noise.rate().unwrap_or(0.0);
        self.chance += weight * chance.rate().unwrap_or(0.0);
    }

    fn floor(&self) -> Floor {
        let unknown = Floor {
            trials: self.trials,
            ..Floor::default()
        };
        let (all, used) = (self.all as f64, self.used as f64);
        if self.used == 0 || all - used >= UNKNOWN_MAX * all {
            return unknown;
        }
        let (noise, chance) = (self.noise / used, self.chance / used);
        let contrast = 1.0 - chance - noise;
        if contrast < CONTRAST_MIN {
            return unknown;
        }
        let differing = self.differing as f64 / all;
        Floor {
            noise: Some(noise),
            trials: self.trials,
            corrected: Some((1.0 - chance - differing) / contrast),
        }
    }
}
