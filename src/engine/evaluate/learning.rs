//! What could be learned for each host, in the order of preference, and the keys that it gives. Must never judge a merge.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::questions::NEED_LISTS;
use super::sightings::{Basis, Seen};
use crate::evaluate::{Candidate, Chosen, Lesson, Table, UrlId, learn};
use crate::key::{ComparisonKey, Keyer};
use crate::policy::plan::{Bets, Names, Plan};
use crate::policy::{Policy, Rule, RuleSet};
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

/// A host of which something was learned.
#[derive(Debug)]
pub(super) struct Learned {
    /// A registrable domain.
    pub(super) host: Vec<u8>,
    /// The names that the lesson numbers.
    pub(super) names: Vec<Vec<u8>>,
    /// What was learned.
    pub(super) lesson: Lesson,
}

/// What lessons are made from.
#[derive(Clone, Copy)]
pub(super) struct Teacher<'a> {
    pub(super) basis: Basis<'a>,
    pub(super) seen: &'a Seen,
    pub(super) table: &'a Table,
    /// Bets that may be learned.
    pub(super) rules: RuleSet,
    /// Decidable merges that half B must show.
    pub(super) decidable_min: u64,
}

impl Teacher<'_> {
    /// All hosts of which something was learned, by name.
    pub(super) fn teach(self, is_drawn: impl Fn(UrlId) -> bool) -> Vec<Learned> {
        let mut hosts: BTreeMap<&[u8], Vec<UrlId>> = BTreeMap::new();
        for url in self.table.ids().filter(|url| is_drawn(*url)) {
            let domain = self.table.url(url).domain;
            let name = self.seen.domains[domain as usize].as_slice();
            let host = name.strip_suffix(b".").unwrap_or(name);
            hosts.entry(host).or_default().push(url);
        }
        let hosts: Vec<(&[u8], Vec<UrlId>)> = hosts
            .into_iter()
            .filter(|(host, urls)| urls.len() as u64 > self.decidable_min && can_be_named(host))
            .collect();
        hosts
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|(host, urls)| {
                let learned = self.teach_host(host, urls);
                (!learned.lesson.entries.is_empty()).then_some(learned)
            })
            .collect()
    }

    fn teach_host(self, host: &[u8], urls: Vec<UrlId>) -> Learned {
        let texts = Texts::of(self, urls);
        let (names, candidates) = texts.candidates(self.rules);
        let lesson = learn(
            self.table,
            &texts.urls,
            candidates,
            self.decidable_min,
            |chosen, urls| texts.keys(self, chosen, &names, urls),
        );
        Learned {
            host: host.to_vec(),
            names,
            lesson,
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

/// The base forms of a host's URLs.
struct Texts {
    /// Ascending.
    urls: Vec<UrlId>,
    forms: Vec<Vec<u8>>,
    /// The bets that could change each.
    possible: Vec<RuleSet>,
}

impl Texts {
    fn of(teacher: Teacher<'_>, mut urls: Vec<UrlId>) -> Self {
        let has_half = |url: &UrlId| teacher.table.url(*url).skeleton.half().is_some();
        urls.retain(has_half);
        let basis = teacher.basis;
        let forms: Vec<Vec<u8>> = urls
            .par_iter()
            .with_min_len(BLOCK_URLS)
            .map_init(
                || Keyer::new(basis.base),
                |keyer, url| {
                    let row = teacher.seen.keepers[*url as usize];
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
    /// Never `trailing-slash=add`: it undoes `drop`, which merges all that it does.
    fn candidates(&self, rules: RuleSet) -> (Vec<Vec<u8>>, Vec<Candidate>) {
        let broad = RuleSet::of(&BROAD);
        let rules = rules
            .without(NEED_LISTS)
            .without(RuleSet::of(&[Rule::TrailingSlashAdd]));
        let of_rule = |rule| Candidate {
            rules: RuleSet::of(&[rule]),
            names: Vec::new(),
            urls: self.that(|possible| possible.contains(rule)),
        };
        let names = self.names();
        let narrow = rules.without(broad);
        let mut candidates: Vec<Candidate> = narrow.iter().map(of_rule).collect();
        candidates.extend((0..).zip(&names).map(|(name, (_, urls))| Candidate {
            rules: RuleSet::EMPTY,
            names: vec![name],
            urls: urls.clone(),
        }));
        let broad = BROAD.into_iter().filter(|rule| rules.contains(*rule));
        candidates.extend(broad.map(of_rule));
        (
            names.into_iter().map(|(name, _)| name).collect(),
            candidates,
        )
    }

    fn that(&self, holds: impl Fn(&RuleSet) -> bool) -> Vec<UrlId> {
        let urls = self.urls.iter().zip(&self.possible);
        urls.filter(|(_, possible)| holds(possible))
            .map(|(url, _)| *url)
            .collect()
    }

    /// Names that a policy file can drop one by one, with the URLs that carry them.
    fn names(&self) -> Vec<(Vec<u8>, Vec<UrlId>)> {
        let mut carriers: HashMap<Vec<u8>, Vec<UrlId>> = HashMap::new();
        for (url, form) in self.urls.iter().zip(&self.forms) {
            for name in uri::parameter_names(form) {
                carriers.entry(name).or_default().push(*url);
            }
        }
        let mut names: Vec<(Vec<u8>, Vec<UrlId>)> = carriers
            .into_iter()
            .filter(|(name, _)| !name.ends_with(b"*") && std::str::from_utf8(name).is_ok())
            .collect();
        names.sort_unstable_by(|(name, urls), (other, other_urls)| {
            other_urls
                .len()
                .cmp(&urls.len())
                .then_with(|| name.cmp(other))
        });
        names.truncate(NAMES_MAX);
        names
    }

    /// The keys of `urls`, as an entry of a policy file would give them.
    fn keys(
        &self,
        teacher: Teacher<'_>,
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
            ..teacher.basis.base.plan().clone()
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
                        teacher.table.url(*url).key
                    } else {
                        keyer.key(&self.forms[at]).key
                    }
                },
            )
            .collect()
    }
}
