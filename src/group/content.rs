//! Contents: which payloads are one, and the content groups.

use super::Ends;
use super::ends::Facts;
use super::place::{self, Fact, Place};
use super::tags::{Alone, Id, LookUp, Tag, fold_groups};
use crate::catalog::{Catalog, RowId};
use std::collections::BTreeMap;

/// The identity of a content, as halves: 8 bytes less a row than the alignment of `u128` costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentId([u64; 2]);

impl ContentId {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the hash"
    )]
    pub(super) fn new(identity: u128) -> Self {
        Self([(identity >> 64) as u64, identity as u64])
    }

    /// What the columns `content_group` and `page_group` show: its lower half, never 0.
    pub(super) fn label(self) -> u64 {
        self.0[1].max(1)
    }
}

/// An id of 64 bits made of two numbers, never 0.
pub(super) fn label_of(first: u64, second: u64) -> u64 {
    mixed(first, second).label()
}

fn mixed(first: u64, second: u64) -> ContentId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    ContentId::new(xxhash_rust::xxh3::xxh3_128(&bytes))
}

/// Whether there is no content at all.
pub(super) fn is_nothing(facts: &Facts) -> bool {
    facts.is_empty || facts.decodes_to_nothing
}

/// Whether the digests are evidence of content.
pub(super) fn is_usable(facts: &Facts) -> bool {
    facts.is_usable && !is_nothing(facts) && facts.payload != 0
}

/// The payloads of a catalog, told apart where a digest was forged.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Rows whose digest another body has too, and whose own body is not the first of these.
    apart: hashbrown::HashMap<RowId, ContentId>,
    /// Equal digests of different bytes.
    pub(super) collisions: u64,
    /// Contents of two captures or more.
    pub(super) n_groups: u64,
    /// Those of them that are common: more captures have them than was asked for.
    pub(super) common: Vec<ContentId>,
}

impl Id for ContentId {
    fn bits(self) -> u32 {
        (self.0[0] >> 32) as u32
    }
}

impl Contents {
    /// Tells payloads apart, notes which ones more than `carriers_max` captures have, and places the members of content groups.
    pub(super) fn of(
        catalog: &Catalog,
        ends: &Ends,
        carriers_max: usize,
        places: &[Place],
    ) -> Self {
        let digest = |row| {
            let facts = ends.facts(row);
            is_usable(&facts).then(|| ContentId::new(facts.payload))
        };
        let add = |contents: &mut Self, content, rows: &[Tag]| {
            if rows.len() > 1 {
                contents.n_groups += 1;
                if rows.len() > carriers_max {
                    contents.common.push(content);
                }
                for tag in rows {
                    places[tag.row().index()].set(Fact::InContentGroup);
                }
            }
        };
        let hash = |tag: &Tag| ends.body_hash(catalog, tag.row());
        let on_digest = |contents: &mut Self, digest, rows: &[Tag]| {
            let mut hashes = rows.iter().map(hash).filter(|hash| *hash != 0);
            let first = hashes.next();
            if hashes.all(|hash| Some(hash) == first) {
                return add(contents, digest, rows);
            }
            for (content, rows) in contents.tell_apart(digest, rows, hash) {
                add(contents, content, &rows);
            }
        };
        let look_up = LookUp {
            alone: Alone::Counted,
            touch: |rows: &[RowId]| place::touch(catalog, places, rows),
            id_of: digest,
        };
        let (found, _) = fold_groups(catalog.par_ids(), &look_up, on_digest);
        found.into_iter().fold(Self::default(), Self::and)
    }

    /// With other contents.
    fn and(mut self, others: Self) -> Self {
        self.apart.extend(others.apart);
        self.collisions += others.collisions;
        self.n_groups += others.n_groups;
        self.common.extend(others.common);
        self
    }

    /// Gives the second and further bodies of one digest identities of their own; the rows of each.
    ///
    /// The body with the smallest hash keeps the digest's, whatever the order of the inputs, and rows
    /// whose body was not read stay with it.
    fn tell_apart(
        &mut self,
        digest: ContentId,
        rows: &[Tag],
        hash: impl Fn(&Tag) -> u128,
    ) -> Vec<(ContentId, Vec<Tag>)> {
        let mut bodies: BTreeMap<u128, Vec<Tag>> = BTreeMap::new();
        for tag in rows {
            bodies.entry(hash(tag)).or_default().push(*tag);
        }
        let unread = bodies.remove(&0).unwrap_or_default();
        if let Some(mut first) = bodies.first_entry() {
            first.get_mut().extend(unread);
        }
        let bodies = bodies.into_iter().enumerate();
        let named = bodies.map(|(nth, (hash, rows))| {
            if nth == 0 {
                return (digest, rows);
            }
            self.collisions += 1;
            let apart = mixed(digest.label(), ContentId::new(hash).label());
            let ids = rows.iter().map(|tag| tag.row());
            self.apart.extend(ids.map(|row| (row, apart)));
            (apart, rows)
        });
        named.collect()
    }

    /// The payload of a row with usable `facts`.
    pub(super) fn payload(&self, row: RowId, facts: &Facts) -> ContentId {
        self.apart
            .get(&row)
            .copied()
            .unwrap_or(ContentId::new(facts.payload))
    }

    /// What the payload of a row with usable `facts` decodes to; the payload itself if it is not coded.
    pub(super) fn decoded(&self, row: RowId, facts: &Facts) -> ContentId {
        if facts.decoded == 0 {
            self.payload(row, facts)
        } else {
            ContentId::new(facts.decoded)
        }
    }
}
