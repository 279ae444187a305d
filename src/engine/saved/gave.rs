//! What one input gave, as bytes: the books, and what stands beside the rows, before the rows.

use std::io::{self, ErrorKind, Read, Write};

use super::super::collect::{Found, StoredSegment, Tally};
use crate::capture::{Damage, FileId, Locator, Warning};
use crate::catalog::methods::{self, Requests};
use crate::catalog::saved::{Mark, Reader, Writer};
use crate::catalog::{Batch, Catalog, Inputs, RecordStarts};

/// Bytes of the least segment that is saved.
const SEGMENT_BYTES: usize = size_of::<[u64; 10]>();
/// Bytes of the least damage that is saved.
const DAMAGE_BYTES_MIN: usize = 6 * size_of::<u64>();

/// What one input gave.
pub(crate) struct Gave<'a> {
    /// Which one.
    pub(crate) file: FileId,
    /// Its captures are the last, from a mark on.
    pub(crate) captures: (&'a Catalog, Mark),
    /// Its requests too.
    pub(crate) requests: (&'a Requests, methods::Mark),
    /// Where records of it start.
    pub(crate) starts: &'a RecordStarts,
    /// Its segments.
    pub(crate) segments: &'a [StoredSegment],
    /// Its books.
    pub(crate) tally: &'a Tally,
}

impl Gave<'_> {
    /// About how many they are.
    pub(super) fn bytes(&self) -> u64 {
        let (catalog, mark) = self.captures;
        catalog.saved_bytes(mark)
    }

    pub(super) fn save(&self, to: &mut Writer<impl Write>) -> io::Result<()> {
        save_tally(self.tally, to)?;
        to.number(self.segments.len() as u64)?;
        for segment in self.segments {
            save_segment(segment, to)?;
        }
        self.starts.save(self.file, to)?;
        let (catalog, mark) = self.captures;
        let (requests, first) = self.requests;
        requests.save(first, mark.row(), to)?;
        catalog.save(mark, to)
    }
}

/// What an input gave that was saved; texts may stand in `inputs`.
pub(super) fn load(
    file: FileId,
    inputs: Inputs,
    from: &mut Reader<impl Read>,
) -> io::Result<Found> {
    let tally = load_tally(file, from)?;
    let n_segments = from.count(SEGMENT_BYTES)?;
    let segments: io::Result<_> = (0..n_segments).map(|_| load_segment(file, from)).collect();
    Ok(Found {
        tally,
        segments: segments?,
        starts: RecordStarts::load(file, from)?,
        requests: Requests::load(from)?,
        batch: Batch::load(from, inputs)?,
        member_end: None,
    })
}

fn save_segment(segment: &StoredSegment, to: &mut Writer<impl Write>) -> io::Result<()> {
    to.hash(segment.origin)?;
    to.number(segment.number)?;
    to.number_if_any(segment.total_length)?;
    to.number(segment.block_bytes)?;
    to.number(segment.locator.ordinal)?;
    to.number(segment.locator.offset)?;
    to.number_if_any(segment.locator.length)
}

fn load_segment(file: FileId, from: &mut Reader<impl Read>) -> io::Result<StoredSegment> {
    Ok(StoredSegment {
        origin: from.hash()?,
        number: from.number()?,
        total_length: from.number_if_any()?,
        block_bytes: from.number()?,
        locator: Locator {
            file,
            ordinal: from.number()?,
            offset: from.number()?,
            length: from.number_if_any()?,
        },
    })
}

fn save_tally(tally: &Tally, to: &mut Writer<impl Write>) -> io::Result<()> {
    to.number(tally.records)?;
    to.number(tally.bytes_read)?;
    to.number(tally.bytes_inflated)?;
    to.number(tally.n_damage)?;
    to.number(tally.damage.len() as u64)?;
    for damage in &tally.damage {
        to.number(damage.offset)?;
        to.number_if_any(damage.length)?;
        to.number_if_any(damage.line)?;
        to.text(damage.what.as_bytes())?;
    }
    to.number(tally.warnings.len() as u64)?;
    for (warning, n) in &tally.warnings {
        to.text(warning.code().as_bytes())?;
        to.number(*n)?;
    }
    Ok(())
}

fn load_tally(file: FileId, from: &mut Reader<impl Read>) -> io::Result<Tally> {
    let mut tally = Tally {
        records: from.number()?,
        bytes_read: from.number()?,
        bytes_inflated: from.number()?,
        n_damage: from.number()?,
        ..Tally::default()
    };
    for _ in 0..from.count(DAMAGE_BYTES_MIN)? {
        tally.damage.push(Damage {
            file,
            offset: from.number()?,
            length: from.number_if_any()?,
            line: from.number_if_any()?,
            what: String::from_utf8(from.text()?).map_err(|_| ErrorKind::InvalidData)?,
        });
    }
    for _ in 0..from.count(2 * size_of::<u64>())? {
        let code = from.text()?;
        let known = Warning::ALL.into_iter();
        let mut known = known.filter(|warning| warning.code().as_bytes() == code);
        let warning = known.next().ok_or(ErrorKind::InvalidData)?;
        tally.warn(warning, from.number()?);
    }
    Ok(tally)
}
