//! Learning what can be merged on one host: chosen on half A, measured once on half B.
//!
//! Candidates come in the order of preference, the narrowest first, and are tried one after the other on top of
//! what was chosen before: one that merges nothing more has no evidence. Keys come from outside, since this sees
//! no text.

use hashbrown::{HashMap, HashSet};

use super::classes::Fired;
use super::halves::{Half, Skeleton};
use super::interval::{Cluster, Precision};
use super::table::{Table, UrlId};
use crate::key::ComparisonKey;
use crate::policy::RuleSet;

/// Rounds of trying: what was dropped in one can let other names help in the next.
const ROUNDS: usize = 3;
/// Names that merge nothing alone, of which each two are tried together.
const SILENT_MAX: usize = 16;
/// What can be learned for a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Bets that would run there.
    pub rules: RuleSet,
    /// Names of parameters that would be dropped, by their number.
    pub names: Vec<u32>,
    /// URLs of the host that it may change, ascending.
    pub urls: Vec<UrlId>,
}

/// Bets and names in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Bets.
    pub rules: RuleSet,
    /// Names of parameters.
    pub names: Vec<u32>,
}

impl Chosen {
    fn with(&self, candidate: &Candidate) -> Self {
        Self {
            rules: self.rules.union(candidate.rules),
            names: [self.names.as_slice(), &candidate.names].concat(),
        }
    }
}

/// Merges by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Rightly, of two URLs that can be judged.
    pub right: u64,
    /// Wrongly.
    pub wrong: u64,
    /// Of which nothing is known.
    pub unverifiable: u64,
}

impl Evidence {
    /// Those with a verdict.
    #[must_use]
    pub fn decidable(self) -> u64 {
        self.right + self.wrong
    }

    /// Adds other merges.
    pub fn join(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.unverifiable += other.unverifiable;
    }

    /// Adds one merge; `None`: of two URLs that cannot be judged.
    pub(super) fn add(&mut self, is_right: Option<bool>) {
        match is_right {
            Some(true) => self.right += 1,
            Some(false) => self.wrong += 1,
            None => self.unverifiable += 1,
        }
    }

    /// Whether half A chooses a rule that merges so, if half B must show `decidable_min` merges.
    ///
    /// A tenth of them: a rule that fails on a tenth of its merges is then seen to fail in 19 of 20 cases, and half B
    /// sees the others.
    pub(super) fn is_chosen(self, decidable_min: u64) -> bool {
        self.wrong == 0 && self.right >= decidable_min.div_ceil(CHOSEN_SHARE).max(1)
    }

    /// What half B makes of a rule that merges so.
    pub(super) fn fate(self, decidable_min: u64) -> Fate {
        if self.wrong > 0 {
            Fate::Wrong
        } else if self.decidable() < decidable_min {
            Fate::TooFew
        } else {
            Fate::Kept
        }
    }
}

/// Of the merges that half B must show, those that half A must.
const CHOSEN_SHARE: u64 = 10;

/// What became of a rule that half A has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Half B has merges enough, and none of them is wrong.
    Kept,
    /// Half B has a wrong one.
    Wrong,
    /// Half B has too few.
    TooFew,
}

/// A rule that half A has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedRule {
    /// What it is.
    pub candidate: Candidate,
    /// What it merges in half A beyond those chosen before it.
    pub learned: Evidence,
    /// The same in half B.
    pub measured: Evidence,
    /// What follows.
    pub fate: Fate,
}

/// All that was learned of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedRules {
    /// In the order in which they were chosen.
    pub all: Vec<LearnedRule>,
    /// The decidable merges of half B, by skeleton.
    clusters: Vec<Cluster>,
}

impl LearnedRules {
    /// Those that half B bears out.
    pub fn kept(&self) -> impl Iterator<Item = &LearnedRule> {
        self.all.iter().filter(|rule| rule.fate == Fate::Kept)
    }
}

/// The error of all that half A has chosen, removed or not, on half B: of further merges on these hosts.
///
/// What was drawn into half B are skeletons, so these are the clusters.
#[must_use]
pub fn held_out<'a>(hosts: impl IntoIterator<Item = &'a LearnedRules>) -> Precision {
    let clusters: Vec<Cluster> = hosts
        .into_iter()
        .flat_map(|rules| rules.clusters.iter().copied())
        .collect();
    Precision::of_small(&clusters)
}

