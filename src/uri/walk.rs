//! The walk of the fast path: all that stands from the path on, 64 bytes at a time, as masks.
//!
//! For URLs that are not plain: long ones, and those with a query, an escape or a fragment. The idea,
//! and what it bought, stands in `fast`.

use fearless_simd::{Simd, u8x64};

use crate::uri::fast::{Behind, Found, Quote};
use crate::uri::lanes::{self, LANES, Sorts, below, equal, lowest, nonzero};
use crate::uri::query;
use crate::uri::table::{PATH, QUERY, SPECIAL_QUERY, is};

/// Sorts of the walk that do not stand in a path or a query, but for `?`; `\` `^` `` ` `` `{` `}` may
/// stand in a query, yet do so seldom.
const BAD: u8 = 0b1_1111;
/// The sort of `'`.
const APOSTROPHE: u8 = 1 << 5;

/// What the walk tells apart.
const WALKED: Sorts = {
    let mut sorts = [0; 256];
    let mut byte = 0u8;
    loop {
        let sort = match byte {
            0..b' ' | 0x80.. => 1,
            b' ' | b'`' => 1 << 1,
            b'"' | b'#' => 1 << 2,
            b'<' | b'>' | b'\\' | b'^' => 1 << 3,
            b'{' | b'}' | 0x7F => 1 << 4,
            b'\'' => APOSTROPHE,
            _ => 0,
        };
        let is_bad = sort & BAD != 0;
        assert!(is_bad == (byte == b'\\' || (byte != b'?' && is(byte, PATH))));
        assert!(is_bad || !is(byte, QUERY));
        assert!(sort != 0 || !is(byte, SPECIAL_QUERY));
        sorts[byte as usize] = sort;
        if byte == u8::MAX {
            break Sorts::of(&sorts);
        }
        byte += 1;
    }
};

/// First and second letters of names of signature parameters. An escape of one is unreserved, so that
/// it does not stay.
const FIRST: u8 = 0b0011;
const SECOND: u8 = 0b1100;

/// What [`FIRST`] and [`SECOND`] are made of.
const SIGNING: Sorts = {
    let mut sorts = [0; 256];
    let mut byte = 0u8;
    loop {
        let sort = match byte {
            b'S' | b'X' | b's' | b'x' => 1,
            b'H' | b'K' | b'h' | b'k' => 1 << 1,
            b'E' | b'I' | b'M' | b'e' | b'i' | b'm' => 1 << 2,
            b'-' => 1 << 3,
            _ => 0,
        };
        assert!((sort & FIRST != 0) == query::starts_signature(byte));
        assert!((sort & SECOND != 0) == query::continues_signature(byte));
        sorts[byte as usize] = sort;
        if byte == u8::MAX {
            break Sorts::of(&sorts);
        }
        byte += 1;
    }
};

/// Sixty-four bytes of the text from a place on. Where fewer are left, the last sixty-four.
struct Block<S: Simd> {
    lanes: u8x64<S>,
    /// Where in the text its lanes start, and how many of them were looked at before.
    low: usize,
    n_before: usize,
    /// Places in front of the fragment and of the end of the input.
    live: u64,
    /// Places of the input.
    here: u64,
}

impl<S: Simd> Block<S> {
    #[inline(always)]
    fn at(simd: S, text: &[u8], at: usize, len: usize) -> Self {
        let low = at.min(text.len() - LANES);
        let lanes = lanes::load(simd, text, low);
        let n_before = at - low;
        let here = lowest(len - at);
        Self {
            lanes,
            low,
            n_before,
            live: below(equal(simd, lanes, b'#') >> n_before) & here,
            here,
        }
    }

    /// A mask of its lanes by places from the start of the block on.
    #[inline(always)]
    fn places(&self, mask: u64) -> u64 {
        mask >> self.n_before
    }

    /// The places of `byte`.
    #[inline(always)]
    fn find(&self, simd: S, byte: u8) -> u64 {
        self.places(equal(simd, self.lanes, byte))
    }
}

/// What is known of a block from the one before: bits at its first places.
#[derive(Default)]
struct Carry {
    /// All places, if the query has begun.
    query: u64,
    /// The one before is a `/`.
    slash: u64,
    /// The last byte of an escape.
    escape_end: u64,
    /// Two bytes behind a delimiter of parameters.
    behind_delimiter: u64,
    /// The one before may be the first of a signature parameter.
    behind_first: u64,
}

