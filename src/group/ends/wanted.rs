//! Ids that are looked for among all rows.

use hashbrown::HashSet;

/// Bits for each id: one of sixteen others looks as if it were among them.
const BITS_EACH: usize = 16;

/// Some ids of 128 bits whose bits are all equally random. That another one is not among them is mostly told by one bit
/// in cached memory, since a table of all ids of a crawl's redirects is larger than any cache.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    ids: HashSet<u128>,
    bits: Vec<u64>,
}

impl Wanted {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(super) fn has(&self, id: u128) -> bool {
        let (word, bit) = self.place(id);
        self.bits.get(word).is_some_and(|word| word & bit != 0) && self.ids.contains(&id)
    }

    /// The word that has the bit of an id, and this bit.
    fn place(&self, id: u128) -> (usize, u64) {
        let [bit, .., a, b, c, d] = id.to_le_bytes();
        let word = u32::from_le_bytes([a, b, c, d]) as usize;
        (word & self.bits.len().wrapping_sub(1), 1 << (bit & 63))
    }
}

impl FromIterator<u128> for Wanted {
    fn from_iter<I: IntoIterator<Item = u128>>(ids: I) -> Self {
        let ids: HashSet<u128> = ids.into_iter().collect();
        let n_words = (ids.len() * BITS_EACH / 64).next_power_of_two();
        let mut wanted = Self {
            bits: vec![0; n_words],
            ids: HashSet::new(),
        };
        for id in &ids {
            let (word, bit) = wanted.place(*id);
            wanted.bits[word] |= bit;
        }
        wanted.ids = ids;
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_it_was_made_of_and_nothing_else() {
        let id = |n: u64| xxhash_rust::xxh3::xxh3_128(&n.to_le_bytes());
        for len in [0, 1, 70, 5000] {
            let wanted: Wanted = (0..len).map(id).collect();
            assert_eq!(wanted.is_empty(), len == 0);
            for n in 0..2 * len + 1 {
                assert_eq!(wanted.has(id(n)), n < len, "{n} of {len}");
            }
        }
    }
}
