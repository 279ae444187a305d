//! Which captures are the same: ends, groups, keepers and roles.

mod ends;
mod fate;

pub use ends::{Ends, Facts, Hop};
pub use fate::{
    Conflict, Conflicts, Counts, End, Evidence, Fate, Keep, Role, Sameness, Thresholds,
};

use crate::catalog::Catalog;

/// The groups of a catalog, and the fate of each capture.
#[derive(Debug)]
pub struct Groups;

impl Groups {
    /// Groups all captures of `catalog`.
    #[must_use]
    pub fn of(_catalog: &Catalog, _thresholds: &Thresholds) -> Self {
        Self
    }
}
