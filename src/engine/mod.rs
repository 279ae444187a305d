//! Wiring: inputs are planned, read in threads, grouped and listed. Knows every module but `cli`; must never parse a
//! format or make text for people.

mod archive;
mod collect;
pub mod evaluate;
mod figures;
mod job;
mod keys;
mod listing;
mod memory;
pub mod plan;
mod read;
mod run;
mod segments;
mod urls;

pub use archive::Archive;
pub use evaluate::{Evaluation, Outputs};
pub use job::{Digests, FailOn, InFormat, Job, OnDamage, Outcome, Reading, ReportPlan, Talk};
pub use memory::Memory;
pub use run::run;
