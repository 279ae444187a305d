//! Writes a planned capture as WARC records, with the request and the metadata that crawlers write beside it.

use std::io::Write as _;

use crawl_dedupe::capture::Timestamp;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::capture::{Capture, Coding, Declared, Framing, Kind, Original, Says, Wholeness};
use super::text::Press;

/// How the records are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Gzip,
    Plain,
}

/// The records of one capture.
#[derive(Debug)]
pub(crate) struct Records {
    /// As stored, one gzip member each; the first is the capture's.
    pub(crate) stored: Vec<Vec<u8>>,
    /// SHA-1 of the payload, in base32.
    pub(crate) digest: String,
}

/// The record that says what wrote the archive.
pub(crate) fn warcinfo(storage: Storage, name: &str) -> Vec<u8> {
    let mut record = Vec::new();
    let body = b"software: crawl-dedupe generate\r\nformat: WARC File Format 1.0\r\n";
    let _ = write!(
        record,
        "WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nWARC-Filename: {name}\r\nWARC-Record-ID: {}\r\nContent-Type: application/warc-fields\r\nContent-Length: {}\r\n\r\n",
        record_id(name, 0, "warcinfo"),
        body.len()
    );
    record.extend_from_slice(body);
    record.extend_from_slice(b"\r\n\r\n");
    store(storage, record)
}

/// The records of `capture`, as crawlers order them: response, request, metadata.
pub(crate) fn write(capture: &Capture, press: &Press, storage: Storage) -> Records {
    let content = press.print(capture.body);
    let mut payload = encode(&content, capture.coding);
    let whole_len = payload.len();
    if capture.wholeness == Wholeness::Truncated {
        payload.truncate(whole_len / 2);
    }
    let digest = data_encoding::BASE32.encode(&Sha1::digest(&payload));
    let mut records = match &capture.kind {
        Kind::Revisit(original) => vec![revisit(capture, original, &digest, whole_len)],
        Kind::Resource => vec![resource(capture, &payload)],
        Kind::Response => responses(capture, &payload, whole_len),
    };
    if capture.url.starts_with("http") && !matches!(capture.kind, Kind::Resource) {
        records.push(request(capture));
        records.push(metadata(capture));
    }
    Records {
        stored: records
            .into_iter()
            .map(|record| store(storage, record))
            .collect(),
        digest,
    }
}

/// A record id that is the same wherever the same record is meant.
fn record_id(url: &str, time: i64, part: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_128(format!("{part} {time} {url}").as_bytes());
    let hex = format!("{hash:032x}");
    format!(
        "<urn:uuid:{}-{}-4{}-8{}-{}>",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )
}

fn date(time: i64) -> String {
    let mut text = Vec::new();
    Timestamp::new(time, 0).write_rfc3339(&mut text);
    String::from_utf8(text).expect("a date is ASCII")
}

/// The start of a record's header.
fn head(record_type: &str, capture: &Capture) -> Vec<u8> {
    format!(
        "WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: {}\r\nWARC-Date: {}\r\nWARC-Record-ID: {}\r\n",
        capture.url,
        date(capture.time),
        record_id(&capture.url, capture.time, record_type)
    )
    .into_bytes()
}

fn finish(mut record: Vec<u8>, content_type: &str, block: &[&[u8]]) -> Vec<u8> {
    let len: usize = block.iter().map(|part| part.len()).sum();
    let _ = write!(
        record,
        "Content-Type: {content_type}\r\nContent-Length: {len}\r\n\r\n"
    );
    for part in block {
        record.extend_from_slice(part);
    }
    record.extend_from_slice(b"\r\n\r\n");
    record
}

