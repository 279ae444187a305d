//! Captures made for tests, and the catalog of them.

use crawl_dedupe::capture::{
    Algorithm, Capture, Completeness, Digest, DigestStatus, FileId, Locator, Method, Payload,
    RecordType, RefersTo, Timestamp,
};
use crawl_dedupe::catalog::{Batch, Catalog, Keys, RowFlags, RowId, Target};
use crawl_dedupe::group::{Ends, Groups, Site, Thresholds, Urls};
use crawl_dedupe::key::{ComparisonKey, Kind};

/// A day, in seconds.
pub(super) const DAY: i64 = 86_400;

/// One capture; the default is a complete 200 of a page with content.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of a record, each named where it is set"
)]
pub(super) struct Made {
    pub(super) file: u32,
    /// `KEY` or `KEY#SPELLING`: spellings of one key, which only a bet makes equal if they start with `~`.
    pub(super) url: String,
    pub(super) method: &'static str,
    pub(super) record_type: RecordType,
    pub(super) record_id: String,
    pub(super) status: Option<u16>,
    pub(super) has_http_head: bool,
    /// In days; `None` is unknown.
    pub(super) date: Option<i64>,
    pub(super) payload: Stored,
    /// What it decodes to.
    pub(super) decoded: Option<u8>,
    pub(super) decodes_to_nothing: bool,
    pub(super) completeness: Completeness,
    pub(super) digest_status: DigestStatus,
    /// Key of the redirect's target.
    pub(super) location: Option<String>,
    pub(super) refers_id: String,
    pub(super) refers_uri: String,
    pub(super) refers_date: Option<i64>,
    pub(super) length: u64,
    pub(super) shares_member: bool,
    pub(super) is_index_line: bool,
    pub(super) in_scope: bool,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// This content, read.
    Read(u8),
    /// Another body with the same SHA-1.
    Forged(u8),
    /// Only its digest is known.
    Declared(u8),
    /// No bytes.
    Nothing,
    /// No digest.
    Unknown,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            file: 0,
            url: "a".into(),
            method: "GET",
            record_type: RecordType::Response,
            record_id: String::new(),
            status: Some(200),
            has_http_head: true,
            date: Some(0),
            payload: Stored::Read(1),
            decoded: None,
            decodes_to_nothing: false,
            completeness: Completeness::Complete,
            digest_status: DigestStatus::Ok,
            location: None,
            refers_id: String::new(),
            refers_uri: String::new(),
            refers_date: None,
            length: 100,
            shares_member: false,
            is_index_line: false,
            in_scope: true,
        }
    }
}

impl Made {
    /// A page of a URL with a content.
    pub(super) fn page(url: &str, content: u8) -> Self {
        Self {
            url: url.into(),
            payload: Stored::Read(content),
            ..Self::default()
        }
    }

    /// A permanent redirect with an empty body.
    pub(super) fn redirect(url: &str, status: u16, location: &str) -> Self {
        Self {
            url: url.into(),
            status: Some(status),
            payload: Stored::Nothing,
            location: Some(location.into()),
            ..Self::default()
        }
    }

    /// A revisit without HTTP head of the record with this id.
    pub(super) fn revisit(url: &str, refers_id: &str) -> Self {
        Self {
            url: url.into(),
            record_type: RecordType::Revisit,
            status: None,
            has_http_head: false,
            payload: Stored::Unknown,
            digest_status: DigestStatus::ByReference,
            refers_id: refers_id.into(),
            ..Self::default()
        }
    }

    pub(super) fn on_day(self, day: i64) -> Self {
        Self {
            date: Some(day),
            ..self
        }
    }

    pub(super) fn with_id(self, record_id: &str) -> Self {
        Self {
            record_id: record_id.into(),
            ..self
        }
    }

    pub(super) fn with_status(self, status: u16) -> Self {
        Self {
            status: Some(status),
            has_http_head: true,
            ..self
        }
    }

    pub(super) fn with_decoded(self, content: u8) -> Self {
        Self {
            decoded: Some(content),
            ..self
        }
    }

    pub(super) fn incomplete(self) -> Self {
        Self {
            completeness: Completeness::Truncated,
            ..self
        }
    }

    fn push(&self, batch: &mut Batch, ordinal: u64) {
        let payload = self.payload();
        let keys = Keys {
            url: key_of(&self.url),
            kind: Kind::Http,
            flags: RowFlags::default().with(RowFlags::OUT_OF_SCOPE, !self.in_scope),
            target: match self.location.as_deref() {
                None => Target::None,
                Some("mailto") => Target::NotHttp,
                Some(location) => Target::Key(key_of(location)),
            },
            redirect_to: self.location.as_deref().unwrap_or_default().as_bytes(),
            refers_to: (!self.refers_uri.is_empty()).then(|| key_of(&self.refers_uri)),
        };
        let capture = Capture {
            locator: Locator {
                file: FileId(self.file),
                ordinal,
                offset: ordinal * 1000,
                length: Some(self.length).filter(|length| *length > 0),
            },
            record_type: self.record_type,
            target_uri: self.url.as_bytes(),
            record_id: self.record_id.as_bytes(),
            date: date_of(self.date),
            method: Method {
                name: self.method.as_bytes(),
                body_hash: 0,
            },
            status: self.status,
            has_http_head: self.has_http_head,
            mime: b"",
            language: b"",
            location: keys.redirect_to,
            is_hsts: false,
            payload,
            truncated: b"",
            refers_to: RefersTo {
                record_id: self.refers_id.as_bytes(),
                target_uri: self.refers_uri.as_bytes(),
                date: date_of(self.refers_date),
            },
            profile: b"",
            shares_member: self.shares_member,
            stated_file: b"",
            is_index_line: self.is_index_line,
        };
        batch.push(&capture, &keys);
    }

