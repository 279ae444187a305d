//! The place of each capture: its groups, its keeper and its role.

use super::content::{ContentId, is_usable, label_of};
use super::judge::Verdict;
use super::keeper::is_success;
use super::page::PageContent;
use super::tags::{Alone, Id, LookUp, Tag, fold_groups, for_each_group};
use super::uris::Uris;
use super::way::Ways;
use super::{Basis, Conflict, Conflicts, Role, Urls};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::key::ComparisonKey;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What grouping keeps of a row: 12 bytes. Labels of groups are made again from what the group shares.
///
/// Atomic only so that threads may fill in the rows of their groups: no row is in two groups of a pass.
#[derive(Debug)]
pub(super) struct Place {
    /// Of its own group; `NOBODY` of a unique row.
    keeper: AtomicU32,
    /// From 1 in output order, 0 for a unique row.
    group_id: AtomicU32,
    /// Conflicts from the lowest bit on, and above them what `ROLE` and the flags after it say.
    bits: AtomicU32,
}

const NOBODY: u32 = u32::MAX;

/// Rows that one thread counts at a time.
const BLOCK_ROWS: usize = 1 << 16;

/// Groups in which a row is not alone, and what else is yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Fact {
    InUrlGroup = 1 << 26,
    InContentGroup = 1 << 27,
    InPageGroup = 1 << 28,
    /// Neither it nor its keeper has any content: its bytes are never redundant.
    BothEmpty = 1 << 29,
}

/// The bits of conflicts.
pub(super) const CONFLICTS: u32 = (1 << ROLE) - 1;
/// Where the role starts, as its place in [`ROLES`].
const ROLE: u32 = 23;
const ROLES: [Role; 6] = [
    Role::Unique,
    Role::Keeper,
    Role::Duplicate,
    Role::Version,
    Role::Alias,
    Role::Unjudged,
];
const _: () = assert!(Conflict::ALL.len() <= ROLE as usize && ROLES.len() <= 8);

impl Place {
    /// The place of a row in no group.
    pub(super) fn alone() -> Self {
        Self {
            keeper: AtomicU32::new(NOBODY),
            group_id: AtomicU32::new(0),
            bits: AtomicU32::new(0),
        }
    }

    pub(super) fn keeper(&self) -> Option<RowId> {
        let keeper = self.keeper.load(Relaxed);
        (keeper != NOBODY).then_some(RowId(keeper))
    }

    pub(super) fn set_keeper(&self, keeper: Option<RowId>) {
        let keeper = keeper.map_or(NOBODY, |keeper| keeper.0);
        self.keeper.store(keeper, Relaxed);
    }

    pub(super) fn group_id(&self) -> u32 {
        self.group_id.load(Relaxed)
    }

    pub(super) fn set_group_id(&self, group_id: u32) {
        self.group_id.store(group_id, Relaxed);
    }

    pub(super) fn conflicts(&self) -> Conflicts {
        Conflicts::from_bits(self.bits() & CONFLICTS)
    }

    pub(super) fn add_conflicts(&self, conflicts: Conflicts) {
        self.set_bits(self.bits() | conflicts.bits());
    }

    pub(super) fn role(&self) -> Role {
        ROLES[(self.bits() >> ROLE & 7) as usize]
    }

    fn set_role(&self, role: Role) {
        let place = ROLES.iter().zip(0..).find(|(one, _)| **one == role);
        let place: u32 = place.map_or(0, |(_, place)| place);
        self.set_bits(self.bits() & !(7 << ROLE) | place << ROLE);
    }

    pub(super) fn is(&self, fact: Fact) -> bool {
        self.bits() & fact as u32 != 0
    }

    pub(super) fn set(&self, fact: Fact) {
        self.set_bits(self.bits() | fact as u32);
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits.load(Relaxed)
    }

    fn set_bits(&self, bits: u32) {
        self.bits.store(bits, Relaxed);
    }
}

impl Id for ComparisonKey {
    fn bits(self) -> u32 {
        (self.key >> 32) as u32
    }
}

/// All rows with their places, by blocks that threads share.
pub(super) fn blocks(
    places: &[Place],
) -> impl IndexedParallelIterator<Item = impl Iterator<Item = (RowId, &Place)>> {
    let blocks = places.par_chunks(BLOCK_ROWS).enumerate();
    blocks.map(|(nth, places)| {
        let rows = (nth * BLOCK_ROWS..).map(RowId::from_index);
        rows.zip(places)
    })
}

