//! Bets on the query. Each writes what the query becomes and says whether its `?` stays; `out` comes empty.

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
/// unless nothing would be left. Merges wrongly: a parameter that is named `amp;b`.
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
/// keeps its zeros, since what is left might no longer look like a token.
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
/// `source` selects a data source, not a campaign.
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

/// `query-drop-list=tracking`: `utm_*`, `gclid` and their like go. Merges wrongly: lists disagree.
pub(super) fn drop_tracking(query: &[u8], choice: &Choice<'_>, out: &mut Vec<u8>) -> Mark {
    drop_own(query, &TRACKING, choice, out)
}

/// `language-param=drop`: `lang`, `language`, `locale`, `hl` go. Merges wrongly: other content.
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

/// `query-session=drop`: `sid=0123abcd` goes, `sid=12` stays. Merges wrongly: a `sid` that is an article.
pub(super) fn drop_sessions(query: &[u8], out: &mut Vec<u8>) -> Mark {
    keep(query, |param| !is_session(param), out)
}

/// `query-empty=params`: `a&&b` is `a&b`; if none is left a bare `?` stays.
pub(super) fn drop_empty(query: &[u8], out: &mut Vec<u8>) {
    let _mark_stays = keep(query, |param| !param.is_empty(), out);
}

/// `query-empty=value`: `a` is `a=`. Merges wrongly: a switch and an empty field.
pub(super) fn add_value(query: &[u8], out: &mut Vec<u8>) {
    let add = |param: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(param);
        if !param.is_empty() && !param.contains(&b'=') {
            out.push(b'=');
        }
    };
    map(query, add, out);
}

/// `query-plus=space`: `+` is `%20` (HTML forms). Merges wrongly: signed links, and `c++`.
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
    /// kept. Merges wrongly: filters in which order counts.
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

    /// `query-order=sort-full`: by decoded name, then by the bytes. Merges wrongly: `a=1&a=2` and `a=2&a=1`.
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

    /// `query-order=dedupe`: `a=1&b=2&a=1` is `a=1&b=2`. Merges wrongly: a list with a value twice.
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
