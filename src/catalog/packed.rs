//! Rows as they are stored: 56 bytes each.

use std::mem::offset_of;
use std::sync::Arc;

use super::{Row, RowFlags, RowId};
use crate::capture::{Completeness, DigestStatus, RecordType, Timestamp};
use crate::key::{ComparisonKey, Kind};

/// A row, and where its text stands in the spool.
///
/// `u128` and enums would cost it 24 bytes of alignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    key: ComparisonKey,
    payload: [u64; 2],
    seconds: i64,
    /// 30 bits; above them, two more flags.
    nanos: u32,
    /// From the lowest bit on: flags, record type, kind of URI, completeness, digest status.
    facts: u32,
    /// 48 bits: 281 TB of text.
    text: [u16; 3],
    status: u16,
}

/// Bytes of a row, in memory and on disk.
pub(super) const PACKED_BYTES: usize = 56;

/// Bits of `facts` that flags have; two more stand above the nanoseconds.
const FLAGS: u32 = 22;
/// Bits that nanoseconds have.
const NANOS: u32 = 30;
/// The flags from this one on stand above them.
const ABOVE_NANOS: u32 = RowFlags::RECORD_ID.bits().trailing_zeros();
const _: () = assert!(RowFlags::LANGUAGE.bits() >> ABOVE_NANOS < 1 << (u32::BITS - NANOS));
const TYPES: [RecordType; 4] = [
    RecordType::Response,
    RecordType::Resource,
    RecordType::Conversion,
    RecordType::Revisit,
];
/// The last of them is http by TLS.
const KINDS: [Kind; 4] = [Kind::Http, Kind::OtherScheme, Kind::Opaque, Kind::Http];
/// The place of that kind.
const HTTPS: u32 = 3;
const COMPLETENESS: [Completeness; 5] = [
    Completeness::Complete,
    Completeness::Truncated,
    Completeness::Cut,
    Completeness::Partial,
    Completeness::Segment,
];
const STATUSES: [DigestStatus; 7] = [
    DigestStatus::Ok,
    DigestStatus::OkOverRawBody,
    DigestStatus::Unchecked,
    DigestStatus::Absent,
    DigestStatus::Uncheckable,
    DigestStatus::ByReference,
    DigestStatus::Mismatch,
];
const TYPE: u32 = FLAGS;
const KIND: u32 = TYPE + 2;
const COMPLETE: u32 = KIND + 2;
const STATUS: u32 = COMPLETE + 3;
const _: () = assert!(STATUS + 3 <= u32::BITS && size_of::<Packed>() == PACKED_BYTES);
const _: () =
    assert!(offset_of!(Packed, key) == 0 && offset_of!(Packed, status) + 2 == PACKED_BYTES);

impl Packed {
    pub(super) fn new(row: &Row, text: u64) -> Self {
        let kind = match row.flags.contains(RowFlags::HTTPS) {
            true => HTTPS,
            false => place(&KINDS, &row.kind),
        };
        let facts = row.flags.bits() & ((1 << FLAGS) - 1)
            | place(&TYPES, &row.record_type) << TYPE
            | kind << KIND
            | place(&COMPLETENESS, &row.completeness) << COMPLETE
            | place(&STATUSES, &row.digest_status) << STATUS;
        Self {
            key: row.key,
            payload: halves(row.payload),
            seconds: row.date.seconds(),
            nanos: row.date.nanos() | row.flags.bits() >> ABOVE_NANOS << NANOS,
            facts,
            text: thirds(text),
            status: row.status,
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "most callers want one fact of many, and unpacking all took a third of grouping"
    )]
    #[inline(always)]
    pub(super) fn row(&self) -> Row {
        let of = |place: u32, n_bits: u32| (self.facts >> place & ((1 << n_bits) - 1)) as usize;
        let is_https = of(KIND, 2) == HTTPS as usize;
        let flags = self.facts & ((1 << FLAGS) - 1) | self.nanos >> NANOS << ABOVE_NANOS;
        let flags = RowFlags::from_bits(flags).with(RowFlags::HTTPS, is_https);
        Row {
            key: self.key,
            payload: u128::from(self.payload[0]) << 64 | u128::from(self.payload[1]),
            date: Timestamp::new(self.seconds, self.nanos & ((1 << NANOS) - 1)),
            status: self.status,
            flags,
            record_type: TYPES[of(TYPE, 2)],
            kind: KINDS[of(KIND, 2)],
            completeness: COMPLETENESS[of(COMPLETE, 3).min(COMPLETENESS.len() - 1)],
            digest_status: STATUSES[of(STATUS, 3).min(STATUSES.len() - 1)],
        }
    }

    /// Reads its first and last numbers, and so both lines of the cache that it may stand in.
    #[inline]
    pub(super) fn touch(&self) -> u64 {
        self.key.key ^ u64::from(self.status)
    }

