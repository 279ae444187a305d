//! `_urlsplit` and what it calls, with what `SplitResult` makes of an authority.

use super::Raised;
use super::python::{ipv6, lower, nfkc, partition, read_port, rpartition};

/// `_SplitResult`: the components, decoded to no more than bytes of UTF-8.
pub(super) struct Split<'a> {
    pub(super) scheme: Vec<u8>,
    pub(super) userinfo: Option<&'a [u8]>,
    pub(super) hostname: String,
    pub(super) port: Option<u16>,
    pub(super) path: &'a [u8],
    pub(super) query: &'a [u8],
}

/// `_SCHEME_RE`: what stands before the first `:`.
pub(super) fn scheme_of(url: &[u8]) -> Option<&[u8]> {
    let (scheme, Some(_)) = partition(url, b':') else {
        return None;
    };
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    is_scheme.then_some(scheme)
}

/// `_urlsplit` from behind the scheme.
pub(super) fn urlsplit(scheme: Vec<u8>, rest: &[u8]) -> Result<Split<'_>, Raised> {
    let (netloc, rest) = match rest.strip_prefix(b"//") {
        Some(after) => {
            let end = after
                .iter()
                .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
                .unwrap_or(after.len());
            after.split_at(end)
        }
        None => (&[][..], rest),
    };
    let has_brackets = check_brackets(netloc)?;
    check_nfkc(netloc)?;
    let (rest, _fragment) = partition(rest, b'#');
    let (path, query) = partition(rest, b'?');

    let (userinfo, host_info) = rpartition(netloc, b'@');
    let (hostname, port) = if has_brackets {
        let (_, bracketed) = partition(host_info, b'[');
        let (hostname, after) = partition(bracketed.unwrap_or_default(), b']');
        (hostname, partition(after.unwrap_or_default(), b':').1)
    } else {
        partition(host_info, b':')
    };
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) => Some(read_port(port)?),
        None => None,
    };
    Ok(Split {
        scheme,
        userinfo,
        hostname: lower_before_zone(hostname),
        port,
        path,
        query: query.unwrap_or_default(),
    })
}

/// `_check_bracketed_netloc`: brackets hold an IPv6 address or an IPvFuture.
fn check_brackets(netloc: &[u8]) -> Result<bool, Raised> {
    match (netloc.contains(&b'['), netloc.contains(&b']')) {
        (false, false) => return Ok(false),
        (true, true) => {}
        _ => return Err(Raised::BadBrackets),
    }
    let (_, host_info) = rpartition(netloc, b'@');
    let (before, bracketed) = partition(host_info, b'[');
    let host = match bracketed {
        Some(bracketed) => {
            let (host, after) = partition(bracketed, b']');
            let is_port = after.is_none_or(|after| after.is_empty() || after[0] == b':');
            if !before.is_empty() || !is_port {
                return Err(Raised::BadBrackets);
            }
            host
        }
        None => partition(host_info, b':').0,
    };
    let is_valid = match host {
        [b'v' | b'V', ..] => is_ip_future(host),
        _ => std::str::from_utf8(host).is_ok_and(|host| ipv6(host).is_some()),
    };
    is_valid.then_some(true).ok_or(Raised::BadBrackets)
}

/// `\Av[a-fA-F0-9]+\..+\Z`
fn is_ip_future(host: &[u8]) -> bool {
    let Some((version, Some(address))) = host.strip_prefix(b"v").map(|rest| partition(rest, b'.'))
    else {
        return false;
    };
    !version.is_empty() && version.iter().all(u8::is_ascii_hexdigit) && !address.is_empty()
}

/// `_checknetloc`: NFKC must not make a delimiter of a character that was none.
fn check_nfkc(netloc: &[u8]) -> Result<(), Raised> {
    if netloc.is_ascii() {
        return Ok(());
    }
    let text = std::str::from_utf8(netloc).map_err(|_| Raised::HiddenDelimiter)?;
    let cleaned = text.replace(['@', ':', '#', '?'], "");
    let normalized = nfkc(&cleaned);
    if cleaned != normalized && normalized.contains(['/', '?', '#', '@', ':', '\\']) {
        return Err(Raised::HiddenDelimiter);
    }
    Ok(())
}

/// `hostname.lower()` up to a `%`, behind which a zone keeps its case.
fn lower_before_zone(hostname: &[u8]) -> String {
    let text = std::str::from_utf8(hostname).expect("cut out of UTF-8 at ASCII bytes");
    match text.split_once('%') {
        Some((host, zone)) => format!("{}%{zone}", lower(host)),
        None => lower(text),
    }
}
