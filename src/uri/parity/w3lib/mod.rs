//! `w3lib.url.canonicalize_url(url)` of `w3lib` 2.5.0: `_urlsplit`, `_safe_url_split`, then path, query and host.
//!
//! Quirks that are kept: a default port stays, `a` becomes `a=`, parameters are sorted and written anew,
//! a `;` that ends a path is dropped, hosts go through IDNA 2003.

mod split;

use super::python::{
    ipv6, ipv6_text, is_unreserved, lower, nfkc, partition, quote, strip, unquote,
    without_tabs_and_newlines,
};
use super::{Raised, idna2003, python};
use crate::uri::percent::push_escape;
use crate::uri::table::escape_at;
use split::{Split, scheme_of, urlsplit};

/// Schemes whose URLs browsers parse with `\` as `/`.
const SPECIAL: [&[u8]; 6] = [b"ftp", b"file", b"http", b"https", b"ws", b"wss"];

/// `urllib.parse.uses_params` of Python 3.11, with the empty scheme.
const USES_PARAMS: [&[u8]; 16] = [
    b"",
    b"ftp",
    b"hdl",
    b"prospero",
    b"http",
    b"imap",
    b"https",
    b"shttp",
    b"rtsp",
    b"rtsps",
    b"rtspu",
    b"sip",
    b"sips",
    b"mms",
    b"sftp",
    b"tel",
];

/// `urllib.parse.uses_netloc` of Python 3.11, without the empty scheme.
const USES_NETLOC: [&[u8]; 25] = [
    b"ftp",
    b"http",
    b"gopher",
    b"nntp",
    b"telnet",
    b"imap",
    b"wais",
    b"file",
    b"mms",
    b"https",
    b"shttp",
    b"snews",
    b"prospero",
    b"rtsp",
    b"rtsps",
    b"rtspu",
    b"rsync",
    b"svn",
    b"svn+ssh",
    b"sftp",
    b"nfs",
    b"git",
    b"git+ssh",
    b"ws",
    b"wss",
];

/// What stays in a path that is written anew: reserved but `#`, unreserved, `|` and `%`.
fn is_path_safe(byte: u8) -> bool {
    is_unreserved(byte) || b":/?[]@!$&'()*+,;=|%".contains(&byte)
}

/// What `safe_url_string` leaves in a path: as above without `[`, `]` and `|`.
fn is_path_safest(byte: u8) -> bool {
    is_path_safe(byte) && !matches!(byte, b'[' | b']' | b'|')
}

/// What it leaves in user info.
fn is_userinfo_safest(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,".contains(&byte)
}

/// Writes the canonical URL of `url`.
pub(super) fn canonicalize_url(url: &[u8], out: &mut Vec<u8>) -> Result<(), Raised> {
    let text = decode(url);
    let scheme = scheme_of(&text);
    let mut rest = text[scheme.map_or(0, |scheme| scheme.len() + 1)..].to_vec();
    let scheme = scheme.unwrap_or_default().to_ascii_lowercase();
    let is_special = SPECIAL.contains(&scheme.as_slice());
    if is_special {
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'?' | b'#'))
            .unwrap_or(rest.len());
        rest[..end]
            .iter_mut()
            .filter(|byte| **byte == b'\\')
            .for_each(|byte| *byte = b'/');
    }
    let split = urlsplit(scheme, &rest)?;

    let netloc = netloc_of(&split);
    let mut path = Vec::with_capacity(split.path.len());
    quote(split.path, is_path_safest, &mut path);
    if path.is_empty() && !split.query.is_empty() && is_special {
        path.push(b'/');
    }
    let (path, params) = split_params(&split.scheme, &path);
    let query = canonical_query(split.query);
    let path = canonical_path(path);
    write_url(&split.scheme, &netloc, &[&path, params], &query, out);
    Ok(())
}

/// `_strip(to_unicode(url, errors="percentencode"))`: bytes that are not UTF-8 become escapes.
fn decode(url: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(url.len());
    for chunk in url.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        for &byte in chunk.invalid() {
            push_escape(byte, &mut text);
        }
    }
    without_tabs_and_newlines(strip(&text, |byte| byte <= b' '))
}

/// The authority as `_safe_url_split` writes it, then lower-cased, its IPv6 address in one form.
fn netloc_of(split: &Split<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(userinfo) = split.userinfo {
        let (username, password) = partition(userinfo, b':');
        quote(&unquote(username), is_userinfo_safest, &mut out);
        if let Some(password) = password {
            out.push(b':');
            quote(&unquote(password), is_userinfo_safest, &mut out);
        }
        out.push(b'@');
    }
    if split.hostname.contains(':') {
        out.push(b'[');
        out.extend_from_slice(ipv6_host(&split.hostname).as_bytes());
        out.push(b']');
    } else {
        let host = idna_bytes(&split.hostname);
        let host = host.as_deref().unwrap_or(&split.hostname);
        out.extend_from_slice(lower(host).as_bytes());
    }
    if let Some(port) = split.port {
        out.extend_from_slice(format!(":{port}").as_bytes());
    }
    out
}

