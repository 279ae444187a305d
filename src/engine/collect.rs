//! Turns what a reader found in one input into rows, and keeps the books of what was read.

use std::borrow::Cow;

use crate::capture::{Capture, Damage, Event, FileId, Locator, Segment, Warning};
use crate::catalog::methods::Requests;
use crate::catalog::{Batch, Inputs, Keys, RecordStarts, RowFlags, Target};
use crate::key::{Keyed, Keyer, Kind};
use crate::report::DAMAGE_LISTED_MAX;
use crate::uri;

/// What was read, by count.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Records with a readable header, and index lines.
    pub(super) records: u64,
    /// Bytes of the input as stored.
    pub(super) bytes_read: u64,
    /// Bytes after inflating.
    pub(super) bytes_inflated: u64,
    /// The first pieces of damage, in input order.
    pub(super) damage: Vec<Damage>,
    /// All of them, kept or not.
    pub(super) n_damage: u64,
    /// Warnings by kind.
    pub(super) warnings: std::collections::BTreeMap<Warning, u64>,
}

impl Tally {
    /// Counts a piece of damage, and keeps it if it is among the first.
    pub(super) fn damage(&mut self, damage: Damage) {
        self.n_damage += 1;
        if self.damage.len() < DAMAGE_LISTED_MAX {
            self.damage.push(damage);
        }
    }

    /// Counts a warning.
    pub(super) fn warn(&mut self, warning: Warning, n: u64) {
        *self.warnings.entry(warning).or_default() += n;
    }

    /// Adds the books of a later input.
    pub(super) fn add(&mut self, later: Self) {
        self.records += later.records;
        self.bytes_read += later.bytes_read;
        self.bytes_inflated += later.bytes_inflated;
        self.n_damage += later.n_damage;
        let room = DAMAGE_LISTED_MAX.saturating_sub(self.damage.len());
        self.damage.extend(later.damage.into_iter().take(room));
        for (warning, n) in later.warnings {
            self.warn(warning, n);
        }
    }
}

/// A segment, to be joined once all of them are known (WARC 1.1 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredSegment {
    /// Hash of the first segment's record id.
    pub(super) origin: u128,
    /// From 1.
    pub(super) number: u64,
    /// Stated on the last segment only.
    pub(super) total_length: Option<u64>,
    /// Block bytes of this one.
    pub(super) block_bytes: u64,
    /// Where it stands.
    pub(super) locator: Locator,
}

/// All that one input gave, or some of it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Captures.
    pub(super) batch: Batch,
    /// Where records start.
    pub(super) starts: RecordStarts,
    /// Requests other than GET, to be matched with the captures that answer them.
    pub(super) requests: Requests,
    /// Segments of records.
    pub(super) segments: Vec<StoredSegment>,
    /// The end of the member in which the first rows stand, if rows of it were handed over before.
    pub(super) member_end: Option<MemberEnd>,
    /// The books.
    pub(super) tally: Tally,
}

/// The end of a member: its offset and length, and how many records it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemberEnd {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) n_records: u64,
}

impl Found {
    /// Nothing yet, of captures whose texts may stand in `inputs`.
    fn over(inputs: Inputs) -> Self {
        Self {
            batch: Batch::over(inputs),
            ..Self::default()
        }
    }

    /// Counts from where earlier stretches ended: `n_ordinals` behind the begin of the input.
    pub(super) fn move_on(&mut self, n_ordinals: u64) {
        self.batch.move_ordinals(n_ordinals);
        for segment in &mut self.segments {
            segment.locator.ordinal += n_ordinals;
        }
        for damage in &mut self.tally.damage {
            damage.line = damage.line.map(|line| line + n_ordinals);
        }
    }
}

/// Feeds a [`Found`] from the events of one input.
#[derive(Debug)]
pub(super) struct Collector<'p> {
    keyer: Keyer<'p>,
    found: Found,
    file: FileId,
    holds: Holds,
    inputs: Inputs,
    has_handed_over: bool,
}

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Records, in which index lines may be found.
    Records,
    /// Index lines.
    IndexLines,
}

impl<'p> Collector<'p> {
    /// A collector that keys by the policy of `keyer`.
    #[must_use]
    pub(super) fn new(keyer: Keyer<'p>, file: FileId, holds: Holds) -> Self {
        Self {
            keyer,
            found: Found::default(),
            file,
            holds,
            inputs: Inputs::default(),
            has_handed_over: false,
        }
    }

    /// The same, of captures whose texts may stand in `inputs`.
    #[must_use]
    pub(super) fn over(mut self, inputs: Inputs) -> Self {
        self.found = Found::over(inputs.clone());
        self.inputs = inputs;
        self
    }

    /// The input whose records or lines these are.
    pub(super) fn file(&self) -> FileId {
        self.file
    }

