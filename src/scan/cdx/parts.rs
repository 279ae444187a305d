//! Which part of a CDX line belongs to which column. Must never know how lines are found.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

use crate::scan::cdx::columns::Column::{self, Date, File, Mime, Redirect, Url, Urlkey};
use crate::scan::decimal::decimal;
use crate::scan::index_line::{Statement, is_date};

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Finds every `delimiter`, 64 bytes at a time: columns are so short that going from one to the next (`memchr`) took 14 % of reading
/// 3 GB of CDX, and this takes 4 (Xeon with AVX-512, one thread).
pub(super) fn cut(text: &[u8], delimiter: u8, cuts: &mut Vec<usize>) {
    cut_on(Level::new(), text, delimiter, cuts);
}

/// The same with what a processor of this level has.
fn cut_on(level: Level, text: &[u8], delimiter: u8, cuts: &mut Vec<usize>) {
    cuts.clear();
    match text.last_chunk() {
        Some(last) => dispatch!(level, simd => {
            let (blocks, rest) = text.as_chunks();
            for (nth, block) in blocks.iter().enumerate() {
                push_places(delimiters(simd, block, delimiter), nth * BLOCK, cuts);
            }
            if !rest.is_empty() {
                // The last block overlaps the one before, whose bytes are not to be found twice.
                let n_old = BLOCK - rest.len();
                let found = delimiters(simd, last, delimiter) >> n_old << n_old;
                push_places(found, text.len() - BLOCK, cuts);
            }
        }),
        None => cuts.extend(memchr::memchr_iter(delimiter, text)),
    }
}

/// The bytes of a block that are `delimiter`, a bit each.
#[inline(always)]
fn delimiters<S: Simd>(simd: S, block: &[u8; BLOCK], delimiter: u8) -> u64 {
    let block = u8x64::load_array_ref(simd, block);
    block.simd_eq(u8x64::splat(simd, delimiter)).to_bitmask()
}

/// Appends the place of each bit that is set, the lowest being at `start`.
fn push_places(mut found: u64, start: usize, cuts: &mut Vec<usize>) {
    while found != 0 {
        cuts.push(start + found.trailing_zeros() as usize);
        found &= found - 1;
    }
}

/// How many parts, beyond one each, two columns take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slack {
    first_column: usize,
    elastic: usize,
    elastic_column: usize,
}

/// A line, cut at its delimiters.
#[derive(Clone, Copy)]
pub(super) struct Parts<'l, 'c> {
    text: &'l [u8],
    cuts: &'c [usize],
}

impl<'l, 'c> Parts<'l, 'c> {
    pub(super) fn new(text: &'l [u8], cuts: &'c [usize]) -> Self {
        Self { text, cuts }
    }

    pub(super) fn len(&self) -> usize {
        self.cuts.len() + 1
    }

    pub(super) fn has_empty(&self) -> bool {
        (0..self.len()).any(|index| self.join(index..index + 1).is_empty())
    }

    /// The text of some parts, with the delimiters between them.
    fn join(&self, parts: Range<usize>) -> &'l [u8] {
        let start = match parts.start {
            0 => 0,
            index => self.cuts[index - 1] + 1,
        };
        let end = self.cuts.get(parts.end - 1).copied();
        &self.text[start..end.unwrap_or(self.text.len())]
    }

    pub(super) fn place(&self, columns: &[Column]) -> Result<Statement<'l>, &'static str> {
        if !columns.contains(&Url) {
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
        let statement = self.spread(columns, Slack::default());
        if fits(&statement, Fit::Loose) {
            Ok(statement)
        } else {
            Err("no URL, or no number where status, length or offset should stand")
        }
    }

    /// Tries which column has the delimiters in it that make too many parts.
    pub(super) fn place_with_slack(&self, columns: &[Column]) -> Option<Statement<'l>> {
        let slack = self.len().checked_sub(columns.len()).filter(|n| *n > 0)?;
        let first = match columns {
            [Urlkey, Date, ..] => (0..=slack).find(|n| is_date(self.join(1 + n..2 + n)))?,
            _ => 0,
        };
        let attempt = |column: Column, fit: Fit| {
            let statement = self.spread(
                columns,
                Slack {
                    first_column: first,
                    elastic: slack - first,
                    elastic_column: columns.iter().position(|other| *other == column)?,
                },
            );
            fits(&statement, fit).then_some(statement)
        };
        [Url, Mime, Redirect, File]
            .into_iter()
            .find_map(|column| attempt(column, Fit::Strict))
            .or_else(|| attempt(Url, Fit::OddMime))
    }

    /// Gives each column its part.
    pub(super) fn spread(&self, columns: &[Column], slack: Slack) -> Statement<'l> {
        let mut statement = Statement::default();
        let mut from = 0;
        for (index, column) in columns.iter().enumerate() {
            let mut to = from + 1;
            if index == 0 {
                to += slack.first_column;
            }
            if index == slack.elastic_column {
                to += slack.elastic;
            }
            *field(&mut statement, *column) = self.join(from..to).trim_ascii();
            from = to;
        }
        statement
    }
}

fn field<'s, 'l>(statement: &'s mut Statement<'l>, column: Column) -> &'s mut &'l [u8] {
    match column {
        Column::Urlkey => &mut statement.urlkey,
        Column::Date => &mut statement.date,
        Column::Url => &mut statement.url,
        Column::Mime => &mut statement.mime,
        Column::Status => &mut statement.status,
        Column::Digest => &mut statement.digest,
        Column::Redirect => &mut statement.redirect,
        Column::Length => &mut statement.length,
        Column::Offset => &mut statement.offset,
        Column::File => &mut statement.file,
        Column::RecordId => &mut statement.record_id,
        Column::Other => &mut statement.other,
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
                for level in [Level::new(), Level::baseline()] {
                    let mut cuts = vec![7];
                    cut_on(level, &text, delimiter, &mut cuts);
                    let expected = (0..text.len()).filter(|at| text[*at] == delimiter);
                    prop_assert!(expected.eq(cuts));
                }
            }
        }
    }
}
