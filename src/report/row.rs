//! One row of a report, and the order of its columns, which CSV and JSONL share.

use crate::capture::{Capture, Completeness, Digest, Timestamp};
use crate::catalog::RowFlags;
use crate::digest;
use crate::group::{Conflict, Fate};
use crate::policy::{Rule, RuleSet};
use crate::uri::write_redacted;

use super::names::{digest_status_name, evidence_name, role_name, sameness_name};
use super::text::{push_decimal, push_hex};

/// A capture and what becomes of it, as the engine hands it over. Empty slices mean absent.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The capture; of a revisit with the payload and media type of its original, where it has one.
    pub capture: Capture<'a>,
    /// What becomes of it.
    pub fate: &'a Fate,
    /// Route, credentials, signed, seen before.
    pub flags: RowFlags,
    /// The bytes that were hashed; user info in clear, since it is hidden here.
    pub key_text: &'a [u8],
    /// Core steps and bets that changed something.
    pub rules: RuleSet,
    /// The capture at the first hop.
    pub joined_to: Option<Place<'a>>,
    /// The resolved `Location`.
    pub redirect_to: &'a [u8],
    /// URL of the end, or the target of the hop that was not followed.
    pub final_url: &'a [u8],
    /// The resolved `rel=canonical`.
    pub canonical: &'a [u8],
    /// Target URI of the keeper.
    pub keeper_url: &'a [u8],
    /// The input as given or found; of an index line, the file it states.
    pub file_name: &'a [u8],
    /// The captures on the way to the end, which is the last; empty where [`Lines`](super::Lines) do not show them.
    pub chain: &'a [Link<'a>],
}

/// `filename:offset` of a record.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// As in [`Row::file_name`].
    pub file_name: &'a [u8],
    /// As in its locator.
    pub offset: u64,
}

/// A capture on the way to an end.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Its target URI.
    pub url: &'a [u8],
    /// Its status, where known.
    pub status: Option<u16>,
    /// When it was captured.
    pub timestamp: Timestamp,
}

/// The columns, in order (README: Report).
pub(super) static COLUMNS: [&str; 34] = [
    "group_id",
    "group_size",
    "role",
    "sameness",
    "evidence",
    "joined_to",
    "conflict",
    "flags",
    "url",
    "key_text",
    "rules",
    "timestamp",
    "record_type",
    "method",
    "status",
    "mime",
    "language",
    "digest",
    "digest_declared",
    "digest_status",
    "decoded_digest",
    "payload_bytes",
    "truncated",
    "redirect_to",
    "final_url",
    "canonical",
    "keeper_url",
    "url_group",
    "content_group",
    "page_group",
    "filename",
    "offset",
    "length",
    "record_id",
];

/// Where cells go, one call for each column.
pub(super) trait Cells {
    /// A cell of text as found; empty for absent.
    fn text(&mut self, text: &[u8]);
    /// A URI as found, of which a report hides the user info. `@` is rare, so most are written from where they are.
    fn uri(&mut self, uri: &[u8], scratch: &mut Vec<u8>) {
        if memchr::memchr(b'@', uri).is_none() {
            return self.text(uri);
        }
        scratch.clear();
        write_redacted(uri, scratch);
        self.text(scratch);
    }
    /// Text that `make` appends, letters, digits and marks that mean nothing to a format; none for absent.
    fn made(&mut self, make: impl FnOnce(&mut Vec<u8>));
    /// A count or position.
    fn number(&mut self, number: Option<u64>);
    /// A share or rate.
    fn real(&mut self, number: f64);
    /// A number or a truth value, as both formats write it.
    fn literal(&mut self, text: &str);
    /// Names that are an array where there are arrays, and else joined by `separator`.
    fn list<'n>(&mut self, names: impl Iterator<Item = &'n str>, separator: u8);
}

