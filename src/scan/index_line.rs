//! What a line of an index states, whatever its format, and the capture it makes.
//! Must never know the text of a CDX or CDXJ line.

use crate::capture::{
    Capture, Completeness, DigestStatus, Event, Locator, Method, Payload, RecordType, RefersTo,
    Timestamp, Warning,
};
use crate::digest::parse_declared;
use crate::scan::decimal::decimal;
use crate::scan::lines::Place;

/// The values of one line as they stand there; empty or `-` is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statement<'a> {
    pub(super) urlkey: &'a [u8],
    pub(super) date: &'a [u8],
    pub(super) url: &'a [u8],
    pub(super) mime: &'a [u8],
    pub(super) status: &'a [u8],
    pub(super) digest: &'a [u8],
    pub(super) redirect: &'a [u8],
    pub(super) length: &'a [u8],
    pub(super) offset: &'a [u8],
    pub(super) file: &'a [u8],
    pub(super) record_id: &'a [u8],
    pub(super) truncated: &'a [u8],
    pub(super) method: &'a [u8],
    pub(super) request_body: &'a [u8],
}

/// Buffers for what must be decoded, reused from line to line.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    location: Vec<u8>,
    method: Vec<u8>,
    body: Vec<u8>,
}

/// Whether `text` is the timestamp of an index line.
pub(super) fn is_date(text: &[u8]) -> bool {
    matches!(text.len(), 14 | 17) && text.iter().all(u8::is_ascii_digit)
}

impl Statement<'_> {
    /// Emits the line's record and, if it is one, its capture.
    pub(super) fn emit(
        &self,
        place: Place,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        let record_type = record_type(self.mime);
        sink(Event::Record {
            record_type,
            offset: place.offset,
        });
        let date = Timestamp::parse_digits(self.date);
        if !date.is_known() {
            sink(Event::Warning(Warning::BadDate));
        }
        if record_type.is_capture() {
            sink(Event::Capture(self.capture(
                place,
                record_type,
                date,
                scratch,
            )));
        }
    }

    fn capture<'a>(
        &'a self,
        place: Place,
        record_type: RecordType,
        date: Timestamp,
        scratch: &'a mut Scratch,
    ) -> Capture<'a> {
        let status = decimal(self.status)
            .and_then(|status| u16::try_from(status).ok())
            .filter(|status| (100..1000).contains(status));
        let is_redirect = status.is_some_and(|status| status / 100 == 3);
        let offset = decimal(self.offset);
        let Scratch {
            location,
            method,
            body,
        } = scratch;
        Capture {
            locator: Locator {
                file: place.file,
                ordinal: place.number - 1,
                offset: offset.unwrap_or(0),
                length: decimal(self.length).filter(|length| *length > 0),
            },
            record_type,
            target_uri: unbracketed(self.url),
            record_id: unbracketed(given(self.record_id)),
            date,
            method: self.method(method, body),
            status,
            has_http_head: status.is_some(),
            mime: match record_type {
                RecordType::Revisit => b"",
                _ => given(self.mime),
            },
            language: b"",
            location: match is_redirect {
                true => unescaped_location(given(self.redirect), location),
                false => b"",
            },
            is_hsts: false,
            payload: self.payload(record_type, status),
            truncated: given(self.truncated),
            refers_to: RefersTo::default(),
            profile: b"",
            shares_member: false,
            // A line without offset names no record.
            stated_file: offset.map_or(b"", |_| given(self.file)),
            is_index_line: true,
        }
    }

    fn payload(&self, record_type: RecordType, status: Option<u16>) -> Payload<'_> {
        let declared_text = given(self.digest);
        let declared = parse_declared(declared_text);
        Payload {
            bytes: None,
            digest: declared,
            body_hash: None,
            text: None,
            decoded: None,
            decodes_to_nothing: false,
            is_undecodable: false,
            declared_text,
            declared,
            status: match (declared_text, declared) {
                (b"", _) => DigestStatus::Absent,
                (_, None) => DigestStatus::Uncheckable,
                _ if record_type == RecordType::Revisit => DigestStatus::ByReference,
                _ => DigestStatus::Unchecked,
            },
            completeness: match (given(self.truncated), status) {
                // An index does not say which part a 206 brought.
                (b"", Some(206)) => Completeness::Partial,
                (b"", _) => Completeness::Complete,
                _ => Completeness::Truncated,
            },
        }
    }

    /// The method from its own field, else from the urlkey, in whose query pywb and its kin hide it.
    fn method<'a>(&self, name: &'a mut Vec<u8>, body: &mut Vec<u8>) -> Method<'a> {
        body.clear();
        name.clear();
        let hidden = method_in_urlkey(self.urlkey, body);
        let stated = given(self.method);
        let written = if stated.is_empty() { hidden } else { stated };
        name.extend(written.iter().map(u8::to_ascii_uppercase));
        if matches!(name.as_slice(), b"" | b"GET") {
            return Method::GET;
        }
        if !self.request_body.is_empty() {
            request_body(self.request_body, body);
        }
        Method {
            name,
            body_hash: match body.as_slice() {
                b"" => 0,
                body => xxhash_rust::xxh3::xxh3_128(body),
            },
        }
    }
}

