//! The verdict on one pair of URLs that a rule merges.

use super::run::{Instant, Run};
use super::table::{Lanes, Table, UrlId, Witness};

/// What became of a merged pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// They share a token in runs that meet.
    Right,
    /// Neither: nothing to compare, or nothing that can be believed.
    Unverifiable,
    /// Comparable, and nothing shared.
    Wrong,
}

impl Table {
    /// The verdict on a merged pair.
    #[must_use]
    pub fn verdict(&self, a: UrlId, b: UrlId) -> Verdict {
        if self.shares_evidence(a, b) {
            Verdict::Right
        } else if self.is_wrong(a, b) {
            Verdict::Wrong
        } else {
            Verdict::Unverifiable
        }
    }

    /// What a merge with this verdict counts for: whether it is right; `None` where it is not decidable.
    #[must_use]
    pub(super) fn decides(&self, verdict: Verdict, (a, b): (UrlId, UrlId)) -> Option<bool> {
        match verdict {
            Verdict::Right => {
                (self.witness(a).is_sound() && self.witness(b).is_sound()).then_some(true)
            }
            Verdict::Wrong => Some(false),
            Verdict::Unverifiable => None,
        }
    }

    /// Whether a digest that is no boilerplate, or a final URL, is in both, in runs that meet.
    #[must_use]
    pub fn shares_evidence(&self, a: UrlId, b: UrlId) -> bool {
        self.shared(self.runs.of_url(a), self.runs.of_url(b))
            .any(|run| self.is_evidence(run))
    }

    /// As [`Self::shares_evidence`], by their own captures alone.
    #[must_use]
    pub fn shares_own(&self, a: UrlId, b: UrlId) -> bool {
        let own = self.own.as_ref().unwrap_or(&self.runs);
        self.shared(own.of_url(a), own.of_url(b))
            .any(|run| self.is_evidence(run))
    }

    /// Whether a token is in both at all, in runs that meet.
    #[must_use]
    pub fn shares_any(&self, a: UrlId, b: UrlId) -> bool {
        self.shared(self.runs.of_url(a), self.runs.of_url(b))
            .next()
            .is_some()
    }

    /// Of a pair that shares no evidence.
    fn is_wrong(&self, a: UrlId, b: UrlId) -> bool {
        let (of_a, of_b) = (self.witness(a), self.witness(b));
        of_a.is_sound()
            && of_b.is_sound()
            && !(of_a.is_any(Witness::BOILERPLATE_ONLY) && of_b.is_any(Witness::BOILERPLATE_ONLY))
            && self.are_comparable(a, b)
            && !self.shares_any(a, b)
    }

    /// Both stable: a wrong verdict on them is hard evidence.
    #[must_use]
    pub fn are_stable(&self, a: UrlId, b: UrlId) -> bool {
        self.witness(a).is_any(Witness::STABLE) && self.witness(b).is_any(Witness::STABLE)
    }

    /// Captures in runs that meet have equal visible text once digits are dropped.
    #[must_use]
    pub fn are_near(&self, a: UrlId, b: UrlId) -> bool {
        self.near_texts(a, b).next().is_some()
    }

    /// The texts that both show in runs that meet.
    pub(super) fn near_texts(&self, a: UrlId, b: UrlId) -> impl Iterator<Item = u64> {
        self.digest_runs(a)
            .filter(|(_, digest)| digest.text != 0)
            .filter(move |(run, digest)| {
                self.digest_runs(b).any(|(other, other_digest)| {
                    digest.text == other_digest.text && self.window.meet(run.span, other.span)
                })
            })
            .map(|(_, digest)| digest.text)
    }

    /// Whether digest runs of the two that can be compared meet.
    ///
    /// Of a lane's runs by start, one starts in reach of the latest end of the other URL.
    #[must_use]
    pub fn are_comparable(&self, a: UrlId, b: UrlId) -> bool {
        let mut runs: Vec<(&Run, Lanes, usize)> = Vec::new();
        for (side, url) in [a, b].into_iter().enumerate() {
            runs.extend(
                self.digest_runs(url)
                    .map(|(run, digest)| (run, digest.lanes, side)),
            );
        }
        runs.sort_unstable_by_key(|(run, _, _)| run.span.first);
        let mut ends: [[Option<Instant>; 16]; 2] = [[None; 16]; 2];
        for (run, lanes, side) in runs {
            for lane in lanes.each() {
                let lane = lane.0.trailing_zeros() as usize;
                let reach = self.window.reach(run.span);
                if ends[1 - side][lane].is_some_and(|end| reach.first <= end) {
                    return true;
                }
                let end = &mut ends[side][lane];
                *end = Some(end.map_or(run.span.last, |end| end.max(run.span.last)));
            }
        }
        false
    }

    /// A final URL, or a digest that is no boilerplate.
    pub(super) fn is_evidence(&self, run: &Run) -> bool {
        self.digest(run.token)
            .is_none_or(|digest| !digest.is_boilerplate)
    }

    /// Runs of `a` whose token `b` has too, in a run that meets.
    pub(super) fn shared<'a>(
        &self,
        a: &'a [Run],
        b: &'a [Run],
    ) -> impl Iterator<Item = &'a Run> + use<'a> {
        let window = self.window;
        let mut rest = b;
        a.iter().filter(move |run| {
            while let [first, tail @ ..] = rest
                && first.token < run.token
            {
                rest = tail;
            }
            rest.first()
                .is_some_and(|other| other.token == run.token && window.meet(run.span, other.span))
        })
    }
}
