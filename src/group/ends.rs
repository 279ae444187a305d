//! Where each capture leads: redirects and revisits followed to their end.

use super::fate::{Conflicts, End, Evidence, Thresholds};
use crate::catalog::{Catalog, RowId};

/// One step from a capture towards its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The capture it leads to.
    pub to: RowId,
    /// `Revisit`, `Redirect` or `RedirectTemporary` (this hop's own status).
    pub kind: Evidence,
}

/// What a capture is once its revisit reference is resolved (design: "The end of a capture").
///
/// For anything but a revisit these are the row's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// HTTP status, 0 for unknown.
    pub status: u16,
    /// Identity of the payload digest, 0 for none. Mapped: a declared digest that was checked on a
    /// payload counts as that payload's.
    pub payload: u128,
    /// XXH3-128 of the payload where it was read, else 0.
    pub body_hash: u128,
    /// Identity of the decoded digest, or of what the payload is known to decode to; 0 for none.
    pub decoded: u128,
    /// No payload bytes.
    pub is_empty: bool,
    /// Decodes to nothing.
    pub decodes_to_nothing: bool,
    /// Usable as content evidence: complete, no HEAD, has a digest, not empty.
    pub is_usable: bool,
}

/// The ends of all captures of a catalog.
#[derive(Debug)]
pub struct Ends;

impl Ends {
    /// Follows every redirect and revisit of `catalog`.
    #[must_use]
    pub fn of(_catalog: &Catalog, _thresholds: &Thresholds) -> Self {
        Self
    }

    /// The next hop of a capture that is followed; `None` at an end or where it is not followed.
    #[must_use]
    pub fn hop(&self, _row: RowId) -> Option<Hop> {
        None
    }

    /// Where the capture finally leads.
    #[must_use]
    pub fn end(&self, _row: RowId) -> End {
        End::Itself
    }

    /// Whether a 302, 303 or 307 (not HSTS) is on the way.
    #[must_use]
    pub fn is_temporary(&self, _row: RowId) -> bool {
        false
    }

    /// Conflicts of the pointers on the way (not boilerplate, content or encoding ones).
    #[must_use]
    pub fn conflicts(&self, _row: RowId) -> Conflicts {
        Conflicts::default()
    }

    /// The row's facts after its own revisit reference is resolved (redirects are not followed).
    #[must_use]
    pub fn facts(&self, _row: RowId) -> Facts {
        Facts {
            status: 0,
            payload: 0,
            body_hash: 0,
            decoded: 0,
            is_empty: false,
            decodes_to_nothing: false,
            is_usable: false,
        }
    }
}
