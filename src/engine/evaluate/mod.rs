//! `dedupe evaluate` from flags to outputs.

mod questions;
mod sightings;
