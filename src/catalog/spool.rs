//! The text of captures, one after the other: a length before each field.

use super::row::hash_or_zero;
use super::{Keys, Reference, Row, RowFlags, Target};
use crate::capture::{Algorithm, Capture, Digest, Locator, Method, Payload, RefersTo, Timestamp};
use crate::key::ComparisonKey;
use crate::source::spill;

/// Where fields that are read alone stand in a text, by how many come before them; [`Spool::push`] has their order.
mod place {
    pub(super) const REDIRECT_TO: usize = 1;
    pub(super) const TARGET: usize = 2;
    pub(super) const REFERS_TO_KEY: usize = 3;
    pub(super) const LANGUAGE: usize = 6;
    pub(super) const STATED_FILE: usize = 10;
    pub(super) const REFERS_TO_ID: usize = 12;
    pub(super) const DECLARED: usize = 16;
    pub(super) const DECODED: usize = 17;
    /// A number, which is no field: nothing behind it can be skipped to.
    pub(super) const PAYLOAD_BYTES: usize = 18;
}

/// Room that most texts need less than.
const ROOM_MIN: usize = 4096;
/// A spool of more bytes grows by an eighth.
const DOUBLED_MAX: usize = 16 << 20;

/// Bytes of all texts.
#[derive(Debug, Default)]
pub(super) struct Spool {
    bytes: Vec<u8>,
}

impl Spool {
    /// Stores a capture's text; returns where it stands.
    pub(super) fn push(&mut self, capture: &Capture<'_>, keys: &Keys<'_>) -> u64 {
        let at = self.bytes.len() as u64;
        self.field(capture.target_uri);
        self.field(keys.redirect_to);
        self.push_target(keys.target);
        match keys.refers_to {
            Some(key) => self.field(&key.to_bytes()),
            None => self.field(b""),
        }
        for text in [
            capture.record_id,
            capture.mime,
            capture.language,
            capture.location,
            capture.truncated,
            capture.profile,
            capture.stated_file,
            capture.payload.declared_text,
            capture.refers_to.record_id,
            capture.refers_to.target_uri,
            capture.method.name,
        ] {
            self.field(text);
        }
        self.digest(capture.payload.digest);
        self.digest(capture.payload.declared);
        self.digest(capture.payload.decoded);
        self.number(
            capture
                .payload
                .bytes
                .map_or(0, |bytes| bytes.saturating_add(1)),
        );
        self.field(
            &capture.method.body_hash.to_le_bytes()
                [..if capture.method.body_hash == 0 { 0 } else { 16 }],
        );
        self.bytes
            .extend_from_slice(&capture.refers_to.date.seconds().to_le_bytes());
        self.bytes
            .extend_from_slice(&capture.refers_to.date.nanos().to_le_bytes());
        // Few runs ask for it: the row says whether it is there.
        if let Some(text) = capture.payload.text {
            self.bytes.extend_from_slice(&text.to_le_bytes());
        }
        self.make_room();
        at
    }

    /// Grows before the next text needs it: as text, and by less than doubling once that would be much.
    fn make_room(&mut self) {
        self.reserve(ROOM_MIN);
    }

    fn reserve(&mut self, n_bytes: usize) {
        let capacity = self.bytes.capacity();
        if capacity - self.bytes.len() < n_bytes {
            let step = if capacity < DOUBLED_MAX {
                capacity.max(n_bytes)
            } else {
                (capacity / 8).max(n_bytes)
            };
            spill::text_first(|| self.bytes.reserve_exact(step));
        }
    }

    /// Appends another spool; returns what its positions must be moved by.
    pub(super) fn append(&mut self, other: Self) -> u64 {
        let base = self.bytes.len() as u64;
        if self.bytes.is_empty() {
            self.bytes = other.bytes;
        } else {
            self.reserve(other.bytes.len());
            self.bytes.extend_from_slice(&other.bytes);
        }
        base
    }

    pub(super) fn target_uri(&self, text: u64) -> &[u8] {
        self.reader(text).field()
    }

    pub(super) fn redirect_to(&self, text: u64) -> &[u8] {
        self.reader_at(text, place::REDIRECT_TO).field()
    }

    /// Where a redirect leads.
    pub(super) fn target(&self, text: u64) -> Target {
        self.reader_at(text, place::TARGET).target()
    }

    /// What a revisit refers to.
    pub(super) fn reference(&self, text: u64) -> Reference {
        let mut reader = self.reader_at(text, place::REFERS_TO_KEY);
        let key = reader.key();
        reader.skip(place::REFERS_TO_ID - place::REFERS_TO_KEY - 1);
        let record_id = hash_or_zero(reader.field());
        reader.skip(place::PAYLOAD_BYTES - place::REFERS_TO_ID - 1);
        reader.number();
        reader.field();
        Reference {
            record_id,
            key,
            date: reader.date(),
        }
    }

    /// The file that an index line states.
    pub(super) fn stated_file(&self, text: u64) -> &[u8] {
        self.reader_at(text, place::STATED_FILE).field()
    }

    /// `Content-Language` as found.
    pub(super) fn language(&self, text: u64) -> &[u8] {
        self.reader_at(text, place::LANGUAGE).field()
    }

    /// The digest that is declared.
    pub(super) fn declared(&self, text: u64) -> Option<Digest> {
        self.reader_at(text, place::DECLARED).digest()
    }

