//! The figures behind the sentences, for those who want to check them.

use maud::{Markup, html};

use super::number::{count, share};
use super::{Entries, Entry};
use crate::evaluate::Outcome;

#[must_use]
pub(super) fn section(entries: &Entries<'_>) -> Markup {
    html! {
        section {
            h2 { "All figures" }
            p { "As in the table that " code { "--report" } " writes; its column names stand in the first row." }
            div.scroll tabindex="0" {
                table.figures {
                    thead { tr { th scope="col" { "rule" } @for (name, _) in COLUMNS { th.numeric scope="col" { (name) } } } }
                    tbody { @for entry in entries.rules.iter().chain(&entries.policies) { (line(entry)) } }
                }
            }
        }
    }
}

/// A column: its name in `--report`, and its cell.
type Column = (&'static str, fn(&Outcome) -> Option<String>);

const COLUMNS: [Column; 16] = [
    ("urls_merged", |outcome| {
        Some(count(outcome.merges.total().merged))
    }),
    ("urls_decidable", |outcome| {
        Some(count(outcome.merges.total().decidable))
    }),
    ("domains", |outcome| {
        Some(count(outcome.merges.clusters().len() as u64))
    }),
    ("n_eff", |outcome| {
        outcome.precision.n_eff.map(|n| format!("{n:.1}"))
    }),
    ("precision_low \u{2013} high", |outcome| {
        interval(outcome.precision_bounds())
    }),
    ("verified_precision", |outcome| {
        outcome.precision.verified.map(share)
    }),
    ("verified_precision_ci", |outcome| {
        interval(outcome.precision.interval)
    }),
    ("recall", |outcome| outcome.recall().map(share)),
    ("noise_floor", |outcome| outcome.floor.noise.map(share)),
    ("corrected_precision", |outcome| {
        outcome
            .floor
            .corrected
            .map(|corrected| share(corrected.clamp(0.0, 1.0)))
    }),
    ("page_loss_first", |outcome| Some(count(outcome.loss.first))),
    ("page_loss_best \u{2013} worst", |outcome| {
        Some(format!(
            "{} \u{2013} {}",
            count(outcome.loss.best),
            count(outcome.loss.worst)
        ))
    }),
    ("page_loss_expected", |outcome| {
        Some(format!("{:.1}", outcome.loss.expected))
    }),
    ("loss_per_url_saved", |outcome| {
        outcome
            .loss_per_url_saved()
            .map(|loss| format!("{loss:.3}"))
    }),
    ("pairs_right / wrong / unverifiable", |outcome| {
        Some(format!(
            "{} / {} / {}",
            outcome.pairs_right,
            outcome.pairs_wrong,
            outcome.pairs_unverifiable()
        ))
    }),
    ("pairs_missed", |outcome| {
        Some(outcome.pairs_missed.to_string())
    }),
];

fn interval(ends: Option<(f64, f64)>) -> Option<String> {
    ends.map(|(low, high)| format!("{} \u{2013} {}", share(low), share(high)))
}

fn line(entry: &Entry<'_>) -> Markup {
    html! {
        tr {
            th scope="row" { code { (entry.name) } }
            @for (_, cell) in COLUMNS {
                td.numeric { @match cell(entry.outcome) { Some(text) => (text), None => span.none { "unknown" } } }
            }
        }
    }
}
