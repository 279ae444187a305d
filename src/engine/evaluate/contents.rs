//! The digest that counts for a capture, and what it can be compared with.

use hashbrown::HashMap;

use super::sightings::Basis;
use crate::capture::Algorithm;
use crate::catalog::{RowFlags, RowId};
use crate::digest;
use crate::evaluate::{Content, Lanes};

/// What is known of digests across the catalog.
#[derive(Debug)]
pub(super) struct Contents<'a> {
    basis: Basis<'a>,
    /// Of each payload the smallest hash of a body: another body of that digest is another content
    /// (SHA-1 can be forged).
    bodies: HashMap<u128, u128>,
    /// The algorithm in which the bodies of this run were hashed.
    computed: Algorithm,
}

impl<'a> Contents<'a> {
    /// Of the captures whose digests count.
    pub(super) fn of(basis: Basis<'a>, rows: impl Iterator<Item = RowId>) -> Self {
        let mut bodies: HashMap<u128, u128> = HashMap::new();
        for row in rows {
            let facts = basis.ends.facts(row);
            let body = basis.body_hash(row);
            if body != 0 && facts.decoded == 0 {
                let smallest = bodies.entry(facts.payload).or_insert(body);
                *smallest = body.min(*smallest);
            }
        }
        let computed = basis
            .catalog
            .ids()
            .filter(|row| !basis.catalog.row(*row).flags.contains(RowFlags::INDEX_LINE))
            .filter(|row| basis.catalog.body_hash(*row) != 0)
            .find_map(|row| basis.catalog.capture(row).payload.digest)
            .map_or(Algorithm::Sha1, |digest| digest.algorithm);
        Self {
            basis,
            bodies,
            computed,
        }
    }

    /// The digest of a row, decoded where that is known; `None` for one that is no content.
    pub(super) fn content(&self, row: RowId) -> Option<Content> {
        if !self.basis.has_content(row) {
            return None;
        }
        let facts = self.basis.ends.facts(row);
        let held = self.basis.catalog.row(self.basis.ends.content(row));
        let body = self.basis.body_hash(row);
        let (identity, kinds) = match (facts.decoded, body) {
            // Of a payload that was not read it is not known whether it is coded.
            (0, 0) => (facts.payload, PAYLOAD),
            (0, body) if held.flags.contains(RowFlags::UNDECODABLE) => {
                (self.apart(facts.payload, body), PAYLOAD)
            }
            (0, body) => (self.apart(facts.payload, body), PAYLOAD | DECODED),
            (decoded, _) => (decoded, DECODED),
        };
        let first = match self.algorithm(row, identity) {
            Algorithm::Sha1 => 0,
            Algorithm::Sha256 => 2,
            Algorithm::Sha512 => 4,
            Algorithm::Md5 => 6,
            Algorithm::Blake3 => 8,
        };
        Some(Content {
            identity,
            lanes: Lanes(kinds << first),
            // Zero is no text.
            text: self
                .basis
                .catalog
                .text_hash(self.basis.ends.content(row))
                .unwrap_or(0),
        })
    }

    /// The identity of a payload with this body.
    fn apart(&self, payload: u128, body: u128) -> u128 {
        match self.bodies.get(&payload) {
            Some(first) if *first != body => payload ^ body,
            _ => payload,
        }
    }

    /// The algorithm of an identity: of the row's own digest that has it; one of another row was computed.
    fn algorithm(&self, row: RowId, identity: u128) -> Algorithm {
        let holder = self.basis.ends.content(row);
        let held = self.basis.catalog.row(holder);
        if held.payload == identity && held.flags.contains(RowFlags::SHA1) {
            return Algorithm::Sha1;
        }
        let payload = self.basis.catalog.capture(holder).payload;
        [payload.decoded, payload.digest, payload.declared]
            .into_iter()
            .flatten()
            .find(|digest| digest::identity(digest) == identity)
            .map_or(self.computed, |digest| digest.algorithm)
    }
}

/// Over the payload.
const PAYLOAD: u16 = 1;
/// Over the decoded payload.
const DECODED: u16 = 2;
