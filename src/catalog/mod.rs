//! The table of captures: one fixed-width row each, and the text of it in a spool.
//!
//! Rows are pushed in batches by the readers' threads, each batch for one stretch of one input, and
//! concatenated in input order, so that row ids do not depend on the number of threads.
//!
//! Knows `capture`, `digest`, `error`, `key`, `set` and `source`; must never know what a key means, nor import who fills or reads the table.

pub mod index;
pub mod methods;
pub mod saved;

mod asked;
mod batch;
mod fields;
mod inputs;
mod keys;
mod leb128;
mod packed;
mod restored;
mod row;
mod spool;
mod starts;
mod store;
mod text;

pub use batch::Batch;
pub use inputs::Inputs;
pub use keys::{Keys, Reference, Target};
pub use packed::Rows;
pub use row::{Row, RowFlags, RowId};
pub use starts::RecordStarts;

use std::cmp::Ordering;
use std::hint::black_box;
use std::sync::Arc;

use rayon::prelude::*;

use asked::Asked;
use batch::{end_member, make_room};
use fields::Field;
use packed::Packed;

use crate::Result;
use crate::capture::{Capture, FileId, Locator};
use crate::digest;
use crate::key::ComparisonKey;
use row::hash_or_zero;
use spool::Spool;

/// All captures of a run.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Shared with what is read off them later; changed only before that.
    rows: Rows,
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
        let rows = self.rows_mut();
        if rows.is_empty() {
            *rows = batch.rows;
            return;
        }
        make_room(rows, batch.rows.len());
        rows.extend(batch.rows.into_iter().map(|row| row.moved(base)));
    }

    /// Gives back the room that was kept for more captures.
    pub fn shrink(&mut self) {
        self.rows_mut().shrink_to_fit();
        self.spool.shrink();
    }

    /// The same as [`Batch::end_member`], for rows that were appended before their member ended.
    pub fn end_member(&mut self, file: FileId, offset: u64, length: u64, n_records: u64) {
        let rows = Arc::make_mut(&mut self.rows.0);
        let is_in = |locator: &Locator| (locator.file, locator.offset) == (file, offset);
        end_member(rows, &mut self.spool, is_in, (length, n_records));
    }

    /// Tells whether the mapped inputs in which texts stand still are what was read.
    ///
    /// # Errors
    /// One was cut, written to, or replaced.
    pub fn check_unchanged(&self) -> Result<()> {
        self.spool.inputs().check_unchanged()
    }

    /// Number of captures and revisits, index lines included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.0.is_empty()
    }

    /// All rows, in input order; the index is the row id.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.rows.0.iter().map(Packed::row)
    }

    /// The same, for what outlives a borrow of the catalog.
    #[must_use]
    pub fn shared_rows(&self) -> Rows {
        self.rows.clone()
    }

    /// One row.
    #[must_use]
    #[expect(
        clippy::inline_always,
        reason = "its callers want one fact of many, as those of `Packed::row` do"
    )]
    #[inline(always)]
    pub fn row(&self, id: RowId) -> Row {
        self.rows.get(id)
    }

    /// Gives a row another key.
    pub fn set_key(&mut self, id: RowId, key: ComparisonKey) {
        self.rows_mut()[id.index()].set_key(key);
    }

    /// Flags a row.
    pub fn set_flag(&mut self, id: RowId, flag: RowFlags) {
        self.rows_mut()[id.index()].set_flag(flag);
    }

    fn rows_mut(&mut self) -> &mut Vec<Packed> {
        Arc::make_mut(&mut self.rows.0)
    }

    /// Where the text of a row stands.
    fn text(&self, id: RowId) -> u64 {
        self.rows.0[id.index()].text()
    }

    /// Where the capture stands.
    #[must_use]
    pub fn locator(&self, id: RowId) -> Locator {
        self.spool.locator(self.text(id))
    }

    /// Hash of the record id (XXH3-128), 0 for none.
    #[must_use]
    pub fn record_id(&self, id: RowId) -> u128 {
        if !self.row(id).flags.contains(RowFlags::RECORD_ID) {
            return 0;
        }
        hash_or_zero(self.spool.field(self.text(id), Field::RecordId))
    }

    /// The ids of all rows, in input order.
    pub fn ids(&self) -> impl Iterator<Item = RowId> + use<> {
        (0..self.len()).map(RowId::from_index)
    }

    /// The same, for many threads.
    pub fn par_ids(&self) -> impl IndexedParallelIterator<Item = RowId> + use<> {
        (0..self.len()).into_par_iter().map(RowId::from_index)
    }

    /// Rows that [`Catalog::touch`] is given at once: of many more, the first leave the cache before they are asked for.
    pub const TOUCHED_ROWS: usize = 128;

    /// Reads a byte of each of `rows`, of its text and of what that refers to, so that they are in the cache. The processor has many
    /// of these look-ups under way, where row after row it waits for each.
    pub fn touch(&self, rows: &[RowId]) {
        self.touch_rows(rows);
        let texts: Vec<u64> = rows.iter().map(|row| self.text(*row)).collect();
        self.spool.touch(&texts);
    }

    /// The same for what is fixed of each row, in some hundred rows.
    pub fn touch_rows(&self, rows: &[RowId]) {
        let all = rows.iter().map(|row| &self.rows.0[row.index()]);
        black_box(all.fold(0, |sum, row| sum ^ row.touch()));
    }

    /// The target URI of a row.
    #[must_use]
    pub fn target_uri(&self, id: RowId) -> &[u8] {
        self.spool.target_uri(self.text(id))
    }

    /// The resolved `Location` of a redirect; else empty.
    #[must_use]
    pub fn redirect_to(&self, id: RowId) -> &[u8] {
        if self.row(id).flags.contains(RowFlags::LEADS) {
            self.spool.field(self.text(id), Field::RedirectTo)
        } else {
            b""
        }
    }

    /// Where a redirect leads.
    #[must_use]
    pub fn target(&self, id: RowId) -> Target {
        let row = self.row(id);
        if row.flags.contains(RowFlags::LEADS) {
            self.spool.target(self.text(id))
        } else {
            Target::None
        }
    }

    /// Identity of the declared digest, 0 for none.
    #[must_use]
    pub fn declared(&self, id: RowId) -> u128 {
        let row = self.row(id);
        if row.flags.contains(RowFlags::DECLARED_DIFFERS) {
            let declared = self.spool.declared(self.text(id));
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
        let decoded = self.spool.decoded(self.text(id));
        decoded.as_ref().map_or(0, digest::identity)
    }

    /// XXH3-128 of the payload where it was read, else 0.
    #[must_use]
    pub fn body_hash(&self, id: RowId) -> u128 {
        if self.row(id).flags.contains(RowFlags::INDEX_LINE) {
            0
        } else {
            self.spool.body_hash(self.text(id))
        }
    }

    /// Hash of the visible text without digits, where it was asked for.
    #[must_use]
    pub fn text_hash(&self, id: RowId) -> Option<u64> {
        let row = self.row(id);
        let has_text = row.flags.contains(RowFlags::TEXT);
        has_text.then(|| self.spool.text_hash(self.text(id)))
    }

    /// What a revisit refers to; of any other row, nothing.
    #[must_use]
    pub fn reference(&self, id: RowId) -> Reference {
        self.spool.reference(self.text(id))
    }

    /// Whether the `Content-Language` of two rows are both known and share no primary subtag.
    #[must_use]
    pub fn languages_differ(&self, one: RowId, other: RowId) -> bool {
        let has_language = |id| self.row(id).flags.contains(RowFlags::LANGUAGE);
        if !has_language(one) || !has_language(other) {
            return false;
        }
        let language = |id| self.spool.field(self.text(id), Field::Language);
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
            let locator = self.locator(id);
            (self.base_name(locator.file), locator.ordinal, id)
        };
        self.target_uri(one)
            .cmp(self.target_uri(other))
            .then_with(|| place(one).cmp(&place(other)))
    }

    /// The file that an index line states, as written; else empty.
    #[must_use]
    pub fn stated_file(&self, id: RowId) -> &[u8] {
        self.spool.stated_file(self.text(id))
    }

    /// Keeps only the rows that `is_kept` admits. Row ids change.
    fn retain(&mut self, is_kept: impl Fn(RowId) -> bool) {
        let mut asked = hashbrown::HashMap::new();
        let rows = Arc::make_mut(&mut self.rows.0);
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
        rows.shrink_to_fit();
        self.asked = asked;
    }

    /// The row of the record at an ordinal of an input. Before index lines are resolved rows stand in that order.
    #[must_use]
    pub fn find(&self, file: FileId, ordinal: u64) -> Option<RowId> {
        let place = self.rows.0.binary_search_by_key(&(file, ordinal), |row| {
            let locator = self.spool.locator(row.text());
            (locator.file, locator.ordinal)
        });
        place.ok().map(RowId::from_index)
    }

    /// Puts the only capture of `batch` in the place of a row, whose locator stays.
    pub fn replace(&mut self, id: RowId, batch: &Batch) {
        let Some(new) = batch.rows.first() else {
            return;
        };
        let (row, text) = (new.row(), new.text());
        let capture = Capture {
            locator: self.locator(id),
            ..batch.spool.capture(&row, text)
        };
        let keys = Keys {
            url: row.key,
            kind: row.kind,
            flags: row.flags,
            target: batch.spool.target(text),
            redirect_to: batch.spool.field(text, Field::RedirectTo),
            refers_to: batch.spool.reference(text).key,
        };
        let text = self.spool.push(&capture, &keys);
        self.rows_mut()[id.index()] = Packed::new(&row, text);
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

/// What follows the last `/` of a file name.
fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}
