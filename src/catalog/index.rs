//! Which index lines are records of the inputs, or one capture with another line.

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::starts::RecordStarts;
use super::{Catalog, Row, RowFlags, RowId, base_name};
use crate::capture::{Damage, Digest, FileId, RecordType};
use crate::key::ComparisonKey;
use crate::set::shared;

/// Named damage is kept up to this many lines; the rest is counted.
const DAMAGE_KEPT_MAX: usize = 100;
/// Spreads an offset over all bits of a hash.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// What became of the index lines of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOutcome {
    /// Lines that are a record, or another line, of the inputs.
    pub index_lines: u64,
    /// Of these, lines that differ from the record they name (warning `index-differs`).
    pub n_differing: u64,
    /// Lines into an input where no record starts.
    pub n_damage: u64,
    /// The first of these, in input order.
    pub damage: Vec<Damage>,
}

/// Takes out of `catalog` what is no capture of its own: index lines that are a record among the inputs or repeat another
/// line, conversions of a record among the inputs, and lines into an input where no record starts. Row ids change.
pub fn resolve(catalog: &mut Catalog, starts: &RecordStarts) -> IndexOutcome {
    let mut outcome = IndexOutcome::default();
    let lines: Vec<RowId> = catalog
        .par_ids()
        .filter(|row| is_line(&catalog.row(*row)))
        .collect();
    if lines.is_empty() {
        return outcome;
    }
    let removed = Resolver::new(catalog, starts, &lines).resolve(&lines, &mut outcome);
    if !removed.is_empty() {
        catalog.retain(|row| !removed.contains(&row));
    }
    outcome
}

/// Whether a row may turn out to be a record among the inputs.
fn is_line(row: &Row) -> bool {
    row.flags.contains(RowFlags::INDEX_LINE) || row.record_type == RecordType::Conversion
}

/// What an index line turns out to be.
enum Identity {
    /// The record of this row.
    Record(RowId),
    /// The capture of an earlier line.
    Repeated,
    /// A record that is no capture, or has another URI.
    OtherRecord,
    /// Nothing: no record starts there.
    Nothing,
    /// A capture of its own.
    Own,
}

struct Resolver<'a> {
    catalog: &'a Catalog,
    /// Inputs that hold records, by base name.
    files: HashMap<&'a [u8], Vec<FileId>>,
    /// Where records start in the inputs that lines name.
    starts: HashMap<FileId, Vec<u64>>,
    by_id: HashMap<u128, RowId>,
    /// Records by file, offset and key; with their second and without.
    by_place: HashMap<u128, RowId>,
}

impl<'a> Resolver<'a> {
    fn new(catalog: &'a Catalog, starts: &RecordStarts, lines: &[RowId]) -> Self {
        let mut files: HashMap<&[u8], Vec<FileId>> = HashMap::new();
        for file in starts.files() {
            files.entry(catalog.base_name(file)).or_default().push(file);
        }
        let mut this = Self {
            catalog,
            files,
            starts: HashMap::new(),
            by_id: HashMap::new(),
            by_place: HashMap::new(),
        };
        let is_all_lines = || {
            let is_line = |row| catalog.row(row).flags.contains(RowFlags::INDEX_LINE);
            catalog.par_ids().all(is_line)
        };
        if starts.is_empty() && is_all_lines() {
            return this;
        }
        let mut ids = HashSet::new();
        for line in lines {
            let id = this.stated_id(*line);
            if id != 0 {
                ids.insert(id);
            }
            for file in this.stated_files(*line) {
                this.starts.entry(file).or_insert_with(|| starts.of(file));
            }
        }
        if !ids.is_empty() || !this.starts.is_empty() {
            this.enter_records(&ids);
        }
        this
    }

    /// Enters the records that lines may name. Of several with one name, the first stands.
    fn enter_records(&mut self, ids: &HashSet<u128>) {
        for row in self.catalog.ids() {
            let fixed = self.catalog.row(row);
            if fixed.flags.contains(RowFlags::INDEX_LINE) {
                continue;
            }
            if !ids.is_empty() {
                let id = self.catalog.record_id(row);
                if ids.contains(&id) {
                    self.by_id.entry(id).or_insert(row);
                }
            }
            if self.starts.is_empty() {
                continue;
            }
            let file = self.catalog.locator(row).file;
            if self.starts.contains_key(&file) {
                let place = Place::of(self.catalog, file, row);
                for name in [place.at_second(&fixed), place.at_any_time()] {
                    self.by_place.entry(name).or_insert(row);
                }
            }
        }
    }

    /// The rows that are no captures of their own.
    fn resolve(&self, lines: &[RowId], outcome: &mut IndexOutcome) -> HashSet<RowId> {
        let mut seen = HashSet::new();
        let mut removed = HashSet::new();
        let doubtful = self.doubtful(lines);
        for line in doubtful {
            match self.identity(line, &mut seen) {
                Identity::Own => continue,
                Identity::Nothing => {
                    outcome.n_damage += 1;
                    if outcome.damage.len() < DAMAGE_KEPT_MAX {
                        outcome.damage.push(self.damage(line));
                    }
                }
                Identity::Repeated => outcome.index_lines += 1,
                Identity::OtherRecord => {
                    outcome.index_lines += 1;
                    outcome.n_differing += 1;
                }
                Identity::Record(record) => {
                    outcome.index_lines += 1;
                    outcome.n_differing += u64::from(self.differ(line, record));
                }
            }
            removed.insert(line);
        }
        removed
    }

