//! From a catalog to what `evaluate` works on: the URLs of the base policy in the order of keepers, and
//! when each was seen with which digest.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::contents::Contents;
use crate::capture::{Completeness, RecordType, Timestamp};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::evaluate::{Sighting, Skeleton, Url, UrlId};
use crate::group::{End, Ends};
use crate::key::{ComparisonKey, Keyer, Kind};
use crate::policy::Policy;
use crate::uri::{self, Skeletons};

/// URLs whose captures one thread gathers at a time.
const BLOCK_URLS: usize = 1 << 13;

/// What the evaluation is about.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// URL classes of the base policy, in the order of keepers.
    pub(super) urls: Vec<Url>,
    /// Captures that count, by time, URL bytes, file base name, ordinal.
    pub(super) sightings: Vec<Sighting>,
    /// The row of each sighting.
    pub(super) rows: Vec<RowId>,
    /// The best row of each URL.
    pub(super) keepers: Vec<RowId>,
    /// The row of the first sighting of each URL.
    pub(super) earliest: Vec<RowId>,
    /// Registrable domains, sorted.
    pub(super) domains: Vec<Vec<u8>>,
    /// An input states where a redirect leads.
    pub(super) has_redirects: bool,
}

/// A capture that counts.
#[derive(Clone, Copy, Debug)]
struct Usable {
    row: RowId,
    key: ComparisonKey,
    /// Of a redirect: the capture whose digest counts.
    leads_to: Option<RowId>,
}

/// A capture that counts, of a URL by its place among keepers.
#[derive(Clone, Copy, Debug)]
struct Sight {
    date: Timestamp,
    row: RowId,
    url: UrlId,
    /// The capture whose digest counts: itself, or that at the end of its redirects.
    shows: RowId,
    /// Of a redirect: the URL at its end.
    leads_to: Option<UrlId>,
}

/// The order in which the best captures of URLs are kept, before text decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    is_redirect: bool,
    is_revisit: bool,
    doubt: u8,
    is_incomplete: bool,
    date: Timestamp,
}

/// The parts that every step reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) ends: &'a Ends,
    pub(super) base: &'a Policy,
}

impl Seen {
    /// All URLs with a capture that counts.
    #[must_use]
    pub(super) fn of(basis: Basis<'_>, skeletons: &Skeletons) -> Self {
        let mut usable = basis.usable();
        // By URL, and of a URL the best first.
        usable.par_sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| basis.order(a, b)));
        let by_key: Vec<Usable> = usable
            .par_chunk_by(|a, b| a.key == b.key)
            .map(|of_url| of_url[0])
            .collect();
        let (best, place) = basis.ranked(&by_key);
        let sights = basis.sights(&usable, &by_key, &place);
        drop((usable, by_key, place));
        let contents = Contents::of(basis, sights.iter().map(|sight| sight.shows));
        let sightings = sights
            .par_iter()
            .map(|sight| Sighting {
                url: sight.url,
                instant: instant(sight.date),
                content: contents.content(sight.shows),
                leads_to: sight.leads_to,
            })
            .collect();
        let mut earliest: Vec<Option<RowId>> = vec![None; best.len()];
        for sight in &sights {
            earliest[sight.url as usize].get_or_insert(sight.row);
        }
        let keepers: Vec<RowId> = best.iter().map(|best| best.row).collect();
        let earliest: Vec<RowId> = earliest.into_iter().flatten().collect();
        let places = basis.places(&keepers, &earliest, skeletons);
        let (urls, domains) = name_places(&best, &places, basis);
        Self {
            urls,
            sightings,
            rows: sights.iter().map(|sight| sight.row).collect(),
            earliest,
            keepers,
            domains,
            has_redirects: basis.catalog.ids().any(|row| {
                basis.catalog.row(row).flags.contains(RowFlags::LEADS)
                    && !basis.catalog.redirect_to(row).is_empty()
            }),
        }
    }
}

