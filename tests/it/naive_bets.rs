//! The bets of the slow twin, each on lists of segments and parameters.

use std::collections::HashSet;

use crawl_dedupe::policy::Rule;
use crawl_dedupe::policy::plan::{Base, Bets};
use unicode_normalization::UnicodeNormalization;

use crate::naive::{Bytes, Token, Url, decode, is_unreserved, lower, split, text, tokens};

/// Runs one bet, unless it would touch the query of a signed URL, or sign one.
pub(crate) fn run(rule: Rule, bets: &Bets, base: Base, url: &mut Url) {
    let before = url.clone();
    let was_signed = is_signed(url.query.as_deref());
    if rule == Rule::EscapesDecodeRepeated {
        decode_repeated(base, url);
        if was_signed || is_signed(url.query.as_deref()) {
            *url = before;
        }
        return;
    }
    authority(rule, bets, url);
    url.path = path(rule, bets, &url.path);
    if let Some(old) = &before.query {
        url.query = query(rule, bets, base, old);
        if was_signed || is_signed(url.query.as_deref()) {
            url.query = before.query;
        }
    }
}

const SIGNATURES: &[&str] = &[
    "signature",
    "sig",
    "hmac",
    "x-amz-signature",
    "x-goog-signature",
    "x-oss-signature",
    "key-pair-id",
];
const SESSIONS: &[&str] = &[
    "jsessionid",
    "phpsessid",
    "asp.net_sessionid",
    "cfid",
    "cftoken",
    "sid",
    "sessid",
    "session_id",
    "sessionid",
    "oscsid",
    "zenid",
];
const TRACKING: &[&str] = &[
    "gclid",
    "dclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "mc_cid",
    "mc_eid",
    "igshid",
    "ttclid",
    "twclid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
    "wickedid",
    "s_cid",
];
const LANGUAGES: &[&str] = &["lang", "language", "locale", "hl"];
const EXTENSIONS: &[&str] = &[".html", ".htm", ".php", ".asp", ".aspx", ".jsp"];

fn name(param: &[u8]) -> Bytes {
    decode(&split(param, b'=').0)
}

fn is_one_of(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|own| own.as_bytes() == name)
}

fn is_signed(query: Option<&[u8]>) -> bool {
    query.is_some_and(|query| {
        params(query)
            .iter()
            .any(|it| is_one_of(SIGNATURES, &name(it).to_ascii_lowercase()))
    })
}

fn params(query: &[u8]) -> Vec<Bytes> {
    query
        .split(|byte| *byte == b'&')
        .map(<[u8]>::to_vec)
        .collect()
}

fn segments(path: &[u8]) -> Vec<Bytes> {
    path[1..]
        .split(|byte| *byte == b'/')
        .map(<[u8]>::to_vec)
        .collect()
}

fn authority(rule: Rule, bets: &Bets, url: &mut Url) {
    match rule {
        Rule::SchemeMerge if url.port.is_none() => url.scheme = "http".into(),
        Rule::UserinfoDrop => url.userinfo = None,
        Rule::HostTrailingDotDrop => {
            let mut host = url.host.clone();
            while host.len() > 1 && host.ends_with(b".") {
                host.pop();
            }
            let last = host
                .rsplit(|byte| *byte == b'.')
                .next()
                .unwrap_or_default()
                .to_vec();
            let is_number = last.iter().all(u8::is_ascii_digit)
                || last
                    .strip_prefix(b"0x")
                    .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            let is_address = || {
                let address = String::from_utf8(host.clone())
                    .ok()
                    .and_then(|it| it.parse().ok());
                address.is_some_and(|it: std::net::Ipv4Addr| it.to_string().as_bytes() == host)
            };
            if !host.ends_with(b".") && (!is_number || is_address()) {
                url.host = host;
            }
        }
        Rule::WwwWww | Rule::WwwNumbered | Rule::WwwMobile => {
            while let Some(rest) = without_www(bets, &url.host) {
                url.host = rest;
            }
        }
        _ => {}
    }
}

fn without_www(bets: &Bets, host: &[u8]) -> Option<Bytes> {
    let (label, rest) = split(host, b'.');
    let (label, rest) = (String::from_utf8(label).ok()?, rest?);
    let is_dropped = match label.strip_prefix("www") {
        Some("") => bets.rules.contains(Rule::WwwWww),
        Some(digits) => {
            digits.bytes().all(|it| it.is_ascii_digit()) && bets.rules.contains(Rule::WwwNumbered)
        }
        None => ["m", "mobile"].contains(&label.as_str()) && bets.rules.contains(Rule::WwwMobile),
    };
    let stem = rest.strip_suffix(b".").unwrap_or(&rest);
    let last = stem.rsplit(|byte| *byte == b'.').next()?;
    let is_number = !last.is_empty()
        && (last.iter().all(u8::is_ascii_digit)
            || last
                .strip_prefix(b"0x")
                .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)));
    let domain = psl::domain(&rest)?;
    (is_dropped && !is_number && domain.as_bytes()[0] != b'.').then_some(rest)
}

