//! Where each capture leads: redirects and revisits followed to their end.
//!
//! Everything is sorting, binary search and two linear walks over pointers, so that a hub of ten million captures or a
//! chain of a hundred thousand redirects costs no more than as many rows that have nothing to do with each other.
//! Must never make keys, or see the text of a URL: `catalog` answers what is asked of it.

mod bits;
mod chains;
mod facts;
mod forest;
mod nearest;
mod redirects;
mod revisits;
mod subset;
mod wanted;

use super::fate::{Conflict, Conflicts, End, Evidence, Thresholds};
use crate::catalog::{Catalog, Row, RowFlags, RowId, Rows};
use bits::Bits;
use chains::{Chains, Parts};
use facts::Payloads;
use revisits::Revisits;
pub(super) use subset::Subset;

/// One step from a capture towards its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The capture it leads to.
    pub to: RowId,
    /// `Revisit`, `Redirect` or `RedirectTemporary` (this hop's own status).
    pub kind: Evidence,
}

/// What a capture is once its revisit reference is resolved.
///
/// For anything but a revisit these are the row's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// HTTP status, 0 for unknown.
    pub status: u16,
    /// Identity of the payload digest, 0 for none. Mapped: a declared digest that was checked on a
    /// payload counts as that payload's.
    pub payload: u128,
    /// Identity of the decoded digest, or of what the payload is known to decode to; 0 for none.
    pub decoded: u128,
    /// No payload bytes.
    pub is_empty: bool,
    /// Decodes to nothing.
    pub decodes_to_nothing: bool,
    /// Usable as content evidence: complete, no HEAD, has a digest, not empty.
    pub is_usable: bool,
}

/// Figures of the summary that pointers give; all that concern one conflict alone are counted with the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Captures that redirect, themselves or by what they refer to, and are followed to an end without conflict.
    pub chains: u64,
    /// Of these, with a temporary redirect on the way.
    pub temporary: u64,
    /// Distinct sets of keys that go round.
    pub loops: u64,
    /// Revisits whose original is not in the input.
    pub dangling: u64,
}

/// The ends of all captures of a catalog.
#[derive(Debug)]
pub struct Ends {
    rows: Rows,
    /// Rows whose own payload is all there is to know, a bit each: nearly all.
    ordinary: Bits,
    payloads: Payloads,
    revisits: Revisits,
    chains: Chains,
    figures: Figures,
}

impl Ends {
    /// Follows every redirect and revisit of `catalog`.
    #[must_use]
    pub fn of(catalog: &Catalog, thresholds: &Thresholds) -> Self {
        let payloads = Payloads::of(catalog);
        let revisits = Revisits::of(catalog, &payloads);
        let chains = Chains::of(Parts {
            catalog,
            thresholds,
            revisits: &revisits,
        });
        let figures = Figures::of(&revisits, &chains);
        let mut ends = Self {
            rows: catalog.shared_rows(),
            ordinary: Bits::default(),
            payloads,
            revisits,
            chains,
            figures,
        };
        ends.ordinary = Bits::of(catalog.len(), |row| {
            ends.payloads.are_ordinary(row, &ends.fixed(row))
        });
        ends
    }

    /// The next hop of a capture that is followed; `None` at an end or where it is not followed. Hops never come round.
    #[must_use]
    pub fn hop(&self, row: RowId) -> Option<Hop> {
        self.chains.get(row)?.hop
    }

    /// Where the capture finally leads. A pointer with a conflict joins nothing, even where its end is known
    /// (`end-not-2xx`, `language`).
    #[must_use]
    pub fn end(&self, row: RowId) -> End {
        self.chains.get(row).map_or(End::Itself, |way| way.end)
    }

    /// Whether a 302, 303 or 307 (not HSTS) is on the way to the end.
    #[must_use]
    pub fn is_temporary(&self, row: RowId) -> bool {
        self.chains.get(row).is_some_and(|way| way.is_temporary)
    }

    /// Conflicts of the pointers on the way (not boilerplate, content or encoding ones), and `out-of-scope` of the capture.
    #[must_use]
    pub fn conflicts(&self, row: RowId) -> Conflicts {
        let mut conflicts = self
            .chains
            .get(row)
            .map_or(Conflicts::default(), |way| way.conflicts);
        if self.is_dangling(row) {
            conflicts.insert(Conflict::Dangling);
        }
        conflicts
    }

    /// The row's facts after its own revisit reference is resolved (redirects are not followed).
    #[must_use]
    pub fn facts(&self, row: RowId) -> Facts {
        if self.ordinary.has(row) {
            return Facts::ordinary(&self.fixed(row));
        }
        let content = self.content(row);
        let facts = self.payloads.facts(content, &self.fixed(content));
        let is_head = self.fixed(row).flags.contains(RowFlags::HEAD);
        Facts {
            status: self.fixed(self.head(row)).status,
            is_usable: facts.is_usable && !is_head,
            ..facts
        }
    }

    /// XXH3-128 of the payload of a row where it was read, else 0.
    #[must_use]
    pub fn body_hash(&self, catalog: &Catalog, row: RowId) -> u128 {
        catalog.body_hash(self.content(row))
    }

    /// Whether it is known of any payload what it decodes to.
    pub(super) fn has_decoded(&self) -> bool {
        self.payloads.has_decoded()
    }

    /// The rows that lead elsewhere, or would.
    pub(super) fn pointing(&self) -> &Subset {
        self.chains.rows()
    }

    /// The capture whose payload, digests, `payload_bytes` and mime are the row's: its original if it is a revisit, else itself.
    #[must_use]
    pub fn content(&self, row: RowId) -> RowId {
        self.revisits.get(row).map_or(row, |found| found.content)
    }

    /// The capture whose status, `Location` and language are the row's: the original of a revisit without head, or with a
    /// 304; else itself.
    #[must_use]
    pub fn head(&self, row: RowId) -> RowId {
        self.revisits.get(row).map_or(row, |found| found.head)
    }

    /// The first capture on the way that is no redirect, itself included: whose status decides whether the row is a page.
    /// Some redirect where there is none.
    #[must_use]
    pub fn page(&self, row: RowId) -> RowId {
        self.chains.get(row).map_or(row, |way| way.page)
    }

    /// What a revisit refers to, itself perhaps a revisit; its hop leads straight to the original of both.
    #[must_use]
    pub fn referred(&self, row: RowId) -> Option<RowId> {
        self.revisits.get(row)?.referred
    }

    /// Whether the row is a revisit whose original is not in the input.
    #[must_use]
    pub fn is_dangling(&self, row: RowId) -> bool {
        let found = self.revisits.get(row);
        found.is_some_and(|found| found.original.is_none())
    }

    fn fixed(&self, row: RowId) -> Row {
        self.rows.get(row)
    }

    /// Figures for the summary.
    #[must_use]
    pub fn figures(&self) -> &Figures {
        &self.figures
    }
}

impl Facts {
    /// Those of a row with a usable payload that is all there is to know of it.
    fn ordinary(row: &Row) -> Self {
        Self {
            status: row.status,
            payload: row.payload,
            decoded: 0,
            is_empty: false,
            decodes_to_nothing: false,
            is_usable: true,
        }
    }
}

impl Figures {
    fn of(revisits: &Revisits, chains: &Chains) -> Self {
        let followed = || {
            let ways = chains.ways().iter();
            ways.filter(|way| way.redirects() && way.conflicts.is_empty())
        };
        Self {
            chains: followed().count() as u64,
            temporary: followed().filter(|way| way.is_temporary).count() as u64,
            loops: chains.n_loops,
            dangling: revisits.n_dangling(),
        }
    }
}