    fn payload(&self) -> Payload<'static> {
        let (content, body) = match self.payload {
            Stored::Read(content) => (Some(content), Some(u128::from(content) + 1)),
            Stored::Forged(content) => (Some(content), Some(u128::from(content) + 1000)),
            Stored::Declared(content) => (Some(content), None),
            Stored::Nothing | Stored::Unknown => (None, None),
        };
        let is_revisit = self.record_type == RecordType::Revisit;
        let digest = content.map(digest_of);
        Payload {
            bytes: match self.payload {
                Stored::Nothing => Some(0),
                Stored::Read(_) | Stored::Forged(_) => Some(10),
                Stored::Declared(_) | Stored::Unknown => None,
            },
            digest,
            body_hash: body.filter(|_| !is_revisit),
            text: None,
            decoded: self.decoded.map(digest_of),
            decodes_to_nothing: self.decodes_to_nothing,
            is_undecodable: false,
            declared_text: b"",
            declared: digest,
            status: self.digest_status,
            completeness: self.completeness,
        }
    }
}

fn digest_of(content: u8) -> Digest {
    Digest::new(Algorithm::Sha1, &[content; 20]).expect("a digest of 20 bytes")
}

fn date_of(days: Option<i64>) -> Timestamp {
    days.map_or(Timestamp::UNKNOWN, |days| Timestamp::new(days * DAY, 0))
}

fn text(url: &[u8]) -> &str {
    std::str::from_utf8(url).expect("made URLs are text")
}

/// The key of a URL: all of it before `#`.
pub(super) fn key_of(url: &str) -> ComparisonKey {
    ComparisonKey::of(url.split('#').next().unwrap_or(url).as_bytes())
}

/// The key without bets: a spelling with `~` is another URL.
pub(super) fn base_key_of(url: &[u8]) -> ComparisonKey {
    let url = text(url);
    match url.split_once("#~") {
        Some(_) => ComparisonKey::of(url.as_bytes()),
        None => key_of(url),
    }
}

/// `DOMAIN.HOST/FORM?TRACKING`; one that is not so written is of one host, and its own form.
pub(super) fn site_of(url: &[u8]) -> Site {
    let url = text(url);
    let key = url.split('#').next().unwrap_or(url);
    let (host, form) = key.split_once('/').unwrap_or(("x.x", key));
    let domain = host.split('.').next().unwrap_or(host);
    let hash = |text: &str| ComparisonKey::of(text.as_bytes()).key;
    Site {
        domain: hash(domain),
        host: hash(host),
        form: hash(form.split('?').next().unwrap_or(form)),
    }
}

/// Files of the inputs: two of one base name.
pub(super) const FILES: [&str; 3] = ["one/x.warc.gz", "two/x.warc.gz", "y.warc.gz"];

/// The catalog of `made`; sorted by file, as reading gives it.
pub(super) fn catalog_of(made: &[Made]) -> Catalog {
    catalog_in(FILES, made)
}

/// As [`catalog_of`], of inputs with other names.
pub(super) fn catalog_in(files: [&str; 3], made: &[Made]) -> Catalog {
    let mut catalog = Catalog::new(files.map(|name| name.as_bytes().to_vec()).to_vec());
    for file in 0..3 {
        let mut batch = Batch::default();
        for (ordinal, made) in (0..).zip(made.iter().filter(|made| made.file == file)) {
            made.push(&mut batch, ordinal);
        }
        catalog.append(batch);
    }
    for row in catalog.ids().collect::<Vec<RowId>>() {
        let capture = catalog.capture(row);
        let method = text(capture.method.name);
        if method != "GET" {
            let key = format!("{method} {}", text(capture.target_uri));
            catalog.set_method_key(row, key_of(&key));
        }
    }
    catalog
}

/// Calls `then` with what grouping asks of the URLs of `catalog`.
pub(super) fn with_urls<T>(catalog: &Catalog, then: impl FnOnce(&Urls<'_>) -> T) -> T {
    then(&Urls {
        site: &|row| site_of(catalog.target_uri(row)),
        base_key: &|row| base_key_of(catalog.target_uri(row)),
    })
}

/// The groups of `catalog`.
pub(super) fn groups_of(catalog: &Catalog, thresholds: &Thresholds) -> Groups {
    let ends = Ends::of(catalog, thresholds);
    with_urls(catalog, |urls| Groups::of(catalog, ends, thresholds, urls))
}
