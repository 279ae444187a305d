//! Archives damaged at random: what is whole is read, what is not is named.

use crawl_dedupe::capture::{Completeness, DigestStatus, Event, FileId};
use crawl_dedupe::scan::warc::{DigestMode, Framing, Options, Reader, VisibleText};
use crawl_dedupe::source::{Compression, Decoder};

use proptest::prelude::*;
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::{ControlFlow, Range};

/// A stored byte, and which of which record it is.
type Byte = (u8, Option<(usize, usize)>);

/// What happens to an archive.
#[derive(Clone, Debug)]
enum Harm {
    Flip(prop::sample::Index, u8),
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
    Behead(prop::sample::Index),
    SwapBytes(prop::sample::Index, prop::sample::Index),
    SwapRecords(prop::sample::Index, prop::sample::Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 1..=255_u8).prop_map(|(at, bits)| Harm::Flip(at, bits)),
        (at(), 1..900_usize).prop_map(|(at, n)| Harm::Delete(at, n)),
        (at(), prop::collection::vec(any::<u8>(), 1..60))
            .prop_map(|(at, new)| Harm::Insert(at, new)),
        (at(), 1..900_usize).prop_map(|(at, n)| Harm::Repeat(at, n)),
        at().prop_map(Harm::Cut),
        at().prop_map(Harm::Behead),
        (at(), at()).prop_map(|(a, b)| Harm::SwapBytes(a, b)),
        (at(), at()).prop_map(|(a, b)| Harm::SwapRecords(a, b)),
    ]
}

/// The archive's records after their harm, byte by byte.
fn damage(records: &[Vec<u8>], harms: &[Harm]) -> Vec<Byte> {
    let mut records: Vec<Vec<Byte>> = records
        .iter()
        .enumerate()
        .map(|(index, bytes)| {
            let whole = bytes.iter().enumerate();
            whole.map(|(at, byte)| (*byte, Some((index, at)))).collect()
        })
        .collect();
    for harm in harms {
        if let Harm::SwapRecords(a, b) = harm {
            let n = records.len();
            records.swap(a.index(n), b.index(n));
        }
    }
    let mut bytes = records.concat();
    for harm in harms {
        let n = bytes.len();
        if n == 0 {
            return bytes;
        }
        let range = |at: &prop::sample::Index, len: &usize| {
            let start = at.index(n);
            start..(start + len).min(n)
        };
        match harm {
            Harm::Flip(at, bits) => {
                let byte = &mut bytes[at.index(n)];
                *byte = (byte.0 ^ bits, None);
            }
            Harm::Delete(at, len) => drop(bytes.drain(range(at, len))),
            Harm::Insert(at, new) => {
                let at = at.index(n);
                bytes.splice(at..at, new.iter().map(|byte| (*byte, None)));
            }
            Harm::Repeat(at, len) => {
                let copy = bytes[range(at, len)].to_vec();
                let at = at.index(n);
                bytes.splice(at..at, copy);
            }
            Harm::Cut(at) => bytes.truncate(at.index(n)),
            Harm::Behead(at) => drop(bytes.drain(..at.index(n) / 2)),
            Harm::SwapBytes(a, b) => bytes.swap(a.index(n), b.index(n)),
            Harm::SwapRecords(..) => {}
        }
    }
    bytes
}

/// Where records stand that no harm touched.
fn whole(bytes: &[Byte], records: &[Vec<u8>]) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for (start, byte) in bytes.iter().enumerate() {
        let Some((index, 0)) = byte.1 else { continue };
        let n = records[index].len();
        let is_whole = bytes.get(start..start + n).is_some_and(|bytes| {
            bytes
                .iter()
                .enumerate()
                .all(|(at, byte)| byte.1 == Some((index, at)))
        });
        if is_whole {
            found.insert(start as u64, index);
        }
    }
    found
}

/// A response with a declared digest; some bodies hold blank lines, version lines and NULs.
fn record(index: usize, body: &[u8]) -> Vec<u8> {
    let block = [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", body].concat();
    let digest = data_encoding::BASE32.encode(&Sha1::digest(body));
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{index}>\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nWARC-Target-URI: http://e.test/{index}\r\n\
         WARC-Payload-Digest: sha1:{digest}\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), &block, b"\r\n\r\n"].concat()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        prop::collection::vec(b'a'..=b'z', 0..2000),
        Just(b"line\r\n\r\nline\r\n\r\n\r\n\r\nline".to_vec()),
        Just(vec![0; 500]),
    ];
    prop::collection::vec(body, 1..8)
}