/// The path without the index file at its end; without those in front of it too, where the slash between goes as well.
fn without_index_files(path: &[u8], bets: &Bets, is_index: impl Fn(&[u8]) -> bool) -> Bytes {
    let without_one = |path: &[u8]| {
        let last = segments(path).pop().unwrap_or_default();
        is_index(&last).then(|| path[..path.len() - last.len()].to_vec())
    };
    let mut rest = path.to_vec();
    while let Some(shorter) = without_one(&rest) {
        rest = shorter;
        if bets.rules.contains(Rule::TrailingSlashDrop) {
            let slashless = rest
                .iter()
                .rposition(|it| *it != b'/')
                .map_or(1, |at| at + 1);
            if without_one(&rest[..slashless]).is_some() {
                rest.truncate(slashless);
            }
        }
    }
    rest
}

fn path(rule: Rule, bets: &Bets, path: &[u8]) -> Bytes {
    let mut parts = segments(path);
    let last = parts.last().cloned().unwrap_or_default();
    let rebuild = |parts: &[Bytes]| [b"/", parts.join(&b'/').as_slice()].concat();
    match rule {
        Rule::UnicodeNfc => compose(path, |it| it.nfc().collect()),
        Rule::PathSessionDrop => without_sessions(&parts),
        Rule::SlashCollapse => {
            let n_last = parts.len() - 1;
            let mut index = 0;
            parts.retain(|it| {
                index += 1;
                !it.is_empty() || index - 1 == n_last
            });
            rebuild(&parts)
        }
        Rule::IndexFileDefault => without_index_files(path, bets, is_default_index),
        Rule::IndexFileList => without_index_files(path, bets, |it| is_listed_index(it, bets)),
        Rule::TrailingSlashDrop => {
            let mut path = path.to_vec();
            while path.len() > 1 && path.ends_with(b"/") {
                path.pop();
            }
            path
        }
        Rule::TrailingSlashAdd if !last.is_empty() && !last.contains(&b'.') => {
            [path, b"/"].concat()
        }
        Rule::PathCaseLower => lower_text(path, bets),
        Rule::LeadingZerosDrop => {
            rebuild(&parts.iter().map(|it| without_zeros(it)).collect::<Vec<_>>())
        }
        Rule::EscapesEncodeGrey => encode_grey(path),
        Rule::EscapesDecodeSubDelims => decode_these(path, b"!$&'()*+,;="),
        Rule::EscapesDecodeReserved => decode_these(path, b"!$&'()*+,;=:/[]@"),
        Rule::ExtensionDrop => {
            let is_index = |it: &[u8]| {
                is_default_index(it)
                    || (bets.rules.contains(Rule::IndexFileList) && is_listed_index(it, bets))
            };
            let mut last = last.clone();
            while let Some(stem) = without_extension(&last).filter(|_| !is_index(&last)) {
                last = stem;
            }
            if let Some(it) = parts.last_mut() {
                *it = last;
            }
            rebuild(&parts)
        }
        _ => path.to_vec(),
    }
}

fn without_sessions(parts: &[Bytes]) -> Bytes {
    let mut path = b"/".to_vec();
    for (index, part) in parts.iter().enumerate() {
        let mut pieces = part.split(|byte| *byte == b';');
        let mut kept = vec![pieces.next().unwrap_or_default()];
        kept.extend(pieces.filter(|piece| !piece.to_ascii_lowercase().starts_with(b"jsessionid=")));
        let kept = kept.join(&b';');
        let lower = kept.to_ascii_lowercase();
        let is_session = lower.len() >= 5 && lower.starts_with(b"(s(") && lower.ends_with(b"))");
        // Nothing is left of what was a segment: it goes with its slash.
        if is_session || (kept.is_empty() && !part.is_empty()) {
            continue;
        }
        path.extend(kept);
        if index + 1 < parts.len() {
            path.push(b'/');
        }
    }
    path
}

fn is_default_index(segment: &[u8]) -> bool {
    let lower = String::from_utf8(segment.to_ascii_lowercase()).unwrap_or_default();
    let (stem, suffix) = lower.split_once('.').unwrap_or_default();
    ["index", "default", "home"].contains(&stem)
        && ["html", "htm", "shtml", "php", "asp", "aspx", "jsp", "cfm"].contains(&suffix)
}

