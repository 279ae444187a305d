//! Integration tests.

mod architecture;
mod cli;
mod ends;
mod expect;
mod indexes;
mod mutations;
mod oracle;
mod parity;
mod report;
mod shared;
mod uri;
