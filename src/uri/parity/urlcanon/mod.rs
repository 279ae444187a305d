//! `str(urlcanon.semantic(url))` of `urlcanon` 0.3.1: `parse_url`, then the steps of `semantic` in its order.
//!
//! Quirks that are kept: a scheme is whatever stands before the first `:`, escapes are decoded until none
//! is left, queries are sorted, user info is dropped, `//host/path` is parsed twice.

use super::Raised;
use super::python::{partition, unquote_repeatedly};
use crate::uri::percent::push_escape;

mod host;
mod parse;

/// `ParsedUrl` without what `semantic` drops: junk, user info and fragment.
#[derive(Debug, Default)]
struct ParsedUrl {
    scheme: Vec<u8>,
    has_slashes: bool,
    /// User info, to know whether there is an authority.
    has_userinfo: bool,
    host: Vec<u8>,
    /// What stands behind the `:`, if there is one.
    port: Option<Vec<u8>>,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
}

/// Writes the semantic form of `url`.
pub(super) fn semantic(url: &[u8], out: &mut Vec<u8>) -> Result<(), Raised> {
    let mut url = parse::parse_url(url);
    default_scheme_http(&mut url);
    remove_tabs_and_newlines(&mut url);
    url.scheme.make_ascii_lowercase();
    elide_default_port(&mut url);
    let has_two_slashes = url.has_slashes || has_authority(&url) || url.scheme == b"file";
    pct_decode_repeatedly_except_query(&mut url);
    host::normalize(&mut url)?;
    less_dumb_pct_encode(&mut url);
    if let Some(query) = &mut url.query {
        *query = recode_and_sort(query);
    }
    normalize_path(&mut url);

    out.extend_from_slice(&url.scheme);
    out.push(b':');
    if has_two_slashes {
        out.extend_from_slice(b"//");
    }
    out.extend_from_slice(&url.host);
    write_after(b':', url.port.as_deref(), out);
    out.extend_from_slice(&url.path);
    write_after(b'?', url.query.as_deref(), out);
    Ok(())
}

fn write_after(mark: u8, text: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(text) = text {
        out.push(mark);
        out.extend_from_slice(text);
    }
}

/// The default port of a scheme that is special to browsers; `file` has none.
fn special_port(scheme: &[u8]) -> Option<&'static [u8]> {
    Some(match scheme {
        b"ftp" => b"21",
        b"gopher" => b"70",
        b"http" | b"ws" => b"80",
        b"https" | b"wss" => b"443",
        b"file" => b"",
        _ => return None,
    })
}

fn is_special(scheme: &[u8]) -> bool {
    special_port(scheme).is_some()
}

fn has_authority(url: &ParsedUrl) -> bool {
    url.has_userinfo || url.port.is_some() || !url.host.is_empty()
}

fn default_scheme_http(url: &mut ParsedUrl) {
    if url.scheme.is_empty() {
        url.scheme = b"http".to_vec();
        if !url.path.is_empty() {
            let path = std::mem::take(&mut url.path);
            parse::parse_pathish(url, &path);
        }
    }
}

fn remove_tabs_and_newlines(url: &mut ParsedUrl) {
    for field in [&mut url.scheme, &mut url.host, &mut url.path]
        .into_iter()
        .chain(&mut url.port)
        .chain(&mut url.query)
    {
        field.retain(|byte| !matches!(byte, b'\t' | b'\n' | b'\r'));
    }
}

fn elide_default_port(url: &mut ParsedUrl) {
    let default = special_port(&url.scheme).filter(|port| !port.is_empty());
    if default.is_some_and(|port| url.port.as_deref() == Some(port)) {
        url.port = None;
    }
}

fn pct_decode_repeatedly_except_query(url: &mut ParsedUrl) {
    for field in [&mut url.scheme, &mut url.host, &mut url.path]
        .into_iter()
        .chain(&mut url.port)
    {
        *field = unquote_repeatedly(field);
    }
}

/// Escapes C0, space, 0x7F and above, and what `extra` names.
fn pct_encode(text: &[u8], extra: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte <= b' ' || byte >= 0x7F || extra.contains(&byte) {
            push_escape(byte, &mut out);
        } else {
            out.push(byte);
        }
    }
    out
}

fn less_dumb_pct_encode(url: &mut ParsedUrl) {
    for field in [&mut url.scheme, &mut url.host]
        .into_iter()
        .chain(&mut url.port)
    {
        *field = pct_encode(field, b"#%");
    }
    url.path = pct_encode(&url.path, b"#%?");
}

/// `less_dumb_pct_recode_query` and `alpha_reorder_query`.
fn recode_and_sort(query: &[u8]) -> Vec<u8> {
    let recode = |token: &[u8]| pct_encode(&unquote_repeatedly(token), b"#%&=");
    let mut parts: Vec<Vec<u8>> = query
        .split(|&byte| byte == b'&')
        .map(|part| match partition(part, b'=') {
            (name, Some(value)) => [recode(name), recode(value)].join(&b'='),
            (name, None) => recode(name),
        })
        .collect();
    parts.sort_unstable();
    parts.join(&b'&')
}

/// `fix_backslashes`, `leading_slash`, `normalize_path_dots`, `collapse_consecutive_slashes`.
fn normalize_path(url: &mut ParsedUrl) {
    let is_special = is_special(&url.scheme);
    if is_special {
        for byte in url.path.iter_mut().filter(|byte| **byte == b'\\') {
            *byte = b'/';
        }
        if url.path.first() != Some(&b'/') {
            url.path.insert(0, b'/');
        }
    }
    if url.path.first() == Some(&b'/') {
        url.path = resolve_path_dots(&url.path);
    }
    if is_special {
        url.path
            .dedup_by(|next, before| *next == b'/' && *before == b'/');
    }
}

/// `resolve_path_dots`: `..` takes the segment before it, which may be empty.
fn resolve_path_dots(path: &[u8]) -> Vec<u8> {
    let mut segments = path[1..].split(|&byte| byte == b'/').peekable();
    // Slashes and segments by turns, starting with a slash.
    let mut kept: Vec<&[u8]> = vec![b"/"];
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"." => {}
            b".." => {
                // The slash before `..`, then the segment before that; the first slash stays.
                if kept.len() > 1 {
                    kept.pop();
                }
                if kept.len() > 1 {
                    kept.pop();
                }
            }
            _ => {
                kept.push(segment);
                if !is_last {
                    kept.push(b"/");
                }
            }
        }
    }
    kept.concat()
}
