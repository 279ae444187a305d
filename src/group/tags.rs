//! Rows brought together by what they share, at 8 bytes a row.
//!
//! ```text
//! tag  = 32 bits of what a row is grouped by ‖ its row id     one array, written in row order
//! sort the tags as plain numbers                              rows of one id now stand together,
//!                                                             with the few whose 32 bits are equal by chance
//! each stretch of equal bits: its full ids (looked up for     one id: a group as it stands
//!     some hundred tags at a time: each waits for memory)     several: sorted by id
//! ```
//! A tag is a quarter of a 128-bit id with its row, and most rows are alone with their bits and never looked at again.
//! The sort goes through the array in order, also where it stands in a spill file; rows that all share one id are one
//! stretch, found in one look, so that skew is no case of its own.
//!
//! Looking up is where the time goes: rows of a group stand anywhere in memory. So the rows of a window are touched before one
//! is looked at; that loop has no branch that depends on a row, and the processor waits for dozens of them at once.

use rayon::prelude::*;

use crate::catalog::RowId;

/// A row, and 32 bits of what it is grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tag(u64);

impl Tag {
    /// No row has this number.
    const NONE: Self = Self(u64::MAX);

    pub(super) fn new(bits: u32, row: RowId) -> Self {
        Self(u64::from(bits) << 32 | u64::from(row.0))
    }

    pub(super) fn bits(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower half is a row id"
    )]
    pub(super) fn row(self) -> RowId {
        RowId(self.0 as u32)
    }
}

/// What rows are grouped by.
pub(super) trait Id: Copy + Ord + Send + Sync {
    /// The first 32 bits of it, in its own order.
    fn bits(self) -> u32;
}

impl Id for RowId {
    fn bits(self) -> u32 {
        self.0
    }
}

/// Tags whose rows are touched before any of them is looked up.
const WINDOW: usize = 256;
/// Where one group makes a window larger than this, its rows are looked up one by one.
const LOOKED_UP_MAX: usize = 2 * WINDOW;
/// Stretches for each thread: some have more groups in them than others.
const STRETCHES_EACH: usize = 16;
/// A stretch of fewer rows is not worth a thread's while.
const STRETCH_MIN: usize = 1 << 12;

/// What becomes of rows that are alone with their bits, and so are groups of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alone {
    /// They are only counted: they are most rows of a crawl, and looking their ids up goes all over memory.
    Counted,
    /// They are told like other groups.
    Told,
}

/// How rows are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookUp<T, F> {
    pub(super) alone: Alone,
    /// Brings some hundred rows into the cache.
    pub(super) touch: T,
    pub(super) id_of: F,
}

/// Calls `on_group` for each id with those of `rows` that have it, in the order of ids; its rows are in the order of row ids. Returns
/// how many rows were only counted.
pub(super) fn for_each_group<I: Id>(
    rows: impl IndexedParallelIterator<Item = RowId>,
    look_up: &LookUp<impl Fn(&[RowId]) + Sync, impl Fn(RowId) -> Option<I> + Sync>,
    on_group: impl FnMut(I, &[Tag]),
) -> u64 {
    let mut tags = tags(rows, |row| (look_up.id_of)(row).map(Id::bits));
    groups_in(&mut tags, look_up, on_group)
}

/// The same by many threads: groups that follow each other go to one account. Returns the accounts in the order of groups, and
/// how many rows were only counted.
pub(super) fn fold_groups<I: Id, A: Default + Send>(
    rows: impl IndexedParallelIterator<Item = RowId>,
    look_up: &LookUp<impl Fn(&[RowId]) + Sync, impl Fn(RowId) -> Option<I> + Sync>,
    on_group: impl Fn(&mut A, I, &[Tag]) + Sync,
) -> (Vec<A>, u64) {
    let mut tags = tags(rows, |row| (look_up.id_of)(row).map(Id::bits));
    let stretches: Vec<(A, u64)> = stretches(&mut tags)
        .into_par_iter()
        .map(|tags| {
            let mut account = A::default();
            let n_alone = groups_in(tags, look_up, |id, group| {
                on_group(&mut account, id, group);
            });
            (account, n_alone)
        })
        .collect();
    let n_alone = stretches.iter().map(|(_, n_alone)| n_alone).sum();
    let accounts = stretches.into_iter().map(|(account, _)| account);
    (accounts.collect(), n_alone)
}

