//! The table of captures: one fixed-width row each, and the text of it in a spool.
//!
//! Rows are pushed in batches by the readers' threads, each batch for one stretch of one input, and
//! concatenated in input order, so that row ids do not depend on the number of threads.
//!
//! Knows `capture`, `digest` and `key`; must never know what a key means, nor import who fills or reads the table.

pub mod index;
pub mod methods;

mod row;
mod spool;
mod starts;
mod text;

pub use row::{Row, RowFlags, RowId};
pub use starts::RecordStarts;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::capture::{Capture, FileId, Method, Timestamp};
use crate::digest;
use crate::key::{ComparisonKey, Kind};
use spool::Spool;

/// What a redirect's `Location` (resolved) or a revisit's reference leads to, keyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// No target.
    None,
    /// Followed by its key.
    Key(ComparisonKey),
    /// Another scheme, or nothing that can be resolved (`not-http`).
    NotHttp,
    /// User info in it (`credentials`).
    Credentials,
    /// Outside the policy's scope (`out-of-scope`).
    OutOfScope,
}

/// What keying found of one capture; given to [`Batch::push`] beside the capture.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    /// Key of the target URI, as if asked for with GET.
    pub url: ComparisonKey,
    /// What sort of URI it is.
    pub kind: Kind,
    /// Fragment route, credentials, signature.
    pub flags: RowFlags,
    /// Of a redirect: where it leads.
    pub target: Target,
    /// Of a redirect: the resolved `Location`; else empty.
    pub redirect_to: &'a [u8],
    /// Of a revisit: key of `WARC-Refers-To-Target-URI`.
    pub refers_to: Option<ComparisonKey>,
}

/// What a revisit refers to, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Hash of the record id as in [`Row::record_id`], 0 for none.
    pub record_id: u128,
    /// Key of the URI, as if asked for with GET.
    pub key: Option<ComparisonKey>,
    /// Date of the record referred to.
    pub date: Timestamp,
}

/// A batch of more rows grows by an eighth.
const DOUBLED_MAX: usize = 1 << 17;

/// Rows of one stretch of one input.
#[derive(Debug, Default)]
pub struct Batch {
    rows: Vec<Row>,
    spool: Spool,
}

impl Batch {
    /// Adds a capture.
    pub fn push(&mut self, capture: &Capture<'_>, keys: &Keys<'_>) {
        let text = self.spool.push(capture, keys);
        make_room(&mut self.rows, 1);
        self.rows.push(Row::new(capture, keys, text));
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Gives the last rows, as far as they stand in the member at `offset`, its length; how many rows stand before these.
    pub fn end_member(&mut self, offset: u64, length: u64, n_records: u64) -> usize {
        row::end_member(&mut self.rows, offset, length, n_records)
    }

    /// Counts ordinals from `n_before` on.
    pub fn move_ordinals(&mut self, n_before: u64) {
        for row in &mut self.rows {
            row.ordinal += n_before;
        }
    }
}

/// How a row was asked for, if not with GET.
#[derive(Clone, Debug)]
struct Asked {
    /// Key of the target URI alone; the row's covers the method too.
    url_key: ComparisonKey,
    /// `None` where the record itself says it.
    method: Option<Vec<u8>>,
    body_hash: u128,
}

/// All captures of a run.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Shared with what is read off them later; changed only before that.
    rows: Arc<Vec<Row>>,
    spool: Spool,
    files: Vec<Vec<u8>>,
    /// Rows that were not asked for with GET.
    asked: hashbrown::HashMap<RowId, Asked>,
}

impl Catalog {
    /// An empty catalog of the inputs with these names (as given or found), in reading order.
    #[must_use]
    pub fn new(files: Vec<Vec<u8>>) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// Appends a batch; batches must come in input order.
    pub fn append(&mut self, batch: Batch) {
        let base = self.spool.append(batch.spool);
        let rows = Arc::make_mut(&mut self.rows);
        if rows.is_empty() {
            *rows = batch.rows;
            return;
        }
        make_room(rows, batch.rows.len());
        rows.extend(batch.rows.into_iter().map(|row| Row {
            text: row.text + base,
            ..row
        }));
    }

