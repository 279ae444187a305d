//! Records that were stored in several segments (WARC 1.1 section 7), read again as one once all of them are known.
//!
//! The segments may stand far apart, in any order and in several files, so their payload cannot be hashed on the way.
//! They are rare: each complete set is read a second time, first to last, as one record.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::collect::{Collector, Found, Holds, StoredSegment};
use super::plan::{Access, Plan};
use super::read::Setting;
use crate::capture::FileId;
use crate::catalog::Catalog;
use crate::key::Keyer;
use crate::scan::warc;
use crate::source::{self, Decoder, Map, Piece, SNIFFED};

/// A header of more bytes is not put together again.
const HEADER_MAX: usize = 1 << 20;

/// Puts the capture of every complete set of `segments` in the place of its first segment's.
pub(super) fn join(
    catalog: &mut Catalog,
    segments: &[StoredSegment],
    plan: &Plan,
    setting: Setting<'_>,
) {
    let mut stored = SegmentSource::new(plan);
    for set in complete_sets(segments) {
        let first = set[0].locator;
        if let Some(found) = read_as_one(&set, &mut stored, setting)
            && let Some(row) = catalog.find(first.file, first.ordinal)
        {
            catalog.replace(row, &found.batch);
        }
    }
}

/// Sets whose segments are all there, each in order: numbers from 1 without a gap, and the length that the last one states.
fn complete_sets(segments: &[StoredSegment]) -> Vec<Vec<StoredSegment>> {
    let mut by_origin: HashMap<u128, Vec<StoredSegment>> = HashMap::new();
    for segment in segments {
        by_origin.entry(segment.origin).or_default().push(*segment);
    }
    let mut sets: Vec<Vec<StoredSegment>> = by_origin.into_values().collect();
    for set in &mut sets {
        set.sort_by_key(|segment| {
            (
                segment.number,
                segment.locator.file,
                segment.locator.ordinal,
            )
        });
    }
    sets.retain(|set| is_complete(set));
    sets.sort_by_key(|set| (set[0].locator.file, set[0].locator.ordinal));
    sets
}

fn is_complete(set: &[StoredSegment]) -> bool {
    let mut total = 0_u64;
    for (segment, number) in set.iter().zip(1..) {
        if segment.number != number {
            return false;
        }
        total = total.saturating_add(segment.block_bytes);
    }
    set.len() > 1 && set.last().and_then(|last| last.total_length) == Some(total)
}

/// The record that the segments of a set make; `None` if one of them cannot be read again.
fn read_as_one(
    set: &[StoredSegment],
    stored: &mut SegmentSource<'_>,
    setting: Setting<'_>,
) -> Option<Found> {
    let mut whole = WholeRecord::new(setting, set[0].locator.file);
    for segment in set {
        stored.read(segment, &mut |header, block| {
            whole.take(segment, set, header, block);
        })?;
    }
    Some(whole.finish())
}

/// Reads segments again. Most stand in the file of the one before, so its map is kept, as are the buffers.
#[derive(Debug)]
struct SegmentSource<'p> {
    plan: &'p Plan,
    mapped: Option<(FileId, Map)>,
    decoder: Decoder,
}

impl<'p> SegmentSource<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            mapped: None,
            decoder: Decoder::default(),
        }
    }

    /// Hands header and block of a segment to `sink`; `None` if they are not there to the end.
    fn read(&mut self, segment: &StoredSegment, sink: &mut impl FnMut(&[u8], &[u8])) -> Option<()> {
        let locator = segment.locator;
        self.open(locator.file)?;
        let (_, map) = self.mapped.as_ref()?;
        let mut bytes = map.get(usize::try_from(locator.offset).ok()?..)?;
        let compression = source::sniff(&bytes[..bytes.len().min(SNIFFED)]).compression;
        let mut record = StoredRecord::new(segment.block_bytes);
        let decoded = self
            .decoder
            .pieces(&mut bytes, compression, |piece| match piece {
                Piece::Bytes { bytes, .. } => record.take(bytes, sink),
                Piece::MemberEnd { .. } | Piece::Padding { .. } => ControlFlow::Continue(()),
                Piece::Lost { .. } | Piece::First { .. } | Piece::Coming(_) | Piece::Passed => {
                    ControlFlow::Break(())
                }
            });
        decoded.ok()?;
        (record.block_left == 0).then_some(())
    }

    /// Maps a file, unless it is the one that is mapped.
    fn open(&mut self, file: FileId) -> Option<()> {
        if self.mapped.as_ref().is_some_and(|(open, _)| *open == file) {
            return Some(());
        }
        let input = self.plan.inputs.get(file.0 as usize)?;
        if input.access != Access::File {
            return None;
        }
        self.mapped = Some((file, Map::open(&input.path).ok()?));
        Some(())
    }
}

