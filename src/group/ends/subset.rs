//! A set of rows that numbers its members: dense arrays for the few rows that point elsewhere.

use super::bits::Bits;
use crate::catalog::RowId;

const BITS: usize = u64::BITS as usize;

/// Some rows of a catalog, in order; the n-th of them has index n.
#[derive(Debug, Default)]
pub(in crate::group) struct Subset {
    bits: Bits,
    /// Members before each word.
    before: Vec<u32>,
    members: Vec<RowId>,
}

impl Subset {
    /// The rows of a catalog of `len` rows that `is_member` admits.
    pub(in crate::group) fn of(len: usize, is_member: impl Fn(RowId) -> bool + Sync) -> Self {
        let bits = Bits::of(len, is_member);
        let mut subset = Self::default();
        for (nth, word) in bits.words().iter().enumerate() {
            let n_before = RowId::from_index(subset.members.len()).0;
            subset.before.push(n_before);
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                subset.members.push(RowId::from_index(nth * BITS + bit));
                left &= left - 1;
            }
        }
        subset.bits = bits;
        subset
    }

    /// Whether a row is a member.
    pub(in crate::group) fn has(&self, row: RowId) -> bool {
        self.bits.has(row)
    }

    /// The members, by their index.
    pub(in crate::group) fn members(&self) -> &[RowId] {
        &self.members
    }

    /// The index of `row` among the members.
    pub(in crate::group) fn index(&self, row: RowId) -> Option<usize> {
        let (word, bit) = (row.index() / BITS, row.index() % BITS);
        let bits = self.bits.words()[word];
        (bits >> bit & 1 == 1).then(|| {
            let below = bits & ((1 << bit) - 1);
            self.before[word] as usize + below.count_ones() as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_its_members_in_order() {
        let subset = Subset::of(200, |row| row.0 % 7 == 3);
        for row in (0..200).map(RowId::from_index) {
            let expected = subset.members().iter().position(|member| *member == row);
            assert_eq!(subset.index(row), expected, "{row:?}");
        }
        assert_eq!(subset.members().len(), 29);
    }
}
