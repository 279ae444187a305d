//! Merges for people to judge, with their text and places. Must never judge one.

use super::listing::Listing;
use crate::Result;
use crate::evaluate::{Classes, Drawn, UrlId, draw};
use crate::report::{AuditRow, AuditTable};

/// How many merges are drawn, and by which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// All rules together.
    pub n: usize,
    /// Other seeds draw others.
    pub seed: u64,
}

/// Writes the merges that were drawn: of the policy, without one of each rule.
pub(super) fn write(listing: &Listing<'_>, audit: Audit, table: &mut AuditTable) -> Result<()> {
    let measured = listing.measured;
    let rows = 0..listing.questions.rows.len();
    let picked = listing
        .questions
        .policy_row
        .map_or(rows, |row| row..row + 1);
    let classes: Vec<(usize, &Classes)> = picked
        .map(|row| (row, &measured.asked[row].classes))
        .collect();
    for drawn in draw(&measured.table, &classes, audit.n, audit.seed) {
        let outcome = &measured.found.outcomes[drawn.row];
        let keeper = measured.table.url(drawn.keeper);
        table.put(&AuditRow {
            rule: &listing.questions.rows[drawn.row].name,
            host: listing.domain(keeper.domain),
            sides: sides(listing, &drawn).map(|(url, row)| listing.side(url, row)),
            weight: drawn.weight,
            measured: &outcome.precision,
        })?;
    }
    Ok(())
}

/// Of both URLs the base form and the capture to look at.
fn sides(listing: &Listing<'_>, drawn: &Drawn) -> [(Vec<u8>, crate::catalog::RowId); 2] {
    let seen = &listing.measured.seen;
    let captures = drawn.captures.unzip();
    [(drawn.url, captures.0), (drawn.keeper, captures.1)].map(|(url, sighting): (UrlId, _)| {
        let row = sighting.map_or(seen.earliest[url as usize], |sighting: u32| {
            seen.rows[sighting as usize]
        });
        (listing.form(url), row)
    })
}
