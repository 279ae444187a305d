//! How a text of the spool is laid out: a head, the target URI, and the fields that a capture has.
//!
//! ```text
//! mask 3 · length of the member 8 · ordinal 6 · file, offset as LEB128 · target URI · field · field · …
//! ```
//! The mask says which fields there are; a field is its length as LEB128, and its bytes. Most captures have few.

use crate::capture::{Algorithm, Digest, FileId, Locator, Timestamp};
use crate::key::ComparisonKey;

/// What a capture may have, in the order in which it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    RedirectTo,
    Target,
    RefersToKey,
    RecordId,
    Mime,
    Language,
    Location,
    Truncated,
    Profile,
    StatedFile,
    /// How far back the text stands that has the same [`Field::StatedFile`].
    StatedBefore,
    DeclaredText,
    RefersToId,
    RefersToUri,
    Method,
    /// The payload's digest, where it is not the declared one.
    Digest,
    /// The declared digest, where its text does not say it.
    Declared,
    Decoded,
    PayloadBytes,
    BodyHash,
    RequestHash,
    RefersToDate,
    TextHash,
}

/// Bytes of the mask.
pub(super) const MASK_LEN: usize = 3;
/// Bytes of an ordinal.
pub(super) const ORDINAL_LEN: usize = 6;

/// An ordinal as it is stored.
pub(super) fn ordinal_bytes(ordinal: u64) -> [u8; ORDINAL_LEN] {
    assert!(ordinal >> 48 == 0, "an input holds less than 2^48 records");
    let [bytes @ .., _, _] = ordinal.to_le_bytes();
    bytes
}

/// Reads a text, field by field, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    mask: u32,
    /// The next field that is there.
    next: u32,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of the text at the start of `bytes`, with what its head says.
    pub(super) fn with_locator(mut bytes: &'a [u8]) -> (Self, Locator) {
        let [a, b, c] = array(&mut bytes);
        let length = u64::from_le_bytes(array(&mut bytes));
        let [a0, a1, a2, a3, a4, a5] = array(&mut bytes);
        let ordinal = u64::from_le_bytes([a0, a1, a2, a3, a4, a5, 0, 0]);
        let file = u32::try_from(read_number(&mut bytes)).expect("it was pushed as one");
        let locator = Locator {
            file: FileId(file),
            ordinal,
            offset: read_number(&mut bytes),
            length: Some(length).filter(|length| *length > 0),
        };
        let mask = u32::from_le_bytes([a, b, c, 0]);
        let next = 0;
        (Self { mask, next, bytes }, locator)
    }

    /// The target URI, which comes before all fields.
    pub(super) fn target_uri(&mut self) -> &'a [u8] {
        self.take()
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.mask >> field as u32 & 1 == 1
    }

    /// A field, empty if it is not there. Fields are asked for in their order; those between are skipped.
    pub(super) fn field(&mut self, field: Field) -> &'a [u8] {
        let skipped = self.mask & ((1 << field as u32) - 1) & !((1 << self.next) - 1);
        for _ in 0..skipped.count_ones() {
            self.take();
        }
        self.next = field as u32 + 1;
        if self.has(field) { self.take() } else { b"" }
    }

    /// A field of fixed width; `None` if it is not there.
    pub(super) fn array<const N: usize>(&mut self, field: Field) -> Option<[u8; N]> {
        self.field(field).try_into().ok()
    }

    pub(super) fn digest(&mut self, field: Field) -> Option<Digest> {
        let (&label, bytes) = self.field(field).split_first()?;
        let algorithm = [
            Algorithm::Sha1,
            Algorithm::Sha256,
            Algorithm::Sha512,
            Algorithm::Md5,
            Algorithm::Blake3,
        ]
        .into_iter()
        .find(|algorithm| *algorithm as u8 == label)?;
        Digest::new(algorithm, bytes)
    }

    pub(super) fn key(&mut self, field: Field) -> Option<ComparisonKey> {
        key_of(self.field(field))
    }

    /// A number; `None` if it is not there.
    pub(super) fn number(&mut self, field: Field) -> Option<u64> {
        let mut bytes = self.field(field);
        (!bytes.is_empty()).then(|| read_number(&mut bytes))
    }

    pub(super) fn date(&mut self, field: Field) -> Timestamp {
        let mut bytes = self.field(field);
        if bytes.is_empty() {
            return Timestamp::UNKNOWN;
        }
        let seconds = i64::from_le_bytes(array(&mut bytes));
        let nanos = u32::from_le_bytes(array(&mut bytes));
        Timestamp::new(seconds, nanos)
    }

    fn take(&mut self) -> &'a [u8] {
        let len = usize::try_from(read_number(&mut self.bytes)).expect("a field fits in memory");
        let (field, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        field
    }
}

pub(super) fn key_of(both: &[u8]) -> Option<ComparisonKey> {
    both.try_into().ok().map(ComparisonKey::from_bytes)
}

fn array<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (array, rest) = bytes
        .split_first_chunk()
        .expect("a spool holds whole texts");
    *bytes = rest;
    *array
}

/// Appends a number as LEB128.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes such a number off the front.
pub(super) fn read_number(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes
            .split_first()
            .expect("numbers are read where they were pushed");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    number
}
