//! The fast path: is a URL its own key, but for a fragment?
//!
//! ```text
//! scheme   "http://" or "https://", lower case                        else decline
//! host     blocks of 16: first byte that is not a-z 0-9 - .           must be '/' or a plain port
//!          last label is no number, or the host is dotted decimals    else decline
//! path     blocks of 16: mask of bytes that need a look; of each set bit:
//!            '?'            go on as query
//!            '#'            cut here
//!            '%'            must be an escape that stays, in upper case
//!            '=' '|' '~'    are in the mask because a range is cheaper than an exact set
//!            other, "/."    decline
//! query    the same with its own mask; '&' is in it, to see whether a parameter signs the URL
//! ```
//!
//! To decline is always right: the core takes over, and it alone knows what the steps do. So nothing
//! here changes a byte, and whatever is accepted is a slice of the input.

use wide::{CmpEq, CmpGt, i8x16};

use crate::uri::table::{UNRESERVED, escape_at, is};
use crate::uri::{host, query};

/// Bytes that are looked at together.
const LANES: usize = 16;

/// A URL that is its own key, up to its fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where the fragment, or the input, ends.
    pub(crate) len: usize,
    /// Whether a fragment follows.
    pub(crate) has_fragment: bool,
    /// Whether the query has a signature parameter.
    pub(crate) is_signed: bool,
}

/// Bytes that become escapes in a query beside those of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// `'`, in the browser tier.
    Escaped,
    /// None, in the grammar tier.
    Kept,
}

/// Finds out whether `input` is an http URL that is its own key; `None` is no verdict.
#[inline]
pub(crate) fn scan(input: &[u8], quote: Quote) -> Option<Found> {
    let start = match input {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
        _ => return None,
    };
    // A block may start one byte before its place.
    if input.len() <= LANES {
        return None;
    }
    let path = authority(input, start)?;
    let (at, delimiter) = path_end(input, path)?;
    let (len, is_signed) = match delimiter {
        Delimiter::Query => query_end(input, at + 1, quote)?,
        Delimiter::Other => (at, false),
    };
    Some(Found {
        len,
        has_fragment: len < input.len(),
        is_signed,
    })
}

/// What ends a path.
enum Delimiter {
    Query,
    /// A fragment, or the end.
    Other,
}

/// Where the path starts, if the authority that starts at `start` stands as it should.
#[inline]
fn authority(input: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let end = loop {
        if at >= input.len() {
            return None;
        }
        let block = Block::at(input, at);
        let others = block.mask(not_host(block.bytes));
        if others != 0 {
            break at + others.trailing_zeros() as usize;
        }
        at += block.len;
    };
    let host = &input[start..end];
    // Only a digit, or a letter of a hex number, ends a number.
    let may_be_number = !matches!(host.last()?, b'g'..=b'z');
    if may_be_number && host::ends_in_number(host) && !host::is_dotted_decimal(host) {
        return None;
    }
    match input.get(end)? {
        b'/' => Some(end),
        b':' => port_end(input, end + 1, start),
        _ => None,
    }
}

/// Where the path starts behind a port that stays as it is.
#[cold]
fn port_end(input: &[u8], from: usize, scheme_end: usize) -> Option<usize> {
    let rest = &input[from..];
    let len = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let port = &rest[..len];
    let default = if scheme_end == 7 { b"80" } else { &b"443"[..] };
    let is_kept = match port {
        [b'1'..=b'9', ..] => len < 5 || (len == 5 && port <= &b"65535"[..]),
        _ => false,
    };
    (is_kept && port != default && rest[len] == b'/').then_some(from + len)
}

/// Where the path that starts at `start` ends, if it stands as it should.
#[inline]
fn path_end(input: &[u8], start: usize) -> Option<(usize, Delimiter)> {
    let mut at = start;
    while at < input.len() {
        let block = Block::at(input, at);
        // The byte before the path is always there: the scheme is.
        let before = Block::at_with(input, at - 1, block.shift);
        let mut looks = block.mask(path_looks(block.bytes, before));
        while looks != 0 {
            let look = at + looks.trailing_zeros() as usize;
            match input[look] {
                b'?' => return Some((look, Delimiter::Query)),
                b'#' => return fragment(input, look).map(|at| (at, Delimiter::Other)),
                b'%' if stays(input, look) => {}
                b'=' | b'|' | b'~' => {}
                _ => return None,
            }
            looks &= looks - 1;
        }
        at += block.len;
    }
    Some((input.len(), Delimiter::Other))
}

