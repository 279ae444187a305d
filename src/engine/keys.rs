//! Key sets of a run: what earlier runs hold already, and what this one holds.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::catalog::{Catalog, RowFlags};
use crate::keyset::{KeySet, Sorter};
use crate::policy::PolicyId;
use crate::report::{Finished, Output, Target};

/// Bytes of keys that are sorted in memory at once.
const SORTED_BYTES_MAX: usize = 256 << 20;

/// Opens the key sets of earlier runs, all of the policy `id`.
///
/// # Errors
/// One cannot be read, is damaged, or is of another policy.
pub(super) fn open(paths: &[PathBuf], id: &PolicyId) -> Result<Vec<KeySet>> {
    paths.iter().map(|path| KeySet::open(path, id)).collect()
}

/// Flags every capture whose key is in one of `sets`.
pub(super) fn mark_seen(catalog: &mut Catalog, sets: &[KeySet]) {
    for id in catalog.ids() {
        let key = catalog.row(id).key;
        if sets.iter().any(|set| set.contains(key)) {
            catalog.set_flag(id, RowFlags::SEEN_BEFORE);
        }
    }
}

/// Writes the sorted distinct keys of `catalog`; how many there are.
///
/// # Errors
/// The disk is full, or the target cannot be written.
pub(super) fn write(catalog: &Catalog, id: &PolicyId, target: &Target) -> Result<(Finished, u64)> {
    let folder = target
        .path()
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut sorter = Sorter::new(SORTED_BYTES_MAX, folder.unwrap_or(Path::new(".")));
    for row in catalog.rows() {
        sorter.push(row.key)?;
    }
    let mut output = Output::create(target)?;
    let n_keys = sorter
        .write_to(id, &mut output)
        .map_err(|error| error.at(target.path()))?;
    Ok((output.finish()?, n_keys))
}