    /// The lines that may be something else than a capture of their own: all, where records are among the inputs, else
    /// those of which another has key and offset.
    fn doubtful(&self, lines: &[RowId]) -> Vec<RowId> {
        if !self.files.is_empty() || !self.by_id.is_empty() {
            return lines.to_vec();
        }
        let key = |nth: usize| self.catalog.url_key(lines[nth]).key;
        // Hardly any line is repeated, and the offset stands in its text.
        let found = shared(lines.len(), key, |nth| {
            let offset = self.catalog.locator(lines[nth]).offset;
            key(nth) ^ offset.wrapping_mul(ODD)
        });
        found.into_iter().map(|nth| lines[nth]).collect()
    }

    fn identity(&self, line: RowId, seen: &mut HashSet<u128>) -> Identity {
        let fixed = self.catalog.row(line);
        if !self.by_id.is_empty()
            && let Some(record) = self.by_id.get(&self.stated_id(line))
            && self.may_be(line, *record)
        {
            return Identity::Record(*record);
        }
        let stated = self.stated_name(line);
        if stated.is_empty() {
            return Identity::Own;
        }
        let files = self.stated_files(line);
        let record = files.iter().find_map(|file| {
            let place = Place::of(self.catalog, *file, line);
            [place.at_second(&fixed), place.at_any_time()]
                .iter()
                .find_map(|name| self.by_place.get(name))
        });
        if let Some(record) = record {
            return Identity::Record(*record);
        }
        let offset = self.catalog.locator(line).offset;
        let is_start = |file: &FileId| {
            let starts = self.starts.get(file);
            starts.is_some_and(|starts| starts.binary_search(&offset).is_ok())
        };
        if files.iter().any(is_start) {
            Identity::OtherRecord
        } else if !files.is_empty() {
            Identity::Nothing
        } else if seen.insert(Place::stated(self.catalog, stated, line).at_any_time()) {
            Identity::Own
        } else {
            Identity::Repeated
        }
    }

    /// Whether a line may be this record: any, but a conversion is none of another conversion, lest two that refer to
    /// each other both be lost.
    fn may_be(&self, line: RowId, record: RowId) -> bool {
        [line, record]
            .into_iter()
            .any(|row| self.catalog.row(row).record_type != RecordType::Conversion)
    }

    /// Hash of the record id that a line is known by: its own, or of a conversion its source's.
    fn stated_id(&self, line: RowId) -> u128 {
        let fixed = self.catalog.row(line);
        if fixed.flags.contains(RowFlags::INDEX_LINE) {
            self.catalog.record_id(line)
        } else {
            self.catalog.reference(line).record_id
        }
    }

    /// Base name of the file a line states, empty for none.
    fn stated_name(&self, line: RowId) -> &'a [u8] {
        base_name(self.catalog.stated_file(line))
    }

    /// The inputs of that name.
    fn stated_files(&self, line: RowId) -> Vec<FileId> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let files = self.files.get(self.stated_name(line));
        files.cloned().unwrap_or_default()
    }

    /// Whether a line states another URL, second, status or digest than the record has. Unknown is no other.
    fn differ(&self, line: RowId, record: RowId) -> bool {
        let catalog = self.catalog;
        let (one, other) = (catalog.row(line), catalog.row(record));
        if catalog.url_key(line) != catalog.url_key(record) {
            return true;
        }
        if one.record_type == RecordType::Conversion {
            return false;
        }
        let is_later = one.date.is_known()
            && other.date.is_known()
            && one.date.seconds() != other.date.seconds();
        let is_other_status = one.status != 0 && other.status != 0 && one.status != other.status;
        is_later || is_other_status || self.digests_differ(line, record)
    }

    fn digests_differ(&self, line: RowId, record: RowId) -> bool {
        let known = |row: RowId| {
            let payload = self.catalog.capture(row).payload;
            [payload.digest, payload.declared].into_iter().flatten()
        };
        let comparable: Vec<(Digest, Digest)> = known(line)
            .flat_map(|one| known(record).map(move |other| (one, other)))
            .filter(|(one, other)| one.algorithm == other.algorithm)
            .collect();
        !comparable.is_empty() && comparable.iter().all(|(one, other)| one != other)
    }

    fn damage(&self, line: RowId) -> Damage {
        let stated = self.catalog.locator(line);
        Damage {
            file: stated.file,
            offset: 0,
            length: None,
            line: Some(stated.ordinal + 1),
            what: format!(
                "the line names offset {} of {}, where no record starts",
                stated.offset,
                self.stated_name(line).escape_ascii()
            ),
        }
    }
}

/// File, offset and URI of a record or line, being hashed.
struct Place(Xxh3);

impl Place {
    fn of(catalog: &Catalog, file: FileId, row: RowId) -> Self {
        Self::stated(catalog, &file.0.to_le_bytes(), row)
    }

    fn stated(catalog: &Catalog, file: &[u8], row: RowId) -> Self {
        let ComparisonKey { key, check } = catalog.url_key(row);
        let mut hash = Xxh3::new();
        for number in [key, check, catalog.locator(row).offset] {
            hash.update(&number.to_le_bytes());
        }
        hash.update(file);
        Self(hash)
    }

    fn at_any_time(&self) -> u128 {
        self.0.digest128()
    }

    fn at_second(&self, row: &Row) -> u128 {
        let mut hash = self.0.clone();
        hash.update(&row.date.seconds().to_le_bytes());
        hash.digest128()
    }
}
