//! Contents: which payloads are one, and the content groups.

use super::Ends;
use super::ends::Facts;
use crate::catalog::{Catalog, RowId};
use rayon::prelude::*;

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

    /// What `u` `c` `p` columns show: half of it, never 0.
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
}

/// Rows with one payload digest.
type Tagged = (ContentId, RowId);

impl Contents {
    /// Tells payloads apart; calls `on_group` with each content group's label and rows.
    pub(super) fn of(
        catalog: &Catalog,
        ends: &Ends,
        mut on_group: impl FnMut(u64, &[Tagged]),
    ) -> Self {
        let mut tagged: Vec<Tagged> = (0..catalog.len())
            .into_par_iter()
            .map(RowId::from_index)
            .filter_map(|row| {
                let facts = ends.facts(row);
                is_usable(&facts).then(|| (ContentId::new(facts.payload), row))
            })
            .collect();
        tagged.par_sort_unstable();
        let mut contents = Self::default();
        for same_digest in tagged.chunk_by_mut(|a, b| a.0 == b.0) {
            contents.tell_apart(ends, same_digest);
            same_digest
                .chunk_by(|a, b| a.0 == b.0)
                .filter(|group| group.len() > 1)
                .for_each(|group| on_group(group[0].0.label(), group));
        }
        contents
    }

    /// Gives the second and further bodies of one digest identities of their own, and sorts by them.
    ///
    /// The body with the smallest hash keeps the digest's, whatever the order of the inputs, and rows
    /// whose body was not read stay with it.
    fn tell_apart(&mut self, ends: &Ends, same_digest: &mut [Tagged]) {
        let hash = |tagged: &Tagged| ends.facts(tagged.1).body_hash;
        let mut hashes = same_digest.iter().map(hash).filter(|hash| *hash != 0);
        let Some(first) = hashes.next() else { return };
        if hashes.all(|hash| hash == first) {
            return;
        }
        let mut all: Vec<u128> = same_digest.iter().map(hash).collect();
        all.retain(|hash| *hash != 0);
        all.sort_unstable();
        all.dedup();
        self.collisions += all.len() as u64 - 1;
        for tagged in same_digest.iter_mut() {
            let hash = hash(tagged);
            if hash != 0 && hash != all[0] {
                let of_body = ContentId::new(hash);
                tagged.0 = mixed(tagged.0.label(), of_body.label());
                self.apart.insert(tagged.1, tagged.0);
            }
        }
        same_digest.sort_unstable();
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