    /// Takes one event.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let found = &mut self.found;
        match event {
            Event::Record { offset, .. } => {
                found.tally.records += 1;
                if self.holds == Holds::Records {
                    found.starts.push(self.file, *offset);
                }
            }
            Event::Capture(capture) => self.capture(capture),
            Event::ConcurrentTo(ids) => {
                found
                    .requests
                    .push_concurrent(found.batch.len().saturating_sub(1), ids);
            }
            Event::Request(request) => found.requests.push(request),
            Event::Segment(segment) => found.segments.push(StoredSegment::of(segment)),
            Event::MemberEnd {
                offset,
                length,
                n_records,
            } => {
                let n_before = found.batch.end_member(*offset, *length, *n_records);
                if n_before == 0 && self.has_handed_over {
                    found.member_end.get_or_insert(MemberEnd {
                        offset: *offset,
                        length: *length,
                        n_records: *n_records,
                    });
                }
            }
            Event::Damage(damage) => found.tally.damage(damage.clone()),
            Event::Warning(warning) => found.tally.warn(*warning, 1),
            Event::Ignored => {}
        }
    }

    /// Counts bytes of the input: as stored, and after inflating.
    pub(super) fn count_bytes(&mut self, read: u64, inflated: u64) {
        self.found.tally.bytes_read += read;
        self.found.tally.bytes_inflated += inflated;
    }

    /// Rows that were not handed over.
    #[must_use]
    pub(super) fn n_rows(&self) -> usize {
        self.found.batch.len()
    }

    /// Bytes of these and of their texts.
    #[must_use]
    pub(super) fn n_row_bytes(&self) -> u64 {
        self.found.batch.n_bytes()
    }

    /// Whether anything was lost so far.
    #[must_use]
    pub(super) fn is_damaged(&self) -> bool {
        self.found.tally.n_damage > 0
    }

    /// What was found since the last call.
    #[must_use]
    pub(super) fn hand_over(&mut self) -> Found {
        self.has_handed_over = true;
        std::mem::replace(&mut self.found, Found::over(self.inputs.clone()))
    }

    fn capture(&mut self, capture: &Capture<'_>) {
        let (url, kind, flags) = {
            let keyed = self.keyer.key(capture.target_uri);
            (keyed.key, keyed.kind, row_flags(&keyed, capture.target_uri))
        };
        let resolved = resolved_location(capture);
        let target = match &resolved {
            None => Target::None,
            Some(None) => Target::NotHttp,
            Some(Some(uri)) => target(&self.keyer.key(uri)),
        };
        let refers_to = capture.refers_to.target_uri;
        let refers_to = (!refers_to.is_empty()).then(|| self.keyer.key(refers_to).key);
        let redirect_to = match &resolved {
            Some(Some(uri)) => uri,
            Some(None) => capture.location,
            None => b"",
        };
        self.found.batch.push(
            capture,
            &Keys {
                url,
                kind,
                flags,
                target,
                redirect_to,
                refers_to,
            },
        );
    }
}

/// `None`: no redirect. `Some(None)`: a Location that cannot be resolved.
fn resolved_location<'a>(capture: &Capture<'a>) -> Option<Option<Cow<'a, [u8]>>> {
    let is_redirect = matches!(capture.status, Some(300..=399)) && capture.status != Some(304);
    (is_redirect && !capture.location.is_empty())
        .then(|| uri::resolve(capture.target_uri, capture.location))
}

fn target(keyed: &Keyed<'_>) -> Target {
    if keyed.kind != Kind::Http {
        Target::NotHttp
    } else if keyed.has_credentials {
        Target::Credentials
    } else if !keyed.in_scope {
        Target::OutOfScope
    } else {
        Target::Key(keyed.key)
    }
}

fn row_flags(keyed: &Keyed<'_>, target_uri: &[u8]) -> RowFlags {
    let is_verbatim = std::ptr::eq(keyed.text, target_uri) && keyed.fired.is_empty();
    let is_https = is_verbatim && keyed.kind == Kind::Http && target_uri.starts_with(b"https:");
    RowFlags::default()
        .with(RowFlags::VERBATIM, is_verbatim)
        .with(RowFlags::HTTPS, is_https)
        .with(RowFlags::ROUTE, keyed.is_route)
        .with(RowFlags::CREDENTIALS, keyed.has_credentials)
        .with(RowFlags::SIGNED, keyed.is_signed)
        .with(RowFlags::OUT_OF_SCOPE, !keyed.in_scope)
}

impl StoredSegment {
    fn of(segment: &Segment<'_>) -> Self {
        Self {
            origin: xxhash_rust::xxh3::xxh3_128(segment.origin_id),
            number: segment.number,
            total_length: segment.total_length,
            block_bytes: segment.block_bytes,
            locator: segment.locator,
        }
    }
}
