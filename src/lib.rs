//! `crawl_dedupe`: which captures of a crawl archive are the same, and what a URL rule would cost.
//!
//! The modules stand in reading order; ARCHITECTURE.md has the data flow and what each may know.

pub mod error;

// What an archive says, as plain data.
pub mod capture;
pub mod digest;

// What a URL is compared by.
pub mod key;
pub mod keyset;
pub mod policy;
pub mod uri;

// From bytes to captures.
pub mod scan;
pub mod source;

// From captures to groups, and to what a rule would cost.
pub mod catalog;
pub mod evaluate;
pub mod group;
pub mod set;

// What people see, and what ties it together.
pub mod cli;
pub mod engine;
pub mod report;

pub use error::{Error, Result};
