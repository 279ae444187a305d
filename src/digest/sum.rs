//! Several hash functions over one body, in one pass.

use super::lanes::Begun;
use super::sha1::Sha1;
use crate::capture::{Algorithm, Digest};

use sha2::Digest as _;
use xxhash_rust::xxh3::Xxh3Default;

/// Which hash functions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted(u8);

impl Wanted {
    /// None.
    pub const NOTHING: Self = Self(0);
    /// XXH3-128, which is no digest of the archive's but holds two bodies apart.
    pub const BODY_HASH: Self = Self(1 << 7);

    /// And `algorithm`.
    #[must_use]
    pub fn with(self, algorithm: Algorithm) -> Self {
        Self(self.0 | 1 << algorithm as u8)
    }

    /// And all of `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, algorithm: Algorithm) -> bool {
        self.0 & (1 << algorithm as u8) != 0
    }
}

/// The running state of the wanted hash functions; reused from body to body, so it allocates nothing.
#[derive(Default)]
pub struct Sum {
    wanted: Wanted,
    n_bytes: u64,
    sha1: Sha1,
    /// Bytes to come that SHA-1 has taken already.
    n_sha1_ahead: usize,
    sha256: sha2::Sha256,
    sha512: sha2::Sha512,
    md5: md5::Md5,
    blake3: blake3::Hasher,
    body_hash: Xxh3Default,
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sum")
            .field("wanted", &self.wanted)
            .field("n_bytes", &self.n_bytes)
            .finish_non_exhaustive()
    }
}

impl Sum {
    /// Forgets the last body and starts another.
    pub fn begin(&mut self, wanted: Wanted) {
        self.n_bytes = 0;
        self.wanted = wanted;
        self.n_sha1_ahead = 0;
        if wanted.has(Algorithm::Sha1) {
            self.sha1.reset();
        }
        if wanted.has(Algorithm::Sha256) {
            self.sha256.reset();
        }
        if wanted.has(Algorithm::Sha512) {
            self.sha512.reset();
        }
        if wanted.has(Algorithm::Md5) {
            self.md5.reset();
        }
        if wanted.has(Algorithm::Blake3) {
            self.blake3.reset();
        }
        if self.wants_body_hash() {
            self.body_hash.reset();
        }
    }

    /// Of a body that begins: SHA-1 has taken its first bytes, which come with the next [`update`](Self::update).
    pub fn resume_sha1(&mut self, begun: Begun) {
        self.sha1.resume(begun);
        self.n_sha1_ahead = begun.n_bytes();
    }

    /// Takes the next bytes of the body.
    pub fn update(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        if self.wanted.has(Algorithm::Sha1) {
            let n_ahead = std::mem::take(&mut self.n_sha1_ahead).min(bytes.len());
            self.sha1.update(&bytes[n_ahead..]);
        }
        if self.wanted.has(Algorithm::Blake3) {
            self.blake3.update(bytes);
        }
        if self.wants_body_hash() {
            self.body_hash.update(bytes);
        }
        if self.wanted.has(Algorithm::Sha256) {
            self.sha256.update(bytes);
        }
        if self.wanted.has(Algorithm::Sha512) {
            self.sha512.update(bytes);
        }
        if self.wanted.has(Algorithm::Md5) {
            self.md5.update(bytes);
        }
    }

    /// Bytes taken since `begin`, hashed or not.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The digest of what was taken, if it was wanted.
    #[must_use]
    pub fn digest(&self, algorithm: Algorithm) -> Option<Digest> {
        if !self.wanted.has(algorithm) {
            return None;
        }
        match algorithm {
            Algorithm::Sha1 => Digest::new(algorithm, &self.sha1.digest()),
            Algorithm::Sha256 => Digest::new(algorithm, &self.sha256.clone().finalize()),
            Algorithm::Sha512 => Digest::new(algorithm, &self.sha512.clone().finalize()),
            Algorithm::Md5 => Digest::new(algorithm, &self.md5.clone().finalize()),
            Algorithm::Blake3 => Digest::new(algorithm, self.blake3.finalize().as_bytes()),
        }
    }

    /// XXH3-128 of what was taken, if it was wanted.
    #[must_use]
    pub fn body_hash(&self) -> Option<u128> {
        self.wants_body_hash().then(|| self.body_hash.digest128())
    }

    fn wants_body_hash(&self) -> bool {
        self.wanted.0 & Wanted::BODY_HASH.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_in_pieces_as_in_one() {
        let body: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let wanted = Wanted::BODY_HASH
            .with(Algorithm::Sha1)
            .with(Algorithm::Blake3)
            .with(Algorithm::Md5);
        let mut sum = Sum::default();
        for size in [1, 63, 64, 1000, body.len()] {
            sum.begin(wanted);
            body.chunks(size).for_each(|chunk| sum.update(chunk));
            assert_eq!(sum.n_bytes(), body.len() as u64);
            assert_eq!(
                sum.digest(Algorithm::Sha1).unwrap().as_bytes(),
                &::sha1::Sha1::digest(&body)[..]
            );
            assert_eq!(
                sum.digest(Algorithm::Blake3).unwrap().as_bytes(),
                blake3::hash(&body).as_bytes()
            );
            assert_eq!(
                sum.body_hash(),
                Some(xxhash_rust::xxh3::xxh3_128(&body)),
                "in pieces of {size}"
            );
            assert_eq!(sum.digest(Algorithm::Sha256), None);
        }
    }
}
