//! `--audit`: merges for people to judge, and `--verdicts`: what they say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::advice::percent;
use super::evaluation::{WrongSide, real};
use super::output::{Finished, Target};
use super::table::{Cell, Table};
use crate::evaluate::{Cluster, Precision};
use crate::{Error, Result};

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

/// What people say of one rule.
#[derive(Clone, Debug, Default)]
struct Judged {
    by_host: BTreeMap<String, Cluster>,
    n_unsure: u64,
    n_open: u64,
    /// Precision and its interval, as the file has them.
    measured: [String; 3],
}

/// An audit with verdicts in it.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// By rule, in the order of the file.
    rules: Vec<(String, Judged)>,
}

impl Verdicts {
    /// Reads the CSV of [`AuditTable`], filled in; spreadsheets may have quoted it anew, or separated it by `;` or TABs.
    ///
    /// # Errors
    /// A usage error with the line: a column that is missing, a row of another length, a word that is no verdict.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |line: usize, why: String| Error::usage(format!("line {line}: {why}")).at(path);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut rows = rows(bytes).into_iter();
        let Some((_, header)) = rows.next() else {
            return Err(wrong(
                1,
                "empty; expected the file that --audit wrote".to_owned(),
            ));
        };
        let column = |name: &str| {
            let at = header.iter().position(|own| own == name);
            at.ok_or_else(|| {
                wrong(
                    1,
                    format!("no column `{name}`; expected the file that --audit wrote"),
                )
            })
        };
        let (rule, host, verdict) = (column("rule")?, column("host")?, column("verdict")?);
        let measured = [
            column("measured_precision")?,
            column("measured_ci_low")?,
            column("measured_ci_high")?,
        ];
        let mut verdicts = Self::default();
        for (line, row) in rows {
            if row.len() != header.len() {
                let why = format!("{} cells; expected {}", row.len(), header.len());
                return Err(wrong(line, why));
            }
            let judged = verdicts.of(&row[rule]);
            judged.measured = measured.map(|at| row[at].clone());
            judged
                .add(&row[host], &row[verdict])
                .map_err(|why| wrong(line, why))?;
        }
        Ok(verdicts)
    }

    /// Human precision beside the measured one, a line a rule.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (rule, judged) in &self.rules {
            let clusters: Vec<Cluster> = judged.by_host.values().copied().collect();
            let right: u64 = clusters.iter().map(|cluster| cluster.right).sum();
            let decidable: u64 = clusters.iter().map(|cluster| cluster.decidable).sum();
            let precision = Precision::of(&clusters);
            // Writing to a `String` cannot fail.
            writeln!(
                out,
                "{rule}: people {}, measured {}; {right} right, {} wrong on {} hosts, {} unsure, {} open",
                share(precision.verified, precision.interval),
                judged.measured_share(),
                decidable - right,
                clusters.len(),
                judged.n_unsure,
                judged.n_open,
            )
            .ok();
        }
        out
    }

    fn of(&mut self, rule: &str) -> &mut Judged {
        let at = self.rules.iter().position(|(own, _)| own == rule);
        let at = at.unwrap_or_else(|| {
            self.rules.push((rule.to_owned(), Judged::default()));
            self.rules.len() - 1
        });
        &mut self.rules[at].1
    }
}

impl Judged {
    fn add(&mut self, host: &str, verdict: &str) -> std::result::Result<(), String> {
        let word = verdict.trim().to_ascii_lowercase();
        let is_right = match word.as_str() {
            "right" => true,
            "wrong" => false,
            "unsure" => {
                self.n_unsure += 1;
                return Ok(());
            }
            "" => {
                self.n_open += 1;
                return Ok(());
            }
            _ => {
                let verdict = verdict.escape_default();
                return Err(format!(
                    "verdict `{verdict}`; expected right, wrong, unsure or nothing"
                ));
            }
        };
        let cluster = self.by_host.entry(host.to_owned()).or_default();
        cluster.decidable += 1;
        cluster.right += u64::from(is_right);
        Ok(())
    }

    fn measured_share(&self) -> String {
        let [verified, low, high] = self.measured.each_ref().map(|text| text.parse().ok());
        share(verified, low.zip(high))
    }
}

