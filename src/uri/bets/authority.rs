//! Bets on scheme, user info and host.

use crate::policy::{Rule, RuleSet};
use crate::uri::bets::components::{Components, Scheme};
use crate::uri::host;

/// `scheme=merge`: `https://a/` is `http://a/`, where neither has a port (RFC 9110 §4.2 keeps them
/// apart). Merges wrongly: a site whose http is a stub. Not merged: `https://a:8443/`, `http://a:443/`.
pub(super) fn merge_scheme(url: &mut Components) -> bool {
    let is_merged = url.scheme == Scheme::Https && url.port.is_empty();
    if is_merged {
        url.scheme = Scheme::Http;
    }
    is_merged
}

/// `userinfo=drop`: `http://me@a/` is `http://a/` (RFC 3986 §3.2.1). Merges wrongly: what two users see.
pub(super) fn drop_userinfo(url: &mut Components) -> bool {
    let is_dropped = !url.userinfo.is_empty();
    url.userinfo.clear();
    is_dropped
}

/// `host-trailing-dot=drop`: `http://a.example./` is `http://a.example/` (RFC 3986 §3.2.2). Merges
/// wrongly: a local name that the search list of a resolver completes. Not merged: `1.2.3.999..`, since
/// without its dots it would be a number that is no address.
pub(super) fn drop_trailing_dot(host: &mut Vec<u8>) -> bool {
    let len = host
        .iter()
        .rposition(|byte| *byte != b'.')
        .map_or(host.len(), |it| it + 1);
    let name = &host[..len];
    let is_dropped =
        len < host.len() && (!host::ends_in_number(name) || host::is_dotted_decimal(name));
    if is_dropped {
        host.truncate(len);
    }
    is_dropped
}

/// `www=www`, `www=www-numbered`, `www=mobile`: `www.example.org`, `www2.example.org` and
/// `m.example.org` are `example.org`, only where what stays has a label in front of its public
/// suffix. Merges wrongly: a library whose `www` and `www2` are different sites. Not merged:
/// `www.com` and `com`, `www.co.uk` and `co.uk`, `www1355544.com`, `wwwa.example.org`.
///
/// All options of `rules` work together until none has more to do; the ones that did are added to `fired`.
pub(crate) fn drop_www(host: &mut Vec<u8>, rules: RuleSet, fired: &mut RuleSet) {
    let mut start = 0;
    while let Some((rule, len)) = first_label(&host[start..], rules) {
        fired.insert(rule);
        start += len;
    }
    host.drain(..start);
}

/// The rule that drops the first label, and how long that is with its dot.
fn first_label(host: &[u8], rules: RuleSet) -> Option<(Rule, usize)> {
    let len = memchr::memchr(b'.', host)?;
    let rule = match &host[..len] {
        b"www" => Rule::WwwWww,
        b"m" | b"mobile" => Rule::WwwMobile,
        [b'w', b'w', b'w', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            Rule::WwwNumbered
        }
        _ => return None,
    };
    (rules.contains(rule) && is_registrable(&host[len + 1..])).then_some((rule, len + 1))
}

/// Whether a name has a label in front of its public suffix.
fn is_registrable(name: &[u8]) -> bool {
    !host::ends_in_number(name)
        && psl::domain(name).is_some_and(|domain| !domain.as_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn www_stays_in_front_of_a_public_suffix() {
        let all = RuleSet::of(&[Rule::WwwWww, Rule::WwwNumbered, Rule::WwwMobile]);
        let check = |rules, input: &str, expected: &str| {
            let mut host = input.as_bytes().to_vec();
            let mut fired = RuleSet::EMPTY;
            drop_www(&mut host, rules, &mut fired);
            assert_eq!(host.escape_ascii().to_string(), expected);
            assert_eq!(fired.is_empty(), input == expected);
        };
        check(all, "www.example.org", "example.org");
        check(all, "www.m.www2.example.co.uk", "example.co.uk");
        check(all, "mobile.example.org.", "example.org.");
        check(
            RuleSet::of(&[Rule::WwwWww]),
            "www2.example.org",
            "www2.example.org",
        );
        check(
            RuleSet::of(&[Rule::WwwNumbered]),
            "www.example.org",
            "www.example.org",
        );
        for host in [
            "www.com",
            "www.co.uk",
            "www1355544.com",
            "wwwa.example.org",
            "www",
            "www.localhost",
            "m.1.2.3.4",
            "www..org",
            "www.",
            "example.org",
            "ww.example.org",
            "www.github.io",
        ] {
            check(all, host, host);
        }
    }
}
