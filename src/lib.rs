//! `crawl_dedupe`: which captures of a crawl archive are the same, and what a URL rule would cost.
//!
//! The modules stand in reading order; ARCHITECTURE.md has the data flow and what each may know.

pub mod error;

pub mod capture;
pub mod digest;

pub mod key;
pub mod keyset;
pub mod policy;
pub mod uri;

pub mod scan;
pub mod source;

pub mod catalog;
pub mod evaluate;
pub mod group;

pub mod cli;
pub mod engine;
pub mod report;

pub use error::{Error, Result};
