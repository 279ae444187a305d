//! Target URIs as bytes: components, percent-encoding, path, host, query, and the one text of all
//! forms of a URI under a plan.
//!
//! Knows byte strings and `policy`; must never import captures, files or evidence.

pub mod parity;

mod bets;
mod bridge;
mod core;
mod dots;
mod fast;
mod host;
mod lanes;
mod normalizer;
mod parts;
mod percent;
mod query;
mod reference;
mod screen;
mod skeleton;
mod table;
mod trace;
mod vertex;
mod walk;

pub use bridge::bridges;
pub use normalizer::{Masks, Normalized, Normalizer};
pub use reference::resolve;
pub use screen::bets_possible;
pub use skeleton::Skeletons;
pub use trace::{Step, components, trace};
pub use vertex::vertex_host;

use parts::Parts;

/// What sort of URI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `http` or `https` with a valid host.
    Http,
    /// Another scheme: `dns:`, `urn:`, `ftp:`.
    OtherScheme,
    /// Not a URI that a browser would send: the bytes themselves are the key.
    Opaque,
}

/// The host of a key text, without user info and port; empty if it has none.
#[must_use]
pub fn host_of(key_text: &[u8]) -> &[u8] {
    Parts::of(key_text).host
}

/// The path of a key text: what stands between authority and query.
#[must_use]
pub fn path_of(key_text: &[u8]) -> &[u8] {
    Parts::of(key_text).path
}

/// The label in front of the public suffix, and that suffix; the host itself if it is an address or
/// nothing but a suffix.
#[must_use]
pub fn registrable_domain(host: &[u8]) -> &[u8] {
    if host.starts_with(b"[") || host::ends_in_number(host) {
        return host;
    }
    psl::domain(host).map_or(host, |domain| domain.as_bytes())
}

/// Whether names with more labels in front of `host` are other registrable domains: it is a public suffix.
/// An address has no names below it.
#[must_use]
pub fn is_public_suffix(host: &[u8]) -> bool {
    if host.starts_with(b"[") || host::ends_in_number(host) {
        return false;
    }
    let longer = [b"a.", host].concat();
    registrable_domain(&longer) == longer
}

/// The names of a key text's parameters, decoded, each once; none where it is signed.
#[must_use]
pub fn parameter_names(key_text: &[u8]) -> Vec<Vec<u8>> {
    let query = Parts::of(key_text).query.unwrap_or_default();
    if query::is_signed(query) {
        return Vec::new();
    }
    let mut names: Vec<Vec<u8>> = query::params(query)
        .map(|param| percent::decoded(query::name_value(param).0).collect())
        .filter(|name: &Vec<u8>| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Writes path and query without tracking and session parameters: two URLs of one host are
/// unrelated if these differ.
pub fn unrelated_form(key_text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let parts = Parts::of(key_text);
    out.extend_from_slice(parts.path);
    let mut delimiter = b'?';
    for param in parts.query.into_iter().flat_map(query::params) {
        if !query::is_tracking(param) && !query::is_session(param) {
            out.push(delimiter);
            out.extend_from_slice(param);
            delimiter = b'&';
        }
    }
}

/// Appends `text`, a target URI or a key text, with `***` in place of its user info.
///
/// ```
/// # use crawl_dedupe::uri;
/// let mut out = Vec::new();
/// uri::write_redacted(b"http://user:secret@example.org/", &mut out);
/// assert_eq!(out, b"http://***@example.org/");
/// ```
pub fn write_redacted(text: &[u8], out: &mut Vec<u8>) {
    match parts::userinfo_range(text) {
        Some(range) => {
            out.extend_from_slice(&text[..range.start]);
            out.extend_from_slice(b"***");
            out.extend_from_slice(&text[range.end..]);
        }
        None => out.extend_from_slice(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registrable_domain_is_one_label_more_than_its_suffix() {
        let check = |host: &[u8], expected: &[u8]| assert_eq!(registrable_domain(host), expected);
        check(b"a.b.example.co.uk", b"example.co.uk");
        check(b"example.org.", b"example.org.");
        check(b"co.uk", b"co.uk");
        check(b"127.0.0.1", b"127.0.0.1");
        check(b"[::1]", b"[::1]");
        check(b"localhost", b"localhost");
        check(b"", b"");
    }

    #[test]
    fn a_public_suffix_has_other_domains_below_it() {
        assert!(is_public_suffix(b"co.uk") && is_public_suffix(b"github.io"));
        assert!(!is_public_suffix(b"example.co.uk") && !is_public_suffix(b"127.0.0.1"));
    }

    #[test]
    fn names_of_parameters_are_decoded() {
        let names = parameter_names(b"http://a/?b=1&%61=2&b&=3&&c");
        assert_eq!(names, [b"a", b"b", b"c"]);
        assert!(parameter_names(b"http://a/?b=1&sig=2").is_empty());
    }

    #[test]
    fn related_urls_differ_in_trackers_and_sessions_only() {
        let check = |text: &[u8], expected: &[u8]| {
            let mut out = b"x".to_vec();
            unrelated_form(text, &mut out);
            assert_eq!(
                out.escape_ascii().to_string(),
                expected.escape_ascii().to_string()
            );
        };
        check(b"http://a/b?utm_source=x&id=1&sid=01234567", b"/b?id=1");
        check(b"http://a/b?utm_source=x", b"/b");
        check(b"http://a/b", b"/b");
        check(b"http://a/b?", b"/b?");
    }
}
