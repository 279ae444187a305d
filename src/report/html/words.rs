//! Sentences about a rule.

use std::fmt::Write as _;

use super::number::{at_least, at_most, count, counted, share};
use super::{Entry, Page, noise, visible};
use crate::evaluate::{Advice, DOMAINS_MIN, Lack, Outcome, Thresholds};

/// From this share on most merges are right.
const MOSTLY: f64 = 0.8;

/// The advice, as a heading.
#[must_use]
pub(super) fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::Adopt => "Adopt",
        Advice::AdoptPerHost => "Some sites only",
        Advice::Reject => "Reject",
        Advice::NotEnoughEvidence => "Open",
    }
}

/// What the advice means for these rules.
#[must_use]
pub(super) fn meaning(advice: Advice, entries: &[&Entry<'_>]) -> String {
    match advice {
        Advice::Adopt => "the evidence in this archive carries it".to_owned(),
        Advice::AdoptPerHost => "not for all sites, but for those named".to_owned(),
        Advice::Reject => rejecting(entries),
        Advice::NotEnoughEvidence => "do not adopt yet: this archive cannot tell".to_owned(),
    }
}

fn rejecting(entries: &[&Entry<'_>]) -> String {
    let (certain, all) = entries.iter().fold((0, 0), |(certain, all), entry| {
        let total = entry.outcome.merges.total();
        (certain + total.wrong_stable, all + total.wrong)
    });
    let extent = if certain == all {
        "and that is certain".to_owned()
    } else {
        format!(
            "certainly in {} of {} wrong merges",
            count(certain),
            count(all)
        )
    };
    format!("not for all sites: different pages are put together, {extent}")
}

/// Where an open rule stands so far, and the class of that in the style.
#[must_use]
pub(super) fn lean(outcome: &Outcome) -> (&'static str, &'static str) {
    match outcome.precision.verified {
        None => ("nothing known", "open"),
        Some(1.0) => ("so far only right", "right"),
        Some(0.0) => ("so far only wrong", "wrong"),
        Some(right) if right >= MOSTLY => ("so far mostly right", "right"),
        Some(right) if right <= 1.0 - MOSTLY => ("so far mostly wrong", "wrong"),
        Some(_) => ("so far right and wrong", "mixed"),
    }
}

/// Its class in the style.
#[must_use]
pub(super) fn class(advice: Advice) -> &'static str {
    match advice {
        Advice::Adopt => "adopt",
        Advice::AdoptPerHost => "some",
        Advice::Reject => "reject",
        Advice::NotEnoughEvidence => "open",
    }
}

/// Why the advice is what it is.
#[must_use]
pub(super) fn why(page: &Page<'_>, entry: &Entry<'_>) -> String {
    let outcome = entry.outcome;
    let total = outcome.merges.total();
    if total.merged == 0 {
        return "It merges nothing in this archive.".to_owned();
    }
    let checked = checked(outcome);
    match outcome.advice {
        Advice::Adopt => format!("{checked} {}", at_most_wrong(outcome)),
        Advice::Reject => {
            let mut text = format!(
                "{checked} {} certain: both pages were fetched again and had not changed.",
                of_which(total.wrong_stable, total.wrong),
            );
            if let Some((_, high)) = outcome.precision.interval {
                let asked = page.evaluated.thresholds.precision_min;
                // Writing to a `String` cannot fail.
                write!(
                    text,
                    " On further sites at most {} would be right; {} is asked for.",
                    at_most(high),
                    share(asked)
                )
                .ok();
            }
            if entry.row.n_passing > 0 {
                write!(
                    text,
                    " It is right on {}: adopt it there alone.",
                    passing(entry)
                )
                .ok();
            }
            text
        }
        Advice::AdoptPerHost => format!(
            "Adopt it on {}: {}. There at least {} checked merges of a half set aside for this were all right. Not on all sites: {} {}",
            counted(entry.row.n_passing, "site", "sites"),
            passing(entry),
            count(page.evaluated.thresholds.host_decidable_min),
            uncapitalized(&checked),
            missing(page, entry),
        ),
        Advice::NotEnoughEvidence => format!("{checked} {}", missing(page, entry)),
    }
}

/// `x of y wrong merges are`, in words.
fn of_which(part: u64, all: u64) -> String {
    if part == all {
        "All of these wrong merges are".to_owned()
    } else {
        format!(
            "{} of these {} wrong merges {}",
            count(part),
            count(all),
            if part == 1 { "is" } else { "are" }
        )
    }
}

/// What its saving and its loss are.
#[must_use]
pub(super) fn saves(outcome: &Outcome) -> String {
    let merged = outcome.merges.total().merged;
    let mut text = format!(
        "Saves {}{} of {} URLs ({})",
        if outcome.sampled.is_some() {
            "about "
        } else {
            ""
        },
        count(merged),
        count(outcome.n_urls),
        share(outcome.reduction().unwrap_or(0.0)),
    );
    let lost = match (outcome.sampled, outcome.loss.first) {
        (Some(sampled), _) => format!(
            "; loses {:.0} to {:.0} of {} page contents.",
            sampled.page_loss.0,
            sampled.page_loss.1,
            count(outcome.contents)
        ),
        (None, 0) => "; loses no page content.".to_owned(),
        (None, lost) => format!(
            "; loses {} of {} page contents ({}).",
            count(lost),
            count(outcome.contents),
            share(outcome.loss_rate().unwrap_or(0.0)),
        ),
    };
    text.push_str(&lost);
    text
}

/// How the merges went that could be checked.
#[must_use]
pub(super) fn checked(outcome: &Outcome) -> String {
    let evidence = outcome.evidence();
    let total = evidence.total();
    let n_sites = evidence.clusters().len() as u64;
    let wrong = total.decidable.saturating_sub(total.right_decidable);
    let on = counted(n_sites, "site", "sites");
    match (total.decidable, wrong) {
        (0, _) => "None of its merges could be checked.".to_owned(),
        (1, 0) => format!("The one merge that could be checked, on {on}, was right."),
        (n, 0) => format!(
            "All {} merges that could be checked, on {on}, were right.",
            count(n)
        ),
        (1, 1) => format!(
            "The one merge that could be checked, on {on}, put two different pages together."
        ),
        (n, wrong) if n == wrong => format!(
            "All {} merges that could be checked, on {on}, put different pages together.",
            count(n)
        ),
        (n, wrong) => format!(
            "Of {} merges that could be checked, on {on}, {} put two different pages together and {} {} right.",
            count(n),
            count(wrong),
            count(n - wrong),
            if n - wrong == 1 { "was" } else { "were" },
        ),
    }
}

/// The upper bound of wrong merges.
#[must_use]
pub(super) fn at_most_wrong(outcome: &Outcome) -> String {
    outcome.precision.wrong_rate_max.map_or_else(
        || "Nothing can be said about further sites.".to_owned(),
        |max| {
            format!(
                "On further sites like these at most {} of its merges would be wrong (95\u{a0}% confidence).",
                at_most(max)
            )
        },
    )
}

/// What it lacks. Where there are too few merges, an interval says no more than that.
fn missing(page: &Page<'_>, entry: &Entry<'_>) -> String {
    let outcome = entry.outcome;
    let total = outcome.merges.total();
    let thresholds = &page.evaluated.thresholds;
    let lacks = |lack| entry.row.lacks.contains(&lack);
    let mut sentences = Vec::new();
    if lacks(Lack::Decidable) || lacks(Lack::Domains) {
        sentences.push(too_few(outcome, thresholds));
    } else if lacks(Lack::Precision) {
        sentences.push(precision(outcome, thresholds.precision_min));
    }
    if lacks(Lack::Share) {
        sentences.push(format!(
            "Too much is unknown: only {} of its {} merges could be checked.",
            count(total.decidable),
            count(total.merged)
        ));
    }
    let is_said = lacks(Lack::Decidable) || lacks(Lack::Domains);
    if lacks(Lack::HardEvidence) && !is_said {
        sentences.push("None of the wrong ones is certain: they may be pages that changed between two fetches.".to_owned());
    }
    sentences.extend(refetching(page, entry));
    sentences.join(" ")
}

/// What would settle a rule whose wrong merges may all be noise; `None` where that is not so.
#[must_use]
pub(super) fn refetching(page: &Page<'_>, entry: &Entry<'_>) -> Option<String> {
    let outcome = entry.outcome;
    let total = outcome.merges.total();
    let wrong_rate = 1.0 - outcome.precision.verified?;
    let (_, high) = outcome.precision.interval?;
    let may_be_right = high >= page.evaluated.thresholds.precision_min;
    if total.wrong == 0 || total.wrong_stable > 0 || may_be_right {
        return None;
    }
    // Of the pairs that the page shows: where each may be one page that changed.
    let mut bins = Vec::new();
    for pair in &entry.row.wrong {
        let bin = noise::bin_of(pair)?;
        let rate = noise::rate(page, bin).filter(|rate| *rate >= wrong_rate)?;
        bins.push((bin, rate));
    }
    bins.sort_unstable_by_key(|(bin, _)| *bin);
    bins.dedup_by_key(|(bin, _)| *bin);
    let seen = match bins[..] {
        [] => return None,
        [(bin, rate)] => format!(
            "Those shown below were fetched {} apart, and {} of all refetches that far apart differ",
            noise::BINS[bin],
            share(rate)
        ),
        _ => "At the distances in time of those shown below, refetches of one page differ at least as often".to_owned(),
    };
    Some(format!(
        "{seen}: noise alone could explain them. What would settle it is fetching both URLs of these pairs again within {} days, not more sites.",
        page.evaluated.within_seconds / 86_400
    ))
}

/// What would be enough; more of what is wrong would not be.
fn too_few(outcome: &Outcome, thresholds: &Thresholds) -> String {
    let verified = outcome.precision.verified;
    let total = outcome.merges.total();
    let asked = share(thresholds.precision_min);
    if verified.is_none_or(|right| right >= thresholds.precision_min) {
        format!(
            "Too few to adopt it: that takes {} checked merges (--min-pairs), and {} for the interval (--min-precision), even if none is wrong.",
            count(thresholds.decidable_min),
            sites_needed(thresholds.precision_min)
        )
    } else if total.wrong_stable == 0 {
        format!(
            "The wrong ones are not certain (a page may have changed between two fetches), so it cannot be rejected; as it stands, it misses the {asked} right that are asked for."
        )
    } else {
        format!(
            "Too little to reject it for all sites; as it stands, it misses the {asked} right that are asked for."
        )
    }
}

/// How many sites with nothing but right merges put the lower end of the interval at `asked`.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 30 and 1e9"
)]
pub(super) fn sites_needed(asked: f64) -> String {
    let n = 0.025_f64.ln() / asked.ln();
    if n > DOMAINS_MIN as f64 && n < 1e9 {
        let rounding = 10_f64.powf((n.log10() - 1.0).floor());
        let rounded = (n / rounding).ceil() * rounding;
        format!("some {} sites", count(rounded as u64))
    } else {
        format!("{DOMAINS_MIN} sites or more")
    }
}

fn uncapitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn precision(outcome: &Outcome, asked: f64) -> String {
    match outcome.precision.interval {
        Some((low, _)) => format!(
            "Not sure enough: on further sites perhaps only {} of its merges would be right; {} is asked for.",
            at_least(low),
            share(asked)
        ),
        None => "It takes checked merges on two sites to say anything of further ones.".to_owned(),
    }
}

fn passing(entry: &Entry<'_>) -> String {
    let names: Vec<String> = entry
        .row
        .passing
        .iter()
        .map(|name| visible::text(name))
        .collect();
    let n_more = entry.row.n_passing - names.len() as u64;
    match n_more {
        0 => names.join(", "),
        more => format!("{} and {} more", names.join(", "), count(more)),
    }
}
