//! The fast path: is a URL its own key, but for a fragment?
//!
//! ```text
//! scheme   "http://" or "https://", lower case                              else decline
//! host     mask of bytes that are not a-z 0-9 - . : the first must be '/', the end or a plain port
//!          its last label starts with no digit, or it is dotted decimals    else decline
//! plain    up to 128 bytes, read in four runs that overlap where it is short:
//!          none is of the path table or % ? # \, no "/."                    the URL is its own key
//! walk     64 bytes at a time, as masks: before a '#', split at the first '?'
//!          path: none of the path table, no '\', no "/."                    else decline
//!          query: none of the query table                                   else decline
//!          escapes: the two bytes behind each '%' are digits that stay      else decline
//!          parameters: first two letters of one may sign                    look closely
//! ```
//!
//! To decline is always right: the core takes over, and it alone knows what the steps do. So nothing
//! here changes a byte, and whatever is accepted is a slice of the input.
//!
//! What each trick bought, over top100.txt (100,030 URLs): scan and XXH3-128, ns a URL, the least of 30
//! rounds per 1000 URLs, one thread of a shared two-core x86-64 with AVX-512; XXH3 alone is 12. Before,
//! a loop over 32 bytes that stopped at each byte to look at took 47.
//! - All masks of the first 128 bytes, of a padded copy: 48, since wide loads wait for the copy.
//! - Runs that overlap in place of the copy: 41. Lengths from 32 to 128 share one path, so that no
//!   branch depends on the length.
//! - Long URLs go on where the masks end, rather than anew: 38.
//! - Plain URLs first, which is 7 of 10, by one mask, of `/.` and of the host: 30. A sort of bytes
//!   takes two table look-ups by nibble, not a comparison for each byte.
//! - Escapes and names of signature parameters by masks, in place of a loop over each `%` and `&`: 28.
//! - A verdict of two words, which come back in registers: as three fields in memory it was written by
//!   the byte and read by the word, which waits. The whole key, with the 2 % that the core writes: from
//!   36.2 to 35.6. Names of parameters read only if two letters fit (`query::is_signed`): to 33.2.
//! - With AVX2 at most (no AVX-512) the whole key takes 39.2.
//! - The library compiles this for each sort of processor and picks one; without that, on SSE2, all of
//!   it would be slower than what it replaced.

use fearless_simd::{Level, Simd, dispatch};

use crate::uri::host;
use crate::uri::lanes::{self, Head, LANES, Sorts, below, equal, lowest, nonzero};
use crate::uri::table::{PATH, is};
use crate::uri::walk::walk;

/// The shortest input that is looked at: what two overlapping runs can hold.
const LEN_MIN: usize = 16;
/// The longest input that four runs of 32 bytes cover.
const LEN_PLAIN_MAX: usize = 2 * LANES;

/// A URL that is its own key, up to its fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where the fragment, or the input, ends.
    pub(crate) len: usize,
    pub(crate) behind: Behind,
}

/// What stands behind the authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// The input ends there: the key has a `/` more.
    Nothing,
    /// A path, and perhaps a query that signs nothing.
    Plain,
    /// A path, and a query with a signature parameter.
    Signed,
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
    scan_on(Level::new(), input, quote)
}

/// The same with what a processor of this level has.
#[inline]
fn scan_on(level: Level, input: &[u8], quote: Quote) -> Option<Found> {
    dispatch!(level, simd => scan_with(simd, input, quote))
}

#[inline(always)]
fn scan_with<S: Simd>(simd: S, input: &[u8], quote: Quote) -> Option<Found> {
    let start = authority_start(input)?;
    if input.len() < LEN_MIN {
        return None;
    }
    let head = Head::of(simd, input);
    let path = authority_end(simd, &head, input, start)?;
    if path == input.len() {
        return Some(Found {
            len: path,
            behind: Behind::Nothing,
        });
    }
    if input.len() <= LEN_PLAIN_MAX && is_plain(simd, &head, input) {
        return Some(Found {
            len: input.len(),
            behind: Behind::Plain,
        });
    }
    // A short input is continued, so that a block starts at each of its bytes.
    let padded;
    let text = if input.len() > LANES {
        input
    } else {
        padded = pad(input);
        &padded[..]
    };
    walk(simd, input, text, path, quote)
}

/// What stands behind `http://` or `https://`.
#[inline(always)]
fn authority_start(input: &[u8]) -> Option<usize> {
    let start = u64::from_le_bytes(*input.first_chunk()?);
    let is_https = start == u64::from_le_bytes(*b"https://");
    let is_http = start << 8 == u64::from_le_bytes(*b"\0http://");
    (is_http | is_https).then_some(7 + usize::from(is_https))
}