/// `_normalize_ipv6_host`; what is no address is lower-cased only.
fn ipv6_host(hostname: &str) -> String {
    let hostname = lower(hostname);
    match ipv6(&hostname) {
        Some((address, Some(scope))) => format!("{}%{scope}", ipv6_text(address)),
        Some((address, None)) => ipv6_text(address),
        None => hostname,
    }
}

/// `_idna_bytes`: NFKC without delimiters, then IDNA 2003; `None` where that raises.
fn idna_bytes(hostname: &str) -> Option<String> {
    if hostname.is_ascii() {
        return Some(hostname.to_owned());
    }
    let normalized = nfkc(&hostname.replace(['@', ':', '#', '?'], ""));
    String::from_utf8(idna2003::encode(&normalized)?).ok()
}

/// `_split_params`: at the first `;` of the last segment, for schemes that use them.
fn split_params<'a>(scheme: &[u8], path: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    if USES_PARAMS.contains(&scheme) {
        let segment = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
        if let Some(at) = memchr::memchr(b';', &path[segment..]) {
            return (&path[..segment + at], &path[segment + at + 1..]);
        }
    }
    (path, &[])
}

/// Parameters sorted by name, then value, each escape written anew; empty ones go.
fn canonical_query(query: &[u8]) -> Vec<u8> {
    let mut parameters: Vec<(Vec<u8>, Vec<u8>)> = query
        .split(|&byte| byte == b'&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| {
            let (name, value) = partition(parameter, b'=');
            (unquote_plus(name), unquote_plus(value.unwrap_or_default()))
        })
        .collect();
    parameters.sort_unstable();
    let mut out = Vec::with_capacity(query.len());
    for (name, value) in parameters {
        if !out.is_empty() {
            out.push(b'&');
        }
        quote_plus(&name, &mut out);
        out.push(b'=');
        quote_plus(&value, &mut out);
    }
    out
}

fn unquote_plus(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    text.iter_mut()
        .filter(|byte| **byte == b'+')
        .for_each(|byte| *byte = b' ');
    unquote(&text)
}

fn quote_plus(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b' ' => out.push(b'+'),
            _ if is_unreserved(byte) => out.push(byte),
            _ => push_escape(byte, out),
        }
    }
}

/// `_quote(_unquotepath(path))` and `_remove_dot_segments`.
fn canonical_path(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return vec![b'/'];
    }
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [first, tail @ ..] = rest {
        match escape_at(rest) {
            // These stay escaped: `%`, `/`, `;`, `?`.
            Some(byte @ (b'%' | b'/' | b';' | b'?')) => push_escape(byte, &mut decoded),
            Some(byte) => decoded.push(byte),
            None => decoded.push(*first),
        }
        rest = if escape_at(rest).is_some() {
            &rest[3..]
        } else {
            tail
        };
    }
    let mut out = Vec::with_capacity(decoded.len());
    quote(&decoded, is_path_safe, &mut out);
    if out[0] == b'/' {
        remove_dot_segments(&out)
    } else {
        out
    }
}

fn remove_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut ends_in_dots = false;
    for segment in path[1..].split(|&byte| byte == b'/') {
        ends_in_dots = matches!(segment, b"." | b"..");
        match segment {
            b".." => drop(kept.pop()),
            b"." => {}
            _ => kept.push(segment),
        }
    }
    if ends_in_dots {
        kept.push(b"");
    }
    [b"/", kept.join(&b'/').as_slice()].concat()
}

/// `_urlunparse` without a fragment; `path` is the path and its parameters.
fn write_url(scheme: &[u8], netloc: &[u8], path: &[&[u8]; 2], query: &[u8], out: &mut Vec<u8>) {
    let [path, params] = path;
    if !scheme.is_empty() {
        out.extend_from_slice(scheme);
        out.push(b':');
    }
    if !netloc.is_empty() {
        out.extend_from_slice(b"//");
        out.extend_from_slice(netloc);
        if path.first().is_some_and(|&first| first != b'/') {
            out.push(b'/');
        }
    } else if path.starts_with(b"//") || (path.starts_with(b"/") && USES_NETLOC.contains(&scheme)) {
        out.extend_from_slice(b"//");
    }
    out.extend_from_slice(path);
    for (mark, text) in [(b';', *params), (b'?', query)] {
        if !text.is_empty() {
            out.push(mark);
            out.extend_from_slice(text);
        }
    }
}
