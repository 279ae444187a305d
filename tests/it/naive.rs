//! The slow twin of the normalizer: the same policy written as plainly as it can be, with fresh
//! strings for each step. It shares the host libraries with the fast one, and nothing else.

use crawl_dedupe::policy::plan::{Base, Bets, Fragment, Plan};
use crawl_dedupe::uri::Kind;

use crate::naive_bets;

pub(crate) type Bytes = Vec<u8>;

/// An http URL in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    pub(crate) userinfo: Option<Bytes>,
    pub(crate) host: Bytes,
    pub(crate) port: Option<Bytes>,
    pub(crate) path: Bytes,
    pub(crate) query: Option<Bytes>,
    pub(crate) fragment: Option<Bytes>,
}

/// What `plan` makes of `input`.
pub(crate) fn normalize_naive(plan: &Plan, input: &[u8]) -> (Bytes, Kind) {
    let (mut text, kind) = core(plan, input);
    if kind != Kind::Http {
        return (text, kind);
    }
    let mut seen: Vec<Bytes> = Vec::new();
    while let Some(mut url) = parse(plan.base, &text) {
        let bets = bets_of(plan, &text).unwrap_or(&plan.bets);
        for rule in bets.rules.iter() {
            naive_bets::run(rule, bets, plan.base, &mut url);
        }
        let (next, _) = core(plan, &join(&url));
        if next == text {
            break;
        }
        seen.push(text);
        text = next;
        // Entries that undo each other: the least of what goes round stands for all.
        if let Some(start) = seen.iter().position(|it| *it == text) {
            text = seen.drain(start..).min().unwrap_or(text);
            break;
        }
    }
    (text, kind)
}

/// The bets of the first entry about a key text: a walk through all of them. `None` if it is no http URL.
pub(crate) fn bets_of<'p>(plan: &'p Plan, text: &[u8]) -> Option<&'p Bets> {
    let url = parse(Base::Grammar, text).filter(|it| it.scheme.starts_with("http"))?;
    let (_, host, port) = place_of(text)?;
    let covers = |prefix: &[u8]| {
        let segments = |path: &[u8]| {
            path.split(|it| *it == b'/')
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        segments(&url.path).starts_with(&segments(prefix))
    };
    let mut entries = plan.origins.iter();
    let entry = entries.find(|it| it.authority.admits(&host, port) && covers(&it.path));
    Some(entry.map_or(&plan.bets, |it| &it.bets))
}

/// Scheme, host and port of a key text that has an authority, or its scheme alone.
pub(crate) fn place_of(text: &[u8]) -> Option<(Bytes, Bytes, u16)> {
    let (scheme, rest) = scheme(text)?;
    if !rest.starts_with(b"//") {
        return Some((scheme.into_bytes(), Bytes::new(), 0));
    }
    let url = parse(Base::Grammar, text)?;
    let port = match (&url.port, scheme.as_str()) {
        (Some(port), _) => number(port).unwrap_or(0),
        (None, "https") => 443,
        (None, "http") => 80,
        (None, _) => 0,
    };
    Some((scheme.into_bytes(), url.host, port))
}

/// The ten steps.
fn core(plan: &Plan, input: &[u8]) -> (Bytes, Kind) {
    let text = match plan.base {
        Base::Browser => {
            let is_text = |byte: &u8| *byte > 0x20;
            let start = input.iter().position(is_text).unwrap_or(input.len());
            let end = input
                .iter()
                .rposition(is_text)
                .map_or(start, |last| last + 1);
            input[start..end]
                .iter()
                .copied()
                .filter(|byte| !b"\t\r\n".contains(byte))
                .collect()
        }
        _ => input.to_vec(),
    };
    let Some((scheme, _)) = scheme(&text) else {
        return (text, Kind::Opaque);
    };
    if scheme != "http" && scheme != "https" {
        return (other_scheme(&scheme, &text), Kind::OtherScheme);
    }
    let Some(mut url) = parse(plan.base, &text).and_then(|url| normalize_authority(plan.base, url))
    else {
        return (text, Kind::Opaque);
    };
    url.path = escapes(&url.path, b"\"#<>?^`{}");
    if plan.base == Base::Browser {
        url.path
            .iter_mut()
            .filter(|byte| **byte == b'\\')
            .for_each(|byte| *byte = b'/');
    }
    url.path = without_dots(&url.path);
    if url.path.is_empty() {
        url.path = b"/".to_vec();
    }
    let table: &[u8] = if plan.base == Base::Browser {
        b"\"#<>'"
    } else {
        b"\"#<>"
    };
    url.query = url.query.map(|query| escapes(&query, table));
    let is_route = |fragment: &Bytes| matches!(fragment.first(), Some(b'!' | b'/'));
    url.fragment = match plan.fragment {
        Fragment::KeepRoutes => url
            .fragment
            .filter(is_route)
            .map(|route| escapes(&route, b"\"<>`")),
        Fragment::Drop => None,
    };
    (join(&url), Kind::Http)
}

