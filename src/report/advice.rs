//! What `evaluate` says to people in five lines, and to programs in the summary.

use std::fmt::Write as _;

use indicatif::HumanCount;
use serde_json::{Value, json};

use super::figures::CountsByName;
use super::learned::LearnedPolicy;
use super::people::People;
use super::text::visible;
use crate::evaluate::{
    Advice, Estimate, Interactions, N_BINS, Outcome, Sample, Sampled, Share, Table, Thresholds,
};

/// Rules that a line names before it counts the others.
const NAMED_MAX: usize = 4;
/// The bins of noise, by the gap between two captures.
const BINS: [&str; N_BINS] = ["1h", "1d", "7d", "30d", "more"];
/// What counts are of: a sample, or the whole.
const EXTENT: [&str; 2] = [
    "counts are those of a sample over its share; wrong pairs and interactions are those of the sample itself",
    "an interval speaks of further domains like these; on this archive the counts are exact",
];
/// What the figures do not say.
const NOTES: [&str; 2] = [
    "URLs that a crawler fetches again change more than others, which inflates the noise floor",
    "an archive that dropped unchanged refetches inflates the noise floor",
];

/// All that was found.
#[derive(Debug)]
pub struct Evaluated<'a> {
    /// Rules, policies and comparisons with their figures, in the order of the report.
    pub rows: Vec<(&'a str, &'a Outcome)>,
    /// Which of them is the policy under test.
    pub policy_row: Option<usize>,
    /// The base that all of it stands on, `name@version`.
    pub base: String,
    /// How far apart captures may be and still say something of each other.
    pub within_seconds: i64,
    /// Unrelated URLs of one host that may share a content.
    pub boilerplate_max: u64,
    /// What a rule needs to be adopted.
    pub thresholds: Thresholds,
    /// The share of contents that may be lost.
    pub loss_max: Option<f64>,
    /// The URLs and what was seen of them.
    pub table: &'a Table,
    /// Registrable domains.
    pub n_domains: usize,
    /// Rules of the policy that only work together.
    pub interactions: Interactions,
    /// What was learned of single hosts.
    pub learned: LearnedPolicy<'a>,
}

