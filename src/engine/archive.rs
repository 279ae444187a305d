//! All captures of a run: every input read, and what concerns more than one record resolved.

use std::os::unix::ffi::OsStrExt as _;

use rayon::prelude::*;

use super::collect::{Found, StoredSegment, Tally};
use super::job::{Reading, Talk};
use super::plan::{self, Access, Origin, Plan};
use super::read::{self, Read};
use super::urls::UrlFacts;
use super::{figures, keys, segments};
use crate::capture::{Damage, FileId, Warning};
use crate::catalog::methods::Requests;
use crate::catalog::{Catalog, RecordStarts, index, methods};
use crate::group::{Ends, Groups, Thresholds, Urls};
use crate::keyset::KeySet;
use crate::policy::Policy;
use crate::report::{self, Input, Loss, Progress, Summary};
use crate::scan::warc::VisibleText;
use crate::{Error, Result};

/// All captures of a run, and the books of how they were read.
#[derive(Debug)]
pub struct Archive {
    catalog: Catalog,
    tally: Tally,
    /// Lost or skipped, named up to a limit.
    losses: Vec<Loss>,
    n_skipped: u64,
    n_ignored: u64,
    n_index_lines: u64,
    inputs: Vec<Input>,
}

impl Archive {
    /// Reads all inputs of `plan`; `text` says whether the visible text of pages is hashed.
    ///
    /// # Errors
    /// None could be read, one changed while it was read, or one is damaged and the run is strict.
    pub fn read(
        plan: &Plan,
        policy: &Policy,
        how: &Reading,
        text: VisibleText,
        talk: Talk,
    ) -> Result<Self> {
        let progress = Progress::start(n_bytes(plan), talk.progress);
        let reading = read::Reading {
            policy,
            digests: how.digests,
            text,
            format: how.format,
            on_damage: how.on_damage,
            progress: &progress,
        };
        let read: Vec<Result<Read>> = plan
            .inputs
            .par_iter()
            .enumerate()
            .map(|(index, input)| reading.read(input, file_id(index)))
            .collect();
        Joining::new(plan).join(plan, read, reading)
    }

    /// The captures.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Flags every capture whose key is in one of `sets`.
    pub fn mark_seen(&mut self, sets: &[KeySet]) {
        keys::mark_seen(&mut self.catalog, sets);
    }

    /// What was lost or skipped; the first hundred.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Pieces of damage and skipped inputs, named or not.
    #[must_use]
    pub fn n_losses(&self) -> u64 {
        self.tally.n_damage + self.n_skipped
    }

    /// Groups all captures.
    #[must_use]
    pub fn group(&self, policy: &Policy, thresholds: &Thresholds) -> Groups {
        let facts = UrlFacts::new(&self.catalog, policy);
        let urls = Urls {
            site: &|row| facts.site(row),
            base_key: &|row| facts.base_key(row),
        };
        let ends = Ends::of(&self.catalog, thresholds);
        Groups::of(&self.catalog, ends, thresholds, &urls)
    }

    /// States what was read.
    pub fn describe(&self, summary: &mut Summary) {
        summary.inputs.clone_from(&self.inputs);
        summary.counts.records = self.tally.records;
        summary.counts.index_lines = self.n_index_lines;
        summary.counts.ignored_files = self.n_ignored;
        summary.counts.damaged = self.n_losses();
        summary.bytes.read = self.tally.bytes_read;
        summary.bytes.inflated = self.tally.bytes_inflated;
        summary.damage.clone_from(&self.losses);
        for (warning, n) in &self.tally.warnings {
            summary.add_warning(*warning, *n);
        }
        figures::describe(&self.catalog, summary);
    }

    fn lose(&mut self, loss: Loss) {
        if self.losses.len() < report::DAMAGE_LISTED_MAX {
            self.losses.push(loss);
        }
    }
}

/// An archive that is being put together, input by input, in their order.
#[derive(Debug)]
struct Joining {
    archive: Archive,
    across: Across,
}

/// What concerns more than one record.
#[derive(Debug, Default)]
struct Across {
    segments: Vec<StoredSegment>,
    starts: RecordStarts,
    requests: Requests,
}

