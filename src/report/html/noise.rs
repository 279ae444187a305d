//! How often one URL differs from itself.

use maud::{Markup, html};

use super::Page;
use super::number::{count, counted, share};
use super::rules;
use crate::evaluate::{N_BINS, Share};

/// The bins of noise, by the time between two fetches.
const BINS: [&str; N_BINS] = [
    "up to an hour",
    "an hour to a day",
    "a day to a week",
    "a week to 30 days",
    "more than 30 days",
];

/// Comparisons from which on a share is shown.
const TRIALS_MIN: u64 = 20;

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let noise = &page.evaluated.table.noise;
    let n_trials: u64 = noise.overall.iter().map(|share| share.trials).sum();
    html! {
        section {
            h2 { "How often a page differs from itself" }
            p {
                "Where one URL was fetched twice, its two contents can be compared. What differs there would look like a wrong merge if it were two URLs: this is the noise floor, below which no rule can be seen to be better. "
                @if n_trials == 0 {
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
            @if n_trials > 0 {
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
        (
            "unverifiable",
            "stayed the same",
            bin_share.trials - bin_share.hits,
        ),
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
