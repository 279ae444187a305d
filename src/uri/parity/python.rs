//! What the libraries take from Python's standard library: `urllib.parse`, `int`, `ipaddress`, `str`.

use std::net::Ipv6Addr;

use unicode_normalization::UnicodeNormalization as _;

use super::Raised;
use crate::uri::percent::push_escape;
use crate::uri::table::escape_at;

/// A decimal longer than this is refused by `int` (`sys.get_int_max_str_digits`).
const INT_DIGITS_MAX: usize = 4300;

/// `string.ascii_letters + string.digits + "_.-~"`: what `quote` never escapes.
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'~')
}

/// Escapes what `is_safe` does not admit.
pub(super) fn quote(text: &[u8], is_safe: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    for &byte in text {
        if is_safe(byte) {
            out.push(byte);
        } else {
            push_escape(byte, out);
        }
    }
}

/// `urllib.parse.unquote_to_bytes`: each escape once.
pub(super) fn unquote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        if let Some(byte) = escape_at(rest) {
            out.push(byte);
            rest = &rest[3..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

/// `unquote_to_bytes` until nothing changes.
///
/// Decoding at the end of what is written is the same and takes linear time: escapes cannot overlap, so
/// the order in which they are decoded does not show.
pub(super) fn unquote_repeatedly(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text {
        out.push(byte);
        while let Some(start) = out.len().checked_sub(3)
            && let Some(decoded) = escape_at(&out[start..])
        {
            out.truncate(start);
            out.push(decoded);
        }
    }
    out
}

/// `bytes.partition`: before and after the first `separator`; `None` after it where there is none.
pub(super) fn partition(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(separator, text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// `bytes.rpartition`: before and after the last `separator`; `None` before it where there is none.
pub(super) fn rpartition(text: &[u8], separator: u8) -> (Option<&[u8]>, &[u8]) {
    match memchr::memrchr(separator, text) {
        Some(at) => (Some(&text[..at]), &text[at + 1..]),
        None => (None, text),
    }
}

/// Cuts off the bytes that `is_blank` admits, at both ends.
pub(super) fn strip(text: &[u8], is_blank: impl Fn(u8) -> bool) -> &[u8] {
    let start = text.iter().position(|&byte| !is_blank(byte));
    let end = text.iter().rposition(|&byte| !is_blank(byte));
    match (start, end) {
        (Some(start), Some(end)) => &text[start..=end],
        _ => &[],
    }
}

/// Leaves out TAB, LF and CR.
pub(super) fn without_tabs_and_newlines(text: &[u8]) -> Vec<u8> {
    text.iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'))
        .collect()
}

/// `str.lower`.
pub(super) fn lower(text: &str) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "Python's str.lower is imitated, Unicode and all"
    )]
    text.to_lowercase()
}

/// `unicodedata.normalize("NFKC", text)`.
pub(super) fn nfkc(text: &str) -> String {
    text.nfkc().collect()
}

/// `urllib.parse`: a port of ASCII digits, 65535 at most.
pub(super) fn read_port(port: &[u8]) -> Result<u16, Raised> {
    if !port.iter().all(u8::is_ascii_digit) {
        return Err(Raised::PortNotNumber);
    }
    let mut value: u32 = 0;
    for digit in port {
        value = (value * 10 + u32::from(digit - b'0')).min(1 << 16);
    }
    u16::try_from(value).map_err(|_| Raised::PortOutOfRange)
}

/// `int(text, base)` on bytes: sign, blanks around it, `_` between digits, a prefix `0x` or `0o`.
///
/// A number that needs more than 64 bits stays at 2^64: it is no part of an address either way.
pub(super) fn int(text: &[u8], base: u32) -> Option<i128> {
    let text = strip(text, |byte| {
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
    });
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    let digits = match (base, digits) {
        (16, [b'0', b'x' | b'X', rest @ ..]) | (8, [b'0', b'o' | b'O', rest @ ..]) => {
            rest.strip_prefix(b"_").unwrap_or(rest)
        }
        (_, rest) => rest,
    };
    let mut value: i128 = 0;
    let mut n_digits = 0;
    let mut after_digit = false;
    for &byte in digits {
        if byte == b'_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = char::from(byte).to_digit(base)?;
        value = (value * i128::from(base) + i128::from(digit)).min(1 << 64);
        n_digits += 1;
        after_digit = true;
    }
    let is_refused = !after_digit || (base == 10 && n_digits > INT_DIGITS_MAX);
    (!is_refused).then_some(sign * value)
}

/// Whether a decimal of `text` digits is too long for `int`.
pub(super) fn is_too_long_for_int(text: &[u8]) -> bool {
    text.len() > INT_DIGITS_MAX
}

/// `ipaddress.IPv6Address(text)`: the address, and its scope behind a `%`.
pub(super) fn ipv6(text: &str) -> Option<(Ipv6Addr, Option<&str>)> {
    let (address, scope) = match text.split_once('%') {
        Some((address, scope)) => (address, Some(scope)),
        None => (text, None),
    };
    if scope.is_some_and(|scope| scope.is_empty() || scope.contains('%')) {
        return None;
    }
    Some((address.parse().ok()?, scope))
}

/// `str(ipaddress.IPv6Address)` of Python 3.11: RFC 5952 without the dotted form of mapped addresses.
pub(super) fn ipv6_text(address: Ipv6Addr) -> String {
    let groups = address.segments();
    let (mut start, mut len) = (0, 0);
    let mut index = 0;
    while index < groups.len() {
        let zeros = groups[index..].iter().take_while(|&&g| g == 0).count();
        if zeros > len && zeros > 1 {
            (start, len) = (index, zeros);
        }
        index += zeros.max(1);
    }
    let hex = |groups: &[u16]| -> String {
        let texts: Vec<String> = groups.iter().map(|group| format!("{group:x}")).collect();
        texts.join(":")
    };
    if len == 0 {
        return hex(&groups);
    }
    format!("{}::{}", hex(&groups[..start]), hex(&groups[start + len..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn int_reads_what_python_reads() {
        for (text, base, expected) in [
            ("12", 10, Some(12)),
            (" -1_0\n", 10, Some(-10)),
            ("+7", 8, Some(7)),
            ("0x_f", 16, Some(15)),
            ("1__0", 10, None),
            ("1_", 10, None),
            ("", 10, None),
            ("8", 8, None),
        ] {
            assert_eq!(int(text.as_bytes(), base), expected, "{text}");
        }
    }

    #[test]
    fn ipv6_is_written_as_python_3_11_writes_it() {
        for (text, expected) in [
            ("0:0:0:0:0:0:0:1", "::1"),
            ("::ffff:1.2.3.4", "::ffff:102:304"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
            ("::", "::"),
        ] {
            let (address, _) = ipv6(text).unwrap();
            assert_eq!(ipv6_text(address), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decoding_at_the_end_equals_decoding_until_nothing_changes(text in "(%|[0-9a-f]|%25|%2){0,40}") {
            let mut slow = text.clone().into_bytes();
            loop {
                let next = unquote(&slow);
                if next == slow {
                    break;
                }
                slow = next;
            }
            prop_assert_eq!(unquote_repeatedly(text.as_bytes()), slow);
        }
    }
}
