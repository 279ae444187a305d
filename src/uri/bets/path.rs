//! Bets on the path. Each writes what the path becomes; `out` comes empty.

use crate::policy::Rule;
use crate::uri::bets::Choice;
use crate::uri::bets::names::Comparison;
use crate::uri::table::{HEXDIG, is};

/// Names of index files in front of the dot, without case.
const INDEX_STEMS: [&[u8]; 3] = [b"index", b"default", b"home"];
/// And behind it.
const INDEX_SUFFIXES: [&[u8]; 8] = [
    b"html", b"htm", b"shtml", b"php", b"asp", b"aspx", b"jsp", b"cfm",
];
/// What `extension=drop` drops, exact case.
const EXTENSIONS: [&[u8]; 6] = [b".html", b".htm", b".php", b".asp", b".aspx", b".jsp"];
/// A session in a path parameter, without case.
const JSESSIONID: &[u8] = b";jsessionid=";

/// `path-session=drop`: `/a;jsessionid=1?q` is `/a?q`, `/(S(x))/a` is `/a`. A segment that is left
/// empty goes with the slash behind it: `/;jsessionid=1/a` is `/a`. Merges wrongly: product ids of the
/// same shape. Not merged: `/a;jsession=1`, `/(S(x))b` and `/b`.
pub(super) fn drop_sessions(path: &[u8], out: &mut Vec<u8>) {
    for segment in path[1..].split_inclusive(|byte| *byte == b'/') {
        let (name, slash) = match segment.split_last() {
            Some((b'/', name)) => (name, &b"/"[..]),
            _ => (segment, &b""[..]),
        };
        if out.is_empty() {
            out.push(b'/');
        }
        let start = out.len();
        for (index, part) in name.split(|byte| *byte == b';').enumerate() {
            let is_session = part.len() >= JSESSIONID.len() - 1
                && part[..JSESSIONID.len() - 1].eq_ignore_ascii_case(&JSESSIONID[1..]);
            if index == 0 {
                out.extend_from_slice(part);
            } else if !is_session {
                out.push(b';');
                out.extend_from_slice(part);
            }
        }
        let is_emptied = out.len() == start && !name.is_empty();
        if is_emptied || is_session_segment(&out[start..]) {
            out.truncate(start);
        } else {
            out.extend_from_slice(slash);
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
}

/// Whether a segment is `(S(…))`, without case.
fn is_session_segment(segment: &[u8]) -> bool {
    matches!(segment, [b'(', b's' | b'S', b'(', .., b')', b')'])
}

/// `slash-collapse=on`: `/a//b` is `/a/b` (RFC 3986 §3.3 lets a segment be empty). Merges wrongly:
/// `/proxy/http://b/` and `/proxy/http:/b/`. Not merged: `/?a//b` and `/?a/b`.
pub(super) fn collapse_slashes(path: &[u8], out: &mut Vec<u8>) {
    for &byte in path {
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
}

/// `index-file=default`: `/a/index.html` is `/a/`, without case (RFC 3986 §6.2.4: what a server tells).
/// Merges wrongly: `/` and `/index.html` of a site whose `/` is another page. Not merged:
/// `/a/index.xml` and `/a/`, `/a/index.html/` and `/a/`.
pub(super) fn drop_default_index(path: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) -> Between {
    drop_index(path, choice, is_default_index, out)
}

/// `index-file=list`: as the policy names them, byte by byte after decoding. With `main.html`,
/// `/a/main.html` is `/a/`. Merges wrongly: as `default` does. Not merged: `/a/Main.html` and `/a/`.
///
/// Case counts only where it still does behind `path-case`, and a name may come without an extension
/// that is dropped, and then without zeros; otherwise this bet would split what those have merged.
pub(super) fn drop_listed_index(path: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) -> Between {
    let is_index = |segment: &[u8]| is_listed_index(segment, choice);
    drop_index(path, choice, is_index, out)
}

/// What stood between two index files that were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// There were not two.
    Nothing,
    /// Slashes, which `trailing-slash=drop` takes away.
    Slashes,
}

/// Drops index files from the end; where slashes go from there too, `/index.html/index.html/` takes one pass.
fn drop_index(
    path: &[u8],
    choice: &Choice<'_>,
    is_index: impl Fn(&[u8]) -> bool,
    out: &mut Vec<u8>,
) -> Between {
    let directory = |path: &[u8]| {
        let len = last_slash(path) + 1;
        (len < path.len() && is_index(&path[len..])).then_some(len)
    };
    let mut rest = path;
    let mut between = Between::Nothing;
    if let Some(len) = directory(rest) {
        rest = &rest[..len];
        while choice.rules.contains(Rule::TrailingSlashDrop)
            && let Some(len) = directory(without_slashes(rest))
        {
            rest = &rest[..len];
            between = Between::Slashes;
        }
    }
    out.extend_from_slice(rest);
    between
}

/// Whether a segment is `index.html` or one of its like.
fn is_default_index(segment: &[u8]) -> bool {
    let Some(dot) = memchr::memchr(b'.', segment) else {
        return false;
    };
    let is_one =
        |names: &[&[u8]], part: &[u8]| names.iter().any(|name| name.eq_ignore_ascii_case(part));
    is_one(&INDEX_STEMS, &segment[..dot]) && is_one(&INDEX_SUFFIXES, &segment[dot + 1..])
}

fn is_listed_index(segment: &[u8], choice: &Choice<'_>) -> bool {
    let names = &choice.lists.index_files;
    let comparison = Comparison::of_files(choice.rules);
    if comparison.is_listed(names, segment) {
        return true;
    }
    if !choice.rules.contains(Rule::ExtensionDrop) {
        return false;
    }
    let drops_zeros = choice.rules.contains(Rule::LeadingZerosDrop);
    names.exact().iter().any(|name| {
        let Some(len) = extension_len(name).filter(|_| !is_default_index(name)) else {
            return false;
        };
        let stem = &name[..name.len() - len];
        comparison.is_same(stem, segment)
            || (drops_zeros && comparison.is_same(without_zeros(stem), without_zeros(segment)))
    })
}

/// `trailing-slash=drop`: `/a/` is `/a` (RFC 3986 §6.2.4: what a redirect tells). Merges wrongly:
/// `/2024/05/` and `/2024/05`, a monthly archive and a daily index. Not merged: `/?a/` and `/?a`.
pub(super) fn drop_trailing_slash(path: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(without_slashes(path));
}

fn without_slashes(path: &[u8]) -> &[u8] {
    let last = path.iter().rposition(|byte| *byte != b'/').unwrap_or(0);
    &path[..=last]
}

/// `trailing-slash=add`: `/a` is `/a/`, only where the last segment has no dot. Merges wrongly: as
/// `drop` does. Not merged: `/a.b` and `/a.b/`.
pub(super) fn add_trailing_slash(path: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(path);
    let last = &path[last_slash(path) + 1..];
    if !last.is_empty() && !last.contains(&b'.') {
        out.push(b'/');
    }
}

/// `path-case=lower`, and `query-case=lower`: `/A` is `/a`; escapes keep their digits. Merges wrongly:
/// image and video ids, whole sites. Not merged: `/%C3%84` and `/%C3%A4`.
pub(super) fn lower(component: &[u8], out: &mut Vec<u8>) {
    let mut index = 0;
    while index < component.len() {
        let rest = &component[index..];
        if let [b'%', high, low, ..] = *rest
            && is(high, HEXDIG)
            && is(low, HEXDIG)
        {
            out.extend_from_slice(&rest[..3]);
            index += 3;
        } else {
            out.push(rest[0].to_ascii_lowercase());
            index += 1;
        }
    }
}

/// `leading-zeros=drop` in the path: a segment `007` is `7`. Merges wrongly: `/film/007` and `/film/7`.
/// Not merged: `/07a` and `/7a`, `/0` and `/`.
pub(super) fn drop_zeros(path: &[u8], out: &mut Vec<u8>) {
    for segment in path[1..].split(|byte| *byte == b'/') {
        out.push(b'/');
        out.extend_from_slice(without_zeros(segment));
    }
}

/// A number without the zeros in front of it; anything else as it is.
pub(super) fn without_zeros(digits: &[u8]) -> &[u8] {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return digits;
    }
    let significant = digits.iter().position(|digit| *digit != b'0');
    &digits[significant.unwrap_or(digits.len() - 1)..]
}

/// `extension=drop`: `/a.html` is `/a`, never of an index file, nor the whole of a segment. Merges
/// wrongly: a page and its directory. Not merged: `/a.HTML`, `/.html` and `/`, `/index.html` and `/index`.
pub(super) fn drop_extension(path: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) {
    let start = last_slash(path) + 1;
    let mut segment = &path[start..];
    while let Some(len) = extension_len(segment)
        && !is_default_index(segment)
        && !(choice.rules.contains(Rule::IndexFileList) && is_listed_index(segment, choice))
    {
        segment = &segment[..segment.len() - len];
    }
    out.extend_from_slice(&path[..start]);
    out.extend_from_slice(segment);
}

/// How long the extension of a segment is; what is left in front of it is never a dot-segment.
fn extension_len(segment: &[u8]) -> Option<usize> {
    let own = EXTENSIONS.iter().find(|own| segment.ends_with(own))?;
    let stem = &segment[..segment.len() - own.len()];
    (!matches!(stem, b"" | b"." | b"..")).then_some(own.len())
}

/// Where the last slash is; a path starts with one.
fn last_slash(path: &[u8]) -> usize {
    memchr::memrchr(b'/', path).unwrap_or(0)
}
