//! The reader of WARC files, fed in pieces of all sizes.

mod damage;
mod payloads;

use super::*;
use crate::capture::{Completeness, DigestStatus};
use std::fmt::Write as _;
use std::io::Write as _;

/// A record with this header after its type, and this block.
fn record(record_type: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    lying(record_type, fields, &length.to_string(), block)
}

/// The same with a Content-Length of one's own.
fn lying(record_type: &str, fields: &str, length: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Record-ID: <urn:x>\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(name: &str, head: &str, body: &[u8]) -> Vec<u8> {
    record("response", &uri(name), &http(head, body))
}

fn uri(name: &str) -> String {
    format!("WARC-Target-URI: http://e.test/{name}\r\n")
}

fn http(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn member(text: &[u8], offset: u64, size: usize, reader: &mut Reader<'_>, log: &mut Log) {
    for bytes in text.chunks(size) {
        reader.push(Piece::Bytes { bytes, offset }, &mut |event| {
            log.take(&event);
        });
    }
    let length = 100;
    let end = Piece::MemberEnd { offset, length };
    reader.push(end, &mut |event| log.take(&event));
}

/// What happened, a word an event.
#[derive(Default)]
struct Log {
    text: String,
    warnings: Vec<&'static str>,
}

impl Log {
    fn take(&mut self, event: &Event<'_>) {
        let text = &mut self.text;
        match event {
            Event::Record { .. } => text.push_str("r "),
            Event::Capture(capture) => {
                let name = capture
                    .target_uri
                    .rsplit(|byte| *byte == b'/')
                    .next()
                    .unwrap();
                let payload = &capture.payload;
                write!(text, "{}", name.escape_ascii()).unwrap();
                if payload.completeness != Completeness::Complete {
                    write!(text, ":{:?}", payload.completeness).unwrap();
                }
                match payload.status {
                    DigestStatus::Absent => {}
                    status => write!(text, ":{status:?}").unwrap(),
                }
                if let Some(bytes) = payload.bytes {
                    write!(text, ":{bytes}").unwrap();
                }
                text.push(' ');
            }
            Event::ConcurrentTo(ids) => write!(text, "with[{}] ", ids.escape_ascii()).unwrap(),
            Event::Request(request) => {
                write!(text, "{} ", request.method.name.escape_ascii()).unwrap();
            }
            Event::Segment(segment) => write!(
                text,
                "segment[{} {} {:?} {}] ",
                segment.origin_id.escape_ascii(),
                segment.number,
                segment.total_length,
                segment.block_bytes
            )
            .unwrap(),
            Event::MemberEnd { n_records, .. } => write!(text, "end{n_records} ").unwrap(),
            Event::Damage(damage) => {
                let length = damage.length.map_or("?".to_owned(), |n| n.to_string());
                write!(text, "!{}+{length} ", damage.offset).unwrap();
            }
            Event::Warning(warning) => self.warnings.push(warning.code()),
            Event::Ignored => text.push_str("ignored "),
        }
    }
}

const VERIFY: Options = Options {
    digests: DigestMode::Verify,
    text: VisibleText::Skip,
};

/// Reads a plain file, mapped and as a stream in pieces of many sizes, and holds the words against `expected`.
fn plain(text: &[u8], expected: &str) -> Vec<&'static str> {
    let mapped = read_map(text);
    assert_eq!(mapped.text.trim_end(), expected);
    mapped.warnings
}

fn read_map(text: &[u8]) -> Log {
    let mut log = Log::default();
    let mut reader = Reader::over_map(FileId(0), text, VERIFY);
    reader.push(
        Piece::Bytes {
            bytes: text,
            offset: 0,
        },
        &mut |event| log.take(&event),
    );
    reader.finish(&mut |event| log.take(&event));
    log
}

fn read_stream(text: &[u8], size: usize) -> Log {
    let mut log = Log::default();
    let mut reader = Reader::new(FileId(0), Framing::Plain, VERIFY);
    let mut offset = 0;
    for bytes in text.chunks(size) {
        reader.push(Piece::Bytes { bytes, offset }, &mut |event| {
            log.take(&event);
        });
        offset += bytes.len() as u64;
    }
    reader.finish(&mut |event| log.take(&event));
    log
}

/// The same for texts that a stream must read like a map.
fn plain_in_pieces(text: &[u8], expected: &str) -> Vec<&'static str> {
    let warnings = plain(text, expected);
    for size in (1..text.len()).step_by(1 + text.len() / 97) {
        let log = read_stream(text, size);
        assert_eq!(log.text.trim_end(), expected, "in pieces of {size}");
        assert_eq!(log.warnings, warnings, "in pieces of {size}");
    }
    warnings
}

/// Reads members, in pieces of many sizes.
fn members(texts: &[&[u8]], expected: &str) -> Vec<&'static str> {
    let longest = texts.iter().map(|text| text.len()).max().unwrap();
    let mut warnings = Vec::new();
    for size in (16..=longest).step_by(1 + longest / 61).chain([longest]) {
        let mut log = Log::default();
        let mut reader = Reader::new(FileId(0), Framing::Members, VERIFY);
        for (index, text) in texts.iter().enumerate() {
            member(text, 100 * index as u64, size, &mut reader, &mut log);
        }
        reader.finish(&mut |event| log.take(&event));
        assert_eq!(log.text.trim_end(), expected, "in pieces of {size}");
        warnings = log.warnings;
    }
    warnings
}

#[test]
fn reads_records_one_after_the_other() {
    let a = response("a", "200 OK", b"body");
    let b = response("b", "200 OK", b"");
    let c = record("warcinfo", "", b"software: x");
    let all = [&c[..], &a, &b].concat();
    assert!(plain_in_pieces(&all, "r r a:4 r b:0").is_empty());
    assert!(members(&[&c, &a, &b], "r end1 r a:4 end1 r b:0 end1").is_empty());
    assert_eq!(members(&[&all], "r r a:4 r b:0 end3"), ["shared-member"]);
}

#[test]
fn reads_a_record_stored_as_several_members() {
    let a = response("a", "200 OK", b"body");
    let b = response("b", "200 OK", b"more");
    for cut in [60, a.len() - 30, a.len() - 9, a.len() - 4] {
        members(&[&a[..cut], &a[cut..], b"", &b], "r a:4 end1 r b:4 end1");
    }
}

#[test]
fn reads_bare_line_feeds_and_folded_headers() {
    let text = String::from_utf8(response("a", "200 OK", b"body")).unwrap();
    let text = text
        .replace('\r', "")
        .replace("Content-Length: 23", "content-LENGTH:\n  21");
    assert_eq!(plain_in_pieces(text.as_bytes(), "r a:4"), ["lf-lines"]);
}

#[test]
fn passes_over_blank_lines_and_nuls_between_records() {
    let a = response("a", "200 OK", b"body");
    let bare = &a[..a.len() - 4];
    for (between, warnings) in [
        (&b""[..], &["record-spacing"][..]),
        (b"\n", &["record-spacing"]),
        (b"\r\n", &["record-spacing"]),
        (b"\r\n\r\n", &[]),
        (b"\n\n", &[]),
        (b"\r\n\r\n\r\n\r\n", &["record-spacing"]),
        (b"\r\n\r\n\0", &["zero-padding"]),
    ] {
        let text = [bare, between, &a].concat();
        assert_eq!(
            plain_in_pieces(&text, "r a:4 r a:4"),
            warnings,
            "{}",
            between.escape_ascii()
        );
        let first = [bare, between].concat();
        assert_eq!(members(&[&first, &a], "r a:4 end1 r a:4 end1"), warnings);
    }
}
