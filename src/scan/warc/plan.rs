//! What is done with the block of a record.

use super::super::text::Syntax;
use super::{DigestMode, VisibleText};
use crate::capture::Algorithm;
use crate::digest::Wanted;

/// What is done with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// What it is made of.
    pub(super) envelope: Envelope,
    /// What its payload is hashed for.
    pub(super) purpose: Purpose,
    /// Whether its text is hashed.
    pub(super) text: VisibleText,
    /// Of a block without HTTP head; `None` for what is no text, or not asked for.
    pub(super) syntax: Option<Syntax>,
}

/// What a block is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Envelope {
    /// The block is the payload.
    None,
    /// An HTTP response, if it starts like one; else the block is the payload.
    Response,
    /// An HTTP request.
    Request,
}

/// What a payload is hashed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nothing: it is only counted.
    Nothing,
    /// To tell requests of one URL apart.
    RequestBody,
    /// To know the capture's content. The algorithm is the declared digest's.
    Content(DigestMode, Option<Algorithm>),
}

impl Purpose {
    /// The hash functions that run for it.
    pub(super) fn wanted(self) -> Wanted {
        match self {
            Self::Nothing | Self::Content(DigestMode::Declared, _) => Wanted::NOTHING,
            Self::RequestBody => Wanted::BODY_HASH,
            Self::Content(DigestMode::Content, _) => Wanted::NOTHING.with(Algorithm::Blake3),
            Self::Content(DigestMode::Verify, declared) => declared
                .map_or(Wanted::BODY_HASH, |algorithm| {
                    Wanted::BODY_HASH.with(algorithm)
                })
                .with(Algorithm::Sha1),
        }
    }
}