impl Basis<'_> {
    /// Captures with a usable payload, and redirects whose complete chain ends at a URL with one.
    fn usable(self) -> Vec<Usable> {
        let all: Vec<Usable> = self
            .catalog
            .ids()
            .collect::<Vec<_>>()
            .into_par_iter()
            .filter_map(|row| self.usable_row(row))
            .collect();
        let own: HashSet<ComparisonKey> = all
            .iter()
            .filter(|usable| usable.leads_to.is_none())
            .map(|usable| usable.key)
            .collect();
        all.into_iter()
            .filter(|usable| {
                usable
                    .leads_to
                    .is_none_or(|end| own.contains(&self.catalog.url_key(end)))
            })
            .collect()
    }

    fn usable_row(self, row: RowId) -> Option<Usable> {
        let of_row = self.catalog.row(row);
        let is_get = of_row.kind == Kind::Http
            && !of_row.flags.contains(RowFlags::NOT_GET)
            && !of_row.flags.contains(RowFlags::HEAD);
        if !is_get {
            return None;
        }
        let page = self.ends.page(row);
        let leads_to = (page != row).then_some(page);
        let is_usable = if leads_to.is_some() {
            matches!(self.ends.end(row), End::Row(_))
                && !self.ends.is_temporary(row)
                && self.ends.conflicts(row).is_empty()
        } else {
            self.has_content(row)
        };
        is_usable.then_some(Usable {
            row,
            key: of_row.key,
            leads_to,
        })
    }

    /// 2xx or unknown, not 206, with a digest of something whole.
    pub(super) fn has_content(self, row: RowId) -> bool {
        let facts = self.ends.facts(row);
        matches!(facts.status, 0 | 200..=205 | 207..=299) && facts.is_usable
    }

    /// The order of keepers.
    fn order(self, a: &Usable, b: &Usable) -> Ordering {
        self.merit(a)
            .cmp(&self.merit(b))
            .then_with(|| self.catalog.tie_order(a.row, b.row))
    }

    fn merit(self, usable: &Usable) -> Merit {
        let row = self.catalog.row(usable.row);
        Merit {
            is_redirect: usable.leads_to.is_some(),
            is_revisit: row.record_type == RecordType::Revisit,
            doubt: row.digest_status.doubt(),
            is_incomplete: row.completeness != Completeness::Complete,
            date: row.date,
        }
    }

    /// The best captures in the order of keepers, and the place there of each. What is compared is fetched once: in a
    /// sort each row would be looked up some twenty times, none of them cached.
    fn ranked(self, by_key: &[Usable]) -> (Vec<Usable>, Vec<UrlId>) {
        let mut order: Vec<(Merit, u32)> = by_key
            .par_iter()
            .enumerate()
            .map(|(index, best)| {
                let index = u32::try_from(index).expect("fewer than 2^32 URLs");
                (self.merit(best), index)
            })
            .collect();
        let row = |index: u32| by_key[index as usize].row;
        order.par_sort_unstable_by(|a, b| {
            let by_text = || self.catalog.tie_order(row(a.1), row(b.1));
            a.0.cmp(&b.0).then_with(by_text)
        });
        let mut place = vec![0; by_key.len()];
        for (url, (_, index)) in (0..).zip(&order) {
            place[*index as usize] = url;
        }
        let best = order.iter().map(|(_, index)| by_key[*index as usize]);
        (best.collect(), place)
    }

    /// All captures by time. `usable` and `by_key` are by key, `place` has the URL of each of `by_key`.
    fn sights(self, usable: &[Usable], by_key: &[Usable], place: &[UrlId]) -> Vec<Sight> {
        let of_urls: Vec<&[Usable]> = usable.chunk_by(|a, b| a.key == b.key).collect();
        let url_of = |key: ComparisonKey| {
            let index = by_key.binary_search_by(|best| best.key.cmp(&key));
            place[index.expect("a redirect leads to a URL that counts")]
        };
        let sight = |usable: &Usable, url: UrlId| Sight {
            date: self.catalog.row(usable.row).date,
            row: usable.row,
            url,
            shows: usable.leads_to.unwrap_or(usable.row),
            leads_to: usable.leads_to.map(|end| url_of(self.catalog.url_key(end))),
        };
        let in_block = |(of_urls, urls): (&[&[Usable]], &[UrlId])| {
            let mut sights = Vec::with_capacity(urls.len());
            for (of_url, url) in of_urls.iter().zip(urls) {
                match of_url {
                    [usable] => sights.push(sight(usable, *url)),
                    several => sights.extend(self.once(several).iter().map(|it| sight(it, *url))),
                }
            }
            sights
        };
        let mut sights: Vec<Sight> = of_urls
            .par_chunks(BLOCK_URLS)
            .zip(place.par_chunks(BLOCK_URLS))
            .flat_map_iter(in_block)
            .collect();
        sights.par_sort_unstable_by(|a, b| {
            let by_text = || self.catalog.tie_order(a.row, b.row);
            a.date.cmp(&b.date).then_with(by_text)
        });
        sights
    }

    /// The captures of one URL, each record id once: its earliest.
    fn once(self, of_url: &[Usable]) -> Vec<Usable> {
        let mut by_time = of_url.to_vec();
        by_time.sort_unstable_by(|a, b| {
            let date = |usable: &Usable| self.catalog.row(usable.row).date;
            let by_text = || self.catalog.tie_order(a.row, b.row);
            date(a).cmp(&date(b)).then_with(by_text)
        });
        let mut seen = HashSet::new();
        by_time.retain(|usable| {
            let record_id = self.catalog.record_id(usable.row);
            record_id == 0 || seen.insert(record_id)
        });
        by_time
    }

    /// XXH3-128 of the payload of a row where it was read, else 0. An index line has none, and is not looked up.
    pub(super) fn body_hash(self, row: RowId) -> u128 {
        let held = self.catalog.row(self.ends.content(row));
        if held.flags.contains(RowFlags::INDEX_LINE) {
            0
        } else {
            self.ends.body_hash(self.catalog, row)
        }
    }

    /// Host, domain and path of each URL, hashed; by its best row.
    fn places(self, keepers: &[RowId], earliest: &[RowId], skeletons: &Skeletons) -> Vec<Place> {
        keepers
            .par_iter()
            .zip(earliest)
            .map_init(
                || (Keyer::new(self.base), Vec::new()),
                |(keyer, form), (row, earliest)| {
                    let keyed = keyer.key(self.catalog.target_uri(*row));
                    // Parity policies read the URL of the earliest capture.
                    let target_uri = self.catalog.target_uri(*earliest);
                    let host = uri::host_of(keyed.text);
                    let domain = uri::registrable_domain(host);
                    uri::unrelated_form(keyed.text, form);
                    Place {
                        host: xxh3_64(host),
                        domain: xxh3_64(domain),
                        resource: xxh3_64(form),
                        skeleton: Skeleton::new(skeletons.hash(target_uri, keyed.text)),
                    }
                },
            )
            .collect()
    }

    /// The registrable domain of a row.
    fn domain(self, row: RowId) -> Vec<u8> {
        let mut keyer = Keyer::new(self.base);
        let keyed = keyer.key(self.catalog.target_uri(row));
        uri::registrable_domain(uri::host_of(keyed.text)).to_vec()
    }
}