/// Where the path starts, or the input ends, if the authority that starts at `start` stands as it
/// should.
#[inline(always)]
fn authority_end<S: Simd>(simd: S, head: &Head<S>, input: &[u8], start: usize) -> Option<usize> {
    let not_host = head.places(lanes::not_host(simd, head.lanes)) | !lowest(input.len());
    let others = not_host & !lowest(start);
    let end = others.trailing_zeros() as usize;
    // The byte before the host counts as a dot, so that a last label is always there.
    let dots = head.places(equal(simd, head.lanes, b'.')) & below(others) | 1 << (start - 1);
    let label = LANES - dots.leading_zeros() as usize;
    // A label that starts with a digit may be a number, and so may the one before a dot at the end.
    let may_be_number = label == end || input[label].is_ascii_digit();
    if may_be_number && !is_name_or_address(&input[start..end]) {
        return None;
    }
    match input.get(end) {
        None | Some(b'/') => Some(end),
        Some(b':') => port_end(input, end + 1, start),
        _ => None,
    }
}

/// Whether a host is no number to browsers, or a number in the text that they write.
#[cold]
fn is_name_or_address(name: &[u8]) -> bool {
    !name.is_empty() && (!host::ends_in_number(name) || host::is_dotted_decimal(name))
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

/// Bytes behind the host that need a look.
const ATTENTION: Sorts = {
    let mut sorts = [0; 256];
    let mut byte = 0u8;
    loop {
        let sort = match byte {
            0..b' ' | 0x80.. => 1,
            b' ' | b'"' | b'#' | b'%' => 1 << 1,
            b'<' | b'>' | b'?' => 1 << 2,
            b'\\' | b'^' => 1 << 3,
            b'`' => 1 << 4,
            b'{' | b'}' | 0x7F => 1 << 5,
            _ => 0,
        };
        assert!((sort != 0) == (is(byte, PATH) || matches!(byte, b'%' | b'\\')));
        sorts[byte as usize] = sort;
        if byte == u8::MAX {
            break Sorts::of(&sorts);
        }
        byte += 1;
    }
};

/// Whether nothing in an input of at most [`LEN_PLAIN_MAX`] bytes needs a look. Where runs meet that
/// do not follow each other, a "/." may be seen that is not there; none that is there is missed,
/// since of two neighbours at the end of a run the next run has both.
#[inline(always)]
fn is_plain<S: Simd>(simd: S, head: &Head<S>, input: &[u8]) -> bool {
    let (low, high) = (head.lanes, head.rest(simd, input));
    let sorts = ATTENTION.look_up(simd, low) | ATTENTION.look_up(simd, high);
    let slashes = (equal(simd, low, b'/'), equal(simd, high, b'/'));
    let dots = (equal(simd, low, b'.'), equal(simd, high, b'.'));
    let hidden = dots.0 & slashes.0 << 1 | dots.1 & (slashes.1 << 1 | slashes.0 >> 63);
    nonzero(simd, sorts) | hidden == 0
}

/// At least one block more than `input`, which is no longer than one.
#[inline(always)]
fn pad(input: &[u8]) -> [u8; 2 * LANES] {
    let mut padded = [0; 2 * LANES];
    padded[..input.len()].copy_from_slice(input);
    padded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::plan::{Base, Fragment};
    use crate::uri::core::{self, Settings};
    use crate::uri::lanes::tests::levels;
    use crate::uri::parts::Parts;
    use crate::uri::{Kind, query};

    /// The verdict of all levels.
    fn verdict(input: &[u8], quote: Quote) -> Option<Found> {
        let found = scan(input, quote);
        for level in levels() {
            let again = scan_on(level, input, quote);
            assert_eq!(again, found, "{level:?}: {}", input.escape_ascii());
        }
        found
    }

    /// The slow twin: what the core writes, if that is the input up to its fragment.
    fn slowly(input: &[u8], quote: Quote) -> Option<Found> {
        let base = match quote {
            Quote::Escaped => Base::Browser,
            Quote::Kept => Base::Grammar,
        };
        let settings = Settings {
            base,
            fragment: Fragment::Drop,
        };
        let (mut joined, mut out) = (Vec::new(), Vec::new());
        let outcome = core::write(input, settings, &mut joined, &mut out);
        let cut = memchr::memchr(b'#', input).unwrap_or(input.len());
        let is_signed = Parts::of(&out).query.is_some_and(query::is_signed);
        let behind = match out.strip_prefix(&input[..cut]) {
            Some(b"") if is_signed => Behind::Signed,
            Some(b"") => Behind::Plain,
            Some(b"/") if cut == input.len() => Behind::Nothing,
            _ => return None,
        };
        (outcome.kind == Kind::Http).then_some(Found { len: cut, behind })
    }

    /// What is left to the core though it is its own key.
    fn is_declined(input: &[u8]) -> bool {
        let Some(start) = authority_start(input) else {
            return true;
        };
        let is_host = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
        let host_len = input[start..]
            .iter()
            .take_while(|byte| is_host(byte))
            .count();
        let behind = &input[start + host_len..];
        let (text, fragment) = core::cut(behind, b'#');
        let (path, query) = core::cut(text, b'?');
        let is_rare = |byte: &u8| matches!(byte, b'\\' | b'^' | b'`' | b'{' | b'}');
        let has_stray = |text: &[u8]| {
            text.iter().enumerate().any(|(at, byte)| {
                *byte == b'%' && crate::uri::table::escape_at(&text[at..]).is_none()
            })
        };
        let name = &input[start..start + host_len];
        input.len() < LEN_MIN
            || start + host_len > LANES
            || (host::ends_in_number(name) && !host::is_dotted_decimal(name))
            || !(behind.is_empty() || matches!(behind[0], b'/' | b':'))
            || behind.starts_with(b":0")
            || path.windows(2).any(|pair| pair == b"/.")
            || path.contains(&b'\\')
            || query.is_some_and(|query| query.iter().any(is_rare))
            || has_stray(path)
            || query.is_some_and(has_stray)
            || fragment.is_some_and(|fragment| fragment.iter().any(|byte| *byte <= b' '))
            || (behind.starts_with(b":") && !path.contains(&b'/'))
    }

    fn check_twin(input: &[u8]) {
        for quote in [Quote::Escaped, Quote::Kept] {
            let found = verdict(input, quote);
            let slow = slowly(input, quote);
            if found != slow {
                assert_eq!(found, None, "{}", input.escape_ascii());
                assert!(is_declined(input), "declined: {}", input.escape_ascii());
            }
        }
    }

    proptest! {
        #[test]
        fn says_what_the_core_says(
            authority in "https?://([a-z]{1,9}\\.){0,4}([a-z]{1,30}|[0-9]{1,3}|0x1f|10\\.0\\.0\\.1|xn--a)\\.?(:8080|:80|:0?443|:)?",
            lead in "(/[a-z0-9]{0,70}){0,2}",
            pieces in prop::collection::vec(
                "[a-z0-9/.~_=|'-]{0,30}|/\\.|\\.|/|%[0-9A-F]{2}|%[0-9A-Fa-f]{0,2}|[ \"#<>?^`{}\\\\\u{7f}é]|&|&s|&sig=|\\?[hHsS%]|%73ig=|s%69g=|key-pair-id|&hmac=1",
                0..12,
            ),
        ) {
            check_twin([authority, lead, pieces.concat()].concat().as_bytes());
        }

        #[test]
        fn finds_one_odd_byte_wherever_it_stands(len in 20usize..200, place in 0usize..200, byte: u8) {
            let mut input = format!("https://a.example/{}", "a".repeat(len)).into_bytes();
            let place = 17 + place % (input.len() - 17);
            input[place] = byte;
            check_twin(&input);
            input[18] = b'?';
            check_twin(&input);
        }

        #[test]
        fn sees_across_the_ends_of_blocks(
            len in 0usize..140,
            pair in "/\\.|/\\./|%2F|%41|%2f|\\?sig=|&sig=|\\?%73ig=|&s%69g=|#!|\\?a=1&hmac",
            rest in 0usize..70,
        ) {
            let (lead, rest) = ("a".repeat(len), "b".repeat(rest));
            check_twin(format!("http://a.example/{lead}{pair}{rest}").as_bytes());
            check_twin(format!("http://a.example/?{lead}{pair}{rest}").as_bytes());
        }
    }

    fn check(input: &str, expected: Option<(usize, Behind)>) {
        let found = verdict(input.as_bytes(), Quote::Escaped);
        let found = found.map(|found| (found.len, found.behind));
        assert_eq!(found, expected, "{input}");
    }

    #[test]
    fn what_is_its_own_key_is_found() {
        let whole = |input: &str| check(input, Some((input.len(), Behind::Plain)));
        whole("https://example.org/");
        whole("http://example.org./a//b/c.d");
        whole("http://example.org:8080/a");
        whole("http://192.168.0.1/a=b|c~d'e[f]");
        whole("https://example.org/caf%C3%A9/a%2Fb?q=%26&r=c+d");
        whole("https://example.org/a?");
        whole("https://example.org/a?b/./c?d");
    }

    #[test]
    fn a_fragment_and_an_empty_path_are_told() {
        check("https://example.org/a#top", Some((21, Behind::Plain)));
        check("https://example.org/a#!/b?sig=1", Some((21, Behind::Plain)));
        check("https://example.org", Some((19, Behind::Nothing)));
    }

    #[test]
    fn a_signature_is_told() {
        for query in [
            "sig=1",
            "a=1&Signature=x",
            "HMAC",
            "a&X-Amz-Signature=0",
            "key-pair-id",
        ] {
            let input = format!("https://example.org/a?{query}");
            check(&input, Some((input.len(), Behind::Signed)));
        }
        let input = "https://example.org/a?sign=1&design=sig";
        check(input, Some((input.len(), Behind::Plain)));
    }

    #[test]
    fn what_a_step_may_change_is_declined() {
        for input in [
            "HTTP://example.org/a",
            "http://Example.org/a",
            "http://example.org:80/a",
            "http://example.org:08080/a",
            "http://0x7f.1/abcdefgh",
            "http://1.2.3.256/abcdefgh",
            "http:///abcdefghijk",
            "http://user@example.org/a",
            "http://example.org/a/../b",
            "http://example.org/a%7Eb",
            "http://example.org/a%2fb",
            "http://example.org/a%2",
            "http://example.org/a?it's",
            "http://example.org/a b",
            "http://example.org/a?b#c d",
            "http://example.org?a=b",
        ] {
            check(input, None);
        }
    }
}
