//! Integration tests.

mod architecture;
mod ends;
mod expect;
mod indexes;
mod parity;
mod report;
mod shared;
mod uri;
