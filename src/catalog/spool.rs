//! The text of captures, one after the other, and what few questions need of them.

use super::fields::{Field, HAS_LENGTH, MASK_LEN, NUMBERS_AT, Reader, index};
use super::inputs::Inputs;
use super::row::hash_or_zero;
use super::store::Text;
use super::{Keys, Reference, Target};
use crate::capture::{Capture, Digest, Locator, Method};
use crate::digest::parse_declared;
use crate::source::spill;

/// Room that most texts need less than.
const ROOM_MIN: usize = 4096;
/// A spool of more bytes grows by an eighth.
const DOUBLED_MAX: usize = 16 << 20;
/// A file name that was stored longer ago is stored again, so that a distance has three bytes at most.
const BACK_MAX: u64 = 1 << 21;

/// All texts, as far as they do not stand in mapped inputs.
#[derive(Debug, Default)]
pub(super) struct Spool {
    bytes: Vec<u8>,
    /// What texts refer to.
    inputs: Inputs,
    /// From which text on ordinals count from what number.
    ordinals: Vec<(u64, u64)>,
    /// The last text that holds a stated file's name.
    stated: Option<u64>,
}

impl Spool {
    /// A spool of texts that may stand in these inputs.
    pub(super) fn over(inputs: Inputs) -> Self {
        Self {
            inputs,
            ..Self::default()
        }
    }

    /// A spool of texts that another one held from a place on, and that may stand in these inputs.
    pub(super) fn of(bytes: Vec<u8>, ordinals: Vec<(u64, u64)>, inputs: Inputs) -> Self {
        Self {
            bytes,
            inputs,
            ordinals,
            stated: None,
        }
    }

    /// Bytes of all texts.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The texts from a place on, and what their ordinals count from, by texts from there.
    pub(super) fn since(&self, text: u64) -> (&[u8], Vec<(u64, u64)>) {
        let later = self.ordinals.iter().filter(|(first, _)| *first > text);
        let first = (0, self.counts_from(text));
        let ordinals = later.map(|(later, number)| (later - text, *number));
        let ordinals = std::iter::once(first).chain(ordinals).collect();
        (&self.bytes[index(text)..], ordinals)
    }

    /// The mapped inputs in which texts stand.
    pub(super) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Stores a capture's text; returns where it stands.
    pub(super) fn push(&mut self, capture: &Capture<'_>, keys: &Keys<'_>) -> u64 {
        let at = self.bytes.len() as u64;
        let locator = &capture.locator;
        // What replaces a text stands behind those of later inputs, and wraps round.
        let ordinal = locator.ordinal.wrapping_sub(self.counts_from(at));
        let input = self.inputs.of(locator.file);
        let mut text = Text::start(
            &mut self.bytes,
            input,
            &Locator {
                ordinal,
                ..*locator
            },
        );
        text.put_text(capture.target_uri);
        text.put(Field::RedirectTo, keys.redirect_to);
        text.put_target(keys.target);
        if let Some(key) = keys.refers_to {
            text.put(Field::RefersToKey, &key.to_bytes());
        }
        text.put(Field::RecordId, capture.record_id);
        text.put(Field::Mime, capture.mime);
        text.put(Field::Language, capture.language);
        text.put(Field::Location, capture.location);
        text.put(Field::Truncated, capture.truncated);
        text.put(Field::Profile, capture.profile);
        put_stated_file(&mut text, capture.stated_file, (at, &mut self.stated));
        put_payload(&mut text, capture);
        text.end();
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

    /// Gives back the room that was kept for more texts.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Appends another spool; returns what its positions must be moved by.
    pub(super) fn append(&mut self, other: Self) -> u64 {
        let base = self.bytes.len() as u64;
        self.count_from(
            base,
            other.ordinals.first().map_or(0, |(_, number)| *number),
        );
        let others = other.ordinals.iter().skip(1);
        self.ordinals
            .extend(others.map(|(text, number)| (base + text, *number)));
        self.inputs.append(other.inputs);
        if self.bytes.is_empty() {
            self.bytes = other.bytes;
            self.stated = other.stated;
        } else {
            self.reserve(other.bytes.len());
            self.bytes.extend_from_slice(&other.bytes);
        }
        base
    }

    /// Counts the ordinals of the texts from this one on from `number` on.
    fn count_from(&mut self, text: u64, number: u64) {
        if self.counts_from(text) != number {
            self.ordinals.push((text, number));
        }
    }

    /// What the ordinal of a text counts from.
    fn counts_from(&self, text: u64) -> u64 {
        let n_before = self.ordinals.partition_point(|(first, _)| *first <= text);
        let last = n_before.checked_sub(1);
        last.map_or(0, |last| self.ordinals[last].1)
    }

    /// Counts the ordinals of all texts, which count from 0, from `number` on.
    pub(super) fn move_ordinals(&mut self, number: u64) {
        self.ordinals = vec![(0, number)];
    }

    /// States the length of the member in which a capture stands.
    pub(super) fn set_length(&mut self, text: u64, length: u64) {
        let mask_end = index(text) + MASK_LEN;
        if u32::from(self.bytes[mask_end - 1]) & HAS_LENGTH >> 16 == 0 {
            let from = index(text) + NUMBERS_AT;
            self.bytes[from..from + 8].copy_from_slice(&length.to_le_bytes());
        }
    }

    pub(super) fn locator(&self, text: u64) -> Locator {
        let (_, locator) = self.head(text);
        self.counted(locator, text)
    }

    /// A locator as a head says it, with the ordinal in the whole input.
    pub(super) fn counted(&self, locator: Locator, text: u64) -> Locator {
        Locator {
            ordinal: locator.ordinal.wrapping_add(self.counts_from(text)),
            ..locator
        }
    }

    pub(super) fn target_uri(&self, text: u64) -> &[u8] {
        self.head(text).0.target_uri()
    }

    /// The field of a text, empty for none.
    pub(super) fn field(&self, text: u64, field: Field) -> &[u8] {
        self.reader(text).field(field)
    }

    /// Where a redirect leads.
    pub(super) fn target(&self, text: u64) -> Target {
        match self.field(text, Field::Target) {
            b"" => Target::None,
            b"n" => Target::NotHttp,
            b"c" => Target::Credentials,
            b"o" => Target::OutOfScope,
            key => super::fields::key_of(key).map_or(Target::None, Target::Key),
        }
    }

    /// What a revisit refers to.
    pub(super) fn reference(&self, text: u64) -> Reference {
        let mut reader = self.reader(text);
        Reference {
            key: reader.key(Field::RefersToKey),
            record_id: hash_or_zero(reader.field(Field::RefersToId)),
            date: reader.date(Field::RefersToDate),
        }
    }

    /// The file that an index line states.
    pub(super) fn stated_file(&self, text: u64) -> &[u8] {
        self.read_stated_file(&mut self.reader(text), text)
    }

    pub(super) fn read_stated_file<'a>(&'a self, reader: &mut Reader<'a>, text: u64) -> &'a [u8] {
        let own = reader.field(Field::StatedFile);
        match reader.number(Field::StatedBefore) {
            Some(back) => self.field(text - back, Field::StatedFile),
            None => own,
        }
    }

    /// Reads a byte of each text, and of what it refers to in the inputs, so that they are in the cache.
    pub(super) fn touch(&self, texts: &[u64]) {
        let masks = texts
            .iter()
            .fold(0, |sum, text| sum ^ self.bytes[index(*text)]);
        std::hint::black_box(masks);
        // Found first, so that only look-ups follow each other.
        let fields: Vec<&[u8]> = texts
            .iter()
            .flat_map(|text| {
                let mut reader = self.head(*text).0;
                [
                    reader.target_uri(),
                    reader.field(Field::StatedFile),
                    reader.field(Field::DeclaredText),
                ]
            })
            .collect();
        let firsts = fields.iter().filter_map(|field| field.first());
        std::hint::black_box(firsts.fold(0, |sum, first| sum ^ first));
    }

    /// The digest that is declared.
    pub(super) fn declared(&self, text: u64) -> Option<Digest> {
        let mut reader = self.reader(text);
        let declared = parse_declared(reader.field(Field::DeclaredText));
        reader.digest(Field::Declared).or(declared)
    }

    /// The digest after content decoding.
    pub(super) fn decoded(&self, text: u64) -> Option<Digest> {
        self.reader(text).digest(Field::Decoded)
    }

    /// XXH3-128 of the payload, 0 where it was not read.
    pub(super) fn body_hash(&self, text: u64) -> u128 {
        let hash = self.reader(text).array(Field::BodyHash);
        hash.map_or(0, u128::from_le_bytes)
    }

    /// The hash of the visible text, of a row that has one.
    pub(super) fn text_hash(&self, text: u64) -> u64 {
        let hash = self.reader(text).array(Field::TextHash);
        hash.map_or(0, u64::from_le_bytes)
    }

    /// A reader of what follows the target URI.
    fn reader(&self, text: u64) -> Reader<'_> {
        let (mut reader, _) = self.head(text);
        reader.target_uri();
        reader
    }

