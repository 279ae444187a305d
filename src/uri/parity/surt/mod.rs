//! `surt.surt(url)` of `surt` 0.3.1: `handyurl.parse`, `GoogleURLCanonicalizer`, `IAURLCanonicalizer`,
//! `geturl_bytes`, in this order.
//!
//! Quirks that are kept: everything after the host is lower-cased, escapes are decoded until none is left
//! (`%2F` is a slash), queries are sorted as bytes, `www12.` is cut off even before a public suffix, user
//! info is dropped, and another scheme's port 80 stays.

use super::Raised;
use super::python::{
    is_too_long_for_int, is_unreserved, partition, quote, read_port, rpartition, strip,
    unquote_repeatedly, without_tabs_and_newlines,
};

mod session;

/// `handyurl`: the components as the two canonicalizers pass them on.
struct HandyUrl {
    scheme: Vec<u8>,
    host: Option<Vec<u8>>,
    port: Option<u16>,
    path: Option<Vec<u8>>,
    query: Option<Vec<u8>>,
}

/// Writes the SURT key of `url`.
pub(super) fn surt(url: &[u8], out: &mut Vec<u8>) -> Result<(), Raised> {
    if url.is_empty() {
        out.push(b'-');
        return Ok(());
    }
    if url.starts_with(b"filedesc") {
        out.extend_from_slice(url);
        return Ok(());
    }
    let mut handy = parse(url)?;
    canonicalize_google(&mut handy)?;
    canonicalize_ia(&mut handy);
    write_url(&handy, out);
    Ok(())
}

/// `handyurl.parse`.
fn parse(url: &[u8]) -> Result<HandyUrl, Raised> {
    let stripped = strip(url, |byte| {
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
    });
    let mut url = without_tabs_and_newlines(stripped);
    if url.is_empty() {
        return Err(Raised::Empty);
    }
    if scheme_len(&url).is_none() {
        url.splice(..0, *b"http://");
    }
    let url = last_of_multiple_protocols(&url);

    let scheme_end = scheme_len(url).ok_or(Raised::Empty)?;
    let (scheme, rest) = (url[..scheme_end].to_vec(), &url[scheme_end + 1..]);
    let (rest, _fragment) = partition(rest, b'#');
    let (hierarchical, query) = partition(rest, b'?');
    let (netloc, path) = match hierarchical.strip_prefix(b"//") {
        Some(after) => after.split_at(memchr::memchr(b'/', after).unwrap_or(after.len())),
        None => (&[][..], hierarchical),
    };
    let (mut host, port) = host_and_port(netloc)?;
    let mut path = (!path.is_empty()).then(|| path.to_vec());
    if scheme.starts_with(b"http")
        && host.is_none()
        && let Some(text) = &path
    {
        // "deal with http:////////////////www.vikings.com"
        let start = text.iter().position(|&b| b != b'/').unwrap_or(text.len());
        let (first, others) = partition(&text[start..], b'/');
        host = Some(first.to_vec());
        path = Some([b"/", others.unwrap_or_default()].concat());
    }
    Ok(HandyUrl {
        scheme,
        host,
        port,
        path,
        query: query.filter(|query| !query.is_empty()).map(<[u8]>::to_vec),
    })
}

/// The length of a scheme that a `:` follows.
fn scheme_len(url: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b':', url)?;
    let is_scheme = url[0].is_ascii_alphabetic()
        && url[1..end.max(1)]
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    (end > 0 && is_scheme).then_some(end)
}

/// Of `http://https://order.1and1.com`, the part from the last scheme on.
fn last_of_multiple_protocols(url: &[u8]) -> &[u8] {
    let protocol = |text: &[u8]| -> Option<usize> {
        [&b"http://"[..], b"https://"]
            .iter()
            .find(|prefix| text.starts_with(prefix))
            .map(|prefix| prefix.len())
    };
    let mut rest = url;
    while let Some(len) = protocol(rest) {
        if protocol(&rest[len..]).is_none() {
            break;
        }
        rest = &rest[len..];
    }
    rest
}

