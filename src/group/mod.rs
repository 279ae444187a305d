//! Which captures are the same: ends, groups, keepers and roles.
//!
//! Passes over rows sorted by 32 bits (`tags`) make the groups: by payload, by what their ends carry, by end, by key;
//! nothing is joined over more than one digest. Bytes of target URIs are compared and hashed,
//! never parsed: what of their text matters comes in as [`Urls`]. Never imports `scan`, `source`, `uri` or `policy`.

mod content;
mod cost;
mod ends;
mod fate;
mod judge;
mod keeper;
mod order;
mod page;
mod place;
mod tags;
mod tally;
mod uris;
mod way;

pub use ends::{Ends, Facts, Figures, Hop};
pub use fate::{
    Conflict, Conflicts, Counts, End, Evidence, Fate, Keep, Role, Sameness, Thresholds,
};

use crate::catalog::{Catalog, RowFlags, RowId};
use crate::key::ComparisonKey;
use content::{ContentId, Contents};
use place::{Collided, Fact, OwnLabels, Place};
use rayon::prelude::*;
use std::ops::Range;
use tags::Tag;
use tally::Passes;
use way::Ways;

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

/// Which rows a report lists (`--level`, `--include-unique`).
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
    contents: Contents,
    thresholds: Thresholds,
    ways: Ways,
    places: Vec<Place>,
    order: Vec<Tag>,
    /// Captures of each group, by its id.
    sizes: Vec<u32>,
    own_labels: OwnLabels,
    collided: Collided,
    counts: Counts,
}

/// What every step of grouping reads.
#[derive(Clone, Copy)]
struct Basis<'a> {
    catalog: &'a Catalog,
    ends: &'a Ends,
    contents: &'a Contents,
    thresholds: &'a Thresholds,
    /// Which digest says what a capture carries, if the thresholds name one: asked of every row, so looked up once.
    carried_by: Option<Carrier>,
}

/// The digest that says what a capture carries.
#[derive(Clone, Copy)]
enum Carrier {
    /// After content decoding, where there was a coding.
    Decoded,
    /// The payload's.
    Payload,
}

impl<'a> Basis<'a> {
    fn new(
        catalog: &'a Catalog,
        ends: &'a Ends,
        contents: &'a Contents,
        thresholds: &'a Thresholds,
    ) -> Self {
        let carriers = [
            (Evidence::Decoded, Carrier::Decoded),
            (Evidence::Digest, Carrier::Payload),
        ];
        let named = carriers.into_iter().find(|one| thresholds.names(one.0));
        Self {
            catalog,
            ends,
            contents,
            thresholds,
            carried_by: named.map(|(_, carrier)| carrier),
        }
    }
}

impl Groups {
    /// What grouping allocates for each row while it lasts, the largest sort included.
    pub const BYTES_A_ROW: u64 = 24;

    /// Groups all captures of `catalog`, whose ends are `ends`.
    #[must_use]
    pub fn of(catalog: &Catalog, ends: Ends, thresholds: &Thresholds, urls: &Urls<'_>) -> Self {
        let places: Vec<Place> = (0..catalog.len())
            .into_par_iter()
            .map(|_| Place::alone())
            .collect();
        let carriers_max = page::carriers_max(thresholds);
        let contents = Contents::of(catalog, &ends, carriers_max, &places);
        let basis = Basis::new(catalog, &ends, &contents, thresholds);
        for row in ends.pointing().members() {
            let place = &places[row.index()];
            place.add_conflicts(ends.conflicts(*row));
            if basis.is_out_of_scope(*row) {
                place.add_conflicts(Conflict::OutOfScope.into());
            }
        }
        let ways = Ways::of(basis);
        let boilerplate = page::boilerplate(basis, urls);
        let (page_groups, own_labels) = place::place_pages(basis, &ways, &boilerplate, &places);
        let keys = place::place_urls(basis, &places);
        place::judge(basis, &ways, urls, &places);
        place::judge_seen(catalog, &places);
        let passes = Passes {
            keys: keys.counts,
            redundant: cost::redundant(basis, &places),
            page_groups,
            boilerplate_contents: boilerplate.len() as u64,
        };
        let counts = tally::tally(basis, &places, passes);
        let (order, sizes) = order::arrange(catalog, &places);
        Self {
            ends,
            contents,
            thresholds: thresholds.clone(),
            ways,
            places,
            order,
            sizes,
            own_labels,
            collided: keys.collided,
            counts,
        }
    }

