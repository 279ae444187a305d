//! The safe core: ten steps in the order of the grammar, from any byte string to one text.
//!
//! This is the path for whatever is not its own key already; the steps are those of the policy
//! specification, under their names. Must never know bets.

use crate::policy::plan::{Base, Fragment};
use crate::policy::{Rule, RuleSet};
use crate::uri::table::{FRAGMENT, HEXDIG, PATH, QUERY, SPECIAL_QUERY, is, is_scheme};
use crate::uri::{Kind, dots, host, percent};

/// What the core found out while it wrote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) kind: Kind,
    pub(crate) fired: RuleSet,
    /// The fragment starts with `!` or `/`.
    pub(crate) is_route: bool,
}

/// The choices of a policy that the core depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) base: Base,
    pub(crate) fragment: Fragment,
}

/// Writes the core form of `input` into `out`, which it empties first. `joined` is for a text
/// without its TABs and line ends.
pub(crate) fn write(
    input: &[u8],
    settings: Settings,
    joined: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Outcome {
    out.clear();
    let mut core = Core {
        settings,
        out,
        fired: RuleSet::EMPTY,
    };
    let text = match settings.base {
        Base::Browser => core.trim(input, joined),
        Base::Grammar | Base::Parity(_) => input,
    };
    let trimmed = core.fired;
    let (text, fragment) = cut(text, b'#');
    let is_route = matches!(fragment, Some([b'!' | b'/', ..]));
    let written = core.uri(text, fragment);
    let fired = core.fired;
    match written {
        Ok(kind) => Outcome {
            kind,
            fired,
            is_route,
        },
        Err(host::Invalid) => {
            out.clear();
            out.extend_from_slice(text);
            if let Some(fragment) = fragment {
                out.push(b'#');
                out.extend_from_slice(fragment);
            }
            Outcome {
                kind: Kind::Opaque,
                fired: trimmed,
                is_route: false,
            }
        }
    }
}

/// Splits `text` at the first `delimiter`.
pub(crate) fn cut(text: &[u8], delimiter: u8) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(delimiter, text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// How long the scheme in front of the first `:` is; `None` if no scheme stands there.
pub(crate) fn scheme_len(text: &[u8]) -> Option<usize> {
    let len = text.iter().position(|byte| !is_scheme(*byte))?;
    (text[len] == b':' && text[0].is_ascii_alphabetic()).then_some(len)
}

/// What steps 1 to 10 share.
struct Core<'o> {
    settings: Settings,
    out: &'o mut Vec<u8>,
    fired: RuleSet,
}

impl Core<'_> {
    fn is_browser(&self) -> bool {
        self.settings.base == Base::Browser
    }

    fn note(&mut self, rule: Rule, changed: impl FnOnce(&Self) -> bool) {
        if changed(self) {
            self.fired.insert(rule);
        }
    }

    /// Step 1 (WHATWG URL, "basic URL parser"): bytes up to 0x20 at both ends, TAB, CR and LF anywhere.
    ///
    /// ` http://a/b\n` is `http://a/b`. Not merged: `http://a/b%20` and `http://a/b`, U+00A0 and nothing.
    fn trim<'t>(&mut self, input: &'t [u8], joined: &'t mut Vec<u8>) -> &'t [u8] {
        let is_text = |byte: &u8| *byte > b' ';
        let start = input.iter().position(is_text).unwrap_or(input.len());
        let end = input.iter().rposition(is_text).map_or(start, |it| it + 1);
        let mut text = &input[start..end];
        if memchr::memchr3(b'\t', b'\r', b'\n', text).is_some() {
            joined.clear();
            joined.extend(
                text.iter()
                    .filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')),
            );
            text = joined;
        }
        self.note(Rule::Trim, |_| text.len() != input.len());
        text
    }

    /// Steps 2 to 10 over a text without its fragment. Step 2 (RFC 3986 §3.1, §6.2.2.1): `HTTP://a/` is
    /// `http://a/`. Not merged: `http://a/` and `https://a/`, `1http://a/` and `http://a/`.
    fn uri(&mut self, text: &[u8], fragment: Option<&[u8]>) -> Result<Kind, host::Invalid> {
        let scheme = &text[..scheme_len(text).ok_or(host::Invalid)?];
        self.note(Rule::SchemeCase, |_| {
            scheme.iter().any(u8::is_ascii_uppercase)
        });
        self.out.extend(scheme.iter().map(u8::to_ascii_lowercase));
        self.out.push(b':');
        let rest = &text[scheme.len() + 1..];
        let (rest, query) = cut(rest, b'?');
        if scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https") {
            self.http(rest)?;
            self.query(
                query,
                if self.is_browser() {
                    SPECIAL_QUERY
                } else {
                    QUERY
                },
            );
            self.fragment(fragment);
            return Ok(Kind::Http);
        }
        self.other(rest);
        self.query(query, QUERY);
        self.note(Rule::Fragment, |_| fragment.is_some());
        Ok(Kind::OtherScheme)
    }

    /// Steps 3 and 5 to 9: what stands between `http:` and the query. Step 3 (WHATWG URL, "special authority
    /// ignore slashes state"): `http:\\\a/b` is `http://a/b`, and so is `http:a/b`; the grammar has `//` only
    /// (RFC 3986 §3). Not merged: `http://a/?\b` and `http://a/?/b`, `http://a//b` and `http://a/b`.
    fn http(&mut self, rest: &[u8]) -> Result<(), host::Invalid> {
        let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
        let rest = if self.is_browser() {
            let len = rest.iter().position(|byte| !is_slash(byte));
            let (slashes, rest) = rest.split_at(len.unwrap_or(rest.len()));
            self.note(Rule::Slashes, |_| slashes != b"//");
            rest
        } else {
            rest.strip_prefix(b"//").ok_or(host::Invalid)?
        };
        let default_port = if self.out.len() == 5 {
            b"80"
        } else {
            &b"443"[..]
        };
        self.out.extend_from_slice(b"//");
        let end = if self.is_browser() {
            memchr::memchr2(b'/', b'\\', rest)
        } else {
            memchr::memchr(b'/', rest)
        };
        let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
        self.authority(authority, default_port)?;
        self.path(path);
        Ok(())
    }

    /// Steps 5 to 7: `[ userinfo "@" ] host [ ":" port ]` (RFC 3986 §3.2). Step 5 (RFC 3986 §3.2.1; WHATWG URL,
    /// "includes credentials"): `http://@a/` is `http://a/`, and to browsers `http://u:@a/` is `http://u@a/`.
    /// Not merged: `http://u@a/` and `http://a/`, `http://U@a/` and `http://u@a/`.
    fn authority(&mut self, authority: &[u8], default_port: &[u8]) -> Result<(), host::Invalid> {
        let (userinfo, host_port) = split_userinfo(authority);
        if let Some(userinfo) = userinfo {
            let kept = if self.is_browser() {
                without_empty_password(userinfo)
            } else {
                userinfo
            };
            if !kept.is_empty() {
                self.out.extend_from_slice(kept);
                self.out.push(b'@');
            }
            self.note(Rule::UserinfoEmpty, |_| kept.is_empty() || kept != userinfo);
        }
        let (name, port) = split_port(host_port);
        let fired = host::write(name, self.settings.base, self.out)?;
        self.fired = self.fired.union(fired);
        match port {
            Some(port) => self.port(port, default_port),
            None => Ok(()),
        }
    }

    /// Step 7 (RFC 3986 §6.2.3): `:080` is `:80` to browsers, and `:80` is nothing to http.
    ///
    /// Not merged: `https://a:80/` and `https://a/`.
    fn port(&mut self, port: &[u8], default_port: &[u8]) -> Result<(), host::Invalid> {
        if !port.iter().all(u8::is_ascii_digit) {
            return Err(host::Invalid);
        }
        let kept = if self.is_browser() {
            let significant = port.iter().position(|digit| *digit != b'0');
            &port[significant.unwrap_or(port.len().saturating_sub(1))..]
        } else {
            port
        };
        if self.is_browser() && (kept.len() > 5 || (kept.len() == 5 && kept > &b"65535"[..])) {
            return Err(host::Invalid);
        }
        let is_kept = !kept.is_empty() && kept != default_port;
        if is_kept {
            self.out.push(b':');
            self.out.extend_from_slice(kept);
        }
        self.note(Rule::Port, |_| !is_kept || kept != port);
        Ok(())
    }

    /// Steps 8 and 9, and step 3 for the `\` in a path (WHATWG URL, "path state"). An empty path is `/` (RFC
    /// 3986 §6.2.3): `http://a` is `http://a/`. Not merged: `http://a/b` and `http://a/b/`; what `percent`
    /// and `dots` keep apart.
    fn path(&mut self, path: &[u8]) {
        let start = self.out.len();
        let changed = percent::settle(path, PATH, self.out);
        self.note(Rule::PathEscapes, |_| changed);
        if self.is_browser() {
            let mut turned = false;
            for byte in &mut self.out[start..] {
                if *byte == b'\\' {
                    *byte = b'/';
                    turned = true;
                }
            }
            self.note(Rule::Slashes, |_| turned);
        }
        let changed = dots::remove(self.out, start);
        self.note(Rule::DotSegments, |_| changed);
        if self.out.len() == start {
            self.out.push(b'/');
            self.fired.insert(Rule::PathEmpty);
        }
    }

    /// Step 10 (RFC 3986 §3.4, §6.2.2): `?%7ea` is `?~a`, and to browsers `?'` is `?%27` (WHATWG URL, "query
    /// state"). No sorting, no splitting. Not merged: `http://a/?` and `http://a/`, `?a+b` and `?a%20b`.
    fn query(&mut self, query: Option<&[u8]>, encoded: u8) {
        let Some(query) = query else { return };
        self.out.push(b'?');
        let changed = percent::settle(query, encoded, self.out);
        self.note(Rule::QueryEscapes, |_| changed);
    }

    /// Step 4 (RFC 3986 §3.5): HTTP does not send it (RFC 9110 §4.1), so it goes, unless it is a route and
    /// routes are kept: `http://a/#b` is `http://a/`. Not merged: `http://a/%23b` and `http://a/`.
    fn fragment(&mut self, fragment: Option<&[u8]>) {
        match (fragment, self.settings.fragment) {
            (Some(route @ [b'!' | b'/', ..]), Fragment::KeepRoutes) => {
                self.out.push(b'#');
                let changed = percent::settle(route, FRAGMENT, self.out);
                self.note(Rule::Fragment, |_| changed);
            }
            (Some(_), _) => self.fired.insert(Rule::Fragment),
            (None, _) => {}
        }
    }

    /// Step 2 for another scheme (RFC 3986 §6.2.2): its host in lower case, escapes, and nothing that is
    /// invented. `FTP://A/%7e` is `ftp://a/~`. Not merged: `ftp://a:21/` and `ftp://a/`, `ftp://a` and `ftp://a/`.
    fn other(&mut self, rest: &[u8]) {
        let Some(behind) = rest.strip_prefix(b"//") else {
            let changed = percent::settle(rest, PATH, self.out);
            self.note(Rule::PathEscapes, |_| changed);
            return;
        };
        self.out.extend_from_slice(b"//");
        let end = memchr::memchr(b'/', behind).unwrap_or(behind.len());
        let (authority, path) = behind.split_at(end);
        let (userinfo, host_port) = split_userinfo(authority);
        if let Some(userinfo) = userinfo {
            self.out.extend_from_slice(userinfo);
            self.out.push(b'@');
        }
        let start = self.out.len();
        let changed =
            percent::settle(host_port, PATH, self.out) | percent::settle(path, PATH, self.out);
        self.note(Rule::PathEscapes, |_| changed);
        let end = self.out.len() - path_len(&self.out[start..]);
        let lowered = lower_outside_escapes(&mut self.out[start..end]);
        self.note(Rule::HostCase, |_| lowered);
    }
}

