//! HTTP heads as archives hold them: any version, no reason phrase, odd header lines, folds, bare line feeds.

use super::decimal::decimal;
use super::fields::{Fields, Step, Table};

static TABLE: Table = Table {
    names: &[
        b"content-type",
        b"content-encoding",
        b"transfer-encoding",
        b"content-language",
        b"location",
        b"non-authoritative-reason",
        b"content-range",
    ],
    repeatable: None,
    is_start: |_| true,
    start_in: |_| None,
    first_line_max: usize::MAX,
};

const CONTENT_TYPE: usize = 0;
const CONTENT_ENCODING: usize = 1;
const TRANSFER_ENCODING: usize = 2;
const CONTENT_LANGUAGE: usize = 3;
const LOCATION: usize = 4;
const REASON: usize = 5;
const CONTENT_RANGE: usize = 6;

/// The head of a request or response.
pub(super) struct Head {
    fields: Fields,
}

impl Head {
    pub(super) fn new() -> Self {
        Self {
            fields: Fields::new(&TABLE),
        }
    }

    /// Forgets the last head.
    pub(super) fn begin(&mut self) {
        self.fields.begin();
    }

    /// Takes bytes; the number of them once the head has ended.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.fields.push(bytes) {
            Step::Ended(taken) => Some(taken),
            _ => None,
        }
    }

    /// The block ended before the head did.
    pub(super) fn finish(&mut self) {
        self.fields.finish();
    }

    /// Bytes of the head, the empty line included.
    pub(super) fn n_bytes(&self) -> u64 {
        self.fields.n_bytes()
    }

    /// The status of a response: the number behind the version.
    pub(super) fn status(&self) -> Option<u16> {
        let line = self.fields.first_line();
        let blank = memchr::memchr(b' ', line)?;
        let rest = line[blank..].trim_ascii_start();
        let digits = rest.first_chunk::<3>()?;
        let is_number =
            digits.iter().all(u8::is_ascii_digit) && !rest.get(3).is_some_and(u8::is_ascii_digit);
        is_number.then(|| {
            digits
                .iter()
                .fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
        })
    }

    /// Whether another head may follow (RFC 9110 section 15.2); none does where the protocol is switched.
    pub(super) fn is_interim(&self) -> bool {
        self.status()
            .is_some_and(|status| matches!(status, 100 | 102..=199))
    }

    /// The method of a request; empty if the first line has none.
    pub(super) fn method(&self) -> &[u8] {
        let line = self.fields.first_line();
        let end = memchr::memchr(b' ', line).unwrap_or(0);
        let is_method = end <= 32
            && line[..end]
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || b"-_".contains(byte));
        if is_method { &line[..end] } else { b"" }
    }

    /// The media type, without parameters.
    pub(super) fn mime(&self) -> &[u8] {
        without_parameters(self.fields.get(CONTENT_TYPE))
    }

    /// `Content-Encoding`.
    pub(super) fn content_encoding(&self) -> &[u8] {
        self.fields.get(CONTENT_ENCODING)
    }

    /// Whether chunk marks stand in the body (RFC 9112 section 7.1).
    pub(super) fn is_chunked(&self) -> bool {
        self.fields
            .get(TRANSFER_ENCODING)
            .split(|byte| *byte == b',')
            .any(|coding| without_parameters(coding).eq_ignore_ascii_case(b"chunked"))
    }

    /// `Content-Language`.
    pub(super) fn language(&self) -> &[u8] {
        self.fields.get(CONTENT_LANGUAGE)
    }

    /// `Location`, if the status says that it redirects.
    pub(super) fn location(&self) -> &[u8] {
        match self.status() {
            Some(300..=399) => self.fields.get(LOCATION),
            _ => b"",
        }
    }

    /// Whether a browser made this redirect for HSTS.
    pub(super) fn is_hsts(&self) -> bool {
        self.fields.get(REASON).eq_ignore_ascii_case(b"HSTS")
    }

    /// Whether the body is a part of the resource: a 206 that does not show to hold all of it.
    pub(super) fn is_part(&self) -> bool {
        self.status() == Some(206) && !is_whole_range(self.fields.get(CONTENT_RANGE))
    }
}

