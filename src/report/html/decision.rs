//! The answer first: what to adopt, what to reject, what is open, and why.

use std::fmt::Write as _;
use std::path::Path;

use maud::{Markup, html};

use super::number::{counted, share};
use super::{Entries, Entry, Page, Subject, learned, meaning, terms, words};
use crate::evaluate::{Advice, Outcome};
use crate::policy::{Policy, Rule, RuleSet};

/// Rules that the headline names before it counts the others.
const NAMED_MAX: usize = 3;
/// Open rules that are not folded.
const OPEN_MAX: usize = 6;
const ADVICES: [Advice; 4] = [
    Advice::Adopt,
    Advice::AdoptPerHost,
    Advice::Reject,
    Advice::NotEnoughEvidence,
];

#[must_use]
pub(super) fn section(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    html! {
        header {
            p.kicker { "What URL rules would cost \u{00b7} measured by " (page.summary.tool()) }
            h1 { (headline(page, entries)) }
            p.lead { (basis(page)) }
            @if let Some(max) = page.evaluated.loss_max { (limit(page, max)) }
        }
        section.decision aria-label="Advice on each rule" {
            @for entry in policies(entries) { (policy(page, entry)) }
            (comparisons(entries))
            @for advice in ADVICES { (group(page, entries, advice)) }
            @if !entries.idle.is_empty() { (idle(&entries.idle)) }
            (terms::list(page))
        }
    }
}

fn policies<'a>(entries: &'a Entries<'a>) -> impl Iterator<Item = &'a Entry<'a>> {
    entries
        .policies
        .iter()
        .filter(|entry| entry.row.subject == Subject::Policy)
}

/// `Adopt a and b. Reject c. 3 rules are open.`
fn headline(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    let adopts_none = of(entries, Advice::Adopt).next().is_none() && entries.policies.is_empty();
    let n_learned = learned::kept(&page.evaluated.learned).count();
    html! {
        @for entry in policies(entries) {
            @let name = html! { code { (entry.name) } };
            @match entry.outcome.advice {
                Advice::Adopt => { "Adopt the policy " (name) ". " }
                Advice::AdoptPerHost => { "Adopt the policy " (name) " on some sites only. " }
                Advice::Reject => { "Reject the policy " (name) ". " }
                Advice::NotEnoughEvidence => { "Do not adopt the policy " (name) " yet. " }
            }
        }
        @match (adopts_none, n_learned) {
            (true, 0) => "Adopt none of these rules yet. ",
            (true, _) => "Adopt none of these rules for all sites yet. ",
            (false, _) => {}
        }
        (sentence(Advice::Adopt, &of(entries, Advice::Adopt).collect::<Vec<_>>()))
        @if n_learned > 0 {
            "Adopt what was learned for " (counted(learned::n_hosts(&page.evaluated.learned), "single site", "single sites")) ". "
        }
        @for advice in &ADVICES[1..] { (sentence(*advice, &of(entries, *advice).collect::<Vec<_>>())) }
    }
}

fn sentence(advice: Advice, entries: &[&Entry<'_>]) -> Markup {
    html! {
        @match (advice, entries) {
            (_, []) => {}
            (Advice::Adopt, _) => { "Adopt " (listed(entries)) ". " }
            (Advice::AdoptPerHost, _) => {}
            (Advice::Reject, _) => { "Reject " (listed(entries)) " for all sites. " }
            (Advice::NotEnoughEvidence, [one]) => { code { (one.name) } " is open." }
            (Advice::NotEnoughEvidence, _) => { (entries.len()) " rules are open." }
        }
    }
}

fn of<'a>(entries: &'a Entries<'a>, advice: Advice) -> impl Iterator<Item = &'a Entry<'a>> {
    entries
        .rules
        .iter()
        .filter(move |entry| entry.outcome.advice == advice)
}

