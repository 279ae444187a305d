//! Bets on the query. Each writes what the query becomes and says whether its `?` stays; `out` comes empty.
//!
//! To the grammar a query has no parts (RFC 3986 §3.4). Names, values, `&` and `+` are those of HTML forms
//! (WHATWG URL, "application/x-www-form-urlencoded"), which no server need keep to: hence they are bets.

use crate::policy::Rule;
use crate::policy::plan::Names;
use crate::uri::bets::Choice;
use crate::uri::bets::components::Mark;
use crate::uri::bets::names::Comparison;
use crate::uri::bets::path::without_zeros;
use crate::uri::percent::decoded;
use crate::uri::query::{LANGUAGE, TRACKING, is_named, is_session, name_value, params};

/// Writes the parameters that are kept; if one is dropped and only empty ones stay, the `?` goes too.
fn keep(query: &[u8], is_kept: impl Fn(&[u8]) -> bool, out: &mut Vec<u8>) -> Mark {
    let mut mark = Mark::Present;
    let mut has_text = false;
    let mut is_first = true;
    for param in params(query) {
        if !is_kept(param) {
            mark = Mark::Absent;
            continue;
        }
        if !is_first {
            out.push(b'&');
        }
        is_first = false;
        has_text |= !param.is_empty();
        out.extend_from_slice(param);
    }
    if has_text { Mark::Present } else { mark }
}

/// Writes what each parameter becomes.
fn map(query: &[u8], mut write: impl FnMut(&[u8], &mut Vec<u8>), out: &mut Vec<u8>) {
    for (index, param) in params(query).enumerate() {
        if index > 0 {
            out.push(b'&');
        }
        write(param, out);
    }
}

/// `amp-entity=decode`: `a=1&amp;b=2` is `a=1&b=2`, and a leading `amp;` is cut off any parameter
/// unless nothing would be left (HTML, character references: what is left of a link that was copied
/// from the source of a page). Merges wrongly: `?amp;b` and `?b` of a server that knows both. Not merged:
/// `?a&AMP;b`, `?amp;` and `?`.
pub(super) fn decode_amp(query: &[u8], out: &mut Vec<u8>) {
    let cut = |param: &[u8], out: &mut Vec<u8>| {
        let mut param = param;
        while let Some(rest) = param.strip_prefix(b"amp;")
            && !rest.is_empty()
        {
            param = rest;
        }
        out.extend_from_slice(param);
    };
    map(query, cut, out);
}

/// `leading-zeros=drop` in the query: `id=007` is `id=7`. Merges wrongly: `?id=7` and `?id=07`. A session
/// keeps its zeros, since what is left might no longer look like a token. Not merged: `?007` and `?7`,
/// `?a=-07` and `?a=-7`.
pub(super) fn drop_zeros(query: &[u8], out: &mut Vec<u8>) {
    let cut = |param: &[u8], out: &mut Vec<u8>| match name_value(param) {
        (name, Some(value)) if !is_session(param) => {
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(without_zeros(value));
        }
        _ => out.extend_from_slice(param),
    };
    map(query, cut, out);
}

/// `query-drop=list`, `query-drop-list=list`: the parameters of `names` go. Merges wrongly: where
/// `?source=a` and `?source=b` are two sources of data, not of visitors. Not merged: `?ref=1` and
/// `?Ref=1`, where `ref` is listed.
pub(super) fn drop_listed(
    query: &[u8],
    names: &Names,
    choice: &Choice<'_>,
    out: &mut Vec<u8>,
) -> Mark {
    let comparison = Comparison::of_parameters(choice.rules);
    keep(
        query,
        |param| !comparison.is_listed(names, name_value(param).0),
        out,
    )
}

/// `query-drop-list=tracking`: `?a&utm_source=x` is `?a`, and so is `?a&gclid=1`. Merges wrongly:
/// `?utm_id=1` and `?utm_id=2` of a site that counts its pages so. Not merged: `?utm=1` and `?`, `?UTM_x` and `?`.
pub(super) fn drop_tracking(query: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) -> Mark {
    drop_own(query, &TRACKING, choice, out)
}

/// `language-param=drop`: `?a&lang=de` is `?a`; so with `language`, `locale`, `hl`. Merges wrongly:
/// `?lang=de` and `?lang=fr`, two translations. Not merged: `?language_id=1` and `?`.
pub(super) fn drop_language(query: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) -> Mark {
    drop_own(query, &LANGUAGE, choice, out)
}

/// Drops parameters of a list of ours, which is in lower case. Behind `query-case` case no longer
/// counts; otherwise this bet would split what that has merged.
fn drop_own(query: &[u8], own: &[&str], choice: &Choice<'_>, out: &mut Vec<u8>) -> Mark {
    let ignores_case = choice.rules.contains(Rule::QueryCaseLower);
    let is_kept = |param: &[u8]| {
        let name = name_value(param).0;
        !own.iter().any(|own| {
            if ignores_case {
                is_named(own.as_bytes(), lower(name))
            } else {
                is_named(own.as_bytes(), decoded(name))
            }
        })
    };
    keep(query, is_kept, out)
}