/// The scheme in lower case, and what follows its colon.
fn scheme(text: &[u8]) -> Option<(String, Bytes)> {
    let (scheme, rest) = split(text, b':');
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    if !scheme.first()?.is_ascii_alphabetic() || !scheme.iter().all(is_scheme) {
        return None;
    }
    Some((String::from_utf8(scheme.to_ascii_lowercase()).ok()?, rest?))
}

/// Takes an http URL apart, without a change to its pieces.
pub(crate) fn parse(base: Base, text: &[u8]) -> Option<Url> {
    let (scheme, rest) = scheme(text)?;
    let (rest, fragment) = split(&rest, b'#');
    let (rest, query) = split(&rest, b'?');
    let is_slash = |byte: &u8| *byte == b'/' || (*byte == b'\\' && base == Base::Browser);
    let n_slashes = rest.iter().take_while(|byte| is_slash(byte)).count();
    let start = match base {
        Base::Browser => n_slashes,
        _ if n_slashes >= 2 => 2,
        _ => return None,
    };
    let rest = &rest[start..];
    let end = rest.iter().position(is_slash).unwrap_or(rest.len());
    let (mut authority, path) = (rest[..end].to_vec(), rest[end..].to_vec());
    let mut userinfo = None;
    if let Some(at) = authority.iter().rposition(|byte| *byte == b'@') {
        userinfo = Some(authority[..at].to_vec());
        authority.drain(..=at);
    }
    let bracket = match authority.first() {
        Some(b'[') => authority.iter().position(|byte| *byte == b']').unwrap_or(0),
        _ => 0,
    };
    let colon = authority[bracket..]
        .iter()
        .position(|byte| *byte == b':')
        .map(|at| at + bracket);
    let port = colon.map(|at| authority[at + 1..].to_vec());
    let host = authority[..colon.unwrap_or(authority.len())].to_vec();
    Some(Url {
        scheme,
        userinfo,
        host,
        port,
        path,
        query,
        fragment,
    })
}

fn normalize_authority(base: Base, mut url: Url) -> Option<Url> {
    url.userinfo = url.userinfo.filter(|userinfo| !userinfo.is_empty());
    if base == Base::Browser
        && let Some(userinfo) = &mut url.userinfo
        && userinfo.iter().position(|byte| *byte == b':') == Some(userinfo.len() - 1)
    {
        userinfo.pop();
        url.userinfo = url.userinfo.filter(|userinfo| !userinfo.is_empty());
    }
    url.host = host(base, &url.host)?;
    if let Some(mut port) = url.port.take() {
        if !port.iter().all(u8::is_ascii_digit) {
            return None;
        }
        if base == Base::Browser {
            while port.len() > 1 && port[0] == b'0' {
                port.remove(0);
            }
            if !port.is_empty() {
                number(&port)?;
            }
        }
        let default: &[u8] = if url.scheme == "https" { b"443" } else { b"80" };
        url.port = Some(port).filter(|port| !port.is_empty() && port != default);
    }
    Some(url)
}

fn number(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn host(base: Base, host: &[u8]) -> Option<Bytes> {
    if host.first() == Some(&b'[') {
        let text = std::str::from_utf8(host).ok()?;
        if base == Base::Browser {
            return Some(url::Host::parse(text).ok()?.to_string().into_bytes());
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let is_future = || {
            let (version, address) = inner.get(1..)?.split_once('.')?;
            let is_address =
                |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(&byte);
            (inner.starts_with(['v', 'V'])
                && !version.is_empty()
                && version.bytes().all(|byte| byte.is_ascii_hexdigit())
                && !address.is_empty()
                && address.bytes().all(is_address))
            .then_some(())
        };
        if inner.parse::<std::net::Ipv6Addr>().is_err() && is_future().is_none() {
            return None;
        }
        return Some(host.to_ascii_lowercase());
    }
    let mut name = decode(host);
    if name.is_ascii() {
        name.make_ascii_lowercase();
    } else {
        let ascii = idna::domain_to_ascii_cow(&name, idna::AsciiDenyList::URL).ok()?;
        name = ascii.as_bytes().to_vec();
    }
    let is_reg_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte);
    if name.is_empty() || !name.iter().all(is_reg_name) {
        return None;
    }
    if base == Base::Browser {
        let text = String::from_utf8(name).ok()?;
        // The library fails on labels that only look encoded; they are no numbers.
        return match url::Host::parse(&text.replace("xn--", "xx")) {
            Ok(url::Host::Ipv4(address)) => Some(address.to_string().into_bytes()),
            Ok(_) => Some(text.into_bytes()),
            Err(_) => None,
        };
    }
    Some(name)
}

/// Puts a URL together.
pub(crate) fn join(url: &Url) -> Bytes {
    let mut text = format!("{}://", url.scheme).into_bytes();
    if let Some(userinfo) = url
        .userinfo
        .as_ref()
        .filter(|userinfo| !userinfo.is_empty())
    {
        text.extend([userinfo.as_slice(), b"@"].concat());
    }
    text.extend(&url.host);
    for (mark, piece) in [(b":", &url.port), (b"?", &None)] {
        if let Some(piece) = piece {
            text.extend([mark.as_slice(), piece].concat());
        }
    }
    text.extend(&url.path);
    for (mark, piece) in [(b"?", &url.query), (b"#", &url.fragment)] {
        if let Some(piece) = piece {
            text.extend([mark.as_slice(), piece].concat());
        }
    }
    text
}

fn other_scheme(scheme: &str, text: &[u8]) -> Bytes {
    let (text, _) = split(text, b'#');
    let rest = &text[scheme.len() + 1..];
    let (rest, query) = split(rest, b'?');
    let mut out = format!("{scheme}:").into_bytes();
    let mut path = rest;
    if path.starts_with(b"//") {
        let end = path[2..]
            .iter()
            .position(|byte| *byte == b'/')
            .map_or(path.len(), |at| at + 2);
        let authority = path[2..end].to_vec();
        path.drain(..end);
        let at = authority
            .iter()
            .rposition(|byte| *byte == b'@')
            .map_or(0, |at| at + 1);
        out.extend(b"//");
        out.extend(&authority[..at]);
        out.extend(lower(&escapes(&authority[at..], b"\"#<>?^`{}")));
    }
    out.extend(escapes(&path, b"\"#<>?^`{}"));
    if let Some(query) = query {
        out.push(b'?');
        out.extend(escapes(&query, b"\"#<>"));
    }
    out
}

/// A byte as it stands, or as an escape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Byte(u8),
    Escape(u8),
}

