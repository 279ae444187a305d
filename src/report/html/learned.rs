//! The rules that were learned for single sites, with the evidence of each.

use maud::{Markup, html};

use super::number::{at_least, at_most, count, counted, share};
use super::{Page, visible};
use crate::evaluate::{Entry, Fate};
use crate::report::learned::{LearnedHost, LearnedPolicy, entry_names};

/// Entries that are shown.
const SHOWN_MAX: usize = 100;

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    html! { @if let Some(learned) = &page.evaluated.learned { (of(learned)) } }
}

fn of(learned: &LearnedPolicy<'_>) -> Markup {
    let entries: Vec<(&LearnedHost<'_>, &Entry)> = learned
        .hosts
        .iter()
        .flat_map(|host| host.lesson.entries.iter().map(move |entry| (host, entry)))
        .collect();
    let (kept, removed): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|(_, entry)| entry.fate == Fate::Kept);
    html! {
        section {
            h2 { "Rules learned for single sites" }
            p {
                "Chosen on one half of each site's URLs, and measured once on the other half, which had no say in the choice. A rule with a single wrong merge there is left out. The file that "
                code { "--policy-out" } " writes has " (counted(kept.len() as u64, "rule", "rules")) "; "
                (counted(removed.len() as u64, "rule was", "rules were")) " chosen and left out."
            }
            p { (error(learned)) }
            @if !kept.is_empty() { (table(&kept)) }
            @if !removed.is_empty() { details { summary { "What was chosen and left out" } (table(&removed)) } }
        }
    }
}

/// What the other half says of all that was chosen.
fn error(learned: &LearnedPolicy<'_>) -> Markup {
    let held_out = &learned.held_out;
    html! {
        @match held_out.verified {
            Some(right) => {
                "Of all that was chosen, left out or not, " strong { (share(right)) " of the merges of the other half were right" }
                @if let Some((low, high)) = held_out.interval { " (95\u{a0}% interval " (at_least(low)) " to " (at_most(high)) ")" }
                "."
                @if let Some(max) = held_out.wrong_rate_max { " On these sites at most " (at_most(max)) " of further merges would be wrong." }
            }
            None => "No merge of the other half could be checked.",
        }
    }
}

fn table(entries: &[(&LearnedHost<'_>, &Entry)]) -> Markup {
    html! {
        table.rules {
            thead {
                tr {
                    th scope="col" { "Site" }
                    th scope="col" { "Rule" }
                    th.numeric scope="col" { "Right, other half" }
                    th.numeric scope="col" { "Wrong, other half" }
                    th.numeric scope="col" { "Cannot be told" }
                }
            }
            tbody { @for (host, entry) in entries.iter().take(SHOWN_MAX) { (line(host, entry)) } }
        }
        @if entries.len() > SHOWN_MAX { p { "and " (count((entries.len() - SHOWN_MAX) as u64)) " more, all in the policy file" } }
    }
}

fn line(host: &LearnedHost<'_>, entry: &Entry) -> Markup {
    let names = entry_names(host, entry).join(" + ");
    html! {
        tr {
            th scope="row" { span.url { (visible::text(host.host)) } }
            td data-label="Rule" { code { (visible::text(names.as_bytes())) } }
            td.numeric data-label="Right, other half" { (count(entry.measured.right)) }
            td.numeric data-label="Wrong, other half" { (count(entry.measured.wrong)) }
            td.numeric data-label="Cannot be told" { (count(entry.measured.unverifiable)) }
        }
    }
}
