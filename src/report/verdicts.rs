//! `--verdicts`: what people say of the merges that `--audit` drew.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use super::advice::percent;
use super::text::visible;
use crate::evaluate::{Cluster, Precision};
use crate::{Error, Result};

/// What people say of one rule.
#[derive(Clone, Debug)]
struct Judged {
    by_host: BTreeMap<String, Cluster>,
    n_unsure: u64,
    n_open: u64,
    measured: Measured,
    /// The line that says so.
    line: usize,
}

/// What the tool measured of a rule: precision and its interval, as the file has them.
type Measured = [Option<f64>; 3];

/// An audit with verdicts in it.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// By rule, in the order of the file.
    rules: Vec<(String, Judged)>,
    /// Rows of merges that stand in another row too.
    n_repeated: u64,
}

/// A word of the column `verdict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Right,
    Wrong,
    Unsure,
    /// Nothing yet.
    Open,
}

/// One merge, by rule and URLs.
type Merge = (String, String, String);

impl Verdicts {
    /// Reads the CSV of [`AuditTable`](super::AuditTable), filled in; spreadsheets may have quoted it anew, or separated it by `;` or TABs.
    ///
    /// A merge that stands in several rows counts once.
    ///
    /// # Errors
    /// A usage error with the line: a column that is missing, a row of another length, a word that is no verdict, a
    /// number that is none, a merge or a rule of which two lines say different things.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |line: usize, why: String| Error::usage(format!("line {line}: {why}")).at(path);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut rows = rows(bytes).into_iter();
        let (_, header) = rows.next().unwrap_or_default();
        let columns = Columns::of(&header).map_err(|why| wrong(1, why))?;
        let mut verdicts = Self::default();
        let mut merges: HashMap<Merge, (usize, Word, String)> = HashMap::new();
        let mut order: Vec<Merge> = Vec::new();
        for (line, row) in rows {
            if row.len() != header.len() {
                let why = format!("{} cells; expected {}", row.len(), header.len());
                return Err(wrong(line, why));
            }
            let word = columns.read(&row).map_err(|why| wrong(line, why))?;
            let measured = columns.measured(&row).map_err(|why| wrong(line, why))?;
            let judged = verdicts.of(&row[columns.rule], (measured, line));
            if judged.measured != measured {
                let why = format!(
                    "measured figures of this rule that are not those of line {}; expected rows of one archive",
                    judged.line
                );
                return Err(wrong(line, why));
            }
            let merge = [columns.rule, columns.url_a, columns.url_b].map(|at| row[at].clone());
            let merge: Merge = merge.into();
            let host = row[columns.host].clone();
            let Some((first, known, _)) = merges.get_mut(&merge) else {
                merges.insert(merge.clone(), (line, word, host));
                order.push(merge);
                continue;
            };
            verdicts.n_repeated += 1;
            match (*known, word) {
                (_, Word::Open) => {}
                (Word::Open, _) => (*first, *known) = (line, word),
                (known, word) if known == word => {}
                (known, word) => {
                    let why = format!(
                        "`{}`, but line {first} says `{}` of the same merge; expected one verdict",
                        word.name(),
                        known.name()
                    );
                    return Err(wrong(line, why));
                }
            }
        }
        for merge in order {
            let (line, word, host) = &merges[&merge];
            verdicts
                .of(&merge.0, (Measured::default(), *line))
                .add(host, *word);
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
            let [verified, low, high] = judged.measured;
            // Writing to a `String` cannot fail.
            writeln!(
                out,
                "{}: people {}, measured {}; {right} right, {} wrong on {} hosts, {} unsure, {} open",
                visible(rule),
                share(precision.verified, precision.interval),
                share(verified, low.zip(high)),
                decidable - right,
                clusters.len(),
                judged.n_unsure,
                judged.n_open,
            )
            .ok();
        }
        if self.n_repeated > 0 {
            let n = self.n_repeated;
            writeln!(out, "{n} rows repeat a merge and were not counted again").ok();
        }
        out
    }

    fn of(&mut self, rule: &str, (measured, line): (Measured, usize)) -> &mut Judged {
        let at = self.rules.iter().position(|(own, _)| own == rule);
        let at = at.unwrap_or_else(|| {
            let judged = Judged {
                by_host: BTreeMap::new(),
                n_unsure: 0,
                n_open: 0,
                measured,
                line,
            };
            self.rules.push((rule.to_owned(), judged));
            self.rules.len() - 1
        });
        &mut self.rules[at].1
    }
}

