//! One shard: hashes in slots, by linear probing.
//!
//! A hash goes to the slot that its low bits say, or to the next free one behind it. There is nothing beside the slots, so that
//! an insert meets one line of memory as a rule, where a table with tags meets two.

/// Slots of a table that holds anything.
const SLOTS_MIN: usize = 16;
/// Of 256 slots, so many may be taken: half of that, just after doubling, is 20.8 bytes a hash.
const TAKEN_MAX: usize = 197;
/// A slot that is free; the hash of this value is kept apart.
const FREE: u64 = 0;

/// A set of hashes whose low bits are all equally random.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// A power of two, or none.
    slots: Vec<u64>,
    n_taken: usize,
    has_free: bool,
}

impl Table {
    /// Inserts a hash; whether it was not there.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if hash == FREE {
            return !std::mem::replace(&mut self.has_free, true);
        }
        if self.n_taken * 256 >= self.slots.len() * TAKEN_MAX {
            self.grow();
        }
        let place = self.find(hash);
        let is_new = self.slots[place] == FREE;
        self.slots[place] = hash;
        self.n_taken += usize::from(is_new);
        is_new
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        match hash {
            FREE => self.has_free,
            _ => !self.slots.is_empty() && self.slots[self.find(hash)] == hash,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.n_taken + usize::from(self.has_free)
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// The slot of a hash, or the free one that it would take. There is always one that is free.
    #[inline]
    fn find(&self, hash: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut place = low_bits(hash) & last;
        while self.slots[place] != hash && self.slots[place] != FREE {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        let n_slots = (self.slots.len() * 2).max(SLOTS_MIN);
        let hashes = std::mem::replace(&mut self.slots, vec![FREE; n_slots]);
        for hash in hashes.into_iter().filter(|hash| *hash != FREE) {
            let place = self.find(hash);
            self.slots[place] = hash;
        }
    }
}

/// Those of the low 32 bits.
fn low_bits(hash: u64) -> usize {
    let [a, b, c, d, ..] = hash.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    proptest! {
        /// Many of them want the same slots, some the last ones.
        #[test]
        fn holds_what_an_ordered_set_holds(
            hashes in proptest::collection::vec(prop_oneof![0_u64..40, (0_u64..40).prop_map(|n| !n), any::<u64>()], 0..200),
        ) {
            let mut table = Table::default();
            let mut oracle = BTreeSet::new();
            for hash in hashes {
                prop_assert_eq!(table.contains(hash), oracle.contains(&hash));
                prop_assert_eq!(table.insert(hash), oracle.insert(hash));
                prop_assert_eq!(table.len(), oracle.len());
                prop_assert!(table.contains(hash));
            }
        }
    }
}
