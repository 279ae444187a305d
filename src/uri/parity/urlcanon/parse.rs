//! `urlcanon.parse`: regular expressions that split bytes, here by hand.

use super::{ParsedUrl, is_special};
use crate::uri::parity::python::{partition, rpartition, strip, without_tabs_and_newlines};

/// `parse_url`.
pub(super) fn parse_url(url: &[u8]) -> ParsedUrl {
    let text = strip(url, |byte| byte <= b' ');
    let (scheme, rest) = match partition(text, b':') {
        (scheme, Some(rest)) if scheme.first().is_some_and(u8::is_ascii_alphabetic) => {
            (Some(scheme), rest)
        }
        _ => (None, text),
    };
    let (rest, _fragment) = partition(rest, b'#');
    let (pathish, query) = partition(rest, b'?');
    let mut parsed = ParsedUrl {
        scheme: scheme.unwrap_or_default().to_vec(),
        query: query.map(<[u8]>::to_vec),
        ..ParsedUrl::default()
    };
    if !pathish.is_empty() {
        parse_pathish(&mut parsed, pathish);
    }
    parsed
}

/// `parse_pathish`: slashes, authority and path, by the kind of scheme.
pub(super) fn parse_pathish(url: &mut ParsedUrl, pathish: &[u8]) {
    let mut scheme = without_tabs_and_newlines(&url.scheme);
    scheme.make_ascii_lowercase();
    let is_separator: fn(u8) -> bool = if is_special(&scheme) {
        |byte| matches!(byte, b'/' | b'\\')
    } else {
        |byte| byte == b'/'
    };
    let slashes = if is_special(&scheme) && scheme != b"file" {
        Some(leading(pathish, |byte| {
            is_separator(byte) || is_newline(byte)
        }))
    } else {
        two_slashes(pathish, is_separator)
    };
    let Some(slashes) = slashes else {
        url.path = pathish.to_vec();
        return;
    };
    url.has_slashes = slashes > 0;
    let rest = &pathish[slashes..];
    let (authority, path) = rest.split_at(leading(rest, |byte| !is_separator(byte)));
    url.path = path.to_vec();
    if scheme == b"file" {
        url.host = authority.to_vec();
    } else {
        parse_authority(url, authority);
    }
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | b'\t')
}

fn leading(text: &[u8], is_member: impl Fn(u8) -> bool) -> usize {
    text.iter()
        .position(|&byte| !is_member(byte))
        .unwrap_or(text.len())
}

/// `[\r\n\t]*(?:/[\r\n\t]*){2}`
fn two_slashes(pathish: &[u8], is_separator: fn(u8) -> bool) -> Option<usize> {
    let mut len = leading(pathish, is_newline);
    for _ in 0..2 {
        if !pathish.get(len).copied().is_some_and(is_separator) {
            return None;
        }
        len += 1;
        len += leading(&pathish[len..], is_newline);
    }
    Some(len)
}

/// `AUTHORITY_REGEX`: user info ends at the last `@` behind the first `:`, else at the last one before it.
fn parse_authority(url: &mut ParsedUrl, authority: &[u8]) {
    let (before_colon, after_colon) = partition(authority, b':');
    let host_port = match after_colon.map(|after| rpartition(after, b'@')) {
        Some((Some(_password), rest)) => rest,
        _ => match rpartition(before_colon, b'@') {
            (Some(username), _) => &authority[username.len() + 1..],
            (None, _) => authority,
        },
    };
    url.has_userinfo = has_text(&authority[..authority.len() - host_port.len()]);
    let host_len = bracketed_len(host_port).unwrap_or_else(|| leading(host_port, |b| b != b':'));
    let (host, port) = host_port.split_at(host_len);
    url.host = host.to_vec();
    url.port = port.strip_prefix(b":").map(<[u8]>::to_vec);
}

/// Whether a user name or a password is left once newlines and the empty ones are gone.
fn has_text(userinfo: &[u8]) -> bool {
    let (username, password) = partition(userinfo.strip_suffix(b"@").unwrap_or_default(), b':');
    let mut bytes = username.iter().chain(password.unwrap_or_default());
    bytes.any(|&byte| !is_newline(byte))
}

/// `\[[^]]*\]` before a `:` or the end.
fn bracketed_len(host_port: &[u8]) -> Option<usize> {
    host_port.strip_prefix(b"[")?;
    let len = memchr::memchr(b']', host_port)? + 1;
    matches!(host_port.get(len), None | Some(b':')).then_some(len)
}
