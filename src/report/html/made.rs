//! How the page was made: command, version, inputs, policy.

use indicatif::HumanBytes;
use maud::{Markup, html};

use super::number::{count, share};
use super::{Page, visible};

/// Inputs that are named.
const INPUTS_MAX: usize = 100;

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let summary = page.summary;
    let evaluated = page.evaluated;
    html! {
        section.made {
            h2 { "How this was made" }
            dl.made {
                dt { "Command" } dd { code { (visible::text(summary.command.as_bytes())) } }
                dt { "Version" } dd { (summary.tool()) }
                dt { "Asked for" }
                dd {
                    "precision of at least " (share(evaluated.thresholds.precision_min)) ", "
                    (count(evaluated.thresholds.decidable_min)) " checked merges; captures speak for "
                    (evaluated.within_seconds / 86_400) " days; boilerplate from " (count(evaluated.boilerplate_max)) " URLs on"
                }
                dt { "Inputs" }
                dd { ul { (inputs(page)) } }
                @for (id, text) in &page.policies {
                    dt { "Policy" }
                    dd { code { (visible::text(id.as_bytes())) } pre { (policy_text(text)) } }
                }
            }
        }
    }
}

fn inputs(page: &Page<'_>) -> Markup {
    let inputs = &page.summary.inputs;
    html! {
        @for input in inputs.iter().take(INPUTS_MAX) {
            li { span.url { (visible::text(input.path.as_bytes())) } ": " (input.format) ", " (HumanBytes(input.bytes)) ", " (count(input.records)) " records" }
        }
        @if inputs.len() > INPUTS_MAX { li { "and " (count((inputs.len() - INPUTS_MAX) as u64)) " more" } }
    }
}

/// Its lines; a list may hold any text.
fn policy_text(text: &str) -> String {
    text.lines()
        .map(|line| visible::text(line.as_bytes()) + "\n")
        .collect()
}
