//! Wiring: plan, threads, memory budget. Must never parse or format.

mod job;
pub mod plan;

pub use job::{Digests, FailOn, InFormat, Job, OnDamage, Outcome, Reading, ReportPlan, Talk};

/// Runs the main job.
///
/// # Errors
/// No input could be read, an output cannot be written, the policy is invalid, or the run was interrupted.
pub fn run(_job: &Job) -> crate::Result<Outcome> {
    Err(crate::Error::failed("no engine is wired yet"))
}
