//! Integration tests.

mod architecture;
mod archives;
mod catalog;
mod cli;
mod damage;
mod ends;
mod ends_twin;
mod evaluate;
mod evaluate_naive;
mod expect;
mod faults;
mod generated;
mod given;
mod groups;
mod indexes;
mod keysets;
mod laws;
mod mutations;
mod naive_ends;
mod oracle;
mod parity;
mod policies;
mod report;
mod segments;
mod shared;
mod uri;
