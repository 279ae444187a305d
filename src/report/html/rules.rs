//! All rules side by side, each with a bar of what its merges are.

use maud::{Markup, html};

use super::number::{at_most, count, share};
use super::{Entries, Entry, Page, Subject, decision, meaning, words};
use crate::evaluate::{Advice, Outcome};
use crate::policy::Rule;

/// Of few sites such a bound says nothing.
const UNKNOWN_MIN: f64 = 0.5;
/// A part of a bar that is there can be seen.
const PERCENT_MIN: f64 = 1.0;

#[must_use]
pub(super) fn section(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    html! {
        section {
            h2 { "The rules side by side" }
            @if entries.rules.is_empty() && entries.policies.is_empty() {
                p { "No rule merges anything here." }
            } @else {
                (key(page))
                @if !entries.rules.is_empty() { (table("Rule", &entries.rules)) }
                @if !entries.policies.is_empty() {
                    h3 { "The policy as a whole" }
                    p { (about_policies(entries)) }
                    (table("Policy", &entries.policies))
                }
                (interactions(page))
            }
        }
    }
}

/// What the colors mean.
fn key(page: &Page<'_>) -> Markup {
    html! {
        ul.key {
            @for (index, (class, text)) in KINDS.into_iter().enumerate() {
                @if page.has_any(|outcome| kinds(outcome)[index]) { li { (swatch(class)) (text) } }
            }
        }
    }
}

/// The parts of a bar: their class in the style, and what they mean.
const KINDS: [(&str, &str); 5] = [
    ("right", "right"),
    (
        "stable",
        "wrong, certain: both pages were fetched again and stayed the same",
    ),
    (
        "near",
        "wrong, but the texts differ by digits only: perhaps a clock or a counter",
    ),
    ("other", "wrong, not certain: may be one page that changed"),
    ("unverifiable", "cannot be told"),
];

/// How many merges there are of each kind.
fn kinds(outcome: &Outcome) -> [u64; KINDS.len()] {
    let total = outcome.merges.total();
    let near = outcome.merges.n_wrong_near();
    let other = total.wrong.saturating_sub(total.wrong_stable + near);
    [
        total.right,
        total.wrong_stable,
        near,
        other,
        total.unverifiable,
    ]
}

fn swatch(class: &str) -> Markup {
    html! { svg.swatch width="14" height="14" aria-hidden="true" { rect class=(class) width="14" height="14" {} } }
}

