//! Grouping at its extremes: one URL, all distinct, one content, and a crawl between them.
//!
//! `cargo bench --bench group -- 5000000` for another number of captures.
#![expect(
    clippy::print_stdout,
    reason = "a bench that shows nothing measures nothing"
)]

use crawl_dedupe::capture::{
    Algorithm, Capture, Completeness, Digest, DigestStatus, FileId, Locator, Method, Payload,
    RecordType, RefersTo, Timestamp,
};
use crawl_dedupe::catalog::{Batch, Catalog, Keys, RowFlags, Target};
use crawl_dedupe::group::{Ends, Groups, Site, Thresholds, Urls};
use crawl_dedupe::key::{ComparisonKey, Kind};
use std::time::Instant;

/// What captures share.
struct Shape {
    name: &'static str,
    /// Key and content of the nth of so many captures.
    of: fn(u64, u64) -> (u64, u64),
    url_groups: fn(u64) -> u64,
    content_groups: fn(u64) -> u64,
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "one key, all contents",
        of: |nth, _| (0, nth),
        url_groups: |_| 1,
        content_groups: |_| 0,
    },
    Shape {
        name: "one key, one content",
        of: |_, _| (0, 0),
        url_groups: |_| 1,
        content_groups: |_| 1,
    },
    Shape {
        name: "all distinct",
        of: |nth, _| (nth, nth),
        url_groups: |_| 0,
        content_groups: |_| 0,
    },
    Shape {
        name: "all keys, one content",
        of: |nth, _| (nth, 0),
        url_groups: |_| 0,
        content_groups: |_| 1,
    },
    Shape {
        name: "pairs of keys, pairs of contents",
        of: |nth, n| (nth % (n / 2), nth / 2),
        url_groups: |n| n / 2,
        content_groups: |n| n / 2,
    },
];

fn main() {
    let n_captures = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .map_or(100_000, |n: u64| n & !1);
    for shape in &SHAPES {
        let catalog = catalog_of(shape, n_captures);
        let thresholds = Thresholds::default();
        let start = Instant::now();
        let ends = Ends::of(&catalog, &thresholds);
        let followed = start.elapsed();
        let start = Instant::now();
        let urls = Urls {
            site: &|row| {
                let hash = ComparisonKey::of(catalog.target_uri(row)).key;
                Site {
                    domain: hash % 100,
                    host: hash % 1000,
                    form: hash,
                }
            },
            base_key: &|row| catalog.row(row).key,
        };
        let groups = Groups::of(&catalog, ends, &thresholds, &urls);
        let grouped = start.elapsed();
        let counts = groups.counts();
        assert_eq!(counts.url_groups, (shape.url_groups)(n_captures));
        assert_eq!(counts.content_groups, (shape.content_groups)(n_captures));
        let start = Instant::now();
        let n_words: usize = catalog
            .ids()
            .map(|row| groups.fate(&catalog, row).evidence.len())
            .sum();
        let told = start.elapsed();
        assert!(n_words <= catalog.len());
        #[expect(clippy::cast_precision_loss, reason = "a rate has three digits")]
        let rate = n_captures as f64 / (followed + grouped).as_secs_f64();
        println!(
            "{:34} {n_captures} captures: ends {followed:.2?}, groups {grouped:.2?}, fates {told:.2?}; {rate:.3e} captures/s",
            shape.name
        );
    }
}

fn catalog_of(shape: &Shape, n_captures: u64) -> Catalog {
    let mut batch = Batch::default();
    for nth in 0..n_captures {
        push(&mut batch, nth, (shape.of)(nth, n_captures));
    }
    let mut catalog = Catalog::new(vec![b"bench.warc.gz".to_vec()]);
    catalog.append(batch);
    catalog
}

fn push(batch: &mut Batch, nth: u64, (key, content): (u64, u64)) {
    let url = format!("http://www.example.org/{key:x}");
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&content.to_le_bytes());
    let digest = Digest::new(Algorithm::Sha1, &bytes);
    let second = i64::try_from(nth).unwrap_or_default();
    let keys = Keys {
        url: ComparisonKey::of(url.as_bytes()),
        kind: Kind::Http,
        flags: RowFlags::default(),
        target: Target::None,
        redirect_to: b"",
        refers_to: None,
    };
    let capture = Capture {
        locator: Locator {
            file: FileId(0),
            ordinal: nth,
            offset: nth * 1000,
            length: Some(1000),
        },
        record_type: RecordType::Response,
        target_uri: url.as_bytes(),
        record_id: &bytes,
        date: Timestamp::new(second, 0),
        method: Method::GET,
        status: Some(200),
        has_http_head: true,
        mime: b"text/html",
        language: b"",
        location: b"",
        is_hsts: false,
        payload: Payload {
            bytes: Some(5000),
            digest,
            body_hash: Some(u128::from(content) + 1),
            text: None,
            decoded: None,
            decodes_to_nothing: false,
            is_undecodable: false,
            declared_text: b"",
            declared: digest,
            status: DigestStatus::Ok,
            completeness: Completeness::Complete,
        },
        truncated: b"",
        refers_to: RefersTo::default(),
        profile: b"",
        shares_member: false,
        stated_file: b"",
        is_index_line: false,
    };
    batch.push(&capture, &keys);
}
