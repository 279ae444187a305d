//! Halves and samples of the URLs: drawn by skeleton, so that two URLs that any rule merges are drawn together.

use std::num::NonZeroU64;

/// The hash of what no rule changes of a URL; a few URLs have none and are in no half and no sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Skeleton(Option<NonZeroU64>);

/// One of two halves of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Rules are learned on it.
    A,
    /// Rules are measured on it, once.
    B,
}

impl Skeleton {
    /// From a hash.
    #[must_use]
    pub fn new(hash: Option<u64>) -> Self {
        Self(hash.and_then(NonZeroU64::new))
    }

    /// The hash.
    pub(super) fn hash(self) -> Option<NonZeroU64> {
        self.0
    }

    /// By the lowest bit of the hash.
    #[must_use]
    pub fn half(self) -> Option<Half> {
        let hash = self.0?;
        Some(if hash.get() & 1 == 1 {
            Half::B
        } else {
            Half::A
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_decides() {
        let half = |hash| Skeleton::new(hash).half();
        assert_eq!(half(Some(2)), Some(Half::A));
        assert_eq!(half(Some(3)), Some(Half::B));
        assert_eq!(half(None), None);
    }
}
