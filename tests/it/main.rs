//! Integration tests.

mod architecture;
mod expect;
mod report;
mod shared;
mod uri;