/// Learns from the URLs of one host. `decidable_min` is what half B must show; `keys` has the keys of URLs under
/// bets and names.
pub fn learn(
    table: &Table,
    urls: &[UrlId],
    candidates: Vec<Candidate>,
    decidable_min: u64,
    keys: impl Fn(&Chosen, &[UrlId]) -> Vec<ComparisonKey>,
) -> LearnedRules {
    let of_half = |half| -> Vec<UrlId> {
        let urls = urls.iter().copied();
        urls.filter(|url| table.url(*url).skeleton.half() == Some(half))
            .collect()
    };
    let urls_a = of_half(Half::A);
    let mut half_a = HalfA {
        table,
        decidable_min,
        partition: Partition::of(&urls_a, &keys(&Chosen::default(), &urls_a)),
        chosen: Chosen::default(),
        keys: &keys,
    };
    let mut rules = half_a.choose(candidates);
    let learned = loop {
        let learned = half_a.measure(&urls_a, &rules);
        let is_good = |merges: &Vec<Merge>| evidence(merges).is_chosen(decidable_min);
        let before = rules.len();
        let mut good = learned.iter().map(is_good);
        rules.retain(|_| good.next().unwrap_or(false));
        if rules.len() == before {
            break learned;
        }
    };
    let measured = half_a.measure(&of_half(Half::B), &rules);
    let all = rules
        .into_iter()
        .zip(learned.iter().zip(&measured))
        .map(|(candidate, (learned, measured))| {
            let measured = evidence(measured);
            LearnedRule {
                candidate,
                learned: evidence(learned),
                measured,
                fate: measured.fate(decidable_min),
            }
        })
        .collect();
    LearnedRules {
        all,
        clusters: clusters(measured.into_iter().flatten().collect()),
    }
}

/// One merge: where, and what of it.
#[derive(Clone, Copy, Debug)]
struct Merge {
    skeleton: Skeleton,
    /// `None` where it is not decidable.
    is_right: Option<bool>,
}

fn evidence(merges: &[Merge]) -> Evidence {
    let mut evidence = Evidence::default();
    merges.iter().for_each(|merge| evidence.add(merge.is_right));
    evidence
}

fn clusters(mut merges: Vec<Merge>) -> Vec<Cluster> {
    merges.retain(|merge| merge.is_right.is_some());
    merges.sort_unstable_by_key(|merge| merge.skeleton);
    merges
        .chunk_by(|a, b| a.skeleton == b.skeleton)
        .map(|together| Cluster {
            right: evidence(together).right,
            decidable: together.len() as u64,
        })
        .collect()
}

/// Half A while rules are chosen on it.
struct HalfA<'a, K> {
    table: &'a Table,
    /// What half B must show.
    decidable_min: u64,
    partition: Partition,
    chosen: Chosen,
    keys: &'a K,
}

