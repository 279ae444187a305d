//! Keys in any order into a sorted set, in bounded memory: full buffers are sorted and spilled, and the
//! spilled runs are merged as a stream.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::KEY_LEN;
use super::merge::{for_each, merge_runs};
use crate::key::ComparisonKey;
use crate::policy::PolicyId;
use crate::{Error, Result};

/// Open files are few; this many runs are merged into one before another is begun.
const RUNS_MAX: usize = 64;
/// What one run reads at once.
const RUN_BUF_LEN: usize = 1 << 16;

/// Collects keys for a key set.
#[derive(Debug)]
pub struct Sorter {
    keys: Vec<ComparisonKey>,
    keys_max: usize,
    runs: Vec<File>,
    /// Where runs are spilled, as files without a name.
    folder: PathBuf,
}

impl Sorter {
    /// A sorter that holds at most `bytes_max` of keys and spills the others to `folder`.
    #[must_use]
    pub fn new(bytes_max: usize, folder: &Path) -> Self {
        Self {
            keys: Vec::new(),
            keys_max: (bytes_max / KEY_LEN).max(1024),
            runs: Vec::new(),
            folder: folder.to_owned(),
        }
    }

    /// Takes a key, which may have been there already.
    ///
    /// # Errors
    /// The disk is full.
    pub fn push(&mut self, key: ComparisonKey) -> Result<()> {
        if self.keys.len() == self.keys_max {
            self.spill()
                .map_err(|source| Error::io("spill keys to", &self.folder, source))?;
        }
        if self.keys.len() == self.keys.capacity() {
            // Doubling would go beyond the limit on its last step.
            let more = self
                .keys
                .len()
                .max(1024)
                .min(self.keys_max - self.keys.len());
            self.keys.reserve_exact(more);
        }
        self.keys.push(key);
        Ok(())
    }

    /// Writes all of them, sorted and each once, as a set of the policy `id`; how many there are.
    ///
    /// # Errors
    /// A spilled run cannot be read, or the sink takes no more.
    pub fn write_to(mut self, id: &PolicyId, sink: &mut dyn Write) -> Result<u64> {
        self.sort();
        let written = self.take_runs().and_then(|mut runs| {
            let rest = self.keys.iter().copied().map(Ok);
            runs.push(Run::Memory(Box::new(rest)));
            merge_runs(runs, &id.to_string(), sink)
        });
        written.map_err(|source| Error::io("write", Path::new("key set"), source))
    }

    fn sort(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        if self.keys.len() <= self.keys_max / 2 {
            // Half of them were there twice: go on in memory.
            return Ok(());
        }
        let mut file = tempfile::tempfile_in(&self.folder)?;
        if self.runs.len() == RUNS_MAX {
            let runs = self.take_runs()?;
            let mut merged = tempfile::tempfile_in(&self.folder)?;
            let mut last = None;
            let mut sink = BufWriter::with_capacity(RUN_BUF_LEN, &mut merged);
            for_each(runs, |key| {
                if last == Some(key) {
                    return Ok(());
                }
                last = Some(key);
                sink.write_all(&key.to_bytes())
            })?;
            sink.flush()?;
            drop(sink);
            self.runs.push(merged);
        }
        let mut sink = BufWriter::with_capacity(RUN_BUF_LEN, &mut file);
        for key in self.keys.drain(..) {
            sink.write_all(&key.to_bytes())?;
        }
        sink.flush()?;
        drop(sink);
        self.runs.push(file);
        Ok(())
    }

    /// The spilled runs, from their starts.
    fn take_runs(&mut self) -> io::Result<Vec<Run<'static>>> {
        std::mem::take(&mut self.runs)
            .into_iter()
            .map(|mut file| {
                file.rewind()?;
                Ok(Run::File(BufReader::with_capacity(RUN_BUF_LEN, file)))
            })
            .collect()
    }
}

/// Keys that ascend.
enum Run<'a> {
    File(BufReader<File>),
    Memory(Box<dyn Iterator<Item = io::Result<ComparisonKey>> + 'a>),
}

impl Iterator for Run<'_> {
    type Item = io::Result<ComparisonKey>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(keys) => keys.next(),
            Self::File(file) => {
                let mut bytes = [0; KEY_LEN];
                match file.read_exact(&mut bytes) {
                    Ok(()) => Some(Ok(ComparisonKey::from_bytes(bytes))),
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
                    Err(error) => Some(Err(error)),
                }
            }
        }
    }
}
