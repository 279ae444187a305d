//! Outputs that appear whole or not at all.

use std::path::PathBuf;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `-`.
    Stdout,
    /// A file, or whatever stands at that path.
    File(PathBuf),
}

impl From<PathBuf> for Target {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::File(path)
        }
    }
}
