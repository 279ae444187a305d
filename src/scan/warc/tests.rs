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

#[test]
fn takes_the_member_end_for_true_where_a_length_lies() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"a body of some length");
    let n = i64::try_from(block.len()).unwrap();
    for length in [-5, -1, 1, 3, 5, 6, 1000] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        members(&[&a, &b], "r a:21 !0+? end1 r b:4 end1");
    }
    for length in ["", "-1", "x", "9223372036854775808"] {
        let a = lying("response", &uri("a"), length, &block);
        members(&[&a, &b], "r a:21 !0+? end1 r b:4 end1");
    }
}

#[test]
fn goes_on_at_the_next_record_where_a_length_lies() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"a body of some length");
    let n = i64::try_from(block.len()).unwrap();
    for length in [-5, -1] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        let lost = a.len();
        let bytes = 21 + length;
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:{bytes} !0+{lost} r b:4"),
        );
    }
    for length in [1, 3] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        let lost = a.len();
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:21 !0+{lost} r b:4"),
        );
    }
    for length in ["5", "-1", "x", "", "100", "9223372036854775808", "400"] {
        let length = length
            .parse()
            .map_or(length.to_owned(), |more: i64| match more {
                1..1000 => (n + more).to_string(),
                _ => length.to_owned(),
            });
        let a = lying("response", &uri("a"), &length, &block);
        let lost = a.len();
        plain(
            &[&a[..], &b, &b].concat(),
            &format!("r a:Cut:21 !0+{lost} r b:4 r b:4"),
        );
    }
}

#[test]
fn takes_nuls_at_the_end_of_a_block_for_a_part_of_it() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"body\0\0");
    for less in [1, 2] {
        let a = lying(
            "response",
            &uri("a"),
            &(block.len() - less).to_string(),
            &block,
        );
        members(&[&a, &b], "r a:6 !0+? end1 r b:4 end1");
        let lost = a.len();
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:6 !0+{lost} r b:4"),
        );
    }
}

#[test]
fn names_what_belongs_to_no_record() {
    let a = response("a", "200 OK", b"body");
    let n = a.len();
    plain_in_pieces(
        &[&a[..], b"garbage WARC/ \nWARC/1.x\r\n more\n", &a].concat(),
        &format!("r a:4 !{n}+31 r a:4"),
    );
    plain_in_pieces(&[&a[..], b"garbage"].concat(), &format!("r a:4 !{n}+7"));
    plain_in_pieces(&[b"garbage", &a[..]].concat(), "!0+7 r a:4");
    plain_in_pieces(&[&a[..], b"WA"].concat(), &format!("r a:4 !{n}+2"));
    // A header without a field of WARC's counts where it starts a line, wherever the pieces are cut.
    let bare = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    plain_in_pieces(&[&b"garbage\n"[..], bare].concat(), "!0+8 r");
    members(
        &[&a, b"garbage in a member", &a],
        "r a:4 end1 !100+? r a:4 end1",
    );
}

#[test]
fn a_block_without_length_ends_at_a_record_that_pieces_of_a_map_cut() {
    let bad = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: x\r\n\r\n";
    let text = [&bad[..], &bad[..]].concat();
    let n = bad.len();
    for size in n - 3..n + 20 {
        let mut log = Log::default();
        let mut reader = Reader::over_map(FileId(0), &text, VERIFY);
        for (index, bytes) in text.chunks(size).enumerate() {
            let offset = (index * size) as u64;
            reader.push(Piece::Bytes { bytes, offset }, &mut |event| {
                log.take(&event);
            });
        }
        reader.finish(&mut |event| log.take(&event));
        let expected = format!("r !0+{n} r !{n}+{n}");
        assert_eq!(log.text.trim_end(), expected, "in pieces of {size}");
    }
}

#[test]
fn marks_a_record_cut_where_the_input_ends() {
    let a = response("a", "200 OK", b"a body of some length");
    let n = a.len();
    for cut in [5, 20] {
        let bytes = 25 - cut;
        let expected = format!("r a:Cut:{bytes} !0+{}", n - cut);
        plain_in_pieces(&a[..n - cut], &expected);
    }
    plain_in_pieces(&a[..n - 60], &format!("r !0+{}", n - 60));
    assert_eq!(plain_in_pieces(&a[..n - 4], "r a:21"), ["record-spacing"]);
    plain_in_pieces(b"WARC/1.1\r\n", "r !0+10");
}

#[test]
fn finds_the_record_that_stands_where_another_was_cut() {
    let a = response("a", "200 OK", b"a body of some length");
    let b = response("b", "200 OK", b"more");
    for cut in 1..a.len() {
        let log = read_map(&[&a[..cut], &b].concat());
        assert!(log.text.ends_with("r b:4 "), "cut at {cut}: {}", log.text);
        assert!(
            log.text.contains('!') || cut + 4 >= a.len(),
            "cut at {cut}: {}",
            log.text
        );
    }
}