/// What a line states, where `-` states nothing.
fn given(text: &[u8]) -> &[u8] {
    if text == b"-" { b"" } else { text }
}

fn unbracketed(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"<")
        .and_then(|inner| inner.strip_suffix(b">"))
        .unwrap_or(text)
}

/// Indexes of all records have `warc/` and the type where captures have a media type.
fn record_type(mime: &[u8]) -> RecordType {
    match mime {
        b"warc/revisit" => RecordType::Revisit,
        b"warc/request" => RecordType::Request,
        b"warc/metadata" => RecordType::Metadata,
        b"warc/warcinfo" | b"warc-info" => RecordType::Warcinfo,
        b"warc/continuation" => RecordType::Continuation,
        _ => RecordType::Response,
    }
}

/// wget writes `http%3A//host%3A8081/`; whoever writes a plain URL means its escapes.
fn unescaped_location<'a>(text: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let has_prefix = |prefix: &[u8]| {
        text.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if !has_prefix(b"http%3A//") && !has_prefix(b"https%3A//") {
        return text;
    }
    scratch.clear();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| after.get(..2).and_then(hex_byte));
        scratch.push(escaped.flatten().unwrap_or(byte));
        rest = if escaped.flatten().is_some() {
            &after[2..]
        } else {
            after
        };
    }
    scratch
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let byte = value(*digits.first()?)? * 16 + value(*digits.get(1)?)?;
    u8::try_from(byte).ok()
}

/// The method in `…?__wb_method=post&…`; `body` gets the rest of the query, which has the request body in it.
fn method_in_urlkey<'a>(urlkey: &'a [u8], body: &mut Vec<u8>) -> &'a [u8] {
    const NAME: &[u8] = b"__wb_method=";
    let query = memchr::memchr(b'?', urlkey).map_or(&[][..], |mark| &urlkey[mark + 1..]);
    let is_hidden = |parameter: &[u8]| parameter.starts_with(NAME);
    if !query.split(|byte| *byte == b'&').any(is_hidden) {
        return b"";
    }
    let mut method: &[u8] = b"";
    for parameter in query.split(|byte| *byte == b'&') {
        if let Some(value) = parameter.strip_prefix(NAME) {
            method = value;
            continue;
        }
        if !body.is_empty() {
            body.push(b'&');
        }
        body.extend_from_slice(parameter);
    }
    method
}

