//! The brute-force twin of `evaluate`: every pair is looked at, straight from the definitions.

use std::collections::{BTreeMap, BTreeSet};

use crawl_dedupe::evaluate::{Sighting, Url, Verdict};

/// A digest, or a final URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Token {
    Digest(u128),
    Final(u32),
}

/// From first to last; `None` with an undated capture in it.
type Span = Option<(i64, i64)>;

/// An archive, and the keys that rules give its URLs.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) urls: Vec<Url>,
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) window: i64,
    pub(crate) boilerplate_max: u64,
    pub(crate) domain_groups: Vec<u16>,
    pub(crate) rules: Vec<Rule>,
}

/// The key of each URL under a rule, and under a policy whose merges do not count.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) keys: Vec<u64>,
    pub(crate) except: Option<Vec<u64>>,
}

impl Rule {
    fn is_excepted(&self, a: usize, b: usize) -> bool {
        self.except.as_ref().is_some_and(|keys| keys[a] == keys[b])
    }
}

/// What is counted by listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// By column.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// By column; no number for an empty cell.
    pub(crate) reals: BTreeMap<&'static str, Option<f64>>,
    /// Contents and lost ones by group of domains.
    pub(crate) lost_by_group: BTreeMap<u16, (u64, u64)>,
    pub(crate) worst_domain: Option<u32>,
    /// By the keeper's domain.
    pub(crate) hosts: BTreeMap<u32, Host>,
    pub(crate) wrong_merges: Vec<(u32, u32)>,
}

/// Merges of one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Host {
    pub(crate) merged: u64,
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    pub(crate) decidable: u64,
    pub(crate) right_decidable: u64,
}

impl Row {
    fn count(&mut self, column: &'static str, n: u64) {
        *self.counts.entry(column).or_default() += n;
    }

    fn count_if(&mut self, column: &'static str, holds: impl FnOnce() -> bool) {
        self.count(column, u64::from(holds()));
    }
}

/// Share of trials by domain and bin: trials, hits.
type Cells = BTreeMap<(u32, usize), (u64, u64)>;

/// The archive with what all rules share.
pub(crate) struct Naive<'a> {
    archive: &'a Archive,
    runs: Vec<BTreeMap<Token, Span>>,
    own: Vec<BTreeMap<Token, Span>>,
    boilerplate: BTreeSet<u128>,
    lanes: BTreeMap<u128, u16>,
    texts: BTreeMap<u128, u64>,
    unstable: Vec<bool>,
    stable: Vec<bool>,
    noisy: Vec<bool>,
    noise: Cells,
    /// Trials at most the window apart, by domain.
    pub(crate) within: BTreeMap<u32, (u64, u64)>,
}

impl<'a> Naive<'a> {
    pub(crate) fn of(archive: &'a Archive) -> Self {
        let n = archive.urls.len();
        let mut naive = Self {
            archive,
            runs: vec![BTreeMap::new(); n],
            own: vec![BTreeMap::new(); n],
            boilerplate: BTreeSet::new(),
            lanes: BTreeMap::new(),
            texts: BTreeMap::new(),
            unstable: vec![false; n],
            stable: vec![false; n],
            noisy: vec![false; n],
            noise: Cells::new(),
            within: BTreeMap::new(),
        };
        for content in archive
            .sightings
            .iter()
            .filter_map(|sighting| sighting.content)
        {
            *naive.lanes.entry(content.identity).or_default() |= content.lanes.0;
            let text = naive.texts.entry(content.identity).or_default();
            *text = content.text.max(*text);
        }
        for u in 0..n {
            naive.runs[u] = naive.runs_of(u, |_| true);
            naive.own[u] = naive.runs_of(u, |sighting| sighting.leads_to.is_none());
        }
        naive.find_boilerplate();
        naive.find_noise();
        for u in 0..n {
            let digests = naive.digests(u);
            naive.unstable[u] = digests.iter().any(|(d, span)| {
                digests.iter().any(|(e, other)| {
                    d != e
                        && span.is_some()
                        && other.is_some()
                        && naive.are_comparable(*d, *e)
                        && naive.meet(*span, *other)
                })
            });
            naive.stable[u] = !naive.unstable[u]
                && digests
                    .iter()
                    .any(|(d, span)| span.is_some() && naive.is_refetched(u, *d));
        }
        naive
    }

