//! Where captures lead: a table for every sentence of "The end of a capture".

use crawl_dedupe::capture::{
    Algorithm, Capture, Completeness, Digest, DigestStatus, FileId, Locator, Method, Payload,
    RecordType, RefersTo, Timestamp,
};
use crawl_dedupe::catalog::{Batch, Catalog, Keys, RowFlags, RowId, Target};
use crawl_dedupe::group::{Conflict, End, Ends, Evidence, Thresholds};
use crawl_dedupe::key::{ComparisonKey, Kind};

const DAY: i64 = 24 * 60 * 60;

/// One capture of a test; every field as a word.
#[derive(Clone, Debug)]
struct Given {
    record_type: RecordType,
    url: String,
    /// Seconds and nanoseconds; `None` for an unknown date.
    date: Option<(i64, u32)>,
    status: u16,
    to: Target,
    redirect_to: String,
    has_head: bool,
    is_hsts: bool,
    is_index_line: bool,
    is_out_of_scope: bool,
    method: &'static str,
    language: &'static str,
    id: String,
    /// Names of digests, empty for none; `empty` is that of nothing.
    declared: String,
    payload: String,
    decoded: String,
    digest_status: DigestStatus,
    completeness: Completeness,
    refers_id: String,
    refers_url: String,
    refers_date: Option<(i64, u32)>,
}

/// A response `url` at `day` with `status` and a payload of its own.
fn response(url: &str, day: i64, status: u16) -> Given {
    Given {
        record_type: RecordType::Response,
        url: url.to_owned(),
        date: Some((day * DAY, 0)),
        status,
        to: Target::None,
        redirect_to: String::new(),
        has_head: true,
        is_hsts: false,
        is_index_line: false,
        is_out_of_scope: false,
        method: "GET",
        language: "",
        id: String::new(),
        declared: String::new(),
        payload: format!("{url} {status}"),
        decoded: String::new(),
        digest_status: DigestStatus::Absent,
        completeness: Completeness::Complete,
        refers_id: String::new(),
        refers_url: String::new(),
        refers_date: None,
    }
}

/// A redirect with `status` from `url` at `day` to `to`.
fn redirect(url: &str, day: i64, status: u16, to: &str) -> Given {
    Given {
        to: Target::Key(key(to)),
        redirect_to: to.to_owned(),
        ..response(url, day, status)
    }
}

/// A revisit without block, of `url` at `day`, that declares `digest`.
fn revisit(url: &str, day: i64, digest: &str) -> Given {
    Given {
        record_type: RecordType::Revisit,
        has_head: false,
        payload: digest.to_owned(),
        declared: digest.to_owned(),
        digest_status: DigestStatus::ByReference,
        ..response(url, day, 0)
    }
}

fn key(url: &str) -> ComparisonKey {
    ComparisonKey::of(url.as_bytes())
}

fn digest(name: &str) -> Option<Digest> {
    let mut bytes = [0; 20];
    if name == "empty" {
        let sha1_of_nothing = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
        for (place, at) in bytes.iter_mut().zip((0..40).step_by(2)) {
            *place = u8::from_str_radix(&sha1_of_nothing[at..at + 2], 16).expect("hex");
        }
    } else {
        bytes[..16].copy_from_slice(&xxhash_rust::xxh3::xxh3_128(name.as_bytes()).to_le_bytes());
    }
    Digest::new(Algorithm::Sha1, &bytes).filter(|_| !name.is_empty())
}

fn identity(name: &str) -> u128 {
    digest(name)
        .as_ref()
        .map_or(0, crawl_dedupe::digest::identity)
}

fn timestamp(date: Option<(i64, u32)>) -> Timestamp {
    date.map_or(Timestamp::UNKNOWN, |(seconds, nanos)| {
        Timestamp::new(seconds, nanos)
    })
}

