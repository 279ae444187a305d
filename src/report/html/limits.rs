//! What the figures say and what they do not.

use maud::{Markup, html};

use super::number::{count, share};
use super::{Page, words};

#[must_use]
pub(super) fn section(page: &Page<'_>) -> Markup {
    let evaluated = page.evaluated;
    let days = evaluated.within_seconds / 86_400;
    html! {
        section.limits {
            h2 { "What the numbers say, and what they do not" }
            p {
                strong { "They say " } "what each rule would have done to this archive" @if evaluated.rows.iter().all(|(_, outcome)| outcome.sampled.is_none()) { ": the counts are exact" } ". Percentages with a confidence are about "
                em { "further sites like these" } ". An archive of one language, one decade or one crawler is a sample of that, not of the web."
            }
            @if let Some(sampled) = evaluated.rows.iter().find_map(|(_, outcome)| outcome.sampled) {
                p {
                    strong { "Sample. " } "Only " (share(sampled.sample.share)) " of the URLs were compared (seed " (sampled.sample.seed)
                    "), those that any rule could make one always together. Counts of merges are those of the sample over its share, and so estimates; page loss lies between two bounds. Advice and percentages come from the sample itself."
                }
            }
            p {
                strong { "Time. " } "Two URLs are compared only where they were fetched within " (days) " days of each other. A page that changed in between looks like two pages. "
                @if evaluated.table.n_stable() == 0 {
                    "This archive is a single crawl: no URL was fetched again and found the same. So every wrong merge here is soft evidence, and no rule can be rejected for certain."
                } @else {
                    "A wrong merge is certain only where both pages were fetched again in that time and had not changed, which is known of "
                    (count(evaluated.table.n_stable() as u64)) " of " (count(evaluated.table.urls.len() as u64)) " URLs."
                }
            }
            p {
                strong { "Noise. " } "A page with a clock or an advertisement differs from itself, and a rule is blamed for it. URLs that a crawler fetches again change more than others, and an archive that dropped unchanged refetches shows only the changes: both make the noise floor too high."
            }
            p {
                strong { "Boilerplate. " } "A content of more than " (count(evaluated.boilerplate_max))
                " unrelated URLs of a host, or of as many sites, proves nothing: an error page that says it is none is not a page."
            }
            p {
                strong { "Sites, not URLs, are counted. " } "All merges of a site tend to be right or wrong together, so a thousand merges of one site are worth little more than one. No wrong merge on a few sites is not 0\u{a0}% wrong: it is "
                em { "at most" } " what the tables say. To adopt a rule takes both: " (count(evaluated.thresholds.decidable_min)) " checked merges (" code { "--min-pairs" } "), and at least "
                (share(evaluated.thresholds.precision_min)) " of them right by the lower end of the interval (" code { "--min-precision" } "), which even without any wrong merge takes "
                (words::sites_needed(evaluated.thresholds.precision_min)) "."
            }
            p {
                strong { "What is not here. " } "Pages that the crawl did not fetch, logged-in or personal pages, and what a server will answer tomorrow. From an index without its archive (CDX, CDXJ) the stated digests are believed."
            }
        }
    }
}
