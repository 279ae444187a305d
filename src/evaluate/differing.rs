//! How many pairs of a set of URLs can be compared and share nothing, without listing pairs.
//!
//! Comparable pairs less those of them that share a digest or a final URL. A shared digest makes a
//! pair comparable. A shared final URL nearly always does, since a redirect counts with its end's
//! digest at its own time; the exceptions are looked for among URLs with an odd history.

use std::collections::BTreeMap;

use super::limits::Limits;
use super::run::{Run, Span};
use super::same::Tally;
use super::sweep::{islands, meeting, pairs, touching};
use super::table::{Lanes, Table, UrlId};

/// Spans of URLs with one digest run each, by what they can be compared with.
type Simple = BTreeMap<Lanes, Vec<Span>>;

impl Table {
    /// Pairs of `members` that can be compared and share no digest or final URL in runs that meet.
    pub(super) fn differing(&self, members: &[UrlId], limits: &Limits) -> Tally {
        let comparable = self.comparable(members, limits);
        let same = self.same_any(members, limits);
        let beside = self.same_beside(members, limits);
        Tally {
            pairs: (comparable.pairs + beside.pairs).saturating_sub(same.pairs),
            approximate: comparable.approximate + same.approximate + beside.approximate,
        }
    }

    /// Pairs of which some digest runs of one kind meet.
    fn comparable(&self, members: &[UrlId], limits: &Limits) -> Tally {
        let mut simple = Simple::new();
        let mut several: Vec<UrlId> = Vec::new();
        for url in members {
            let mut runs = self.digest_runs(*url);
            match (runs.next(), runs.next()) {
                (Some((run, digest)), None) => {
                    simple.entry(digest.lanes).or_default().push(run.span);
                }
                (Some(_), Some(_)) => several.push(*url),
                (None, _) => {}
            }
        }
        let mut tally = Tally::default();
        if several.len() > limits.several_runs_max {
            tally.approximate = 1;
            for url in several.drain(..) {
                let (lanes, span) = self.hull(url);
                simple.entry(lanes).or_default().push(span);
            }
        }
        tally.pairs = self.comparable_simple(&simple)
            + self.comparable_across(&several, &simple)
            + self.comparable_listed(&several);
        tally
    }

    fn comparable_simple(&self, simple: &Simple) -> u128 {
        let single: Vec<Lanes> = simple
            .keys()
            .fold(Lanes(0), |all, lanes| Lanes(all.0 | lanes.0))
            .each()
            .collect();
        let of = |lanes: Lanes| -> Vec<Span> {
            simple
                .iter()
                .filter(|(own, _)| own.0 & lanes.0 == lanes.0)
                .flat_map(|(_, spans)| spans.iter().copied())
                .collect()
        };
        let in_one: u128 = single
            .iter()
            .map(|lane| meeting(&of(*lane), self.window))
            .sum();
        // A pair that can be compared in two lanes was counted in both.
        let in_both: u128 = simple
            .keys()
            .filter(|lanes| lanes.0.count_ones() == 2)
            .map(|lanes| meeting(&of(*lanes), self.window))
            .sum();
        in_one - in_both
    }

    fn comparable_across(&self, several: &[UrlId], simple: &Simple) -> u128 {
        simple
            .iter()
            .map(|(lanes, spans)| {
                let groups: Vec<Vec<Span>> = several
                    .iter()
                    .map(|url| {
                        let runs = self
                            .digest_runs(*url)
                            .filter(|(_, digest)| digest.lanes.meet(*lanes));
                        islands(runs.map(|(run, _)| run.span), self.window)
                    })
                    .collect();
                touching(&groups, spans)
            })
            .sum()
    }

    fn comparable_listed(&self, several: &[UrlId]) -> u128 {
        several
            .iter()
            .enumerate()
            .map(|(index, a)| {
                several[..index]
                    .iter()
                    .filter(|b| self.are_comparable(*a, **b))
                    .count() as u128
            })
            .sum()
    }