/// How long the path behind an authority is.
fn path_len(text: &[u8]) -> usize {
    memchr::memchr(b'/', text).map_or(0, |at| text.len() - at)
}

/// Lower-cases letters, but not the hex digits of escapes; says whether there were any.
fn lower_outside_escapes(text: &mut [u8]) -> bool {
    let mut changed = false;
    let mut index = 0;
    while index < text.len() {
        let is_escape =
            matches!(text[index..], [b'%', high, low, ..] if is(high, HEXDIG) && is(low, HEXDIG));
        if is_escape {
            index += 3;
            continue;
        }
        changed |= text[index].is_ascii_uppercase();
        text[index].make_ascii_lowercase();
        index += 1;
    }
    changed
}

/// User info is what stands in front of the last `@` (RFC 3986 §3.2.1; the last, as in browsers).
pub(crate) fn split_userinfo(authority: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match memchr::memrchr(b'@', authority) {
        Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
        None => (None, authority),
    }
}

/// The port is what stands behind the first `:` that is in no brackets.
pub(crate) fn split_port(host_port: &[u8]) -> (&[u8], Option<&[u8]>) {
    let literal = match host_port {
        [b'[', ..] => memchr::memchr(b']', host_port).unwrap_or(0),
        _ => 0,
    };
    match memchr::memchr(b':', &host_port[literal..]) {
        Some(at) => (
            &host_port[..literal + at],
            Some(&host_port[literal + at + 1..]),
        ),
        None => (host_port, None),
    }
}