    /// A reader of a text, and what its head says; the ordinal counts from [`Spool::counts_from`].
    pub(super) fn head(&self, text: u64) -> (Reader<'_>, Locator) {
        Reader::with_locator(&self.bytes[index(text)..], |file| self.inputs.of(file))
    }
}

/// Stores the file that an index line states: where it stands in the input, or how far back the `last` text that holds its name
/// stands from `at`, or the name.
fn put_stated_file(text: &mut Text<'_>, file: &[u8], (at, last): (u64, &mut Option<u64>)) {
    if text.refers_to(file) {
        text.put(Field::StatedFile, file);
    } else if !file.is_empty() {
        let before =
            last.filter(|before| at - before < BACK_MAX && text.stated_at(*before) == file);
        match before {
            Some(before) => text.put_number(Field::StatedBefore, at - before),
            None => {
                text.put(Field::StatedFile, file);
                *last = Some(at);
            }
        }
    }
}

/// Stores the payload, and what a revisit refers to and how it was asked for, in between. Read in this order.
fn put_payload(text: &mut Text<'_>, capture: &Capture<'_>) {
    let payload = &capture.payload;
    text.put(Field::DeclaredText, payload.declared_text);
    text.put(Field::RefersToId, capture.refers_to.record_id);
    text.put(Field::RefersToUri, capture.refers_to.target_uri);
    if capture.method.name != Method::GET.name {
        text.put(Field::Method, capture.method.name);
    }
    if payload.declared.is_none() || payload.declared != payload.digest {
        text.put_digest(Field::Digest, payload.digest);
    }
    if payload.declared_text.is_empty() {
        text.put_digest(Field::Declared, payload.declared);
    }
    text.put_digest(Field::Decoded, payload.decoded);
    if let Some(bytes) = payload.bytes {
        text.put_number(Field::PayloadBytes, bytes);
    }
    if let Some(hash) = payload.body_hash {
        text.put(Field::BodyHash, &hash.to_le_bytes());
    }
    if capture.method.body_hash != 0 {
        text.put(Field::RequestHash, &capture.method.body_hash.to_le_bytes());
    }
    text.put_date(Field::RefersToDate, capture.refers_to.date);
    if let Some(hash) = payload.text {
        text.put(Field::TextHash, &hash.to_le_bytes());
    }
}
