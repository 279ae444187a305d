//! `crawl_dedupe`: which captures of a crawl archive are the same, and what a URL rule would cost.
//!
//! The modules stand in reading order; ARCHITECTURE.md has the data flow and what each may know.

pub mod error;

// What an archive says, as plain data.
pub mod capture;
pub mod digest;

// What a URL is compared by.
pub mod policy;

pub mod uri;

pub mod key;
pub mod keyset;

// From bytes to captures.
pub mod source;

pub mod scan;

// From captures to groups, and to what a rule would cost.
pub mod catalog;

pub mod group;

pub mod evaluate;

// What people see, and what ties it together.
pub mod report;

pub mod engine;

pub mod cli;

pub use error::{Error, Result};