fn share(share: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map_or(String::new(), |(low, high)| {
        format!(" (95 %: {} to {})", percent(Some(low)), percent(Some(high)))
    });
    format!("{}{interval}", percent(share))
}

/// The rows of a CSV (RFC 4180), each with the line where it starts. What separates cells is what stands behind the first name.
fn rows(bytes: &[u8]) -> Vec<(usize, Vec<String>)> {
    let is_separator = |byte: &&u8| matches!(byte, b',' | b';' | b'\t');
    let separator = bytes.iter().find(is_separator).copied().unwrap_or(b',');
    let mut rows = Vec::new();
    let (mut row, mut cell) = (Vec::new(), Vec::new());
    let (mut line, mut start) = (1, 1);
    let mut is_quoted = false;
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        line += usize::from(*byte == b'\n');
        match byte {
            b'"' if is_quoted && tail.starts_with(b"\"") => {
                cell.push(b'"');
                rest = &tail[1..];
            }
            b'"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            b'\r' if !is_quoted && tail.starts_with(b"\n") => {}
            b'\n' if !is_quoted => {
                end_row(&mut rows, start, &mut row, &mut cell);
                start = line;
            }
            byte if *byte == separator && !is_quoted => row.push(text(&mut cell)),
            byte => cell.push(*byte),
        }
    }
    end_row(&mut rows, start, &mut row, &mut cell);
    rows
}

fn end_row(
    rows: &mut Vec<(usize, Vec<String>)>,
    line: usize,
    row: &mut Vec<String>,
    cell: &mut Vec<u8>,
) {
    if row.is_empty() && cell.is_empty() {
        return;
    }
    row.push(text(cell));
    rows.push((line, std::mem::take(row)));
}

/// A cell; what is no UTF-8 is read as Latin-1, since no column that counts has other than ASCII.
fn text(cell: &mut Vec<u8>) -> String {
    let bytes = std::mem::take(cell);
    String::from_utf8(bytes).unwrap_or_else(|error| {
        error
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "rule,host,url_a,measured_precision,measured_ci_low,measured_ci_high,verdict";

    fn read(text: &str) -> Result<Verdicts> {
        Verdicts::parse(text.as_bytes(), Path::new("audit.csv"))
    }

    #[test]
    fn counts_words_by_rule_and_host() {
        let rows = [
            "www=www,a.example,http://a,0.9,0.8,0.95,right",
            "www=www,b.example,\"http://b/,\"\"x\"\"\n\",0.9,0.8,0.95, Wrong ",
            "www=www,b.example,http://c,0.9,0.8,0.95,RIGHT",
            "www=www,c.example,http://d,0.9,0.8,0.95,unsure",
            "path-case=lower,c.example,http://e,,,,",
        ];
        let expected_start = "www=www: people 66.667 % (95 %: ";
        let expected_end = "measured 90.000 % (95 %: 80.000 % to 95.000 %); 2 right, 1 wrong on 2 hosts, 1 unsure, 0 open\n\
             path-case=lower: people none, measured none; 0 right, 0 wrong on 0 hosts, 0 unsure, 1 open\n";
        for separator in [",", ";", "\t"] {
            let text = [&[HEADER], &rows[..]].concat().join("\r\n");
            let text = if separator == "," {
                text
            } else {
                text.replace(',', separator)
            };
            let text = read(&format!("\u{feff}{text}\r\n")).unwrap().text();
            assert!(text.starts_with(expected_start), "{text}");
            assert!(text.ends_with(expected_end), "{text}");
        }
    }

    #[test]
    fn names_the_line_of_a_mistake() {
        for (rows, expected) in [
            (
                "a,b,c,,,,maybe",
                "line 2: verdict `maybe`; expected right, wrong, unsure or nothing",
            ),
            ("a,b,\"\n\n\",,,,right\na,b", "line 5: 2 cells; expected 7"),
        ] {
            let error = read(&format!("{HEADER}\n{rows}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = read("rule,host\n").unwrap_err().to_string();
        assert!(error.contains("no column `verdict`"), "{error}");
        assert!(read("").unwrap_err().to_string().contains("empty"));
    }
}
