//! The head of a WARC record (WARC 1.1 sections 4 and 5).

use super::super::fields::{Fields, Start, Step, Table, unbracketed};
use super::super::http::number;
use crate::capture::{RecordType, Timestamp};

static TABLE: Table = Table {
    names: &[
        b"warc-type",
        b"warc-record-id",
        b"warc-date",
        b"content-length",
        b"warc-target-uri",
        b"content-type",
        b"warc-payload-digest",
        b"warc-block-digest",
        b"warc-truncated",
        b"warc-segment-number",
        b"warc-segment-origin-id",
        b"warc-segment-total-length",
        b"warc-refers-to",
        b"warc-refers-to-target-uri",
        b"warc-refers-to-date",
        b"warc-profile",
        b"warc-concurrent-to",
    ],
    repeatable: Some(CONCURRENT_TO),
    is_start: is_version,
    start_in: version_in,
    first_line_max: 256,
};

const TYPE: usize = 0;
const RECORD_ID: usize = 1;
const DATE: usize = 2;
const CONTENT_LENGTH: usize = 3;
const TARGET_URI: usize = 4;
const CONTENT_TYPE: usize = 5;
const PAYLOAD_DIGEST: usize = 6;
const BLOCK_DIGEST: usize = 7;
const TRUNCATED: usize = 8;
const SEGMENT_NUMBER: usize = 9;
const SEGMENT_ORIGIN_ID: usize = 10;
const SEGMENT_TOTAL_LENGTH: usize = 11;
const REFERS_TO: usize = 12;
const REFERS_TO_TARGET_URI: usize = 13;
const REFERS_TO_DATE: usize = 14;
const PROFILE: usize = 15;
const CONCURRENT_TO: usize = 16;

/// Every record starts with it, in any case.
pub(super) const PREFIX: &[u8; 5] = b"WARC/";

/// A Content-Length from which on it is no length: nobody has a record of an exabyte.
const LENGTH_MAX: u64 = 1 << 60;

/// What a Content-Length says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// So many bytes.
    Stated(u64),
    /// There is no such field, or an empty one.
    Missing,
    /// No number, a negative one, or an absurd one.
    Unusable,
}

/// The head of a record.
pub(super) struct Header {
    fields: Fields,
}

impl Header {
    pub(super) fn new() -> Self {
        Self {
            fields: Fields::new(&TABLE),
        }
    }

    /// Starts a head, of which `PREFIX` was taken.
    pub(super) fn begin(&mut self) {
        self.fields.begin();
        self.fields.push(PREFIX);
    }