/// `hostname` and `port` of `urllib.parse`; the colons that end an authority are cut off before.
fn host_and_port(netloc: &[u8]) -> Result<(Option<Vec<u8>>, Option<u16>), Raised> {
    let end = netloc
        .iter()
        .rposition(|&b| b != b':')
        .map_or(0, |at| at + 1);
    let (_, host_info) = rpartition(&netloc[..end], b'@');
    let (host, port) = match partition(host_info, b'[') {
        (_, Some(bracketed)) => {
            let (host, after) = partition(bracketed, b']');
            (host, partition(after.unwrap_or_default(), b':').1)
        }
        _ => partition(host_info, b':'),
    };
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) => Some(read_port(port)?),
        None => None,
    };
    let host = (!host.is_empty()).then(|| host.to_ascii_lowercase());
    Ok((host, port.filter(|&port| port != 0)))
}

/// `GoogleURLCanonicalizer.canonicalize`.
fn canonicalize_google(url: &mut HandyUrl) -> Result<(), Raised> {
    if let Some(query) = &mut url.query {
        *query = escape_once(&unquote_repeatedly(query));
    }
    if let Some(host) = &mut url.host {
        *host = canonical_host(host)?;
    }
    let path = url.path.take().map(|path| unquote_repeatedly(&path));
    let has_host = url.host.as_ref().is_some_and(|host| !host.is_empty());
    let path = if has_host {
        Some(normalize_path(path.as_deref().unwrap_or_default()))
    } else {
        path
    };
    url.path = path.map(|path| escape_once(&path));
    Ok(())
}

fn canonical_host(host: &[u8]) -> Result<Vec<u8>, Raised> {
    let mut host = unquote_repeatedly(host);
    if !host.is_ascii() {
        let text: String = host.utf8_chunks().map(|chunk| chunk.valid()).collect();
        if let Some(encoded) = super::idna2003::encode(&text) {
            host = encoded;
        }
    }
    let host = merge_dots(&host);
    let host = strip(&host, |byte| byte == b'.');
    if let Some(address) = ipv4_of(host)? {
        return Ok(address);
    }
    Ok(escape_once(&host.to_ascii_lowercase()))
}

/// `host.replace(b'..', b'.')`: once over, so that four dots become two.
fn merge_dots(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let [first, tail @ ..] = rest {
        out.push(*first);
        rest = match rest {
            [b'.', b'.', after @ ..] => after,
            _ => tail,
        };
    }
    out
}

/// `attemptIPFormats`: a decimal is masked to 32 bits; dotted forms go to the resolver, which answers
/// numbers as `inet_aton` reads them, and nothing else here.
fn ipv4_of(host: &[u8]) -> Result<Option<Vec<u8>>, Raised> {
    if host.is_empty() || !host.iter().all(|b| b.is_ascii_digit() || *b == b'.') {
        return Ok(None);
    }
    if !host.contains(&b'.') {
        if is_too_long_for_int(host) {
            return Err(Raised::BadAddress);
        }
        let value = host.iter().fold(0u32, |value, digit| {
            value.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'))
        });
        return Ok(Some(
            std::net::Ipv4Addr::from(value).to_string().into_bytes(),
        ));
    }
    Ok(inet_aton(host).map(|address| address.to_string().into_bytes()))
}

/// Digits and dots as `inet_aton` reads them: two to four parts, a leading zero means octal.
fn inet_aton(host: &[u8]) -> Option<std::net::Ipv4Addr> {
    let mut parts = [0u32; 4];
    let mut n_parts = 0;
    for text in host.split(|&byte| byte == b'.') {
        let base = if text.len() > 1 && text[0] == b'0' {
            8
        } else {
            10
        };
        let text = std::str::from_utf8(text).ok()?;
        *parts.get_mut(n_parts)? = u32::from_str_radix(text, base).ok()?;
        n_parts += 1;
    }
    let (last, front) = parts[..n_parts].split_last()?;
    let last_bits = 32 - 8 * u32::try_from(front.len()).ok()?;
    if front.iter().any(|&part| part > 255) || u64::from(*last) >> last_bits != 0 {
        return None;
    }
    let mut address = *last;
    for (part, shift) in front.iter().zip([24, 16, 8]) {
        address |= part << shift;
    }
    Some(address.into())
}

