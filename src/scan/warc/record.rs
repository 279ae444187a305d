//! From a record's header and block to the events that tell of it.

use super::body::{Body, Decoded};
use super::header::Header;
use super::plan::{Envelope, Plan, Purpose};
use super::{DigestMode, Options, VisibleText};
use crate::capture::{
    Algorithm, Capture, Completeness, Digest, DigestStatus, Event, Locator, Method, Payload,
    RecordType, RefersTo, Request, Segment, Warning,
};
use crate::digest;

use super::super::http::{Head, without_parameters};
use super::super::text::Syntax;

/// A record that was read to its end.
pub(super) struct Record<'a> {
    pub(super) header: &'a Header,
    pub(super) body: &'a Body,
    pub(super) options: Options,
    pub(super) locator: Locator,
    /// Whether its block is all there.
    pub(super) is_cut: bool,
    /// Whether another record came before it in its member.
    pub(super) shares_member: bool,
}

/// What is done with the block of a record with this header.
pub(super) fn plan(header: &Header, options: Options) -> Plan {
    let record_type = header.record_type();
    let is_http = is_http(header.target_uri());
    let envelope = match record_type {
        RecordType::Response | RecordType::Revisit if is_http => Envelope::Response,
        RecordType::Request if is_http => Envelope::Request,
        _ => Envelope::None,
    };
    let purpose = match record_type {
        RecordType::Response | RecordType::Resource | RecordType::Conversion => {
            let declared = digest::parse_declared(header.payload_digest());
            Purpose::Content(options.digests, declared.map(|digest| digest.algorithm))
        }
        RecordType::Request if is_http => Purpose::RequestBody,
        _ => Purpose::Nothing,
    };
    // Of the payload's media type a request says nothing that counts.
    let (text, syntax) = match (options.text, purpose) {
        (VisibleText::Hash, Purpose::Content(..)) => (
            VisibleText::Hash,
            Syntax::of(without_parameters(header.content_type())),
        ),
        _ => (VisibleText::Skip, None),
    };
    Plan {
        envelope,
        purpose,
        text,
        syntax,
    }
}