    fn of_url(&self, u: usize) -> impl Iterator<Item = (usize, &Sighting)> {
        self.archive
            .sightings
            .iter()
            .enumerate()
            .filter(move |(_, sighting)| sighting.url as usize == u)
    }

    fn runs_of(&self, u: usize, is_counted: impl Fn(&Sighting) -> bool) -> BTreeMap<Token, Span> {
        let is_target = self
            .archive
            .sightings
            .iter()
            .any(|sighting| sighting.leads_to == Some(index(u)));
        let mut runs: BTreeMap<Token, Vec<Option<i64>>> = BTreeMap::new();
        for (_, sighting) in self.of_url(u).filter(|(_, sighting)| is_counted(sighting)) {
            if let Some(content) = sighting.content {
                let token = Token::Digest(content.identity);
                runs.entry(token).or_default().push(sighting.instant);
            }
            if let Some(target) = sighting.leads_to {
                runs.entry(Token::Final(target))
                    .or_default()
                    .push(sighting.instant);
            } else if is_target {
                runs.entry(Token::Final(sighting.url))
                    .or_default()
                    .push(sighting.instant);
            }
        }
        runs.into_iter()
            .map(|(token, instants)| {
                let dated: Option<Vec<i64>> = instants.into_iter().collect();
                let span = dated.map(|dated| {
                    let (first, last) = (dated.iter().min(), dated.iter().max());
                    (
                        *first.expect("a run has a capture"),
                        *last.expect("a run has a capture"),
                    )
                });
                (token, span)
            })
            .collect()
    }

    fn digests(&self, u: usize) -> Vec<(u128, Span)> {
        self.runs[u]
            .iter()
            .filter_map(|(token, span)| match token {
                Token::Digest(digest) => Some((*digest, *span)),
                Token::Final(_) => None,
            })
            .collect()
    }

    fn find_boilerplate(&mut self) {
        for digest in self.lanes.keys() {
            let urls: Vec<&Url> = (0..self.runs.len())
                .filter(|u| self.runs[*u].contains_key(&Token::Digest(*digest)))
                .map(|u| &self.archive.urls[u])
                .collect();
            let max = usize::try_from(self.archive.boilerplate_max).expect("a small number");
            let domains: BTreeSet<u32> = urls.iter().map(|url| url.domain).collect();
            let hosts: BTreeSet<u32> = urls.iter().map(|url| url.host).collect();
            let is_of_many = hosts.iter().any(|host| {
                let unrelated: BTreeSet<u64> = urls
                    .iter()
                    .filter(|url| url.host == *host)
                    .map(|url| url.resource)
                    .collect();
                unrelated.len() > max
            });
            if domains.len() > 50 || is_of_many {
                self.boilerplate.insert(*digest);
            }
        }
    }

    /// Captures for trials: instant, digest, rank.
    fn trial_captures(&self, u: usize) -> Vec<(i64, u128, usize)> {
        self.of_url(u)
            .filter_map(|(rank, sighting)| {
                let digest = sighting.content?.identity;
                let is_dated = self.runs[u][&Token::Digest(digest)].is_some();
                (is_dated && !self.boilerplate.contains(&digest)).then_some((
                    sighting.instant?,
                    digest,
                    rank,
                ))
            })
            .collect()
    }

