//! Key sets: the sorted distinct comparison keys of a run, on disk, so that a later crawl can be held
//! against what is already held (`--keys-out`, `--keys-in`).
//!
//! A file is mapped and searched in place. Its keys belong to one policy id, and a set of another is
//! refused: keys of two policies say nothing about each other. Knows keys and policy ids; must never
//! import captures, or know what a key means.
//!
//! ```text
//! "dedupe\0k"  version: u32  len of the id: u32  id, zeros up to a multiple of 16
//! keys, 16 bytes each (low half, high half), strictly ascending
//! count: u64  "k\0edupe!"  XXH3-128 of all that stands before
//! ```
//! All numbers are little-endian. The count stands at the end, so that a set is written as a stream.

mod merge;
mod search;
mod sorter;

use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::key::ComparisonKey;
use crate::policy::PolicyId;
use crate::source::Map;
use crate::{Error, Result};

pub use merge::merge;
pub use sorter::Sorter;

const MAGIC: &[u8; 8] = b"dedupe\0k";
const END: &[u8; 8] = b"k\0edupe!";
const VERSION: u32 = 1;
/// Magic, version and length of the id.
const HEADER_LEN: usize = 16;
/// Count, end mark and checksum.
const FOOTER_LEN: usize = 32;
/// What a key takes on disk.
const KEY_LEN: usize = 16;

/// A key set on disk.
#[derive(Debug)]
pub struct KeySet {
    map: Map,
    path: PathBuf,
    id: String,
    /// Where the keys stand.
    keys: std::ops::Range<usize>,
}

impl KeySet {
    /// Maps the set at `path`, whatever its policy; reads all of it once, to check it.
    ///
    /// # Errors
    /// The file cannot be read, is no key set, or was cut or changed: a usage error.
    pub fn open_any(path: &Path) -> Result<Self> {
        let map = Map::open(path)?;
        let (id, keys) = check(&map).map_err(|why| Error::usage(why).at(path))?;
        Ok(Self {
            map,
            path: path.to_owned(),
            id,
            keys,
        })
    }

    /// Maps a set of the policy `id`.
    ///
    /// # Errors
    /// As [`KeySet::open_any`], and where the set is of another policy.
    pub fn open(path: &Path, id: &PolicyId) -> Result<Self> {
        let set = Self::open_any(path)?;
        set.refuse_other(&id.to_string())?;
        Ok(set)
    }

    fn refuse_other(&self, id: &str) -> Result<()> {
        if self.id == id {
            return Ok(());
        }
        let name = |id: &str| id.split('+').next().unwrap_or_default().to_owned();
        Err(Error::usage(format!(
            "its keys are of policy {}, not of {id}, and keys of two policies never meet; \
             `dedupe policy diff {} {}` says what differs",
            self.id,
            name(&self.id),
            name(id),
        ))
        .at(&self.path))
    }

    /// The policy id, as [`PolicyId`] writes it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many keys it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len() / KEY_LEN
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether `key` is in it; a few probes, no allocation.
    #[must_use]
    pub fn contains(&self, key: ComparisonKey) -> bool {
        search::contains(self.bytes(), key)
    }

    /// Its keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ComparisonKey> {
        self.bytes().chunks_exact(KEY_LEN).map(key_of)
    }

    fn bytes(&self) -> &[u8] {
        &self.map[self.keys.clone()]
    }
}

/// The id and the place of the keys, or what is wrong.
fn check(file: &[u8]) -> std::result::Result<(String, std::ops::Range<usize>), &'static str> {
    if !file.starts_with(MAGIC) {
        return Err("no key set; expected a file that --keys-out wrote");
    }
    let cut = "key set was cut; write it anew";
    let changed = "key set was changed since it was written; write it anew";
    if file.len() < HEADER_LEN + FOOTER_LEN {
        return Err(cut);
    }
    if u32_at(file, 8) != VERSION {
        return Err("key set of another version of dedupe; write it anew");
    }
    let (body, checksum) = file.split_at(file.len() - 16);
    let (body, end) = body.split_at(body.len() - 8);
    if end != END {
        return Err(cut);
    }
    if checksum != xxh3_128(&file[..file.len() - 16]).to_le_bytes() {
        return Err(changed);
    }
    let (body, count) = body.split_at(body.len() - 8);
    let id_len = usize::try_from(u32_at(file, 12)).map_err(|_| changed)?;
    let start = HEADER_LEN
        .checked_add(padded(id_len))
        .filter(|start| *start <= body.len());
    let start = start.ok_or(changed)?;
    let n_keys = u64::from_le_bytes(count.try_into().map_err(|_| changed)?);
    if (body.len() - start) as u64 != n_keys.saturating_mul(KEY_LEN as u64) {
        return Err(changed);
    }
    let id = std::str::from_utf8(&file[HEADER_LEN..HEADER_LEN + id_len]).map_err(|_| changed)?;
    Ok((id.to_owned(), start..body.len()))
}

fn u32_at(file: &[u8], at: usize) -> u32 {
    file[at..at + 4]
        .iter()
        .rev()
        .fold(0, |value, byte| (value << 8) | u32::from(*byte))
}

/// The length up to the next multiple of 16.
fn padded(len: usize) -> usize {
    len.div_ceil(16).saturating_mul(16)
}

/// A key as it stands in a file; `bytes` has [`KEY_LEN`] bytes.
fn key_of(bytes: &[u8]) -> ComparisonKey {
    let bytes = bytes.try_into().expect("keys are read one by one");
    ComparisonKey::from_bytes(bytes)
}

/// Writes ascending keys as a set; equal ones once.
#[derive(Debug)]
struct Writer<W: Write> {
    sink: W,
    hasher: Xxh3,
    n_keys: u64,
    last: Option<ComparisonKey>,
}

/// The hasher, which cannot be printed.
struct Xxh3(Box<Xxh3Default>);

impl std::fmt::Debug for Xxh3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Xxh3")
    }
}

impl<W: Write> Writer<W> {
    fn new(sink: W, id: &str) -> std::io::Result<Self> {
        let mut writer = Self {
            sink,
            hasher: Xxh3(Box::new(Xxh3Default::new())),
            n_keys: 0,
            last: None,
        };
        let id_len = u32::try_from(id.len()).map_err(std::io::Error::other)?;
        writer.put(MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        writer.put(&id_len.to_le_bytes())?;
        writer.put(id.as_bytes())?;
        let padding = padded(id.len()) - id.len();
        writer.put(&[0; 16][..padding])?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.0.update(bytes);
        self.sink.write_all(bytes)
    }

    fn push(&mut self, key: ComparisonKey) -> std::io::Result<()> {
        if self.last == Some(key) {
            return Ok(());
        }
        debug_assert!(self.last < Some(key), "keys ascend");
        self.last = Some(key);
        self.n_keys += 1;
        self.put(&key.to_bytes())
    }

    /// How many keys were written.
    fn finish(mut self) -> std::io::Result<u64> {
        let count = self.n_keys.to_le_bytes();
        self.put(&count)?;
        self.put(END)?;
        let checksum = self.hasher.0.digest128();
        self.sink.write_all(&checksum.to_le_bytes())?;
        self.sink.flush()?;
        Ok(self.n_keys)
    }
}

#[cfg(test)]
mod tests;