/// `normalizePath`: dot segments, and empty segments but for the last.
fn normalize_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut out = vec![b'/'];
    if let Some((last, front)) = kept.split_last() {
        for segment in front.iter().filter(|segment| !segment.is_empty()) {
            out.extend_from_slice(segment);
            out.push(b'/');
        }
        out.extend_from_slice(last);
    }
    out
}

/// `escapeOnce`: everything outside of 0x21 to 0x7E, `#` and `%`.
fn escape_once(text: &[u8]) -> Vec<u8> {
    let is_safe = |byte: u8| {
        is_unreserved(byte) || (byte.is_ascii_punctuation() && !matches!(byte, b'#' | b'%'))
    };
    let mut out = Vec::with_capacity(text.len());
    quote(text, is_safe, &mut out);
    out
}

/// `IAURLCanonicalizer.canonicalize`.
fn canonicalize_ia(url: &mut HandyUrl) {
    if let Some(host) = &mut url.host {
        host.make_ascii_lowercase();
        if url.scheme != b"dns" {
            host.drain(..www_len(host));
        }
    }
    let default_port = match url.scheme.to_ascii_lowercase().as_slice() {
        b"http" => Some(80),
        b"https" => Some(443),
        _ => None,
    };
    if url.port == default_port {
        url.port = None;
    }
    if let Some(path) = &mut url.path {
        path.make_ascii_lowercase();
        session::strip_from_path(path);
        if path.len() > 1 && path.ends_with(b"/") {
            path.pop();
        }
    }
    if let Some(query) = &mut url.query {
        session::strip_from_query(query);
        query.make_ascii_lowercase();
        *query = alpha_reorder(query);
    }
    url.query = url.query.take().filter(|query| !query.is_empty());
}

/// The length of `www\d*\.` at the start.
fn www_len(host: &[u8]) -> usize {
    let Some(after) = host.strip_prefix(b"www") else {
        return 0;
    };
    let digits = after
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if after.get(digits) == Some(&b'.') {
        3 + digits + 1
    } else {
        0
    }
}

/// `alphaReorderQuery`: by name, then by value; `a` goes before `a=`.
fn alpha_reorder(query: &[u8]) -> Vec<u8> {
    let mut parameters: Vec<(&[u8], Option<&[u8]>)> = query
        .split(|&byte| byte == b'&')
        .map(|parameter| partition(parameter, b'='))
        .collect();
    parameters.sort_unstable();
    let mut out = Vec::with_capacity(query.len());
    for (index, (name, value)) in parameters.into_iter().enumerate() {
        if index > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(name);
        if let Some(value) = value {
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
    out
}

/// `geturl_bytes(surt=True, with_scheme=False)`.
fn write_url(url: &HandyUrl, out: &mut Vec<u8>) {
    match url.host.as_ref().filter(|host| !host.is_empty()) {
        Some(host) => {
            for (index, label) in host.rsplit(|&byte| byte == b'.').enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(label);
            }
            if let Some(port) = url.port {
                out.extend_from_slice(format!(":{port}").as_bytes());
            }
            out.push(b')');
        }
        None => {
            out.extend_from_slice(&url.scheme);
            out.push(b':');
        }
    }
    match &url.path {
        Some(path) => out.extend_from_slice(path),
        None if url.query.is_some() => out.push(b'/'),
        None => {}
    }
    if let Some(query) = &url.query {
        out.push(b'?');
        out.extend_from_slice(query);
    }
}