    /// The digest after content decoding.
    pub(super) fn decoded(&self, text: u64) -> Option<Digest> {
        self.reader_at(text, place::DECODED).digest()
    }

    /// The hash of the visible text, of a row that has one.
    pub(super) fn text_hash(&self, text: u64) -> u64 {
        let mut reader = self.reader_at(text, place::PAYLOAD_BYTES);
        reader.number();
        reader.field();
        reader.date();
        u64::from_le_bytes(reader.array())
    }

    /// The capture whose row is `row`.
    pub(super) fn capture(&self, row: &Row) -> Capture<'_> {
        let mut reader = self.reader(row.text);
        let target_uri = reader.field();
        // Resolved Location, target and the key referred to.
        reader.skip(3);
        let [
            record_id,
            mime,
            language,
            location,
            truncated,
            profile,
            stated_file,
            declared_text,
            refers_id,
            refers_uri,
            method,
        ] = std::array::from_fn(|_| reader.field());
        let payload = reader.payload(row, declared_text);
        let body_hash = reader.field().try_into().map_or(0, u128::from_le_bytes);
        let date = reader.date();
        let has_text = row.flags.contains(RowFlags::TEXT);
        let text = has_text.then(|| u64::from_le_bytes(reader.array()));
        Capture {
            locator: Locator {
                file: row.file,
                ordinal: row.ordinal,
                offset: row.offset,
                length: Some(row.length).filter(|length| *length > 0),
            },
            record_type: row.record_type,
            target_uri,
            record_id,
            date: row.date,
            method: Method {
                name: method,
                body_hash,
            },
            status: Some(row.status).filter(|status| *status > 0),
            has_http_head: row.flags.contains(RowFlags::HTTP_HEAD),
            mime,
            language,
            location,
            is_hsts: row.flags.contains(RowFlags::HSTS),
            payload: Payload { text, ..payload },
            truncated,
            refers_to: RefersTo {
                record_id: refers_id,
                target_uri: refers_uri,
                date,
            },
            profile,
            shares_member: row.flags.contains(RowFlags::SHARES_MEMBER),
            stated_file,
            is_index_line: row.flags.contains(RowFlags::INDEX_LINE),
        }
    }

    fn field(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    /// A key as its bytes; any other target as one byte.
    fn push_target(&mut self, target: Target) {
        match target {
            Target::None => self.field(b""),
            Target::Key(key) => self.field(&key.to_bytes()),
            Target::NotHttp => self.field(b"n"),
            Target::Credentials => self.field(b"c"),
            Target::OutOfScope => self.field(b"o"),
        }
    }

    fn digest(&mut self, digest: Option<Digest>) {
        let Some(digest) = digest else {
            return self.field(b"");
        };
        self.number(1 + digest.as_bytes().len() as u64);
        self.bytes.push(digest.algorithm as u8);
        self.bytes.extend_from_slice(digest.as_bytes());
    }

    fn number(&mut self, number: u64) {
        push_number(&mut self.bytes, number);
    }

    /// A reader of the field at a place.
    fn reader_at(&self, text: u64, place: usize) -> Reader<'_> {
        let mut reader = self.reader(text);
        reader.skip(place);
        reader
    }

    fn reader(&self, text: u64) -> Reader<'_> {
        let at =
            usize::try_from(text).expect("a spool in memory is smaller than the address space");
        Reader {
            bytes: &self.bytes[at..],
        }
    }
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

/// Reads the fields back in the order in which they were pushed.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn skip(&mut self, n_fields: usize) {
        for _ in 0..n_fields {
            self.field();
        }
    }

    fn target(&mut self) -> Target {
        match self.field() {
            b"" => Target::None,
            b"n" => Target::NotHttp,
            b"c" => Target::Credentials,
            b"o" => Target::OutOfScope,
            key => key_of(key).map_or(Target::None, Target::Key),
        }
    }

    fn field(&mut self) -> &'a [u8] {
        let len = usize::try_from(self.number()).expect("a field fits in memory");
        let (field, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        field
    }

    fn number(&mut self) -> u64 {
        read_number(&mut self.bytes)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let (array, rest) = self
            .bytes
            .split_first_chunk()
            .expect("a spool holds whole texts");
        self.bytes = rest;
        *array
    }

    fn date(&mut self) -> Timestamp {
        let seconds = i64::from_le_bytes(self.array());
        let nanos = u32::from_le_bytes(self.array());
        Timestamp::new(seconds, nanos)
    }

    fn digest(&mut self) -> Option<Digest> {
        let (&label, bytes) = self.field().split_first()?;
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

    /// The digests and the length of a payload; the rest stands in the row.
    fn payload(&mut self, row: &Row, declared_text: &'a [u8]) -> Payload<'a> {
        let (digest, declared, decoded) = (self.digest(), self.digest(), self.digest());
        Payload {
            bytes: self.number().checked_sub(1),
            digest,
            body_hash: Some(row.body_hash).filter(|hash| *hash != 0),
            text: None,
            decoded,
            decodes_to_nothing: row.flags.contains(RowFlags::DECODES_TO_NOTHING),
            is_undecodable: row.flags.contains(RowFlags::UNDECODABLE),
            declared_text,
            declared,
            status: row.digest_status,
            completeness: row.completeness,
        }
    }

    fn key(&mut self) -> Option<ComparisonKey> {
        key_of(self.field())
    }
}

fn key_of(both: &[u8]) -> Option<ComparisonKey> {
    both.try_into().ok().map(ComparisonKey::from_bytes)
}
