//! The figures behind the sentences, for those who want to check them.

use maud::{Markup, html};

use super::number::{count, share};
use super::{Entries, Entry, Page, noise};
use crate::evaluate::Outcome;

#[must_use]
pub(super) fn section(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    let all = || entries.rules.iter().chain(&entries.policies);
    html! {
        @if all().next().is_some() {
            section {
                h2 { "All figures" }
                p { "The names below the headings are those of the columns that " code { "--report" } " writes." }
                p {
                    "Merges of one site go together, so checked merges are worth fewer independent ones. That can be fewer than the sites: how much sites differ is itself only known from those where the rule was wrong, or right, and the interval allows for that."
                }
                @if all().any(|entry| entry.outcome.floor.noise.is_none()) { p { (unknown_noise(page)) } }
                @for columns in [&PRECISION[..], &BESIDE[..], &LOSS[..]] {
                    table.rules.figures {
                        thead { tr { th scope="col" { "Rule" } @for (title, name, _) in columns { th.numeric scope="col" { (title) small { code { (name) } } } } } }
                        tbody { @for entry in all() { (line(entry, columns)) } }
                    }
                }
            }
        }
    }
}

/// A column: its title, its name in `--report`, and its cell.
type Column = (&'static str, &'static str, fn(&Outcome) -> Option<String>);

const PRECISION: [Column; 5] = [
    ("Merges checked", "urls_decidable", |outcome| {
        Some(count(outcome.merges.total().decidable))
    }),
    ("On sites", "domains", |outcome| {
        Some(count(outcome.merges.clusters().len() as u64))
    }),
    ("Worth independent merges", "n_eff", |outcome| {
        outcome.precision.n_eff.map(|n| format!("{n:.1}"))
    }),
    ("Right of checked", "verified_precision", |outcome| {
        outcome.precision.verified.map(share)
    }),
    (
        "95\u{a0}% interval, two-sided",
        "verified_precision_ci",
        |outcome| interval(outcome.precision.interval),
    ),
];

const BESIDE: [Column; 4] = [
    (
        "Right if the unknown are wrong \u{2013} right",
        "precision_low, _high",
        |outcome| interval(outcome.precision_bounds()),
    ),
    ("Same pages it finds", "recall", |outcome| {
        outcome.recall().map(share)
    }),
    ("Refetches that differ", "noise_floor", |outcome| {
        outcome.floor.noise.map(share)
    }),
    ("Right less noise", "corrected_precision", |outcome| {
        outcome
            .floor
            .corrected
            .map(|corrected| share(corrected.clamp(0.0, 1.0)))
    }),
];

const LOSS: [Column; 7] = [
    (
        "Contents lost, earliest URL kept",
        "page_loss_first",
        |outcome| {
            let lost = count(outcome.loss.first);
            Some(lost).filter(|_| outcome.sampled.is_none())
        },
    ),
    ("Lost, a random URL kept", "page_loss_expected", |outcome| {
        let lost = outcome.loss.expected;
        lost.is_finite().then(|| format!("{lost:.1}"))
    }),
    (
        "Lost, at least \u{2013} at most",
        "page_loss_best, _worst",
        |outcome| {
            Some(format!(
                "{} \u{2013} {}",
                count(outcome.loss.best),
                count(outcome.loss.worst)
            ))
        },
    ),
    ("Lost for each URL saved", "loss_per_url_saved", |outcome| {
        outcome
            .loss_per_url_saved()
            .map(|loss| format!("{loss:.3}"))
    }),
    ("Pairs right", "pairs_right", |outcome| {
        Some(outcome.pairs_right.to_string())
    }),
    ("Pairs wrong", "pairs_wrong", |outcome| {
        Some(outcome.pairs_wrong.to_string())
    }),
    ("Pairs unknown", "pairs_unverifiable", |outcome| {
        Some(outcome.pairs_unverifiable().to_string())
    }),
];

/// Why the noise of single rules is unknown.
fn unknown_noise(page: &Page<'_>) -> Markup {
    html! {
        "Refetches that differ are weighed as the rule's own merges lie: unknown, unless more than nine in ten of its merged pairs are on sites with 20 compared refetches, and 20 compared pairs of other URLs, at the same distance in time."
        @if noise::is_known(page) { " The refetches of all sites together stand under \u{201c}How often a page differs from itself\u{201d}." }
    }
}

fn interval(ends: Option<(f64, f64)>) -> Option<String> {
    ends.map(|(low, high)| format!("{} \u{2013} {}", share(low), share(high)))
}

fn line(entry: &Entry<'_>, columns: &[Column]) -> Markup {
    html! {
        tr {
            th scope="row" { code { (entry.name) } }
            @for (title, _, cell) in columns {
                td.numeric data-label=(title) { @match cell(entry.outcome) { Some(text) => (text), None => span.none { "unknown" } } }
            }
        }
    }
}
