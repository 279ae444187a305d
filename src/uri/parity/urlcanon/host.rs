//! `reparse_host`, `normalize_ip_address`, `fix_host_dots`, `punycode_special_host`.

use std::net::Ipv4Addr;

use super::{ParsedUrl, is_special};
use crate::uri::parity::python::{int, ipv6, ipv6_text};
use crate::uri::parity::{Raised, idna2003, idna2008};

/// The host steps, on a host whose escapes are decoded.
pub(super) fn normalize(url: &mut ParsedUrl) -> Result<(), Raised> {
    if let Some(bracketed) = bracketed(&url.host) {
        if let Some((address, _scope)) = std::str::from_utf8(bracketed).ok().and_then(ipv6) {
            url.host = format!("[{}]", ipv6_text(address)).into_bytes();
        }
    } else if let Some(value) = ipv4(&url.host) {
        let address = u32::try_from(value).map_err(|_| Raised::BadAddress)?;
        url.host = Ipv4Addr::from(address).to_string().into_bytes();
    }
    url.host = fix_dots(&url.host);
    if !url.host.is_empty()
        && is_special(&url.scheme)
        && let Some(encoded) = std::str::from_utf8(&url.host).ok().and_then(punycode)
    {
        url.host = encoded;
    }
    Ok(())
}

fn bracketed(host: &[u8]) -> Option<&[u8]> {
    match host {
        [b'[', inner @ .., b']'] => Some(inner),
        _ => None,
    }
}

/// `parse_ipv4`: what browsers read, with the licences of `int` (blanks, `_`, signs); it may be negative.
fn ipv4(host: &[u8]) -> Option<i128> {
    let mut parts: Vec<&[u8]> = host.splitn(6, |&byte| byte == b'.').collect();
    if parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    let numbers = parts
        .iter()
        .take(4)
        .map(|part| ipv4_part(part))
        .collect::<Option<Vec<i128>>>()?;
    let value = match numbers[..] {
        _ if parts.len() > 4 => return None,
        [a] => a,
        [a, b] if b < 1 << 24 => (a << 24) + b,
        [a, b, c] if b < 1 << 8 && c < 1 << 16 => (a << 24) + (b << 16) + c,
        [a, b, c, d] if b < 1 << 8 && c < 1 << 8 && d < 1 << 8 => {
            (a << 24) + (b << 16) + (c << 8) + d
        }
        _ => return None,
    };
    (value < 1 << 32).then_some(value)
}

fn ipv4_part(part: &[u8]) -> Option<i128> {
    match part {
        [] | [b'0', b'x' | b'X'] => Some(0),
        [b'0', b'x' | b'X', digits @ ..] => int(digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => int(digits, 8),
        _ => int(part, 10),
    }
}

/// Leading and trailing dots off, runs to one. A `$` of Python also matches before a newline at the end.
fn fix_dots(host: &[u8]) -> Vec<u8> {
    let (body, newline) = match host {
        [body @ .., b'\n'] => (body, &b"\n"[..]),
        body => (body, &b""[..]),
    };
    let mut out: Vec<u8> = Vec::with_capacity(host.len());
    for label in body.split(|&byte| byte == b'.') {
        if label.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(b'.');
        }
        out.extend_from_slice(label);
    }
    out.extend_from_slice(newline);
    out
}

/// `punycode_special_host`: IDNA 2008; where that raises, IDNA 2003 of what UTS 46 maps it to, provided
/// that it has letters, digits and hyphens only (`std3_rules`).
fn punycode(host: &str) -> Option<Vec<u8>> {
    let mapped = idna2008::remap(host)?;
    idna2008::encode(&mapped).or_else(|| {
        if !host.chars().all(idna2008::is_std3) {
            return None;
        }
        let labels: Option<Vec<Vec<u8>>> = mapped.split('.').map(idna2003::to_ascii).collect();
        Some(labels?.join(&b'.'))
    })
}