impl Joining {
    fn new(plan: &Plan) -> Self {
        let names = plan
            .inputs
            .iter()
            .map(|input| name(input).to_vec())
            .collect();
        let mut losses = Vec::new();
        for skipped in &plan.skipped {
            losses.push(Loss::skipped(
                skipped.name.as_bytes(),
                skipped.what.as_str(),
            ));
        }
        let archive = Archive {
            catalog: Catalog::new(names),
            tally: Tally::default(),
            n_skipped: losses.len() as u64,
            losses,
            n_ignored: plan.ignored,
            n_index_lines: 0,
            inputs: Vec::new(),
        };
        Self {
            archive,
            across: Across::default(),
        }
    }

    fn join(
        mut self,
        plan: &Plan,
        read: Vec<Result<Read>>,
        reading: read::Reading<'_>,
    ) -> Result<Archive> {
        for (index, (input, read)) in plan.inputs.iter().zip(read).enumerate() {
            match read {
                Ok(Read::Found(found)) => self.add(input, file_id(index), *found),
                Ok(Read::Skipped(_)) if input.origin == Origin::Folder => {
                    self.archive.n_ignored += 1;
                }
                Ok(Read::Skipped(what)) => self.skip(name(input), what),
                Err(error) => return Err(error),
            }
        }
        if self.archive.inputs.is_empty() {
            return Err(nothing_read(&self.archive));
        }
        segments::join(
            &mut self.archive.catalog,
            &self.across.segments,
            plan,
            reading,
        );
        Ok(self.resolve())
    }

    fn skip(&mut self, name: &[u8], what: &str) {
        self.archive.n_skipped += 1;
        self.archive.lose(Loss::skipped(name, what));
    }

    fn add(&mut self, input: &plan::Input, file: FileId, mut found: Found) {
        if found.tally.records == 0 && found.tally.n_damage == 0 {
            let what = format!(
                "looks like {}, but no record in it can be read",
                found.format
            );
            found.tally.damage(Damage {
                file,
                offset: 0,
                length: None,
                line: None,
                what,
            });
        }
        self.archive.inputs.push(Input {
            path: report::clean(name(input)),
            format: found.format,
            bytes: found.tally.bytes_read,
            records: found.tally.records,
        });
        for damage in &found.tally.damage {
            self.archive.lose(Loss::of(damage, name(input)));
        }
        let first_row = self.archive.catalog.len();
        self.across.requests.append(found.requests, first_row);
        self.across.starts.append(found.starts);
        self.across.segments.extend(found.segments);
        self.archive.catalog.append(found.batch);
        self.archive.tally.add(found.tally);
    }

    /// Methods first: they need the row ids as read, which index lines change.
    fn resolve(self) -> Archive {
        let Self {
            mut archive,
            across,
        } = self;
        methods::resolve(&mut archive.catalog, across.requests);
        let lines = index::resolve(&mut archive.catalog, &across.starts);
        archive.n_index_lines = lines.index_lines;
        archive.tally.warn(Warning::IndexDiffers, lines.n_differing);
        archive.tally.n_damage += lines.n_damage;
        for damage in &lines.damage {
            let name = archive.catalog.file_name(damage.file).to_vec();
            archive.lose(Loss::of(damage, &name));
        }
        archive
    }
}

/// Why there is nothing to group: the first input that was skipped, and what to do.
fn nothing_read(archive: &Archive) -> Error {
    match archive.losses.first() {
        Some(loss) => Error::failed(format!(
            "{}: {}; no input could be read",
            loss.file, loss.what
        )),
        None => Error::failed(format!(
            "no archive among {} files: give --in a WARC, CDX or CDXJ file, or a folder of them",
            archive.n_ignored
        )),
    }
}

fn file_id(index: usize) -> FileId {
    FileId(u32::try_from(index).expect("a plan has fewer than 2^32 inputs"))
}

/// The path as given or found.
fn name(input: &plan::Input) -> &[u8] {
    input.path.as_os_str().as_bytes()
}

/// Bytes of all files; what comes through a pipe is unknown.
fn n_bytes(plan: &Plan) -> u64 {
    let files = plan
        .inputs
        .iter()
        .filter(|input| input.access == Access::File);
    files
        .filter_map(|input| std::fs::metadata(&input.path).ok())
        .map(|metadata| metadata.len())
        .sum()
}