/// The body that was sent; cdxj-indexer has a binary one as `__wb_post_data=` and base64.
fn request_body(field: &[u8], body: &mut Vec<u8>) {
    body.clear();
    let decoded = field
        .strip_prefix(b"__wb_post_data=")
        .and_then(|text| data_encoding::BASE64.decode(text).ok());
    match decoded {
        Some(decoded) => body.extend(decoded),
        None => body.extend_from_slice(field),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::capture::Warning;

    /// An event as the text that test tables hold.
    pub(in crate::scan) fn told(event: &Event<'_>) -> String {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        match event {
            Event::Record { record_type, .. } => record_type.name().into(),
            Event::Capture(capture) => {
                let mut date = Vec::new();
                capture.date.write_rfc3339(&mut date);
                format!(
                    "{} {} {:?} {} {:?} {}+{:?} {}",
                    text(capture.target_uri),
                    text(&date),
                    capture.status,
                    text(capture.mime),
                    capture.payload.status,
                    capture.locator.offset,
                    capture.locator.length,
                    text(capture.stated_file)
                )
            }
            Event::Damage(damage) => format!("line {}: {}", damage.line.unwrap(), damage.what),
            Event::Warning(warning) => format!("warning {}", warning.code()),
            other => format!("{other:?}"),
        }
    }

    fn with_capture<T>(statement: &Statement<'_>, look: impl Fn(&Capture<'_>) -> T) -> Option<T> {
        let place = Place {
            file: crate::capture::FileId(3),
            number: 7,
            offset: 100,
            length: Some(10),
        };
        let mut found = None;
        statement.emit(place, &mut Scratch::default(), &mut |event| {
            if let Event::Capture(capture) = event {
                found = Some(look(&capture));
            }
        });
        found
    }

    fn statement() -> Statement<'static> {
        Statement {
            date: b"20240501120000",
            url: b"http://example.com/",
            mime: b"text/html",
            status: b"200",
            digest: b"ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ",
            length: b"500",
            offset: b"100",
            file: b"a.warc.gz",
            ..Statement::default()
        }
    }

    #[test]
    fn tells_methods_apart_by_body() {
        for (urlkey, method, request_body, expected) in [
            ("com,x)/a", "", "", "GET "),
            ("com,x)/a?__wb_method=post&a=1", "", "", "POST a=1"),
            ("com,x)/a?b=2&__wb_method=post&a=1", "", "", "POST b=2&a=1"),
            ("com,x)/a?__wb_method=post&a=1", "", "A=1", "POST A=1"),
            ("com,x)/a?__wb_method=post", "", "", "POST "),
            ("com,x)/a?__wb_method=head", "", "", "HEAD "),
            ("com,x)/a", "post", "__wb_post_data=AAE=", "POST \0\x01"),
            ("com,x)/a", "Get", "a=1", "GET "),
            ("com,x)/a?x__wb_method=post", "", "", "GET "),
        ] {
            let line = Statement {
                urlkey: urlkey.as_bytes(),
                method: method.as_bytes(),
                request_body: request_body.as_bytes(),
                ..statement()
            };
            let (name, body) = expected.split_once(' ').unwrap();
            let body_hash = match body {
                "" => 0,
                body => xxhash_rust::xxh3::xxh3_128(body.as_bytes()),
            };
            let is_expected = with_capture(&line, |capture| {
                let name = name.as_bytes();
                capture.method == Method { name, body_hash }
            });
            assert_eq!(is_expected, Some(true), "{urlkey}");
        }
    }

    #[test]
    fn a_redirect_has_its_location_unescaped_only_where_wget_escaped_it() {
        for (status, redirect, expected) in [
            (
                "302",
                "http%3A//host%3A8081/a%2520b",
                "http://host:8081/a%20b",
            ),
            ("301", "HTTPS%3a//host/%zz%4", "HTTPS://host/%zz%4"),
            ("302", "http://host/a%20b", "http://host/a%20b"),
            ("302", "/http%3A//host", "/http%3A//host"),
            ("302", "-", ""),
            ("200", "http://host/", ""),
            ("-", "http://host/", ""),
        ] {
            let line = Statement {
                status: status.as_bytes(),
                redirect: redirect.as_bytes(),
                ..statement()
            };
            let found = with_capture(&line, |capture| capture.location.to_vec());
            assert_eq!(found.as_deref(), Some(expected.as_bytes()), "{redirect}");
        }
    }

    #[test]
    fn what_is_absent_is_unknown() {
        let line = Statement {
            url: b"<http://example.com/>",
            ..Statement::default()
        };
        let found = with_capture(&line, |capture| {
            let payload = capture.payload;
            assert_eq!(capture.locator.ordinal, 6);
            assert_eq!(payload.status, DigestStatus::Absent);
            assert!(!capture.has_http_head && !capture.date.is_known());
            told(&Event::Capture(*capture))
        });
        assert_eq!(found.unwrap(), "http://example.com/  None  Absent 0+None ");
    }

    #[test]
    fn parts_of_resources_are_incomplete() {
        for (status, truncated, expected) in [
            ("200", "", Completeness::Complete),
            ("206", "", Completeness::Partial),
            ("200", "length", Completeness::Truncated),
            ("200", "-", Completeness::Complete),
        ] {
            let line = Statement {
                status: status.as_bytes(),
                truncated: truncated.as_bytes(),
                ..statement()
            };
            let found = with_capture(&line, |capture| capture.payload.completeness);
            assert_eq!(found, Some(expected), "{status} {truncated}");
        }
    }

    #[test]
    fn a_revisit_names_another_payload_and_no_mime() {
        let line = Statement {
            mime: b"warc/revisit",
            status: b"-",
            ..statement()
        };
        let found = with_capture(&line, |capture| told(&Event::Capture(*capture))).unwrap();
        assert_eq!(
            found,
            "http://example.com/ 2024-05-01T12:00:00Z None  ByReference 100+Some(500) a.warc.gz"
        );
    }

    #[test]
    fn lines_of_other_records_make_no_capture() {
        let line = Statement {
            mime: b"warc/request",
            ..statement()
        };
        assert_eq!(with_capture(&line, |_| ()), None);
        assert_eq!(told(&Event::Warning(Warning::BadDate)), "warning bad-date");
    }
}
