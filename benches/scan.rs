//! Reading WARC archives: `source` and `scan` together, against the bare loops that bound them.
//!
//! Bytes per second are those of the archive as stored.

#![expect(
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that shows nothing measures nothing; its macro writes no docs"
)]

use std::hint::black_box;
use std::io::Write as _;
use std::ops::ControlFlow;

use crawl_dedupe::capture::{DigestStatus, Event, FileId};
use crawl_dedupe::scan::warc::{DigestMode, Framing, Options, Reader, VisibleText};
use crawl_dedupe::scan::{cdx, cdxj};
use crawl_dedupe::source::{Compression, Decoder, Piece};

use criterion::{Criterion, Throughput};
use sha1::{Digest as _, Sha1};

const CAPTURES: usize = 400;

/// Text that compresses like a page, about 4 to 1: words of a skewed vocabulary.
fn page(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 * 0x9e37_79b9 + 1;
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let word = (state >> 33) % 4096;
        let word = word * word / 4096;
        write!(text, "<p>w{word:x} ").expect("memory takes it");
    }
    text.truncate(len);
    text
}

fn record(record_type: &str, index: usize, fields: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Record-ID: <urn:uuid:{index:032x}>\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Target-URI: http://www.example.com/page/{index}?id=1\r\n\
         Content-Type: application/http; msgtype={record_type}\r\n{fields}Content-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// The records of an archive: a request, a response and metadata for each capture.
fn records() -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    for index in 0..CAPTURES {
        let body = page(index, 4000 + index * index % 60_000);
        let digest = data_encoding::BASE32.encode(&Sha1::digest(&body));
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: Apache\r\n\r\n";
        let digest = format!("WARC-Payload-Digest: sha1:{digest}\r\n");
        let request = b"GET /page HTTP/1.1\r\nHost: www.example.com\r\nAccept: */*\r\n\r\n";
        records.push(record("request", index, "", request));
        records.push(record(
            "response",
            index,
            &digest,
            &[&head[..], &body].concat(),
        ));
        records.push(record("metadata", index, "", b"fetchTimeMs: 210"));
    }
    records
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Captures read, and how many of them had the right digest.
fn read(stored: &[u8], compression: Compression, digests: DigestMode) -> (usize, usize) {
    let options = Options {
        digests,
        text: VisibleText::Skip,
    };
    let mut reader = match compression {
        Compression::Plain => Reader::over_map(FileId(0), stored, options),
        _ => Reader::new(FileId(0), Framing::Members, options),
    };
    let (mut n, mut n_ok) = (0, 0);
    let mut take = |event: Event<'_>| {
        if let Event::Capture(capture) = event {
            n += 1;
            n_ok += usize::from(capture.payload.status == DigestStatus::Ok);
        }
    };
    Decoder::default()
        .pieces(&mut &stored[..], compression, |piece| {
            reader.push(piece, &mut take);
            ControlFlow::Continue(())
        })
        .expect("memory can be read");
    reader.finish(&mut take);
    (n, n_ok)
}

/// Inflating alone, and with SHA-1 over all that comes out.
fn bare(stored: &[u8], mut take: impl FnMut(&[u8])) -> u64 {
    let mut n = 0;
    Decoder::default()
        .pieces(&mut &stored[..], Compression::Gzip, |piece| {
            if let Piece::Bytes { bytes, .. } = piece {
                n += bytes.len() as u64;
                take(bytes);
            }
            ControlFlow::Continue(())
        })
        .expect("memory can be read");
    n
}