/// A media type or coding without `; name=value`.
pub(super) fn without_parameters(value: &[u8]) -> &[u8] {
    let end = memchr::memchr(b';', value).unwrap_or(value.len());
    value[..end].trim_ascii()
}

/// `bytes 0-99/100`.
fn is_whole_range(value: &[u8]) -> bool {
    let whole = || {
        let unit = value.get(..5)?;
        let range = value.get(5..)?.trim_ascii();
        let (range, total) = split_once(range, b'/')?;
        let (first, last) = split_once(range, b'-')?;
        let is_bytes = unit.eq_ignore_ascii_case(b"bytes");
        Some(is_bytes && number(first)? == 0 && number(last)?.checked_add(1)? == number(total)?)
    };
    whole().unwrap_or(false)
}

/// A decimal number, blanks around it allowed.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    decimal(text.trim_ascii())
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let index = memchr::memchr(at, text)?;
    Some((&text[..index], &text[index + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &[u8]) -> Head {
        let mut head = Head::new();
        head.begin();
        if head.push(text).is_none() {
            head.finish();
        }
        head
    }

    #[test]
    fn reads_status_lines_as_they_occur() {
        for (line, status) in [
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], Some(200)),
            (b"HTTP/2 200 \r\n\r\n", Some(200)),
            (b"HTTP/1.0 302\n\n", Some(302)),
            (b"HTTP/1.1  404  Not Found\r\n\r\n", Some(404)),
            (b"HTTP/1.1 200", Some(200)),
            (b"HTTP/1.1 2000\r\n\r\n", None),
            (b"HTTP/1.1 OK\r\n\r\n", None),
            (b"HTTP/1.1\r\n\r\n", None),
            (b"", None),
        ] {
            assert_eq!(head(line).status(), status, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn reads_odd_header_lines() {
        let head = head(
            b"HTTP/1.1 301 Moved\nPower by: Auto\nno colon\nLocation :\n /new\n\
              CONTENT-TYPE: Text/HTML; charset=x\nTransfer-Encoding: gzip, Chunked\n\
              X-Ctl: a\x01b\nContent-Language: de\nlocation: /second\n\nbody",
        );
        assert_eq!(head.location(), b"/new");
        assert_eq!(head.mime(), b"Text/HTML");
        assert!(head.is_chunked());
        assert_eq!(head.language(), b"de");
    }

    #[test]
    fn has_a_location_only_for_a_redirect() {
        assert_eq!(
            head(b"HTTP/1.1 201 C\r\nLocation: /x\r\n\r\n").location(),
            b""
        );
    }

    #[test]
    fn tells_a_part_from_a_whole_in_a_206() {
        for (range, is_part) in [
            ("bytes 0-99/100", false),
            ("Bytes 0-99/100", false),
            ("bytes 0-98/100", true),
            ("bytes 1-99/100", true),
            ("bytes 0-99/*", true),
            ("bytes 0-18446744073709551615/0", true),
            ("", true),
        ] {
            let text = format!("HTTP/1.1 206 Partial\r\nContent-Range: {range}\r\n\r\n");
            assert_eq!(head(text.as_bytes()).is_part(), is_part, "{range}");
        }
        assert!(!head(b"HTTP/1.1 200 OK\r\nContent-Range: bytes 1-2/3\r\n\r\n").is_part());
    }

    #[test]
    fn reads_methods() {
        for (line, method) in [
            (&b"POST /x HTTP/1.1\r\n\r\n"[..], &b"POST"[..]),
            (b"M-SEARCH * HTTP/1.1\r\n\r\n", b"M-SEARCH"),
            (b"get / HTTP/1.1\r\n\r\n", b""),
            (b"\x16\x03\x01 \r\n\r\n", b""),
            (b"POST", b""),
        ] {
            assert_eq!(head(line).method(), method);
        }
    }
}
