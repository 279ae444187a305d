//! A table of any columns, as CSV or JSONL: what `evaluate` found.

use super::output::{Finished, Output, Target};
use super::row::Cells;
use super::{Escape, Format, csv, jsonl};
use crate::Result;

/// A cell.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// Absent.
    Empty,
    /// Text as found; empty means absent.
    Text(&'a [u8]),
    /// A URI, whose user info is hidden.
    Uri(&'a [u8]),
    /// A count.
    Number(u64),
    /// A count of pairs.
    Pairs(u128),
    /// A yes or no.
    Truth(bool),
    /// A share or rate, in nine digits; absent where it is no number.
    Real(f64),
    /// Names joined by `;`, an array in JSONL.
    List(&'a [&'a str]),
}

/// A table that is being written.
#[derive(Debug)]
pub struct Table {
    output: Output,
    format: Format,
    columns: &'static [&'static str],
    line: Vec<u8>,
    scratch: Vec<u8>,
    n_rows: u64,
}

impl Table {
    /// Starts a table, with its header.
    ///
    /// # Errors
    /// As [`Output::create`] and [`Format::of`].
    pub fn create(target: &Target, columns: &'static [&'static str]) -> Result<Self> {
        let format = Format::of(target)?;
        let mut output = Output::create(target)?;
        let mut line = Vec::new();
        if format == Format::Csv {
            csv::push_header(columns, &mut line);
            output.put(&line)?;
        }
        Ok(Self {
            output,
            format,
            columns,
            line,
            scratch: Vec::new(),
            n_rows: 0,
        })
    }

    /// Adds a row, which has a cell for each column.
    ///
    /// # Errors
    /// As [`Output::put`].
    pub fn put(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.line.clear();
        match self.format {
            Format::Csv => {
                let mut line = csv::Line::new(&mut self.line, Escape::Formula);
                push_cells(cells, &mut line, &mut self.scratch);
                line.end();
            }
            Format::Jsonl => {
                let mut line = jsonl::Line::new(&mut self.line, self.columns);
                push_cells(cells, &mut line, &mut self.scratch);
                line.end();
            }
        }
        self.n_rows += 1;
        self.output.put(&self.line)
    }

    /// Brings the table to disk; says how many rows it has.
    ///
    /// # Errors
    /// As [`Output::finish`].
    pub fn finish(self) -> Result<(Finished, u64)> {
        Ok((self.output.finish()?, self.n_rows))
    }
}

fn push_cells(cells: &[Cell<'_>], line: &mut impl Cells, scratch: &mut Vec<u8>) {
    for cell in cells {
        match *cell {
            Cell::Empty => line.text(b""),
            Cell::Real(number) if !number.is_finite() => line.text(b""),
            Cell::Text(text) => line.text(text),
            Cell::Uri(uri) => line.uri(uri, scratch),
            Cell::Number(number) => line.number(Some(number)),
            Cell::Pairs(number) => line.literal(&number.to_string()),
            Cell::Truth(is_true) => line.literal(if is_true { "true" } else { "false" }),
            Cell::Real(number) => line.real(number),
            Cell::List(names) => line.list(names.iter().copied(), b';'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::publish;

    fn check(name: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::from(folder.path().join(name));
        let mut table = Table::create(
            &target,
            &[
                "rule", "n", "share", "url", "none", "rules", "pairs", "flagged",
            ],
        )
        .unwrap();
        table
            .put(&[
                Cell::Text(b"=a,b"),
                Cell::Number(7),
                Cell::Real(1.0 / 3.0),
                Cell::Uri(b"http://u:p@example.org/"),
                Cell::Empty,
                Cell::List(&["www=www", "port"]),
                Cell::Pairs(u128::MAX),
                Cell::Truth(false),
            ])
            .unwrap();
        let (finished, n_rows) = table.finish().unwrap();
        assert_eq!(n_rows, 1);
        publish(vec![finished]).unwrap();
        assert_eq!(std::fs::read_to_string(target.path()).unwrap(), expected);
    }

    #[test]
    fn writes_any_columns_as_csv_and_jsonl() {
        check(
            "r.csv",
            "rule,n,share,url,none,rules,pairs,flagged\n\"'=a,b\",7,0.333333333,http://***@example.org/,,www=www;port,\
             340282366920938463463374607431768211455,false\n",
        );
        check(
            "r.jsonl",
            "{\"rule\":\"=a,b\",\"n\":7,\"share\":0.333333333,\"url\":\"http://***@example.org/\",\
             \"none\":null,\"rules\":[\"www=www\",\"port\"],\"pairs\":340282366920938463463374607431768211455,\"flagged\":false}\n",
        );
    }
}