/// What a reader said.
#[derive(Default)]
struct Said {
    /// Offset and URI of captures that are whole and have the right digest.
    good: BTreeMap<u64, Vec<u8>>,
    /// Captures whose digest is wrong.
    bad: Vec<Range<u64>>,
    /// What is accounted for.
    ranges: Vec<Range<u64>>,
    /// Where a record starts that is no capture: it ends where the next thing starts.
    other: Option<u64>,
    n_records: u64,
    n_damages: usize,
}

impl Said {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Record { offset, .. } => {
                self.n_records += 1;
                self.end_other(*offset);
                self.other = Some(*offset);
            }
            Event::Capture(capture) => {
                self.other = None;
                let locator = capture.locator;
                let end = locator.offset + locator.length.unwrap_or(0);
                self.ranges.push(locator.offset..end);
                let is_good = capture.payload.status == DigestStatus::Ok
                    && capture.payload.completeness == Completeness::Complete;
                if capture.payload.status == DigestStatus::Mismatch {
                    self.bad.push(locator.offset..end);
                }
                if is_good {
                    self.good
                        .insert(locator.offset, capture.target_uri.to_vec());
                }
            }
            Event::MemberEnd { offset, length, .. } => self.ranges.push(*offset..offset + length),
            Event::Damage(damage) => {
                self.n_damages += 1;
                self.end_other(damage.offset);
                let end = damage.offset + damage.length.unwrap_or(0);
                self.ranges.push(damage.offset..end);
            }
            _ => {}
        }
    }

    fn end_other(&mut self, end: u64) {
        if let Some(start) = self.other.take() {
            self.ranges.push(start..end);
        }
    }
}

fn read(stored: &[u8], compression: Compression) -> Said {
    let options = Options {
        digests: DigestMode::Verify,
        text: VisibleText::Skip,
    };
    let mut said = Said::default();
    let mut reader = match compression {
        Compression::Plain => Reader::over_map(FileId(0), stored, options),
        _ => Reader::new(FileId(0), Framing::Members, options),
    };
    Decoder::default()
        .pieces(&mut &stored[..], compression, |piece| {
            reader.push(piece, &mut |event| said.take(&event));
            ControlFlow::Continue(())
        })
        .expect("bytes in memory can be read");
    reader.finish(&mut |event| said.take(&event));
    if compression == Compression::Plain {
        said.end_other(stored.len() as u64);
    }
    said
}

/// The first byte that neither a record nor a damage accounts for, and that is no line end or NUL.
fn unaccounted(stored: &[u8], mut ranges: Vec<Range<u64>>) -> Option<u64> {
    ranges.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in ranges
        .into_iter()
        .chain(std::iter::once(stored.len() as u64..stored.len() as u64))
    {
        for gap in at..range.start.max(at) {
            if !b"\r\n\0".contains(&stored[usize::try_from(gap).expect("a place in memory")]) {
                return Some(gap);
            }
        }
        at = at.max(range.end);
    }
    None
}

fn check(records: &[Vec<u8>], harms: &[Harm], compression: Compression) {
    let bytes = damage(records, harms);
    let stored: Vec<u8> = bytes.iter().map(|byte| byte.0).collect();
    let said = read(&stored, compression);
    for (offset, index) in whole(&bytes, records) {
        let uri = format!("http://e.test/{index}").into_bytes();
        // Behind a damaged header a length may lead, by chance, to the end of another record; the digest tells.
        if said
            .bad
            .iter()
            .any(|range| range.start < offset && range.contains(&offset))
        {
            continue;
        }
        let got = said.good.get(&offset);
        assert_eq!(
            got,
            Some(&uri),
            "record {index} at {offset} of {}",
            stored.escape_ascii()
        );
    }
    let gap = unaccounted(&stored, said.ranges);
    assert_eq!(gap, None, "not accounted for in {}", stored.escape_ascii());
    let is_harmless = bytes.len() == records.concat().len()
        && bytes.iter().all(|byte| byte.1.is_some())
        && whole(&bytes, records).len() == records.len();
    if is_harmless {
        assert_eq!((said.n_records, said.n_damages), (records.len() as u64, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_archives_lose_nothing_unnamed(
        bodies in bodies(),
        harms in prop::collection::vec(harm(), 0..4),
    ) {
        let records: Vec<_> = bodies.iter().enumerate().map(|(index, body)| record(index, body)).collect();
        check(&records, &harms, Compression::Plain);
    }

    #[test]
    fn gzip_archives_lose_nothing_unnamed(
        bodies in bodies(),
        harms in prop::collection::vec(harm(), 0..4),
    ) {
        let records: Vec<_> = bodies
            .iter()
            .enumerate()
            .map(|(index, body)| gzip(&record(index, body)))
            .collect();
        check(&records, &harms, Compression::Gzip);
    }
}