/// Where the columns that count stand.
struct Columns {
    rule: usize,
    host: usize,
    url_a: usize,
    url_b: usize,
    stands_for: usize,
    measured: [usize; 3],
    verdict: usize,
    names: Vec<String>,
}

impl Columns {
    fn of(header: &[String]) -> std::result::Result<Self, String> {
        const EXPECTED: &str = "expected the file that --audit wrote";
        if header.is_empty() {
            return Err(format!("empty; {EXPECTED}"));
        }
        let column = |name: &str| {
            let at = header.iter().position(|own| own == name);
            at.ok_or_else(|| format!("no column `{name}`; {EXPECTED}"))
        };
        Ok(Self {
            rule: column("rule")?,
            host: column("host")?,
            url_a: column("url_a")?,
            url_b: column("url_b")?,
            stands_for: column("stands_for")?,
            measured: [
                column("measured_precision")?,
                column("measured_ci_low")?,
                column("measured_ci_high")?,
            ],
            verdict: column("verdict")?,
            names: header.to_vec(),
        })
    }

    /// The verdict of a row whose other cells are as they should be.
    fn read(&self, row: &[String]) -> std::result::Result<Word, String> {
        let is_weight = |weight: f64| weight.is_finite() && weight >= 1.0;
        match self.number(row, self.stands_for, "a number of merges, 1 or more")? {
            Some(weight) if is_weight(weight) => {}
            _ => return Err(self.wrong(row, self.stands_for, "a number of merges, 1 or more")),
        }
        Word::of(&row[self.verdict])
            .ok_or_else(|| self.wrong(row, self.verdict, "right, wrong, unsure or nothing"))
    }

    fn measured(&self, row: &[String]) -> std::result::Result<Measured, String> {
        const SHARE: &str = "a share from 0 to 1 or nothing, as in 0.912";
        let mut measured = Measured::default();
        for (share, at) in measured.iter_mut().zip(self.measured) {
            *share = self.number(row, at, SHARE)?;
            if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                return Err(self.wrong(row, at, SHARE));
            }
        }
        let [_, low, high] = measured;
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err(self.wrong(row, self.measured[2], "the upper end of the interval"));
        }
        Ok(measured)
    }

    fn number(
        &self,
        row: &[String],
        at: usize,
        expected: &str,
    ) -> std::result::Result<Option<f64>, String> {
        let text = row[at].trim();
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().map_err(|_| self.wrong(row, at, expected))?;
        Ok(Some(number))
    }

    /// What is wrong with a cell.
    fn wrong(&self, row: &[String], at: usize, expected: &str) -> String {
        let (column, name) = (at + 1, &self.names[at]);
        let text = row[at].escape_default();
        format!("column {column} (`{name}`): `{text}`; expected {expected}")
    }
}

impl Word {
    fn of(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "right" => Some(Self::Right),
            "wrong" => Some(Self::Wrong),
            "unsure" => Some(Self::Unsure),
            "" => Some(Self::Open),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unsure => "unsure",
            Self::Open => "",
        }
    }
}

