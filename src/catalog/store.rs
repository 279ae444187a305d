//! Storing the text of one capture, field by field.

use super::Target;
use super::fields::{Field, HAS_LENGTH, MASK_LEN, NUMBERS_AT, Reader, WIDTH_BITS, folded, index};
use super::leb128::push_number;
use crate::capture::{Digest, Locator, Timestamp};

/// A field of fewer bytes is stored as it is: where it stands would take as many.
const REFERRED_MIN: usize = 4;

/// A text that is being stored.
pub(super) struct Text<'a> {
    bytes: &'a mut Vec<u8>,
    /// The input in which the capture was found, if texts may stand there.
    input: &'a [u8],
    /// Where the last field that stands there ends.
    behind: u64,
    start: usize,
    mask: u32,
}

impl<'a> Text<'a> {
    pub(super) fn start(bytes: &'a mut Vec<u8>, input: &'a [u8], locator: &Locator) -> Self {
        let start = bytes.len();
        let mut head = [0; NUMBERS_AT + 4 * 8];
        let (mut end, mut widths) = (NUMBERS_AT, 0);
        let mut put = |number: u64, width: u32| {
            head[end..end + 8].copy_from_slice(&number.to_le_bytes());
            widths = widths >> WIDTH_BITS | width << (3 * WIDTH_BITS);
            end += width as usize;
        };
        let mask = match locator.length {
            Some(length) => {
                put(length, width(length));
                HAS_LENGTH
            }
            None => {
                put(0, 8);
                0
            }
        };
        for number in [locator.ordinal, u64::from(locator.file.0), locator.offset] {
            put(number, width(number));
        }
        let [low, high, ..] = widths.to_le_bytes();
        head[MASK_LEN..NUMBERS_AT].copy_from_slice(&[low, high]);
        bytes.extend_from_slice(&head);
        bytes.truncate(start + end);
        Self {
            bytes,
            input,
            behind: 0,
            start,
            mask,
        }
    }

    /// Stores a field, if there is anything in it. Fields come in their order.
    pub(super) fn put(&mut self, field: Field, text: &[u8]) {
        if !text.is_empty() {
            self.mask |= 1 << field as u32;
            self.put_text(text);
        }
    }

    /// Stores bytes, or where they stand in the input.
    pub(super) fn put_text(&mut self, text: &[u8]) {
        let len = text.len() as u64;
        match place_in(self.input, text).filter(|_| text.len() >= REFERRED_MIN) {
            Some(place) => {
                push_number(self.bytes, len << 1 | 1);
                push_number(self.bytes, folded(place.wrapping_sub(self.behind)));
                self.behind = place + len;
            }
            None => {
                push_number(self.bytes, len << 1);
                self.bytes.extend_from_slice(text);
            }
        }
    }

    /// Whether bytes are stored as where they stand in the input.
    pub(super) fn refers_to(&self, text: &[u8]) -> bool {
        text.len() >= REFERRED_MIN && place_in(self.input, text).is_some()
    }

    pub(super) fn put_number(&mut self, field: Field, number: u64) {
        self.mask |= 1 << field as u32;
        let at = self.bytes.len();
        self.bytes.push(0);
        push_number(self.bytes, number);
        let len = self.bytes.len() - at - 1;
        self.bytes[at] = u8::try_from(len << 1).expect("a number has ten bytes at most");
    }

    /// A key as its bytes; any other target as one byte.
    pub(super) fn put_target(&mut self, target: Target) {
        match target {
            Target::None => {}
            Target::Key(key) => self.put(Field::Target, &key.to_bytes()),
            Target::NotHttp => self.put(Field::Target, b"n"),
            Target::Credentials => self.put(Field::Target, b"c"),
            Target::OutOfScope => self.put(Field::Target, b"o"),
        }
    }

    pub(super) fn put_digest(&mut self, field: Field, digest: Option<Digest>) {
        if let Some(digest) = digest {
            self.mask |= 1 << field as u32;
            push_number(self.bytes, (1 + digest.as_bytes().len() as u64) << 1);
            self.bytes.push(digest.algorithm as u8);
            self.bytes.extend_from_slice(digest.as_bytes());
        }
    }

    pub(super) fn put_date(&mut self, field: Field, date: Timestamp) {
        if date != Timestamp::UNKNOWN {
            let mut both = [0; 12];
            both[..8].copy_from_slice(&date.seconds().to_le_bytes());
            both[8..].copy_from_slice(&date.nanos().to_le_bytes());
            self.put(field, &both);
        }
    }

    /// The stated file of an earlier text, which holds one.
    pub(super) fn stated_at(&self, text: u64) -> &[u8] {
        let (mut reader, _) = Reader::with_locator(&self.bytes[index(text)..], |_| self.input);
        reader.target_uri();
        reader.field(Field::StatedFile)
    }

    pub(super) fn end(self) {
        let [a, b, c, _] = self.mask.to_le_bytes();
        self.bytes[self.start..self.start + MASK_LEN].copy_from_slice(&[a, b, c]);
    }
}

/// How many bytes a number takes.
fn width(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).div_ceil(8)
}

/// Where `text` stands in `input`, if it is a part of it.
fn place_in(input: &[u8], text: &[u8]) -> Option<u64> {
    let place = text.as_ptr().addr().checked_sub(input.as_ptr().addr())?;
    (place + text.len() <= input.len()).then_some(place as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::FileId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_head_is_read_as_it_was_stored(
            numbers: [u64; 3],
            shifts in [0..65_u32, 0..65, 0..65],
            length in proptest::option::of(1..u64::MAX),
            length_shift in 0..64_u32,
            file: u32,
            behind in 0..9_usize,
        ) {
            let [ordinal, offset, file_shift] = [0, 1, 2].map(|nth| numbers[nth].unbounded_shr(shifts[nth]));
            let locator = Locator {
                file: FileId(file.unbounded_shr((file_shift % 33) as u32)),
                ordinal,
                offset,
                length: length.map(|length| (length >> length_shift).max(1)),
            };
            let mut bytes = vec![7; 3];
            let mut text = Text::start(&mut bytes, b"", &locator);
            text.put_text(b"uri");
            text.end();
            bytes.resize(bytes.len() + behind, 0xff);
            let (mut reader, found) = Reader::with_locator(&bytes[3..], |_| b"");
            prop_assert_eq!(found, locator);
            prop_assert_eq!(reader.target_uri(), b"uri");
        }
    }
}
