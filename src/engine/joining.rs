//! Puts an archive together from what threads have read, in the order of inputs and of chunks in them.

use std::os::unix::ffi::OsStrExt as _;

use super::archive::Archive;
use super::collect::{Found, StoredSegment, Tally};
use super::job::OnDamage;
use super::parts::{Mapped, Source};
use super::plan::{self, Access, Origin, Plan};
use super::read::{Outcome, Read, Setting, Worker};
use super::readers::format_name;
use super::saved::{Gave, Saved};
use super::segments;
use super::stretch::{Border, Stretch};
use crate::capture::{Damage, Warning};
use crate::catalog::methods::Requests;
use crate::catalog::{self, Catalog, RecordStarts, index, methods};
use crate::report::{self, Input, Loss, Progress};
use crate::source::Format;
use crate::{Error, Result};

/// A row id has 32 bits, and the last one stands for no row.
const CAPTURES_MAX: usize = u32::MAX as usize - 1;

/// An archive that is being put together.
#[derive(Debug)]
pub(super) struct Joining<'a> {
    archive: Archive,
    across: Across,
    current: Option<Current>,
    plan: &'a Plan,
    /// Reads again what was read from a wrong start.
    worker: Worker<'a>,
    progress: &'a Progress,
    saved: Option<Saved>,
    /// Where what comes of the current input begins.
    begin: Begin,
}

/// Where an input begins in what concerns all.
#[derive(Clone, Copy, Debug, Default)]
struct Begin {
    captures: catalog::saved::Mark,
    requests: methods::Mark,
    n_segments: usize,
}

/// What concerns more than one record.
#[derive(Debug, Default)]
struct Across {
    segments: Vec<StoredSegment>,
    starts: RecordStarts,
    requests: Requests,
}

/// The input whose parts come.
#[derive(Debug)]
struct Current {
    /// Where what was joined of it ends, if it is read in chunks.
    border: Option<Border>,
    n_ordinals: u64,
    tally: Tally,
}