impl Evaluated<'_> {
    /// Rows whose loss is beyond `--max-loss`: the policy's, or without one any.
    #[must_use]
    pub fn crossed(&self) -> Vec<&str> {
        let loss_max = self.loss_max.unwrap_or(f64::INFINITY);
        self.judged()
            .filter(|(_, outcome)| outcome.loss_rate().is_some_and(|rate| rate > loss_max))
            .map(|(name, _)| *name)
            .collect()
    }

    /// `evaluation{}` of the summary.
    #[must_use]
    pub fn figures(&self) -> CountsByName {
        let noise = &self.table.noise;
        let boilerplate = self
            .table
            .digests
            .iter()
            .filter(|digest| digest.is_boilerplate);
        let figures = json!({
            "base": self.base,
            "urls": self.table.urls.len(),
            "domains": self.n_domains,
            "domains_noisy": self.table.noise.n_noisy(),
            "contents": self.rows.first().map(|(_, outcome)| outcome.contents),
            "contents_unstable": self.rows.first().map(|(_, outcome)| outcome.contents_unstable),
            "window_seconds": self.within_seconds,
            "refetched_urls": self.table.n_stable(),
            "boilerplate": { "max": self.boilerplate_max, "contents": boilerplate.count() },
            "thresholds": {
                "min_precision": self.thresholds.precision_min,
                "min_pairs": self.thresholds.decidable_min,
                "max_loss": self.loss_max,
            },
            "noise": BINS.iter().zip(noise.overall).map(|(bin, share)| noise_bin(bin, share)).collect::<Vec<_>>(),
            "interactions": self.interactions.iter().map(|(rules, interaction)| json!({
                "rules": rules.iter().map(|rule| rule.name()).collect::<Vec<_>>(),
                "needs_both": interaction.needs_both,
                "either": interaction.either,
            })).collect::<Vec<_>>(),
            "urls_without_skeleton": self.table.n_without_skeleton(),
            "sampled": self.sampled(),
            "learned": self.learned.figures(),
            "verdicts": self.rows.iter().map(|(name, outcome)| {
                ((*name).to_owned(), Value::from(outcome.advice.name()))
            }).collect::<serde_json::Map<_, _>>(),
            "max_loss_crossed": self.crossed(),
            "notes": self.notes(),
        });
        match figures {
            Value::Object(figures) => figures,
            _ => CountsByName::new(),
        }
    }

    /// The sample that was counted; `None` for the whole.
    fn sample(&self) -> Option<Sample> {
        let mut rows = self.rows.iter();
        rows.find_map(|(_, outcome)| outcome.sampled)
            .map(|sampled| sampled.sample)
    }

    /// How the sample was drawn, and how sure the counts are that it gives for the whole.
    fn sampled(&self) -> Option<Value> {
        let sample = self.sample()?;
        let drawn = self.table.ids();
        let n_drawn = drawn
            .filter(|url| sample.holds(self.table.url(*url).skeleton))
            .count();
        let rows = self.rows.iter().filter_map(|(name, outcome)| {
            Some(((*name).to_owned(), row_estimates(&outcome.sampled?)))
        });
        Some(json!({
            "share": sample.share,
            "seed": sample.seed,
            "urls": n_drawn,
            "rows": rows.collect::<serde_json::Map<_, _>>(),
        }))
    }

    fn notes(&self) -> Vec<&'static str> {
        let soft = (self.table.n_stable() == 0)
            .then_some("no URL was fetched again and stayed the same: every wrong merge is soft evidence, for the page may have changed");
        let extent = EXTENT[usize::from(self.sample().is_none())];
        [extent].into_iter().chain(NOTES).chain(soft).collect()
    }

    /// The policy's row, or without one all.
    fn judged(&self) -> impl Iterator<Item = &(&str, &Outcome)> {
        let all = 0..self.rows.len();
        let picked = self.policy_row.map_or(all, |row| row..row + 1);
        self.rows[picked].iter()
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![
            ("evaluated", self.what_was_evaluated()),
            ("merges", self.merges()),
            ("verdicts", self.verdicts()),
            ("page loss", self.loss()),
            ("evidence", self.evidence()),
        ];
        if self.learned.is_told() {
            lines.push(("learned", self.learned.line()));
        }
        lines
    }

    fn what_was_evaluated(&self) -> String {
        let contents = self.rows.first().map_or(0, |(_, outcome)| outcome.contents);
        let sample = self.sample().map_or(String::new(), |sample| {
            let share = percent(Some(sample.share));
            format!("; counted in a sample of {share}, seed {}", sample.seed)
        });
        format!(
            "{} URLs of {} domains under {}, with {} contents; captures speak for {} days{sample}",
            n(self.table.urls.len() as u64),
            n(self.n_domains as u64),
            self.base,
            n(contents),
            self.within_seconds / 86_400,
        )
    }

    /// Of the policy, or of the rule that merges most.
    fn merges(&self) -> String {
        let most = self.judged().enumerate().max_by_key(|(row, (_, outcome))| {
            (outcome.merges.total().merged, std::cmp::Reverse(*row))
        });
        let Some((_, (name, outcome))) = most else {
            return "nothing was asked".to_owned();
        };
        let total = outcome.merges.total();
        let mut text = format!(
            "{name}: {} URLs ({}), {} right, {} wrong, {} unverifiable",
            n(total.merged),
            percent(outcome.reduction()),
            n(total.right),
            n(total.wrong),
            n(total.unverifiable),
        );
        if let Some(max) = outcome.precision.wrong_rate_max {
            // Writing to a `String` cannot fail.
            write!(text, "; at most {} are wrong (95 %)", percent(Some(max))).ok();
        }
        text
    }

    fn verdicts(&self) -> String {
        let merges = |outcome: &Outcome| outcome.merges.total().merged > 0;
        let of = |advice: Advice| {
            let names: Vec<&str> = self
                .rows
                .iter()
                .filter(|(_, outcome)| outcome.advice == advice && merges(outcome))
                .map(|(name, _)| *name)
                .collect();
            (!names.is_empty()).then(|| format!("{} {}", advice.name(), named(&names)))
        };
        let n_idle = self.rows.iter().filter(|row| !merges(row.1)).count();
        let idle = (n_idle > 0).then(|| format!("{n_idle} that merge nothing"));
        let verdicts: Vec<String> = [
            Advice::Adopt,
            Advice::AdoptPerHost,
            Advice::Reject,
            Advice::NotEnoughEvidence,
        ]
        .into_iter()
        .filter_map(of)
        .chain(idle)
        .collect();
        verdicts.join("; ")
    }

    /// Of the policy, or of the rule that loses most.
    fn loss(&self) -> String {
        let most = self
            .judged()
            .enumerate()
            .max_by_key(|(row, (_, outcome))| (outcome.loss.first, std::cmp::Reverse(*row)));
        let Some((_, (name, outcome))) = most else {
            return "nothing was asked".to_owned();
        };
        let mut text = match (outcome.sampled, outcome.loss_interval) {
            (Some(_), Some((low, high))) => format!(
                "{name}: {low:.0} to {high:.0} of {} contents, as far as a sample can tell",
                n(outcome.contents),
            ),
            _ => format!(
                "{name}: {} of {} contents ({})",
                n(outcome.loss.first),
                n(outcome.contents),
                percent(outcome.loss_rate()),
            ),
        };
        if let (None, Some((low, high))) = (outcome.sampled, outcome.loss_interval) {
            write!(text, ", 95 % interval {low:.0} to {high:.0}").ok();
        }
        if let Some(max) = self.loss_max {
            let crossed = self.crossed();
            let state = if crossed.is_empty() {
                "kept"
            } else {
                "crossed"
            };
            write!(text, "; --max-loss {} {state}", percent(Some(max))).ok();
        }
        text
    }

    fn evidence(&self) -> String {
        let total = self
            .judged()
            .map(|(_, outcome)| outcome.merges.total())
            .fold((0, 0), |sum, total| {
                (sum.0 + total.wrong, sum.1 + total.wrong_stable)
            });
        if self.table.n_stable() == 0 {
            return "soft: no URL was fetched again and stayed the same, so a wrong merge may be a page that changed"
                .to_owned();
        }
        let shares = self.table.noise.overall;
        let noise = shares.iter().fold(Share::default(), |sum, share| Share {
            trials: sum.trials + share.trials,
            hits: sum.hits + share.hits,
        });
        format!(
            "{} of {} wrong merges are of URLs that stay the same; one URL differs from itself in {} of {} refetches",
            n(total.1),
            n(total.0),
            percent(noise.rate()),
            n(noise.trials),
        )
    }
}

