//! Integration tests.

mod architecture;
mod expect;
mod report;