/// Looks at everything from `path` on. `text` is the input, or the input with as many bytes more that
/// a block starts at each of its own.
#[inline(always)]
pub(crate) fn walk<S: Simd>(
    simd: S,
    input: &[u8],
    text: &[u8],
    path: usize,
    quote: Quote,
) -> Option<Found> {
    let mut carry = Carry::default();
    let mut mark = path;
    let mut may_sign = false;
    let mut at = path;
    while at < input.len() {
        let block = Block::at(simd, text, at, input.len());
        let query = carry.query | !below(block.find(simd, b'?'));
        let escapes = block.find(simd, b'%') & block.live;
        let bad = bad_bytes(simd, &block, query, quote, &mut carry);
        if bad | bad_escapes(simd, &block, text, escapes, &mut carry) != 0 {
            return None;
        }
        if query & block.live != 0 {
            if carry.query == 0 {
                mark = at + query.trailing_zeros() as usize;
            }
            may_sign |= may_sign_in(simd, &block, query, &mut carry);
        }
        at += block.live.trailing_ones() as usize;
        if block.live != block.here {
            break;
        }
    }
    let fragment = &input[at..];
    if carry.escape_end != 0 || !(fragment.is_empty() || is_plain_fragment(fragment)) {
        return None;
    }
    let is_signed = may_sign && query::is_signed(&input[mark + 1..at]);
    Some(Found {
        len: at,
        behind: if is_signed {
            Behind::Signed
        } else {
            Behind::Plain
        },
    })
}

/// Places of bytes that make the core do something, each by itself or as a `.` behind a `/`.
#[inline(always)]
fn bad_bytes<S: Simd>(
    simd: S,
    block: &Block<S>,
    query: u64,
    quote: Quote,
    carry: &mut Carry,
) -> u64 {
    let sorts = WALKED.look_up(simd, block.lanes);
    let bad_in_query = match quote {
        Quote::Escaped => BAD | APOSTROPHE,
        Quote::Kept => BAD,
    };
    let slashes = block.find(simd, b'/');
    let hidden = block.find(simd, b'.') & (slashes << 1 | carry.slash);
    carry.slash = slashes >> 63;
    let in_path = block.places(nonzero(simd, sorts & BAD)) | hidden;
    let in_query = block.places(nonzero(simd, sorts & bad_in_query));
    (in_path & !query | in_query & query) & block.live
}

/// Places where an escape should end that stays as it is, and none does.
#[inline(always)]
fn bad_escapes<S: Simd>(
    simd: S,
    block: &Block<S>,
    text: &[u8],
    escapes: u64,
    carry: &mut Carry,
) -> u64 {
    if escapes | carry.escape_end == 0 {
        return 0;
    }
    let staying = block.places(lanes::ends_of_staying(simd, text, block.low));
    let ends = escapes << 2 | carry.escape_end;
    carry.escape_end = escapes >> 62;
    ends & !staying
}

/// Whether a parameter of the query starts as those do that sign.
#[inline(always)]
fn may_sign_in<S: Simd>(simd: S, block: &Block<S>, query: u64, carry: &mut Carry) -> bool {
    let sorts = SIGNING.look_up(simd, block.lanes);
    let firsts = block.places(nonzero(simd, sorts & FIRST));
    let seconds = block.places(nonzero(simd, sorts & SECOND));
    let mark = query & query.wrapping_neg() & !carry.query;
    let delimiters = block.find(simd, b'&') & query | mark;
    let behind = delimiters << 2 | carry.behind_delimiter;
    let named = behind & (firsts << 1 | carry.behind_first) & seconds;
    carry.query = if query >> 63 == 0 { 0 } else { u64::MAX };
    carry.behind_delimiter = delimiters >> 62;
    carry.behind_first = firsts >> 63;
    named & block.live != 0
}

/// Whether a fragment has no bytes that are trimmed.
#[cold]
fn is_plain_fragment(fragment: &[u8]) -> bool {
    fragment.iter().all(|byte| *byte > b' ')
}
