//! Figures of the summary that stand in the rows themselves.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::capture::{Algorithm, Capture, Completeness, DigestStatus, RecordType};
use crate::catalog::{Catalog, RowFlags, RowId};
use crate::key::Kind;
use crate::report::{self, Summary};
use crate::scan::warc::DigestMode;

/// Rows that one thread counts at a time.
const BLOCK_ROWS: usize = 1 << 16;

/// States captures, digests and schemes of `catalog`.
pub(super) fn describe(catalog: &Catalog, summary: &mut Summary) {
    let figures = (0..catalog.len().div_ceil(BLOCK_ROWS))
        .into_par_iter()
        .map(|block| {
            let first = block * BLOCK_ROWS;
            let rows = first..catalog.len().min(first + BLOCK_ROWS);
            Figures::of(catalog, rows.map(RowId::from_index))
        })
        .reduce(Figures::default, Figures::add)
        .with_common_ones();
    summary.counts.captures = figures.captures;
    summary.counts.revisits = figures.revisits;
    summary.counts.truncated = figures.truncated;
    summary.counts.seen_before = figures.seen_before;
    summary.bytes.payload = figures.payload_bytes;
    summary.counts.by_scheme = figures
        .schemes
        .iter()
        .map(|(scheme, n)| (report::clean(scheme), *n))
        .collect();
    let status = |status: DigestStatus| figures.digests[status as usize];
    summary.digest.ok = status(DigestStatus::Ok);
    summary.digest.mismatch = status(DigestStatus::Mismatch);
    summary.digest.absent = status(DigestStatus::Absent);
    summary.digest.uncheckable = status(DigestStatus::Uncheckable);
    summary.digest.unchecked = status(DigestStatus::Unchecked);
    summary.digest.ok_over_raw_body = status(DigestStatus::OkOverRawBody);
    summary.digest.by_reference = status(DigestStatus::ByReference);
    summary.digest.algorithms = figures
        .algorithms
        .iter()
        .map(|(algorithm, n)| (algorithm.label(), *n))
        .collect();
}

/// As the summary names it.
pub(super) fn digests_name(digests: DigestMode) -> &'static str {
    match digests {
        DigestMode::Verify => "verify",
        DigestMode::Content => "content",
        DigestMode::Declared => "declared",
    }
}

/// What some rows add up to.
#[derive(Debug, Default)]
struct Figures {
    captures: u64,
    revisits: u64,
    truncated: u64,
    seen_before: u64,
    payload_bytes: u64,
    /// By `DigestStatus as usize`.
    digests: [u64; 7],
    algorithms: BTreeMap<Algorithm, u64>,
    /// SHA-1, http and https are those of nearly all captures: kept out of the maps, and added at the end.
    n_sha1: u64,
    n_http: u64,
    n_https: u64,
    schemes: BTreeMap<Vec<u8>, u64>,
}

impl Figures {
    fn of(catalog: &Catalog, rows: impl Iterator<Item = RowId>) -> Self {
        let mut figures = Self::default();
        for id in rows {
            let row = catalog.row(id);
            let has = |flag| row.flags.contains(flag);
            if row.record_type == RecordType::Revisit {
                figures.revisits += 1;
            } else {
                figures.captures += 1;
            }
            figures.seen_before += u64::from(has(RowFlags::SEEN_BEFORE));
            figures.digests[row.digest_status as usize] += 1;
            if has(RowFlags::SHA1) {
                figures.n_sha1 += 1;
            } else if let Some(digest) = catalog.capture(id).payload.digest {
                *figures.algorithms.entry(digest.algorithm).or_default() += 1;
            }
            if has(RowFlags::INDEX_LINE) {
                figures.truncated += u64::from(row.completeness == Completeness::Truncated);
            } else {
                figures.add_record(&catalog.capture(id));
            }
            match row.kind {
                Kind::Http if has(RowFlags::HTTPS) => figures.n_https += 1,
                Kind::Http if has(RowFlags::VERBATIM) => figures.n_http += 1,
                _ => figures.count_scheme(catalog.target_uri(id)),
            }
        }
        figures
    }

    /// What an index line does not state.
    fn add_record(&mut self, record: &Capture<'_>) {
        self.truncated += u64::from(!record.truncated.is_empty());
        if record.record_type != RecordType::Revisit {
            self.payload_bytes += record.payload.bytes.unwrap_or(0);
        }
    }

    fn count_scheme(&mut self, uri: &[u8]) {
        match scheme(uri) {
            http if http.eq_ignore_ascii_case(b"http") => self.n_http += 1,
            https if https.eq_ignore_ascii_case(b"https") => self.n_https += 1,
            other => *self.schemes.entry(other.to_ascii_lowercase()).or_default() += 1,
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.captures += other.captures;
        self.revisits += other.revisits;
        self.truncated += other.truncated;
        self.seen_before += other.seen_before;
        self.payload_bytes += other.payload_bytes;
        for (count, other) in self.digests.iter_mut().zip(other.digests) {
            *count += other;
        }
        add_counts(&mut self.algorithms, other.algorithms);
        self.n_sha1 += other.n_sha1;
        self.n_http += other.n_http;
        self.n_https += other.n_https;
        add_counts(&mut self.schemes, other.schemes);
        self
    }

    fn with_common_ones(mut self) -> Self {
        if self.n_sha1 > 0 {
            *self.algorithms.entry(Algorithm::Sha1).or_default() += self.n_sha1;
        }
        for (scheme, n) in [(&b"http"[..], self.n_http), (b"https", self.n_https)] {
            if n > 0 {
                *self.schemes.entry(scheme.to_vec()).or_default() += n;
            }
        }
        self
    }
}

fn add_counts<K: Ord>(counts: &mut BTreeMap<K, u64>, other: BTreeMap<K, u64>) {
    for (key, n) in other {
        *counts.entry(key).or_default() += n;
    }
}

/// RFC 3986 section 3.1; what is no scheme is `none`, so that a URL of letters alone makes no name of its own.
fn scheme(uri: &[u8]) -> &[u8] {
    let uri = uri.trim_ascii_start();
    match memchr::memchr(b':', &uri[..uri.len().min(32)]) {
        Some(end)
            if end > 0
                && uri[..end]
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)) =>
        {
            &uri[..end]
        }
        _ => b"none",
    }
}
