//! First hops of redirects: which capture a resolved `Location` means, and which are not believed.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::nearest::{Place, Places};
use super::revisits::{bits, has_own_head};
use super::wanted::Wanted;
use super::{Conflict, Conflicts, Evidence, Thresholds};
use crate::capture::RecordType;
use crate::catalog::{Catalog, Row, RowFlags, RowId, Target};
use crate::key::Kind;

/// Unrelated paths sent to `/` from which on none is believed.
const UNRELATED_HOME_MIN: usize = 3;

/// What a redirect's own `Location` comes to.
pub(super) type FirstHop = Result<RowId, Conflicts>;

/// Whether a row leads by its own `Location`: a 3xx, but no 304.
pub(super) fn is_redirect(row: &Row) -> bool {
    (300..400).contains(&row.status)
        && row.status != 304
        && row.flags.contains(RowFlags::LEADS)
        && (row.record_type != RecordType::Revisit || has_own_head(row))
}

/// `Redirect` for a permanent one (301, 308, and 307 by HSTS), else `RedirectTemporary`.
pub(super) fn kind(row: &Row) -> Evidence {
    match row.status {
        301 | 308 => Evidence::Redirect,
        307 if row.flags.contains(RowFlags::HSTS) => Evidence::Redirect,
        _ => Evidence::RedirectTemporary,
    }
}

/// Captures by key, as targets of redirects.
#[derive(Debug)]
pub(super) struct Redirects<'a> {
    catalog: &'a Catalog,
    within: i64,
    places: Places,
    fan_in: HashSet<u128>,
    suspect_homes: HashSet<u128>,
}

impl<'a> Redirects<'a> {
    /// `leads_on` says of which captures it is known that they redirect, themselves or by their original.
    pub(super) fn new(
        catalog: &'a Catalog,
        thresholds: &Thresholds,
        leads_on: impl Fn(RowId) -> bool + Sync,
    ) -> Self {
        let sources = Source::all(catalog);
        let targets: Wanted = sources.iter().map(|source| source.target).collect();
        let places = catalog
            .par_ids()
            .filter_map(|row| {
                let fixed = catalog.row(row);
                let key = bits(fixed.key);
                (targets.has(key) && is_target(&fixed)).then(|| Place {
                    key,
                    date: fixed.date,
                    leads_on: leads_on(row),
                    row,
                })
            })
            .collect();
        Self {
            catalog,
            within: thresholds.redirect_within,
            places: Places::new(catalog, places),
            fan_in: crowded(&sources, thresholds.fan_in_max),
            suspect_homes: suspect_homes(&sources),
        }
    }

    /// Where `row`, a redirect, leads by itself.
    pub(super) fn first_hop(&self, row: RowId) -> FirstHop {
        let fixed = self.catalog.row(row);
        if fixed.flags.contains(RowFlags::OUT_OF_SCOPE) {
            return Err(Conflict::OutOfScope.into());
        }
        let key = match self.catalog.target(row) {
            Target::Key(key) => bits(key),
            Target::Credentials => return Err(Conflict::Credentials.into()),
            Target::OutOfScope => return Err(Conflict::OutOfScope.into()),
            Target::NotHttp | Target::None => return Err(Conflict::NotHttp.into()),
        };
        let mut conflicts = Conflicts::default();
        if self.fan_in.contains(&key) {
            conflicts.insert(Conflict::FanIn);
        }
        if self.suspect_homes.contains(&key) && is_astray(self.catalog, row) {
            conflicts.insert(Conflict::SuspectHome);
        }
        let nearest = self.places.nearest(key, fixed.date, self.within);
        match nearest {
            Some(to) if conflicts.is_empty() => return Ok(to),
            Some(_) => {}
            None if self.places.has(key) => conflicts.insert(Conflict::RedirectGap),
            None => conflicts.insert(Conflict::RedirectOutside),
        }
        Err(conflicts)
    }

    /// Where `row` leads if its hops come round: the nearest capture that does not lead on.
    pub(super) fn way_out(&self, row: RowId) -> Option<RowId> {
        let fixed = self.catalog.row(row);
        let Target::Key(key) = self.catalog.target(row) else {
            return None;
        };
        self.places
            .nearest_resting(bits(key), fixed.date, self.within)
    }
}

/// Whether a redirect may lead to a row: asked for with GET, and in scope.
fn is_target(row: &Row) -> bool {
    ![RowFlags::NOT_GET, RowFlags::HEAD, RowFlags::OUT_OF_SCOPE]
        .into_iter()
        .any(|flag| row.flags.contains(flag))
}

/// The redirects of one key that lead to one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    target: u128,
    key: u128,
    /// Which spelling of the key it is, since these may differ in their paths.
    spelling: Spelling,
    /// Hash of the path, if it is no root and leads to one; else 0.
    astray_path: u64,
}

/// The spellings of one key, in the order in which they stand for all: what is the key text itself, else the shortest path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spelling {
    Verbatim,
    Other(usize),
}

impl Source {
    /// `None` of a redirect that leads to no key.
    fn of(catalog: &Catalog, row: RowId) -> Option<Self> {
        let Target::Key(target) = catalog.target(row) else {
            return None;
        };
        let (fixed, path) = (catalog.row(row), catalog.path(row));
        Some(Self {
            target: bits(target),
            key: bits(fixed.key),
            spelling: match fixed.flags.contains(RowFlags::VERBATIM) {
                true => Spelling::Verbatim,
                false => Spelling::Other(path.len()),
            },
            astray_path: match is_astray(catalog, row) {
                true => xxh3_64(path).max(1),
                false => 0,
            },
        })
    }

    /// Sorted by target, then key; of one key the first spelling. Texts are read in the order of the input: in that of targets each
    /// would be a page of its own where texts do not fit in memory.
    fn all(catalog: &Catalog) -> Vec<Self> {
        let mut sources: Vec<Self> = catalog
            .par_ids()
            .filter(|row| is_redirect(&catalog.row(*row)))
            .filter_map(|row| Self::of(catalog, row))
            .collect();
        sources.par_sort_unstable();
        sources.dedup_by_key(|source| (source.target, source.key));
        sources
    }
}

/// Targets to which more than `sources_max` keys lead.
fn crowded(sources: &[Source], sources_max: u64) -> HashSet<u128> {
    sources
        .chunk_by(|one, other| one.target == other.target)
        .filter(|sources| sources.len() as u64 > sources_max)
        .map(|sources| sources[0].target)
        .collect()
}

/// Roots of hosts to which three or more unrelated paths lead, none of them a root itself.
fn suspect_homes(sources: &[Source]) -> HashSet<u128> {
    sources
        .chunk_by(|one, other| one.target == other.target)
        .filter(|sources| {
            let paths = sources.iter().map(|source| source.astray_path);
            let paths: BTreeSet<u64> = paths.filter(|path| *path != 0).collect();
            paths.len() >= UNRELATED_HOME_MIN
        })
        .map(|sources| sources[0].target)
        .collect()
}

/// Whether a redirect leads from a path that is no root to the root of a host.
fn is_astray(catalog: &Catalog, row: RowId) -> bool {
    catalog.row(row).kind == Kind::Http && catalog.redirects_home(row) && catalog.path(row) != b"/"
}