#[test]
fn cuts_the_record_in_which_bytes_were_lost() {
    let a = response("a", "200 OK", b"a body of some length");
    let mut log = Log::default();
    let mut reader = Reader::new(FileId(0), Framing::Members, VERIFY);
    for end in [a.len() - 10, a.len(), 30] {
        let bytes = &a[..end];
        reader.push(Piece::Bytes { bytes, offset: 0 }, &mut |event| {
            log.take(&event);
        });
        let lost = Piece::Lost {
            offset: 0,
            length: Some(50),
            what: "damaged",
        };
        reader.push(lost, &mut |event| log.take(&event));
    }
    reader.push(
        Piece::Bytes {
            bytes: &a,
            offset: 50,
        },
        &mut |event| log.take(&event),
    );
    reader.push(
        Piece::MemberEnd {
            offset: 50,
            length: 9,
        },
        &mut |event| log.take(&event),
    );
    reader.finish(&mut |event| log.take(&event));
    assert_eq!(
        log.text,
        "r a:Cut:15 !0+50 r a:Cut:21 !0+50 r !0+50 r a:21 end1 "
    );
}

#[test]
fn holds_digests_against_payloads() {
    const ABC: &str = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5";
    let digest = |text: &str| format!("{}WARC-Payload-Digest: {text}\r\n", uri("a"));
    let chunked = http(
        "200 OK\r\nTransfer-Encoding: chunked",
        b"3\r\nabc\r\n0\r\n\r\n",
    );
    let raw = "sha1:EZMCEYKLYMOWXPIGFLXFT3WW62PQVRQP";
    let bare = http("200 OK\r\nTransfer-Encoding: chunked", b"abc");
    let identity = http("200 OK", b"abc");
    for (block, declared, expected, warnings) in [
        (&identity, ABC, "a:Ok:3", &[][..]),
        (
            &identity,
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "a:Ok:3",
            &[],
        ),
        (
            &identity,
            "md5:900150983cd24fb0d6963f7d28e17f72",
            "a:Ok:3",
            &[],
        ),
        (&identity, "", "a:3", &[]),
        (
            &identity,
            "monkeys:x",
            "a:Uncheckable:3",
            &["digest-uncheckable"],
        ),
        (&identity, raw, "a:Mismatch:3", &["digest-mismatch"]),
        (&chunked, ABC, "a:Ok:3", &[]),
        (&chunked, raw, "a:OkOverRawBody:3", &[]),
        (&bare, ABC, "a:Ok:3", &["bad-chunks"]),
    ] {
        let text = record("response", &digest(declared), block);
        assert_eq!(
            plain_in_pieces(&text, &format!("r {expected}")),
            warnings,
            "{declared}"
        );
    }
    let revisit = record("revisit", &digest(ABC), &http("200 OK", b""));
    plain_in_pieces(&revisit, "r a:ByReference");
    let truncated = digest(raw) + "WARC-Truncated: length\r\n";
    let text = record("response", &truncated, &identity);
    let warnings = plain_in_pieces(&text, "r a:Truncated:Uncheckable:3");
    assert_eq!(warnings, ["truncated", "digest-uncheckable"]);
    let dns = format!("WARC-Target-URI: dns:/a\r\nWARC-Payload-Digest: {raw}\r\n");
    plain_in_pieces(&record("response", &dns, b"abc"), "r a:Uncheckable:3");
}

#[test]
fn emits_requests_that_are_no_get_concurrents_and_segments() {
    let fields = uri("a") + "WARC-Concurrent-To: <urn:1>\r\nWARC-Concurrent-To: <urn:2>\r\n";
    let post = record(
        "request",
        &fields,
        b"POST /a HTTP/1.1\r\nHost: e.test\r\n\r\nq=1",
    );
    let get = record(
        "request",
        &fields,
        b"GET /a HTTP/1.1\r\nHost: e.test\r\n\r\n",
    );
    let answer = record("response", &fields, &http("200 OK", b"x"));
    plain_in_pieces(
        &[post, get, answer].concat(),
        "r POST r r a:1 with[urn:1 urn:2]",
    );
    let first = record(
        "response",
        &(uri("a") + "WARC-Segment-Number: 1\r\n"),
        &http("200 OK", b"x"),
    );
    let last = "WARC-Segment-Number: 2\r\nWARC-Segment-Origin-ID: <urn:x>\r\n\
                WARC-Segment-Total-Length: 22\r\n";
    let last = record("continuation", &(uri("a") + last), b"yz");
    plain_in_pieces(
        &[first, last].concat(),
        "r a:Segment:1 segment[urn:x 1 None 20] r segment[urn:x 2 Some(22) 2]",
    );
}

#[test]
fn takes_a_block_that_is_no_http_whole() {
    for (block, bytes) in [
        (&b"<html>"[..], 6),
        (b"HTT", 3),
        (b"", 0),
        (b"HTTP/1.1 200 OK", 0),
    ] {
        plain_in_pieces(
            &record("response", &uri("a"), block),
            &format!("r a:{bytes}"),
        );
    }
}

