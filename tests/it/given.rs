//! Catalogs for tests, written as a list of captures.

use crawl_dedupe::capture::{
    Algorithm, Capture, Completeness, Digest, DigestStatus, FileId, Locator, Method, Payload,
    RecordType, RefersTo, Timestamp,
};
use crawl_dedupe::catalog::{Batch, Catalog, Keys, RowFlags, Target, methods};
use crawl_dedupe::key::{ComparisonKey, Kind};

pub(crate) const DAY: i64 = 24 * 60 * 60;

/// One capture of a test; every field as a word.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one field of an archive"
)]
pub(crate) struct Given {
    pub(crate) record_type: RecordType,
    pub(crate) url: String,
    /// As it is written in the input; empty for `url`.
    pub(crate) spelled: String,
    /// Seconds and nanoseconds; `None` for an unknown date.
    pub(crate) date: Option<(i64, u32)>,
    pub(crate) status: u16,
    pub(crate) to: Target,
    pub(crate) redirect_to: String,
    pub(crate) has_head: bool,
    /// Its input, and the offset of its record there; of an index line, the one it states.
    pub(crate) file: u32,
    pub(crate) offset: u64,
    /// Its ordinal there; by default its place in the list.
    pub(crate) ordinal: Option<usize>,
    pub(crate) stated_file: &'static str,
    pub(crate) is_hsts: bool,
    pub(crate) is_index_line: bool,
    pub(crate) is_out_of_scope: bool,
    pub(crate) method: &'static str,
    pub(crate) language: &'static str,
    pub(crate) id: String,
    /// Names of digests, empty for none; `empty` is that of nothing.
    pub(crate) declared: String,
    pub(crate) payload: String,
    pub(crate) decoded: String,
    pub(crate) text: Option<u64>,
    pub(crate) digest_status: DigestStatus,
    pub(crate) completeness: Completeness,
    pub(crate) refers_id: String,
    pub(crate) refers_url: String,
    pub(crate) refers_date: Option<(i64, u32)>,
}

/// A response `url` at `day` with `status` and a payload of its own.
pub(crate) fn response(url: &str, day: i64, status: u16) -> Given {
    Given {
        record_type: RecordType::Response,
        url: url.to_owned(),
        spelled: String::new(),
        date: Some((day * DAY, 0)),
        status,
        to: Target::None,
        redirect_to: String::new(),
        has_head: true,
        file: 0,
        offset: 0,
        ordinal: None,
        stated_file: "",
        is_hsts: false,
        is_index_line: false,
        is_out_of_scope: false,
        method: "GET",
        language: "",
        id: String::new(),
        declared: String::new(),
        payload: format!("{url} {status}"),
        decoded: String::new(),
        text: None,
        digest_status: DigestStatus::Absent,
        completeness: Completeness::Complete,
        refers_id: String::new(),
        refers_url: String::new(),
        refers_date: None,
    }
}

/// A redirect with `status` from `url` at `day` to `to`.
pub(crate) fn redirect(url: &str, day: i64, status: u16, to: &str) -> Given {
    Given {
        to: Target::Key(key(to)),
        redirect_to: to.to_owned(),
        ..response(url, day, status)
    }
}

/// A revisit without block, of `url` at `day`, that declares `digest`.
pub(crate) fn revisit(url: &str, day: i64, digest: &str) -> Given {
    Given {
        record_type: RecordType::Revisit,
        has_head: false,
        payload: digest.to_owned(),
        declared: digest.to_owned(),
        digest_status: DigestStatus::ByReference,
        ..response(url, day, 0)
    }
}

pub(crate) fn key(url: &str) -> ComparisonKey {
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

pub(crate) fn identity(name: &str) -> u128 {
    digest(name)
        .as_ref()
        .map_or(0, crawl_dedupe::digest::identity)
}

fn timestamp(date: Option<(i64, u32)>) -> Timestamp {
    date.map_or(Timestamp::UNKNOWN, |(seconds, nanos)| {
        Timestamp::new(seconds, nanos)
    })
}

/// Names of the inputs.
pub(crate) const FILES: [&str; 3] = ["folder/crawl.warc.gz", "crawl.cdx", "other.warc.gz"];

/// The catalog of `given`.
pub(crate) fn catalog(given: &[Given]) -> Catalog {
    let mut batch = Batch::default();
    for (place, one) in given.iter().enumerate() {
        let ordinal = one.ordinal.unwrap_or(place) as u64;
        let capture = Capture {
            locator: Locator {
                file: FileId(one.file),
                ordinal,
                offset: one.offset,
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
                text: one.text,
                decoded: digest(&one.decoded),
                decodes_to_nothing: false,
                is_undecodable: false,
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
            stated_file: one.stated_file.as_bytes(),
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
    let mut catalog = Catalog::new(FILES.map(|name| name.as_bytes().to_vec()).to_vec());
    catalog.append(batch);
    methods::resolve(&mut catalog, methods::Requests::default());
    catalog
}