/// Reads of each of `rows` what is fixed and its place, so that they are in the cache; see [`Catalog::touch_rows`].
pub(super) fn touch(catalog: &Catalog, places: &[Place], rows: &[RowId]) {
    catalog.touch_rows(rows);
    let all = rows.iter().map(|row| &places[row.index()]);
    // The first and the last of its numbers: a place may stand in two lines of the cache.
    black_box(all.fold(0, |sum, place| {
        sum ^ place.keeper.load(Relaxed) ^ place.bits()
    }));
}

/// What the pass over keys found.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) counts: KeyCounts,
    pub(super) collided: Collided,
    uris: Uris,
    last: Option<u64>,
}

/// Figures of the pass over keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyCounts {
    pub(super) keys: u64,
    pub(super) collisions: u64,
    pub(super) groups: u64,
    pub(super) changed: u64,
    pub(super) uris: u64,
}

/// Contents of their own that have the label of another one: two inputs of one name may hold copies of one record.
pub(super) type OwnLabels = HashMap<RowId, u64>;

/// Places the members of page groups; returns the number of groups. `boilerplate` is sorted.
pub(super) fn place_pages(
    basis: Basis<'_>,
    ways: &Ways,
    boilerplate: &[ContentId],
    places: &[Place],
) -> (u64, OwnLabels) {
    let join = |n_groups: &mut u64, page: &[Tag]| {
        *n_groups += 1;
        let keeper = basis.page_keeper(ways, page.iter().map(|tag| tag.row()));
        for tag in page {
            let place = &places[tag.row().index()];
            place.set(Fact::InPageGroup);
            place.set_keeper(keeper);
        }
    };
    let digest = |row| match basis.page_content(ways, row)? {
        PageContent::Digest(id) => Some(id),
        PageContent::Own(_) => None,
    };
    // A content that is boilerplate by its carriers may have one of them alone in its page.
    let alone = match boilerplate {
        [] => Alone::Counted,
        _ => Alone::Told,
    };
    let touch = |rows: &[RowId]| touch(basis.catalog, places, rows);
    let look_up = LookUp {
        alone,
        touch,
        id_of: digest,
    };
    let all = basis.catalog.par_ids();
    let (n_groups, _) = fold_groups(all, &look_up, |n_groups, content, page| {
        if boilerplate.binary_search(&content).is_ok() {
            for tag in page {
                places[tag.row().index()].add_conflicts(Conflict::Boilerplate.into());
            }
        } else if page.len() > 1 {
            join(n_groups, page);
        }
    });
    let mut n_groups: u64 = n_groups.into_iter().sum();
    let own = |row| match basis.page_content(ways, row)? {
        PageContent::Digest(_) => None,
        PageContent::Own(end) => Some(end),
    };
    let mut n_before: HashMap<u64, u64> = HashMap::new();
    let mut others = OwnLabels::new();
    let look_up = LookUp {
        alone: Alone::Counted,
        touch,
        id_of: own,
    };
    let led = led_to_ends(basis, own);
    for_each_group(led.into_par_iter(), &look_up, |end, page| {
        if page.len() < 2 {
            return;
        }
        let label = basis.own_label(end);
        let nth = n_before.entry(label).or_insert(0);
        *nth += 1;
        if *nth > 1 {
            others.insert(end, label_of(label, *nth));
        }
        join(&mut n_groups, page);
    });
    (n_groups, others)
}

/// Rows that lead to an end, and the ends: only these can share one by pointers alone.
fn led_to_ends(basis: Basis<'_>, end_of: impl Fn(RowId) -> Option<RowId> + Sync) -> Vec<RowId> {
    let pointing = basis.ends.pointing();
    let leading = pointing.members().par_iter();
    let (mut rows, mut ends): (Vec<RowId>, Vec<RowId>) = leading
        .filter_map(|row| Some((*row, end_of(*row)?)))
        .unzip();
    ends.par_sort_unstable();
    ends.dedup();
    rows.extend(ends.iter().filter(|end| !pointing.has(**end)));
    rows
}

/// Keys whose 64 bits another key has too, and comes before.
pub(super) type Collided = HashSet<ComparisonKey>;