/// Where a URL stands, as hashes.
#[derive(Clone, Copy, Debug)]
struct Place {
    host: u64,
    domain: u64,
    resource: u64,
    skeleton: Skeleton,
}

/// Numbers domains by name and hosts as they come.
fn name_places(best: &[Usable], places: &[Place], basis: Basis<'_>) -> (Vec<Url>, Vec<Vec<u8>>) {
    let mut first: HashMap<u64, RowId> = HashMap::new();
    for (best, place) in best.iter().zip(places) {
        first.entry(place.domain).or_insert(best.row);
    }
    let mut names: Vec<(Vec<u8>, u64)> = first
        .into_iter()
        .map(|(domain, row)| (basis.domain(row), domain))
        .collect();
    names.sort_unstable();
    let domains: HashMap<u64, u32> = names
        .iter()
        .zip(0..)
        .map(|((_, domain), index)| (*domain, index))
        .collect();
    let mut hosts: HashMap<u64, u32> = HashMap::new();
    let urls = best
        .iter()
        .zip(places)
        .map(|(best, place)| {
            let next = u32::try_from(hosts.len()).expect("fewer than 2^32 hosts");
            Url {
                key: best.key,
                domain: domains[&place.domain],
                host: *hosts.entry(place.host).or_insert(next),
                resource: place.resource,
                skeleton: place.skeleton,
            }
        })
        .collect();
    (urls, names.into_iter().map(|(name, _)| name).collect())
}

/// Microseconds since 1970.
fn instant(date: Timestamp) -> Option<i64> {
    date.is_known().then(|| {
        date.seconds()
            .saturating_mul(1_000_000)
            .saturating_add(i64::from(date.nanos() / 1000))
    })
}