fn table(head: &str, entries: &[Entry<'_>]) -> Markup {
    html! {
        table.rules {
            thead {
                tr {
                    th scope="col" { (head) }
                    th scope="col" { "Advice" }
                    th scope="col" { "URLs it merges" }
                    th.numeric scope="col" { "Wrong on further sites, at most (95\u{a0}% confidence)" }
                    th.numeric scope="col" { "Page contents lost (95\u{a0}% interval)" }
                }
            }
            tbody { @for entry in entries { (line(entry)) } }
        }
    }
}

fn line(entry: &Entry<'_>) -> Markup {
    let outcome = entry.outcome;
    html! {
        tr {
            th scope="row" {
                (decision::number(entry)) " " code { (entry.name) }
                (example(entry.name))
            }
            td data-label="Advice" {
                @if entry.row.subject == Subject::Without || entry.row.subject == Subject::Against {
                    span.none { "\u{2013}" }
                } @else {
                    span class={ "badge " (words::class(outcome.advice)) } { (words::advice(outcome.advice)) }
                    @if outcome.advice == Advice::NotEnoughEvidence { small { (words::lean(outcome).0) } }
                }
            }
            td.bar data-label="URLs it merges" { (merges(outcome)) }
            td.numeric data-label="Wrong on further sites, at most (95\u{a0}% confidence)" {
                @match outcome.precision.wrong_rate_max {
                    Some(max) if max >= UNKNOWN_MIN && outcome.has_few_hosts() => span.none { "unknown: too few sites" },
                    Some(max) => { b { (at_most(max)) } }
                    None => span.none { "unknown" }
                }
            }
            td.numeric data-label="Page contents lost (95\u{a0}% interval)" { (loss(outcome)) }
        }
    }
}

fn example(name: &str) -> Markup {
    let rule = Rule::parse(name);
    let example = rule.and_then(meaning::of);
    let of_list = rule.and_then(meaning::of_list);
    html! {
        @if let Some(text) = of_list { small { (text) } }
        @if let Some(meaning) = example {
            small { (meaning.text) ": " span.url { (without_scheme(meaning.a)) } " = " span.url { (without_scheme(meaning.b)) } }
        }
    }
}

/// Short, where the scheme says nothing.
fn without_scheme(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}

/// How many, how they divide, and the bar.
fn merges(outcome: &Outcome) -> Markup {
    let total = outcome.merges.total();
    let [right, stable, near, other, unverifiable] = kinds(outcome);
    let parts = [
        ("right", "right", right),
        ("stable", "certainly wrong", stable),
        ("near", "wrong but for digits", near),
        ("other", "perhaps wrong", other),
        ("unverifiable", "cannot be told", unverifiable),
    ];
    html! {
        b { (count(total.merged)) } " (" (share(outcome.reduction().unwrap_or(0.0))) " of all)"
        (bar(&parts, total.merged))
        small.parts {
            @for (class, name, n) in parts {
                @if n > 0 { span class=(class) { (count(n)) " " (name) } " " }
            }
        }
    }
}

/// A bar of 100 %.
#[must_use]
pub(super) fn bar(parts: &[(&'static str, &'static str, u64)], all: u64) -> Markup {
    let mut left = 0.0;
    let spans = widths(parts, all).into_iter().map(|width| {
        left += width;
        (left - width, width)
    });
    html! {
        svg.bar width="100%" height="14" role="img" aria-label=(spoken(parts)) {
            @for ((class, _, _), (left, width)) in parts.iter().zip(spans) {
                @if width > 0.0 {
                    rect class=(class) x={ (format!("{left:.3}")) "%" } width={ (format!("{width:.3}")) "%" } height="14" {}
                }
            }
        }
    }
}

fn spoken(parts: &[(&'static str, &'static str, u64)]) -> String {
    let texts: Vec<String> = parts
        .iter()
        .filter(|part| part.2 > 0)
        .map(|(_, name, n)| format!("{} {name}", count(*n)))
        .collect();
    texts.join(", ")
}

/// Percent of each part; small ones are drawn larger at the cost of the others.
fn widths(parts: &[(&'static str, &'static str, u64)], all: u64) -> Vec<f64> {
    let raw: Vec<f64> = parts
        .iter()
        .map(|(_, _, n)| match n {
            0 => 0.0,
            n => (*n as f64 / all.max(1) as f64 * 100.0).max(PERCENT_MIN),
        })
        .collect();
    let sum: f64 = raw.iter().sum();
    let scale = if sum > 0.0 { 100.0 / sum } else { 0.0 };
    raw.into_iter().map(|width| width * scale).collect()
}

fn loss(outcome: &Outcome) -> Markup {
    let lost = outcome.loss.first;
    html! {
        @if let Some(sampled) = outcome.sampled {
            b { (format!("{:.0} to {:.0}", sampled.page_loss.0, sampled.page_loss.1)) }
            small { "of " (count(outcome.contents)) }
        } @else {
            b { (share(outcome.loss_rate().unwrap_or(0.0))) }
            small {
                span.whole { (count(lost)) " of " (count(outcome.contents)) }
                @if let Some((low, high)) = outcome.loss_interval {
                    @if lost > 0 { br; span.whole { "(" (format!("{low:.0}")) " to " (format!("{high:.0}")) ")" } }
                }
            }
        }
    }
}

fn about_policies(entries: &Entries<'_>) -> &'static str {
    let has = |subject| {
        entries
            .policies
            .iter()
            .any(|entry| entry.row.subject == subject)
    };
    match (has(Subject::Without), has(Subject::Against)) {
        (true, true) => {
            "All its rules together; then without each of them in turn, which shows what that rule adds; then what one policy merges and the other does not."
        }
        (true, false) => {
            "All its rules together; then without each of them in turn, which shows what that rule adds."
        }
        (false, true) => {
            "All its rules together; then what one policy merges and the other does not."
        }
        (false, false) => "All its rules together.",
    }
}

/// Rules of the policy that only work together.
fn interactions(page: &Page<'_>) -> Markup {
    let rows: Vec<_> = page.evaluated.interactions.iter().collect();
    html! {
        @if !rows.is_empty() {
            h3 { "Rules that work together" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Rules" } th.numeric scope="col" { "Merges that need all of them" } th.numeric scope="col" { "Merges that each makes alone" } } }
                    tbody {
                        @for (rules, interaction) in rows {
                            tr {
                                td { @for (index, rule) in rules.iter().enumerate() { @if index > 0 { " + " } code { (rule.name()) } } }
                                td.numeric { (count(interaction.needs_both)) }
                                td.numeric { (count(interaction.either)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_there_is_seen_and_the_bar_is_full() {
        let parts = |right, wrong| [("right", "right", right), ("other", "wrong", wrong)];
        let found = widths(&parts(1_000_000, 1), 1_000_001);
        assert!(found[1] > 0.9, "{found:?}");
        assert!((found.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert_eq!(widths(&parts(3, 0), 3), [100.0, 0.0]);
        assert_eq!(widths(&parts(0, 0), 0), [0.0, 0.0]);
    }
}