impl<K: Fn(&Chosen, &[UrlId]) -> Vec<ComparisonKey>> HalfA<'_, K> {
    /// What passes, each on top of those before it.
    fn choose(&mut self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        for candidate in &mut candidates {
            let own = &self.partition.keys;
            candidate.urls.retain(|url| own.contains_key(url));
        }
        let mut rules = Vec::new();
        for round in 0..ROUNDS {
            let before = rules.len();
            let mut silent: Vec<usize> = Vec::new();
            candidates.retain(|candidate| !candidate.urls.is_empty());
            let mut rest = Vec::new();
            for candidate in candidates {
                let merged = self.try_out(&candidate);
                if merged.is_chosen(self.decidable_min) {
                    self.accept(&candidate);
                    rules.push(candidate);
                    continue;
                }
                if merged == Evidence::default() && !candidate.names.is_empty() {
                    silent.push(rest.len());
                }
                rest.push(candidate);
            }
            candidates = rest;
            if rules.len() == before {
                let silent: Vec<&Candidate> = silent.iter().map(|at| &candidates[*at]).collect();
                let Some(pair) = self.pair(&silent) else {
                    break;
                };
                if round + 1 == ROUNDS {
                    break;
                }
                self.accept(&pair);
                candidates.retain(|candidate| {
                    candidate.names.is_empty() || !pair.names.contains(&candidate.names[0])
                });
                rules.push(pair);
            }
        }
        rules
    }

    /// The first two names that only help together.
    fn pair(&self, silent: &[&Candidate]) -> Option<Candidate> {
        let silent = &silent[..silent.len().min(SILENT_MAX)];
        silent.iter().enumerate().find_map(|(index, one)| {
            silent[index + 1..].iter().find_map(|other| {
                let with_other: HashSet<UrlId> = other.urls.iter().copied().collect();
                let urls = one.urls.iter().copied();
                let pair = Candidate {
                    rules: RuleSet::EMPTY,
                    names: [one.names.as_slice(), &other.names].concat(),
                    urls: urls.filter(|url| with_other.contains(url)).collect(),
                };
                let merges = || self.try_out(&pair).is_chosen(self.decidable_min);
                (pair.urls.len() > 1 && merges()).then_some(pair)
            })
        })
    }

    /// What a candidate merges beyond what is merged already.
    fn try_out(&self, candidate: &Candidate) -> Evidence {
        let keys = (self.keys)(&self.chosen.with(candidate), &candidate.urls);
        evidence(&self.partition.merges(self.table, &candidate.urls, &keys))
    }

    fn accept(&mut self, candidate: &Candidate) {
        self.chosen = self.chosen.with(candidate);
        let mut urls: Vec<UrlId> = self.partition.keys.keys().copied().collect();
        urls.sort_unstable();
        self.partition = Partition::of(&urls, &(self.keys)(&self.chosen, &urls));
    }

    /// What each rule merges beyond those before it, with all URLs keyed anew.
    fn measure(&self, urls: &[UrlId], rules: &[Candidate]) -> Vec<Vec<Merge>> {
        let mut chosen = Chosen::default();
        let mut partition = Partition::of(urls, &(self.keys)(&chosen, urls));
        rules
            .iter()
            .map(|rule| {
                chosen = chosen.with(rule);
                let keys = (self.keys)(&chosen, urls);
                let merges = partition.merges(self.table, urls, &keys);
                partition = Partition::of(urls, &keys);
                merges
            })
            .collect()
    }
}

/// URLs by their key.
struct Partition {
    keys: HashMap<UrlId, ComparisonKey>,
    classes: HashMap<ComparisonKey, Vec<UrlId>>,
}

impl Partition {
    fn of(urls: &[UrlId], keys: &[ComparisonKey]) -> Self {
        let mut classes: HashMap<ComparisonKey, Vec<UrlId>> = HashMap::new();
        for (url, key) in urls.iter().zip(keys) {
            classes.entry(*key).or_default().push(*url);
        }
        Self {
            keys: urls.iter().copied().zip(keys.iter().copied()).collect(),
            classes,
        }
    }

    /// Each URL that gets another keeper if `urls` have these keys, and was not together with it before.
    fn merges(&self, table: &Table, urls: &[UrlId], keys: &[ComparisonKey]) -> Vec<Merge> {
        let mut fired: Vec<Fired> = urls
            .iter()
            .zip(keys)
            .filter(|(url, key)| self.keys[*url] != **key)
            .map(|(url, key)| Fired {
                key: *key,
                url: *url,
            })
            .collect();
        fired.sort_unstable();
        let moved: HashSet<UrlId> = fired.iter().map(|row| row.url).collect();
        let mut merges = Vec::new();
        for of_key in fired.chunk_by(|a, b| a.key == b.key) {
            let staying = self.classes.get(&of_key[0].key).into_iter().flatten();
            let mut members: Vec<UrlId> = of_key.iter().map(|row| row.url).collect();
            members.extend(staying.filter(|url| !moved.contains(*url)));
            members.sort_unstable();
            let keeper = members[0];
            merges.extend(
                members[1..]
                    .iter()
                    .filter(|url| self.keys[*url] != self.keys[&keeper])
                    .map(|url| merge(table, *url, keeper)),
            );
        }
        merges
    }
}