    /// Starts the head that [`Step::Restarts`] told of.
    pub(super) fn begin_again(&mut self) {
        self.fields.begin_again();
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Step {
        self.fields.push(bytes)
    }

    /// The input ended in the head. Says whether there is one at all.
    pub(super) fn finish(&mut self) -> bool {
        self.fields.finish()
    }

    /// Whether the version was read.
    pub(super) fn has_version(&self) -> bool {
        self.fields.has_first_line()
    }

    /// Whether no field says that this is a record.
    pub(super) fn is_bare(&self) -> bool {
        self.fields.is_bare()
    }

    pub(super) fn record_type(&self) -> RecordType {
        const TYPES: [RecordType; 8] = [
            RecordType::Response,
            RecordType::Request,
            RecordType::Metadata,
            RecordType::Revisit,
            RecordType::Resource,
            RecordType::Warcinfo,
            RecordType::Conversion,
            RecordType::Continuation,
        ];
        let name = self.fields.get(TYPE);
        TYPES
            .into_iter()
            .find(|known| name.eq_ignore_ascii_case(known.name().as_bytes()))
            .unwrap_or(RecordType::Other)
    }

    pub(super) fn length(&self) -> Length {
        let text = self.fields.get(CONTENT_LENGTH);
        match number(text) {
            Some(length) if length < LENGTH_MAX => Length::Stated(length),
            None if text.is_empty() => Length::Missing,
            _ => Length::Unusable,
        }
    }

    pub(super) fn target_uri(&self) -> &[u8] {
        unbracketed(self.fields.get(TARGET_URI))
    }

    /// Whether the target URI is longer than what is kept of a head.
    pub(super) fn is_target_uri_overlong(&self) -> bool {
        self.fields.is_overlong(TARGET_URI)
    }

    pub(super) fn record_id(&self) -> &[u8] {
        unbracketed(self.fields.get(RECORD_ID))
    }

    pub(super) fn date(&self) -> Timestamp {
        Timestamp::parse_w3cdtf(self.fields.get(DATE))
    }

    /// Whether there is a date, readable or not.
    pub(super) fn has_date(&self) -> bool {
        !self.fields.get(DATE).is_empty()
    }

    pub(super) fn content_type(&self) -> &[u8] {
        self.fields.get(CONTENT_TYPE)
    }

    pub(super) fn payload_digest(&self) -> &[u8] {
        self.fields.get(PAYLOAD_DIGEST)
    }

    pub(super) fn block_digest(&self) -> &[u8] {
        self.fields.get(BLOCK_DIGEST)
    }

    pub(super) fn truncated(&self) -> &[u8] {
        self.fields.get(TRUNCATED)
    }

    /// `WARC-Segment-Number`; a continuation without a readable one has none.
    pub(super) fn segment_number(&self) -> Option<u64> {
        number(self.fields.get(SEGMENT_NUMBER))
    }

    /// The id of the first segment; empty in the first segment itself.
    pub(super) fn segment_origin_id(&self) -> &[u8] {
        unbracketed(self.fields.get(SEGMENT_ORIGIN_ID))
    }

    pub(super) fn segment_total_length(&self) -> Option<u64> {
        number(self.fields.get(SEGMENT_TOTAL_LENGTH))
    }

    pub(super) fn refers_to(&self) -> &[u8] {
        unbracketed(self.fields.get(REFERS_TO))
    }

    pub(super) fn refers_to_target_uri(&self) -> &[u8] {
        unbracketed(self.fields.get(REFERS_TO_TARGET_URI))
    }

    pub(super) fn refers_to_date(&self) -> Timestamp {
        Timestamp::parse_w3cdtf(self.fields.get(REFERS_TO_DATE))
    }

    pub(super) fn profile(&self) -> &[u8] {
        self.fields.get(PROFILE)
    }

    pub(super) fn concurrent_to(&self) -> &[u8] {
        self.fields.get(CONCURRENT_TO)
    }

    pub(super) fn has_lf_lines(&self) -> bool {
        self.fields.has_lf_lines()
    }

    /// A line without colon, a field given twice, a missing mandatory field.
    pub(super) fn is_odd(&self) -> bool {
        self.fields.is_odd()
            || [TYPE, RECORD_ID, DATE, CONTENT_LENGTH]
                .into_iter()
                .any(|field| !self.fields.has(field))
    }
}

/// `WARC/` and two numbers, nothing else.
fn is_version(line: &[u8]) -> bool {
    let Some((prefix, rest)) = line.split_first_chunk::<5>() else {
        return false;
    };
    let mut numbers = rest.trim_ascii_end().split(|byte| *byte == b'.');
    let mut is_number = || {
        numbers.next().is_some_and(|number| {
            matches!(number.len(), 1..=4) && number.iter().all(u8::is_ascii_digit)
        })
    };
    prefix.eq_ignore_ascii_case(PREFIX) && is_number() && is_number() && numbers.next().is_none()
}

/// Where in a line of a head another record starts: at a version that ends the line. It may also be the end of a
/// value (a URL that ends in `/WARC/1.0`).
fn version_in(line: &[u8]) -> Option<Start> {
    // One search for a byte that few lines have near their end: this runs on every line of every header.
    let from = line.len().saturating_sub(10);
    let slash = from + memchr::memrchr(b'/', &line[from..])?;
    let index = (slash + 1).checked_sub(PREFIX.len())?;
    if !is_version(&line[index..]) {
        return None;
    }
    let may_be_value = memchr::memchr(b':', &line[..index]).is_some();
    Some(if may_be_value {
        Start::Perhaps(index)
    } else {
        Start::At(index)
    })
}

/// Whether decoded bytes start with a version, as far as they go.
pub(super) fn starts_with_version(bytes: &[u8]) -> bool {
    let line = match memchr::memchr(b'\n', &bytes[..bytes.len().min(16)]) {
        Some(end) => &bytes[..end],
        None => return false,
    };
    is_version(line)
}

/// Where the next record starts, looking for a version line that stands at a line's start or is followed by a field
/// of WARC's.
pub(super) fn find_record(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, PREFIX).find(|start| {
        let rest = &bytes[*start..];
        let is_at_line_start = *start == 0 || bytes[*start - 1] == b'\n';
        starts_with_version(rest) && (is_at_line_start || has_field_below(rest))
    })
}