/// Cuts sorted tags where their bits change, into stretches that threads can share.
pub(super) fn stretches(mut tags: &mut [Tag]) -> Vec<&mut [Tag]> {
    let len = tags.len() / (rayon::current_num_threads() * STRETCHES_EACH);
    let len = len.max(STRETCH_MIN);
    let mut stretches = Vec::new();
    while !tags.is_empty() {
        stretches.push(cut(&mut tags, len));
    }
    stretches
}

/// Takes the first `len` of sorted tags, and those behind that have the bits of the next one.
fn cut<'t>(tags: &mut &'t mut [Tag], len: usize) -> &'t mut [Tag] {
    let len = tags.get(len).map_or(tags.len(), |next| {
        let alike = tags[len..]
            .iter()
            .take_while(|tag| tag.bits() == next.bits());
        len + alike.count()
    });
    let (stretch, rest) = std::mem::take(tags).split_at_mut(len);
    *tags = rest;
    stretch
}

/// Calls `on_window` with all tags, some hundred at a time and equal bits together, and with the rows of those runs of equal bits
/// that `is_looked_up` admits; with none where one run makes the window too large.
pub(super) fn for_each_window(
    mut tags: &mut [Tag],
    is_looked_up: impl Fn(&[Tag]) -> bool,
    mut on_window: impl FnMut(&mut [Tag], &[RowId]),
) {
    let mut rows: Vec<RowId> = Vec::with_capacity(LOOKED_UP_MAX);
    while !tags.is_empty() {
        let window = cut(&mut tags, WINDOW);
        rows.clear();
        if window.len() <= LOOKED_UP_MAX {
            let runs = window.chunk_by(|a, b| a.bits() == b.bits());
            let runs = runs.filter(|same_bits| is_looked_up(same_bits));
            rows.extend(runs.flatten().map(|tag| tag.row()));
        }
        on_window(window, &rows);
    }
}

fn groups_in<I: Id>(
    tags: &mut [Tag],
    look_up: &LookUp<impl Fn(&[RowId]), impl Fn(RowId) -> Option<I> + Sync>,
    mut on_group: impl FnMut(I, &[Tag]),
) -> u64 {
    let LookUp {
        alone,
        touch,
        id_of,
    } = look_up;
    let is_counted = |same_bits: &[Tag]| same_bits.len() == 1 && *alone == Alone::Counted;
    let is_told = |same_bits: &[Tag]| !is_counted(same_bits);
    let mut n_alone = 0;
    let mut ids: Vec<Option<I>> = Vec::with_capacity(LOOKED_UP_MAX);
    for_each_window(tags, is_told, |window, rows| {
        touch(rows);
        ids.clear();
        ids.extend(rows.iter().map(|row| id_of(*row)));
        let mut known = ids.as_slice();
        for same_bits in window.chunk_by_mut(|a, b| a.bits() == b.bits()) {
            if is_counted(same_bits) {
                n_alone += 1;
                continue;
            }
            let only = match known.split_off(..same_bits.len()) {
                Some(ids) => ids[0].filter(|id| ids.iter().all(|other| *other == Some(*id))),
                None => only_id(same_bits, id_of),
            };
            match only {
                Some(id) => on_group(id, same_bits),
                None => tell_apart(same_bits, id_of, &mut on_group),
            }
        }
    });
    n_alone
}

/// The id of rows that have only one.
fn only_id<I: Id>(tags: &[Tag], id_of: &(impl Fn(RowId) -> Option<I> + Sync)) -> Option<I> {
    let first = id_of(tags[0].row())?;
    let tags = tags.par_iter().with_min_len(STRETCH_MIN);
    let is_only = tags.all(|tag| id_of(tag.row()) == Some(first));
    is_only.then_some(first)
}

/// Calls `on_group` with the rows of each id, of several whose bits are equal by chance.
fn tell_apart<I: Id>(
    tags: &mut [Tag],
    id_of: &(impl Fn(RowId) -> Option<I> + Sync),
    on_group: &mut impl FnMut(I, &[Tag]),
) {
    tags.par_sort_unstable_by_key(|tag| (id_of(tag.row()), *tag));
    for group in tags.chunk_by(|a, b| id_of(a.row()) == id_of(b.row())) {
        if let Some(id) = id_of(group[0].row()) {
            on_group(id, group);
        }
    }
}

