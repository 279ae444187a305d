//! Where the records of the inputs start, for index lines to be held against.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::leb128::{push_number, read_number};
use super::saved::{Reader, Writer};
use crate::capture::FileId;

/// Offsets at which records start, by input: of the gzip member or zstd frame a record stands in, or of a plain
/// record. Two or three bytes a record.
#[derive(Debug, Default)]
pub struct RecordStarts {
    files: BTreeMap<FileId, Starts>,
}

/// The starts of one input, each as its distance from the one before.
#[derive(Debug, Default)]
struct Starts {
    distances: Vec<u8>,
    last: u64,
}

impl RecordStarts {
    /// Notes that a record of `file` starts at `offset`.
    pub fn push(&mut self, file: FileId, offset: u64) {
        self.files.entry(file).or_default().push(offset);
    }

    /// Adds what was noted of other inputs.
    pub fn append(&mut self, other: Self) {
        for (file, starts) in other.files {
            let own = self.files.entry(file).or_default();
            if own.distances.is_empty() {
                *own = starts;
            } else {
                starts.offsets().for_each(|offset| own.push(offset));
            }
        }
    }

    /// Saves those of one input.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, file: FileId, to: &mut Writer<impl Write>) -> io::Result<()> {
        let (distances, last) = match self.files.get(&file) {
            Some(starts) => (starts.distances.as_slice(), starts.last),
            None => (&[][..], 0),
        };
        to.number(last)?;
        to.text(distances)
    }

    /// Those of one input, as they were saved.
    ///
    /// # Errors
    /// They cannot be read, or are not whole.
    pub fn load(file: FileId, from: &mut Reader<impl Read>) -> io::Result<Self> {
        let last = from.number()?;
        let distances = from.text()?;
        let mut files = BTreeMap::new();
        if !distances.is_empty() {
            files.insert(file, Starts { distances, last });
        }
        Ok(Self { files })
    }

    /// Whether no record starts anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Inputs in which a record starts.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.files.keys().copied()
    }

    /// The starts in `file`, sorted.
    pub(super) fn of(&self, file: FileId) -> Vec<u64> {
        let starts = self.files.get(&file);
        let mut offsets: Vec<u64> = starts.into_iter().flat_map(Starts::offsets).collect();
        offsets.sort_unstable();
        offsets
    }
}

impl Starts {
    fn push(&mut self, offset: u64) {
        if offset != self.last || self.distances.is_empty() {
            // A distance backwards wraps round, and back again when it is read.
            push_number(&mut self.distances, offset.wrapping_sub(self.last));
            self.last = offset;
        }
    }

    fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = self.distances.as_slice();
        let mut offset = 0_u64;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            offset = offset.wrapping_add(read_number(&mut rest));
            Some(offset)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_each_start_once_in_order() {
        let mut starts = RecordStarts::default();
        let mut later = RecordStarts::default();
        for offset in [0, 0, 700, 700, 1 << 40] {
            starts.push(FileId(1), offset);
        }
        for offset in [90, 12] {
            later.push(FileId(1), offset);
            later.push(FileId(4), offset);
        }
        starts.append(later);
        assert_eq!(starts.of(FileId(1)), [0, 12, 90, 700, 1 << 40]);
        assert_eq!(starts.of(FileId(4)), [12, 90]);
        assert!(starts.of(FileId(0)).is_empty());
        assert!(starts.files().eq([FileId(1), FileId(4)]));
    }
}