/// `a, b and c`, or the first of many.
fn listed(entries: &[&Entry<'_>]) -> Markup {
    let n_named = match entries.len() {
        n @ ..=NAMED_MAX => n,
        _ => NAMED_MAX - 1,
    };
    let n_more = entries.len() - n_named;
    html! {
        @for (index, entry) in entries[..n_named].iter().enumerate() {
            @match index {
                0 => {}
                _ if index + 1 == entries.len() => " and ",
                _ => ", ",
            }
            code { (entry.name) }
        }
        @if n_more > 0 { " and " (n_more) " more rules" }
    }
}

/// What was measured.
fn basis(page: &Page<'_>) -> Markup {
    let evaluated = page.evaluated;
    let first = evaluated.rows.first().map(|(_, outcome)| *outcome);
    let contents = first.map_or(0, |outcome| outcome.contents);
    html! {
        "A rule makes two URLs one, and then only one of the two is kept. If they were two pages, one is lost. This archive holds "
        (counted(evaluated.table.urls.len() as u64, "URL", "URLs")) " of "
        (counted(evaluated.n_domains as u64, "site", "sites")) " with "
        (counted(contents, "page content", "different page contents"))
        ": so for many merges it can be seen whether both URLs showed the same."
        @if let Some(sampled) = first.and_then(|outcome| outcome.sampled) {
            " " strong { "This is a sample:" } " only " (share(sampled.sample.share)) " of the URLs were compared. Savings and losses are estimates for all of them; what was checked is what the sample shows."
        }
    }
}

fn limit(page: &Page<'_>, max: f64) -> Markup {
    let crossed = page.evaluated.crossed();
    html! {
        p.limit {
            "Page loss of at most " (share(max)) " was asked for: "
            @if crossed.is_empty() { "kept." } @else { strong { "crossed" } " by " (crossed.join(", ")) "." }
        }
    }
}

fn policy(page: &Page<'_>, entry: &Entry<'_>) -> Markup {
    html! {
        article class=(words::class(entry.outcome.advice)) {
            h2 { (words::advice(entry.outcome.advice)) " " small { "the policy " code { (entry.name) } " as a whole" } }
            p { (words::why(page, entry)) " " span.cost { (words::saves(entry.outcome)) (tendency(entry.outcome)) } }
        }
    }
}

/// What one policy merges and the other does not, both ways.
fn comparisons(entries: &Entries<'_>) -> Markup {
    let is_one = |entry: &&Entry<'_>| entry.row.subject == Subject::Against;
    let all: Vec<&Entry<'_>> = entries.policies.iter().filter(is_one).collect();
    html! {
        @if !all.is_empty() {
            article.open {
                h2 { "One policy against the other" }
                ul {
                    @for entry in all {
                        @let (own, other) = entry.name.split_once(" against ").unwrap_or((entry.name, ""));
                        li {
                            h3 { (number(entry)) " only " code { (own) } span.does { "what " code { (other) } " keeps apart" } }
                            @if entry.outcome.merges.total().merged == 0 {
                                p { "Nothing: the other one merges all of it too." }
                            } @else {
                                p { (words::checked(entry.outcome)) " " span.cost { (words::saves(entry.outcome)) (tendency(entry.outcome)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn group(page: &Page<'_>, entries: &Entries<'_>, advice: Advice) -> Markup {
    let all: Vec<&Entry<'_>> = of(entries, advice).collect();
    let n_rules = all.len() as u64;
    let n_open = match advice {
        Advice::NotEnoughEvidence => all.len().min(OPEN_MAX),
        _ => all.len(),
    };
    let (first, more) = all.split_at(n_open);
    html! {
        @if advice == Advice::AdoptPerHost {
            (learned::article(page, entries))
        } @else if n_rules > 0 {
            article class=(words::class(advice)) {
                h2 { (words::advice(advice)) " " small { (counted(n_rules, "rule", "rules")) ": " (words::meaning(advice, &all)) } }
                @if advice == Advice::NotEnoughEvidence { (settling(page, &all)) }
                ul { @for entry in first { (item(page, entry)) } }
                @if advice == Advice::Adopt && entries.policies.is_empty() { (adopting(page, &all)) }
                @if !more.is_empty() {
                    details {
                        summary { (counted(more.len() as u64, "more rule that is open", "more rules that are open")) }
                        ul { @for entry in more { (item(page, entry)) } }
                    }
                }
            }
        }
    }
}

fn item(page: &Page<'_>, entry: &Entry<'_>) -> Markup {
    html! {
        li {
            h3 {
                (number(entry)) " " code { (entry.name) } span.does { (does(entry.name)) }
                @if entry.outcome.advice == Advice::NotEnoughEvidence {
                    @let (text, class) = words::lean(entry.outcome);
                    span class={ "lean " (class) } { (text) }
                }
            }
            p { (words::why(page, entry)) " " span.cost { (words::saves(entry.outcome)) (tendency(entry.outcome)) } }
        }
    }
}

/// How to adopt these, where one policy can have them all.
fn adopting(page: &Page<'_>, entries: &[&Entry<'_>]) -> Markup {
    let text = policy_file(page, entries);
    let is_valid = Policy::parse(text.as_bytes(), Path::new("adopted.toml")).is_ok();
    html! {
        @if is_valid {
            details {
                summary { "How to adopt " @if entries.len() == 1 { "it" } @else { "them" } }
                p { "Save this as " code { "adopted.toml" } ", measure the rules together with " code { "dedupe evaluate --policy adopted.toml" } ", and use them with " code { "dedupe --policy adopted.toml" } "." }
                pre { (text) }
            }
        }
    }
}

fn policy_file(page: &Page<'_>, entries: &[&Entry<'_>]) -> String {
    let rules: Vec<Rule> = entries
        .iter()
        .filter_map(|entry| Rule::parse(entry.name))
        .collect();
    let rules = RuleSet::of(&rules);
    let mut text = format!(
        "name = \"adopted\"\nversion = 1\nbase = \"{}\"\n[bets]\n",
        page.evaluated.base
    );
    let mut families: Vec<&str> = rules.iter().map(Rule::family).collect();
    families.dedup();
    for family in families {
        let of_family = rules.iter().filter(|rule| rule.family() == family);
        let options: Vec<String> = of_family
            .filter_map(Rule::option)
            .map(|option| format!("\"{option}\""))
            .collect();
        // Writing to a `String` cannot fail.
        writeln!(text, "{family} = [{}]", options.join(", ")).ok();
    }
    text
}

/// What would settle the open ones, but for those that say it themselves.
fn settling(page: &Page<'_>, entries: &[&Entry<'_>]) -> Markup {
    let of_all = |entry: &&&Entry<'_>| words::refetching(page, entry).is_none();
    let n_told_here = entries.iter().filter(of_all).count();
    html! {
        @if n_told_here > 0 {
            p.cost {
                "What would settle " @if n_told_here < entries.len() { "the others" } @else { "them" }
                ": an archive of more sites, or one in which URLs were fetched twice within "
                (page.evaluated.within_seconds / 86_400) " days."
            }
        }
    }
}

/// The number by which a rule is found in table, chart and pairs.
#[must_use]
pub(super) fn number(entry: &Entry<'_>) -> Markup {
    html! { span.number { (entry.number) } }
}

/// What a rule does, where its name is that of one.
#[must_use]
pub(super) fn does(name: &str) -> &'static str {
    let Some(rule) = Rule::parse(name) else {
        return "";
    };
    meaning::of(rule)
        .map(|meaning| meaning.text)
        .or_else(|| meaning::of_list(rule))
        .unwrap_or("")
}

/// What is known of the merges that count neither for nor against it.
fn tendency(outcome: &Outcome) -> String {
    match outcome.merges.total().unverifiable {
        0 => String::new(),
        n => format!(" Of {} nothing can be said.", counted(n, "merge", "merges")),
    }
}

fn idle(names: &[&str]) -> Markup {
    html! {
        details.idle {
            summary {
                (counted(names.len() as u64, "more rule merges", "more rules merge")) " nothing here, so this archive says nothing about "
                @if names.len() == 1 { "it" } @else { "them" }
            }
            p { @for (index, name) in names.iter().enumerate() { @if index > 0 { ", " } code { (name) } } }
        }
    }
}
