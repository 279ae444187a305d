//! What could be learned for each host, in the order of preference, and the keys that it gives. Must never judge a merge.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::questions::NEED_LISTS;
use super::sightings::{Basis, Seen};
use crate::evaluate::{Candidate, Chosen, Half, LearnedRules, Skeleton, Table, UrlId, learn};
use crate::key::{ComparisonKey, Keyer};
use crate::policy::plan::{Bets, Names, Plan};
use crate::policy::{Policy, Rule, RuleSet};
use crate::report::parameter_text;
use crate::uri;

/// Bets that take out text whatever it says: tried only for what single names leave.
const BROAD: [Rule; 7] = [
    Rule::QueryDropTracking,
    Rule::QuerySessionDrop,
    Rule::LanguageParamDrop,
    Rule::QueryCaseLower,
    Rule::PathCaseLower,
    Rule::ExtensionDrop,
    Rule::QueryAllDrop,
];
/// Names of parameters that are tried on one host: those on most URLs.
const NAMES_MAX: usize = 64;
/// URLs that one thread keys at a time.
const BLOCK_URLS: usize = 1 << 13;

/// All that was learned.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// Hosts of which there is something to say, by name.
    pub(super) hosts: Vec<OfHost>,
    /// Hosts with merges enough that no entry of a policy file can be about alone, with the number of their URLs.
    pub(super) unnamed: Vec<(Vec<u8>, u64)>,
}

/// What was learned of one host.
#[derive(Debug)]
pub(super) struct OfHost {
    /// A registrable domain.
    pub(super) host: Vec<u8>,
    /// Its number.
    pub(super) domain: u32,
    /// The names that the rules number.
    pub(super) names: Vec<Vec<u8>>,
    /// What was learned.
    pub(super) rules: LearnedRules,
    /// Names on URLs enough that were not tried: no policy file can say them, or too many others are on more URLs.
    pub(super) untried: Vec<(Vec<u8>, u64)>,
}

/// What is learned from.
#[derive(Clone, Copy)]
pub(super) struct Learning<'a> {
    pub(super) basis: Basis<'a>,
    pub(super) seen: &'a Seen,
    pub(super) table: &'a Table,
    /// Bets that may be learned.
    pub(super) rules: RuleSet,
    /// Decidable merges that half B must show.
    pub(super) decidable_min: u64,
}

impl Learned {
    /// The domains where a rule was learned that `is_it` admits, with the names that it numbers.
    pub(super) fn domains(&self, is_it: impl Fn(&Candidate, &[Vec<u8>]) -> bool) -> Vec<u32> {
        let has_it = |host: &&OfHost| {
            let mut kept = host.rules.kept();
            kept.any(|rule| is_it(&rule.candidate, &host.names))
        };
        let hosts = self.hosts.iter().filter(has_it);
        hosts.map(|host| host.domain).collect()
    }
}

