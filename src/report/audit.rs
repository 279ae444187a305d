//! `--audit`: merges for people to judge.

use super::evaluation::{WrongSide, real};
use super::output::{Finished, Target};
use super::table::{Cell, Table};
use crate::Result;
use crate::evaluate::Precision;

/// A merge for people to judge.
#[derive(Clone, Debug)]
pub struct AuditRow<'a> {
    /// The rule or policy that makes it.
    pub rule: &'a str,
    /// The keeper's registrable domain.
    pub host: &'a [u8],
    /// The URL and its keeper.
    pub sides: [WrongSide; 2],
    /// How many merges of the rule it stands for.
    pub weight: f64,
    /// What was measured of the rule.
    pub measured: &'a Precision,
}

/// The columns, in order. What was measured of the merge itself is not there: a judge should not know.
const COLUMNS: [&str; 13] = [
    "rule",
    "host",
    "url_a",
    "url_b",
    "timestamp_a",
    "timestamp_b",
    "locator_a",
    "locator_b",
    "stands_for",
    "measured_precision",
    "measured_ci_low",
    "measured_ci_high",
    "verdict",
];

/// `--audit`: one row for each merge that was drawn.
#[derive(Debug)]
pub struct AuditTable(Table);

impl AuditTable {
    /// Starts the table.
    ///
    /// # Errors
    /// As [`Table::create`].
    pub fn create(target: &Target) -> Result<Self> {
        Table::create(target, &COLUMNS).map(Self)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, row: &AuditRow<'_>) -> Result<()> {
        let [a, b] = &row.sides;
        let times = [a, b].map(|side| {
            let mut text = Vec::new();
            side.timestamp.write_rfc3339(&mut text);
            text
        });
        let (low, high) = row.measured.interval.unzip();
        self.0.put(&[
            Cell::Text(row.rule.as_bytes()),
            Cell::Text(row.host),
            Cell::Uri(&a.url),
            Cell::Uri(&b.url),
            Cell::Text(&times[0]),
            Cell::Text(&times[1]),
            Cell::Text(&a.locator),
            Cell::Text(&b.locator),
            Cell::Real(row.weight),
            real(row.measured.verified),
            real(low),
            real(high),
            Cell::Empty,
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