fn is_listed_index(segment: &[u8], bets: &Bets) -> bool {
    let fold = |it: &[u8]| fold(it, Rule::PathCaseLower, bets);
    let zeros = |it: &[u8]| match bets.rules.contains(Rule::LeadingZerosDrop) {
        true => without_zeros(it),
        false => it.to_vec(),
    };
    let segment = decode(segment);
    bets.index_files.iter().any(|own| {
        let stem = without_extension(&own)
            .filter(|_| bets.rules.contains(Rule::ExtensionDrop) && !is_default_index(&own));
        fold(&own) == fold(&segment)
            || stem.is_some_and(|stem| fold(&zeros(&stem)) == fold(&zeros(&segment)))
    })
}

/// A decoded name as `case` will leave it.
fn fold(name: &[u8], case: Rule, bets: &Bets) -> Bytes {
    match bets.rules.contains(case) {
        true => {
            let token = |&byte: &u8| match is_unreserved(byte) {
                true => Token::Byte(byte),
                false => Token::Escape(byte),
            };
            let component = text(&name.iter().map(token).collect::<Vec<_>>());
            decode(&lower_text(&component, bets)).to_ascii_lowercase()
        }
        false => name.to_vec(),
    }
}

fn without_extension(segment: &[u8]) -> Option<Bytes> {
    let extension = EXTENSIONS
        .iter()
        .find(|own| segment.ends_with(own.as_bytes()))?;
    let stem = &segment[..segment.len() - extension.len()];
    (stem != b"" && stem != b"." && stem != b"..").then(|| stem.to_vec())
}

#[expect(clippy::too_many_lines, reason = "a twin reads best as one table")]
fn query(rule: Rule, bets: &Bets, base: Base, query: &[u8]) -> Option<Bytes> {
    let mut parts = params(query);
    let fold = |it: Bytes| fold(&it, Rule::QueryCaseLower, bets);
    let listed = |names: &crawl_dedupe::policy::plan::Names, it: &[u8]| {
        let raw = split(it, b'=').0;
        let found = match bets.rules.contains(Rule::QueryPlusSpace) {
            true => raw
                .split(|it| *it == b'+')
                .map(decode)
                .collect::<Vec<_>>()
                .join(&b' '),
            false => decode(&raw),
        };
        let found = fold(found);
        names.iter().any(|own| {
            let mut spellings = vec![own.clone()];
            if bets.rules.contains(Rule::QueryPlusSpace) {
                spellings.push(
                    own.iter()
                        .map(|it| if *it == b'+' { b' ' } else { *it })
                        .collect(),
                );
            }
            spellings
                .into_iter()
                .any(|own| match own.strip_suffix(b"*") {
                    Some(prefix) => found.starts_with(&fold(prefix.to_vec())),
                    None => found == fold(own),
                })
        })
    };
    let stays = |is_dropped: &dyn Fn(&[u8]) -> bool| {
        let kept: Vec<Bytes> = params(query)
            .into_iter()
            .filter(|it| !is_dropped(it))
            .collect();
        let is_none = kept.len() < params(query).len() && kept.iter().all(Vec::is_empty);
        (!is_none).then(|| kept.join(&b'&'))
    };
    match rule {
        Rule::UnicodeNfc => return Some(compose(query, |it| it.nfc().collect())),
        Rule::AmpEntityDecode => parts.iter_mut().for_each(|it| {
            while it.starts_with(b"amp;") && it.len() > 4 {
                it.drain(..4);
            }
        }),
        Rule::LeadingZerosDrop => parts
            .iter_mut()
            .filter(|it| !is_session(it))
            .for_each(|it| {
                if let (name, Some(value)) = split(it, b'=') {
                    *it = [name, without_zeros(&value)].join(&b'=');
                }
            }),
        Rule::QueryDropList => return stays(&|it| listed(&bets.query_drop, it)),
        Rule::QueryDropFile => return stays(&|it| listed(&bets.query_drop_file, it)),
        Rule::QueryDropTracking => {
            return stays(&|it| {
                fold(name(it)).starts_with(b"utm_") || is_one_of(TRACKING, &fold(name(it)))
            });
        }
        Rule::LanguageParamDrop => return stays(&|it| is_one_of(LANGUAGES, &fold(name(it)))),
        Rule::QuerySessionDrop => return stays(&|it| is_session(it)),
        Rule::QueryEmptyMark => return Some(query.to_vec()).filter(|it| !it.is_empty()),
        Rule::QueryEmptyParams => parts.retain(|it| !it.is_empty()),
        Rule::QueryEmptyValue => parts
            .iter_mut()
            .filter(|it| !it.is_empty() && !it.contains(&b'='))
            .for_each(|it| it.push(b'=')),
        Rule::QueryPlusSpace => {
            return Some(
                query
                    .split(|it| *it == b'+')
                    .collect::<Vec<_>>()
                    .join(&b"%20"[..]),
            );
        }
        Rule::QueryOrderSortStable => parts.sort_by_key(|it| name(it)),
        Rule::QueryOrderSortFull => parts.sort_by_key(|it| (name(it), it.clone())),
        Rule::QueryOrderDedupe => {
            let mut seen = HashSet::new();
            parts.retain(|it| seen.insert(it.clone()));
        }
        Rule::QueryCaseLower => return Some(lower_text(query, bets)),
        Rule::QueryAllDrop => return None,
        Rule::EscapesEncodeGrey => return Some(encode_grey(query)),
        Rule::EscapesDecodeSubDelims if base == Base::Browser => {
            return Some(decode_these(query, b"!$&()*+,;="));
        }
        Rule::EscapesDecodeSubDelims => return Some(decode_these(query, b"!$&'()*+,;=")),
        Rule::EscapesDecodeReserved if base == Base::Browser => {
            return Some(decode_these(query, b"!$&()*+,;=:/?[]@"));
        }
        Rule::EscapesDecodeReserved => return Some(decode_these(query, b"!$&'()*+,;=:/?[]@")),
        _ => return Some(query.to_vec()),
    }
    Some(parts.join(&b'&'))
}

