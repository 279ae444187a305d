//! The main job from flags to outputs.

use std::time::Instant;

use super::archive::Archive;
use super::job::{FailOn, Job, Outcome, Reading, ReportPlan};
use super::listing::{self, Sources};
use super::{figures, plan};
use crate::capture::Warning;
use crate::group::{Groups, Role};
use crate::policy::Policy;
use crate::report::{self, Finished, Lines, People, Report, Summary, Target};
use crate::source::fault;
use crate::{Error, Result};

/// Runs the main job.
///
/// # Errors
/// No input could be read, an output cannot be written, the policy is invalid, or the run was interrupted.
pub fn run(job: &Job) -> Result<Outcome> {
    let start = Instant::now();
    let policy = Policy::load(&job.policy)?;
    let targets: Vec<&Target> = job
        .report
        .iter()
        .map(|report| &report.target)
        .chain(&job.summaries)
        .collect();
    report::remove_on_signals()?;
    fault::watch(|error| report::end_with(&error))?;
    in_pool(&job.reading, || {
        let inputs = plan::inputs(&job.reading.inputs);
        report::refuse_overwriting(
            &targets,
            inputs.inputs.iter().map(|input| input.path.as_path()),
        )?;
        let report = job.report.as_ref().map(create).transpose()?;
        let people = People::new(job.talk.verbosity, job.talk.color);
        let archive = Archive::read(&inputs, &policy, &job.reading, job.talk)?;
        people.name_losses(archive.losses(), archive.n_losses());
        let groups = archive.group(&policy, &job.thresholds);
        let mut summary = Summary::new(command(), policy.id());
        summary.set_thresholds(&job.thresholds, figures::digests_name(job.reading.digests));
        archive.describe(&mut summary);
        summary.set_groups(groups.counts());
        summary
            .warnings
            .insert(Warning::Dangling.code(), groups.counts().dangling);
        let mut outputs = Vec::new();
        if let (Some(plan), Some(mut report)) = (&job.report, report) {
            let sources = Sources {
                catalog: archive.catalog(),
                groups: &groups,
                policy: &policy,
            };
            listing::write(sources, plan.listing, &lines(plan), &mut report)?;
            let (finished, rows) = report.finish()?;
            summary.add_output(&finished, rows);
            outputs.push(finished);
        }
        summary.set_cost(start, report::peak_anonymous());
        write_summaries(job, &summary, &mut outputs)?;
        report::publish(outputs)?;
        people.conclude(&summary);
        Ok(outcome(job, &archive, &groups))
    })
}

/// The report's output, created before anything is read: a folder that cannot be written to is no surprise at the end.
fn create(plan: &ReportPlan) -> Result<Report> {
    Report::create(&plan.target, lines(plan))
}

fn lines(plan: &ReportPlan) -> Lines {
    Lines::new(plan.format, plan.escape)
}

fn write_summaries(job: &Job, summary: &Summary, outputs: &mut Vec<Finished>) -> Result<()> {
    for target in &job.summaries {
        outputs.push(summary.write(target)?);
    }
    Ok(())
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

/// As it was called.
fn command() -> String {
    let words: Vec<String> = std::env::args_os()
        .map(|word| report::clean(word.as_encoded_bytes()))
        .collect();
    words.join(" ")
}
