//! The fast path: is a URL its own key, but for a fragment?
//!
//! ```text
//! scheme   "http://" or "https://", lower case                        else decline
//! host     first byte that is not a-z 0-9 - .                         must be '/' or a plain port
//!          last label is no number, or the host is dotted decimals    else decline
//! path     a mask of 32 bytes that need a look; of each set bit:
//!            '?'            go on as query
//!            '#'            cut here
//!            '=' '|' '~'    are in the mask because a range is cheaper than an exact set
//!            other, "/."    decline
//!          a mask of '%': all must be escapes that stay, in upper case
//! query    the same with its own mask; a mask of '&', to see whether a parameter signs the URL
//! ```
//!
//! To decline is always right: the core takes over, and it alone knows what the steps do. So nothing
//! here changes a byte, and whatever is accepted is a slice of the input.
//!
//! What each trick bought, over top100.txt (100,030 URLs), one thread of a shared Xeon (Rocket Lake),
//! the least of 25 rounds per 500 URLs, scan and XXH3-128:
//! - Masks of 16 bytes by `wide` (SSE2) in place of a table per byte: 46 ns a URL; XXH3 alone is 12.
//! - Blocks of 32 in one window, so that one bounds check serves four loads: 46 to 38 ns.
//! - A short input is padded once rather than loaded in overlapping halves: part of the same step.
//! - All `%` of a block by two tables of 16-bit sets, four at a time: 126 to 116 ns where there are any.
//! - An empty path is found here, so that 1.2 % of the list skip the core.

use wide::{CmpEq, CmpGt, i8x16};

use crate::uri::table::{HEXDIG, UNRESERVED, hex_value, is};
use crate::uri::{host, query};

/// Bytes that are compared at once.
const LANES: usize = 16;
/// Bytes that one mask is about.
const BLOCK: usize = 2 * LANES;

/// A URL that is its own key, up to its fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where the fragment, or the input, ends.
    pub(crate) len: usize,
    pub(crate) query: Query,
    pub(crate) path: Path,
}

/// What the query is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// Nothing special, or it is not there.
    Plain,
    /// It has a signature parameter.
    Signed,
}

/// Whether a path stands behind the authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    Present,
    /// The input ends there: the key has a `/` more.
    Absent,
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
    let start = if input.starts_with(b"https://") {
        8
    } else if input.starts_with(b"http://") {
        7
    } else {
        return None;
    };
    // A short input is continued with bytes that need no look.
    let padded;
    let text = if input.len() > BLOCK {
        input
    } else {
        padded = pad(input);
        &padded[..]
    };
    let path = authority(input, text, start)?;
    if path == input.len() {
        return Some(Found {
            len: path,
            query: Query::Plain,
            path: Path::Absent,
        });
    }
    let end = path_end(input, text, path)?;
    let (len, query) = match input.get(end) {
        Some(b'?') => query_end(input, text, end + 1, quote)?,
        _ => (end, Query::Plain),
    };
    if len < input.len() && !is_plain_fragment(&input[len..]) {
        return None;
    }
    Some(Found {
        len,
        query,
        path: Path::Present,
    })
}

/// At least one block more than `input`, which is no longer than one.
fn pad(input: &[u8]) -> [u8; 2 * BLOCK] {
    let mut padded = [b'a'; 2 * BLOCK];
    padded[..input.len()].copy_from_slice(input);
    padded
}

