//! All captures of a run: every input read, and what concerns more than one record resolved.

use super::collect::Tally;
use super::in_order::in_order;
use super::job::{Reading, Talk};
use super::joining::Joining;
use super::parts::Parts;
use super::plan::{Access, Plan};
use super::read::{Decoding, Setting, Worker};
use super::room::Expected;
use super::saved::Saved;
use super::urls::UrlFacts;
use super::{figures, keys};
use crate::Result;
use crate::catalog::Catalog;
use crate::group::{Ends, Groups, Thresholds, Urls};
use crate::keyset::KeySet;
use crate::policy::Policy;
use crate::report::{self, Input, Loss, People, Progress, Summary};
use crate::scan::warc::VisibleText;

/// Bytes that `evaluate` holds of a capture at the least, beside its row.
const EVALUATE_BYTES_A_ROW: u64 = 100;

/// All captures of a run, and the books of how they were read.
#[derive(Debug)]
pub struct Archive {
    pub(super) catalog: Catalog,
    pub(super) tally: Tally,
    /// Lost or skipped, named up to a limit.
    pub(super) losses: Vec<Loss>,
    pub(super) n_skipped: u64,
    pub(super) n_ignored: u64,
    pub(super) n_index_lines: u64,
    pub(super) inputs: Vec<Input>,
    /// What is kept for `--resume` until the run is done.
    pub(super) saved: Option<Saved>,
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
        let setting = Setting {
            policy,
            how,
            text,
            decoding: if plan.inputs.len() < how.threads.get() {
                Decoding::Apart
            } else {
                Decoding::Inline
            },
        };
        let people = People::new(talk.verbosity, talk.color);
        let saved = Saved::open(plan, &setting, people)?;
        let known = saved.iter().flat_map(Saved::inputs).copied().collect();
        let expected = Expected::of(plan, setting);
        let later = expected.n_rows * bytes_a_row(text);
        how.memory.check_room(expected.n_bytes + later)?;
        let mut joining = Joining::new(plan, setting, (&progress, saved));
        in_order(
            Parts::new(plan, how, known),
            || Worker::new(setting),
            |worker, part, outlet| worker.read(part, outlet),
            |outcome| joining.join(outcome),
        )?;
        joining.finish()
    }

    /// Removes what was kept for `--resume`: all outputs are written.
    pub fn end(&mut self) {
        if let Some(saved) = &mut self.saved {
            saved.remove();
        }
    }

    /// The captures.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Tells whether the inputs that are looked at until the end still are what was read.
    ///
    /// # Errors
    /// One was cut, written to, or replaced.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        self.catalog.check_unchanged()
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

    pub(super) fn lose(&mut self, loss: Loss) {
        if self.losses.len() < report::DAMAGE_LISTED_MAX {
            self.losses.push(loss);
        }
    }
}

/// Bytes that are yet to be held of each capture that was read: what is looked for in it decides.
pub(super) fn bytes_a_row(text: VisibleText) -> u64 {
    match text {
        VisibleText::Skip => Groups::BYTES_A_ROW,
        VisibleText::Hash => EVALUATE_BYTES_A_ROW,
    }
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
