//! The most certain wrong merges: both URLs, what differs, and where to look.

use maud::{Markup, html};

use super::differing::{self, Kind, Part};
use super::number::counted;
use super::{Entries, Entry, decision, visible};
use crate::digest;
use crate::report::evaluation::{WrongPair, WrongSide};

/// Pairs of a rule that are not folded.
const OPEN_MAX: usize = 2;

#[must_use]
pub(super) fn section(entries: &Entries<'_>) -> Markup {
    let all = || entries.rules.iter().chain(&entries.policies);
    let has_any = all().any(|entry| !entry.row.wrong.is_empty());
    html! {
        section {
            h2 { "Wrong merges, the most certain first" }
            @if has_any {
                p { "At most two of a site for each rule. What only one of the two URLs has is " mark { "marked" } ". URLs are text here, not links: look a page up in the archive by the file and offset below it." }
                @for entry in all().filter(|entry| !entry.row.wrong.is_empty()) { (of_rule(entry)) }
            } @else {
                p { "No rule merges two pages that were seen to differ." }
            }
        }
    }
}

fn of_rule(entry: &Entry<'_>) -> Markup {
    let wrong = &entry.row.wrong;
    let (first, more) = wrong.split_at(wrong.len().min(OPEN_MAX));
    let n_shown = wrong.len() as u64;
    let n_all = entry.outcome.merges.total().wrong;
    html! {
        h3 {
            (decision::number(entry)) " " code { (entry.name) } " "
            small { @if n_shown < n_all { (n_shown) " of " } (counted(n_all, "wrong merge", "wrong merges")) }
        }
        @for pair in first { (article(pair)) }
        @if !more.is_empty() {
            details.fold {
                summary { (more.len()) " more" }
                @for pair in more { (article(pair)) }
            }
        }
    }
}

fn article(pair: &WrongPair<'_>) -> Markup {
    let [dropped, kept] = [&pair.sides[0], &pair.sides[1]];
    let texts = [dropped, kept].map(|side| visible::url(&side.url));
    let [dropped_parts, kept_parts] = differing::parts(&texts[0], &texts[1]);
    html! {
        article.pair {
            p.sort { (sort(pair)) }
            div.sides {
                (side("Would be kept", kept, &kept_parts))
                (side("Would be lost", dropped, &dropped_parts))
            }
        }
    }
}

fn sort(pair: &WrongPair<'_>) -> Markup {
    html! {
        @if pair.is_stable {
            span.badge.reject { "certain" } " both pages were fetched again and stayed the same"
        } @else if pair.is_near == Some(true) {
            span.badge.near { "digits only" } " the two texts are equal but for digits: perhaps a clock or a counter"
        } @else {
            span.badge.open { "not certain" } " may be one page that changed between the two fetches"
        }
    }
}

fn side(title: &str, side: &WrongSide, parts: &[Part]) -> Markup {
    let mut time = Vec::new();
    side.timestamp.write_rfc3339(&mut time);
    let mut content = Vec::new();
    if let Some(found) = &side.digest {
        digest::write_text(found, &mut content);
    }
    html! {
        div {
            h4 { (title) }
            p.url { @for part in parts { (marked(part)) } }
            dl {
                dt { "fetched" } dd { @if time.is_empty() { "at an unknown time" } @else { (visible::text(&time)) } }
                dt { "record" } dd { (visible::text(&side.locator)) }
                dt { "content" } dd { (visible::text(&content)) }
            }
        }
    }
}

fn marked(part: &Part) -> Markup {
    html! {
        @match part.kind {
            Kind::Same => (part.text),
            Kind::Own => mark { (part.text) },
            Kind::Note => i { (part.text) },
        }
    }
}
