//! From fates to report rows: brings text, keys and pointers of each listed capture together.

use super::in_order::in_order;
use crate::Result;
use crate::capture::{Capture, Payload};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::group::{End, Fate, Groups, Listing};
use crate::key::Keyer;
use crate::policy::{Policy, RuleSet};
use crate::report::{Lines, Link, Place, Report, Row};

/// Captures whose lines, if they are listed, one thread makes before they are written; meanwhile others make the next.
const BLOCK_CAPTURES: usize = 2048;

/// Most lines are shorter.
const LINE_BYTES: usize = 512;

/// What rows are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources<'a> {
    /// All captures.
    pub(super) catalog: &'a Catalog,
    /// What becomes of them.
    pub(super) groups: &'a Groups,
    /// What their keys are made by.
    pub(super) policy: &'a Policy,
}

/// Writes the rows that `listing` admits.
///
/// # Errors
/// The report cannot be written.
pub(super) fn write(
    sources: Sources<'_>,
    listing: Listing,
    lines: &Lines,
    report: &mut Report,
) -> Result<()> {
    let n_captures = sources.groups.n_captures();
    let blocks = (0..n_captures)
        .step_by(BLOCK_CAPTURES)
        .map(|start| start..n_captures.min(start + BLOCK_CAPTURES));
    in_order(
        blocks,
        || (Keyer::new(sources.policy), lines.clone()),
        |(keyer, lines), block, outlet| {
            let rows = sources.groups.listed(block, listing);
            let mut out = Vec::with_capacity(rows.len() * LINE_BYTES);
            for some in rows.chunks(Catalog::TOUCHED_ROWS) {
                sources.catalog.touch(some);
                for row in some {
                    sources.push_row(*row, keyer, lines, &mut out);
                }
            }
            outlet.put((out, rows.len() as u64));
        },
        |(lines, n_rows)| report.put_lines(&lines, n_rows),
    )
}

/// The key text of a URI, and the rules that fired on it.
fn keyed<'a>(keyer: &'a mut Keyer<'_>, target_uri: &'a [u8]) -> (&'a [u8], RuleSet) {
    let keyed = keyer.key(target_uri);
    (keyed.text, keyed.fired)
}

impl Sources<'_> {
    fn push_row(self, id: RowId, keyer: &mut Keyer<'_>, lines: &mut Lines, out: &mut Vec<u8>) {
        let Self {
            catalog, groups, ..
        } = self;
        let fate = groups.fate(catalog, id);
        let flags = catalog.row(id).flags;
        let (capture, redirect_to) = self.capture_and_redirect_to(id);
        let chain: Vec<Link<'_>> = if lines.show_chains() {
            let hops = groups.chain(id);
            hops.into_iter().map(|hop| self.link(hop)).collect()
        } else {
            Vec::new()
        };
        // What is its own key text need not be keyed again.
        let (key_text, rules) = match flags.contains(RowFlags::VERBATIM) {
            true => (capture.target_uri, RuleSet::EMPTY),
            false => keyed(keyer, capture.target_uri),
        };
        debug_assert_eq!(
            (key_text, rules),
            keyed(&mut Keyer::new(self.policy), capture.target_uri)
        );
        let row = Row {
            capture,
            fate: &fate,
            flags,
            key_text,
            rules,
            joined_to: fate.joined_to.map(|to| Place {
                file_name: catalog.record_file(to),
                offset: catalog.locator(to).offset,
            }),
            redirect_to,
            final_url: self.final_url(&fate),
            canonical: b"",
            keeper_url: fate.keeper.map_or(b"", |keeper| catalog.target_uri(keeper)),
            file_name: catalog.record_file_of(&capture),
            chain: &chain,
        };
        lines.push(&row, out);
    }

    /// The capture, and where it redirects to; a revisit with payload, media type, status and language as its original lends them.
    fn capture_and_redirect_to(&self, id: RowId) -> (Capture<'_>, &[u8]) {
        let Self {
            catalog, groups, ..
        } = self;
        let (mut capture, redirect_to) = catalog.capture_and_redirect_to(id);
        let (content, head) = (groups.ends().content(id), groups.ends().head(id));
        if content != id {
            let (own, original) = (capture.payload, catalog.capture(content));
            capture.mime = original.mime;
            capture.payload = Payload {
                declared_text: own.declared_text,
                declared: own.declared,
                status: own.status,
                completeness: own.completeness,
                ..original.payload
            };
        }
        if head != id {
            capture.language = catalog.capture(head).language;
        }
        capture.status = self.status(id);
        (capture, redirect_to)
    }

    fn status(&self, id: RowId) -> Option<u16> {
        Some(self.groups.ends().facts(id).status).filter(|status| *status > 0)
    }

    fn link(&self, id: RowId) -> Link<'_> {
        Link {
            url: self.catalog.target_uri(id),
            status: self.status(id),
            timestamp: self.catalog.row(id).date,
        }
    }

    fn final_url(&self, fate: &Fate) -> &[u8] {
        match fate.end {
            End::Itself | End::Loop => b"",
            End::Row(end) => self.catalog.target_uri(end),
            End::Unfollowed(hop) => self.catalog.redirect_to(hop),
        }
    }
}