fn is_http(target_uri: &[u8]) -> bool {
    [&b"http:"[..], b"https:"].into_iter().any(|scheme| {
        target_uri
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

impl Record<'_> {
    /// Tells of the record: that it is there, what was odd, and the capture, request or segment that it is.
    pub(super) fn emit(&self, sink: &mut impl FnMut(Event<'_>)) {
        let record_type = self.header.record_type();
        sink(Event::Record {
            record_type,
            offset: self.locator.offset,
        });
        self.warn_of_header(sink);
        let has_uri = !self.header.target_uri().is_empty();
        if record_type.is_capture() && has_uri {
            self.emit_capture(record_type, sink);
        } else if record_type == RecordType::Request && has_uri {
            self.emit_request(sink);
        }
        if record_type == RecordType::Continuation || self.header.segment_number().is_some() {
            self.emit_segment(sink);
        }
    }

    fn warn_of_header(&self, sink: &mut impl FnMut(Event<'_>)) {
        let header = self.header;
        let lacks_uri = header.record_type().is_capture() && header.target_uri().is_empty();
        for (is_so, warning) in [
            (header.has_lf_lines(), Warning::LfLines),
            (header.is_odd() || lacks_uri, Warning::OddHeader),
            (
                header.has_date() && !header.date().is_known(),
                Warning::BadDate,
            ),
        ] {
            if is_so {
                sink(Event::Warning(warning));
            }
        }
    }

    fn emit_capture(&self, record_type: RecordType, sink: &mut impl FnMut(Event<'_>)) {
        let header = self.header;
        let head = self.body.head();
        let payload = if record_type == RecordType::Revisit {
            self.revisit_payload()
        } else {
            self.payload(record_type)
        };
        self.warn_of_payload(record_type, &payload, sink);
        let is_revisit = record_type == RecordType::Revisit;
        sink(Event::Capture(Capture {
            locator: self.locator,
            record_type,
            target_uri: header.target_uri(),
            record_id: header.record_id(),
            date: header.date(),
            method: Method::GET,
            status: head.and_then(Head::status),
            has_http_head: head.is_some(),
            mime: match head {
                Some(head) => head.mime(),
                // Of the block, which a revisit does not have.
                None if is_revisit => b"",
                None => without_parameters(header.content_type()),
            },
            language: head.map_or(b"", Head::language),
            location: head.map_or(b"", Head::location),
            is_hsts: head.is_some_and(Head::is_hsts),
            payload,
            truncated: header.truncated(),
            refers_to: if is_revisit {
                RefersTo {
                    record_id: header.refers_to(),
                    target_uri: header.refers_to_target_uri(),
                    date: header.refers_to_date(),
                }
            } else {
                RefersTo::default()
            },
            profile: if is_revisit { header.profile() } else { b"" },
            shares_member: self.shares_member,
            stated_file: b"",
            is_index_line: false,
        }));
        if !header.concurrent_to().is_empty() {
            sink(Event::ConcurrentTo(header.concurrent_to()));
        }
    }

    fn warn_of_payload(
        &self,
        record_type: RecordType,
        payload: &Payload<'_>,
        sink: &mut impl FnMut(Event<'_>),
    ) {
        let is_truncated = payload.completeness == Completeness::Truncated;
        let has_text = !payload.declared_text.is_empty();
        let is_uncheckable = payload.status == DigestStatus::Uncheckable && has_text;
        for (is_so, warning) in [
            (self.body.has_bad_chunks(), Warning::BadChunks),
            (
                self.body.decoded() == Decoded::Failed && payload.bytes != Some(0),
                Warning::UndecodableBody,
            ),
            (
                is_truncated && record_type != RecordType::Revisit,
                Warning::Truncated,
            ),
            (
                payload.status == DigestStatus::Mismatch,
                Warning::DigestMismatch,
            ),
            (is_uncheckable, Warning::DigestUncheckable),
        ] {
            if is_so {
                sink(Event::Warning(warning));
            }
        }
    }

    /// A revisit's digest is that of another record's payload; its own block has none.
    fn revisit_payload(&self) -> Payload<'_> {
        let declared_text = self.header.payload_digest();
        let declared = digest::parse_declared(declared_text);
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
            status: if declared_text.is_empty() {
                DigestStatus::Absent
            } else {
                DigestStatus::ByReference
            },
            completeness: self.completeness(),
        }
    }

    fn payload(&self, record_type: RecordType) -> Payload<'_> {
        let declared_text = self.header.payload_digest();
        let declared = digest::parse_declared(declared_text);
        let bytes = self.body.n_payload();
        let (decoded, n_decoded) = match self.body.decoded() {
            Decoded::Whole(digest, n) => (digest, Some(n)),
            Decoded::Identity => (None, bytes),
            Decoded::Failed => (None, None),
        };
        Payload {
            bytes,
            digest: match self.options.digests {
                DigestMode::Verify => self.body.digest(Algorithm::Sha1),
                DigestMode::Content => self.body.digest(Algorithm::Blake3),
                DigestMode::Declared => declared.or_else(|| self.declared_of_block(record_type)),
            },
            body_hash: self.body.body_hash(),
            text: match self.completeness() {
                Completeness::Complete => self.body.text(),
                _ => None,
            },
            decoded: decoded.filter(|_| n_decoded != Some(0) || bytes != Some(0)),
            decodes_to_nothing: n_decoded == Some(0),
            is_undecodable: self.body.decoded() == Decoded::Failed,
            declared_text,
            declared,
            status: self.status(declared_text, declared),
            completeness: self.completeness(),
        }
    }

    /// Without envelope the block is the payload, and so is its digest; WET files have no other.
    fn declared_of_block(&self, record_type: RecordType) -> Option<Digest> {
        match record_type {
            RecordType::Resource | RecordType::Conversion => {
                digest::parse_declared(self.header.block_digest())
            }
            _ => None,
        }
    }

    fn status(&self, declared_text: &[u8], declared: Option<Digest>) -> DigestStatus {
        if declared_text.is_empty() {
            return DigestStatus::Absent;
        }
        let Some(declared) = declared else {
            return DigestStatus::Uncheckable;
        };
        if self.options.digests != DigestMode::Verify {
            return DigestStatus::Unchecked;
        }
        let algorithm = declared.algorithm;
        if self.body.digest(algorithm) == Some(declared) {
            DigestStatus::Ok
        } else if self.body.raw_digest(algorithm) == Some(declared) {
            DigestStatus::OkOverRawBody
        } else if self.is_comparable() {
            DigestStatus::Mismatch
        } else {
            DigestStatus::Uncheckable
        }
    }

    /// Whether a digest that differs is wrong: not that of a payload which is not all there, nor that of a response
    /// in a protocol of which no payload is known.
    fn is_comparable(&self) -> bool {
        let is_foreign =
            self.header.record_type() == RecordType::Response && !is_http(self.header.target_uri());
        let is_whole = matches!(
            self.completeness(),
            Completeness::Complete | Completeness::Partial
        );
        is_whole && !is_foreign
    }

    fn completeness(&self) -> Completeness {
        let header = self.header;
        if self.is_cut {
            Completeness::Cut
        } else if !header.truncated().is_empty() {
            Completeness::Truncated
        } else if header.segment_number().is_some() {
            Completeness::Segment
        } else if self.body.head().is_some_and(Head::is_part) {
            Completeness::Partial
        } else {
            Completeness::Complete
        }
    }

    /// A GET says nothing that the capture does not.
    fn emit_request(&self, sink: &mut impl FnMut(Event<'_>)) {
        let Some(head) = self.body.head() else { return };
        if matches!(head.method(), b"" | b"GET") {
            return;
        }
        let has_body = self.body.n_payload() != Some(0);
        sink(Event::Request(Request {
            locator: self.locator,
            record_id: self.header.record_id(),
            concurrent_to: self.header.concurrent_to(),
            target_uri: self.header.target_uri(),
            date: self.header.date(),
            method: Method {
                name: head.method(),
                body_hash: self.body.body_hash().filter(|_| has_body).unwrap_or(0),
            },
        }));
    }

    fn emit_segment(&self, sink: &mut impl FnMut(Event<'_>)) {
        let header = self.header;
        let origin_id = match header.segment_origin_id() {
            b"" => header.record_id(),
            origin_id => origin_id,
        };
        sink(Event::Segment(Segment {
            locator: self.locator,
            origin_id,
            number: header.segment_number().unwrap_or(0),
            total_length: header.segment_total_length(),
            block_bytes: self.body.n_block(),
        }));
    }
}
