//! Wiring: plan, threads, memory budget. Must never parse or format.

mod archive;
mod collect;
mod figures;
mod evaluate;
mod job;
mod listing;
pub mod plan;
mod read;
mod run;
mod segments;
mod urls;

pub use archive::Archive;
pub use job::{Digests, FailOn, InFormat, Job, OnDamage, Outcome, Reading, ReportPlan, Talk};
pub use run::run;