    fn find_noise(&mut self) {
        let mut within: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for u in 0..self.archive.urls.len() {
            let domain = self.archive.urls[u].domain;
            let mut bins = BTreeSet::new();
            for two in self.trial_captures(u).windows(2) {
                let gap = two[1].0 - two[0].0;
                if !self.are_comparable(two[0].1, two[1].1) || !bins.insert(bin(gap)) {
                    continue;
                }
                let differs = u64::from(two[0].1 != two[1].1);
                add(self.noise.entry((domain, bin(gap))).or_default(), differs);
                if gap <= self.archive.window {
                    add(within.entry(domain).or_default(), differs);
                }
            }
        }
        for (url, noisy) in self.archive.urls.iter().zip(&mut self.noisy) {
            *noisy = within.get(&url.domain).is_some_and(|(trials, hits)| {
                *trials >= 20 && *hits as f64 / *trials as f64 > 0.25
            });
        }
        self.within = within;
    }

    fn are_comparable(&self, d: u128, e: u128) -> bool {
        self.lanes[&d] & self.lanes[&e] != 0
    }

    fn meet(&self, a: Span, b: Span) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => a.0.max(b.0) - a.1.min(b.1) <= self.archive.window,
            _ => true,
        }
    }

    fn is_refetched(&self, u: usize, digest: u128) -> bool {
        let instants: Vec<i64> = self
            .of_url(u)
            .filter(|(_, sighting)| {
                sighting
                    .content
                    .is_some_and(|content| content.identity == digest)
            })
            .filter_map(|(_, sighting)| sighting.instant)
            .collect();
        (0..instants.len())
            .any(|i| (0..i).any(|j| (instants[i] - instants[j]).abs() <= self.archive.window))
    }

    fn is_evidence(&self, token: Token) -> bool {
        !matches!(token, Token::Digest(digest) if self.boilerplate.contains(&digest))
    }

    /// Tokens of both in runs that meet.
    fn shared(&self, runs: &[BTreeMap<Token, Span>], a: usize, b: usize) -> Vec<Token> {
        runs[a]
            .iter()
            .filter(|(token, span)| {
                runs[b]
                    .get(token)
                    .is_some_and(|other| self.meet(**span, *other))
            })
            .map(|(token, _)| *token)
            .collect()
    }

    fn share_evidence(&self, runs: &[BTreeMap<Token, Span>], a: usize, b: usize) -> bool {
        self.shared(runs, a, b)
            .iter()
            .any(|token| self.is_evidence(*token))
    }

    pub(crate) fn verdict(&self, a: usize, b: usize) -> Verdict {
        let (of_a, of_b) = (self.digests(a), self.digests(b));
        let only_boilerplate =
            |digests: &[(u128, Span)]| digests.iter().all(|(d, _)| self.boilerplate.contains(d));
        if self.share_evidence(&self.runs, a, b) {
            Verdict::Right
        } else if self.shared(&self.runs, a, b).is_empty()
            && of_a.iter().any(|(d, span)| {
                of_b.iter()
                    .any(|(e, other)| self.are_comparable(*d, *e) && self.meet(*span, *other))
            })
            && !(only_boilerplate(&of_a) && only_boilerplate(&of_b))
            && self.is_sound(a)
            && self.is_sound(b)
        {
            Verdict::Wrong
        } else {
            Verdict::Unverifiable
        }
    }

    fn is_sound(&self, u: usize) -> bool {
        !self.unstable[u] && !self.noisy[u]
    }

    pub(crate) fn are_stable(&self, a: usize, b: usize) -> bool {
        self.stable[a] && self.stable[b]
    }

    /// The sightings nearest in time in differing runs that meet; of equally near ones the earliest.
    pub(crate) fn shown(&self, a: usize, b: usize) -> Option<(usize, usize)> {
        let mut best = None;
        for (rank_a, of_a) in self.of_url(a) {
            for (rank_b, of_b) in self.of_url(b) {
                let (Some(d), Some(e)) = (of_a.content, of_b.content) else {
                    continue;
                };
                let (d, e) = (d.identity, e.identity);
                let (run, other) = (
                    self.runs[a][&Token::Digest(d)],
                    self.runs[b][&Token::Digest(e)],
                );
                if d == e || !self.are_comparable(d, e) || !self.meet(run, other) {
                    continue;
                }
                let gap = match (of_a.instant, of_b.instant) {
                    (Some(a), Some(b)) => (a - b).abs(),
                    _ => i64::MAX,
                };
                let candidate = (
                    (gap, rank_a.min(rank_b), rank_a.max(rank_b)),
                    (rank_a, rank_b),
                );
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|(_, pair)| pair)
    }

    pub(crate) fn is_near(&self, a: usize, b: usize) -> bool {
        self.digests(a).iter().any(|(d, span)| {
            self.texts[d] != 0
                && self
                    .digests(b)
                    .iter()
                    .any(|(e, other)| self.texts[d] == self.texts[e] && self.meet(*span, *other))
        })
    }

    pub(crate) fn row(&self, rule: &Rule) -> Row {
        let mut row = Row::default();
        let n = self.archive.urls.len();
        row.count("pairs_missed", 0);
        for a in 0..n {
            for b in 0..a {
                if rule.keys[a] != rule.keys[b] {
                    row.count_if("pairs_missed", || self.share_evidence(&self.runs, a, b));
                } else if !rule.is_excepted(a, b) {
                    self.pair(&mut row, a, b);
                }
            }
        }
        self.merges(rule, &mut row);
        self.losses(rule, &mut row);
        self.floor(rule, &mut row);
        row
    }

    fn pair(&self, row: &mut Row, a: usize, b: usize) {
        row.count("pairs_merged", 1);
        match self.verdict(a, b) {
            Verdict::Right => {
                row.count("pairs_right", 1);
                row.count_if("pairs_right_redirect", || {
                    !self.share_evidence(&self.own, a, b)
                });
            }
            Verdict::Wrong => {
                row.count("pairs_wrong", 1);
                row.count_if("pairs_wrong_stable", || self.stable[a] && self.stable[b]);
                row.count_if("pairs_wrong_near", || self.is_near(a, b));
            }
            Verdict::Unverifiable => row.count("pairs_unverifiable", 1),
        }
    }

    fn classes(keys: &[u64]) -> Vec<Vec<usize>> {
        let mut classes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (u, key) in keys.iter().enumerate() {
            classes.entry(*key).or_default().push(u);
        }
        classes.into_values().collect()
    }

    fn merges(&self, rule: &Rule, row: &mut Row) {
        for class in Self::classes(&rule.keys) {
            let keeper = class[0];
            let mut verdicts = Vec::new();
            for &u in class[1..].iter().filter(|u| !rule.is_excepted(**u, keeper)) {
                let verdict = self.verdict(u, keeper);
                let is_decidable =
                    verdict != Verdict::Unverifiable && self.is_sound(u) && self.is_sound(keeper);
                let is_wrong = verdict == Verdict::Wrong;
                let host = self.archive.urls[keeper].domain;
                let host = row.hosts.entry(host).or_default();
                host.merged += 1;
                host.right += u64::from(verdict == Verdict::Right);
                host.wrong += u64::from(is_wrong);
                host.decidable += u64::from(is_decidable);
                host.right_decidable += u64::from(is_decidable && !is_wrong);
                row.count("urls_merged", 1);
                row.count_if("urls_right", || verdict == Verdict::Right);
                row.count_if("urls_wrong", || is_wrong);
                row.count_if("urls_wrong_stable", || {
                    is_wrong && self.stable[u] && self.stable[keeper]
                });
                row.count_if("urls_unverifiable", || verdict == Verdict::Unverifiable);
                row.count_if("urls_right_decidable", || is_decidable && !is_wrong);
                row.count_if("urls_decidable", || is_decidable);
                if is_wrong {
                    row.wrong_merges.push((index(u), index(keeper)));
                }
                verdicts.push(verdict);
            }
            if verdicts.contains(&Verdict::Wrong) {
                row.count("classes_wrong", 1);
            } else if verdicts.contains(&Verdict::Unverifiable) {
                row.count("classes_unverifiable", 1);
            } else if !verdicts.is_empty() {
                row.count("classes_right", 1);
            }
        }
        row.worst_domain = row
            .hosts
            .iter()
            .filter(|(_, host)| host.wrong > 0)
            .min_by_key(|(domain, host)| (std::cmp::Reverse(host.wrong), **domain))
            .map(|(domain, _)| *domain);
        let clusters: Vec<(u64, u64)> = row
            .hosts
            .values()
            .filter(|host| host.decidable > 0)
            .map(|host| (host.right_decidable, host.decidable))
            .collect();
        row.count("domains", clusters.len() as u64);
        row.reals.insert("n_eff", n_eff(&clusters));
    }

    fn losses(&self, rule: &Rule, row: &mut Row) {
        let n = self.archive.urls.len();
        let shows = |u: usize, digest: u128| self.runs[u].contains_key(&Token::Digest(digest));
        let all: Vec<u128> = self
            .lanes
            .keys()
            .copied()
            .filter(|digest| !self.boilerplate.contains(digest))
            .collect();
        let contents: Vec<u128> = all
            .iter()
            .copied()
            .filter(|digest| (0..n).any(|u| shows(u, *digest) && !self.unstable[u]))
            .collect();
        row.count("contents", contents.len() as u64);
        row.count("contents_unstable", (all.len() - contents.len()) as u64);
        let classes = Self::classes(&rule.keys);
        let loss = Loss::of(&classes, &contents, &shows);
        let part = rule.except.as_ref().map(|except| {
            let mut ids = BTreeMap::new();
            let both: Vec<u64> = (0..n)
                .map(|u| {
                    let next = ids.len() as u64;
                    *ids.entry((rule.keys[u], except[u])).or_insert(next)
                })
                .collect();
            Loss::of(&Self::classes(&both), &contents, &shows)
        });
        let part = part.unwrap_or_default();
        row.count(
            "page_loss_first",
            (loss.first.len() - part.first.len()) as u64,
        );
        row.count("page_loss_best", loss.best.saturating_sub(part.worst));
        row.count("page_loss_worst", loss.worst.saturating_sub(part.best));
        row.reals
            .insert("page_loss_expected", Some(loss.expected - part.expected));
        for digest in &contents {
            let first = (0..n)
                .find(|u| shows(*u, *digest))
                .expect("a content has a carrier");
            let group = self.archive.domain_groups[self.archive.urls[first].domain as usize];
            let counts = row.lost_by_group.entry(group).or_default();
            counts.0 += 1;
            counts.1 += u64::from(loss.first.contains(digest) && !part.first.contains(digest));
        }
    }

    fn trial(&self, a: usize, b: usize) -> Option<(i64, bool)> {
        let mut best = None;
        for left in self.trial_captures(a) {
            for right in self.trial_captures(b) {
                if self.are_comparable(left.1, right.1) {
                    let gap = (left.0 - right.0).abs();
                    let order = (gap, left.2.min(right.2), left.2.max(right.2));
                    let candidate = (order, left.1 != right.1);
                    if best.is_none_or(|best| candidate < best) {
                        best = Some(candidate);
                    }
                }
            }
        }
        best.map(|(order, differs)| (order.0, differs))
    }

    /// Trials among the pairs that a rule merges, by the keeper's domain.
    fn weights(&self, rule: &Rule) -> Cells {
        let mut weights = Cells::new();
        for class in Self::classes(&rule.keys) {
            let host = self.archive.urls[class[0]].domain;
            for (i, a) in class.iter().enumerate() {
                for b in class[..i].iter().filter(|b| !rule.is_excepted(*a, **b)) {
                    if let Some((gap, differs)) = self.trial(*a, *b) {
                        add(
                            weights.entry((host, bin(gap))).or_default(),
                            u64::from(differs),
                        );
                    }
                }
            }
        }
        weights
    }

    /// Equal trials among pairs that no rule merges.
    fn chance(&self) -> Cells {
        let mut chance = Cells::new();
        let all = &self.archive.urls;
        let hosts: BTreeSet<u32> = all.iter().map(|url| url.domain).collect();
        for host in hosts {
            let mut urls: Vec<usize> = (0..all.len()).filter(|u| all[*u].domain == host).collect();
            urls.sort_by_key(|u| all[*u].key);
            let mut trials = 0;
            let pairs = (1..urls.len())
                .flat_map(|distance| (distance..urls.len()).map(move |i| (i - distance, i)));
            for (a, b) in pairs.map(|(i, j)| (urls[i], urls[j])) {
                let is_merged = self
                    .archive
                    .rules
                    .iter()
                    .any(|rule| rule.keys[a] == rule.keys[b] || rule.is_excepted(a, b));
                if let Some((gap, differs)) = self.trial(a, b)
                    && !is_merged
                    && trials < 10_000
                {
                    add(
                        chance.entry((host, bin(gap))).or_default(),
                        u64::from(!differs),
                    );
                    trials += 1;
                }
            }
        }
        chance
    }

    fn floor(&self, rule: &Rule, row: &mut Row) {
        let (mut weights, chance) = (self.weights(rule), self.chance());
        let total = |cells: &Cells| -> (u64, u64) {
            cells
                .values()
                .fold((0, 0), |sum, share| (sum.0 + share.0, sum.1 + share.1))
        };
        let (all, differing) = total(&weights);
        weights.retain(|cell, _| {
            let known = |cells: &Cells| cells.get(cell).is_some_and(|share| share.0 >= 20);
            known(&self.noise) && known(&chance)
        });
        let (used, _) = total(&weights);
        let mean = |cells: &Cells| -> f64 {
            weights
                .iter()
                .map(|(cell, share)| share.0 as f64 * cells[cell].1 as f64 / cells[cell].0 as f64)
                .sum::<f64>()
                / used as f64
        };
        let trials = weights.keys().map(|cell| self.noise[cell].0).sum();
        row.count("noise_pairs", trials);
        let mut known = None;
        if used > 0 && ((all - used) as f64) < 0.1 * all as f64 {
            let (nu, beta) = (mean(&self.noise), mean(&chance));
            let corrected = (1.0 - beta - differing as f64 / all as f64) / (1.0 - beta - nu);
            known = (1.0 - beta - nu >= 0.5).then_some((nu, corrected));
        }
        row.reals.insert("noise_floor", known.map(|known| known.0));
        row.reals
            .insert("corrected_precision", known.map(|known| known.1));
    }
}