/// Where the query that starts at `start` ends, and whether it signs, if it stands as it should.
#[inline]
fn query_end(input: &[u8], start: usize, quote: Quote) -> Option<(usize, bool)> {
    let mut at = start;
    let mut may_sign = query::may_sign(&input[start..]);
    while at < input.len() {
        let block = Block::at(input, at);
        let mut looks = block.mask(query_looks(block.bytes));
        while looks != 0 {
            let look = at + looks.trailing_zeros() as usize;
            match input[look] {
                b'&' => may_sign |= query::may_sign(&input[look + 1..]),
                b'#' => {
                    let end = fragment(input, look)?;
                    return Some((end, may_sign && query::is_signed(&input[start..end])));
                }
                b'%' if stays(input, look) => {}
                b'$' => {}
                b'\'' if quote == Quote::Kept => {}
                _ => return None,
            }
            looks &= looks - 1;
        }
        at += block.len;
    }
    Some((input.len(), may_sign && query::is_signed(&input[start..])))
}

/// The place of a fragment without bytes that are trimmed.
#[cold]
fn fragment(input: &[u8], at: usize) -> Option<usize> {
    input[at..].iter().all(|byte| *byte > b' ').then_some(at)
}

/// Whether the escape at `at` is one, and stays as it is.
#[inline]
fn stays(input: &[u8], at: usize) -> bool {
    let escape = &input[at..];
    escape_at(escape).is_some_and(|byte| {
        !is(byte, UNRESERVED) && !escape[1].is_ascii_lowercase() && !escape[2].is_ascii_lowercase()
    })
}

/// Sixteen bytes of the input. Where fewer are left, the last sixteen, and the mask is shifted.
struct Block {
    bytes: i8x16,
    /// How many bytes at the front were looked at before.
    shift: usize,
    /// How many bytes behind them are there.
    len: usize,
}

impl Block {
    #[inline]
    fn at(input: &[u8], at: usize) -> Self {
        let start = at.min(input.len() - LANES);
        Self {
            bytes: load(input, start),
            shift: at - start,
            len: start + LANES - at,
        }
    }

    /// Sixteen bytes at `at`, moved as a block of this shift is.
    #[inline]
    fn at_with(input: &[u8], at: usize, shift: usize) -> i8x16 {
        load(input, at - shift)
    }

    #[inline]
    fn mask(&self, looks: i8x16) -> u32 {
        looks.move_mask().cast_unsigned() >> self.shift
    }
}

#[inline]
fn load(input: &[u8], start: usize) -> i8x16 {
    let bytes: [u8; LANES] = input[start..start + LANES]
        .try_into()
        .expect("the slice is as long as a block");
    i8x16::from(bytes.map(u8::cast_signed))
}

#[inline]
fn splat(byte: u8) -> i8x16 {
    i8x16::splat(byte.cast_signed())
}

/// Lanes that are not `a-z`, `0-9`, `-` or `.`. Signed: bytes from 0x80 are below all of them.
#[inline]
fn not_host(bytes: i8x16) -> i8x16 {
    let letter = bytes.cmp_gt(splat(b'a' - 1)) & splat(b'z' + 1).cmp_gt(bytes);
    let digit = bytes.cmp_gt(splat(b'-' - 1)) & splat(b'9' + 1).cmp_gt(bytes);
    let slash = bytes.cmp_eq(splat(b'/'));
    !(letter | digit) | slash
}

/// Lanes of a path that need a look: C0, space, `"` `#` `%` `<` `=` `>` `?` `\` `^` `` ` ``, from `{`
/// on, from 0x80 on, and a `.` behind a `/`.
#[inline]
fn path_looks(bytes: i8x16, before: i8x16) -> i8x16 {
    let dot = bytes.cmp_eq(splat(b'.')) & before.cmp_eq(splat(b'/'));
    !bytes.cmp_gt(splat(b' '))
        | bytes.cmp_gt(splat(b'z'))
        | (bytes & splat(0xFE)).cmp_eq(splat(b'"'))
        | bytes.cmp_eq(splat(b'%'))
        | (bytes & splat(0xFC)).cmp_eq(splat(b'<'))
        | (bytes & splat(0xFD)).cmp_eq(splat(b'\\'))
        | bytes.cmp_eq(splat(b'`'))
        | dot
}

/// Lanes of a query that need a look: C0, space, `"` `#` `$` `%` `&` `'` `<` `>`, from 0x7F on.
#[inline]
fn query_looks(bytes: i8x16) -> i8x16 {
    !bytes.cmp_gt(splat(b' '))
        | bytes.cmp_eq(splat(0x7F))
        | (bytes & splat(0xFE)).cmp_eq(splat(b'"'))
        | (bytes & splat(0xFC)).cmp_eq(splat(b'$'))
        | (bytes & splat(0xFD)).cmp_eq(splat(b'<'))
}