impl<'a> Joining<'a> {
    /// An archive of nothing yet.
    pub(super) fn new(
        plan: &'a Plan,
        setting: Setting<'a>,
        (progress, saved): (&'a Progress, Option<Saved>),
    ) -> Self {
        let names = plan.inputs.iter().map(|input| name(input).to_vec());
        let mut losses = Vec::new();
        for skipped in &plan.skipped {
            losses.push(Loss::skipped(
                skipped.name.as_bytes(),
                skipped.what.as_str(),
            ));
        }
        let archive = Archive {
            catalog: Catalog::new(names.collect()),
            tally: Tally::default(),
            n_skipped: losses.len() as u64,
            losses,
            n_ignored: plan.ignored,
            n_index_lines: 0,
            inputs: Vec::new(),
            saved: None,
        };
        Self {
            archive,
            across: Across::default(),
            current: None,
            plan,
            worker: Worker::new(setting),
            progress,
            saved,
            begin: Begin::default(),
        }
    }

    /// Joins what comes next.
    ///
    /// # Errors
    /// It could not be read, it changed while it was read, or it is damaged and the run is strict.
    pub(super) fn join(&mut self, outcome: Outcome<'_>) -> Result<()> {
        let Outcome { source, read } = outcome;
        let mapped = source.mapped.as_deref();
        match (read, mapped) {
            (Read::Chunk(chunk, stretch), Some(mapped)) => {
                self.join_chunk((&source, mapped), chunk.end, stretch)?;
                if chunk.end == u64::MAX {
                    self.end_input(&source, mapped.format)?;
                }
            }
            (Read::Some(found), _) => self.add(&source, *found)?,
            (Read::Rest(format, found), _) => {
                self.add(&source, *found)?;
                self.end_input(&source, format)?;
            }
            (Read::Saved, Some(mapped)) => {
                if let Some(saved) = &self.saved {
                    let found = saved.load(&source, self.plan)?;
                    self.add(&source, found)?;
                }
                self.end_input(&source, mapped.format)?;
            }
            (Read::Skipped(_), _) if source.input.origin == Origin::Folder => {
                self.archive.n_ignored += 1;
            }
            (Read::Skipped(what), _) => {
                self.archive.n_skipped += 1;
                self.archive.lose(Loss::skipped(name(source.input), what));
            }
            (Read::Failed(error), _) => return Err(error),
            (Read::Chunk(..) | Read::Saved, None) => {}
        }
        Ok(())
    }

    /// All that was read, with what concerns more than one record resolved.
    ///
    /// # Errors
    /// Nothing could be read.
    pub(super) fn finish(mut self) -> Result<Archive> {
        if self.archive.inputs.is_empty() {
            return Err(nothing_read(&self.archive));
        }
        segments::join(
            &mut self.archive.catalog,
            &self.across.segments,
            self.plan,
            self.worker.setting,
        );
        self.archive.saved = self.saved.take();
        // Before the tables of what is resolved take room of their own.
        self.archive.catalog.shrink();
        Ok(resolve(self.archive, self.across))
    }

    /// Joins a chunk that ends at `end`: what was found in it, if its start is where the one before ended, else what is
    /// found from there.
    fn join_chunk(
        &mut self,
        (source, mapped): (&Source<'_>, &Mapped),
        end: u64,
        stretch: Option<Box<Stretch>>,
    ) -> Result<()> {
        let current = self.current.get_or_insert_with(Current::new);
        let border = current.border.take();
        let border = border.unwrap_or_else(|| Border::begin(mapped, source));
        let is_last = end == u64::MAX;
        if border.position() >= end || is_last && border.position() >= mapped.map.len() as u64 {
            // A record of the chunks before goes on beyond this one.
            current.border = Some(border);
            return Ok(());
        }
        let stretch = stretch.and_then(|mut stretch| {
            let end = border.behind(&mut stretch)?;
            Some((*stretch, end))
        });
        let (mut found, n_ordinals, border) = match stretch {
            Some((stretch, end)) => (stretch.found, stretch.n_ordinals, end),
            None => {
                let stretch = self.worker.read_on(source, mapped, border.next(), end);
                stretch.into_parts()
            }
        };
        found.move_on(current.n_ordinals);
        current.n_ordinals += n_ordinals;
        current.border = Some(border);
        self.add(source, found)
    }

    /// Appends what was found next in an input.
    fn add(&mut self, source: &Source<'_>, found: Found) -> Result<()> {
        let setting = self.worker.setting;
        match found.tally.damage.first() {
            Some(damage) if setting.how.on_damage == OnDamage::Stop => {
                let what = format!(
                    "{} (--strict ends the run at the first damage)",
                    damage.what
                );
                let error = Error::failed(what).at(&source.input.path);
                return Err(error.at_offset(damage.offset));
            }
            _ => {}
        }
        self.progress
            .add(found.tally.bytes_read, found.tally.records);
        let catalog = &mut self.archive.catalog;
        if catalog.len() + found.batch.len() > CAPTURES_MAX {
            let what = format!(
                "more than {CAPTURES_MAX} captures, which no run can hold: give it fewer inputs"
            );
            return Err(Error::failed(what).at(&source.input.path));
        }
        if let Some(end) = found.member_end {
            catalog.end_member(source.file, end.offset, end.length, end.n_records);
        }
        self.across.requests.append(found.requests, catalog.len());
        self.across.starts.append(found.starts);
        self.across.segments.extend(found.segments);
        catalog.append(found.batch);
        let current = self.current.get_or_insert_with(Current::new);
        current.tally.add(found.tally);
        Ok(())
    }

    fn end_input(&mut self, source: &Source<'_>, format: Format) -> Result<()> {
        if let Some(mapped) = &source.mapped {
            mapped.map.check_unchanged()?;
        }
        let mut tally = self.current.take().unwrap_or_else(Current::new).tally;
        if source.input.access == Access::File {
            self.save(source, &tally);
        }
        self.begin = Begin {
            captures: self.archive.catalog.mark(),
            requests: self.across.requests.mark(),
            n_segments: self.across.segments.len(),
        };
        let format = format_name(format);
        if tally.records == 0 && tally.n_damage == 0 {
            let what = format!("looks like {format}, but no record in it can be read");
            tally.damage(Damage {
                file: source.file,
                offset: 0,
                length: None,
                line: None,
                what,
            });
        }
        self.archive.inputs.push(Input {
            path: report::clean(name(source.input)),
            format,
            bytes: tally.bytes_read,
            records: tally.records,
        });
        for damage in &tally.damage {
            self.archive.lose(Loss::of(damage, name(source.input)));
        }
        self.archive.tally.add(tally);
        Ok(())
    }

    /// Saves what an input gave, for a run that goes on from it.
    fn save(&mut self, source: &Source<'_>, tally: &Tally) {
        let Some(saved) = &mut self.saved else {
            return;
        };
        let gave = Gave {
            file: source.file,
            captures: (&self.archive.catalog, self.begin.captures),
            requests: (&self.across.requests, self.begin.requests),
            starts: &self.across.starts,
            segments: &self.across.segments[self.begin.n_segments..],
            tally,
        };
        saved.save(source.file, &source.input.path, &gave);
    }
}

impl Current {
    fn new() -> Self {
        Self {
            border: None,
            n_ordinals: 0,
            tally: Tally::default(),
        }
    }
}

/// Methods first: they need the row ids as read, which index lines change.
fn resolve(mut archive: Archive, across: Across) -> Archive {
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

/// The path as given or found.
fn name(input: &plan::Input) -> &[u8] {
    input.path.as_os_str().as_bytes()
}
