//! The host (RFC 3986 §3.2.2, WHATWG URL "host parsing"): ordinary names here, the rest through
//! `idna` and `url`. Must never know paths or queries.

use std::net::Ipv6Addr;

use url::Host;

use crate::policy::plan::Base;
use crate::policy::{Rule, RuleSet};
use crate::uri::percent::decoded;
use crate::uri::table::{SUB_DELIMS, UNRESERVED, is, is_reg_name};

/// A host that no browser would ask for: the URL is of kind opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;

/// Writes `host` as all its forms are written, and says which rules changed it.
///
/// `WWW.Example.COM` is `www.example.com` and `bücher.example` is `xn--bcher-kva.example`; under
/// browser rules `0x7f.1` is `127.0.0.1`. Not merged: `example.com.` (a trailing dot is another
/// name to a resolver), `my_host` and `myhost`.
pub(crate) fn write(host: &[u8], base: Base, out: &mut Vec<u8>) -> Result<RuleSet, Invalid> {
    let start = out.len();
    if host.starts_with(b"[") {
        write_literal(host, base, out)?;
    } else if !is_plain(host) {
        write_name(host, out)?;
    } else {
        out.extend(host.iter().map(u8::to_ascii_lowercase));
    }
    let mut fired = RuleSet::EMPTY;
    if host.iter().any(u8::is_ascii_uppercase) {
        fired.insert(Rule::HostCase);
    }
    if !out[start..].eq_ignore_ascii_case(host) {
        let is_literal = host.starts_with(b"[");
        fired.insert(if is_literal {
            Rule::HostIp
        } else {
            Rule::HostIdna
        });
    }
    if host.starts_with(b"[") {
        return Ok(fired);
    }
    if out.len() == start || !out[start..].iter().all(|byte| is_reg_name(*byte)) {
        return Err(Invalid);
    }
    let name = &out[start..];
    let is_number = base == Base::Browser && ends_in_number(name) && !is_dotted_decimal(name);
    if is_number && rewrite_ipv4(out, start)? {
        fired.insert(Rule::HostIp);
    }
    Ok(fired)
}

/// Whether lower-casing is all that a name needs.
pub(crate) fn is_plain(host: &[u8]) -> bool {
    !host.iter().any(|byte| *byte >= 0x80 || *byte == b'%')
}

/// Writes a name with escapes or bytes outside ASCII.
///
/// An ASCII name is not looked at by UTS 46, even if it has an `xn--`: what is valid there is its own
/// form, and what is not (`xn--a`) is asked for as it is (WHATWG URL, "domain to ASCII").
fn write_name(host: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
    let mut bytes: Vec<u8> = decoded(host).collect();
    if bytes.is_ascii() {
        bytes.make_ascii_lowercase();
        out.extend_from_slice(&bytes);
        return Ok(());
    }
    let name = idna::domain_to_ascii_cow(&bytes, idna::AsciiDenyList::URL);
    out.extend_from_slice(name.map_err(|_| Invalid)?.as_bytes());
    Ok(())
}

/// Whether the last label is a number as browsers read it, so that the host is an IPv4 address or none.
pub(crate) fn ends_in_number(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or(host);
    if last.is_empty() {
        return false;
    }
    match last {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        _ => last.iter().all(u8::is_ascii_digit),
    }
}

/// Whether the host is an IPv4 address as browsers write it.
pub(crate) fn is_dotted_decimal(host: &[u8]) -> bool {
    let mut n_parts = 0;
    let are_decimal = host.split(|byte| *byte == b'.').all(|part| {
        n_parts += 1;
        match part {
            [b'0'..=b'9'] | [b'1'..=b'9', b'0'..=b'9'] => true,
            [b'1'..=b'2', _, _] => part <= &b"255"[..] && part.iter().all(u8::is_ascii_digit),
            _ => false,
        }
    });
    are_decimal && n_parts == 4
}

/// Turns the IPv4 address that starts at `start` into dotted decimals; says whether it was not.
fn rewrite_ipv4(out: &mut Vec<u8>, start: usize) -> Result<bool, Invalid> {
    let address = ipv4(&out[start..]).ok_or(Invalid)?;
    let is_same = is_dotted_decimal(&out[start..]);
    out.truncate(start);
    for (index, byte) in address.to_be_bytes().into_iter().enumerate() {
        if index > 0 {
            out.push(b'.');
        }
        for (scale, least) in [(100, 100), (10, 10), (1, 0)] {
            if byte >= least {
                out.push(b'0' + byte / scale % 10);
            }
        }
    }
    Ok(!is_same)
}

/// One to four numbers, of which the last fills what is left (WHATWG URL, "IPv4 parser"). The `url`
/// crate does not know that `0x` is a number.
fn ipv4(host: &[u8]) -> Option<u32> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let mut address: u64 = 0;
    let mut n_parts = 0;
    let mut parts = host.split(|byte| *byte == b'.').peekable();
    while let Some(part) = parts.next() {
        let number = ipv4_number(part)?;
        n_parts += 1;
        let n_bytes = if parts.peek().is_some() {
            1
        } else {
            5u32.checked_sub(n_parts)?
        };
        if n_bytes == 0 || number >> (8 * n_bytes) != 0 {
            return None;
        }
        address = address << (8 * n_bytes) | number;
    }
    u32::try_from(address).ok()
}