fn scan(criterion: &mut Criterion) {
    let records = records();
    let plain = records.concat();
    let stored: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    println!(
        "{CAPTURES} captures, {} records, {} bytes of gzip, ratio {}",
        records.len(),
        stored.len(),
        plain.len() / stored.len()
    );
    let mut group = criterion.benchmark_group("scan/warc.gz");
    group.throughput(Throughput::Bytes(stored.len() as u64));
    assert_eq!(bare(&stored, |_| {}), plain.len() as u64);
    group.bench_function("bare inflate", |bencher| {
        bencher.iter(|| {
            bare(&stored, |bytes| {
                black_box(bytes);
            })
        });
    });
    group.bench_function("bare inflate and SHA-1", |bencher| {
        bencher.iter(|| {
            bare(&stored, |bytes| {
                black_box(Sha1::digest(bytes));
            })
        });
    });
    for (name, digests, n_ok) in [
        ("verify", DigestMode::Verify, CAPTURES),
        ("content", DigestMode::Content, 0),
        ("declared", DigestMode::Declared, 0),
    ] {
        assert_eq!(read(&stored, Compression::Gzip, digests), (CAPTURES, n_ok));
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(&stored, Compression::Gzip, digests));
        });
    }
    group.finish();
    scan_plain(criterion, &plain);
    scan_lines(criterion);
}

fn scan_plain(criterion: &mut Criterion, plain: &[u8]) {
    let mut group = criterion.benchmark_group("scan/warc");
    group.throughput(Throughput::Bytes(plain.len() as u64));
    for (name, digests, n_ok) in [
        ("verify", DigestMode::Verify, CAPTURES),
        ("content", DigestMode::Content, 0),
        ("declared", DigestMode::Declared, 0),
    ] {
        assert_eq!(read(plain, Compression::Plain, digests), (CAPTURES, n_ok));
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(plain, Compression::Plain, digests));
        });
    }
    group.finish();
}

/// Captures among the lines of an index, which is one piece.
fn count_lines(text: &[u8], push: impl Fn(Piece<'_>, &mut dyn FnMut(Event<'_>))) -> usize {
    let piece = Piece::Bytes {
        bytes: text,
        offset: 0,
    };
    let mut n = 0;
    push(piece, &mut |event| {
        n += usize::from(matches!(event, Event::Capture(_)));
    });
    n
}

/// Lines of both kinds of index, as crawls have them.
fn scan_lines(criterion: &mut Criterion) {
    const N_LINES: usize = 100_000;
    let (mut cdx, mut cdxj) = (Vec::from(" CDX N b a m s k r M S V g\n"), Vec::new());
    for index in 0..N_LINES {
        let digest = data_encoding::BASE32.encode(&Sha1::digest(index.to_le_bytes()));
        let url = format!(
            "www.example.com/section/page-{index}.html?id={}",
            index % 97
        );
        writeln!(
            cdx,
            "com,example)/section/page-{index}.html?id={} 20240501120000 https://{url} text/html 200 {digest} - - 5120 {} crawl-00001.warc.gz",
            index % 97,
            index * 6_000
        )
        .expect("memory takes it");
        writeln!(
            cdxj,
            "com,example)/section/page-{index}.html 20240501120000 {{\"url\": \"https://{url}\", \"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"{digest}\", \"length\": \"5120\", \"offset\": \"{}\", \"filename\": \"crawl-00001.warc.gz\"}}",
            index * 6_000
        )
        .expect("memory takes it");
    }
    let read_cdx = || {
        count_lines(&cdx, |piece, mut sink| {
            cdx::Reader::new(FileId(0)).push(piece, &mut sink);
        })
    };
    let read_cdxj = || {
        count_lines(&cdxj, |piece, mut sink| {
            cdxj::Reader::new(FileId(0)).push(piece, &mut sink);
        })
    };
    assert_eq!((read_cdx(), read_cdxj()), (N_LINES, N_LINES));
    let mut group = criterion.benchmark_group("scan/lines");
    group.throughput(Throughput::Bytes(cdx.len() as u64));
    group.bench_function("CDX", |bencher| bencher.iter(read_cdx));
    group.throughput(Throughput::Bytes(cdxj.len() as u64));
    group.bench_function("CDXJ", |bencher| bencher.iter(read_cdxj));
    group.finish();
}

criterion::criterion_group!(benches, scan);
criterion::criterion_main!(benches);
