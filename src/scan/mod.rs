//! One reader per format: pieces of bytes in, [`Event`](crate::capture::Event)s out.
//! Must never touch files or threads.

pub mod cdx;
pub mod cdxj;

mod index_line;
mod lines;