fn responses(capture: &Capture, payload: &[u8], whole_len: usize) -> Vec<Vec<u8>> {
    let framed = match capture.framing {
        Framing::Length => payload.to_vec(),
        Framing::Chunked | Framing::ChunkedDigestOverRaw => chunked(payload),
    };
    let http = match capture.status {
        0 => Vec::new(),
        _ => http_head(capture, whole_len),
    };
    let content_type = match capture.status {
        0 => "text/dns",
        _ => "application/http; msgtype=response",
    };
    let mut record = head("response", capture);
    let half = framed.len() / 2;
    match capture.wholeness {
        Wholeness::Whole | Wholeness::Truncated => {
            declare(&mut record, capture, payload, &framed);
            if capture.wholeness == Wholeness::Truncated {
                record.extend_from_slice(b"WARC-Truncated: length\r\n");
            }
            vec![finish(record, content_type, &[&http, &framed])]
        }
        Wholeness::Segmented => {
            declare(&mut record, capture, payload, &framed);
            record.extend_from_slice(b"WARC-Segment-Number: 1\r\n");
            let first = finish(record, content_type, &[&http, &framed[..half]]);
            let mut rest = head("continuation", capture);
            let _ = write!(
                rest,
                "WARC-Segment-Origin-ID: {}\r\nWARC-Segment-Number: 2\r\nWARC-Segment-Total-Length: {}\r\n",
                record_id(&capture.url, capture.time, "response"),
                http.len() + framed.len()
            );
            vec![first, finish(rest, content_type, &[&framed[half..]])]
        }
    }
}

fn resource(capture: &Capture, payload: &[u8]) -> Vec<u8> {
    let mut record = head("resource", capture);
    declare(&mut record, capture, payload, payload);
    finish(record, "text/html", &[payload])
}

fn revisit(capture: &Capture, original: &Original, digest: &str, payload_len: usize) -> Vec<u8> {
    let mut record = head("revisit", capture);
    let profile = match original.says {
        Says::NotModified => "server-not-modified",
        _ => "identical-payload-digest",
    };
    let _ = write!(
        record,
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/{profile}\r\nWARC-Payload-Digest: sha1:{digest}\r\n"
    );
    match original.says {
        Says::RecordId => {
            let id = record_id(&original.url, original.time, "response");
            let _ = write!(record, "WARC-Refers-To: {id}\r\n");
        }
        Says::UriAndDate | Says::NotModified => {
            let _ = write!(
                record,
                "WARC-Refers-To-Target-URI: {}\r\nWARC-Refers-To-Date: {}\r\n",
                original.url,
                date(original.time)
            );
        }
        Says::Digest => {}
    }
    let http = http_head(capture, payload_len);
    finish(record, "application/http; msgtype=response", &[&http])
}

