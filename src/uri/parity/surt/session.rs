//! `URLRegexTransformer`: the session ids that `surt` cuts out. Each pattern takes the rightmost match,
//! since each starts with a greedy `.*`.

/// `_RES_PATH_SESSIONID`: `/(a(24 characters))/page.aspx` and `/(24 characters)/page.aspx`.
pub(super) fn strip_from_path(path: &mut Vec<u8>) {
    for segment_len in [named_segment_len, bare_segment_len] {
        if let Some((start, end)) = find_in_path(path, segment_len) {
            path.drain(start..end);
        }
    }
}

/// The rightmost segment that `[^?]+\.aspx` follows.
///
/// From right to left, so that the nearest `.aspx` and `?` are known at each slash.
fn find_in_path(path: &[u8], segment_len: fn(&[u8]) -> Option<usize>) -> Option<(usize, usize)> {
    let (mut nearest, mut second) = (usize::MAX, usize::MAX);
    let mut question = usize::MAX;
    for at in (0..path.len()).rev() {
        match path[at] {
            b'?' => question = at,
            b'.' if starts_with(&path[at..], b".aspx") => (nearest, second) = (at, nearest),
            b'/' => {
                let start = at + 1;
                let Some(len) = segment_len(&path[start..]) else {
                    continue;
                };
                let end = start + len;
                let aspx = if nearest > end { nearest } else { second };
                if aspx != usize::MAX && aspx < question {
                    return Some((start, end));
                }
            }
            _ => {}
        }
    }
    None
}

/// `\((?:[a-z]\([0-9a-z]{24}\))+\)/`
fn named_segment_len(text: &[u8]) -> Option<usize> {
    let mut len = usize::from(text.first() == Some(&b'('));
    let is_one = |text: &[u8]| {
        text.len() >= 27
            && text[0].is_ascii_alphabetic()
            && text[1] == b'('
            && text[2..26].iter().all(u8::is_ascii_alphanumeric)
            && text[26] == b')'
    };
    while len > 0 && is_one(&text[len..]) {
        len += 27;
    }
    (len > 1 && text[len..].starts_with(b")/")).then_some(len + 2)
}

/// `\([0-9a-z]{24}\)/`
fn bare_segment_len(text: &[u8]) -> Option<usize> {
    (text.len() >= 27
        && text[0] == b'('
        && text[1..25].iter().all(u8::is_ascii_alphanumeric)
        && &text[25..27] == b")/")
        .then_some(27)
}

/// `_RES_QUERY_SESSIONID`, one after the other.
pub(super) fn strip_from_query(query: &mut Vec<u8>) {
    for name in [&b"jsessionid="[..], b"phpsessid=", b"sid="] {
        strip_rightmost(query, |text| token_len(text, name));
    }
    strip_rightmost(query, asp_len);
    strip_coldfusion(query);
}

/// Cuts out the rightmost token that ends the query or stands before a `&`, which goes too.
fn strip_rightmost(query: &mut Vec<u8>, len_of: impl Fn(&[u8]) -> Option<usize>) {
    for at in (0..query.len()).rev() {
        let Some(len) = len_of(&query[at..]) else {
            continue;
        };
        match query.get(at + len) {
            None => query.truncate(at),
            Some(b'&') => drop(query.drain(at..=at + len)),
            Some(_) => continue,
        }
        return;
    }
}

/// A name and 32 letters or digits.
fn token_len(text: &[u8], name: &[u8]) -> Option<usize> {
    let len = name.len() + 32;
    (starts_with(text, name)
        && text.len() >= len
        && text[name.len()..len].iter().all(u8::is_ascii_alphanumeric))
    .then_some(len)
}

/// `ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24}`
fn asp_len(text: &[u8]) -> Option<usize> {
    (starts_with(text, b"aspsessionid")
        && text.len() >= 45
        && text[12..20].iter().all(u8::is_ascii_alphabetic)
        && text[20] == b'='
        && text[21..45].iter().all(u8::is_ascii_alphabetic))
    .then_some(45)
}

/// `cfid=[^&]+&cftoken=[^&]+`
fn strip_coldfusion(query: &mut Vec<u8>) {
    let mut ampersand = None;
    for at in (0..query.len()).rev() {
        if query[at] == b'&' {
            ampersand = Some(at);
            continue;
        }
        let Some(end) = ampersand.filter(|&end| end > at + 5) else {
            continue;
        };
        if !starts_with(&query[at..], b"cfid=") || !starts_with(&query[end..], b"&cftoken=") {
            continue;
        }
        let value = end + 9;
        let value_len = query[value..].iter().take_while(|&&b| b != b'&').count();
        if value_len == 0 {
            continue;
        }
        match value + value_len {
            end if end < query.len() => drop(query.drain(at..=end)),
            _ => query.truncate(at),
        }
        return;
    }
}

fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_the_rightmost_session_out_of_a_path() {
        let token = "0123456789abcdef01234567";
        for (path, expected) in [
            (format!("/(s({token}))/p.aspx"), "/p.aspx"),
            (format!("/a/({token})/p.aspx/x"), "/a/p.aspx/x"),
            (format!("/({token})/.aspx.aspx"), "/.aspx.aspx"),
            (format!("/({token})/p.html"), &format!("/({token})/p.html")),
            (
                format!("/({token})/?p.aspx"),
                &format!("/({token})/?p.aspx"),
            ),
            (format!("/({token})/.aspx"), &format!("/({token})/.aspx")),
        ] {
            let mut text = path.clone().into_bytes();
            strip_from_path(&mut text);
            assert_eq!(text, expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn cuts_sessions_out_of_a_query() {
        let token = "0123456789abcdef0123456789abcdef";
        for (query, expected) in [
            (format!("sid={token}&x=1"), "x=1"),
            (format!("mysid={token}"), "my"),
            (format!("x=1&PHPSESSID={token}"), "x=1&"),
            (format!("sid={token}f"), &format!("sid={token}f")),
            ("cfid=1&cftoken=2&x".into(), "x"),
            ("a&cfid=1&cftoken=2".into(), "a&"),
            ("cfid=&cftoken=2".into(), "cfid=&cftoken=2"),
            ("aspsessionidabcdefgh=abcdefghabcdefghabcdefgh".into(), ""),
        ] {
            let mut text = query.clone().into_bytes();
            strip_from_query(&mut text);
            assert_eq!(text, expected.as_bytes(), "{query}");
        }
    }
}