    /// All runs of a URL as if they were one, of the kind of the first.
    fn hull(&self, url: UrlId) -> (Lanes, Span) {
        let lanes = self
            .digest_runs(url)
            .next()
            .map_or(Lanes(0), |(_, digest)| digest.lanes);
        let span = self
            .digest_runs(url)
            .map(|(run, _)| run.span)
            .reduce(Span::join)
            .unwrap_or(Span::UNDATED);
        (lanes, span)
    }

    /// Pairs that share a final URL, but have no digest runs that could be compared.
    fn same_beside(&self, members: &[UrlId], limits: &Limits) -> Tally {
        let mut finals: Vec<&Run> = members
            .iter()
            .flat_map(|url| self.runs.of_url(*url))
            .filter(|run| self.digest(run.token).is_none())
            .collect();
        finals.sort_unstable_by_key(|run| (run.token, run.url));
        let mut tally = Tally::default();
        for of_final in finals.chunk_by(|a, b| a.token == b.token) {
            let kinds: Vec<Option<Lanes>> =
                of_final.iter().map(|run| self.regular_lanes(run)).collect();
            let usual = kinds.iter().flatten().next().copied();
            let is_odd = |index: usize| kinds[index].is_none() || kinds[index] != usual;
            let n_odd = (0..of_final.len()).filter(|index| is_odd(*index)).count();
            if (n_odd as u128 * of_final.len() as u128) > limits.irregular_pairs_max as u128 {
                tally.approximate += 1;
                continue;
            }
            for odd in (0..of_final.len()).filter(|index| is_odd(*index)) {
                // A pair of two odd ones is looked at from the later one.
                let others = (0..of_final.len()).filter(|other| !is_odd(*other) || *other < odd);
                tally.pairs += others
                    .filter(|other| self.is_beside(of_final[odd], of_final[*other]))
                    .count() as u128;
            }
        }
        tally
    }

    /// The kinds of the one digest run of a URL that spans the same time as its run of a final URL.
    fn regular_lanes(&self, run: &Run) -> Option<Lanes> {
        let mut runs = self.digest_runs(run.url);
        let (only, digest) = runs.next()?;
        (runs.next().is_none() && only.span == run.span).then_some(digest.lanes)
    }

    /// Whether two runs of a final URL meet, it is the first such of the two URLs, and nothing else can be compared.
    fn is_beside(&self, a: &Run, b: &Run) -> bool {
        self.window.meet(a.span, b.span)
            && !self.are_comparable(a.url, b.url)
            && self
                .shared(self.runs.of_url(a.url), self.runs.of_url(b.url))
                .find(|run| self.digest(run.token).is_none())
                .is_some_and(|first| first.token == a.token)
    }

    /// Pairs of `members` that are wrong and have equal visible text in runs that meet.
    pub(super) fn near(&self, members: &[UrlId], limits: &Limits) -> Tally {
        let mut texts: Vec<(u64, UrlId)> = members
            .iter()
            .flat_map(|url| {
                self.digest_runs(*url)
                    .map(|(_, digest)| (digest.text, *url))
            })
            .filter(|(text, _)| *text != 0)
            .collect();
        texts.sort_unstable();
        texts.dedup();
        let mut tally = Tally::default();
        for together in texts.chunk_by(|a, b| a.0 == b.0) {
            if together.len() > limits.together_max {
                tally.pairs += pairs(together.len());
                tally.approximate += 1;
                continue;
            }
            for (index, (text, a)) in together.iter().enumerate() {
                tally.pairs += together[..index]
                    .iter()
                    .filter(|(_, b)| {
                        self.near_texts(*a, *b).min() == Some(*text)
                            && self.verdict(*a, *b) == super::pair::Verdict::Wrong
                    })
                    .count() as u128;
            }
        }
        tally
    }
}
