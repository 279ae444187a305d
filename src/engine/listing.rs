//! From fates to report rows: brings text, keys and pointers of each listed capture together.

use rayon::prelude::*;

use crate::Result;
use crate::capture::{Capture, Payload};
use crate::catalog::{Catalog, RowId};
use crate::group::{End, Fate, Groups, Listing};
use crate::key::Keyer;
use crate::policy::Policy;
use crate::report::{Lines, Link, Place, Report, Row};

/// Rows whose lines one thread makes before they are written.
const BLOCK_ROWS: usize = 1024;
/// Blocks that are made before any of them is written: bounds the lines held in memory.
const BLOCKS_AT_ONCE: usize = 16;

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
    let mut rows = sources.groups.listing(listing);
    loop {
        let blocks: Vec<RowId> = rows.by_ref().take(BLOCK_ROWS * BLOCKS_AT_ONCE).collect();
        if blocks.is_empty() {
            return Ok(());
        }
        let made: Vec<Vec<u8>> = blocks
            .par_chunks(BLOCK_ROWS)
            .map(|block| lines_of(sources, block, lines.clone()))
            .collect();
        for (block, made) in blocks.chunks(BLOCK_ROWS).zip(&made) {
            report.put_lines(made, block.len() as u64)?;
        }
    }
}

fn lines_of(sources: Sources<'_>, rows: &[RowId], mut lines: Lines) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * 512);
    let mut keyer = Keyer::new(sources.policy);
    for &row in rows {
        sources.push_row(row, &mut keyer, &mut lines, &mut out);
    }
    out
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