    /// Where its text stands.
    #[inline]
    pub(super) fn text(&self) -> u64 {
        let [low, middle, high] = self.text.map(u64::from);
        low | middle << 16 | high << 32
    }

    /// The same row, with its text `by` further on.
    pub(super) fn moved(self, by: u64) -> Self {
        Self {
            text: thirds(self.text() + by),
            ..self
        }
    }

    /// The same row, with its text `by` nearer to the start.
    pub(super) fn moved_back(self, by: u64) -> Self {
        Self {
            text: thirds(self.text() - by),
            ..self
        }
    }

    /// Its bytes on disk, the same on every machine.
    pub(super) fn to_bytes(self) -> [u8; PACKED_BYTES] {
        let mut bytes = [0; PACKED_BYTES];
        bytes[..16].copy_from_slice(&self.key.to_bytes());
        bytes[16..24].copy_from_slice(&self.payload[0].to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload[1].to_le_bytes());
        bytes[32..40].copy_from_slice(&self.seconds.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.nanos.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.facts.to_le_bytes());
        for (two, third) in bytes[48..54].chunks_exact_mut(2).zip(self.text) {
            two.copy_from_slice(&third.to_le_bytes());
        }
        bytes[54..].copy_from_slice(&self.status.to_le_bytes());
        bytes
    }

    /// The row that [`Packed::to_bytes`] stored.
    pub(super) fn from_bytes(bytes: [u8; PACKED_BYTES]) -> Self {
        let two = |at: usize| u16::from_le_bytes(part(&bytes, at));
        Self {
            key: ComparisonKey::from_bytes(part(&bytes, 0)),
            payload: [16, 24].map(|at| u64::from_le_bytes(part(&bytes, at))),
            seconds: i64::from_le_bytes(part(&bytes, 32)),
            nanos: u32::from_le_bytes(part(&bytes, 40)),
            facts: u32::from_le_bytes(part(&bytes, 44)),
            text: [48, 50, 52].map(two),
            status: two(54),
        }
    }

    pub(super) fn set_key(&mut self, key: ComparisonKey) {
        self.key = key;
    }

    pub(super) fn set_flag(&mut self, flag: RowFlags) {
        assert!(flag.bits() >> FLAGS == 0, "this one stands elsewhere");
        self.facts |= flag.bits();
    }
}

/// The `N` bytes at `at`.
fn part<const N: usize>(bytes: &[u8; PACKED_BYTES], at: usize) -> [u8; N] {
    let part = bytes[at..].first_chunk();
    *part.expect("a row has 56 bytes")
}

/// Where `one` stands in `all`.
fn place<T: PartialEq>(all: &[T], one: &T) -> u32 {
    let found = all.iter().zip(0..).find(|(other, _)| *other == one);
    found.map_or(0, |(_, place)| place)
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of it")]
fn halves(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

fn thirds(text: u64) -> [u16; 3] {
    assert!(text >> 48 == 0, "a spool holds less than 2^48 bytes");
    let [a, b, c, d, e, f, ..] = text.to_le_bytes();
    [[a, b], [c, d], [e, f]].map(u16::from_le_bytes)
}

/// The rows of a catalog, for what outlives a borrow of it.
#[derive(Clone, Debug, Default)]
pub struct Rows(pub(super) Arc<Vec<Packed>>);

impl Rows {
    /// One of them.
    #[must_use]
    #[expect(
        clippy::inline_always,
        reason = "its callers want one fact of many, as those of `Packed::row` do"
    )]
    #[inline(always)]
    pub fn get(&self, id: RowId) -> Row {
        self.0[id.index()].row()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_packed() {
        let all = TYPES.iter().zip(KINDS.iter().cycle());
        let all = all
            .zip(COMPLETENESS.iter().rev())
            .zip(STATUSES.iter().rev());
        for (((record_type, kind), completeness), digest_status) in all {
            let row = Row {
                key: ComparisonKey {
                    key: 1,
                    check: u64::MAX,
                },
                payload: 3 << 64 | 4,
                date: Timestamp::UNKNOWN,
                status: u16::MAX,
                flags: RowFlags::UNDECODABLE
                    .with(RowFlags::ROUTE, true)
                    .with(RowFlags::HTTPS, *kind == Kind::Http)
                    .with(RowFlags::RECORD_ID, *record_type == RecordType::Revisit)
                    .with(RowFlags::LANGUAGE, *kind == Kind::Opaque),
                record_type: *record_type,
                kind: *kind,
                completeness: *completeness,
                digest_status: *digest_status,
            };
            let packed = Packed::new(&row, 0x1234_5678_9abc);
            assert_eq!(packed.row(), row);
            assert_eq!(packed.moved(1).text(), 0x1234_5678_9abd);
            assert_eq!(packed.moved_back(1).text(), 0x1234_5678_9abb);
            let stored = Packed::from_bytes(packed.to_bytes());
            assert_eq!((stored.row(), stored.text()), (row, packed.text()));
        }
    }
}
