//! Members of which only the heads are decoded, and members that are decoded some at a time: they say the same as when they are
//! decoded whole, one after the other.

use std::ops::ControlFlow;

use crate::chunks::{generated, gzip, noise, record, records};
use crate::generated::generate::{Format, Health, Storage};
use crawl_dedupe::capture::{Event, FileId};
use crawl_dedupe::scan::warc::{DigestMode, Framing, Options, Reader, VisibleText};
use crawl_dedupe::source::{Compression, Decoder, Depth, Next, Piece, Walk};

const DECLARED: Options = Options {
    digests: DigestMode::Declared,
    text: VisibleText::Skip,
};

/// Every event, and how many bytes were decoded.
#[derive(Debug, Default)]
struct Log {
    events: Vec<String>,
    n_decoded: usize,
}

const VERIFY: Options = Options {
    digests: DigestMode::Verify,
    ..DECLARED
};

fn whole(stored: &[u8], options: Options) -> Log {
    let mut log = Log::default();
    let mut reader = Reader::new(FileId(0), Framing::Members, options);
    let mut take = |event: Event<'_>| log.events.push(format!("{event:?}"));
    let decoded = Decoder::default().pieces(&mut &stored[..], Compression::Gzip, |piece| {
        if let Piece::Bytes { bytes, .. } = piece {
            log.n_decoded += bytes.len();
        }
        reader.push(piece, &mut take);
        ControlFlow::Continue(())
    });
    decoded.expect("memory can be read");
    reader.finish(&mut take);
    log
}

/// As verified: payloads are begun side by side, where the processor is made for it.
fn ahead(stored: &[u8]) -> Vec<String> {
    let mut events = Vec::new();
    let mut reader = Reader::new(FileId(0), Framing::Members, VERIFY);
    let mut take = |event: Event<'_>| events.push(format!("{event:?}"));
    let start = Walk::starting_at(0);
    Decoder::default().members(stored, start, Depth::Ahead(u64::MAX), |piece| {
        reader.push(piece, &mut take);
        Next::Piece
    });
    reader.finish(&mut take);
    events
}

fn check_ahead(name: &str, stored: &[u8]) {
    let (one_by_one, ahead) = (whole(stored, VERIFY).events, ahead(stored));
    let first = ahead.iter().zip(&one_by_one).find(|(a, b)| a != b);
    assert!(ahead == one_by_one, "{name}: {first:#?}");
}

fn skimmed(stored: &[u8]) -> Log {
    let mut log = Log::default();
    let mut reader = Reader::new(FileId(0), Framing::Members, DECLARED);
    let mut take = |event: Event<'_>| log.events.push(format!("{event:?}"));
    let start = Walk::starting_at(0);
    Decoder::default().members(stored, start, Depth::Heads(b"WARC/"), |piece| {
        match piece {
            Piece::Bytes { bytes, .. } => log.n_decoded += bytes.len(),
            Piece::First { bytes, offset } => {
                log.n_decoded += bytes.len();
                return reader
                    .try_first(bytes, offset)
                    .map_or(Next::Piece, Next::Rest);
            }
            _ => {}
        }
        reader.push(piece, &mut take);
        Next::Piece
    });
    reader.finish(&mut take);
    log
}

/// Holds the events of heads against those of whole members; how many bytes both decode.
fn check(name: &str, stored: &[u8]) -> (usize, usize) {
    let (whole, skimmed) = (whole(stored, DECLARED), skimmed(stored));
    let first = skimmed
        .events
        .iter()
        .zip(&whole.events)
        .find(|(a, b)| a != b);
    assert!(skimmed.events == whole.events, "{name}: {first:#?}");
    (skimmed.n_decoded, whole.n_decoded)
}

fn members(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().flat_map(|record| gzip(record, 6)).collect()
}

#[test]
fn heads_of_sound_archives_say_all_that_declared_mode_tells() {
    let archive = generated(Health::Sound, Storage::Gzip, Format::Warc);
    let (n, n_whole) = check("generated", &archive);
    assert!(n < n_whole, "{n} of {n_whole} bytes were decoded");
    let large: Vec<_> = (0..20)
        .map(|index| record(index, "x/y", &noise(index, 90_000)))
        .collect();
    let (n, n_whole) = check("large", &members(&large));
    assert!(n < n_whole / 30, "{n} of {n_whole} bytes were decoded");
}

#[test]
fn payloads_that_are_begun_side_by_side_have_the_same_digests() {
    for health in [Health::Sound, Health::Damaged] {
        let archive = generated(health, Storage::Gzip, Format::Warc);
        check_ahead("generated", &archive);
    }
    let large: Vec<_> = (0..40)
        .map(|index| record(index, "x/y", &noise(index, 1_000 + index * 4_321)))
        .collect();
    check_ahead("large", &members(&large));
}

