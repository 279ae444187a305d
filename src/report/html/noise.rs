//! How often one URL differs from itself.

use maud::{Markup, html};

use super::Page;
use super::number::{count, counted, share};
use super::rules;
use crate::evaluate::{N_BINS, Share};
use crate::report::evaluation::WrongPair;

/// The bins of noise, by the time between two fetches.
pub(super) const BINS: [&str; N_BINS] = [
    "up to an hour",
    "an hour to a day",
    "a day to a week",
    "a week to 30 days",
    "more than 30 days",
];

/// The largest gap of each bin but the last, in seconds.
const BIN_ENDS: [u64; N_BINS - 1] = [3_600, 86_400, 7 * 86_400, 30 * 86_400];

/// Comparisons from which on a share is shown.
const TRIALS_MIN: u64 = 20;

/// How far apart in time the two sides were fetched, as a bin; `None` where a time is unknown.
#[must_use]
pub(super) fn bin_of(pair: &WrongPair<'_>) -> Option<usize> {
    let [a, b] = [pair.sides[0].timestamp, pair.sides[1].timestamp];
    let gap = a.seconds().abs_diff(b.seconds());
    let bin = BIN_ENDS.iter().position(|end| gap <= *end);
    (a.is_known() && b.is_known()).then(|| bin.unwrap_or(N_BINS - 1))
}

/// The share of all refetches so far apart that differ, where it is known.
#[must_use]
pub(super) fn rate(page: &Page<'_>, bin: usize) -> Option<f64> {
    let found = page.evaluated.table.noise.overall[bin];
    found.rate().filter(|_| found.trials >= TRIALS_MIN)
}

/// Whether any refetch could be compared.
#[must_use]
pub(super) fn is_known(page: &Page<'_>) -> bool {
    let overall = &page.evaluated.table.noise.overall;
    overall.iter().any(|share| share.trials > 0)
}

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let noise = &page.evaluated.table.noise;
    let is_known = is_known(page);
    html! {
        section {
            h2 { "How often a page differs from itself" }
            p {
                "Where one URL was fetched twice, its two contents can be compared. What differs there would look like a wrong merge if it were two URLs: this is the noise floor. It only ever counts against a rule: so many of its wrong merges may be no fault of the rule, while a rule whose bound lies below it, on pages that change less or were fetched closer together, is none the worse for it. "
                @if !is_known {
                    strong { "In this archive no URL was fetched twice with contents that can be compared, so the noise floor is unknown." }
                } @else {
                    @let n_noisy = noise.n_noisy() as u64;
                    @if n_noisy > 0 {
                        (counted(n_noisy, "site changes", "sites change")) " so often (more than a quarter of the refetches) that nothing is decided there."
                    } @else {
                        "No site changes so often (more than a quarter of the refetches) that nothing could be decided there."
                    }
                }
            }
            @if is_known {
                table.rules {
                    thead {
                        tr {
                            th scope="col" { "Time between two fetches" }
                            th scope="col" { "Share that differed" }
                            th.numeric scope="col" { "Compared" }
                        }
                    }
                    tbody { @for (bin, share) in BINS.iter().zip(noise.overall) { (line(bin, share)) } }
                }
            }
        }
    }
}

fn line(bin: &str, bin_share: Share) -> Markup {
    let parts = [
        ("other", "differed", bin_share.hits),
        ("same", "stayed the same", bin_share.trials - bin_share.hits),
    ];
    html! {
        tr {
            th scope="row" { (bin) }
            td.bar data-label="Share that differed" {
                @match bin_share.rate() {
                    Some(rate) if bin_share.trials >= TRIALS_MIN => { b { (share(rate)) } (rules::bar(&parts, bin_share.trials)) }
                    Some(_) => span.none { (count(bin_share.hits)) " of " (count(bin_share.trials)) ": too few to say" }
                    None => span.none { "unknown" }
                }
            }
            td.numeric data-label="Compared" { (count(bin_share.trials)) }
        }
    }
}
