//! The rows and texts of one input as bytes that are kept on disk, to go on from after an interruption.
//!
//! ```text
//! number 8 bytes, little-endian · text: its length as a number, its bytes · last: XXH3-64 of all that stands before
//! ```
//! Nothing is believed of what is read before that sum is checked: until then a number only says how many of the bytes
//! that are there belong together.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::packed::{PACKED_BYTES, Packed};
use super::spool::Spool;
use super::{Batch, Catalog, Inputs};
use crate::source::spill;

/// Rows that are written at a time.
const ROWS_AT_ONCE: usize = 1 << 10;
/// Bytes of the sum at the end.
const SUM_BYTES: u64 = 8;

/// Where the rows of an input begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    row: usize,
    text: u64,
}

impl Catalog {
    /// Where the next row will be.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            row: self.len(),
            text: self.spool.len(),
        }
    }

    /// About how many bytes [`Catalog::save`] writes.
    #[must_use]
    pub fn saved_bytes(&self, mark: Mark) -> u64 {
        let n_rows = (self.len() - mark.row) as u64;
        n_rows * PACKED_BYTES as u64 + self.spool.len() - mark.text
    }

    /// Saves all rows from `mark` on, as they were read.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, mark: Mark, to: &mut Writer<impl Write>) -> io::Result<()> {
        let rows = &self.rows.0[mark.row..];
        to.number(rows.len() as u64)?;
        let mut block = Vec::with_capacity(ROWS_AT_ONCE * PACKED_BYTES);
        for some in rows.chunks(ROWS_AT_ONCE) {
            block.clear();
            for row in some {
                block.extend_from_slice(&row.moved_back(mark.text).to_bytes());
            }
            to.put(&block)?;
        }
        let (texts, ordinals) = self.spool.since(mark.text);
        to.number(ordinals.len() as u64)?;
        for (text, number) in ordinals {
            to.number(text)?;
            to.number(number)?;
        }
        to.text(texts)
    }
}

impl Mark {
    /// The index of its row.
    #[must_use]
    pub fn row(self) -> usize {
        self.row
    }
}

impl Batch {
    /// Bytes of its rows and texts.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.rows.len() as u64 * PACKED_BYTES as u64 + self.spool.len()
    }

    /// The rows that [`Catalog::save`] saved, whose texts may stand in `inputs`.
    ///
    /// # Errors
    /// They cannot be read, or are not whole.
    pub fn load(from: &mut Reader<impl Read>, inputs: Inputs) -> io::Result<Self> {
        let n_rows = from.count(PACKED_BYTES)?;
        let mut rows = Vec::with_capacity(n_rows);
        let mut row = [0; PACKED_BYTES];
        for _ in 0..n_rows {
            from.take(&mut row)?;
            rows.push(Packed::from_bytes(row));
        }
        let mut ordinals = Vec::new();
        for _ in 0..from.count(16)? {
            ordinals.push((from.number()?, from.number()?));
        }
        let text = spill::text_first(|| from.text())?;
        Ok(Self {
            rows,
            spool: Spool::of(text, ordinals, inputs),
        })
    }
}

/// Writes numbers and texts, and at the end their sum.
pub struct Writer<W: Write> {
    to: BufWriter<W>,
    sum: Xxh3Default,
}

impl<W: Write> Writer<W> {
    /// Writes to `to`.
    pub fn new(to: W) -> Self {
        Self {
            to: BufWriter::with_capacity(1 << 16, to),
            sum: Xxh3Default::new(),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn number(&mut self, number: u64) -> io::Result<()> {
        self.put(&number.to_le_bytes())
    }

    /// A number that may not be there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn number_if_any(&mut self, number: Option<u64>) -> io::Result<()> {
        self.number(u64::from(number.is_some()))?;
        self.number(number.unwrap_or(0))
    }

    /// A hash.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn hash(&mut self, hash: u128) -> io::Result<()> {
        self.put(&hash.to_le_bytes())
    }

