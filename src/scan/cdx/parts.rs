//! Which part of a CDX line belongs to which column. Must never know how lines are found.

use std::ops::Range;

use crate::scan::cdx::columns::Column::{self, File, Mime, Redirect, Url};
use crate::scan::cdx::columns::Columns;
use crate::scan::decimal::decimal;
use crate::scan::index_line::{Statement, is_date};
use crate::scan::places::push_places;

/// In front of the first part.
const FRONT: usize = usize::MAX;

/// Finds where a line is cut: in front of it, at each `delimiter`, and behind it.
pub(super) fn cut(text: &[u8], delimiter: u8, cuts: &mut Vec<usize>) {
    cuts.clear();
    cuts.push(FRONT);
    push_places(text, [delimiter; 2], cuts);
    cuts.push(text.len());
}

/// How many parts, beyond one each, two columns take.
#[derive(Clone, Copy, Debug)]
struct Slack {
    first_column: usize,
    elastic: usize,
    elastic_column: usize,
}

impl Slack {
    /// The parts of the column at `index`.
    fn parts_of(self, index: usize) -> Range<usize> {
        let parts_before = |index: usize| {
            index
                + if index > 0 { self.first_column } else { 0 }
                + if index > self.elastic_column {
                    self.elastic
                } else {
                    0
                }
        };
        parts_before(index)..parts_before(index + 1)
    }
}

/// A line, cut at its delimiters.
#[derive(Clone, Copy)]
pub(super) struct Parts<'l, 'c> {
    text: &'l [u8],
    /// As [`cut`] finds them.
    cuts: &'c [usize],
}

impl<'l, 'c> Parts<'l, 'c> {
    pub(super) fn new(text: &'l [u8], cuts: &'c [usize]) -> Self {
        Self { text, cuts }
    }

    pub(super) fn len(&self) -> usize {
        self.cuts.len() - 1
    }

    pub(super) fn has_empty(&self) -> bool {
        (0..self.len()).any(|index| self.join(index..index + 1).is_empty())
    }

    /// The text of some parts, with the delimiters between them.
    fn join(&self, parts: Range<usize>) -> &'l [u8] {
        &self.text[self.cuts[parts.start].wrapping_add(1)..self.cuts[parts.end]]
    }

    pub(super) fn place(&self, columns: &Columns) -> Result<Statement<'l>, &'static str> {
        if columns.last(Url).is_none() {
            return Err("the header line names no column of original URLs");
        }
        if self.len() < columns.len() {
            return Err("fewer columns than the header line names");
        }
        if self.len() > columns.len() {
            return self
                .place_with_slack(columns)
                .ok_or("more columns than the header line names, and no telling which is which");
        }
        let statement = self.spread(columns);
        if fits(&statement, Fit::Loose) {
            Ok(statement)
        } else {
            Err("no URL, or no number where status, length or offset should stand")
        }
    }

    /// Tries which column has the delimiters in it that make too many parts.
    pub(super) fn place_with_slack(&self, columns: &Columns) -> Option<Statement<'l>> {
        let slack = self.len().checked_sub(columns.len()).filter(|n| *n > 0)?;
        let first = match columns.start_with_key_and_date() {
            true => (0..=slack).find(|n| is_date(self.join(1 + n..2 + n)))?,
            false => 0,
        };
        let attempt = |column: Column, fit: Fit| {
            let statement = self.spread_with(
                columns,
                Slack {
                    first_column: first,
                    elastic: slack - first,
                    elastic_column: columns.first(column)?,
                },
            );
            fits(&statement, fit).then_some(statement)
        };
        [Url, Mime, Redirect, File]
            .into_iter()
            .find_map(|column| attempt(column, Fit::Strict))
            .or_else(|| attempt(Url, Fit::OddMime))
    }

    /// Gives each column its one part.
    pub(super) fn spread(&self, columns: &Columns) -> Statement<'l> {
        statement(columns, |index| index..index + 1, *self)
    }

    /// Gives each column its parts.
    fn spread_with(&self, columns: &Columns, slack: Slack) -> Statement<'l> {
        statement(columns, |index| slack.parts_of(index), *self)
    }
}

