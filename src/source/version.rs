//! What tells a file from another, or from itself after a change.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Length, time and place of a file. What moves another one of that size and time to the same path (`cp -p`, `rsync -t`) has
/// another inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its length.
    pub n_bytes: u64,
    /// When it was modified, in seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds of that second.
    pub nanos: i64,
    /// Where it stands.
    pub device: u64,
    /// Which file it is there.
    pub inode: u64,
}

impl Version {
    /// Of a file that was asked already.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            n_bytes: metadata.len(),
            seconds: metadata.mtime(),
            nanos: metadata.mtime_nsec(),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Of what stands at `path` now.
    ///
    /// # Errors
    /// Nothing does, or it cannot be asked.
    pub fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::of(&metadata))
    }
}