/// The catalog of `given`, all of one input.
fn catalog(given: &[Given]) -> Catalog {
    let mut batch = Batch::default();
    for (ordinal, one) in given.iter().enumerate() {
        let ordinal = ordinal as u64;
        let capture = Capture {
            locator: Locator {
                file: FileId(0),
                ordinal,
                offset: ordinal * 100,
                length: Some(100),
            },
            record_type: one.record_type,
            target_uri: one.url.as_bytes(),
            record_id: one.id.as_bytes(),
            date: timestamp(one.date),
            method: Method {
                name: one.method.as_bytes(),
                body_hash: 0,
            },
            status: Some(one.status).filter(|status| *status > 0),
            has_http_head: one.has_head,
            mime: b"text/html",
            language: one.language.as_bytes(),
            location: one.redirect_to.as_bytes(),
            is_hsts: one.is_hsts,
            payload: Payload {
                bytes: None,
                digest: digest(&one.payload),
                body_hash: None,
                decoded: digest(&one.decoded),
                decodes_to_nothing: false,
                declared_text: b"",
                declared: digest(&one.declared),
                status: one.digest_status,
                completeness: one.completeness,
            },
            truncated: b"",
            refers_to: RefersTo {
                record_id: one.refers_id.as_bytes(),
                target_uri: one.refers_url.as_bytes(),
                date: timestamp(one.refers_date),
            },
            profile: b"",
            shares_member: false,
            stated_file: b"",
            is_index_line: one.is_index_line,
        };
        let keys = Keys {
            url: key(&one.url),
            kind: Kind::Http,
            flags: RowFlags::default().with(RowFlags::OUT_OF_SCOPE, one.is_out_of_scope),
            target: one.to,
            redirect_to: one.redirect_to.as_bytes(),
            refers_to: (!one.refers_url.is_empty()).then(|| key(&one.refers_url)),
        };
        batch.push(&capture, &keys);
    }
    let mut catalog = Catalog::new(vec![b"folder/crawl.warc.gz".to_vec()]);
    catalog.append(batch);
    for (row, one) in given.iter().enumerate() {
        if one.method != "GET" {
            let text = format!("{} {}", one.method, one.url);
            catalog.set_method_key(RowId::from_index(row), key(&text));
        }
    }
    catalog
}

/// Where a row should lead: its hop, its end and its conflicts, as one line.
fn outcome(ends: &Ends, row: usize) -> String {
    let row = RowId::from_index(row);
    let mut line = match ends.hop(row) {
        None => "-".to_owned(),
        Some(hop) => {
            let kind = match hop.kind {
                Evidence::Revisit => "revisit",
                Evidence::Redirect => "redirect",
                Evidence::RedirectTemporary => "temporary",
                other => panic!("{other:?} is no pointer"),
            };
            format!("{kind} {}", hop.to.0)
        }
    };
    line += &match ends.end(row) {
        End::Itself => ", itself".to_owned(),
        End::Row(end) => format!(", end {}", end.0),
        End::Unfollowed(at) => format!(", not from {}", at.0),
        End::Loop => ", loop".to_owned(),
    };
    for conflict in ends.conflicts(row).iter() {
        line = line + " " + conflict.code();
    }
    line
}

fn check(given: &[Given], expected: &[&str]) {
    check_with(&Thresholds::default(), given, expected);
}

fn check_with(thresholds: &Thresholds, given: &[Given], expected: &[&str]) {
    let ends = Ends::of(&catalog(given), thresholds);
    let found: Vec<String> = (0..given.len()).map(|row| outcome(&ends, row)).collect();
    assert_eq!(found, expected);
}

#[test]
fn follows_a_chain_and_names_what_leaves_the_archive() {
    let given = [
        redirect("http://a/old", 1, 301, "http://a/start"),
        redirect("http://a/start", 1, 308, "https://a/"),
        response("https://a/", 1, 200),
        redirect("http://a/gone", 1, 301, "http://elsewhere/x"),
    ];
    check(
        &given,
        &[
            "redirect 1, end 2",
            "redirect 2, end 2",
            "-, itself",
            "-, not from 3 redirect-outside",
        ],
    );
}

#[test]
fn a_revisit_without_original_dangles() {
    let given = [
        response("http://a/1", 1, 200),
        Given {
            declared: "http://a/1 200".to_owned(),
            ..revisit("http://a/1", 2, "http://a/1 200")
        },
        revisit("http://a/2", 2, "other"),
    ];
    check(
        &given,
        &["-, itself", "revisit 0, end 0", "-, itself dangling"],
    );
}
