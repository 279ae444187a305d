//! Sites where a rule fails.

use maud::{Markup, html};

use super::number::{count, counted, share};
use super::{Page, rules, visible};
use crate::report::evaluation::HostRow;

/// Cases that are not folded.
const OPEN_MAX: usize = 8;
/// Fewer merges say nothing of a site as a whole.
const FEW: u64 = 3;

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let (first, more) = page.hosts.split_at(page.hosts.len().min(OPEN_MAX));
    let n_shown = page.hosts.len() as u64;
    html! {
        section {
            h2 { "Sites where a rule fails" }
            @if page.hosts.is_empty() {
                p { "No rule merges two pages of any site that were seen to differ." }
            } @else {
                p {
                    (marked(page)) " A policy can leave a rule out on single sites. Refetches of one site are known from 20 compared ones on."
                    @if n_shown < page.n_hosts { " Shown are " (count(n_shown)) " of " (counted(page.n_hosts, "case", "cases")) "; " code { "--hosts FILE" } " writes all." }
                }
                (table(first))
                @if !more.is_empty() { details.fold { summary { (more.len()) " more" } (table(more)) } }
            }
        }
    }
}

/// What the marks mean that are there, and how much they say.
fn marked(page: &Page<'_>) -> Markup {
    let flagged = || page.hosts.iter().filter(|host| host.is_flagged);
    let has = |is_certain| flagged().any(|host| (host.counts.wrong_stable > 0) == is_certain);
    let most = flagged().map(|host| host.counts.merged).max();
    let least = flagged().map(|host| host.counts.merged).min();
    html! {
        @match (most, least) {
            (Some(most), Some(least)) => {
                "Marked are sites where a rule is wrong more often than chance allows a rule that is " (share(page.evaluated.thresholds.precision_min))
                " right (false discoveries among the marked ones: at most 5\u{a0}%): "
                @if has(true) { strong { "fails" } " where some of that is certain" }
                @if has(true) && has(false) { ", " }
                @if has(false) { strong { "suspect" } " where the pages may have changed" } "."
                @if most < FEW {
                    " No site shown has more than " (counted(most, "merge", "merges")) " of a rule: these are single wrong merges, and say little of the rest of the site."
                } @else if least < FEW {
                    " Where a rule has one or two merges, a wrong one is enough for the mark, and says little of the rest of the site."
                }
                @if page.hosts.iter().any(|host| !host.is_flagged) { " Then those with most wrong merges." }
            }
            _ => { "On no site is a rule wrong too often for chance. Those with most wrong merges stand first." }
        }
    }
}

fn table(hosts: &[HostRow<'_>]) -> Markup {
    html! {
        table.rules {
            thead {
                tr {
                    th scope="col" { "Site" }
                    th scope="col" { "Rule" }
                    th scope="col" { "URLs merged there" }
                    th.numeric scope="col" { "Refetches that differ" }
                }
            }
            tbody { @for host in hosts { (line(host)) } }
        }
    }
}

fn line(host: &HostRow<'_>) -> Markup {
    let counts = host.counts;
    let parts = [
        ("right", "right", counts.right),
        ("stable", "certainly wrong", counts.wrong_stable),
        (
            "other",
            "perhaps wrong",
            counts.wrong.saturating_sub(counts.wrong_stable),
        ),
        ("unverifiable", "cannot be told", counts.unverifiable),
    ];
    html! {
        tr {
            th scope="row" {
                span.url { (visible::text(host.domain)) }
                @match (host.is_flagged, counts.wrong_stable) {
                    (false, _) => {}
                    (true, 0) => { " " span.badge.near { "suspect" } }
                    (true, _) => { " " span.badge.reject { "fails" } }
                }
            }
            td data-label="Rule" { code { (host.rule) } }
            td.bar data-label="URLs merged there" {
                b { (count(counts.merged)) }
                (rules::bar(&parts, counts.merged))
                small.parts { @for (class, name, n) in parts { @if n > 0 { span class=(class) { (count(n)) " " (name) } " " } } }
            }
            td.numeric data-label="Refetches that differ" {
                @match host.noise_floor {
                    Some(noise) => (share(noise)),
                    None => span.none { "unknown: fewer than 20" }
                }
            }
        }
    }
}