/// One stored segment, split into header and block.
#[derive(Debug)]
struct StoredRecord {
    header: Vec<u8>,
    is_in_block: bool,
    block_left: u64,
}

impl StoredRecord {
    fn new(block_bytes: u64) -> Self {
        Self {
            header: Vec::new(),
            is_in_block: false,
            block_left: block_bytes,
        }
    }

    /// Hands the header, once it is whole, and the bytes of the block to `sink`.
    fn take(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(&[u8], &[u8])) -> ControlFlow<()> {
        if !self.is_in_block {
            let part = &bytes[..bytes.len().min(HEADER_MAX)];
            let n_before = self.header.len();
            // Nearly always all of it is in the first piece, and need not be copied.
            let header = if n_before == 0 {
                part
            } else {
                self.header.extend_from_slice(part);
                &self.header
            };
            let Some(end) = header_end(header) else {
                if header.len() > HEADER_MAX {
                    return ControlFlow::Break(());
                }
                if n_before == 0 {
                    self.header.extend_from_slice(part);
                }
                return ControlFlow::Continue(());
            };
            sink(&header[..end], b"");
            self.is_in_block = true;
            bytes = &bytes[end - n_before..];
        }
        let n = usize::try_from(self.block_left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.block_left -= n as u64;
        sink(b"", &bytes[..n]);
        if self.block_left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Just behind the first blank line.
fn header_end(header: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', header).find_map(|at| match &header[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// The record that all segments make: the first one's header without what says that it is one, and all blocks.
#[derive(Debug)]
struct WholeRecord<'p> {
    reader: warc::Reader<'static>,
    collector: Collector<'p>,
    offset: u64,
}

impl<'p> WholeRecord<'p> {
    fn new(setting: Setting<'p>, file: FileId) -> Self {
        Self {
            reader: warc::Reader::new(file, warc::Framing::Plain, setting.warc_options()),
            collector: Collector::new(Keyer::new(setting.policy), file, Holds::Records),
            offset: 0,
        }
    }

    fn take(
        &mut self,
        segment: &StoredSegment,
        set: &[StoredSegment],
        header: &[u8],
        block: &[u8],
    ) {
        if segment.number == 1 && !header.is_empty() {
            let total: u64 = set.iter().map(|segment| segment.block_bytes).sum();
            self.push(&whole_header(header, total));
        }
        self.push(block);
    }

    fn push(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let piece = Piece::Bytes {
                bytes,
                offset: self.offset,
            };
            self.reader
                .push(piece, &mut |event| self.collector.take(&event));
            self.offset += bytes.len() as u64;
        }
    }

    fn finish(mut self) -> Found {
        self.push(b"\r\n\r\n");
        self.reader.finish(&mut |event| self.collector.take(&event));
        self.collector.hand_over()
    }
}

/// The header of the first segment as it would be if the record stood in one piece.
fn whole_header(header: &[u8], total: u64) -> Vec<u8> {
    let mut whole = Vec::with_capacity(header.len() + 32);
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        let is_of_segment = [&b"content-length:"[..], b"warc-segment-"]
            .iter()
            .any(|name| line.len() >= name.len() && line[..name.len()].eq_ignore_ascii_case(name));
        let is_blank = matches!(line, b"\n" | b"\r\n");
        if !is_of_segment && !is_blank {
            whole.extend_from_slice(line);
        }
    }
    whole.extend_from_slice(b"Content-Length: ");
    whole.extend_from_slice(total.to_string().as_bytes());
    whole.extend_from_slice(b"\r\n\r\n");
    whole
}
