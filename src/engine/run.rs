//! The main job from flags to outputs.

use std::path::PathBuf;
use std::time::Instant;

use super::archive::{Archive, bytes_a_row};
use super::job::{FailOn, Job, Outcome, Reading, ReportPlan};
use super::listing::{self, Sources};
use super::{figures, keys, plan};
use crate::capture::Warning;
use crate::group::{Groups, Role};
use crate::policy::Policy;
use crate::report::{self, Finished, Lines, People, Report, Summary, Target};
use crate::scan::warc::VisibleText;
use crate::source::fault;
use crate::{Error, Result};

/// Runs the main job.
///
/// # Errors
/// No input could be read, an output cannot be written, the policy is invalid, or the run was interrupted.
pub fn run(job: &Job) -> Result<Outcome> {
    fault::watch(|error| report::end_with(&error))?;
    job.reading.memory.bound(&job.reading)?;
    run_unbound(job)
}

/// As [`run`], but what is set up once a process is left as it is: what to do when an input is cut, and the bound of memory.
///
/// # Errors
/// As those of [`run`].
pub fn run_unbound(job: &Job) -> Result<Outcome> {
    let start = Instant::now();
    let policy = Policy::load(&job.policy)?;
    let seen = keys::open(&job.keys_in, policy.id())?;
    in_pool(&job.reading, || {
        let inputs = plan::inputs(&job.reading.inputs);
        job.refuse_overwriting(&inputs, &policy)?;
        let report = job.report.as_ref().map(create).transpose()?;
        let people = People::new(job.talk.verbosity, job.talk.color);
        let mut archive =
            Archive::read(&inputs, &policy, &job.reading, VisibleText::Skip, job.talk)?;
        people.name_losses(archive.losses(), archive.n_losses());
        let n_rows = archive.catalog().len() as u64;
        let later = n_rows * bytes_a_row(VisibleText::Skip);
        job.reading.memory.check_room(later)?;
        if !seen.is_empty() {
            archive.mark_seen(&seen);
        }
        let groups = archive.group(&policy, &job.thresholds);
        let mut summary = Summary::new(job.command.clone(), policy.id());
        summary.set_thresholds(&job.thresholds, figures::digests_name(job.reading.digests));
        archive.describe(&mut summary);
        summary.set_groups(groups.counts());
        summary.add_warning(Warning::Dangling, groups.counts().dangling);
        let sources = Sources {
            catalog: archive.catalog(),
            groups: &groups,
            policy: &policy,
        };
        let mut outputs = job.write(sources, report, &mut summary)?;
        summary.set_cost(start, report::Memory::taken());
        for target in &job.summaries {
            outputs.push(summary.write(target)?);
        }
        archive.check_unchanged()?;
        report::publish(outputs)?;
        archive.end();
        people.conclude(&summary);
        Ok(outcome(job, &archive, &groups))
    })
}

impl Job {
    /// No output may be an input, whatever it is read for, or another output.
    fn refuse_overwriting(&self, inputs: &plan::Plan, policy: &Policy) -> Result<()> {
        let keys_out = self.keys_out.clone().map(Target::from);
        let reports = self.report.iter().map(|report| &report.target);
        let targets: Vec<&Target> = reports.chain(&self.summaries).chain(&keys_out).collect();
        let others = self.keys_in.iter().map(PathBuf::as_path);
        let others = others.chain(policy.files());
        report::refuse_overwriting(&targets, inputs.files().chain(others))
    }

    /// Writes report and key set.
    fn write(
        &self,
        sources: Sources<'_>,
        report: Option<Report>,
        summary: &mut Summary,
    ) -> Result<Vec<Finished>> {
        let mut outputs = Vec::new();
        if let (Some(plan), Some(mut report)) = (&self.report, report) {
            listing::write(sources, plan.listing, &lines(plan), &mut report)?;
            let (finished, rows) = report.finish()?;
            summary.add_output(&finished, rows);
            outputs.push(finished);
        }
        if let Some(path) = &self.keys_out {
            let target = Target::from(path.clone());
            let (finished, n_keys) = keys::write(sources.catalog, sources.policy.id(), &target)?;
            summary.add_output(&finished, n_keys);
            outputs.push(finished);
        }
        Ok(outputs)
    }
}

/// The report's output, created before anything is read: a folder that cannot be written to is no surprise at the end.
fn create(plan: &ReportPlan) -> Result<Report> {
    Report::create(&plan.target, &lines(plan))
}

fn lines(plan: &ReportPlan) -> Lines {
    Lines::new(plan.format, plan.escape)
}

fn outcome(job: &Job, archive: &Archive, groups: &Groups) -> Outcome {
    let n_duplicates = groups.counts().by_role[Role::Duplicate as usize];
    if job.fail_on == FailOn::Duplicates && n_duplicates > 0 {
        Outcome::Crossed
    } else if archive.n_losses() > 0 {
        Outcome::Incomplete
    } else {
        Outcome::Done
    }
}

/// Runs `work` in a pool of as many threads as were asked for.
pub(super) fn in_pool<T: Send>(
    reading: &Reading,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(reading.threads.get())
        .build();
    let pool = pool.map_err(|error| Error::failed(format!("cannot start threads: {error}")))?;
    pool.install(work)
}
