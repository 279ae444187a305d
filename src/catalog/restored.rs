//! A capture as it was pushed, put together from its row and its text.

use super::fields::{Field, Reader};
use super::spool::Spool;
use super::{Catalog, Row, RowFlags, RowId};
use crate::capture::{Capture, FileId, Method, Payload, RefersTo};
use crate::digest::parse_declared;

impl Catalog {
    /// The capture as it was pushed.
    #[must_use]
    pub fn capture(&self, id: RowId) -> Capture<'_> {
        self.capture_and_redirect_to(id).0
    }

    /// The same, and where it redirects to, as [`Catalog::redirect_to`] has it.
    #[must_use]
    pub fn capture_and_redirect_to(&self, id: RowId) -> (Capture<'_>, &[u8]) {
        let (mut capture, redirect_to) = self.spool.stored(&self.row(id), self.text(id));
        let asked = self.asked.get(&id);
        if let Some(asked) = asked
            && let Some(name) = asked.method.as_deref()
        {
            let body_hash = asked.body_hash;
            capture.method = Method { name, body_hash };
        }
        debug_assert_eq!(redirect_to, self.redirect_to(id), "LEADS says as much");
        (capture, redirect_to)
    }

    /// The file in which the record of a row stands: the input, or, of an index line, the one it states.
    #[must_use]
    pub fn record_file(&self, id: RowId) -> &[u8] {
        self.stated_or_input(self.stated_file(id), || self.locator(id).file)
    }

    /// The same of a capture of this catalog.
    #[must_use]
    pub fn record_file_of<'a>(&'a self, capture: &Capture<'a>) -> &'a [u8] {
        self.stated_or_input(capture.stated_file, || capture.locator.file)
    }

    fn stated_or_input<'a>(&'a self, stated: &'a [u8], input: impl FnOnce() -> FileId) -> &'a [u8] {
        match stated {
            b"" => self.file_name(input()),
            stated => stated,
        }
    }
}

impl Spool {
    /// The capture whose row is `row`.
    pub(super) fn capture(&self, row: &Row, text: u64) -> Capture<'_> {
        self.stored(row, text).0
    }

    /// The same, and the resolved `Location` of a redirect.
    fn stored(&self, row: &Row, text: u64) -> (Capture<'_>, &[u8]) {
        let (mut reader, locator) = self.head(text);
        let is = |flag| row.flags.contains(flag);
        let target_uri = reader.target_uri();
        let redirect_to = reader.field(Field::RedirectTo);
        let record_id = reader.field(Field::RecordId);
        let mime = reader.field(Field::Mime);
        let language = reader.field(Field::Language);
        let location = reader.field(Field::Location);
        let truncated = reader.field(Field::Truncated);
        let profile = reader.field(Field::Profile);
        let stated_file = self.read_stated_file(&mut reader, text);
        let declared_text = reader.field(Field::DeclaredText);
        let refers_id = reader.field(Field::RefersToId);
        let refers_uri = reader.field(Field::RefersToUri);
        let method = match reader.field(Field::Method) {
            b"" => Method::GET.name,
            other => other,
        };
        let payload = read_payload(&mut reader, row, declared_text);
        let request_hash = reader.array(Field::RequestHash);
        let date = reader.date(Field::RefersToDate);
        let text_hash = reader.array(Field::TextHash).map(u64::from_le_bytes);
        let capture = Capture {
            locator: self.counted(locator, text),
            record_type: row.record_type,
            target_uri,
            record_id,
            date: row.date,
            method: Method {
                name: method,
                body_hash: request_hash.map_or(0, u128::from_le_bytes),
            },
            status: Some(row.status).filter(|status| *status > 0),
            has_http_head: is(RowFlags::HTTP_HEAD),
            mime,
            language,
            location,
            is_hsts: is(RowFlags::HSTS),
            payload: Payload {
                text: text_hash,
                ..payload
            },
            truncated,
            refers_to: RefersTo {
                record_id: refers_id,
                target_uri: refers_uri,
                date,
            },
            profile,
            shares_member: is(RowFlags::SHARES_MEMBER),
            stated_file,
            is_index_line: is(RowFlags::INDEX_LINE),
        };
        (capture, redirect_to)
    }
}

/// The digests and the length of a payload; the rest stands in the row.
fn read_payload<'a>(reader: &mut Reader<'a>, row: &Row, declared_text: &'a [u8]) -> Payload<'a> {
    let is = |flag| row.flags.contains(flag);
    let other = reader.digest(Field::Digest);
    let declared = reader.digest(Field::Declared);
    let declared = if is(RowFlags::DECLARED) {
        declared.or_else(|| parse_declared(declared_text))
    } else {
        None
    };
    let is_declared = is(RowFlags::DECLARED) && !is(RowFlags::DECLARED_DIFFERS);
    Payload {
        digest: if is_declared { declared } else { other },
        declared,
        decoded: reader.digest(Field::Decoded),
        bytes: reader.number(Field::PayloadBytes),
        body_hash: reader.array(Field::BodyHash).map(u128::from_le_bytes),
        text: None,
        decodes_to_nothing: is(RowFlags::DECODES_TO_NOTHING),
        is_undecodable: is(RowFlags::UNDECODABLE),
        declared_text,
        status: row.digest_status,
        completeness: row.completeness,
    }
}
