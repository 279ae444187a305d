//! Counts of merged pairs by verdict, for one class at a time.

use super::limits::Limits;
use super::pair::Verdict;
use super::same::Tally;
use super::sweep::pairs;
use super::table::{Table, UrlId, Witness};

/// Merged pairs by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// All pairs.
    pub merged: u128,
    /// Merged rightly.
    pub right: u128,
    /// Of these, known without any redirect.
    pub right_own: u128,
    /// Merged wrongly.
    pub wrong: u128,
    /// Of these, both stable.
    pub wrong_stable: u128,
    /// Of these, with equal visible text but for digits.
    pub wrong_near: u128,
    /// Parts of the counts that are estimates.
    pub approximate: u64,
}

impl PairCounts {
    /// Adds the counts of another class.
    pub fn join(&mut self, other: Self) {
        self.combine(other, u128::saturating_add);
        self.approximate += other.approximate;
    }

    /// Takes off the counts of a part.
    pub fn part(&mut self, other: Self) {
        self.combine(other, u128::saturating_sub);
        self.approximate += other.approximate;
        self.hold();
    }

    /// Estimates must not add up to more than there is.
    fn hold(&mut self) {
        self.right = self.right.min(self.merged);
        self.wrong = self.wrong.min(self.merged - self.right);
        self.right_own = self.right_own.min(self.right);
        self.wrong_stable = self.wrong_stable.min(self.wrong);
        self.wrong_near = self.wrong_near.min(self.wrong);
    }

    fn combine(&mut self, other: Self, with: impl Fn(u128, u128) -> u128) {
        for (own, other) in [
            (&mut self.merged, other.merged),
            (&mut self.right, other.right),
            (&mut self.right_own, other.right_own),
            (&mut self.wrong, other.wrong),
            (&mut self.wrong_stable, other.wrong_stable),
            (&mut self.wrong_near, other.wrong_near),
        ] {
            *own = with(*own, other);
        }
    }
}

impl Table {
    /// The pairs of one class.
    #[must_use]
    pub fn count(&self, members: &[UrlId], limits: &Limits) -> PairCounts {
        if members.len() <= limits.class_listed_max {
            self.count_listed(members)
        } else {
            self.count_swept(members, limits)
        }
    }

    fn count_listed(&self, members: &[UrlId]) -> PairCounts {
        let mut counts = PairCounts {
            merged: pairs(members.len()),
            ..PairCounts::default()
        };
        for (index, a) in members.iter().enumerate() {
            for b in &members[..index] {
                match self.verdict(*a, *b) {
                    Verdict::Right => {
                        counts.right += 1;
                        counts.right_own += u128::from(self.shares_own(*a, *b));
                    }
                    Verdict::Wrong => {
                        counts.wrong += 1;
                        counts.wrong_stable += u128::from(self.are_stable(*a, *b));
                        counts.wrong_near += u128::from(self.are_near(*a, *b));
                    }
                    Verdict::Unverifiable => {}
                }
            }
        }
        counts
    }

    fn count_swept(&self, members: &[UrlId], limits: &Limits) -> PairCounts {
        let right = self.same(members, limits);
        let right_own = if self.own.is_some() {
            self.same_own(members, limits)
        } else {
            right
        };
        let sound = self.that(members, Witness::is_sound);
        let stable = self.that(&sound, |witness| witness.is_any(Witness::STABLE));
        let wrong = self.wrong_among(&sound, limits);
        let wrong_stable = self.wrong_among(&stable, limits);
        let near = self.near(&sound, limits);
        let mut counts = PairCounts {
            merged: pairs(members.len()),
            right: right.pairs,
            right_own: right_own.pairs,
            wrong: wrong.pairs,
            wrong_stable: wrong_stable.pairs,
            wrong_near: near.pairs,
            approximate: right.approximate + wrong.approximate + near.approximate,
        };
        counts.hold();
        counts
    }

    /// Pairs that differ, less those of which both have nothing but boilerplate.
    fn wrong_among(&self, sound: &[UrlId], limits: &Limits) -> Tally {
        let empty = self.that(sound, |witness| witness.is_any(Witness::BOILERPLATE_ONLY));
        let all = self.differing(sound, limits);
        let both_empty = self.differing(&empty, limits);
        Tally {
            pairs: all.pairs.saturating_sub(both_empty.pairs),
            approximate: all.approximate + both_empty.approximate,
        }
    }

    fn that(&self, members: &[UrlId], holds: impl Fn(Witness) -> bool) -> Vec<UrlId> {
        members
            .iter()
            .copied()
            .filter(|url| holds(self.witness(*url)))
            .collect()
    }
}
