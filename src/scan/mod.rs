//! Readers of archives, one a format: fed with pieces of an input, they emit what its records say.
//! Knows `capture`, `digest` and `source`; must never touch files or threads, nor call another format's reader.

pub mod cdx;
pub mod cdxj;
pub mod warc;

mod chunked;
mod coding;
mod decimal;
mod fields;
mod http;
mod index_line;
mod lines;
mod places;
mod text;
