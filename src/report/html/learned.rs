//! The rules that were learned for single sites, with the evidence of each.

use maud::{Markup, html};

use super::number::{at_least, at_most, count, counted, share};
use super::{Entries, Page, decision, visible};
use crate::evaluate::{Advice, Evidence, Fate, LearnedRule};
use crate::report::learned::{LearnedHost, LearnedPolicy, rule_names};

/// Rules that are shown with the advice.
const OPEN_MAX: usize = 12;
/// Rules that are shown.
const SHOWN_MAX: usize = 100;

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let learned = &page.evaluated.learned;
    html! { @if learned.is_told() { (of(learned)) } }
}

/// What is to be adopted on single sites.
pub(super) fn kept<'a>(
    learned: &'a LearnedPolicy<'a>,
) -> impl Iterator<Item = (&'a LearnedHost<'a>, &'a LearnedRule)> {
    let hosts = learned.hosts.iter();
    hosts.flat_map(|host| host.rules.kept().map(move |rule| (host, rule)))
}

/// On how many.
pub(super) fn n_hosts(learned: &LearnedPolicy<'_>) -> u64 {
    let hosts = learned.hosts.iter();
    hosts
        .filter(|host| host.rules.kept().next().is_some())
        .count() as u64
}

/// The advice for single sites.
#[must_use]
pub(super) fn article(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    let learned = &page.evaluated.learned;
    let kept: Vec<_> = kept(learned).collect();
    let (first, more) = kept.split_at(kept.len().min(OPEN_MAX));
    html! {
        @if !kept.is_empty() {
            article.some {
                h2 { "Adopt on single sites" " " small { (counted(kept.len() as u64, "rule", "rules")) " for " (counted(n_hosts(learned), "site", "sites")) ": learned from this archive" } }
                p.cost {
                    "Each was chosen on one half of the site's URLs, and did not merge a single pair of different pages on the other half. "
                    code { "dedupe evaluate --policy-out learned.toml" } " writes them as a policy, for these sites and no others; " code { "dedupe --policy learned.toml" } " uses it."
                }
                ul { @for (host, rule) in first { (item(host, rule, entries)) } }
                @if !more.is_empty() { p.cost { "and " (count(more.len() as u64)) " more: see below" } }
            }
        }
    }
}

fn item(host: &LearnedHost<'_>, rule: &LearnedRule, entries: &Entries<'_>) -> Markup {
    let names = rule_names(host, rule).join(" + ");
    let on_all_sites = entries.rules.iter().find(|entry| entry.name == names);
    let Evidence {
        right,
        unverifiable,
        ..
    } = rule.measured;
    let does = match rule.candidate.rules.iter().next() {
        Some(rule) => decision::does(rule.name()),
        None if rule.candidate.names.len() == 1 => "Ignores this parameter of the query",
        None => "Ignores these parameters of the query",
    };
    html! {
        li {
            h3 { span.url { (visible::text(host.host)) } " " code { (visible::text(names.as_bytes())) } span.does { (does) } }
            p {
                "On the other half all " (count(right)) " merges that could be checked were right."
                @match on_all_sites.map(|entry| (entry, entry.outcome.advice)) {
                    Some((entry, Advice::Reject)) => { " For all sites it is rejected: see " (decision::number(entry)) "." }
                    Some((entry, Advice::AdoptPerHost)) => { " For all sites there is not enough evidence: see " (decision::number(entry)) "." }
                    Some(_) | None => {}
                }
                @if unverifiable > 0 { span.cost { " Of " (counted(unverifiable, "merge", "merges")) " nothing can be said." } }
            }
        }
    }
}

fn of(learned: &LearnedPolicy<'_>) -> Markup {
    let (kept, removed): (Vec<_>, Vec<_>) = learned
        .hosts
        .iter()
        .flat_map(|host| host.rules.all.iter().map(move |rule| (host, rule)))
        .partition(|(_, rule)| rule.fate == Fate::Kept);
    html! {
        section {
            h2 { "Rules learned for single sites" }
            p {
                "Chosen on one half of each site's URLs, and measured once on the other half, which had no say in the choice. A rule with a single wrong merge there, or with too few that could be checked, is left out. The file that "
                code { "--policy-out" } " writes has " (counted(kept.len() as u64, "rule", "rules")) "; "
                (counted(removed.len() as u64, "rule was", "rules were")) " chosen and left out."
                @if learned.sample.is_some() { " All of it speaks of the sample." }
            }
            p { (error(learned)) }
            @if !kept.is_empty() { (table(&kept)) }
            @for sentence in learned.left_out() { p.cost { "Left out: " (sentence) "." } }
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

fn table(rules: &[(&LearnedHost<'_>, &LearnedRule)]) -> Markup {
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
            tbody { @for (host, rule) in rules.iter().take(SHOWN_MAX) { (line(host, rule)) } }
        }
        @if rules.len() > SHOWN_MAX { p { "and " (count((rules.len() - SHOWN_MAX) as u64)) " more, all in the policy file" } }
    }
}

fn line(host: &LearnedHost<'_>, rule: &LearnedRule) -> Markup {
    let names = rule_names(host, rule).join(" + ");
    html! {
        tr {
            th scope="row" { span.url { (visible::text(host.host)) } }
            td data-label="Rule" { code { (visible::text(names.as_bytes())) } }
            td.numeric data-label="Right, other half" { (count(rule.measured.right)) }
            td.numeric data-label="Wrong, other half" { (count(rule.measured.wrong)) }
            td.numeric data-label="Cannot be told" { (count(rule.measured.unverifiable)) }
        }
    }
}