impl Learning<'_> {
    /// All hosts, by those of their URLs that are drawn.
    pub(super) fn all(self, is_drawn: impl Fn(UrlId) -> bool) -> Learned {
        let mut hosts: BTreeMap<&[u8], Vec<UrlId>> = BTreeMap::new();
        for url in self.table.ids().filter(|url| is_drawn(*url)) {
            let domain = self.table.url(url).domain;
            let name = self.seen.domains[domain as usize].as_slice();
            let host = name.strip_suffix(b".").unwrap_or(name);
            hosts.entry(host).or_default().push(url);
        }
        let hosts: Vec<(&[u8], u64, Vec<UrlId>)> = hosts
            .into_par_iter()
            .filter(|(_, urls)| urls.len() as u64 > self.decidable_min)
            .filter_map(|(host, urls)| Some((host, urls.len() as u64, self.mergeable(&urls)?)))
            .collect();
        let (named, unnamed): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|(host, ..)| can_be_named(host));
        let says_something = |of: &OfHost| !(of.rules.all.is_empty() && of.untried.is_empty());
        Learned {
            hosts: named
                .into_par_iter()
                .with_max_len(1)
                .map(|(host, _, urls)| self.of_host(host, urls))
                .filter(says_something)
                .collect(),
            unnamed: unnamed
                .into_iter()
                .map(|(host, n_urls, _)| (host.to_vec(), n_urls))
                .collect(),
        }
    }

    /// Those of a host's URLs that any rule could merge: some other has their skeleton. `None` where these are so few
    /// that half B could bear out nothing.
    fn mergeable(self, urls: &[UrlId]) -> Option<Vec<UrlId>> {
        let mut rows: Vec<(Skeleton, UrlId)> = urls
            .iter()
            .map(|url| (self.table.url(*url).skeleton, *url))
            .filter(|(skeleton, _)| skeleton.half().is_some())
            .collect();
        rows.sort_unstable();
        let mut n_merges_b = 0;
        let mut mergeable = Vec::new();
        for together in rows
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|rows| rows.len() > 1)
        {
            if together[0].0.half() == Some(Half::B) {
                n_merges_b += together.len() as u64 - 1;
            }
            mergeable.extend(together.iter().map(|row| row.1));
        }
        mergeable.sort_unstable();
        (n_merges_b >= self.decidable_min).then_some(mergeable)
    }

    fn of_host(self, host: &[u8], urls: Vec<UrlId>) -> OfHost {
        let domains = urls.iter().map(|url| self.table.url(*url).domain);
        let domain = domains.min().expect("a host has URLs");
        let texts = Texts::of(self, urls);
        let names = texts.names();
        let candidates = texts.candidates(self.rules, &names);
        let tried: Vec<Vec<u8>> = names.tried.into_iter().map(|(name, _)| name).collect();
        let rules = learn(
            self.table,
            &texts.urls,
            candidates,
            self.decidable_min,
            |chosen, urls| texts.keys(self, chosen, &tried, urls),
        );
        let untried = names.untried.into_iter();
        OfHost {
            host: host.to_vec(),
            domain,
            names: tried,
            rules,
            untried: untried
                .map(|(name, urls)| (name, urls.len() as u64))
                .filter(|(_, n_urls)| *n_urls >= self.decidable_min)
                .collect(),
        }
    }
}

/// Whether an entry of a policy file can be about this host, and about no other domain.
fn can_be_named(host: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(host) else {
        return false;
    };
    let text = format!(
        "name = \"host\"\nversion = 1\n[[origin]]\nhost = {}\n",
        toml_edit::Value::from(name)
    );
    let is_it = |policy: Policy| {
        let origins = &policy.plan().origins;
        origins.iter().any(|origin| origin.authority.host == host)
    };
    !uri::is_public_suffix(host) && Policy::parse(text.as_bytes(), Path::new("")).is_ok_and(is_it)
}

/// Names of a host's parameters with the URLs that carry them, those on most URLs first.
struct Carried {
    tried: Vec<(Vec<u8>, Vec<UrlId>)>,
    untried: Vec<(Vec<u8>, Vec<UrlId>)>,
}

/// The base forms of a host's URLs.
struct Texts {
    /// Ascending.
    urls: Vec<UrlId>,
    forms: Vec<Vec<u8>>,
    /// The bets that could change each.
    possible: Vec<RuleSet>,
}

impl Texts {
    fn of(learning: Learning<'_>, urls: Vec<UrlId>) -> Self {
        let basis = learning.basis;
        let forms: Vec<Vec<u8>> = urls
            .par_iter()
            .with_min_len(BLOCK_URLS)
            .map_init(
                || Keyer::new(basis.base),
                |keyer, url| {
                    let row = learning.seen.keepers[*url as usize];
                    keyer.key(basis.catalog.target_uri(row)).text.to_vec()
                },
            )
            .collect();
        let possible = forms.iter().map(|form| uri::bets_possible(form)).collect();
        Self {
            urls,
            forms,
            possible,
        }
    }