/// Places the members of URL groups; those in page groups keep their keeper.
pub(super) fn place_urls(basis: Basis<'_>, places: &[Place]) -> Keys {
    let look_up = LookUp {
        alone: Alone::Counted,
        touch: |rows: &[RowId]| touch(basis.catalog, places, rows),
        id_of: |row| Some(basis.catalog.row(row).key),
    };
    let on_key = |keys: &mut Keys, key, rows: &[Tag]| {
        keys.add(basis, key, rows);
        if rows.len() < 2 {
            return;
        }
        let rows: Vec<RowId> = rows
            .iter()
            .map(|tag| tag.row())
            .filter(|row| !basis.is_out_of_scope(*row))
            .collect();
        if rows.len() > 1 {
            keys.counts.groups += 1;
            keys.counts.changed += u64::from(is_changed(basis, &rows));
            place_url_group(basis, &rows, places);
        }
    };
    let (found, n_alone) = fold_groups(basis.catalog.par_ids(), &look_up, on_key);
    let mut keys = found.into_iter().fold(Keys::default(), Keys::and);
    keys.counts.keys += n_alone;
    keys.counts.uris = std::mem::take(&mut keys.uris).count(basis, n_alone);
    keys
}

impl Keys {
    /// Adds all rows of a key; keys come in their order.
    fn add(&mut self, basis: Basis<'_>, key: ComparisonKey, same_key: &[Tag]) {
        self.counts.keys += 1;
        if self.last == Some(key.key) {
            self.counts.collisions += 1;
            self.collided.insert(key);
        }
        self.last = Some(key.key);
        self.uris.add(basis, same_key);
    }

    /// With what was found of other keys.
    fn and(mut self, others: Self) -> Self {
        self.counts.keys += others.counts.keys;
        self.counts.collisions += others.counts.collisions;
        self.counts.groups += others.counts.groups;
        self.counts.changed += others.counts.changed;
        self.collided.extend(others.collided);
        self.uris = self.uris.and(others.uris);
        self
    }
}

/// The label of the URL group of `key`.
pub(super) fn url_label(collided: &Collided, key: ComparisonKey) -> u64 {
    if collided.contains(&key) {
        label_of(key.key, key.check)
    } else {
        key.key.max(1)
    }
}

fn place_url_group(basis: Basis<'_>, rows: &[RowId], places: &[Place]) {
    let keeper = basis.keeper(rows.iter().copied());
    let is_rest = |place: &Place| !place.is(Fact::InPageGroup);
    let mut rest = rows.iter().filter(|row| is_rest(&places[row.index()]));
    let is_sole_keeper = rest.next().copied() == keeper && rest.next().is_none();
    for row in rows {
        let place = &places[row.index()];
        place.set(Fact::InUrlGroup);
        if is_rest(place) && !is_sole_keeper {
            place.set_keeper(keeper);
        }
    }
}

/// Whether the 2xx captures of a URL group show two contents or more.
fn is_changed(basis: Basis<'_>, rows: &[RowId]) -> bool {
    let mut contents = rows.iter().filter_map(|row| {
        let facts = basis.ends.facts(*row);
        (is_success(facts.status) && is_usable(&facts))
            .then(|| basis.contents.decoded(*row, &facts))
    });
    contents
        .next()
        .is_some_and(|first| contents.any(|other| other != first))
}

/// Gives every row with a keeper its role.
pub(super) fn judge(basis: Basis<'_>, ways: &Ways, urls: &Urls<'_>, places: &[Place]) {
    places.par_iter().enumerate().for_each(|(index, place)| {
        let row = RowId::from_index(index);
        let Some(keeper) = place.keeper() else { return };
        if row == keeper {
            place.set_role(Role::Keeper);
            return;
        }
        let verdict = if place.is(Fact::InPageGroup) {
            basis.judge_by_page(ways, row, keeper)
        } else {
            basis.judge_by_key(row, keeper)
        };
        place.set_role(verdict.role());
        if verdict == Verdict::BothEmpty {
            place.set(Fact::BothEmpty);
        }
        let key = |row| basis.catalog.row(row).key;
        let base_key = |row| (urls.base_key)(row);
        if place.role() == Role::Version
            && key(row) == key(keeper)
            && base_key(row) != base_key(keeper)
        {
            place.add_conflicts(Conflict::ContentDiffers.into());
        }
    });
}

/// A capture whose key an earlier run holds is not unique, though it stands alone here: same key, and no content to judge by.
pub(super) fn judge_seen(catalog: &Catalog, places: &[Place]) {
    places.par_iter().enumerate().for_each(|(index, place)| {
        let flags = catalog.row(RowId::from_index(index)).flags;
        if place.role() == Role::Unique && flags.contains(RowFlags::SEEN_BEFORE) {
            place.set_role(Role::Unjudged);
        }
    });
}
