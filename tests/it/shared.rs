//! Archives that are too large for the repository, where there are any.

use std::path::PathBuf;

/// The folder that `DEDUPE_SHARED` names; tests that need it pass without it.
pub(crate) fn dir() -> Option<PathBuf> {
    let dir = PathBuf::from(std::env::var_os("DEDUPE_SHARED")?);
    assert!(dir.is_dir(), "DEDUPE_SHARED={} is no folder", dir.display());
    Some(dir)
}