#[test]
fn decodes_content_codings() {
    let head = "200 OK\r\nContent-Encoding: gzip";
    let text = [
        response("a", head, &gzip(b"abc")),
        response("b", "200 OK", b"abc"),
    ]
    .concat();
    let mut seen = Vec::new();
    let mut reader = Reader::over_map(FileId(0), &text, VERIFY);
    reader.push(
        Piece::Bytes {
            bytes: &text,
            offset: 0,
        },
        &mut |event| {
            if let Event::Capture(capture) = event {
                seen.push((capture.payload.digest, capture.payload.decoded));
            }
        },
    );
    reader.finish(&mut |_| {});
    // The second record is told of when the input ends.
    assert_eq!(seen.len(), 1);
    let abc = crate::digest::parse_declared(b"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    assert_eq!(seen[0].1, abc);
    let broken = response("a", head, b"no gzip");
    assert_eq!(plain_in_pieces(&broken, "r a:7"), ["undecodable-body"]);
}

#[test]
fn reads_nothing_of_bodies_in_declared_mode() {
    let digest = "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n";
    let text = record("response", &(uri("a") + digest), &http("200 OK", b"abcd"));
    let options = Options {
        digests: DigestMode::Declared,
        text: VisibleText::Hash,
    };
    let mut log = Log::default();
    let mut reader = Reader::over_map(FileId(0), &text, options);
    reader.push(
        Piece::Bytes {
            bytes: &text,
            offset: 0,
        },
        &mut |event| {
            if let Event::Capture(capture) = &event {
                assert_eq!(capture.payload.digest, capture.payload.declared);
                assert_eq!(capture.payload.body_hash, None);
                assert_eq!(capture.payload.text, None);
            }
            log.take(&event);
        },
    );
    reader.finish(&mut |event| log.take(&event));
    assert_eq!(log.text, "r a:Unchecked:4 ");
}

/// Hashes of visible text, a capture each; pieces of any size must give the same.
fn texts(stored: &[u8], digests: DigestMode) -> Vec<Option<u64>> {
    let options = Options {
        digests,
        text: VisibleText::Hash,
    };
    let mut found: Vec<Vec<Option<u64>>> = Vec::new();
    for size in [1, 7, stored.len()] {
        let mut texts = Vec::new();
        let mut reader = Reader::new(FileId(0), Framing::Plain, options);
        let mut take = |event: Event<'_>| {
            if let Event::Capture(capture) = event {
                texts.push(capture.payload.text);
            }
        };
        for (index, bytes) in stored.chunks(size).enumerate() {
            let offset = (index * size) as u64;
            reader.push(Piece::Bytes { bytes, offset }, &mut take);
        }
        reader.finish(&mut take);
        found.push(texts);
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    found.remove(0)
}

#[test]
fn hashes_the_text_of_whole_pages_behind_all_codings() {
    let page = b"<p>at 12:30</p>";
    let chunked = [&b"6\r\n<p>at \r\n9\r\n"[..], b"12:30</p>", b"\r\n0\r\n\r\n"].concat();
    let zipped = gzip(page);
    let zipped_chunks = [
        format!("{:x}\r\n", zipped.len()).as_bytes(),
        &zipped,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    let expected = Some(xxhash_rust::xxh3::xxh3_64(b"at :"));
    let html = "200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
    let of = |fields: &str, body: &[u8]| response("a", &format!("{html}{fields}X: y"), body);
    let resource = uri("a") + "Content-Type: text/html\r\n";
    let truncated = uri("a") + "WARC-Truncated: length\r\n";
    let css = "200 OK\r\nContent-Type: text/css";
    for (stored, expected) in [
        (of("", page), expected),
        (of("Transfer-Encoding: chunked\r\n", &chunked), expected),
        // The crawler took the chunks away.
        (of("Transfer-Encoding: chunked\r\n", page), expected),
        (of("Content-Encoding: gzip\r\n", &zipped), expected),
        (
            of(
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                &zipped_chunks,
            ),
            expected,
        ),
        (record("resource", &resource, page), expected),
        (record("response", &resource, page), expected),
        (of("Content-Encoding: gzip\r\n", page), None),
        (of("Content-Encoding: own\r\n", page), None),
        (of("", b"<p> 12 </p>"), None),
        (response("a", css, page), None),
        (
            record("response", &truncated, &http(html.trim_end(), page)),
            None,
        ),
        (
            record("revisit", &uri("a"), &http(html.trim_end(), b"")),
            None,
        ),
    ] {
        // What one page leaves must not matter to the next.
        let twice = [stored.clone(), of("", b"<script>x"), stored].concat();
        assert_eq!(
            texts(&twice, DigestMode::Verify),
            [expected, None, expected],
            "{}",
            twice.escape_ascii()
        );
        assert_eq!(texts(&twice, DigestMode::Content)[0], expected);
        assert_eq!(texts(&twice, DigestMode::Declared)[0], None);
    }
}
