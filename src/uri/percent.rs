//! Percent-encoding (RFC 3986 §2.1, §6.2.2.1, §6.2.2.2). Knows bytes and tables only.

use crate::uri::table::{HEX_UPPER, HEXDIG, UNRESERVED, escape_at, is};

/// How far the output so far has come towards an escape that the input does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stray {
    No,
    /// It ends in a `%` that starts no escape.
    Percent,
    /// It ends in such a `%` and a hex digit.
    PercentDigit,
}

impl Stray {
    /// What it is once `run`, which has no `%`, is written too.
    fn behind(self, run: &[u8]) -> Self {
        match (self, run) {
            (_, []) => self,
            (Self::Percent, [digit]) if is(*digit, HEXDIG) => Self::PercentDigit,
            _ => Self::No,
        }
    }
}

/// Writes `component` with its escapes settled, in one pass from the left, and says whether that
/// changed anything. Bytes of `encoded` become escapes, hex digits upper case, escapes of unreserved
/// characters those characters; escapes of reserved characters never change what they are.
///
/// `%7Eann` is `~ann`, `caf\xC3\xA9` is `caf%C3%A9`; `a%2Fb` is not `a/b`, and `%%341` is not `%41`:
/// a decoded hex digit must not complete a new escape, or a second pass would find another key.
pub(crate) fn settle(component: &[u8], encoded: u8, out: &mut Vec<u8>) -> bool {
    let mut changed = false;
    let mut stray = Stray::No;
    let mut rest = component;
    loop {
        let is_special = |byte: &u8| *byte == b'%' || is(*byte, encoded);
        let run = rest.iter().position(is_special).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..run]);
        stray = stray.behind(&rest[..run]);
        rest = &rest[run..];
        let Some(&byte) = rest.first() else {
            return changed;
        };
        let escaped = escape_at(rest);
        if let Some(decoded) = escaped {
            let would_complete = stray != Stray::No && is(decoded, HEXDIG);
            if is(decoded, UNRESERVED) && !would_complete {
                out.push(decoded);
                changed = true;
            } else {
                push_escape(decoded, out);
                changed |= out[out.len() - 2..] != rest[1..3];
            }
            stray = Stray::No;
            rest = &rest[3..];
            continue;
        }
        if byte == b'%' {
            out.push(byte);
            stray = Stray::Percent;
        } else {
            push_escape(byte, out);
            changed = true;
            stray = Stray::No;
        }
        rest = &rest[1..];
    }
}

/// Writes `byte` as an escape.
pub(crate) fn push_escape(byte: u8, out: &mut Vec<u8>) {
    let digit = |value: u8| HEX_UPPER[usize::from(value & 15)];
    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte)]);
}

/// The bytes that `text` stands for: each escape decoded once, a stray `%` as it is.
pub(crate) fn decoded(text: &[u8]) -> Decoded<'_> {
    Decoded { text }
}

/// See [`decoded`].
#[derive(Clone, Debug)]
pub(crate) struct Decoded<'a> {
    text: &'a [u8],
}

impl Iterator for Decoded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.text.split_first()?;
        if first == b'%'
            && let Some(byte) = escape_at(self.text)
        {
            self.text = &self.text[3..];
            return Some(byte);
        }
        self.text = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri::table::{PATH, QUERY, SPECIAL_QUERY};

    fn check(encoded: u8, input: &[u8], expected: &[u8]) {
        let mut out = Vec::new();
        let changed = settle(input, encoded, &mut out);
        assert_eq!(
            out.escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
        assert_eq!(changed, input != expected);
        let mut again = Vec::new();
        assert!(
            !settle(&out, encoded, &mut again),
            "settles once: {}",
            out.escape_ascii()
        );
        assert_eq!(out, again);
    }

    #[test]
    fn unreserved_escapes_are_decoded_and_others_upper_case() {
        check(PATH, b"/%7eann/%41%62", b"/~ann/Ab");
        check(PATH, b"/a%2fb%3f%5c", b"/a%2Fb%3F%5C");
        check(PATH, b"/x%2541", b"/x%2541");
    }

    #[test]
    fn bytes_of_the_table_become_escapes() {
        check(
            PATH,
            b"/a b\"<>^`{}|[]\\\x7F\xE9",
            b"/a%20b%22%3C%3E%5E%60%7B%7D|[]\\%7F%E9",
        );
        check(QUERY, b"it's ^`{}", b"it's%20^`{}");
        check(SPECIAL_QUERY, b"it's", b"it%27s");
    }

    #[test]
    fn a_decoded_digit_completes_no_escape() {
        check(PATH, b"%%341", b"%%341");
        check(PATH, b"%4%31", b"%4%31");
        check(PATH, b"%%34%31", b"%%341");
        check(PATH, b"%%7e", b"%~");
        check(PATH, b"%4g%31", b"%4g1");
        check(PATH, b"%zz%", b"%zz%");
    }

    #[test]
    fn decoding_is_done_once() {
        assert_eq!(decoded(b"a%2541%4%").collect::<Vec<_>>(), b"a%41%4%");
    }
}
