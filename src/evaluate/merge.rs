//! Merges: each URL that is not its class's keeper, with the verdict of the two.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::classes::Classes;
use super::halves::Half;
use super::interval::Cluster;
use super::learn::{Evidence, Fate};
use super::noise::{distance, nearest};
use super::pair::Verdict;
use super::run::Run;
use super::table::{CaptureRow, Digest, Table, UrlId};
use super::verdict::Thresholds;
use crate::key::ComparisonKey;

/// Merges of one domain: that of the keeper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// All of them.
    pub merged: u64,
    /// Merged rightly.
    pub right: u64,
    /// Merged wrongly.
    pub wrong: u64,
    /// Of these, both stable.
    pub wrong_stable: u64,
    /// Neither right nor wrong.
    pub unverifiable: u64,
    /// Right or wrong, of two URLs that are neither unstable nor on a noisy host.
    pub decidable: u64,
    /// Of these, right.
    pub right_decidable: u64,
    /// Those of the half that rules are learned on.
    pub half_a: Evidence,
    /// Those of the half that they are measured on.
    pub half_b: Evidence,
}

impl MergeCounts {
    /// What these counts of a sample say of the whole, where each stands for as many as `whole` says.
    pub(super) fn of_whole(self, whole: impl Fn(u64) -> u64) -> Self {
        let [right, wrong, unverifiable] = [self.right, self.wrong, self.unverifiable].map(&whole);
        Self {
            merged: right + wrong + unverifiable,
            right,
            wrong,
            wrong_stable: whole(self.wrong_stable),
            unverifiable,
            decidable: whole(self.right_decidable) + wrong,
            right_decidable: whole(self.right_decidable),
            half_a: self.half_a,
            half_b: self.half_b,
        }
    }

    /// Whether a rule for this host alone has the evidence it needs: half A would choose it, and half B bears it out.
    fn passes(&self, thresholds: &Thresholds) -> bool {
        let decidable_min = thresholds.host_decidable_min;
        self.half_a.is_chosen(decidable_min) && self.half_b.fate(decidable_min) == Fate::Kept
    }
}

/// Classes of another policy, whose merges do not count.
pub(super) struct Excepted(HashMap<UrlId, u32>);

impl Excepted {
    pub(super) fn of(except: Option<&Classes>) -> Self {
        Self(except.map(Classes::class_of_url).unwrap_or_default())
    }

    /// The members of a class that the other policy does not merge with its keeper.
    pub(super) fn others(&self, members: &[UrlId]) -> impl Iterator<Item = UrlId> {
        let of_keeper = self.0.get(&members[0]);
        members[1..]
            .iter()
            .copied()
            .filter(move |url| of_keeper.is_none() || self.0.get(url) != of_keeper)
    }
}

/// All merges of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merges {
    /// By the keeper's domain.
    pub by_domain: BTreeMap<u32, MergeCounts>,
    /// Classes with a merge, and none but right ones.
    pub classes_right: u64,
    /// Classes with a wrong merge.
    pub classes_wrong: u64,
    /// Classes without a wrong one, but with one of which nothing is known.
    pub classes_unverifiable: u64,
    /// Each wrong merge, by key and URL.
    pub wrong: Vec<WrongMerge>,
}

/// A merge that loses a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongMerge {
    /// The key that both have under the rule.
    pub key: ComparisonKey,
    /// The URL that is not kept.
    pub url: UrlId,
    /// The one that is.
    pub keeper: UrlId,
    /// Sightings nearest in time in differing runs that meet, of URL and keeper.
    pub captures: (u32, u32),
    /// Both are stable.
    pub is_stable: bool,
    /// Equal visible text but for digits.
    pub is_near: bool,
}

impl Merges {
    /// The merges of `classes`; those that `except` makes too do not count.
    #[must_use]
    pub fn of(table: &Table, classes: &Classes, except: Option<&Classes>) -> Self {
        let excepted = Excepted::of(except);
        let mut merges = Self::default();
        for (key, members) in classes.iter() {
            let keeper = members[0];
            let urls = excepted.others(members);
            let worst = urls.map(|url| merges.add(table, key, (url, keeper))).max();
            match worst {
                Some(Verdict::Right) => merges.classes_right += 1,
                Some(Verdict::Wrong) => merges.classes_wrong += 1,
                Some(Verdict::Unverifiable) => merges.classes_unverifiable += 1,
                None => {}
            }
        }
        merges
    }

    /// The merges of each class by itself, with its keeper.
    pub(super) fn each(
        table: &Table,
        classes: &Classes,
        except: Option<&Classes>,
        mut take: impl FnMut(UrlId, MergeCounts),
    ) {
        let excepted = Excepted::of(except);
        for (key, members) in classes.iter() {
            let mut merges = Self::default();
            for url in excepted.others(members) {
                merges.add(table, key, (url, members[0]));
            }
            if !merges.by_domain.is_empty() {
                take(members[0], merges.total());
            }
        }
    }

