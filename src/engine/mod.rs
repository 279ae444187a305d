//! Wiring: inputs are planned, read in threads, grouped and listed. Knows every module but `cli`; must never parse a
//! format or make text for people.

mod archive;
mod collect;
pub mod evaluate;
mod figures;
mod in_order;
mod job;
mod joining;
mod keys;
mod listing;
mod memory;
mod parts;
mod pipeline;
pub mod plan;
mod read;
mod readers;
mod room;
mod run;
mod saved;
mod segments;
mod stretch;
mod urls;

pub use archive::Archive;
pub use evaluate::{Evaluation, Outputs};
pub use job::{FailOn, InFormat, Job, OnDamage, Outcome, Reading, ReportPlan, Talk};
pub use memory::{Memory, OnSaved};
pub use run::{run, run_unbound};
