//! How many pairs of a set of URLs share a token in runs that meet, without listing pairs.
//!
//! Σ over tokens of the pairs that meet on it, less the surplus: a pair that shares several counts
//! once. Only URLs with two shared tokens or more can make one, so these alone are indexed, by each
//! two of their tokens. A pair with s tokens in common has s - 1 neighbours among them: it is taken
//! off once under each two tokens that have no common one between them.

use rayon::prelude::*;

use super::limits::Limits;
use super::run::{Run, Runs, Span, Token, Window};
use super::sweep::meeting;
use super::table::{Table, UrlId};

/// Of more URLs the runs that share nothing are sorted out first.
const MEMBERS_FEW: usize = 1 << 16;

/// A count, and how many parts of it are estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) pairs: u128,
    pub(super) approximate: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.approximate += other.approximate;
    }
}

/// Two shared tokens of one URL.
#[derive(Clone, Copy)]
struct Two<'a> {
    runs: [&'a Run; 2],
    /// All shared tokens of the URL between the two.
    between: &'a [&'a Run],
}

impl Two<'_> {
    fn tokens(&self) -> [Token; 2] {
        self.runs.map(|run| run.token)
    }

    /// Whether the two URLs share both tokens and none between them, in runs that meet.
    fn is_surplus(&self, other: &Self, window: Window) -> bool {
        (0..2).all(|side| window.meet(self.runs[side].span, other.runs[side].span))
            && !share(self.between, other.between, window)
    }
}

/// Pairs of `members` that share a token in runs that meet; `is_counted` picks tokens.
pub(super) fn same(
    (runs, window): (&Runs, Window),
    members: &[UrlId],
    limits: &Limits,
    is_counted: impl Fn(&Run) -> bool + Sync,
) -> Tally {
    let mut rows: Vec<&Run> = if members.len() > MEMBERS_FEW {
        let rows = members.par_iter().flat_map_iter(|url| runs.of_url(*url));
        let mut rows: Vec<&Run> = rows.filter(|run| is_counted(run)).collect();
        let carried = n_carriers(&rows);
        rows.retain(|run| carried[run.token as usize] > 1);
        rows
    } else {
        let rows = members.iter().flat_map(|url| runs.of_url(*url));
        rows.filter(|run| is_counted(run)).collect()
    };
    rows.sort_unstable_by_key(|run| (run.token, run.url));
    let mut tally = Tally::default();
    let mut shared: Vec<&Run> = Vec::new();
    for of_token in rows.chunk_by(|a, b| a.token == b.token) {
        if of_token.len() > 1 {
            tally.pairs += meeting(&spans(of_token), window);
            shared.extend(of_token);
        }
    }
    shared.sort_unstable_by_key(|run| (run.url, run.token));
    let surplus = surplus(&shared, window, limits);
    tally.pairs = tally.pairs.saturating_sub(surplus.pairs);
    tally.approximate += surplus.approximate;
    tally
}

/// How many of these runs are of each token: most are of one that nothing else carries, and need not be sorted.
fn n_carriers(runs: &[&Run]) -> Vec<u32> {
    let mut carried = Vec::new();
    for run in runs {
        let token = run.token as usize;
        if token >= carried.len() {
            carried.resize(token + 1, 0);
        }
        carried[token] += 1;
    }
    carried
}

/// By how much pairs that share several tokens were counted too often. `shared` is by URL and token.
fn surplus(shared: &[&Run], window: Window, limits: &Limits) -> Tally {
    let mut twos: Vec<Two<'_>> = Vec::new();
    let mut tally = Tally::default();
    for of_url in shared.chunk_by(|a, b| a.url == b.url) {
        let is_short = of_url.len() <= limits.tokens_max;
        tally.approximate += u64::from(!is_short);
        for (first, run) in of_url.iter().enumerate() {
            let last = if is_short {
                of_url.len()
            } else {
                (first + 2).min(of_url.len())
            };
            twos.extend((first + 1..last).map(|second| Two {
                runs: [run, of_url[second]],
                between: &of_url[first + 1..second],
            }));
        }
    }
    twos.sort_by_key(|two| (two.tokens(), two.runs[0].url));
    for together in twos.chunk_by(|a, b| a.tokens() == b.tokens()) {
        if together.len() <= limits.together_max {
            tally.pairs += listed(together, window);
        } else {
            tally.pairs += estimated(together, window);
            tally.approximate += 1;
        }
    }
    tally
}

fn listed(together: &[Two<'_>], window: Window) -> u128 {
    together
        .iter()
        .enumerate()
        .map(|(index, two)| {
            together[..index]
                .iter()
                .filter(|other| two.is_surplus(other, window))
                .count() as u128
        })
        .sum()
}

/// As if what meets on the rarer of the two tokens met on the other one too.
fn estimated(together: &[Two<'_>], window: Window) -> u128 {
    let neighbours: Vec<_> = together
        .iter()
        .filter(|two| two.between.is_empty())
        .collect();
    let of_side = |side: usize| {
        let spans: Vec<Span> = neighbours.iter().map(|two| two.runs[side].span).collect();
        meeting(&spans, window)
    };
    of_side(0).min(of_side(1))
}

/// Whether two lists of runs by token share one in runs that meet.
fn share(a: &[&Run], b: &[&Run], window: Window) -> bool {
    let mut rest = b;
    a.iter().any(|run| {
        while let [first, tail @ ..] = rest
            && first.token < run.token
        {
            rest = tail;
        }
        rest.first()
            .is_some_and(|other| other.token == run.token && window.meet(run.span, other.span))
    })
}

fn spans(runs: &[&Run]) -> Vec<Span> {
    runs.iter().map(|run| run.span).collect()
}

impl Table {
    /// Pairs of `members` that share a digest that is no boilerplate, or a final URL.
    pub(super) fn same(&self, members: &[UrlId], limits: &Limits) -> Tally {
        same((&self.runs, self.window), members, limits, |run| {
            self.is_evidence(run)
        })
    }

    /// As [`Self::same`], by their own captures alone.
    pub(super) fn same_own(&self, members: &[UrlId], limits: &Limits) -> Tally {
        let own = self.own.as_ref().unwrap_or(&self.runs);
        same((own, self.window), members, limits, |run| {
            self.is_evidence(run)
        })
    }

    /// As [`Self::same`], boilerplate included.
    pub(super) fn same_any(&self, members: &[UrlId], limits: &Limits) -> Tally {
        same((&self.runs, self.window), members, limits, |_| true)
    }
}
