//! Comparison keys: XXH3-128 of what a policy makes of a target URI. There is no way back to a URL.

use crate::policy::{Policy, RuleSet};

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
        let hash = xxhash_rust::xxh3::xxh3_128(text);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the two halves of the hash"
        )]
        Self {
            key: hash as u64,
            check: (hash >> 64) as u64,
        }
    }
}

/// What sort of URI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `http` or `https` with a valid host.
    Http,
    /// Another scheme: `dns:`, `urn:`, `ftp:`.
    OtherScheme,
    /// Not a URI that a browser would send: the bytes themselves are the key.
    Opaque,
}

/// What a policy makes of one target URI.
#[derive(Clone, Copy, Debug)]
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
}

impl<'p> Keyer<'p> {
    /// A keyer for `policy`.
    #[must_use]
    pub fn new(policy: &'p Policy) -> Self {
        Self { policy }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// The key of `target_uri`; total: every byte string has one.
    pub fn key<'a>(&'a mut self, target_uri: &'a [u8]) -> Keyed<'a> {
        Keyed {
            text: target_uri,
            key: ComparisonKey::of(target_uri),
            kind: Kind::Http,
            fired: RuleSet::default(),
            is_route: false,
            has_credentials: false,
            is_signed: false,
            in_scope: true,
        }
    }
}
