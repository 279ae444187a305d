//! Which captures are the same: ends, groups, keepers and roles.

mod ends;
mod fate;

pub use ends::{Ends, Facts, Hop};
pub use fate::{
    Conflict, Conflicts, Counts, End, Evidence, Fate, Keep, Role, Sameness, Thresholds,
};

use crate::catalog::{Catalog, RowId};
use crate::key::ComparisonKey;

/// Where a URL stands among others, as hashes: what boilerplate is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Of the registrable domain; of the host where it has none.
    pub domain: u64,
    /// Of the host.
    pub host: u64,
    /// Of path and query, less tracking and session parameters: two URLs of one host are unrelated
    /// if this differs.
    pub form: u64,
}

/// What grouping asks of target URIs, whose text it does not see; asked of few rows.
#[derive(Clone, Copy)]
pub struct Urls<'a> {
    /// Where the URL of a row stands.
    pub site: &'a (dyn Fn(RowId) -> Site + Sync),
    /// Its key under the policy without its bets.
    pub base_key: &'a (dyn Fn(RowId) -> ComparisonKey + Sync),
}

impl std::fmt::Debug for Urls<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Urls")
    }
}

/// Which rows a report lists (design: `--level`, `--include-unique`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Rows with a URL group, and those with a conflict.
    Url,
    /// Rows with a page group, and those with a conflict.
    Page,
    /// Rows with either, and those with a conflict.
    #[default]
    All,
    /// Every row.
    WithUnique,
}

/// The groups of a catalog, and the fate of each capture.
#[derive(Debug)]
pub struct Groups {
    ends: Ends,
    order: Vec<RowId>,
    counts: Counts,
}

impl Groups {
    /// Groups all captures of `catalog`, whose ends are `ends`.
    #[must_use]
    pub fn of(catalog: &Catalog, ends: Ends, _thresholds: &Thresholds, _urls: &Urls<'_>) -> Self {
        Self {
            ends,
            order: catalog.ids().collect(),
            counts: Counts::default(),
        }
    }

    /// What becomes of one capture.
    #[must_use]
    pub fn fate(&self, _catalog: &Catalog, row: RowId) -> Fate {
        Fate {
            group_id: 0,
            group_size: 1,
            role: Role::Unique,
            sameness: None,
            evidence: Vec::new(),
            joined_to: None,
            conflicts: self.ends.conflicts(row),
            keeper: None,
            end: self.ends.end(row),
            url_group: None,
            content_group: None,
            page_group: None,
        }
    }

    /// The rows that `listing` admits, in output order.
    pub fn listing(&self, _listing: Listing) -> impl Iterator<Item = RowId> + '_ {
        self.order.iter().copied()
    }

    /// The captures to which one leads, hop by hop to its end; empty for one that is its own end.
    #[must_use]
    pub fn chain(&self, row: RowId) -> Vec<RowId> {
        let mut chain = Vec::new();
        let mut at = row;
        while let Some(hop) = self.ends.hop(at) {
            chain.push(hop.to);
            at = hop.to;
        }
        chain
    }

    /// Figures for the summary.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