/// Decimal, octal after `0`, hexadecimal after `0x`; too large a number is as large as any such.
fn ipv4_number(part: &[u8]) -> Option<u64> {
    let (digits, radix) = match part {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        [] => return None,
        _ => (part, 10),
    };
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        Some((number * u64::from(radix) + u64::from(digit)).min(1 << 40))
    })
}

/// Writes what stands in brackets: as browsers do, or in lower case.
fn write_literal(host: &[u8], base: Base, out: &mut Vec<u8>) -> Result<(), Invalid> {
    let text = std::str::from_utf8(host).map_err(|_| Invalid)?;
    let inner = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(Invalid)?;
    if base == Base::Browser {
        let parsed = Host::parse(text).map_err(|_| Invalid)?;
        out.extend_from_slice(parsed.to_string().as_bytes());
        return Ok(());
    }
    if inner.parse::<Ipv6Addr>().is_err() && !is_future(inner.as_bytes()) {
        return Err(Invalid);
    }
    out.extend(host.iter().map(u8::to_ascii_lowercase));
    Ok(())
}

/// `"v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`.
fn is_future(inner: &[u8]) -> bool {
    let Some((b'v' | b'V', rest)) = inner.split_first() else {
        return false;
    };
    let Some(dot) = memchr::memchr(b'.', rest) else {
        return false;
    };
    let (version, address) = (&rest[..dot], &rest[dot + 1..]);
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address
            .iter()
            .all(|byte| is(*byte, UNRESERVED | SUB_DELIMS) || *byte == b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: Base, input: &str, expected: Option<&str>) {
        let mut out = Vec::new();
        let written = write(input.as_bytes(), base, &mut out).ok();
        let text = written.map(|_| String::from_utf8(out.clone()).unwrap());
        assert_eq!(text.as_deref(), expected, "{input}");
        if expected.is_some() {
            let mut again = Vec::new();
            assert_eq!(write(&out, base, &mut again), Ok(RuleSet::EMPTY));
            assert_eq!(again, out);
        }
    }

    #[test]
    fn names_are_lower_case_and_keep_their_dots() {
        for base in [Base::Grammar, Base::Browser] {
            check(base, "WWW.Example.COM", Some("www.example.com"));
            check(base, "example.com.", Some("example.com."));
            check(base, "my_host.a--b", Some("my_host.a--b"));
            check(base, "", None);
            check(base, "a b", None);
            check(base, "a{b", None);
            check(base, "a[b", None);
        }
    }

    #[test]
    fn names_outside_ascii_go_through_uts46() {
        for base in [Base::Grammar, Base::Browser] {
            check(base, "Bücher.example", Some("xn--bcher-kva.example"));
            check(base, "b%C3%BCcher.example", Some("xn--bcher-kva.example"));
            check(base, "faß.de", Some("xn--fa-hia.de"));
            check(base, "ex%41mple.org", Some("example.org"));
            check(base, "a%2fb", None);
            check(base, "%ff", None);
            check(base, "XN--A", Some("xn--a"));
            check(base, "xn--a.bücher", None);
            check(base, "\u{ad}", None);
        }
    }

    #[test]
    fn numbers_are_addresses_to_browsers_only() {
        check(Base::Browser, "0x7f.1", Some("127.0.0.1"));
        check(Base::Browser, "127.0.0.1.", Some("127.0.0.1"));
        check(Base::Browser, "0300.168.0.1", Some("192.168.0.1"));
        check(Base::Browser, "1.2.3.256", None);
        check(Base::Browser, "0x.0X.00.0", Some("0.0.0.0"));
        check(Base::Browser, "4294967295", Some("255.255.255.255"));
        check(Base::Browser, "4294967296", None);
        check(Base::Browser, "1.2.3.4.5", None);
        check(Base::Browser, "1..2", None);
        check(Base::Browser, "089", None);
        check(Base::Browser, "105.10.0x7b.99999999999999999999999", None);
        check(Base::Browser, "a.1", None);
        check(Base::Browser, "１２7.1", Some("127.0.0.1"));
        check(Base::Grammar, "0x7F.1", Some("0x7f.1"));
        check(Base::Grammar, "1.2.3.256", Some("1.2.3.256"));
    }

    #[test]
    fn dotted_decimals_are_four_bytes() {
        for host in ["0.0.0.0", "255.255.255.255", "10.99.100.1"] {
            assert!(is_dotted_decimal(host.as_bytes()), "{host}");
        }
        for host in [
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.256",
            "01.2.3.4",
            "1.2.3.",
            "1.2.3.a",
            "1.2.3.2a5",
            "",
        ] {
            assert!(!is_dotted_decimal(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn literals_have_one_text_to_browsers() {
        check(Base::Browser, "[2001:DB8:0::A]", Some("[2001:db8::a]"));
        check(Base::Browser, "[::127.0.0.1]", Some("[::7f00:1]"));
        check(Base::Browser, "[v1.a]", None);
        check(Base::Browser, "[::1%25eth0]", None);
        check(Base::Grammar, "[2001:DB8:0::A]", Some("[2001:db8:0::a]"));
        check(Base::Grammar, "[V1.A:b]", Some("[v1.a:b]"));
        check(Base::Grammar, "[::g]", None);
        check(Base::Grammar, "[::1]x", None);
    }
}
