//! How many pairs of spans meet, without listing pairs.
//!
//! Two spans miss each other if one ends, and the window with it, before the other starts. So the
//! pairs that meet are all pairs less those, counted over sorted ends and sorted starts.

use super::run::{Instant, Span, Window};

/// Pairs among `n`.
#[must_use]
pub(super) fn pairs(n: usize) -> u128 {
    let n = n as u128;
    n * n.saturating_sub(1) / 2
}

/// Pairs of spans that meet.
#[must_use]
pub(super) fn meeting(spans: &[Span], window: Window) -> u128 {
    let ends = sorted(spans.iter().map(|span| window.reach(*span).last));
    let starts = sorted(spans.iter().map(|span| span.first));
    let mut n_ended = 0;
    let missing: u128 = starts
        .iter()
        .map(|start| {
            while ends.get(n_ended).is_some_and(|end| end < start) {
                n_ended += 1;
            }
            n_ended as u128
        })
        .sum();
    pairs(spans.len()) - missing
}

/// Pairs of instants at most `gap` apart; `instants` are sorted.
#[must_use]
pub(super) fn within(instants: &[Instant], gap: Instant) -> u128 {
    let mut first = 0;
    instants
        .iter()
        .enumerate()
        .map(|(index, instant)| {
            while instant.saturating_sub(instants[first]) > gap {
                first += 1;
            }
            (index - first) as u128
        })
        .sum()
}

/// Spans that touch at least one island, summed over the groups of islands.
///
/// The islands of a group are sorted and apart. A span touches some that follow each other, so it
/// counts once if each pair of neighbours that it touches is taken off again.
#[must_use]
pub(super) fn touching(groups: &[Vec<Span>], spans: &[Span]) -> u128 {
    let ends = sorted(spans.iter().map(|span| span.last));
    let starts = sorted(spans.iter().map(|span| span.first));
    let touch_one: u128 = groups
        .iter()
        .flatten()
        .map(|island| {
            let before = ends.partition_point(|end| *end < island.first);
            let after = starts.len() - starts.partition_point(|start| *start <= island.last);
            (spans.len() - before - after) as u128
        })
        .sum();
    let gaps = groups
        .iter()
        .flat_map(|islands| islands.windows(2))
        .map(|two| (two[0].last, two[1].first))
        .collect();
    touch_one - bridging(gaps, spans)
}

/// Spans that start at or before the first of a gap's ends and end at or after the second, summed over gaps.
fn bridging(mut gaps: Vec<(Instant, Instant)>, spans: &[Span]) -> u128 {
    if gaps.is_empty() {
        return 0;
    }
    gaps.sort_unstable();
    let mut by_start = spans.to_vec();
    by_start.sort_unstable_by_key(|span| span.first);
    let ends = sorted(spans.iter().map(|span| span.last));
    let mut seen = Ranks::new(ends.len());
    let mut n_seen = 0;
    gaps.iter()
        .map(|(start, end)| {
            while let Some(span) = by_start.get(n_seen)
                && span.first <= *start
            {
                seen.add(ends.partition_point(|other| *other < span.last));
                n_seen += 1;
            }
            (n_seen - seen.below(ends.partition_point(|other| other < end))) as u128
        })
        .sum()
}

/// Islands: the union of what is in reach of spans.
#[must_use]
pub(super) fn islands(spans: impl Iterator<Item = Span>, window: Window) -> Vec<Span> {
    let mut reaches: Vec<Span> = spans.map(|span| window.reach(span)).collect();
    reaches.sort_unstable_by_key(|reach| reach.first);
    let mut islands: Vec<Span> = Vec::with_capacity(reaches.len());
    for reach in reaches {
        match islands.last_mut() {
            Some(island) if reach.first <= island.last => *island = island.join(reach),
            _ => islands.push(reach),
        }
    }
    islands
}

fn sorted(instants: impl Iterator<Item = Instant>) -> Vec<Instant> {
    let mut instants: Vec<Instant> = instants.collect();
    instants.sort_unstable();
    instants
}

/// Counts by rank, with sums of the lowest ranks (a Fenwick tree).
struct Ranks {
    tree: Vec<usize>,
}

impl Ranks {
    fn new(n: usize) -> Self {
        Self {
            tree: vec![0; n + 1],
        }
    }

    fn add(&mut self, rank: usize) {
        let mut node = rank + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// How many have a rank below `rank`.
    fn below(&self, rank: usize) -> usize {
        let mut node = rank;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans(max: usize) -> impl Strategy<Value = Vec<Span>> {
        let span = (0..40_i64, 0..12_i64, 0..9_u8).prop_map(|(first, length, undated)| {
            if undated == 0 {
                Span::UNDATED
            } else {
                Span {
                    first,
                    last: first + length,
                }
            }
        });
        proptest::collection::vec(span, 0..max)
    }

    proptest! {
        #[test]
        fn meeting_counts_the_pairs_that_meet(spans in spans(12), window in 0..9_i64) {
            let window = Window::new(window);
            let mut expected = 0;
            for (index, a) in spans.iter().enumerate() {
                expected += spans[..index].iter().filter(|b| window.meet(*a, **b)).count() as u128;
            }
            prop_assert_eq!(meeting(&spans, window), expected);
        }

        #[test]
        fn touching_counts_each_span_once_a_group(
            groups in proptest::collection::vec(spans(5), 0..5),
            spans in spans(12),
            window in 0..9_i64,
        ) {
            let window = Window::new(window);
            let expected: usize = groups
                .iter()
                .map(|group| {
                    spans
                        .iter()
                        .filter(|span| group.iter().any(|other| window.meet(*other, **span)))
                        .count()
                })
                .sum();
            let islands: Vec<_> = groups
                .iter()
                .map(|group| islands(group.iter().copied(), window))
                .collect();
            prop_assert_eq!(touching(&islands, &spans), expected as u128);
        }

        #[test]
        fn within_counts_the_pairs_in_reach(mut instants in proptest::collection::vec(0..30_i64, 0..12), gap in 0..9_i64) {
            instants.sort_unstable();
            let mut expected = 0;
            for (index, a) in instants.iter().enumerate() {
                expected += instants[..index].iter().filter(|b| a - **b <= gap).count() as u128;
            }
            prop_assert_eq!(within(&instants, gap), expected);
        }
    }
}