/// Reads a component from the left; a `%` without two digits is a byte.
pub(crate) fn tokens(text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = rest
            .get(1..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let escape = digits
            .filter(|digits| first == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escape {
            Some(byte) => {
                tokens.push(Token::Escape(byte));
                rest = &rest[3..];
            }
            None => {
                tokens.push(Token::Byte(first));
                rest = after;
            }
        }
    }
    tokens
}

/// Writes tokens, escapes in upper case.
pub(crate) fn text(tokens: &[Token]) -> Bytes {
    let write = |token: &Token| match token {
        Token::Byte(byte) => vec![*byte],
        Token::Escape(byte) => format!("%{byte:02X}").into_bytes(),
    };
    tokens.iter().flat_map(write).collect()
}

pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Steps 8 and 10.
fn escapes(component: &[u8], table: &[u8]) -> Bytes {
    let mut out: Vec<Token> = Vec::new();
    for token in tokens(component) {
        let is_stray = match *out.as_slice() {
            [.., Token::Byte(b'%')] => true,
            [.., Token::Byte(b'%'), Token::Byte(digit)] => digit.is_ascii_hexdigit(),
            _ => false,
        };
        out.push(match token {
            Token::Escape(byte)
                if is_unreserved(byte) && !(is_stray && byte.is_ascii_hexdigit()) =>
            {
                Token::Byte(byte)
            }
            Token::Byte(byte) if byte <= 0x20 || byte >= 0x7F || table.contains(&byte) => {
                Token::Escape(byte)
            }
            token => token,
        });
    }
    text(&out)
}

/// RFC 3986 §5.2.4, letter by letter.
fn without_dots(path: &[u8]) -> Bytes {
    let mut input = path.to_vec();
    let mut output = Vec::new();
    while !input.is_empty() {
        if input.starts_with(b"/./") {
            input.drain(..2);
        } else if input == b"/." {
            input = b"/".to_vec();
        } else if input.starts_with(b"/../") || input == b"/.." {
            input = [b"/", input.get(4..).unwrap_or_default()].concat();
            let last = output.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            output.truncate(last);
        } else {
            let end = input[1..]
                .iter()
                .position(|byte| *byte == b'/')
                .map_or(input.len(), |at| at + 1);
            output.extend(input.drain(..end));
        }
    }
    output
}

/// Letters in lower case, escapes as they are.
pub(crate) fn lower(component: &[u8]) -> Bytes {
    let lower = |token| match token {
        Token::Byte(byte) => Token::Byte(byte.to_ascii_lowercase()),
        escape => escape,
    };
    text(&tokens(component).into_iter().map(lower).collect::<Vec<_>>())
}

/// Every escape decoded once.
pub(crate) fn decode(component: &[u8]) -> Bytes {
    let decode = |token| match token {
        Token::Byte(byte) | Token::Escape(byte) => byte,
    };
    tokens(component).into_iter().map(decode).collect()
}

/// In front of the first `mark`, and behind it.
pub(crate) fn split(text: &[u8], mark: u8) -> (Bytes, Option<Bytes>) {
    match text.iter().position(|byte| *byte == mark) {
        Some(at) => (text[..at].to_vec(), Some(text[at + 1..].to_vec())),
        None => (text.to_vec(), None),
    }
}