#[derive(Default)]
struct Loss {
    first: BTreeSet<u128>,
    best: u64,
    worst: u64,
    expected: f64,
}

impl Loss {
    fn of(classes: &[Vec<usize>], contents: &[u128], shows: &dyn Fn(usize, u128) -> bool) -> Self {
        let mut loss = Self::default();
        let at_risk: Vec<u128> = contents
            .iter()
            .copied()
            .filter(|d| {
                !classes
                    .iter()
                    .any(|class| class.len() == 1 && shows(class[0], *d))
            })
            .collect();
        let home = |d: u128| {
            let first = classes
                .iter()
                .flatten()
                .filter(|u| shows(**u, d))
                .min()
                .expect("a content has a carrier");
            classes
                .iter()
                .position(|class| class.contains(first))
                .expect("every URL has a class")
        };
        for d in &at_risk {
            if !classes.iter().any(|class| shows(class[0], *d)) {
                loss.first.insert(*d);
            }
            loss.expected += classes
                .iter()
                .map(|class| {
                    let n = class.iter().filter(|u| shows(**u, *d)).count();
                    1.0 - n as f64 / class.len() as f64
                })
                .product::<f64>();
        }
        let mut kept = 0;
        for (index, class) in classes.iter().enumerate() {
            let most = class
                .iter()
                .map(|u| at_risk.iter().filter(|d| shows(*u, **d)).count() as u64);
            kept += most.max().expect("a class has a member");
            let lost = class.iter().map(|u| {
                let of_home = at_risk.iter().filter(|d| home(**d) == index);
                of_home.filter(|d| !shows(*u, **d)).count() as u64
            });
            loss.worst += lost.max().expect("a class has a member");
        }
        loss.best = (at_risk.len() as u64).saturating_sub(kept);
        loss.hold_against_all_choices(classes, &at_risk, shows);
        loss
    }

