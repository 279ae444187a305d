//! Figures of the summary that stand in the rows themselves.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::capture::{Algorithm, DigestStatus, RecordType};
use crate::catalog::{Catalog, RowFlags, RowId};
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
        .with_common_schemes();
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
    let status = |status: DigestStatus| figures.digests.get(&status).copied().unwrap_or(0);
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
    digests: BTreeMap<DigestStatus, u64>,
    algorithms: BTreeMap<Algorithm, u64>,
    /// Those of nearly all captures, counted by themselves.
    n_http: u64,
    n_https: u64,
    schemes: BTreeMap<Vec<u8>, u64>,
}

impl Figures {
    fn of(catalog: &Catalog, rows: impl Iterator<Item = RowId>) -> Self {
        let mut figures = Self::default();
        for id in rows {
            let capture = catalog.capture(id);
            if capture.record_type == RecordType::Revisit {
                figures.revisits += 1;
            } else {
                figures.captures += 1;
                figures.payload_bytes += capture.payload.bytes.unwrap_or(0);
            }
            figures.truncated += u64::from(!capture.truncated.is_empty());
            figures.seen_before += u64::from(catalog.row(id).flags.contains(RowFlags::SEEN_BEFORE));
            *figures.digests.entry(capture.payload.status).or_default() += 1;
            if let Some(digest) = capture.payload.digest {
                *figures.algorithms.entry(digest.algorithm).or_default() += 1;
            }
            figures.count_scheme(capture.target_uri);
        }
        figures
    }

    fn count_scheme(&mut self, uri: &[u8]) {
        match scheme(uri) {
            b"http" => self.n_http += 1,
            b"https" => self.n_https += 1,
            other => *self.schemes.entry(other.to_ascii_lowercase()).or_default() += 1,
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.captures += other.captures;
        self.revisits += other.revisits;
        self.truncated += other.truncated;
        self.seen_before += other.seen_before;
        self.payload_bytes += other.payload_bytes;
        add_counts(&mut self.digests, other.digests);
        add_counts(&mut self.algorithms, other.algorithms);
        self.n_http += other.n_http;
        self.n_https += other.n_https;
        add_counts(&mut self.schemes, other.schemes);
        self
    }

    fn with_common_schemes(mut self) -> Self {
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