fn request(capture: &Capture) -> Vec<u8> {
    let mut record = head("request", capture);
    concur(&mut record, capture);
    let (host, path) = host_and_path(&capture.url);
    let body = capture.posted.as_deref().unwrap_or("");
    let method = if capture.posted.is_some() {
        "POST"
    } else {
        "GET"
    };
    let mut http = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: generate/1.0\r\nAccept: */*\r\n"
    );
    if capture.posted.is_some() {
        http.push_str("Content-Type: application/x-www-form-urlencoded\r\n");
        http.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    http.push_str("\r\n");
    finish(
        record,
        "application/http; msgtype=request",
        &[http.as_bytes(), body.as_bytes()],
    )
}

fn metadata(capture: &Capture) -> Vec<u8> {
    let mut record = head("metadata", capture);
    concur(&mut record, capture);
    let fields = format!(
        "fetchTimeMs: {}\r\ncharsetForLinkExtraction: UTF-8\r\n",
        20 + capture.url.len() * 7
    );
    finish(record, "application/warc-fields", &[fields.as_bytes()])
}

/// Says which record this one belongs to.
fn concur(record: &mut Vec<u8>, capture: &Capture) {
    let record_type = match capture.kind {
        Kind::Revisit(_) => "revisit",
        _ => "response",
    };
    let id = record_id(&capture.url, capture.time, record_type);
    let _ = write!(record, "WARC-Concurrent-To: {id}\r\n");
}

/// The host as a request names it, and the path with the query.
fn host_and_path(url: &str) -> (&str, String) {
    let rest = url.split_once(':').map_or("", |(_, rest)| rest);
    let rest = rest.trim_start_matches(['/', '\\']);
    let rest = rest.split('#').next().unwrap_or(rest);
    let (host, path) = rest.split_once(['/', '\\']).unwrap_or((rest, ""));
    (host, format!("/{path}"))
}

fn http_head(capture: &Capture, payload_len: usize) -> Vec<u8> {
    let reason = match capture.status {
        200 => "OK",
        301 => "Moved Permanently",
        304 => "Not Modified",
        404 => "Not Found",
        _ => "Found",
    };
    let mut head = format!(
        "HTTP/1.1 {} {reason}\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n",
        capture.status
    );
    let coding = match capture.coding {
        Coding::Identity => None,
        Coding::Gzip => Some("gzip"),
        Coding::Deflate => Some("deflate"),
        Coding::Brotli => Some("br"),
        Coding::Zstd => Some("zstd"),
    };
    if let Some(coding) = coding {
        head.push_str(&format!("Content-Encoding: {coding}\r\n"));
    }
    if let Some(location) = &capture.location {
        head.push_str(&format!("Location: {location}\r\n"));
    }
    match capture.framing {
        Framing::Length => head.push_str(&format!("Content-Length: {payload_len}\r\n")),
        Framing::Chunked | Framing::ChunkedDigestOverRaw => {
            head.push_str("Transfer-Encoding: chunked\r\n");
        }
    }
    head.push_str("Connection: close\r\n\r\n");
    head.into_bytes()
}

fn declare(record: &mut Vec<u8>, capture: &Capture, payload: &[u8], framed: &[u8]) {
    let digested = match capture.framing {
        Framing::ChunkedDigestOverRaw => framed,
        _ => payload,
    };
    let sha1 = Sha1::digest(digested);
    let text = match capture.declared {
        Declared::Sha1 => format!("sha1:{}", data_encoding::BASE32.encode(&sha1)),
        Declared::Sha1Hex => format!("sha1:{}", data_encoding::HEXLOWER.encode(&sha1)),
        Declared::Sha256 => {
            let sha256 = Sha256::digest(digested);
            format!("sha256:{}", data_encoding::HEXLOWER.encode(&sha256))
        }
        Declared::Wrong => {
            let other = Sha1::digest(b"another payload");
            format!("sha1:{}", data_encoding::BASE32.encode(&other))
        }
        Declared::Absent => return,
    };
    let _ = write!(record, "WARC-Payload-Digest: {text}\r\n");
}

fn chunked(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 64);
    for chunk in payload.chunks(8_000) {
        let _ = write!(out, "{:x}\r\n", chunk.len());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

fn encode(content: &[u8], coding: Coding) -> Vec<u8> {
    match coding {
        Coding::Identity => content.to_vec(),
        Coding::Gzip => gzip(content),
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
            encoder.write_all(content).expect("it writes to memory");
            encoder.finish().expect("it writes to memory")
        }
        Coding::Brotli => {
            let mut out = Vec::new();
            let params = brotli::enc::BrotliEncoderParams {
                quality: 4,
                ..Default::default()
            };
            let mut content = content;
            brotli::BrotliCompress(&mut content, &mut out, &params).expect("it writes to memory");
            out
        }
        Coding::Zstd => zstd::bulk::compress(content, 3).expect("it writes to memory"),
    }
}

/// One gzip member, without a time. zlib-rs gives the same bytes on every processor.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(content).expect("it writes to memory");
    encoder.finish().expect("it writes to memory")
}

fn store(storage: Storage, record: Vec<u8>) -> Vec<u8> {
    match storage {
        Storage::Gzip => gzip(&record),
        Storage::Plain => record,
    }
}