/// Those of `rows` to which `bits_of` gives some, sorted.
pub(super) fn tags(
    rows: impl IndexedParallelIterator<Item = RowId>,
    bits_of: impl Fn(RowId) -> Option<u32> + Sync,
) -> Vec<Tag> {
    let mut tags: Vec<Tag> = rows
        .map(|row| bits_of(row).map_or(Tag::NONE, |bits| Tag::new(bits, row)))
        .collect();
    tags.retain(|tag| *tag != Tag::NONE);
    sort(&mut tags, rayon::current_num_threads());
    tags
}

/// Cuts `tags` in `n_parts` by selection, then sorts each part by the sort of the standard library, which one thread does in two
/// thirds of the time that rayon's takes (11.5 million random tags: 18 and 27 ns each; by two threads 11 and 15; Xeon).
fn sort(tags: &mut [Tag], n_parts: usize) {
    if n_parts < 2 || tags.len() <= STRETCH_MIN {
        tags.sort_unstable();
        return;
    }
    let n_low = n_parts / 2;
    let middle = tags.len() / n_parts * n_low;
    tags.select_nth_unstable(middle);
    let (low, high) = tags.split_at_mut(middle);
    rayon::join(|| sort(low, n_low), || sort(high, n_parts - n_low));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// An id of which few bits are told.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Coarse(u32);

    impl Id for Coarse {
        fn bits(self) -> u32 {
            self.0 / 8
        }
    }

    fn all(n_rows: u32) -> impl IndexedParallelIterator<Item = RowId> {
        (0..n_rows).into_par_iter().map(RowId)
    }

    #[test]
    fn groups_are_those_of_full_ids_in_their_order() {
        let id_of = |row: RowId| match row.0 {
            row if row % 11 == 0 => None,
            // Alone with their bits.
            row if row % 500 == 1 => Some(Coarse(8_000 + 8 * row)),
            // A third of them share one id, the others a few bits.
            row if row % 3 == 0 => Some(Coarse(40)),
            row => Some(Coarse(row * row % 61)),
        };
        let mut expected: BTreeMap<Coarse, Vec<RowId>> = BTreeMap::new();
        for row in (0..2000).map(RowId) {
            if let Some(id) = id_of(row) {
                expected.entry(id).or_default().push(row);
            }
        }
        for (alone, n_counted) in [(Alone::Told, 0), (Alone::Counted, 3)] {
            let look_up = LookUp {
                alone,
                touch: |_: &[RowId]| {},
                id_of,
            };
            let mut found = Vec::new();
            let n_alone = for_each_group(all(2000), &look_up, |id, group| {
                found.push((id, group.iter().map(|tag| tag.row()).collect::<Vec<_>>()));
            });
            assert_eq!(n_alone, n_counted);
            assert!(expected.clone().into_iter().eq(found));
            let rows = |group: &[Tag]| group.iter().map(|tag| tag.row()).collect();
            let (accounts, n_alone) = fold_groups(
                all(2000),
                &look_up,
                |account: &mut Vec<(Coarse, Vec<RowId>)>, id, group| {
                    account.push((id, rows(group)));
                },
            );
            assert_eq!(n_alone, n_counted);
            assert!(
                expected
                    .clone()
                    .into_iter()
                    .eq(accounts.into_iter().flatten())
            );
            expected.retain(|id, _| id.0 < 8_000);
        }
    }

    #[test]
    fn parts_are_sorted_as_a_whole() {
        let tag = |row: u32| Tag::new(row.wrapping_mul(0x9e37_79b9) % 5000, RowId(row));
        for len in [0, 1, 1000, 4097, 40_000] {
            let tags: Vec<Tag> = (0..len).map(tag).collect();
            let mut expected = tags.clone();
            expected.sort_unstable();
            for n_parts in [1, 2, 3, 7, 64] {
                let mut tags = tags.clone();
                sort(&mut tags, n_parts);
                assert_eq!(tags, expected, "{len} in {n_parts} parts");
            }
        }
    }

    #[test]
    fn stretches_end_where_bits_change() {
        let tag = |row: u32| Tag::new(row / 3000 % 5, RowId(row));
        for len in [0, 1, 4096, 4097, 40_000] {
            let mut tags: Vec<Tag> = (0..len).map(tag).collect();
            tags.sort_unstable();
            let sorted = tags.clone();
            let found = stretches(&mut tags);
            let ends = found.windows(2).map(|two| (two[0].last(), two[1].first()));
            for (last, first) in ends {
                assert_ne!(last.map(|tag| tag.bits()), first.map(|tag| tag.bits()));
            }
            assert!(found.iter().flat_map(|stretch| stretch.iter()).eq(&sorted));
        }
    }
}
