//! The words of the page, explained; those that do not occur on it are left out.

use maud::{Markup, html};

use super::Page;
use super::number::share;

#[must_use]
pub(super) fn list(page: &Page<'_>) -> Markup {
    html! {
        dl.terms {
            div { dt { "Merge" } dd { "a URL that is no longer kept because a rule makes it equal to another one, which is kept: the one whose content was fetched first, whatever its form." } }
            div { dt.right { "Right" } dd { "both showed the same content, or one led to the other by a permanent redirect." } }
            div { dt.wrong { "Wrong" } dd { (wrong(page)) } }
            @if page.has_any(|outcome| outcome.merges.total().unverifiable) {
                div { dt.unverifiable { "Cannot be told" } dd { "they were never seen at about the same time, or the pages change at every fetch." } }
            }
            div { dt { "Page content" } dd { "what a URL showed, whatever its address; contents of many unrelated URLs, such as an error page, are left out." } }
            div { dt { "Site" } dd { "a domain somebody registered, such as example.co.uk, with all its hosts. Merges of one site are right or wrong together, so sites are what counts." } }
            div { dt { "Rule" } dd { "its name says what it changes, and how: under " code { "www=www" } " a host with www. in front counts as the one without." } }
            div { dt { "Base" } dd { code { (page.evaluated.base) } ": " (base(&page.evaluated.base)) } }
            div { dt { "95\u{a0}% confidence" } dd {
                "\u{201c}at most \u{2026} wrong\u{201d} is a one-sided bound. Intervals, which speak of other archives like this one, and their ends in \u{201c}at most \u{2026} right\u{201d} and \u{201c}perhaps only \u{2026} right\u{201d}, are two-sided, "
                (share(0.025)) " on each side: so the two differ a little for the same rule."
            } }
        }
    }
}

/// What was seen of a wrong merge: without bodies only that digests differ.
fn wrong(page: &Page<'_>) -> &'static str {
    if page.is_without_bodies() {
        "both were seen at about the same time, but never with the same content: a page would be lost. Only digests were compared, since no body was read: how much of the two texts is alike is not known."
    } else {
        "both were seen at about the same time, but never with the same content: a page would be lost."
    }
}

/// What counts as one URL before any rule.
fn base(name: &str) -> &'static str {
    match name {
        "safe@1" => {
            "what counts as one URL before any rule: only what is one by the standard or to every browser, such as hosts in upper and lower case, or with and without :80."
        }
        "rfc3986@1" => {
            "what counts as one URL before any rule: only what is one by the standard, such as hosts in upper and lower case, or with and without :80."
        }
        _ => "what counts as one URL before any rule.",
    }
}