/// Where the path starts, or the input ends, if the authority that starts at `start` stands as it should.
#[inline]
fn authority(input: &[u8], text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let end = loop {
        let block = Block::at(text, at);
        let others = block.mask(not_host);
        if others != 0 {
            break at + others.trailing_zeros() as usize;
        }
        at += block.len;
        if at >= input.len() {
            break input.len();
        }
    };
    let host = &input[start..end];
    // Only a digit, a letter of a hex number, or the x of a bare 0x, ends a number.
    let may_be_number = !matches!(host.last()?, b'g'..=b'w' | b'y' | b'z');
    if may_be_number && host::ends_in_number(host) && !host::is_dotted_decimal(host) {
        return None;
    }
    match input.get(end) {
        None | Some(b'/') => Some(end),
        Some(b':') => port_end(input, end + 1, start),
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

/// Where the path that starts at `start` ends, at a `?`, a `#` or the end, if it stands as it should.
#[inline]
fn path_end(input: &[u8], text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while at < input.len() {
        let block = Block::at(text, at);
        let mut looks = block.mask(path_looks);
        let mut escapes = block.mask(|bytes, _| bytes.cmp_eq(splat(b'%')));
        let mut end = None;
        while looks != 0 {
            let look = at + looks.trailing_zeros() as usize;
            match input[look] {
                b'?' | b'#' => {
                    end = Some(look);
                    // Only what stands before it is path.
                    escapes &= lowest(looks) - 1;
                    break;
                }
                b'=' | b'|' | b'~' => looks ^= lowest(looks),
                _ => return None,
            }
        }
        if escapes != 0 && !all_stay(input, at, escapes) {
            return None;
        }
        if end.is_some() {
            return end;
        }
        at += block.len;
    }
    Some(input.len())
}

/// Where the query that starts at `start` ends, and whether it signs, if it stands as it should.
#[inline]
fn query_end(input: &[u8], text: &[u8], start: usize, quote: Quote) -> Option<(usize, Query)> {
    let mut at = start;
    let mut end = input.len();
    let mut may_sign = query::may_sign(&input[start..]);
    while at < end {
        let block = Block::at(text, at);
        let mut looks = block.mask(query_looks);
        let mut escapes = block.mask(|bytes, _| bytes.cmp_eq(splat(b'%')));
        let mut delimiters = block.mask(|bytes, _| bytes.cmp_eq(splat(b'&')));
        while looks != 0 {
            let look = at + looks.trailing_zeros() as usize;
            match input[look] {
                b'#' => {
                    end = look;
                    escapes &= lowest(looks) - 1;
                    delimiters &= lowest(looks) - 1;
                    break;
                }
                b'\'' if quote == Quote::Kept => looks ^= lowest(looks),
                _ => return None,
            }
        }
        if escapes != 0 && !all_stay(input, at, escapes) {
            return None;
        }
        while delimiters != 0 {
            let param = at + delimiters.trailing_zeros() as usize + 1;
            may_sign |= query::may_sign(&input[param..]);
            delimiters ^= lowest(delimiters);
        }
        at += block.len;
    }
    let query = if may_sign && query::is_signed(&input[start..end]) {
        Query::Signed
    } else {
        Query::Plain
    };
    Some((end, query))
}

/// Whether a fragment has no bytes that are trimmed.
#[cold]
fn is_plain_fragment(fragment: &[u8]) -> bool {
    fragment.iter().all(|byte| *byte > b' ')
}

/// Whether the `%` at these places behind `at` are escapes, and stay as they are.
#[inline]
fn all_stay(input: &[u8], at: usize, mut escapes: u32) -> bool {
    let mut stay = true;
    while escapes != 0 {
        // Four at a time, the last one again if there are fewer: one branch in place of four.
        let mut place = 0;
        for _ in 0..4 {
            place = if escapes == 0 {
                place
            } else {
                escapes.trailing_zeros() as usize
            };
            escapes &= escapes.wrapping_sub(1);
            let digits = at + place + 1;
            let Some(&[high, low]) = input.get(digits..digits + 2) else {
                return false;
            };
            stay &= STAYING[usize::from(high)] & NIBBLE[usize::from(low)] != 0;
        }
    }
    stay
}

/// By the first digit of an escape: the second digits with which it stays, as bits.
const STAYING: [u16; 256] = {
    let mut table = [0; 256];
    let mut escape = 0u8;
    loop {
        if !is(escape, UNRESERVED) {
            table[crate::uri::table::HEX_UPPER[(escape >> 4) as usize] as usize] |=
                1 << (escape & 15);
        }
        if escape == u8::MAX {
            break table;
        }
        escape += 1;
    }
};

/// By the second digit of an escape: its bit; none for digits in lower case and other bytes.
const NIBBLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut digit = 0u8;
    while digit < 0x80 {
        if is(digit, HEXDIG) && !digit.is_ascii_lowercase() {
            table[digit as usize] = 1 << hex_value(digit);
        }
        digit += 1;
    }
    table
};

/// The lowest set bit.
#[inline]
fn lowest(mask: u32) -> u32 {
    mask & mask.wrapping_neg()
}

/// Thirty-two bytes of a text. Where fewer are left, the last thirty-two.
struct Block {
    halves: [i8x16; 2],
    /// The byte before each.
    before: [i8x16; 2],
    /// How many bytes at the front were looked at before.
    shift: usize,
    /// How many bytes behind them are there.
    len: usize,
}

impl Block {
    #[inline]
    fn at(text: &[u8], at: usize) -> Self {
        let low = at.min(text.len() - BLOCK);
        let window: &[u8; BLOCK + 1] = text[low - 1..]
            .first_chunk()
            .expect("a block and one byte are there");
        Self {
            halves: [load(window, 1), load(window, 1 + LANES)],
            before: [load(window, 0), load(window, LANES)],
            shift: at - low,
            len: low + BLOCK - at,
        }
    }

    /// The bytes that `looks` finds, as bits from the place of the block on. It sees each byte, and
    /// the one before.
    #[inline]
    fn mask(&self, looks: impl Fn(i8x16, i8x16) -> i8x16) -> u32 {
        let low = bits(looks(self.halves[0], self.before[0]));
        let high = bits(looks(self.halves[1], self.before[1]));
        (low | high << LANES) >> self.shift
    }
}

#[inline]
fn load(window: &[u8; BLOCK + 1], start: usize) -> i8x16 {
    let bytes: &[u8; LANES] = window[start..]
        .first_chunk()
        .expect("a half of the window starts there");
    i8x16::from(bytes.map(u8::cast_signed))
}

#[inline]
fn splat(byte: u8) -> i8x16 {
    i8x16::splat(byte.cast_signed())
}

#[inline]
fn bits(lanes: i8x16) -> u32 {
    lanes.move_mask().cast_unsigned()
}

/// Lanes that are not `a-z`, `0-9`, `-` or `.`.
#[inline]
fn not_host(bytes: i8x16, _before: i8x16) -> i8x16 {
    let slash = bytes.cmp_eq(splat(b'/'));
    (outside(bytes, b'a', b'z') & outside(bytes, b'-', b'9')) | slash
}

/// Lanes that are below `first` or above `last`: moved so that `first` is the least signed number.
#[inline]
fn outside(bytes: i8x16, first: u8, last: u8) -> i8x16 {
    let offset = 0x80u8.wrapping_sub(first);
    (bytes + splat(offset)).cmp_gt(splat(last.wrapping_add(offset)))
}

/// Lanes of a path that need a look: C0, space, `"` `#` `<` `=` `>` `?` `\` `^` `` ` ``, from `{`
/// on, from 0x80 on, and a `.` behind a `/`.
#[inline]
fn path_looks(bytes: i8x16, before: i8x16) -> i8x16 {
    let dot = bytes.cmp_eq(splat(b'.')) & before.cmp_eq(splat(b'/'));
    outside(bytes, b'!', b'z')
        | (bytes & splat(0xFE)).cmp_eq(splat(b'"'))
        | (bytes & splat(0xFC)).cmp_eq(splat(b'<'))
        | (bytes & splat(0xFD)).cmp_eq(splat(b'\\'))
        | bytes.cmp_eq(splat(b'`'))
        | dot
}

/// Lanes of a query that need a look: C0, space, `"` `#` `'` `<` `>`, from 0x7F on.
#[inline]
fn query_looks(bytes: i8x16, _before: i8x16) -> i8x16 {
    outside(bytes, b'!', b'~')
        | bytes.cmp_eq(splat(b'\''))
        | (bytes & splat(0xFE)).cmp_eq(splat(b'"'))
        | (bytes & splat(0xFD)).cmp_eq(splat(b'<'))
}
