//! The components of a text that the core has written, and what can be read off them.

use std::ops::Range;

use crate::uri::core::{cut, scheme_len, split_port, split_userinfo};

/// The components of a normalized text (RFC 3986 §3). Those of a text of kind opaque are as good as
/// a guess; only redaction reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) scheme: &'a [u8],
    /// Whether an authority follows the scheme; without it user info and host are empty.
    pub(crate) has_authority: bool,
    pub(crate) userinfo: Option<&'a [u8]>,
    pub(crate) host: &'a [u8],
    pub(crate) port: Option<&'a [u8]>,
    pub(crate) path: &'a [u8],
    pub(crate) query: Option<&'a [u8]>,
    pub(crate) fragment: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Splits a normalized text; no scheme, no authority.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let (hierarchical, fragment) = cut(text, b'#');
        let (hierarchical, query) = cut(hierarchical, b'?');
        let scheme_len = scheme_len(hierarchical);
        let scheme = &hierarchical[..scheme_len.unwrap_or(0)];
        let rest = &hierarchical[scheme_len.map_or(0, |len| len + 1)..];
        let behind = rest.strip_prefix(b"//").filter(|_| scheme_len.is_some());
        let behind_scheme = behind.unwrap_or(rest);
        let authority_len = match behind {
            Some(behind) => memchr::memchr(b'/', behind).unwrap_or(behind.len()),
            None => 0,
        };
        let (authority, path) = behind_scheme.split_at(authority_len);
        let (userinfo, host_port) = split_userinfo(authority);
        let (host, port) = split_port(host_port);
        Self {
            scheme,
            has_authority: behind.is_some(),
            userinfo,
            host,
            port,
            path,
            query,
            fragment,
        }
    }

    /// The port that stands there, or that of the scheme; 0 if neither is known.
    pub(crate) fn port_in_force(&self) -> u16 {
        match (self.port, self.scheme) {
            (Some(digits), _) => std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| digits.parse().ok())
                .unwrap_or(0),
            (None, b"http") => 80,
            (None, b"https") => 443,
            (None, _) => 0,
        }
    }
}

/// Where non-empty user info stands in any text, normalized or not, so that its secret can be kept
/// out of sight. It errs towards seeing too much: what stands between a scheme's slashes and the last
/// `@` in front of the path, whatever a browser throws away in between.
pub(crate) fn userinfo_range(text: &[u8]) -> Option<Range<usize>> {
    let is_skipped = |byte: u8| byte <= b' ';
    let mut start = 0;
    let colon = memchr::memchr(b':', text);
    let mut slashes_min = 2;
    if let Some(colon) = colon {
        let scheme = || text[..colon].iter().filter(|byte| !is_skipped(**byte));
        if scheme().all(|byte| crate::uri::table::is_scheme(*byte)) {
            start = colon + 1;
            let is = |name: &[u8]| {
                scheme()
                    .map(u8::to_ascii_lowercase)
                    .eq(name.iter().copied())
            };
            if is(b"http") || is(b"https") {
                slashes_min = 0;
            }
        }
    }
    let mut slashes = 0;
    while let Some(&byte) = text.get(start) {
        match byte {
            b'/' | b'\\' => slashes += 1,
            _ if is_skipped(byte) => {}
            _ => break,
        }
        start += 1;
    }
    if slashes < slashes_min {
        return None;
    }
    // Not at a `\`: the grammar lets it stand in user info, and a secret shown is worse than a path hidden.
    let is_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
    let len = text[start..].iter().position(is_end);
    let authority = &text[start..len.map_or(text.len(), |len| start + len)];
    let at = memchr::memrchr(b'@', authority)?;
    (at > 0).then_some(start..start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_is_found() {
        let parts = Parts::of(b"http://u:p@h:8080/a/b?q=/?#!f");
        assert_eq!(parts.scheme, b"http");
        assert_eq!(parts.userinfo, Some(&b"u:p"[..]));
        assert_eq!((parts.host, parts.port), (&b"h"[..], Some(&b"8080"[..])));
        assert_eq!(parts.path, b"/a/b");
        assert_eq!(parts.query, Some(&b"q=/?"[..]));
        assert_eq!(parts.fragment, Some(&b"!f"[..]));
        assert_eq!(parts.port_in_force(), 8080);
        let parts = Parts::of(b"dns:example.org");
        assert_eq!((parts.host, parts.path), (&b""[..], &b"example.org"[..]));
        assert_eq!(Parts::of(b"http://[::1]:1/").host, b"[::1]");
    }

    #[test]
    fn user_info_is_found_in_any_text() {
        let check = |text: &str, expected: Option<&str>| {
            let found = userinfo_range(text.as_bytes()).map(|range| &text[range]);
            assert_eq!(found, expected, "{text}");
        };
        check("http://u:p@h/", Some("u:p"));
        check("http:\\\\u:p@h o/", Some("u:p"));
        check("http:u:p@h", Some("u:p"));
        check(" HT\ntp:/\t/u:p@h", Some("u:p"));
        check("ftp://u@h/", Some("u"));
        check("//u@h/", Some("u"));
        check("http://a@b@h/", Some("a@b"));
        check("http://u\\v@h/", Some("u\\v"));
        check("http://@h/", None);
        check("http://h/@x", None);
        check("mailto:u@h", None);
        check("u@h", None);
    }
}