fn has_field_below(bytes: &[u8]) -> bool {
    memchr::memchr(b'\n', bytes).is_some_and(|end| {
        let below = &bytes[end + 1..];
        [&b"WARC-"[..], b"Content-"].into_iter().any(|start| {
            below
                .get(..start.len())
                .is_some_and(|below| below.eq_ignore_ascii_case(start))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_versions() {
        for (line, expected) in [
            (&b"WARC/1.0"[..], true),
            (b"warc/0.17 ", true),
            (b"WARC/1.1", true),
            (b"WARC/1", false),
            (b"WARC/1.", false),
            (b"WARC/1.0.0", false),
            (b"WARC/1.0 x", false),
            (b"WARC/x.0", false),
            (b"WARC-1.0", false),
            (b"", false),
        ] {
            assert_eq!(is_version(line), expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn finds_a_record_that_starts_within_a_line() {
        for (line, expected) in [
            (&b"WARC/1.0"[..], Some(Start::At(0))),
            (b"WARC-TaWARC/1.0", Some(Start::At(7))),
            (b"WARC-Date: 2024-05-01TWARC/1.0", Some(Start::Perhaps(22))),
            (
                b"WARC-Target-URI: http://e.test/WARC/1.0",
                Some(Start::Perhaps(31)),
            ),
            (b"WARC-Target-URI: http://e.test/WARC/1.0/x", None),
            (b"x", None),
        ] {
            assert_eq!(version_in(line), expected, "{}", line.escape_ascii());
        }
        assert_eq!(find_record(b"xx\nWARC/1.0\r\n"), Some(3));
        assert_eq!(find_record(b"xxWARC/1.0\r\nWARC-Type: a"), Some(2));
        assert_eq!(find_record(b"xxWARC/1.0\r\nno"), None);
        assert_eq!(find_record(b"\nWARC/1.x\r\nWARC/1.0\n"), Some(11));
    }

    #[test]
    fn reads_lengths() {
        for (text, expected) in [
            ("Content-Length: 5", Length::Stated(5)),
            ("content-length:0", Length::Stated(0)),
            ("Content-Length: -5", Length::Unusable),
            ("Content-Length: 9223372036854775808", Length::Unusable),
            ("Content-Length: 99999999999999999999999", Length::Unusable),
            ("Content-Length: five", Length::Unusable),
            ("Content-Length:", Length::Missing),
            ("Content-Length: 5\r\nContent-Length: 6", Length::Stated(5)),
            ("X: y", Length::Missing),
        ] {
            let mut header = Header::new();
            header.begin();
            header.push(format!("1.0\r\n{text}\r\n\r\n").as_bytes());
            assert_eq!(header.length(), expected, "{text}");
        }
    }
}
