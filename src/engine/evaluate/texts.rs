//! The keys that policies give URLs. Must never judge a merge.

use rayon::prelude::*;

use super::questions::bets;
use super::sightings::Seen;
use crate::catalog::Catalog;
use crate::evaluate::{Classes, Fired, Question, UrlId};
use crate::key::{ComparisonKey, Keyer};
use crate::policy::{Policy, RuleSet};
use crate::uri;

/// URLs that one thread keys at a time.
const BLOCK_URLS: usize = 1 << 14;

/// URLs as policies read them: the base form, or for a parity policy the URL of the earliest capture.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) seen: &'a Seen,
    pub(super) catalog: &'a Catalog,
    pub(super) base: &'a Policy,
    pub(super) policies: &'a [&'a Policy],
    /// The URLs to key, by their base keys.
    pub(super) drawn: &'a [UrlId],
}

/// The URLs that a policy keys in another way than the base.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    rows: Vec<Fired>,
    /// Of these, URLs that a bet changes; others are out of scope, or the policy stands on another base.
    n_fired: u64,
}

impl Texts<'_> {
    pub(super) fn question(self, changed: Changed, order: &[UrlId]) -> Question {
        Question {
            urls_fired: changed.n_fired,
            classes: Classes::of(changed.rows, &self.seen.urls, order),
            ..Question::default()
        }
    }

    /// For each policy the URLs that it keys anew: one pass over the URLs for all.
    pub(super) fn changed(self) -> Vec<Changed> {
        let mut urls = self.drawn.to_vec();
        urls.par_sort_unstable();
        let blocks: Vec<Vec<Changed>> = urls
            .par_chunks(BLOCK_URLS)
            .map(|urls| self.changed_in(urls))
            .collect();
        let mut changed = vec![Changed::default(); self.policies.len()];
        for block in blocks {
            for (all, of_block) in changed.iter_mut().zip(block) {
                all.rows.extend(of_block.rows);
                all.n_fired += of_block.n_fired;
            }
        }
        changed
    }

    fn changed_in(self, urls: &[UrlId]) -> Vec<Changed> {
        let mut base = Keyer::new(self.base);
        let mut asked: Vec<(Keyer<'_>, RuleSet, Changed)> = self
            .policies
            .iter()
            .map(|policy| (Keyer::new(policy), bets(policy.plan()), Changed::default()))
            .collect();
        let is_all_keyed: Vec<bool> = self
            .policies
            .iter()
            .map(|policy| self.keys_all(policy))
            .collect();
        for &url in urls {
            let row = self.seen.keepers[url as usize];
            let form = base.key(self.catalog.target_uri(row)).text;
            let possible = uri::bets_possible(form);
            for ((keyer, bets, changed), is_keyed) in asked.iter_mut().zip(&is_all_keyed) {
                if bets.intersection(possible).is_empty() && !is_keyed {
                    continue;
                }
                let keyed = keyer.key(form);
                let own = self.seen.urls[url as usize].key;
                let has_fired = !keyed.fired.intersection(RuleSet::bets()).is_empty();
                if !keyed.in_scope {
                    // It joins nothing.
                    let key = apart(own);
                    changed.rows.push(Fired { key, url });
                } else if has_fired || keyed.key != own {
                    let key = keyed.key;
                    changed.rows.push(Fired { key, url });
                    changed.n_fired += u64::from(has_fired);
                }
            }
        }
        asked.into_iter().map(|(_, _, changed)| changed).collect()
    }

    /// Whether a URL that no bet touches may have another key: it is out of scope, or the policy stands on another base.
    fn keys_all(self, policy: &Policy) -> bool {
        let plan = policy.plan();
        plan.scope.is_some() || plan.without_bets() != *self.base.plan()
    }

    pub(super) fn parity(self, policy: &Policy, order: &[UrlId]) -> Question {
        let n_urls = self.seen.urls.len();
        let mut keys: Vec<Option<ComparisonKey>> = vec![None; n_urls];
        let mut is_split = vec![false; n_urls];
        let mut keyer = Keyer::new(policy);
        let mut is_drawn = vec![false; n_urls];
        for url in self.drawn {
            is_drawn[*url as usize] = true;
        }
        let sightings = self.seen.sightings.iter().zip(&self.seen.rows);
        for (sighting, row) in sightings.filter(|row| is_drawn[row.0.url as usize]) {
            let key = keyer.key(self.catalog.target_uri(*row)).key;
            let first = keys[sighting.url as usize].get_or_insert(key);
            is_split[sighting.url as usize] |= *first != key;
        }
        // Keys of another library never meet those of the base.
        let fired = self
            .drawn
            .iter()
            .filter_map(|url| {
                Some(Fired {
                    key: keys[*url as usize]?,
                    url: *url,
                })
            })
            .collect();
        Question {
            classes: Classes::of(fired, &self.seen.urls, order),
            urls_fired: self.drawn.len() as u64,
            urls_split: is_split.iter().filter(|is_split| **is_split).count() as u64,
            ..Question::default()
        }
    }
}

/// A key that nothing else has.
fn apart(key: ComparisonKey) -> ComparisonKey {
    ComparisonKey {
        check: !key.check,
        ..key
    }
}