/// `user:` is `user`, and `:` is nothing: the password starts behind the first `:`.
fn without_empty_password(userinfo: &[u8]) -> &[u8] {
    match memchr::memchr(b':', userinfo) {
        Some(at) if at + 1 == userinfo.len() => &userinfo[..at],
        _ => userinfo,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text, and behind a `|` the rules that made it, the kind if it is not http, and `route`.
    fn told(base: Base, fragment: Fragment, input: &str) -> String {
        let settings = Settings { base, fragment };
        let (mut joined, mut out) = (Vec::new(), b"of the last URL".to_vec());
        let outcome = write(input.as_bytes(), settings, &mut joined, &mut out);
        let kind = match outcome.kind {
            Kind::Http => "",
            Kind::OtherScheme => " other",
            Kind::Opaque => " opaque",
        };
        let route = if outcome.is_route { " route" } else { "" };
        let text = String::from_utf8(out).unwrap();
        format!("{text}|{}{kind}{route}", outcome.fired)
    }

    #[test]
    fn each_step_does_its_part_and_is_named() {
        for (input, browser, grammar) in [
            ("http://a/b?c", "http://a/b?c|", "http://a/b?c|"),
            (" http://a/ ", "http://a/|trim", " http://a/ | opaque"),
            ("ht\ntp://a/", "http://a/|trim", "ht\ntp://a/| opaque"),
            (
                "HTTP://a/",
                "http://a/|scheme-case",
                "http://a/|scheme-case",
            ),
            ("http:\\/a/", "http://a/|slashes", "http:\\/a/| opaque"),
            ("http://a/b\\c", "http://a/b/c|slashes", "http://a/b\\c|"),
            ("http://a/#b", "http://a/|fragment", "http://a/|fragment"),
            (
                "http://@a/",
                "http://a/|userinfo-empty",
                "http://a/|userinfo-empty",
            ),
            (
                "http://u:@a/",
                "http://u@a/|userinfo-empty",
                "http://u:@a/|",
            ),
            ("http://A/", "http://a/|host-case", "http://a/|host-case"),
            ("http://%61/", "http://a/|host-idna", "http://a/|host-idna"),
            (
                "http://0x7f.1/",
                "http://127.0.0.1/|host-ip",
                "http://0x7f.1/|",
            ),
            ("http://a:80/", "http://a/|port", "http://a/|port"),
            ("http://a:/", "http://a/|port", "http://a/|port"),
            ("http://a:081/", "http://a:81/|port", "http://a:081/|"),
            ("https://a:80/", "https://a:80/|", "https://a:80/|"),
            (
                "http://a/%7e",
                "http://a/~|path-escapes",
                "http://a/~|path-escapes",
            ),
            (
                "http://a/b/%2e%2E",
                "http://a/|path-escapes;dot-segments",
                "http://a/|path-escapes;dot-segments",
            ),
            (
                "http://a?b",
                "http://a/?b|path-empty",
                "http://a/?b|path-empty",
            ),
            ("http://a/?'", "http://a/?%27|query-escapes", "http://a/?'|"),
            (
                "http://a/?%7e",
                "http://a/?~|query-escapes",
                "http://a/?~|query-escapes",
            ),
        ] {
            let told = |base| told(base, Fragment::Drop, input);
            assert_eq!(told(Base::Browser), browser);
            assert_eq!(told(Base::Grammar), grammar);
        }
    }

    #[test]
    fn a_route_is_told_and_kept_if_it_is_to_be() {
        for (input, dropped, kept) in [
            (
                "http://a/#!b",
                "http://a/|fragment route",
                "http://a/#!b| route",
            ),
            (
                "http://a/#/ b",
                "http://a/|fragment route",
                "http://a/#/%20b|fragment route",
            ),
            ("http://a/#b", "http://a/|fragment", "http://a/|fragment"),
        ] {
            let told = |fragment| told(Base::Browser, fragment, input);
            assert_eq!(told(Fragment::Drop), dropped);
            assert_eq!(told(Fragment::KeepRoutes), kept);
        }
    }

    #[test]
    fn of_another_scheme_only_host_and_escapes_are_touched() {
        for (input, expected) in [
            (
                "FTP://U@Host:21/A%7e#b",
                "ftp://U@host:21/A~|scheme-case;fragment;host-case;path-escapes other",
            ),
            ("dns:Example.org", "dns:Example.org| other"),
            ("urn:a b?'", "urn:a%20b?'|path-escapes other"),
            ("ws://a", "ws://a| other"),
        ] {
            assert_eq!(told(Base::Browser, Fragment::Drop, input), expected);
        }
    }

    #[test]
    fn what_no_browser_asks_for_is_its_own_text() {
        for (input, expected) in [
            ("  no URL\t# a", "no URL# a|trim opaque"),
            ("http://", "http://| opaque"),
            ("http://a b/#!c", "http://a b/#!c| opaque"),
            ("HTTP://a:65536/", "HTTP://a:65536/| opaque"),
            ("http://a:x/", "http://a:x/| opaque"),
            ("", "| opaque"),
        ] {
            assert_eq!(told(Base::Browser, Fragment::Drop, input), expected);
        }
    }
}
