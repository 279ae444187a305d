//! Relative references, resolved as browsers do (RFC 3986 §5.2, WHATWG URL).

use std::borrow::Cow;

use url::Url;

use crate::uri::percent::push_escape;

/// The target URI of `reference` on a page at `base`; `None` if there is none, as for a base of a
/// scheme without paths (`urn:`), or a host that no browser would ask for.
///
/// A success says nothing about the target: scheme, credentials, host and port are the caller's to
/// check. The fragment stays. Bytes that are no UTF-8 become their own escapes, never U+FFFD.
///
/// ```
/// # use crawl_dedupe::uri;
/// let target = uri::resolve(b"http://a.example/b/c?q", b"../g#s");
/// assert_eq!(target.as_deref(), Some(&b"http://a.example/g#s"[..]));
/// assert_eq!(uri::resolve(b"urn:x", b"y"), None);
/// ```
#[must_use]
pub fn resolve(base: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let base = Url::parse(&utf8(base)).ok()?;
    let reference = utf8(reference);
    let target = match behind_slashes(&reference) {
        Some(behind) if is_http(&base) => base.join(&format!("//{behind}")),
        _ => base.join(&reference),
    };
    Some(String::from(target.ok()?).into_bytes())
}

/// What follows a run of two slashes or more at the start, `\` among them: the authority (WHATWG URL,
/// "special authority ignore slashes state"). The `url` crate takes `///a` for an empty host.
fn behind_slashes(reference: &str) -> Option<&str> {
    let start = reference.trim_start_matches(|c| c <= ' ');
    let is_skipped = |c: char| matches!(c, '/' | '\\' | '\t' | '\n' | '\r');
    let behind = start.trim_start_matches(is_skipped);
    let slashes = &start[..start.len() - behind.len()];
    let n_slashes = slashes.bytes().filter(|byte| matches!(byte, b'/' | b'\\'));
    (n_slashes.count() >= 2).then_some(behind)
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// `text` as UTF-8: all that is outside ASCII becomes escapes if not all of it is UTF-8.
fn utf8(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = Vec::with_capacity(text.len() + 2);
    for &byte in text {
        if byte.is_ascii() {
            escaped.push(byte);
        } else {
            push_escape(byte, &mut escaped);
        }
    }
    Cow::Owned(String::from_utf8(escaped).expect("only ASCII was pushed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_what_a_browser_resolves() {
        let check = |reference: &[u8], expected: Option<&str>| {
            let target = resolve(b"http://a/b/c/d;p?q", reference);
            let target = target.map(|it| String::from_utf8(it).unwrap());
            assert_eq!(target.as_deref(), expected);
        };
        check(b"../../../g", Some("http://a/g"));
        check(b"?y", Some("http://a/b/c/d;p?y"));
        check(b"", Some("http://a/b/c/d;p?q"));
        check(b"//g", Some("http://g/"));
        check(b"///g/../h", Some("http://g/h"));
        check(b" \\\t/\\g", Some("http://g/"));
        check(b"/\n", Some("http://a/"));
        check(b"///", None);
        check(b"mailto:x@y", Some("mailto:x@y"));
        check(b"caf\xE9", Some("http://a/b/c/caf%E9"));
        check(b"http://[::g]/", None);
        assert_eq!(resolve(b"no base", b"g"), None);
    }
}