    /// Narrow bets first, then names by the number of URLs that carry them, then broad bets.
    ///
    /// Never `trailing-slash=add`: it undoes `drop`, which merges all that it does. And `query-all=drop` does not stand
    /// in for a name that was not tried.
    fn candidates(&self, rules: RuleSet, names: &Carried) -> Vec<Candidate> {
        let broad = RuleSet::of(&BROAD);
        let rules = rules
            .without(NEED_LISTS)
            .without(RuleSet::of(&[Rule::TrailingSlashAdd]));
        let of_rule = |rule| Candidate {
            rules: RuleSet::of(&[rule]),
            names: Vec::new(),
            urls: self.that(|possible| possible.contains(rule)),
        };
        let carriers = names.untried.iter().flat_map(|(_, urls)| urls);
        let untried: HashSet<UrlId> = carriers.copied().collect();
        let narrow = rules.without(broad);
        let mut candidates: Vec<Candidate> = narrow.iter().map(of_rule).collect();
        candidates.extend((0..).zip(&names.tried).map(|(name, (_, urls))| Candidate {
            rules: RuleSet::EMPTY,
            names: vec![name],
            urls: urls.clone(),
        }));
        let broad = BROAD.into_iter().filter(|rule| rules.contains(*rule));
        candidates.extend(broad.map(of_rule));
        for candidate in &mut candidates {
            if candidate.rules.contains(Rule::QueryAllDrop) {
                candidate.urls.retain(|url| !untried.contains(url));
            }
        }
        candidates
    }

    fn that(&self, holds: impl Fn(&RuleSet) -> bool) -> Vec<UrlId> {
        let urls = self.urls.iter().zip(&self.possible);
        urls.filter(|(_, possible)| holds(possible))
            .map(|(url, _)| *url)
            .collect()
    }

    /// Those that a policy file can say are tried one by one.
    fn names(&self) -> Carried {
        let mut carriers: HashMap<Vec<u8>, Vec<UrlId>> = HashMap::new();
        for (url, form) in self.urls.iter().zip(&self.forms) {
            for name in uri::parameter_names(form) {
                carriers.entry(name).or_default().push(*url);
            }
        }
        let mut names: Vec<(Vec<u8>, Vec<UrlId>)> = carriers.into_iter().collect();
        names.sort_unstable_by(|(name, urls), (other, other_urls)| {
            other_urls
                .len()
                .cmp(&urls.len())
                .then_with(|| name.cmp(other))
        });
        let (mut tried, mut untried): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|(name, _)| parameter_text(name).is_some());
        untried.extend(tried.split_off(tried.len().min(NAMES_MAX)));
        Carried { tried, untried }
    }

    /// The keys of `urls`, as an entry of a policy file would give them.
    fn keys(
        &self,
        learning: Learning<'_>,
        chosen: &Chosen,
        names: &[Vec<u8>],
        urls: &[UrlId],
    ) -> Vec<ComparisonKey> {
        let dropped = chosen.names.iter().map(|name| &*names[*name as usize]);
        let mut bets = Bets {
            rules: chosen.rules,
            query_drop: Names::new(dropped),
            ..Bets::default()
        };
        if !chosen.names.is_empty() {
            bets.rules.insert(Rule::QueryDropList);
        }
        let plan = Plan {
            bets,
            ..learning.basis.base.plan().clone()
        };
        let rules = plan.bets.rules;
        let policy = Policy::of("learned", "1", plan);
        urls.par_iter()
            .with_min_len(BLOCK_URLS)
            .map_init(
                || Keyer::new(&policy),
                |keyer, url| {
                    let at = self.urls.binary_search(url).expect("a URL of this host");
                    if rules.intersection(self.possible[at]).is_empty() {
                        learning.table.url(*url).key
                    } else {
                        keyer.key(&self.forms[at]).key
                    }
                },
            )
            .collect()
    }
}