    /// The same as [`Batch::end_member`], for rows that were appended before their member ended.
    pub fn end_member(&mut self, file: FileId, offset: u64, length: u64, n_records: u64) {
        let rows = Arc::make_mut(&mut self.rows);
        let first = rows.iter().rposition(|row| row.file != file);
        let of_file = &mut rows[first.map_or(0, |last| last + 1)..];
        row::end_member(of_file, offset, length, n_records);
    }

    /// Number of captures and revisits, index lines included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All rows, in input order; the index is the row id.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same, for what outlives a borrow of the catalog.
    #[must_use]
    pub fn shared_rows(&self) -> Arc<Vec<Row>> {
        Arc::clone(&self.rows)
    }

    /// One row.
    #[must_use]
    pub fn row(&self, id: RowId) -> &Row {
        &self.rows[id.index()]
    }

    /// One row, to be changed (method keys, segments).
    pub fn row_mut(&mut self, id: RowId) -> &mut Row {
        &mut Arc::make_mut(&mut self.rows)[id.index()]
    }

    /// The ids of all rows, in input order.
    pub fn ids(&self) -> impl Iterator<Item = RowId> + use<> {
        (0..self.rows.len()).map(RowId::from_index)
    }

    /// The capture as it was pushed.
    #[must_use]
    pub fn capture(&self, id: RowId) -> Capture<'_> {
        let capture = self.spool.capture(self.row(id));
        let asked = self.asked.get(&id);
        match asked.and_then(|asked| Some((asked.method.as_deref()?, asked.body_hash))) {
            Some((name, body_hash)) => Capture {
                method: Method { name, body_hash },
                ..capture
            },
            None => capture,
        }
    }

    /// The target URI of a row.
    #[must_use]
    pub fn target_uri(&self, id: RowId) -> &[u8] {
        self.spool.target_uri(self.row(id).text)
    }

    /// The resolved `Location` of a redirect; else empty.
    #[must_use]
    pub fn redirect_to(&self, id: RowId) -> &[u8] {
        self.spool.redirect_to(self.row(id).text)
    }

    /// Where a redirect leads.
    #[must_use]
    pub fn target(&self, id: RowId) -> Target {
        let row = self.row(id);
        if row.flags.contains(RowFlags::LEADS) {
            self.spool.target(row.text)
        } else {
            Target::None
        }
    }

    /// Identity of the declared digest, 0 for none.
    #[must_use]
    pub fn declared(&self, id: RowId) -> u128 {
        let row = self.row(id);
        if row.flags.contains(RowFlags::DECLARED_DIFFERS) {
            let declared = self.spool.declared(row.text);
            declared.as_ref().map_or(0, digest::identity)
        } else if row.flags.contains(RowFlags::DECLARED) {
            row.payload
        } else {
            0
        }
    }

    /// Identity of the digest after content decoding, 0 where there is none.
    #[must_use]
    pub fn decoded(&self, id: RowId) -> u128 {
        let row = self.row(id);
        if !row.flags.contains(RowFlags::DECODED) {
            return 0;
        }
        let decoded = self.spool.decoded(row.text);
        decoded.as_ref().map_or(0, digest::identity)
    }

    /// XXH3-128 of the payload where it was read, else 0.
    #[must_use]
    pub fn body_hash(&self, id: RowId) -> u128 {
        self.row(id).body_hash
    }

    /// Hash of the visible text without digits, where it was asked for.
    #[must_use]
    pub fn text_hash(&self, id: RowId) -> Option<u64> {
        let row = self.row(id);
        let has_text = row.flags.contains(RowFlags::TEXT);
        has_text.then(|| self.spool.text_hash(row.text))
    }

    /// What a revisit refers to; of any other row, nothing.
    #[must_use]
    pub fn reference(&self, id: RowId) -> Reference {
        self.spool.reference(self.row(id).text)
    }

    /// Whether the `Content-Language` of two rows are both known and share no primary subtag.
    #[must_use]
    pub fn languages_differ(&self, one: RowId, other: RowId) -> bool {
        let language = |id| self.spool.language(self.row(id).text);
        text::languages_differ(language(one), language(other))
    }

    /// The path of the target URI as found; `/` for an empty one.
    #[must_use]
    pub fn path(&self, id: RowId) -> &[u8] {
        text::path(self.target_uri(id))
    }

    /// Whether a redirect leads to the root of a host: path `/` and no query.
    #[must_use]
    pub fn redirects_home(&self, id: RowId) -> bool {
        let to = self.redirect_to(id);
        !to.is_empty() && text::is_home(to)
    }

    /// The last steps of the keeper's total order: URL bytes, file base name, ordinal, input order.
    #[must_use]
    pub fn tie_order(&self, one: RowId, other: RowId) -> Ordering {
        let place = |id: RowId| {
            let row = self.row(id);
            (self.base_name(row.file), row.ordinal, id)
        };
        self.target_uri(one)
            .cmp(self.target_uri(other))
            .then_with(|| place(one).cmp(&place(other)))
    }

    /// Key of the target URI alone, whatever the method.
    #[must_use]
    pub fn url_key(&self, id: RowId) -> ComparisonKey {
        let asked = self.asked.get(&id);
        asked.map_or(self.row(id).key, |asked| asked.url_key)
    }

    /// Makes `key` (which covers method and request body) the key of a row; its URL key is kept.
    pub fn set_method_key(&mut self, id: RowId, key: ComparisonKey) {
        let row = &mut Arc::make_mut(&mut self.rows)[id.index()];
        self.asked.entry(id).or_insert(Asked {
            url_key: row.key,
            method: None,
            body_hash: 0,
        });
        row.key = key;
        row.flags.insert(RowFlags::NOT_GET);
    }

    /// Keys a row by what it was asked for with, which is no GET.
    fn set_method(&mut self, id: RowId, method: Method<'_>) {
        let key = self.url_key(id).with_method(method.name, method.body_hash);
        self.set_method_key(id, key);
        if let Some(asked) = self.asked.get_mut(&id) {
            asked.method = Some(method.name.to_vec());
            asked.body_hash = method.body_hash;
        }
        if method.name == b"HEAD" {
            self.row_mut(id).flags.insert(RowFlags::HEAD);
        }
    }

    /// The file that an index line states, as written; else empty.
    #[must_use]
    pub fn stated_file(&self, id: RowId) -> &[u8] {
        self.spool.stated_file(self.row(id).text)
    }

    /// Keeps only the rows that `is_kept` admits. Row ids change.
    fn retain(&mut self, is_kept: impl Fn(RowId) -> bool) {
        let mut asked = hashbrown::HashMap::new();
        let rows = Arc::make_mut(&mut self.rows);
        let mut kept = 0;
        for id in (0..rows.len()).map(RowId::from_index) {
            if !is_kept(id) {
                continue;
            }
            rows[kept] = rows[id.index()];
            if let Some(one) = self.asked.remove(&id) {
                asked.insert(RowId::from_index(kept), one);
            }
            kept += 1;
        }
        rows.truncate(kept);
        self.asked = asked;
    }

    /// The row of the record at an ordinal of an input. Before index lines are resolved rows stand in that order.
    #[must_use]
    pub fn find(&self, file: FileId, ordinal: u64) -> Option<RowId> {
        let place = self
            .rows
            .binary_search_by_key(&(file, ordinal), |row| (row.file, row.ordinal));
        place.ok().map(RowId::from_index)
    }

    /// Puts the only capture of `batch` in the place of a row, whose locator stays.
    pub fn replace(&mut self, id: RowId, batch: Batch) {
        let base = self.spool.append(batch.spool);
        let (Some(new), old) = (
            batch.rows.into_iter().next(),
            &mut Arc::make_mut(&mut self.rows)[id.index()],
        ) else {
            return;
        };
        *old = Row {
            text: new.text + base,
            file: old.file,
            ordinal: old.ordinal,
            offset: old.offset,
            length: old.length,
            ..new
        };
    }

    /// Name of an input as given or found.
    #[must_use]
    pub fn file_name(&self, file: FileId) -> &[u8] {
        &self.files[file.0 as usize]
    }

    /// Name of an input without its folders.
    #[must_use]
    pub fn base_name(&self, file: FileId) -> &[u8] {
        base_name(self.file_name(file))
    }
}

/// Grows by less than doubling once that would cost more memory than the rows do.
fn make_room(rows: &mut Vec<Row>, n_rows: usize) {
    if rows.capacity() - rows.len() < n_rows {
        let step = rows.len() / if rows.len() < DOUBLED_MAX { 1 } else { 8 };
        rows.reserve_exact(step.max(n_rows).max(16));
    }
}

/// What follows the last `/` of a file name.
fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}
