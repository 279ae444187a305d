//! What is made of a record's block.

use super::*;

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
fn passes_over_interim_heads() {
    for (interim, n_payload) in [
        ("HTTP/1.1 100 Continue\r\n\r\n", 4),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
            4,
        ),
        // A protocol is switched, and nothing is known of what follows.
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 23),
    ] {
        let block = [interim.as_bytes(), &http("200 OK", b"body")].concat();
        let text = record("response", &uri("a"), &block);
        plain_in_pieces(&text, &format!("r a:{n_payload}"));
    }
    for (body, n_payload) in [(&b""[..], 0), (b"HTT", 3), (b"no head", 7)] {
        let text = record("response", &uri("a"), &http("100 Continue", body));
        plain_in_pieces(&text, &format!("r a:{n_payload}"));
    }
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