impl People {
    /// The five lines that a person needs to decide.
    pub fn advise(&self, evaluated: &Evaluated<'_>) {
        let mut text = String::new();
        for (label, line) in evaluated.lines() {
            writeln!(text, "{label:<11} {}", visible(&line)).ok();
        }
        self.tell(&text);
    }
}

fn row_estimates(sampled: &Sampled) -> Value {
    let of = |estimate: Estimate| json!({ "estimate": estimate.count, "low": estimate.low, "high": estimate.high });
    let [merged, right, wrong, unverifiable] = sampled.urls;
    let [_, pairs_right, pairs_wrong] = sampled.pairs;
    let (at_least, at_most) = sampled.page_loss;
    json!({
        "urls_merged": of(merged),
        "urls_right": of(right),
        "urls_wrong": of(wrong),
        "urls_unverifiable": of(unverifiable),
        "pairs_right": of(pairs_right),
        "pairs_wrong": of(pairs_wrong),
        "pairs_missed": of(sampled.pairs_missed),
        "page_loss": { "low": at_least, "high": at_most },
    })
}

fn noise_bin(bin: &str, share: Share) -> Value {
    json!({ "up_to": bin, "trials": share.trials, "differing": share.hits, "share": share.rate() })
}

fn named(names: &[&str]) -> String {
    let first = &names[..names.len().min(NAMED_MAX)];
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn n(count: u64) -> HumanCount {
    HumanCount(count)
}

/// A share, or `none`.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or("none".to_owned(), |share| format!("{:.3} %", share * 100.0))
}