fn is_session(param: &[u8]) -> bool {
    let name = name(param).to_ascii_lowercase();
    let is_token = |it: &u8| it.is_ascii_alphanumeric() || *it == b'-' || *it == b'_';
    let value = split(param, b'=').1;
    value.is_some_and(|it| it.len() >= 8 && it.iter().all(is_token))
        && (name.starts_with(b"aspsessionid") || is_one_of(SESSIONS, &name))
}

fn without_zeros(digits: &[u8]) -> Bytes {
    let mut digits = digits.to_vec();
    if digits.iter().all(u8::is_ascii_digit) {
        while digits.len() > 1 && digits[0] == b'0' {
            digits.remove(0);
        }
    }
    digits
}

fn encode_grey(component: &[u8]) -> Bytes {
    let encode = |token| match token {
        Token::Byte(byte @ (b'|' | b'[' | b']' | b'\\' | b'%')) => Token::Escape(byte),
        token => token,
    };
    text(
        &tokens(component)
            .into_iter()
            .map(encode)
            .collect::<Vec<_>>(),
    )
}

fn decode_these(component: &[u8], these: &[u8]) -> Bytes {
    let decode = |token| match token {
        Token::Escape(byte) if these.contains(&byte) => Token::Byte(byte),
        token => token,
    };
    text(
        &tokens(component)
            .into_iter()
            .map(decode)
            .collect::<Vec<_>>(),
    )
}

/// Decodes path and query until nothing changes, then parses them anew.
fn decode_repeated(base: Base, url: &mut Url) {
    let settle = |component: &[u8], table: &[u8]| {
        let mut now = component.to_vec();
        while decode(&now) != now {
            now = decode(&now);
        }
        let encode = |byte: u8| match byte {
            b'?' | b'#' => Token::Byte(byte),
            0..=0x20 | 0x7F.. => Token::Escape(byte),
            _ if table.contains(&byte) => Token::Escape(byte),
            _ => Token::Byte(byte),
        };
        text(&now.into_iter().map(encode).collect::<Vec<_>>())
    };
    let mut whole = settle(&url.path, b"\"<>^`{}");
    if let Some(query) = &url.query {
        let table: &[u8] = if base == Base::Browser {
            b"\"<>'"
        } else {
            b"\"<>"
        };
        whole = [whole, settle(query, table)].join(&b'?');
    }
    let (whole, _) = split(&whole, b'#');
    (url.path, url.query) = split(&whole, b'?');
}

fn lower_text(component: &[u8], bets: &Bets) -> Bytes {
    if bets.rules.contains(Rule::UnicodeNfc) {
        let fold = |it: &str| {
            it.nfd()
                .map(|it| it.to_ascii_lowercase())
                .collect::<String>()
                .nfc()
                .collect()
        };
        return lower(&compose(component, fold));
    }
    lower(component)
}

/// Composes runs of unreserved characters and escapes from `%80` on, where they are UTF-8.
fn compose(component: &[u8], change: impl Fn(&str) -> String) -> Bytes {
    let mut out = Vec::new();
    let mut run = Vec::new();
    let flush = |run: &mut Bytes, out: &mut Vec<Token>| {
        for chunk in run.utf8_chunks() {
            let changed = change(chunk.valid());
            for byte in changed.bytes().chain(chunk.invalid().iter().copied()) {
                out.push(if is_unreserved(byte) {
                    Token::Byte(byte)
                } else {
                    Token::Escape(byte)
                });
            }
        }
        run.clear();
    };
    for token in tokens(component) {
        match token {
            Token::Byte(byte) if is_unreserved(byte) => run.push(byte),
            Token::Escape(byte) if byte >= 0x80 => run.push(byte),
            token => {
                flush(&mut run, &mut out);
                out.push(token);
            }
        }
    }
    flush(&mut run, &mut out);
    text(&out)
}