impl Judged {
    fn add(&mut self, host: &str, word: Word) {
        match word {
            Word::Unsure => self.n_unsure += 1,
            Word::Open => self.n_open += 1,
            Word::Right | Word::Wrong => {
                let cluster = self.by_host.entry(host.to_owned()).or_default();
                cluster.decidable += 1;
                cluster.right += u64::from(word == Word::Right);
            }
        }
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

    const HEADER: &str = "rule,host,url_a,url_b,stands_for,measured_precision,measured_ci_low,measured_ci_high,verdict";

    fn read(text: &str) -> Result<Verdicts> {
        Verdicts::parse(text.as_bytes(), Path::new("audit.csv"))
    }

    #[test]
    fn counts_words_by_rule_and_host() {
        let rows = [
            "www=www,a.example,http://a,x,4,0.9,0.8,0.95,right",
            "www=www,b.example,\"http://b/,\"\"x\"\"\n\",x,4,0.9,0.8,0.95, Wrong ",
            "www=www,b.example,http://c,x,4,0.9,0.8,0.95,RIGHT",
            "www=www,c.example,http://d,x,4,0.9,0.8,0.95,unsure",
            "path-case=lower,c.example,http://e,x,1.5,,,,",
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
    fn a_merge_in_several_rows_counts_once() {
        let row = |rule: &str, url: &str, verdict: &str| {
            format!("{rule},a.example,{url},x,4,0.9,0.8,0.95,{verdict}\n")
        };
        let rows = [
            row("r", "u", ""),
            row("r", "u", "wrong"),
            row("r", "u", "wrong"),
            row("r", "u", ""),
            row("r", "v", "right"),
            row("s", "u", "right"),
        ];
        let text = read(&format!("{HEADER}\n{}", rows.concat()))
            .unwrap()
            .text();
        assert!(text.contains("1 right, 1 wrong on 1 hosts, 0 unsure, 0 open"));
        assert!(text.contains("s: people 100.000 %") && text.contains("3 rows repeat a merge"));
        for (other, said) in [("wrong", "right"), ("unsure", "right"), ("unsure", "wrong")] {
            let rows = [row("r", "u", said), row("r", "v", ""), row("r", "u", other)].concat();
            let error = read(&format!("{HEADER}\n{rows}")).unwrap_err().to_string();
            let expected = format!("line 4: `{other}`, but line 2 says `{said}` of the same merge");
            assert!(error.contains(&expected), "{error}");
        }
    }

    #[test]
    fn names_the_line_and_column_of_a_mistake() {
        for (rows, expected) in [
            (
                "a,b,c,d,1,,,,maybe",
                "line 2: column 9 (`verdict`): `maybe`; expected right, wrong, unsure or nothing",
            ),
            (
                "a,b,\"\n\n\",d,1,,,,right\na,b",
                "line 5: 2 cells; expected 9",
            ),
            (
                "a,b,c,d,0.5,,,,",
                "line 2: column 5 (`stands_for`): `0.5`; expected a number",
            ),
            ("a,b,c,d,,,,,", "column 5 (`stands_for`): ``;"),
            ("a,b,c,d,NaN,,,,", "column 5 (`stands_for`): `NaN`;"),
            (
                "a,b,c,d,1,\"0,9\",,,",
                "column 6 (`measured_precision`): `0,9`; expected a share",
            ),
            (
                "a,b,c,d,1,0.9,-0.1,,",
                "column 7 (`measured_ci_low`): `-0.1`;",
            ),
            (
                "a,b,c,d,1,0.9,0.8,1.5,",
                "column 8 (`measured_ci_high`): `1.5`;",
            ),
            (
                "a,b,c,d,1,0.9,0.8,0.7,",
                "column 8 (`measured_ci_high`): `0.7`; expected the upper end",
            ),
            (
                "a,b,c,d,1,0.9,,,\na,b,e,d,1,0.8,,,",
                "line 3: measured figures of this rule that are not those of line 2",
            ),
        ] {
            let error = read(&format!("{HEADER}\n{rows}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = read(
            "rule,host,url_a,url_b,stands_for,measured_precision,measured_ci_low,measured_ci_high\n",
        );
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no column `verdict`"), "{error}");
        assert!(read("").unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn no_text_of_the_file_moves_a_terminal() {
        let text = format!("{HEADER}\n\u{1b}[31mr\u{202e},a,b,c,1,,,,right\n");
        let shown = read(&text).unwrap().text();
        assert!(
            shown.starts_with("\\u{1b}[31mr\\u{202e}: people"),
            "{shown}"
        );
        let error = read(&text.replace("right", "\u{1b}c"))
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}
