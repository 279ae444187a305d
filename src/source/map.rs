//! Memory maps of whole files.
#![expect(
    unsafe_code,
    reason = "a mapped file is shared with every other process"
)]

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use super::Version;
use crate::error::{Error, Result};

/// A file as a slice of bytes.
///
/// What is not proven: another process may change or cut the file under us. Changed bytes are read as they are (no
/// code here trusts what it read before), a page beyond a new end raises SIGBUS, which [`fault`](super::fault)
/// turns into a message and exit code 1. [`Map::check_unchanged`] tells of a change that went unnoticed. The file is closed
/// once it is mapped, so that any number of maps may be held.
#[derive(Debug)]
pub struct Map {
    path: PathBuf,
    version: Version,
    bytes: Option<memmap2::Mmap>,
}

impl Map {
    /// Maps the regular file at `path`; an empty one is an empty slice.
    ///
    /// # Errors
    ///
    /// Where the file cannot be opened, asked for its length, or mapped.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let metadata = file
            .metadata()
            .map_err(|error| Error::io("read", path, error))?;
        let bytes = if metadata.len() == 0 {
            None
        } else {
            // SAFETY: the map is read-only; nothing in this crate keeps an invariant on bytes of it, so that a change by
            // another process can give wrong results but no undefined values.
            let mapped = unsafe { memmap2::Mmap::map(&file) };
            Some(mapped.map_err(|error| Error::io("map", path, error))?)
        };
        super::fault::expect_bytes(path, metadata.len());
        Ok(Self {
            path: path.to_owned(),
            version: Version::of(&metadata),
            bytes,
        })
    }

    /// Tells whether what was read is what stands at the path now.
    ///
    /// # Errors
    ///
    /// Where the file was cut, written to, or replaced since it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        if Version::at(&self.path).is_ok_and(|version| version == self.version) {
            Ok(())
        } else {
            Err(Error::failed(super::fault::CHANGED).at(&self.path))
        }
    }
}

/// The pages of a map that are about to be read, mapped with one call for many, and given back with one.
///
/// A fault maps 16 pages at most, and costs the processor what it had in flight: touching the pages of a cached gigabyte takes
/// 0.24 s by faults, 0.06 s so (Xeon, Linux 6.18).
#[derive(Debug)]
pub struct Pages<'m> {
    bytes: &'m [u8],
    /// Where they start.
    start: usize,
    /// Up to where they are mapped, and up to where they will be.
    mapped: usize,
    end: usize,
}

/// Bytes of the pages that are mapped by one call; a multiple of every page's size.
const WINDOW: usize = 1 << 20;

impl<'m> Pages<'m> {
    /// The pages of `range`, none of them mapped yet.
    #[must_use]
    pub fn new(map: &'m Map, range: Range<u64>) -> Self {
        let bytes: &[u8] = map;
        let within = |offset| usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
        let start = within(range.start) / WINDOW * WINDOW;
        Self {
            bytes,
            start,
            mapped: start,
            end: within(range.end),
        }
    }

    /// Maps what stands before `offset`, and a window more.
    pub fn reach(&mut self, offset: u64) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if offset <= self.mapped || self.mapped >= self.end {
            return;
        }
        let end = offset.saturating_add(WINDOW).min(self.end);
        advise(&self.bytes[self.mapped..end], Advice::Populate);
        self.mapped = end / WINDOW * WINDOW;
        if end == self.end {
            self.mapped = end;
        }
    }

    /// Unmaps what stands before `offset`; what is read again is mapped again.
    ///
    /// Left to the end of the run, unmapping would be the work of one thread: 0.15 s for five gigabytes in single pages, a fifth of reading
    /// their heads.
    pub fn leave(self, offset: u64) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = if offset < self.bytes.len() {
            offset / WINDOW * WINDOW
        } else {
            self.bytes.len()
        };
        if self.start < end {
            advise(&self.bytes[self.start..end], Advice::Unmap);
        }
    }
}

/// What is asked of the system for some pages.
#[derive(Clone, Copy, Debug)]
enum Advice {
    /// To map them; where it cannot, they are mapped when they are read.
    Populate,
    /// To unmap them, though they stay in its cache; where it cannot, they are unmapped with the file.
    Unmap,
}

#[cfg(target_os = "linux")]
fn advise(pages: &[u8], advice: Advice) {
    let advice = match advice {
        Advice::Populate => libc::MADV_POPULATE_READ,
        Advice::Unmap => libc::MADV_DONTNEED,
    };
    let start = pages.as_ptr().cast_mut().cast();
    // SAFETY: the range is mapped, as part of a slice, and the map is read-only and shared: no page holds what the file does not.
    unsafe { libc::madvise(start, pages.len(), advice) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_pages: &[u8], _advice: Advice) {}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        super::fault::forget(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn maps_a_file_and_an_empty_one() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        assert!(Map::open(file.path()).unwrap().is_empty());
        file.write_all(b"WARC/1.0").unwrap();
        let map = Map::open(file.path()).unwrap();
        assert_eq!(&*map, b"WARC/1.0");
        assert!(map.check_unchanged().is_ok());
    }

    #[test]
    fn maps_pages_ahead_to_the_end_and_not_beyond() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; 3 * WINDOW + 9]).unwrap();
        let map = Map::open(file.path()).unwrap();
        let window = WINDOW as u64;
        let mut pages = Pages::new(&map, window + 5..u64::MAX);
        assert_eq!(pages.mapped, WINDOW);
        for (offset, mapped) in [
            (0, WINDOW),
            (window + 1, 2 * WINDOW),
            (2 * window, 2 * WINDOW),
            (2 * window + 1, 3 * WINDOW),
            (u64::MAX, map.len()),
        ] {
            pages.reach(offset);
            assert_eq!(pages.mapped, mapped, "{offset}");
        }
    }

    #[test]
    fn reads_again_what_was_left() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; 3 * WINDOW + 9]).unwrap();
        let map = Map::open(file.path()).unwrap();
        for (start, end) in [(0, 5), (9, 2 << 20), (1 << 20, u64::MAX), (u64::MAX, 0)] {
            let mut pages = Pages::new(&map, start..end);
            pages.reach(end);
            pages.leave(end);
            assert!(map.iter().all(|byte| *byte == 7), "{start} to {end}");
        }
    }

    #[test]
    fn notices_a_file_that_was_cut_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        std::fs::write(&path, b"WARC/1.0").unwrap();
        let map = Map::open(&path).unwrap();
        let other = folder.path().join("b.warc");
        std::fs::write(&other, b"WARC/1.0").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(map.check_unchanged().is_err());
        let map = Map::open(&path).unwrap();
        std::fs::write(&path, b"WARC").unwrap();
        let message = map.check_unchanged().unwrap_err().to_string();
        assert!(message.contains("a.warc"), "{message}");
    }
}