/// What a line states whose columns have the parts that `parts_of` names.
#[inline]
fn statement<'l>(
    columns: &Columns,
    parts_of: impl Fn(usize) -> Range<usize>,
    parts: Parts<'l, '_>,
) -> Statement<'l> {
    let text = |column| match columns.last(column) {
        Some(index) => trimmed(parts.join(parts_of(index))),
        None => b"",
    };
    Statement {
        urlkey: text(Column::Urlkey),
        date: text(Column::Date),
        url: text(Column::Url),
        mime: text(Column::Mime),
        status: text(Column::Status),
        digest: text(Column::Digest),
        redirect: text(Column::Redirect),
        length: text(Column::Length),
        offset: text(Column::Offset),
        file: text(Column::File),
        record_id: text(Column::RecordId),
        ..Statement::default()
    }
}

/// Without blanks at its ends, which hardly any text has.
fn trimmed(text: &[u8]) -> &[u8] {
    match text {
        [first, .., last] if *first > b' ' && *last > b' ' => text,
        _ => text.trim_ascii(),
    }
}

/// How closely values must look like their columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The columns are known: only what would be misread is refused.
    Loose,
    /// The columns are guessed.
    Strict,
    /// They are guessed, and servers also send media types such as `text`.
    OddMime,
}

pub(super) fn fits(statement: &Statement<'_>, fit: Fit) -> bool {
    let is_count = |text: &[u8]| matches!(text, b"" | b"-") || decimal(text).is_some();
    let is_sound = !matches!(statement.url, b"" | b"-")
        && [statement.status, statement.length, statement.offset]
            .into_iter()
            .all(is_count);
    is_sound
        && match fit {
            Fit::Loose => true,
            Fit::Strict => is_told_by_values(statement) && is_media_type(statement.mime),
            Fit::OddMime => {
                is_told_by_values(statement)
                    && !statement.mime.iter().any(|byte| b"=;/:".contains(byte))
            }
        }
}

fn is_told_by_values(statement: &Statement<'_>) -> bool {
    let is_digest_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b":=+_-".contains(byte);
    let is_placed = match statement.file {
        b"" => decimal(statement.length).is_some(),
        b"-" => true,
        file => {
            // A number in front is the offset, and the line was cut or is one of more columns.
            let first = file.split(|byte| *byte == b' ').next().unwrap_or(file);
            !first.iter().all(u8::is_ascii_digit) && decimal(statement.offset).is_some()
        }
    };
    is_placed
        && is_date(statement.date)
        && statement.url.contains(&b':')
        && matches!(statement.status.len(), 1 | 3)
        && !statement.digest.is_empty()
        && statement.digest.iter().all(is_digest_letter)
}

/// `type/subtype` with or without parameters, or a stand-in for it.
fn is_media_type(mime: &[u8]) -> bool {
    let essence = mime.split(|byte| *byte == b';').next().unwrap_or(mime);
    let is_letter = |byte: &u8| byte.is_ascii_graphic() && !b"=:,()<>@".contains(byte);
    let n_slashes = essence.iter().filter(|byte| **byte == b'/').count();
    let stands_in = matches!(mime, b"-" | b"unk" | b"no-type" | b"warc-info");
    stands_in || (n_slashes == 1 && essence.trim_ascii().iter().all(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_where_delimiters_stand(text in proptest::collection::vec(prop_oneof![Just(b' '), Just(b'\t'), any::<u8>()], 0..300)) {
            for delimiter in [b' ', b'\t', 0xff] {
                let mut cuts = vec![7];
                cut(&text, delimiter, &mut cuts);
                let parts = Parts::new(&text, &cuts);
                let found = (0..parts.len()).map(|at| parts.join(at..at + 1));
                prop_assert!(found.eq(text.split(|byte| *byte == delimiter)));
            }
        }
    }
}