fn lower(name: &[u8]) -> impl Iterator<Item = u8> + '_ {
    decoded(name).map(|byte| byte.to_ascii_lowercase())
}

/// `query-session=drop`: `?sid=0123abcd` goes (Java Servlet 6.0 §7.1.3 has it in the path, PHP and ASP
/// here). Merges wrongly: `?sid=20240101` and `?sid=20240102`, if a `sid` is an article. Not merged:
/// `?sid=12` and `?sid=13`.
pub(super) fn drop_sessions(query: &[u8], out: &mut Vec<u8>) -> Mark {
    keep(query, |param| !is_session(param), out)
}

/// `query-empty=params`: `a&&b` is `a&b`; if none is left a bare `?` stays. Merges wrongly: `?1&&3` and
/// `?1&3`, where places count. Not merged: `?a=` and `?`.
pub(super) fn drop_empty(query: &[u8], out: &mut Vec<u8>) {
    let _mark_stays = keep(query, |param| !param.is_empty(), out);
}

/// `query-empty=value`: `a` is `a=`. Merges wrongly: `?wsdl` and `?wsdl=`, a switch and an empty field.
/// Not merged: `?` and `?=`.
pub(super) fn add_value(query: &[u8], out: &mut Vec<u8>) {
    let add = |param: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(param);
        if !param.is_empty() && !param.contains(&b'=') {
            out.push(b'=');
        }
    };
    map(query, add, out);
}

/// `query-plus=space`: `a+b` is `a%20b`. Merges wrongly: `?q=c++` and `?q=c%20%20` of a server that
/// decodes escapes only. Not merged: `?a%2Bb` and `?a+b`.
pub(super) fn space_plus(query: &[u8], out: &mut Vec<u8>) {
    for &byte in query {
        match byte {
            b'+' => out.extend_from_slice(b"%20"),
            _ => out.push(byte),
        }
    }
}

/// Parameters by index, for bets that move them without moving bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// Start and end in the query, and whether it stays.
    spans: Vec<Span>,
    by_text: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    is_kept: bool,
}

impl Order {
    fn read(&mut self, query: &[u8]) {
        self.spans.clear();
        let mut start = 0;
        for param in params(query) {
            let end = start + param.len();
            self.spans.push(Span {
                start,
                end,
                is_kept: true,
            });
            start = end + 1;
        }
    }

    fn write(&self, query: &[u8], out: &mut Vec<u8>) {
        for (index, span) in self.spans.iter().filter(|span| span.is_kept).enumerate() {
            if index > 0 {
                out.push(b'&');
            }
            out.extend_from_slice(&query[span.start..span.end]);
        }
    }

    /// `query-order=sort-stable`: `b=1&a=2&a=1` is `a=2&a=1&b=1`: by decoded name, the order of one name
    /// kept. Merges wrongly: `?crop=1&rotate=90` and `?rotate=90&crop=1`, filters in which order counts.
    /// Not merged: `?a=2&a=1` and `?a=1&a=2`.
    pub(super) fn sort_stable(&mut self, query: &[u8], out: &mut Vec<u8>) {
        self.read(query);
        let name = |span: &Span| decoded(name_value(&query[span.start..span.end]).0);
        self.spans.sort_unstable_by(|left, right| {
            name(left)
                .cmp(name(right))
                .then(left.start.cmp(&right.start))
        });
        self.write(query, out);
    }

    /// `query-order=sort-full`: by decoded name, then by the bytes. Merges wrongly: `a=1&a=2` and `a=2&a=1`
    /// where the last one wins. Not merged: `?a=1;b=2` and `?b=2;a=1`.
    pub(super) fn sort_full(&mut self, query: &[u8], out: &mut Vec<u8>) {
        self.read(query);
        let text = |span: &Span| &query[span.start..span.end];
        let name = |span: &Span| decoded(name_value(text(span)).0);
        self.spans.sort_unstable_by(|left, right| {
            name(left)
                .cmp(name(right))
                .then(text(left).cmp(text(right)))
        });
        self.write(query, out);
    }

    /// `query-order=dedupe`: `a=1&b=2&a=1` is `a=1&b=2`. Merges wrongly: `?item=1&item=1`, two of one
    /// article, and `?item=1`. Not merged: `?a=1&a=2` and `?a=1`.
    pub(super) fn dedupe(&mut self, query: &[u8], out: &mut Vec<u8>) {
        self.read(query);
        let spans = &mut self.spans;
        self.by_text.clear();
        self.by_text.extend(0..spans.len());
        let text = |span: &Span| &query[span.start..span.end];
        self.by_text.sort_unstable_by(|left, right| {
            text(&spans[*left])
                .cmp(text(&spans[*right]))
                .then(left.cmp(right))
        });
        for two in self.by_text.windows(2) {
            if text(&spans[two[0]]) == text(&spans[two[1]]) {
                spans[two[1]].is_kept = false;
            }
        }
        self.write(query, out);
    }
}