#[test]
fn a_payload_that_starts_elsewhere_than_it_seems_has_the_same_digest() {
    let response = |index: usize, http: &str, body: &[u8]| {
        let text = record(index, "x/y", body);
        let plain = b"HTTP/1.1 200 OK\r\nContent-Type: x/y\r\n\r\n";
        let at = memchr::memmem::find(&text, plain).expect("it has that head");
        let length = format!("Content-Length: {}\r\n\r\n", plain.len() + body.len());
        let lengthened = format!("Content-Length: {}\r\n\r\n", http.len() + body.len());
        let head = String::from_utf8(text[..at].to_vec()).expect("it is text");
        let head = head.replace(&length, &lengthened);
        [head.as_bytes(), http.as_bytes(), &text[at + plain.len()..]].concat()
    };
    let ok = "HTTP/1.1 200 OK\r\n\r\n";
    let chunks = |body: &[u8]| {
        let size = format!("{:x}\r\n", body.len());
        [size.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
    };
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut all = Vec::new();
    for index in 0..48 {
        let body = noise(index, 2_000 + index * 700);
        all.push(match index % 8 {
            0 => response(index, ok, &body),
            1 => response(index, &format!("HTTP/1.1 103 Early\r\n\r\n{ok}"), &body),
            2 => response(
                index,
                "HTTP/1.1 200 OK\nX: y\n\n",
                &[&body[..99], b"\r\n\r\n", &body].concat(),
            ),
            3 => response(index, chunked, &chunks(&body)),
            4 => response(index, chunked, &body),
            // A record that ends before its member does, and one that goes on in the next.
            5 => [response(index, ok, &body), response(90 + index, ok, &body)].concat(),
            6 => response(index, ok, &body)[..1_500].to_vec(),
            _ => response(index, ok, &[body, members(&records(3))].concat()),
        });
    }
    check_ahead("odd payloads", &members(&all));
    check_ahead(
        "odd payloads, whole records too long for their members",
        &members(&all[2..]),
    );
}

#[test]
fn heads_of_long_headers_say_the_same() {
    for n in [
        500, 1_900, 2_000, 2_040, 2_048, 5_000, 16_000, 17_000, 400_000,
    ] {
        let mime = format!("text/html\r\nSet-Cookie: {}", "x".repeat(n));
        let long = [
            record(1, &mime, &noise(n, 50_000)),
            record(2, "text/html", b"next"),
        ];
        check("long", &members(&long));
    }
}

#[test]
fn a_member_is_decoded_whole_where_its_length_proves_nothing() {
    let record_ = |body: &[u8]| record(1, "text/html", body);
    let body = noise(7, 9_000);
    let good = record_(&body);
    let cut = &good[..good.len() - 2];
    let longer = [&good[..], b"\r\n"].concat();
    let shorter = record_(&body[..8_000]);
    let lying = String::from_utf8(good.clone())
        .expect("it is text")
        .replace("Content-Length: 9", "Content-Length: 8");
    let two = [&good[..], &shorter].concat();
    for (name, odd) in [
        ("missing line end", cut),
        ("line end too many", &longer),
        ("length too small", lying.as_bytes()),
        ("two records", &two),
        ("no version", &good[1..]),
    ] {
        // All are as long as each other, so that one's length must not speak for another.
        for followers in [
            vec![odd.to_vec(); 3],
            vec![good.clone(), odd.to_vec()],
            records(9),
        ] {
            let mut all = vec![good.clone(), odd.to_vec()];
            all.extend(followers);
            check(name, &members(&all));
            let stored: Vec<u8> = all.iter().flat_map(|record| gzip(record, 0)).collect();
            check(name, &stored);
        }
    }
}

#[test]
fn an_archive_in_an_archive_is_passed_over() {
    let inner = members(&records(20));
    let outer: Vec<_> = (0..5).map(|index| record(index, "x/y", &inner)).collect();
    let stored: Vec<u8> = outer.iter().flat_map(|record| gzip(record, 0)).collect();
    check("stored", &stored);
    check("deflated", &members(&outer));
}

#[test]
fn a_cut_or_damaged_member_says_the_same_where_it_is_decoded() {
    let all = records(12);
    let sound = members(&all);
    for cut in [1, 7, 8, 9, 300, 2_000] {
        check("cut", &sound[..sound.len() - cut]);
    }
    check("padded", &[&sound[..], &[0; 99]].concat());
    check("garbage", &[&sound[..], b"garbage", &sound].concat());
}
