//! `dedupe evaluate` from flags to outputs: what `evaluate` counts is keyed and looked up here, since it sees no text.
//! Must never judge a merge.

mod auditing;
mod contents;
mod learning;
mod listing;
mod page;
mod questions;
mod reasons;
mod sightings;
mod texts;

use std::time::Instant;

use super::archive::{Archive, bytes_a_row};
use super::job::{Outcome, Reading, Talk};
use super::run::in_pool;
use super::{figures, plan};
use crate::Result;
use crate::capture::{RecordType, Timestamp};
use crate::catalog::{Catalog, RowFlags};
use crate::evaluate::{self, DOMAIN_GROUPS, Limits, Sample, Settings, Table, Window};
use crate::group::{Ends, Thresholds};
use crate::policy::Policy;
use crate::report::{self, Evaluated, People, Summary, Target};
use crate::scan::warc::{DigestMode, VisibleText};
use crate::source::fault;
pub use auditing::Audit;
use learning::{Learned, Learning};
use listing::Listing;
use questions::Questions;
use sightings::{Basis, Seen};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The command line, for the summary.
    pub command: String,
    /// What to read.
    pub reading: Reading,
    /// The policy under test; `None`: every bet of the catalogue alone.
    pub policy: Option<String>,
    /// The policy it is held against.
    pub against: Option<String>,
    /// Rules as `name=option`; none: all.
    pub rules: Vec<String>,
    /// Which URLs are keyed under what is asked; `None`: all.
    pub sample: Option<Sample>,
    /// How far apart captures may be and still say something of each other, in seconds.
    pub within: i64,
    /// Limits of belief in redirects, and boilerplate.
    pub thresholds: Thresholds,
    /// What a rule needs to be adopted.
    pub advice: evaluate::Thresholds,
    /// The share of contents whose loss ends the run with exit code 3.
    pub loss_max: Option<f64>,
    /// Where the outputs go.
    pub outputs: Outputs,
    /// The day that stands beside what was learned.
    pub date: Timestamp,
    /// How much is said on stderr.
    pub talk: Talk,
}

/// Where outputs go.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// A row for each rule.
    pub report: Option<Target>,
    /// The pairs behind wrong merges.
    pub pairs: Option<Target>,
    /// A row for each rule and domain.
    pub hosts: Option<Target>,
    /// The page for people.
    pub html: Option<Target>,
    /// The learned policy.
    pub policy: Option<Target>,
    /// Merges for people to judge.
    pub audit: Option<(Audit, Target)>,
    /// The summary.
    pub summaries: Vec<Target>,
}

impl Outputs {
    fn targets(&self) -> Vec<&Target> {
        [
            &self.report,
            &self.pairs,
            &self.hosts,
            &self.html,
            &self.policy,
        ]
        .into_iter()
        .flatten()
        .chain(self.audit.iter().map(|(_, target)| target))
        .chain(&self.summaries)
        .collect()
    }
}

