//! Ascending runs into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::path::Path;

use super::{KeySet, Writer};
use crate::key::ComparisonKey;
use crate::{Error, Result};

/// Writes the union of `sets`, which are of one policy, as a stream; how many keys it has.
///
/// # Errors
/// Sets of two policies, or a sink that takes no more.
pub fn merge(sets: &[KeySet], sink: &mut dyn Write) -> Result<u64> {
    let Some(first) = sets.first() else {
        return Err(Error::usage("no key set to merge"));
    };
    for set in sets {
        set.refuse_other(first.id())?;
    }
    let runs = sets.iter().map(|set| set.iter().map(Ok)).collect();
    merge_runs(runs, first.id(), sink)
        .map_err(|source| Error::io("write", Path::new("key set"), source))
}

/// Merges ascending runs into a set.
pub(super) fn merge_runs<I>(runs: Vec<I>, id: &str, sink: &mut dyn Write) -> io::Result<u64>
where
    I: Iterator<Item = io::Result<ComparisonKey>>,
{
    let mut writer = Writer::new(sink, id)?;
    for_each(runs, |key| writer.push(key))?;
    writer.finish()
}

/// Gives all keys of ascending runs to `take`, in order.
pub(super) fn for_each<I>(
    mut runs: Vec<I>,
    mut take: impl FnMut(ComparisonKey) -> io::Result<()>,
) -> io::Result<()>
where
    I: Iterator<Item = io::Result<ComparisonKey>>,
{
    let mut heap = BinaryHeap::with_capacity(runs.len());
    for (index, run) in runs.iter_mut().enumerate() {
        if let Some(key) = run.next() {
            heap.push(Reverse((key?, index)));
        }
    }
    while let Some(Reverse((key, index))) = heap.pop() {
        take(key)?;
        if let Some(next) = runs[index].next() {
            heap.push(Reverse((next?, index)));
        }
    }
    Ok(())
}