    /// Makes the counts of a sample those of the whole by `whole`, and returns them as they were, without the list.
    pub(super) fn blow_up(&mut self, whole: impl Fn(u64) -> u64) -> Self {
        let wrong = std::mem::take(&mut self.wrong);
        let counted = self.clone();
        self.wrong = wrong;
        for count in [
            &mut self.classes_right,
            &mut self.classes_wrong,
            &mut self.classes_unverifiable,
        ] {
            *count = whole(*count);
        }
        for counts in self.by_domain.values_mut() {
            *counts = counts.of_whole(&whole);
        }
        counted
    }

    /// Number of classes with a merge.
    #[must_use]
    pub fn n_classes(&self) -> u64 {
        self.classes_right + self.classes_wrong + self.classes_unverifiable
    }

    /// The sum over all domains.
    #[must_use]
    pub fn total(&self) -> MergeCounts {
        let mut total = MergeCounts::default();
        for counts in self.by_domain.values() {
            total.merged += counts.merged;
            total.right += counts.right;
            total.wrong += counts.wrong;
            total.wrong_stable += counts.wrong_stable;
            total.unverifiable += counts.unverifiable;
            total.decidable += counts.decidable;
            total.right_decidable += counts.right_decidable;
        }
        total
    }

    /// One cluster for each domain with a decidable merge.
    #[must_use]
    pub fn clusters(&self) -> Vec<Cluster> {
        self.by_domain
            .values()
            .filter(|counts| counts.decidable > 0)
            .map(|counts| Cluster {
                right: counts.right_decidable,
                decidable: counts.decidable,
            })
            .collect()
    }

    /// Wrong merges of pages with equal text but for digits, where not both URLs are stable.
    #[must_use]
    pub fn n_wrong_near(&self) -> u64 {
        let near = |merge: &&WrongMerge| merge.is_near && !merge.is_stable;
        self.wrong.iter().filter(near).count() as u64
    }

    /// Domains where it alone has the evidence it needs.
    pub fn passing_domains(&self, thresholds: &Thresholds) -> impl Iterator<Item = u32> {
        self.by_domain
            .iter()
            .filter(|(_, counts)| counts.passes(thresholds))
            .map(|(domain, _)| *domain)
    }

    /// The domain with most wrong merges, of equals the first.
    #[must_use]
    pub fn worst_domain(&self) -> Option<u32> {
        self.by_domain
            .iter()
            .filter(|(_, counts)| counts.wrong > 0)
            .max_by_key(|(domain, counts)| (counts.wrong, std::cmp::Reverse(**domain)))
            .map(|(domain, _)| *domain)
    }

    fn add(&mut self, table: &Table, key: ComparisonKey, (url, keeper): (UrlId, UrlId)) -> Verdict {
        let verdict = table.verdict(url, keeper);
        let is_right = table.decides(verdict, (url, keeper));
        let is_stable = table.are_stable(url, keeper);
        let counts = self.by_domain.entry(table.url(keeper).domain).or_default();
        counts.merged += 1;
        counts.decidable += u64::from(is_right.is_some());
        counts.right_decidable += u64::from(is_right == Some(true));
        match table.url(url).skeleton.half() {
            Some(Half::A) => counts.half_a.add(is_right),
            Some(Half::B) => counts.half_b.add(is_right),
            None => {}
        }
        match verdict {
            Verdict::Right => counts.right += 1,
            Verdict::Wrong => {
                counts.wrong += 1;
                counts.wrong_stable += u64::from(is_stable);
                self.wrong.push(WrongMerge {
                    key,
                    url,
                    keeper,
                    captures: differing_captures(table, url, keeper)
                        .expect("a wrong pair has digest runs that meet"),
                    is_stable,
                    is_near: table.are_near(url, keeper),
                });
            }
            Verdict::Unverifiable => counts.unverifiable += 1,
        }
        verdict
    }
}

/// Sightings of `a` and of `b`, nearest in time of those in runs that can be compared and meet.
pub(super) fn differing_captures(table: &Table, a: UrlId, b: UrlId) -> Option<(u32, u32)> {
    let of = |url, run: &Run| -> Vec<CaptureRow> {
        table
            .captures(url)
            .iter()
            .filter(|capture| capture.digest == run.token)
            .copied()
            .collect()
    };
    let meets = |(run, digest): (&Run, &Digest), (other, other_digest): (&Run, &Digest)| {
        run.token != other.token
            && digest.lanes.meet(other_digest.lanes)
            && table.window.meet(run.span, other.span)
    };
    table
        .digest_runs(a)
        .flat_map(|of_a| {
            table
                .digest_runs(b)
                .filter(move |of_b| meets(of_a, *of_b))
                .filter_map(move |of_b| nearest(&of(a, of_a.0), &of(b, of_b.0)))
        })
        .min_by_key(|(left, right)| distance(left, right))
        .map(|(left, right)| (left.sighting, right.sighting))
}
