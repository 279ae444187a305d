//! What a capture is to its keeper, and by which evidence.

use super::content::{is_nothing, is_usable};
use super::page::PageContent;
use super::way::Ways;
use super::{Basis, End, Evidence, Hop, Role, RowFlags, Sameness};
use crate::catalog::RowId;

/// A role, with what makes a duplicate cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Content proven equal, or a revisit of the keeper.
    Duplicate,
    /// Neither has any content.
    BothEmpty,
    /// Other content, status or Location.
    Version,
    /// Nothing to judge by.
    Unjudged,
    /// By redirect.
    Alias,
}

impl Verdict {
    pub(super) fn role(self) -> Role {
        match self {
            Self::Duplicate | Self::BothEmpty => Role::Duplicate,
            Self::Version => Role::Version,
            Self::Unjudged => Role::Unjudged,
            Self::Alias => Role::Alias,
        }
    }
}

/// Evidence with which a row stands with its keeper, and the capture at the first hop.
pub(super) type Joined = (Vec<Evidence>, RowId);

impl Basis<'_> {
    /// A member of a URL group against its keeper: a redirect stands by its own body.
    pub(super) fn judge_by_key(&self, row: RowId, keeper: RowId) -> Verdict {
        let (own, kept) = (self.ends.facts(row), self.ends.facts(keeper));
        if !self.has_same_answer(row, keeper) {
            Verdict::Version
        } else if self.are_both_nothing(row, keeper) {
            Verdict::BothEmpty
        } else if self.content_evidence(row, keeper).is_some() || self.refers(row, keeper) {
            Verdict::Duplicate
        } else if is_usable(&own) && is_usable(&kept) {
            Verdict::Version
        } else {
            Verdict::Unjudged
        }
    }

    /// A member of a page group against its keeper.
    pub(super) fn judge_by_page(&self, ways: &Ways, row: RowId, keeper: RowId) -> Verdict {
        let is_proven = || matches!(self.page_content(ways, row), Some(PageContent::Digest(_)));
        if self.is_redirected(ways, row) {
            Verdict::Alias
        } else if is_proven() || self.has_same_answer(row, keeper) {
            Verdict::Duplicate
        } else {
            Verdict::Version
        }
    }

    /// Equal status and resolved Location.
    fn has_same_answer(&self, row: RowId, keeper: RowId) -> bool {
        let location = |row| self.catalog.redirect_to(self.ends.head(row));
        self.ends.facts(row).status == self.ends.facts(keeper).status
            && location(row) == location(keeper)
    }

    /// Whether there is no content in either; what answers HEAD proves nothing.
    fn are_both_nothing(&self, row: RowId, keeper: RowId) -> bool {
        [row, keeper].into_iter().all(|row| {
            is_nothing(&self.ends.facts(row))
                && !self.catalog.row(row).flags.contains(RowFlags::HEAD)
        })
    }

    /// Whether a row is a revisit of the keeper.
    fn refers(&self, row: RowId, keeper: RowId) -> bool {
        let is_keeper = |hop: Hop| {
            [hop.to, self.ends.content(hop.to)].contains(&keeper)
                || self.ends.referred(row) == Some(keeper)
        };
        self.reference(row).is_some_and(is_keeper)
    }

    /// By which digest two captures are equal.
    fn content_evidence(&self, a: RowId, b: RowId) -> Option<Evidence> {
        let (of_a, of_b) = (self.ends.facts(a), self.ends.facts(b));
        if !is_usable(&of_a) || !is_usable(&of_b) {
            None
        } else if self.contents.payload(a, &of_a) == self.contents.payload(b, &of_b) {
            Some(Evidence::Digest)
        } else {
            (self.contents.decoded(a, &of_a) == self.contents.decoded(b, &of_b))
                .then_some(Evidence::Decoded)
        }
    }

    /// How a row stands with the keeper of its page group.
    pub(super) fn joined_by_page(&self, row: RowId, keeper: RowId, role: Role) -> Joined {
        if role == Role::Version && self.catalog.row(row).key == self.catalog.row(keeper).key {
            return (vec![Evidence::Key], keeper);
        }
        let hop = |row| self.ends.hop(row).filter(|hop| self.admits(hop));
        let path = self.path(row, keeper, hop);
        let by_digest = if self.thresholds.names(Evidence::Digest) {
            Evidence::Digest
        } else {
            // Equal payloads decode alike; the report shows no evidence that is not named.
            Evidence::Decoded
        };
        let content = path.content.map(|kind| match kind {
            Evidence::Digest => by_digest,
            other => other,
        });
        (
            path.pointers.into_iter().chain(content).collect(),
            path.first,
        )
    }

    /// How a row stands with the keeper of its URL group.
    pub(super) fn joined_by_key(&self, row: RowId, keeper: RowId, role: Role) -> Joined {
        let is_referred = self.ends.referred(row) == Some(keeper);
        if role == Role::Duplicate && is_referred && self.reference(row).is_some() {
            return (vec![Evidence::Revisit], keeper);
        }
        let path = self.path(row, keeper, |row| self.reference(row));
        if role == Role::Duplicate && (path.is_complete || path.content.is_some()) {
            let evidence = path.pointers.into_iter().chain(path.content);
            (evidence.collect(), path.first)
        } else {
            (vec![Evidence::Key], keeper)
        }
    }

    /// What a revisit refers to, also where its own Location leads elsewhere or comes round.
    fn reference(&self, row: RowId) -> Option<Hop> {
        let (hop, content) = (self.ends.hop(row), self.ends.content(row));
        // Of one that is its own end all the same, the reference was not followed.
        let leads_on = self.ends.end(row) != End::Itself;
        match hop {
            Some(hop) if hop.kind == Evidence::Revisit => Some(hop),
            _ => (leads_on && content != row).then_some(Hop {
                to: content,
                kind: Evidence::Revisit,
            }),
        }
    }

    /// Goes from hop to hop, as far as the keeper.
    fn path(&self, row: RowId, keeper: RowId, hop: impl Fn(RowId) -> Option<Hop>) -> Path {
        let hops = |row| {
            // No way is longer than the catalog, unless a pointer came round.
            std::iter::successors(hop(row), |at| hop(at.to)).take(self.catalog.len())
        };
        let mut path = Path {
            pointers: Vec::new(),
            content: None,
            first: keeper,
            is_complete: row == keeper,
        };
        let mut at = row;
        for hop in hops(row) {
            if path.pointers.is_empty() {
                path.first = hop.to;
            }
            path.pointers.push(hop.kind);
            at = hop.to;
            if at == keeper {
                path.is_complete = true;
                break;
            }
        }
        if !path.is_complete {
            let kept = hops(keeper).last().map_or(keeper, |hop| hop.to);
            path.content = self.content_evidence(at, kept);
        }
        path
    }

    /// Whether target URIs are equal: where they are their own key texts, the keys say so.
    fn has_same_uri(&self, row: RowId, keeper: RowId) -> bool {
        let is_verbatim = |row| {
            let flags = self.catalog.row(row).flags;
            flags.contains(RowFlags::VERBATIM)
        };
        match (is_verbatim(row), is_verbatim(keeper)) {
            (true, true) => self.catalog.url_key(row) == self.catalog.url_key(keeper),
            (false, false) => self.catalog.target_uri(row) == self.catalog.target_uri(keeper),
            _ => false,
        }
    }

    /// How a row is the same as its keeper, the strongest.
    pub(super) fn sameness(&self, row: RowId, keeper: RowId) -> Sameness {
        let (own, kept) = (self.catalog.row(row), self.catalog.row(keeper));
        let record_id = self.catalog.record_id(row);
        if record_id != 0 && record_id == self.catalog.record_id(keeper) {
            Sameness::SameRecord
        } else if self.has_same_uri(row, keeper) {
            Sameness::SameUrl
        } else if own.key == kept.key {
            Sameness::SameKey
        } else {
            Sameness::SamePage
        }
    }
}

/// The way from a row to its keeper.
struct Path {
    pointers: Vec<Evidence>,
    /// What joins its end with the keeper's; `None` where it is complete, or nothing does.
    content: Option<Evidence>,
    /// The capture at the first hop.
    first: RowId,
    /// Whether the pointers lead to the keeper itself.
    is_complete: bool,
}
