//! The comparison keys of `surt`, `w3lib` and `urlcanon`, bit for bit, faults included: so that keys that
//! archives already hold can be joined with ours, and what they merge can be measured.
//!
//! One file per library, split by its steps and named as it names them; `python` has what they take from
//! the standard library. Knows bytes and the name of a library; must never import the rest of `uri`.
//! These keys allocate: nobody crawls by them at speed.

mod idna2003;
mod idna2008;
mod python;
mod surt;
mod urlcanon;
mod w3lib;

use std::fmt;

use crate::policy::plan::Parity;

/// Why a library gives no key: it raises an exception. The input itself is the key then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// Nothing is left to parse: `surt` asks `None` for its scheme.
    Empty,
    /// The port has something other than digits (`ValueError`).
    PortNotNumber,
    /// The port is above 65535 (`ValueError`).
    PortOutOfRange,
    /// Brackets without an IPv6 address between them (`ValueError`).
    BadBrackets,
    /// NFKC makes a delimiter of a character in the authority (`ValueError`).
    HiddenDelimiter,
    /// The host is a number that `ipaddress` or `int` refuses (`ValueError`).
    BadAddress,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "nothing to parse",
            Self::PortNotNumber => "the port is not a number",
            Self::PortOutOfRange => "the port is above 65535",
            Self::BadBrackets => "brackets without an IPv6 address",
            Self::HiddenDelimiter => "NFKC makes a delimiter in the authority",
            Self::BadAddress => "the host is a number that is no address",
        })
    }
}

/// Writes the key that `library` gives `input` to `out`, replacing what it held.
///
/// Total: where the library raises, `input` verbatim is the key, and the reason is returned.
///
/// # Errors
/// Why the library raises.
///
/// ```
/// use crawl_dedupe::{policy::plan::Parity, uri::parity};
/// let mut key = Vec::new();
/// parity::write(Parity::Surt, b"http://www.Example.com/B?z=1&a=2", &mut key).unwrap();
/// assert_eq!(key, b"com,example)/b?a=2&z=1");
/// ```
pub fn write(library: Parity, input: &[u8], out: &mut Vec<u8>) -> Result<(), Raised> {
    out.clear();
    let written = match library {
        Parity::Surt => surt::surt(input, out),
        Parity::W3lib => w3lib::canonicalize_url(input, out),
        Parity::UrlcanonSemantic => urlcanon::semantic(input, out),
    };
    if written.is_err() {
        out.clear();
        out.extend_from_slice(input);
    }
    written
}
