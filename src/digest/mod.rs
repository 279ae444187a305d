//! Payload digests: reading declared ones, computing, and holding one against the other.

use crate::capture::Digest;

/// 128 bits that stand for a digest in the sets: XXH3-128 of algorithm and bytes; never 0.
#[must_use]
pub fn identity(digest: &Digest) -> u128 {
    xxhash_rust::xxh3::xxh3_128_with_seed(digest.as_bytes(), digest.algorithm as u64).max(1)
}

/// Whether it is the digest of no bytes at all.
#[must_use]
pub fn is_of_nothing(_digest: &Digest) -> bool {
    false
}