    /// What becomes of one capture.
    #[must_use]
    pub fn fate(&self, catalog: &Catalog, row: RowId) -> Fate {
        let place = &self.places[row.index()];
        let basis = Basis::new(catalog, &self.ends, &self.contents, &self.thresholds);
        let keeper = place.keeper().filter(|keeper| *keeper != row);
        let joined = keeper.map(|keeper| match place.is(Fact::InPageGroup) {
            true => basis.joined_by_page(row, keeper, place.role()),
            false => basis.joined_by_key(row, keeper, place.role()),
        });
        let (evidence, joined_to) = joined.map_or((Vec::new(), None), |(evidence, first)| {
            (evidence, Some(first))
        });
        let label = |fact, label: &dyn Fn() -> u64| place.is(fact).then(label);
        Fate {
            group_id: u64::from(place.group_id()),
            group_size: match place.group_id() {
                0 => 1,
                id => u64::from(self.sizes[id as usize]),
            },
            role: place.role(),
            sameness: keeper.map(|keeper| basis.sameness(row, keeper)),
            evidence,
            joined_to,
            conflicts: place.conflicts(),
            keeper: place.keeper(),
            end: self.ends.end(row),
            url_group: label(Fact::InUrlGroup, &|| {
                place::url_label(&self.collided, catalog.row(row).key)
            }),
            content_group: label(Fact::InContentGroup, &|| basis.payload(row).label()),
            page_group: label(Fact::InPageGroup, &|| self.page_label(basis, row)),
        }
    }

    /// The label of the page group of `row`.
    fn page_label(&self, basis: Basis<'_>, row: RowId) -> u64 {
        let stand = basis.stand(&self.ways, row);
        let own = || {
            let other = self.own_labels.get(&stand).copied();
            other.unwrap_or_else(|| basis.own_label(stand))
        };
        basis
            .named_content(stand)
            .map_or_else(own, ContentId::label)
    }

    /// Captures, listed or not.
    #[must_use]
    pub fn n_captures(&self) -> usize {
        self.order.len()
    }

    /// Of the captures from one to another in output order, the rows that `listing` admits.
    #[must_use]
    pub fn listed(&self, captures: Range<usize>, listing: Listing) -> Vec<RowId> {
        let rows = || self.order[captures.clone()].iter().map(|tag| tag.row());
        let wanted = match listing {
            Listing::Url => Fact::InUrlGroup as u32,
            Listing::Page => Fact::InPageGroup as u32,
            Listing::All => Fact::InUrlGroup as u32 | Fact::InPageGroup as u32,
            Listing::WithUnique => return rows().collect(),
        };
        // Looked up before any is judged, so that none waits for another.
        let bits: Vec<u32> = rows().map(|row| self.places[row.index()].bits()).collect();
        let is_listed = |bits: u32| bits & (wanted | place::CONFLICTS) != 0;
        let rows = rows().zip(bits).filter(|(_, bits)| is_listed(*bits));
        rows.map(|(row, _)| row).collect()
    }

    /// The captures to which one leads, hop by hop to its end; empty for one that is its own end.
    ///
    /// Where a hop was not followed it ends before that hop.
    #[must_use]
    pub fn chain(&self, row: RowId) -> Vec<RowId> {
        let last = match self.ends.end(row) {
            End::Itself => return Vec::new(),
            End::Unfollowed(last) => Some(last),
            _ => None,
        };
        let mut chain = Vec::new();
        let mut at = row;
        while let Some(hop) = self.ends.hop(at).filter(|_| Some(at) != last) {
            chain.push(hop.to);
            at = hop.to;
        }
        chain
    }

    /// Where the captures lead, by which also the report tells what a revisit takes from its original.
    #[must_use]
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Figures for the summary.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
