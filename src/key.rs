//! Comparison keys: XXH3-128 of what a policy makes of a target URI. There is no way back to a URL.
//!
//! Knows `uri` and `policy`; must never import captures, or format for people.

use crate::policy::{Policy, RuleSet};
use crate::uri::{Masks, Normalizer};

pub use crate::uri::Kind;

/// What two captures of one resource have in common under a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComparisonKey {
    /// Low 64 bits of XXH3-128: the key in the sets.
    pub key: u64,
    /// High 64 bits: compared whenever two captures meet on a key.
    pub check: u64,
}

impl ComparisonKey {
    /// The key of bytes that are already normalized.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        Self::from_halves(xxhash_rust::xxh3::xxh3_128(text))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the hash"
    )]
    fn from_halves(hash: u128) -> Self {
        Self {
            key: hash as u64,
            check: (hash >> 64) as u64,
        }
    }

    /// Both halves, as they are stored.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut both = [0; 16];
        both[..8].copy_from_slice(&self.key.to_le_bytes());
        both[8..].copy_from_slice(&self.check.to_le_bytes());
        both
    }

    /// The key that [`ComparisonKey::to_bytes`] stored.
    #[must_use]
    pub fn from_bytes(both: [u8; 16]) -> Self {
        Self::from_halves(u128::from_le_bytes(both))
    }

    /// The key of a capture that was not a GET: its URL's key, the method, and a hash of the body of
    /// the request. That of a GET is its URL's own.
    #[must_use]
    pub fn with_method(self, method: &[u8], body_hash: u128) -> Self {
        if method == b"GET" {
            return self;
        }
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(&self.to_bytes());
        bytes[16..32].copy_from_slice(&body_hash.to_le_bytes());
        bytes[32..].copy_from_slice(&xxhash_rust::xxh3::xxh3_128(method).to_le_bytes());
        Self::of(&bytes)
    }
}

/// What a policy makes of one target URI.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four facts that do not exclude each other"
)]
pub struct Keyed<'a> {
    /// The bytes that were hashed; not for fetching. User info stands in it in clear.
    pub text: &'a [u8],
    /// The key.
    pub key: ComparisonKey,
    /// What sort of URI it is.
    pub kind: Kind,
    /// Steps and bets that changed something.
    pub fired: RuleSet,
    /// The fragment starts with `!` or `/`.
    pub is_route: bool,
    /// There is non-empty user info.
    pub has_credentials: bool,
    /// The query has a signature parameter.
    pub is_signed: bool,
    /// Whether the policy's scope admits it; always, for a policy without scope.
    pub in_scope: bool,
}

/// Makes keys under one policy; one per thread, since it holds the scratch buffer.
#[derive(Debug)]
pub struct Keyer<'p> {
    policy: &'p Policy,
    normalizer: Normalizer,
}

impl<'p> Keyer<'p> {
    /// A keyer for `policy`.
    #[must_use]
    pub fn new(policy: &'p Policy) -> Self {
        Self {
            policy,
            normalizer: Normalizer::default(),
        }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// Which bets fire on `target_uri`: each of the catalogue alone, and those of the policy.
    pub fn masks(&mut self, target_uri: &[u8]) -> Masks {
        self.normalizer.masks(self.policy.plan(), target_uri)
    }

    /// The key of `target_uri`; total: every byte string has one.
    pub fn key<'a>(&'a mut self, target_uri: &'a [u8]) -> Keyed<'a> {
        let normalized = self.normalizer.normalize(self.policy.plan(), target_uri);
        Keyed {
            text: normalized.text,
            key: ComparisonKey::of(normalized.text),
            kind: normalized.kind,
            fired: normalized.fired,
            is_route: normalized.is_route,
            has_credentials: normalized.has_credentials,
            is_signed: normalized.is_signed,
            in_scope: normalized.in_scope,
        }
    }
}
