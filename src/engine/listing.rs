//! From fates to report rows: brings text, keys and pointers of each listed capture together.

use super::in_order::in_order;
use crate::Result;
use crate::capture::{Capture, Payload};
use crate::catalog::{Catalog, RowId};
use crate::group::{End, Fate, Groups, Listing};
use crate::key::Keyer;
use crate::policy::Policy;
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

impl Sources<'_> {
    fn push_row(self, id: RowId, keyer: &mut Keyer<'_>, lines: &mut Lines, out: &mut Vec<u8>) {
        let Self {
            catalog, groups, ..
        } = self;
        let fate = groups.fate(catalog, id);
        let capture = self.capture(id);
        let chain: Vec<Link<'_>> = if lines.show_chains() {
            let hops = groups.chain(id);
            hops.into_iter().map(|hop| self.link(hop)).collect()
        } else {
            Vec::new()
        };
        let keyed = keyer.key(capture.target_uri);
        let row = Row {
            capture,
            fate: &fate,
            flags: catalog.row(id).flags,
            key_text: keyed.text,
            rules: keyed.fired,
            joined_to: fate.joined_to.map(|to| Place {
                file_name: catalog.record_file(to),
                offset: catalog.locator(to).offset,
            }),
            redirect_to: catalog.redirect_to(id),
            final_url: self.final_url(&fate),
            canonical: b"",
            keeper_url: fate.keeper.map_or(b"", |keeper| catalog.target_uri(keeper)),
            file_name: catalog.record_file(id),
            chain: &chain,
        };
        lines.push(&row, out);
    }

    /// The capture; a revisit with payload, media type, status and language as its original lends them.
    fn capture(&self, id: RowId) -> Capture<'_> {
        let Self {
            catalog, groups, ..
        } = self;
        let own = catalog.capture(id);
        let (content, head) = (groups.ends().content(id), groups.ends().head(id));
        let mut capture = own;
        if content != id {
            let original = catalog.capture(content);
            capture.mime = original.mime;
            capture.payload = Payload {
                declared_text: own.payload.declared_text,
                declared: own.payload.declared,
                status: own.payload.status,
                completeness: own.payload.completeness,
                ..original.payload
            };
        }
        if head != id {
            capture.language = catalog.capture(head).language;
        }
        capture.status = self.status(id);
        capture
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
