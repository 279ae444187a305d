//! What `evaluate` found: rules, the pairs behind wrong merges, hosts.

use super::output::{Finished, Target};
use super::table::{Cell, Table};
use crate::Result;
use crate::capture::{Digest, Timestamp};
use crate::digest;
use crate::evaluate::{MergeCounts, Outcome};
use crate::policy::RuleSet;

/// A row of the report on rules, beside its figures.
#[derive(Clone, Copy, Debug)]
pub struct RuleRow<'a> {
    /// The rule, policy or comparison.
    pub rule: &'a str,
    /// Of a rule its tier, else `policy`.
    pub tier: &'a str,
    /// Its figures.
    pub outcome: &'a Outcome,
    /// The domain with most wrong merges; empty for none.
    pub worst_host: &'a [u8],
}

/// The columns of `--report`, in order.
const RULE_COLUMNS: [&str; 48] = [
    "rule",
    "tier",
    "urls_fired",
    "urls_merged",
    "urls_split",
    "classes_merged",
    "pairs_right",
    "pairs_right_redirect",
    "pairs_wrong",
    "pairs_wrong_stable",
    "pairs_wrong_near",
    "pairs_unverifiable",
    "pairs_missed",
    "urls_right",
    "urls_wrong",
    "urls_wrong_stable",
    "urls_unverifiable",
    "urls_right_decidable",
    "urls_decidable",
    "classes_right",
    "classes_wrong",
    "classes_unverifiable",
    "domains",
    "few_hosts",
    "n_eff",
    "wrong_rate_max",
    "contents",
    "contents_unstable",
    "reduction",
    "page_loss_first",
    "page_loss_first_ci_low",
    "page_loss_first_ci_high",
    "page_loss_best",
    "page_loss_worst",
    "page_loss_expected",
    "loss_per_url_saved",
    "precision_low",
    "precision_high",
    "verified_precision",
    "verified_precision_ci_low",
    "verified_precision_ci_high",
    "recall",
    "noise_floor",
    "noise_pairs",
    "corrected_precision",
    "approximate",
    "verdict",
    "worst_host",
];

/// `--report`: one row for each rule.
#[derive(Debug)]
pub struct RuleTable(Table);

impl RuleTable {
    /// Starts the table.
    ///
    /// # Errors
    /// As [`Table::create`].
    pub fn create(target: &Target) -> Result<Self> {
        Table::create(target, &RULE_COLUMNS).map(Self)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, row: &RuleRow<'_>) -> Result<()> {
        let outcome = row.outcome;
        let pairs = pair_cells(outcome);
        let mut cells = vec![
            Cell::Text(row.rule.as_bytes()),
            Cell::Text(row.tier.as_bytes()),
            Cell::Number(outcome.urls_fired),
            Cell::Number(outcome.merges.total().merged),
            Cell::Number(outcome.urls_split),
            Cell::Number(outcome.merges.n_classes()),
        ];
        cells.extend(pairs);
        cells.extend(merge_cells(outcome));
        cells.extend(loss_cells(outcome));
        cells.extend(precision_cells(outcome));
        cells.extend([
            Cell::Text(outcome.advice.name().as_bytes()),
            Cell::Text(row.worst_host),
        ]);
        self.0.put(&cells)
    }

    /// Brings it to disk.
    ///
    /// # Errors
    /// As [`Table::finish`].
    pub fn finish(self) -> Result<(Finished, u64)> {
        self.0.finish()
    }
}

fn pair_cells(outcome: &Outcome) -> [Cell<'static>; 7] {
    [
        Some(outcome.pairs_right),
        outcome.pairs_right_redirect,
        Some(outcome.pairs_wrong),
        Some(outcome.pairs_wrong_stable),
        outcome.pairs_wrong_near,
        Some(outcome.pairs_unverifiable()),
        Some(outcome.pairs_missed),
    ]
    .map(|pairs| pairs.map_or(Cell::Empty, Cell::Pairs))
}

fn merge_cells(outcome: &Outcome) -> [Cell<'static>; 13] {
    let merges = &outcome.merges;
    let total = merges.total();
    [
        Cell::Number(total.right),
        Cell::Number(total.wrong),
        Cell::Number(total.wrong_stable),
        Cell::Number(total.unverifiable),
        Cell::Number(total.right_decidable),
        Cell::Number(total.decidable),
        Cell::Number(merges.classes_right),
        Cell::Number(merges.classes_wrong),
        Cell::Number(merges.classes_unverifiable),
        Cell::Number(merges.clusters().len() as u64),
        Cell::Truth(outcome.has_few_hosts()),
        real(outcome.precision.n_eff),
        real(outcome.precision.wrong_rate_max),
    ]
}

fn loss_cells(outcome: &Outcome) -> [Cell<'static>; 10] {
    let loss = &outcome.loss;
    let (low, high) = outcome.loss_interval.unzip();
    [
        Cell::Number(outcome.contents),
        Cell::Number(outcome.contents_unstable),
        real(outcome.reduction()),
        // Of a sample only bounds are known.
        outcome
            .sampled
            .map_or(Cell::Number(loss.first), |_| Cell::Empty),
        real(low),
        real(high),
        Cell::Number(loss.best),
        Cell::Number(loss.worst),
        Cell::Real(loss.expected),
        real(outcome.loss_per_url_saved()),
    ]
}