    /// A text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.put(text)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.to.write_all(bytes)
    }

    /// Adds the sum; what was written to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        let sum = self.sum.digest();
        self.to.write_all(&sum.to_le_bytes())?;
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Reads what a [`Writer`] wrote.
pub struct Reader<R: Read> {
    from: BufReader<R>,
    sum: Xxh3Default,
    /// Bytes before the sum that were not read.
    n_left: u64,
}

impl<R: Read> Reader<R> {
    /// Reads `n_bytes` of `from`, the sum included.
    pub fn new(from: R, n_bytes: u64) -> Self {
        Self {
            from: BufReader::with_capacity(1 << 16, from),
            sum: Xxh3Default::new(),
            n_left: n_bytes.saturating_sub(SUM_BYTES),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// It is not there.
    pub fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.take(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A number that may not be there.
    ///
    /// # Errors
    /// Nothing says whether it is.
    pub fn number_if_any(&mut self) -> io::Result<Option<u64>> {
        let is_there = self.number()? == 1;
        let number = self.number()?;
        Ok(is_there.then_some(number))
    }

    /// A hash.
    ///
    /// # Errors
    /// It is not there.
    pub fn hash(&mut self) -> io::Result<u128> {
        let mut bytes = [0; 16];
        self.take(&mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// A text.
    ///
    /// # Errors
    /// It is not whole.
    pub fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut text = vec![0; self.count(1)?];
        self.take(&mut text)?;
        Ok(text)
    }

    /// A number of things that have `n_bytes` or more each.
    ///
    /// # Errors
    /// So many are not there.
    pub fn count(&mut self, n_bytes: usize) -> io::Result<usize> {
        let count = self.number()?;
        let is_there = count
            .checked_mul(n_bytes as u64)
            .is_some_and(|bytes| bytes <= self.n_left);
        match usize::try_from(count) {
            Ok(count) if is_there => Ok(count),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn take(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let left = self.n_left.checked_sub(bytes.len() as u64);
        self.n_left = left.ok_or(ErrorKind::UnexpectedEof)?;
        self.from.read_exact(bytes)?;
        self.sum.update(bytes);
        Ok(())
    }

    /// Checks that all was read, and that it is what was written.
    ///
    /// # Errors
    /// It is not.
    pub fn finish(mut self) -> io::Result<()> {
        let mut sum = [0; 8];
        self.from.read_exact(&mut sum)?;
        if self.n_left == 0 && u64::from_le_bytes(sum) == self.sum.digest() {
            Ok(())
        } else {
            Err(ErrorKind::InvalidData.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.number(7).unwrap();
        writer.number_if_any(None).unwrap();
        writer.number_if_any(Some(0)).unwrap();
        writer.hash(1 << 127).unwrap();
        writer.text(b"text").unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<()> {
        let mut reader = Reader::new(bytes, bytes.len() as u64);
        assert_eq!(reader.number()?, 7);
        assert_eq!(reader.number_if_any()?, None);
        assert_eq!(reader.number_if_any()?, Some(0));
        assert_eq!(reader.hash()?, 1 << 127);
        assert_eq!(reader.text()?, b"text");
        reader.finish()
    }

    #[test]
    fn reads_what_was_written_and_nothing_that_was_cut() {
        let bytes = written();
        read(&bytes).unwrap();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        let more = [bytes, vec![0]].concat();
        assert!(read(&more).is_err());
    }

    #[test]
    fn notices_a_bit_that_changed() {
        let bytes = written();
        // The numbers before are asserted.
        for at in 64..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let mut reader = Reader::new(&changed[..], changed.len() as u64);
            let outcome = (|| {
                for _ in 0..5 {
                    reader.number()?;
                }
                reader.hash()?;
                reader.text()?;
                reader.finish()
            })();
            assert!(outcome.is_err(), "{at}");
        }
    }

    #[test]
    fn allocates_nothing_by_a_number_that_is_read() {
        let mut writer = Writer::new(Vec::new());
        writer.number(u64::MAX).unwrap();
        let bytes = writer.finish().unwrap();
        let reader = || Reader::new(&bytes[..], bytes.len() as u64);
        assert!(reader().text().is_err());
        assert!(Batch::load(&mut reader(), Inputs::default()).is_err());
    }
}
