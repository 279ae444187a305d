//! How a text of the spool is laid out: a head, the target URI, and the fields that a capture has.
//!
//! ```text
//! mask 3 · widths 2 · length of the member, ordinal, file, offset · target URI · field · field · …
//! ```
//! The mask says which fields there are; most captures have few. The widths say, in four bits each, how many bytes the four numbers
//! have; a length that is not known yet has eight. A field is its length as LEB128, doubled, and its bytes; or
//! the same and 1, and how far behind the field before that stood in the input it stands there. So of a line of a mapped index hardly
//! anything is stored twice.

use crate::capture::{Algorithm, Digest, FileId, Locator, Timestamp};
use crate::key::ComparisonKey;

use super::leb128::read_number;

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
/// Bytes of the mask and of the widths, behind which the numbers of the head stand.
pub(super) const NUMBERS_AT: usize = MASK_LEN + 2;
/// Bits that say the width of a number of the head.
pub(super) const WIDTH_BITS: u32 = 4;
/// Set in the mask of a text whose length was known when it was stored, and does not change.
pub(super) const HAS_LENGTH: u32 = 1 << 23;

/// Reads a text, field by field, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    mask: u32,
    /// The next field that is there.
    next: u32,
    bytes: &'a [u8],
    /// The input in which the capture was found, if texts may stand there.
    input: &'a [u8],
    /// Where the last field that stands there ends.
    behind: u64,
}

impl<'a> Reader<'a> {
    /// A reader of the text at the start of `bytes`, with what its head says; `input_of` gives the bytes of a mapped
    /// input, none of any other.
    pub(super) fn with_locator(
        mut bytes: &'a [u8],
        input_of: impl FnOnce(FileId) -> &'a [u8],
    ) -> (Self, Locator) {
        let [a, b, c, low, high] = array::<NUMBERS_AT>(&mut bytes);
        let mask = u32::from_le_bytes([a, b, c, 0]);
        let mut widths = u16::from_le_bytes([low, high]);
        let mut number = || {
            let number = read_bytes(&mut bytes, widths & ((1 << WIDTH_BITS) - 1));
            widths >>= WIDTH_BITS;
            number
        };
        let (length, ordinal) = (number(), number());
        let file = FileId(u32::try_from(number()).expect("it was pushed as one"));
        let locator = Locator {
            file,
            ordinal,
            offset: number(),
            length: Some(length).filter(|length| *length > 0),
        };
        let reader = Self {
            mask,
            next: 0,
            bytes,
            input: input_of(file),
            behind: 0,
        };
        (reader, locator)
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
        let number = read_number(&mut self.bytes);
        let len = number >> 1;
        if number & 1 == 0 {
            let (field, rest) = self.bytes.split_at(index(len));
            self.bytes = rest;
            return field;
        }
        let start = self
            .behind
            .wrapping_add(unfolded(read_number(&mut self.bytes)));
        self.behind = start + len;
        &self.input[index(start)..index(self.behind)]
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

/// Takes a number of `width` bytes off the front, eight at most.
#[inline]
fn read_bytes(bytes: &mut &[u8], width: u16) -> u64 {
    let number = match bytes.first_chunk() {
        Some(eight) => {
            let beyond = u64::MAX.unbounded_shl(8 * u32::from(width));
            u64::from_le_bytes(*eight) & !beyond
        }
        // Near the end of all texts.
        None => {
            let own = bytes[..usize::from(width)].iter().rev();
            own.fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
    };
    *bytes = &bytes[usize::from(width)..];
    number
}

/// A place in memory, in the spool or in a mapped input.
pub(super) fn index(place: u64) -> usize {
    usize::try_from(place).expect("what is in memory is smaller than the address space")
}

/// A step forwards or backwards as a number that is small if the step is.
pub(super) fn folded(step: u64) -> u64 {
    step << 1 ^ (step.cast_signed() >> 63).cast_unsigned()
}

fn unfolded(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