fn precision_cells(outcome: &Outcome) -> [Cell<'static>; 10] {
    let (low, high) = outcome.precision_bounds().unzip();
    let (verified_low, verified_high) = outcome.precision.interval.unzip();
    [
        real(low),
        real(high),
        real(outcome.precision.verified),
        real(verified_low),
        real(verified_high),
        real(outcome.recall()),
        real(outcome.floor.noise),
        Cell::Number(outcome.floor.trials),
        real(outcome.floor.corrected.map(|share| share.clamp(0.0, 1.0))),
        Cell::Number(outcome.approximate),
    ]
}

/// One of the pairs behind wrong merges: a URL and its keeper.
#[derive(Clone, Debug)]
pub struct WrongPair<'a> {
    /// The rule, policy or comparison.
    pub rule: &'a str,
    /// Rules that changed either of the two.
    pub rules: RuleSet,
    /// The smallest set of them that merges the two.
    pub shortest_rules: RuleSet,
    /// What both are under the rule; user info in clear, since it is hidden here.
    pub key_text: Vec<u8>,
    /// The URL and its keeper.
    pub sides: [WrongSide; 2],
    /// Both are stable.
    pub is_stable: bool,
    /// Equal text but for digits; `None` where no body was read.
    pub is_near: Option<bool>,
}

/// One URL of a wrong pair, and the capture that shows it.
#[derive(Clone, Debug)]
pub struct WrongSide {
    /// Its base form; user info in clear.
    pub url: Vec<u8>,
    /// The digest that counts.
    pub digest: Option<Digest>,
    /// When it was captured.
    pub timestamp: Timestamp,
    /// `filename:offset`.
    pub locator: Vec<u8>,
}

/// `--pairs`: one row for each wrong merge.
#[derive(Debug)]
pub struct WrongTable(Table);

impl WrongTable {
    /// Starts the table.
    ///
    /// # Errors
    /// As [`Table::create`].
    pub fn create(target: &Target) -> Result<Self> {
        const COLUMNS: [&str; 14] = [
            "rule",
            "rules",
            "shortest_rules",
            "url_a",
            "url_b",
            "key_text",
            "digest_a",
            "digest_b",
            "timestamp_a",
            "timestamp_b",
            "locator_a",
            "locator_b",
            "stable",
            "near",
        ];
        Table::create(target, &COLUMNS).map(Self)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, pair: &WrongPair<'_>) -> Result<()> {
        let [rules, shortest] = [pair.rules, pair.shortest_rules]
            .map(|rules| rules.iter().map(|rule| rule.name()).collect::<Vec<_>>());
        let texts: Vec<[Vec<u8>; 2]> = pair
            .sides
            .iter()
            .map(|side| {
                let (mut of_digest, mut of_time) = (Vec::new(), Vec::new());
                if let Some(digest) = &side.digest {
                    digest::write_text(digest, &mut of_digest);
                }
                side.timestamp.write_rfc3339(&mut of_time);
                [of_digest, of_time]
            })
            .collect();
        let [a, b] = &pair.sides;
        self.0.put(&[
            Cell::Text(pair.rule.as_bytes()),
            Cell::List(&rules),
            Cell::List(&shortest),
            Cell::Uri(&a.url),
            Cell::Uri(&b.url),
            Cell::Uri(&pair.key_text),
            Cell::Text(&texts[0][0]),
            Cell::Text(&texts[1][0]),
            Cell::Text(&texts[0][1]),
            Cell::Text(&texts[1][1]),
            Cell::Text(&a.locator),
            Cell::Text(&b.locator),
            Cell::Truth(pair.is_stable),
            pair.is_near.map_or(Cell::Empty, Cell::Truth),
        ])
    }

    /// Brings it to disk.
    ///
    /// # Errors
    /// As [`Table::finish`].
    pub fn finish(self) -> Result<(Finished, u64)> {
        self.0.finish()
    }
}

/// Merges of one rule on one domain.
#[derive(Clone, Copy, Debug)]
pub struct HostRow<'a> {
    /// The rule, policy or comparison.
    pub rule: &'a str,
    /// The registrable domain.
    pub domain: &'a [u8],
    /// Its merges.
    pub counts: MergeCounts,
    /// How often its URLs differ from themselves; `None` for unknown.
    pub noise_floor: Option<f64>,
    /// The rule is worse there than is allowed.
    pub is_flagged: bool,
}

/// `--hosts`: the counts for each rule and domain.
#[derive(Debug)]
pub struct HostTable(Table);

impl HostTable {
    /// Starts the table.
    ///
    /// # Errors
    /// As [`Table::create`].
    pub fn create(target: &Target) -> Result<Self> {
        const COLUMNS: [&str; 8] = [
            "rule",
            "domain",
            "urls_merged",
            "urls_right",
            "urls_wrong",
            "urls_unverifiable",
            "noise_floor",
            "flagged",
        ];
        Table::create(target, &COLUMNS).map(Self)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, row: &HostRow<'_>) -> Result<()> {
        self.0.put(&[
            Cell::Text(row.rule.as_bytes()),
            Cell::Text(row.domain),
            Cell::Number(row.counts.merged),
            Cell::Number(row.counts.right),
            Cell::Number(row.counts.wrong),
            Cell::Number(row.counts.unverifiable),
            real(row.noise_floor),
            Cell::Truth(row.is_flagged),
        ])
    }

    /// Brings it to disk.
    ///
    /// # Errors
    /// As [`Table::finish`].
    pub fn finish(self) -> Result<(Finished, u64)> {
        self.0.finish()
    }
}

/// A share or rate, where it is known.
pub(super) fn real(number: Option<f64>) -> Cell<'static> {
    number.map_or(Cell::Empty, Cell::Real)
}