    /// The bounds hold and the expectation is the mean, over every choice of a keeper in each class.
    fn hold_against_all_choices(
        &self,
        classes: &[Vec<usize>],
        at_risk: &[u128],
        shows: &dyn Fn(usize, u128) -> bool,
    ) {
        let n_choices: usize = classes
            .iter()
            .map(Vec::len)
            .try_fold(1, usize::checked_mul)
            .unwrap_or(usize::MAX);
        if n_choices > 64 {
            return;
        }
        let mut sum = 0;
        for choice in 0..n_choices {
            let mut rest = choice;
            let keepers: Vec<usize> = classes
                .iter()
                .map(|class| {
                    let keeper = class[rest % class.len()];
                    rest /= class.len();
                    keeper
                })
                .collect();
            let lost = at_risk
                .iter()
                .filter(|d| !keepers.iter().any(|u| shows(*u, **d)))
                .count() as u64;
            assert!(
                (self.best..=self.worst).contains(&lost),
                "bounds of the loss"
            );
            sum += lost;
        }
        assert!(
            (sum as f64 / n_choices as f64 - self.expected).abs() < 1e-9,
            "mean loss"
        );
    }
}

fn n_eff(clusters: &[(u64, u64)]) -> Option<f64> {
    let h = clusters.len() as f64;
    let x: f64 = clusters.iter().map(|cluster| cluster.0 as f64).sum();
    let n: f64 = clusters.iter().map(|cluster| cluster.1 as f64).sum();
    if n == 0.0 {
        return None;
    }
    let p = x / n;
    if clusters
        .iter()
        .all(|cluster| cluster.0 as f64 * n == x * cluster.1 as f64)
    {
        return Some(h);
    }
    let squares: f64 = clusters
        .iter()
        .map(|c| (c.0 as f64 - p * c.1 as f64).powi(2))
        .sum();
    let variance = h / (h - 1.0) * squares / (n * n);
    let k = clusters
        .iter()
        .filter(|c| c.0 < c.1)
        .count()
        .min(clusters.iter().filter(|c| c.0 > 0).count())
        .min(clusters.len() - 1);
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let t = StudentsT::new(0.0, 1.0, k as f64)
        .expect("at least one degree of freedom")
        .inverse_cdf(0.975);
    let worth = n.min(p * (1.0 - p) / variance * (1.96 / t).powi(2));
    Some(if k < 10 { worth.min(h) } else { worth })
}

fn index(u: usize) -> u32 {
    u32::try_from(u).expect("few URLs")
}

fn bin(gap: i64) -> usize {
    let hours = gap as f64 / 3.6e9;
    if hours <= 1.0 {
        0
    } else if hours <= 24.0 {
        1
    } else if hours <= 168.0 {
        2
    } else if hours <= 720.0 {
        3
    } else {
        4
    }
}

fn add(share: &mut (u64, u64), hit: u64) {
    share.0 += 1;
    share.1 += hit;
}