/// Measures rules on an archive.
///
/// # Errors
/// No input could be read, an output cannot be written, a policy is invalid, or the run was interrupted.
pub fn run(job: &Evaluation) -> Result<Outcome> {
    let start = Instant::now();
    let load = |name: &Option<String>| name.as_deref().map(Policy::load).transpose();
    let policy = load(&job.policy)?;
    let against = load(&job.against)?;
    let questions = Questions::of(policy.clone(), against.clone(), &job.rules)?;
    fault::watch(|error| report::end_with(&error))?;
    job.reading.memory.bound(&job.reading)?;
    in_pool(&job.reading, || {
        let inputs = plan::inputs(&job.reading.inputs);
        let policies = policy.iter().chain(&against).flat_map(Policy::files);
        report::refuse_overwriting(&job.outputs.targets(), inputs.files().chain(policies))?;
        let tables = listing::Tables::create(&job.outputs)?;
        let people = People::new(job.talk.verbosity, job.talk.color);
        let mut archive = Archive::read(
            &inputs,
            &questions.base,
            &job.reading,
            VisibleText::Hash,
            job.talk,
        )?;
        people.name_losses(archive.losses(), archive.n_losses());
        let later = archive.catalog().len() as u64 * bytes_a_row(VisibleText::Hash);
        job.reading.memory.check_room(later)?;
        let ends = Ends::of(archive.catalog(), &job.thresholds);
        let basis = Basis {
            catalog: archive.catalog(),
            ends: &ends,
            base: &questions.base,
        };
        let measured = measure(job, &questions, basis);
        let listing = Listing {
            basis,
            questions: &questions,
            measured: &measured,
            job,
        };
        let safe = Policy::load("safe@1")?;
        let mut summary = Summary::new(job.command.clone(), policy.as_ref().unwrap_or(&safe).id());
        summary.set_thresholds(&job.thresholds, figures::digests_name(job.reading.digests));
        archive.describe(&mut summary);
        let evaluated = listing.evaluated();
        let mut outputs = tables.write(&listing, &evaluated, &mut summary)?;
        summary.evaluation = evaluated.figures();
        summary.set_cost(start, report::Memory::taken());
        for target in &job.outputs.summaries {
            outputs.push(summary.write(target)?);
        }
        archive.check_unchanged()?;
        report::publish(outputs)?;
        people.advise(&evaluated);
        let outcome = outcome(&evaluated, &archive);
        archive.end();
        Ok(outcome)
    })
}

/// All that was found.
pub(super) struct Measured {
    seen: Seen,
    table: Table,
    asked: Vec<evaluate::Question>,
    found: evaluate::Evaluation,
    /// What single hosts have evidence for.
    learned: Learned,
    /// Whether bodies were read for their visible text.
    has_texts: bool,
}

fn measure(job: &Evaluation, questions: &Questions, basis: Basis<'_>) -> Measured {
    let seen = Seen::of(basis, &questions.skeletons());
    let mut asked = questions.classes(&seen, basis.catalog, job.sample);
    let window = Window::new(job.within.saturating_mul(1_000_000));
    let table = Table::new(
        seen.urls.clone(),
        &seen.sightings,
        window,
        job.thresholds.boilerplate_max,
    );
    let learning = Learning {
        basis,
        seen: &seen,
        table: &table,
        rules: questions.learnable,
        decidable_min: job.advice.host_decidable_min,
    };
    let learned = learning.all(|url| {
        let skeleton = seen.urls[url as usize].skeleton;
        job.sample.is_none_or(|sample| sample.holds(skeleton))
    });
    questions.hold_to(&learned, &mut asked);
    let has_texts = job.reading.digests != DigestMode::Declared && has_bodies(basis.catalog);
    let settings = Settings {
        sample: job.sample,
        thresholds: job.advice,
        limits: Limits::default(),
        domain_groups: seen.domains.iter().map(|name| group_of(name)).collect(),
        has_redirects: seen.has_redirects,
        has_texts,
    };
    let found = evaluate::evaluate(&table, &asked, &settings);
    Measured {
        seen,
        table,
        asked,
        found,
        learned,
        has_texts,
    }
}

/// Whether the inputs hold payloads, not only index lines and revisits.
fn has_bodies(catalog: &Catalog) -> bool {
    catalog.rows().any(|row| {
        row.record_type != RecordType::Revisit && !row.flags.contains(RowFlags::INDEX_LINE)
    })
}

/// The group of a domain in the bootstrap.
fn group_of(domain: &[u8]) -> u16 {
    let group = xxhash_rust::xxh3::xxh3_64(domain) % DOMAIN_GROUPS as u64;
    u16::try_from(group).expect("there are fewer than 2^16 groups")
}

fn outcome(evaluated: &Evaluated<'_>, archive: &Archive) -> Outcome {
    if !evaluated.crossed().is_empty() {
        Outcome::Crossed
    } else if archive.n_losses() > 0 {
        Outcome::Incomplete
    } else {
        Outcome::Done
    }
}
