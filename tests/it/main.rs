//! Integration tests.

mod architecture;
mod expect;
mod parity;
mod report;
mod shared;
mod uri;
mod ends;
