//! The report: rows as lines, and lines into an output.

use super::output::{Finished, Output, Target};
use super::row::{COLUMNS, Row, write_cells};
use super::{Escape, Format, csv, jsonl};
use crate::Result;

/// Makes lines of rows; one per thread, since it holds the scratch buffer.
#[derive(Clone, Debug)]
pub struct Lines {
    format: Format,
    escape: Escape,
    scratch: Vec<u8>,
}

impl Lines {
    /// Lines of a report in this form.
    #[must_use]
    pub fn new(format: Format, escape: Escape) -> Self {
        Self {
            format,
            escape,
            scratch: Vec::new(),
        }
    }

    /// Appends what stands before the first row.
    pub fn push_header(&self, out: &mut Vec<u8>) {
        if self.format == Format::Csv {
            csv::push_header(&COLUMNS, out);
        }
    }

    /// Whether a row's chain is shown; else it need not be followed.
    #[must_use]
    pub fn show_chains(&self) -> bool {
        self.format == Format::Jsonl
    }

    /// Appends one row.
    pub fn push(&mut self, row: &Row<'_>, out: &mut Vec<u8>) {
        match self.format {
            Format::Csv => {
                let mut line = csv::PlainLine::new(out, self.escape);
                write_cells(row, &mut line, &mut self.scratch);
                if !line.end_if_plain(COLUMNS.len()) {
                    let mut line = csv::Line::new(out, self.escape);
                    write_cells(row, &mut line, &mut self.scratch);
                    line.end();
                }
            }
            Format::Jsonl => {
                let mut line = jsonl::Line::new(out, &COLUMNS);
                write_cells(row, &mut line, &mut self.scratch);
                line.more(row, &mut self.scratch);
                line.end();
            }
        }
    }
}

/// A report that is being written.
#[derive(Debug)]
pub struct Report {
    output: Output,
    /// Not written yet: a run that fails before its first row leaves nothing on stdout.
    header: Vec<u8>,
    n_rows: u64,
}

impl Report {
    /// Starts the report, with the header of such `lines`.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn create(target: &Target, lines: &Lines) -> Result<Self> {
        let output = Output::create(target)?;
        let mut header = Vec::new();
        lines.push_header(&mut header);
        Ok(Self {
            output,
            header,
            n_rows: 0,
        })
    }

    /// Adds rows, whose lines threads have made.
    ///
    /// # Errors
    /// As [`Output::put`].
    pub fn put_lines(&mut self, lines: &[u8], n_rows: u64) -> Result<()> {
        self.put_header()?;
        self.n_rows += n_rows;
        self.output.put(lines)
    }

    /// Brings the report to disk; says how many rows it has.
    ///
    /// # Errors
    /// As [`Output::finish`].
    pub fn finish(mut self) -> Result<(Finished, u64)> {
        self.put_header()?;
        Ok((self.output.finish()?, self.n_rows))
    }

    /// Writes the header, if it is not written yet.
    fn put_header(&mut self) -> Result<()> {
        self.output.put(&std::mem::take(&mut self.header))
    }
}