fn merge(table: &Table, url: UrlId, keeper: UrlId) -> Merge {
    Merge {
        skeleton: table.url(url).skeleton,
        is_right: table.decides(table.verdict(url, keeper), (url, keeper)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Content, Lanes, Sighting, Url, Window};

    /// A URL as values of its parameters, the page that it shows, and its half.
    type Made = (&'static [u32], u128, Half);

    fn key(values: &[u32], chosen: &Chosen) -> ComparisonKey {
        let kept = (0..)
            .zip(values)
            .filter(|(name, _)| !chosen.names.contains(name));
        let text: Vec<u8> = kept
            .flat_map(|(name, value): (u32, &u32)| [name.to_le_bytes(), value.to_le_bytes()])
            .flatten()
            .collect();
        ComparisonKey::of(&text)
    }

    fn table(made: &[Made]) -> Table {
        let urls = (1..)
            .zip(made)
            .map(|(number, (values, _, half)): (u64, &Made)| Url {
                key: key(values, &Chosen::default()),
                domain: 0,
                host: 0,
                resource: number,
                skeleton: Skeleton::new(Some(number * 2 + u64::from(*half == Half::B))),
            })
            .collect();
        let sightings: Vec<Sighting> = (0..)
            .zip(made)
            .map(|(url, (_, page, _))| Sighting {
                url,
                instant: Some(0),
                content: Some(Content {
                    identity: *page,
                    lanes: Lanes(1),
                    text: 0,
                }),
                leads_to: None,
            })
            .collect();
        Table::new(urls, &sightings, Window::new(1), 50)
    }

    /// What is chosen among single names, with the right and wrong merges of half B.
    fn check(made: &[Made], expected: &[(&[u32], u64, u64, Fate)]) {
        let table = table(made);
        let urls: Vec<UrlId> = table.ids().collect();
        let candidates = (0..3)
            .map(|name| Candidate {
                rules: RuleSet::EMPTY,
                names: vec![name],
                urls: urls.clone(),
            })
            .collect();
        let keys = |chosen: &Chosen, urls: &[UrlId]| -> Vec<ComparisonKey> {
            let values = urls.iter().map(|url| made[*url as usize].0);
            values.map(|values| key(values, chosen)).collect()
        };
        let rules = learn(&table, &urls, candidates, 2, keys);
        let found: Vec<_> = rules
            .all
            .iter()
            .map(|rule| {
                let Evidence { right, wrong, .. } = rule.measured;
                (rule.candidate.names.as_slice(), right, wrong, rule.fate)
            })
            .collect();
        assert_eq!(found, expected);
    }

    use Half::{A, B};

    #[test]
    fn keeps_what_both_halves_bear_out_and_what_merges_more() {
        let made = [
            (&[1, 7, 0][..], 1, A),
            (&[1, 8, 0], 1, A),
            (&[2, 7, 0], 2, A),
            (&[3, 1, 0], 3, B),
            (&[3, 2, 0], 3, B),
            (&[3, 3, 0], 3, B),
        ];
        check(&made, &[(&[1], 2, 0, Fate::Kept)]);
    }

    #[test]
    fn half_b_removes_what_is_wrong_there_or_too_rare() {
        let wrong = [
            (&[1, 7, 0][..], 1, A),
            (&[1, 8, 0], 1, A),
            (&[3, 1, 0], 3, B),
            (&[3, 2, 0], 4, B),
        ];
        check(&wrong, &[(&[1], 0, 1, Fate::Wrong)]);
        check(&wrong[..3], &[(&[1], 0, 0, Fate::TooFew)]);
    }

    #[test]
    fn names_that_only_help_together_are_tried_together() {
        let made = [
            (&[1, 1, 1][..], 1, A),
            (&[1, 2, 2], 1, A),
            (&[2, 3, 3], 2, A),
            (&[3, 4, 4], 3, B),
            (&[3, 5, 5], 3, B),
            (&[3, 6, 6], 3, B),
        ];
        check(&made, &[(&[1, 2], 2, 0, Fate::Kept)]);
    }

    #[test]
    fn without_evidence_nothing_is_chosen() {
        check(&[(&[1, 1, 1][..], 1, A), (&[2, 2, 2], 2, B)], &[]);
        check(&[(&[1, 1, 1][..], 1, A), (&[1, 2, 1], 2, A)], &[]);
    }
}