/// Writes the cells of a row; `scratch` is for text that must be put together first.
pub(super) fn write_cells(row: &Row<'_>, cells: &mut impl Cells, scratch: &mut Vec<u8>) {
    group_cells(row, cells, scratch);
    capture_cells(row, cells, scratch);
    digest_cells(row, cells);
    pointer_cells(row, cells, scratch);
    let locator = &row.capture.locator;
    cells.text(row.file_name);
    cells.number(Some(locator.offset));
    cells.number(locator.length);
    cells.text(row.capture.record_id);
}

fn group_cells(row: &Row<'_>, cells: &mut impl Cells, scratch: &mut Vec<u8>) {
    let fate = row.fate;
    cells.number(Some(fate.group_id).filter(|id| *id > 0));
    cells.number(Some(fate.group_size));
    cells.text(role_name(fate.role).as_bytes());
    cells.text(fate.sameness.map_or("", sameness_name).as_bytes());
    cells.list(fate.evidence.iter().copied().map(evidence_name), b'>');
    scratch.clear();
    if let Some(place) = row.joined_to {
        scratch.extend_from_slice(place.file_name);
        scratch.push(b':');
        push_decimal(place.offset, scratch);
    }
    cells.text(scratch);
    cells.list(fate.conflicts.iter().map(Conflict::code), b';');
    cells.made(|out| push_flags(row.flags, out));
}

/// The flags that a report has, in its order, joined by `;`.
fn push_flags(flags: RowFlags, out: &mut Vec<u8>) {
    const NAMES: [(RowFlags, &[u8]); 4] = [
        (RowFlags::ROUTE, b"route"),
        (RowFlags::CREDENTIALS, b"credentials"),
        (RowFlags::SIGNED, b"signed"),
        (RowFlags::SEEN_BEFORE, b"seen-before"),
    ];
    let start = out.len();
    for (flag, name) in NAMES {
        if flags.contains(flag) {
            if out.len() > start {
                out.push(b';');
            }
            out.extend_from_slice(name);
        }
    }
}

fn capture_cells(row: &Row<'_>, cells: &mut impl Cells, scratch: &mut Vec<u8>) {
    let capture = &row.capture;
    cells.uri(capture.target_uri, scratch);
    cells.uri(row.key_text, scratch);
    cells.list(row.rules.iter().map(Rule::name), b';');
    cells.made(|out| capture.date.write_rfc3339(out));
    cells.text(capture.record_type.name().as_bytes());
    cells.text(capture.method.name);
    cells.number(capture.status.map(u64::from));
    cells.text(capture.mime);
    cells.text(capture.language);
}

fn digest_cells(row: &Row<'_>, cells: &mut impl Cells) {
    let payload = &row.capture.payload;
    digest_cell(payload.digest.as_ref(), cells);
    cells.text(payload.declared_text);
    cells.text(digest_status_name(payload.status).as_bytes());
    digest_cell(payload.decoded.as_ref(), cells);
    cells.number(payload.bytes);
    cells.text(match payload.completeness {
        Completeness::Cut if row.capture.truncated.is_empty() => b"cut",
        _ => row.capture.truncated,
    });
}

fn digest_cell(digest: Option<&Digest>, cells: &mut impl Cells) {
    cells.made(|out| {
        if let Some(digest) = digest {
            digest::write_text(digest, out);
        }
    });
}

fn pointer_cells(row: &Row<'_>, cells: &mut impl Cells, scratch: &mut Vec<u8>) {
    for pointer in [
        row.redirect_to,
        row.final_url,
        row.canonical,
        row.keeper_url,
    ] {
        cells.uri(pointer, scratch);
    }
    let fate = row.fate;
    for (mark, group) in [
        (b'u', fate.url_group),
        (b'c', fate.content_group),
        (b'p', fate.page_group),
    ] {
        cells.made(|out| {
            if let Some(id) = group {
                push_group(mark, id, out);
            }
        });
    }
}

/// `u`, `c` or `p` and 16 hex digits.
fn push_group(mark: u8, id: u64, out: &mut Vec<u8>) {
    out.push(mark);
    push_hex(id, out);
}
