//! Which columns a CDX has: named by its header line, or one of the known orders. Must never see a line's values.

use std::borrow::Cow;

use Column::{Date, Digest, File, Length, Mime, Offset, Other, Redirect, Status, Url, Urlkey};

/// How many things a column may hold; `Other` is the last.
const N_COLUMNS: usize = Other as usize + 1;

/// What stands in a column (CDX file format 2015, legend).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Urlkey,
    Date,
    Url,
    Mime,
    Status,
    Digest,
    Redirect,
    Length,
    Offset,
    File,
    RecordId,
    Other,
}

impl Column {
    fn of_letter(letter: u8) -> Self {
        match letter {
            b'N' | b'A' => Self::Urlkey,
            b'b' => Self::Date,
            b'a' => Self::Url,
            b'm' => Self::Mime,
            b's' => Self::Status,
            b'k' => Self::Digest,
            b'r' => Self::Redirect,
            b'S' => Self::Length,
            b'V' => Self::Offset,
            b'g' => Self::File,
            // "Uniqueness" in the legend; wget has the record id there.
            b'u' => Self::RecordId,
            _ => Self::Other,
        }
    }
}

/// Columns in their order, and where each of them is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    order: Cow<'static, [Column]>,
    /// The last place of each column, found once and not for each line.
    last: [Option<usize>; N_COLUMNS],
}

impl Columns {
    const fn known(order: &'static [Column]) -> Self {
        Self {
            order: Cow::Borrowed(order),
            last: last_places(order),
        }
    }

    fn named(order: Vec<Column>) -> Self {
        Self {
            last: last_places(&order),
            order: order.into(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn start_with_key_and_date(&self) -> bool {
        self.order.starts_with(&[Urlkey, Date])
    }

    /// The first place of a column.
    pub(super) fn first(&self, column: Column) -> Option<usize> {
        self.order.iter().position(|other| *other == column)
    }

    /// The last place of a column.
    pub(super) fn last(&self, column: Column) -> Option<usize> {
        self.last[column as usize]
    }
}

const fn last_places(order: &[Column]) -> [Option<usize>; N_COLUMNS] {
    let mut last = [None; N_COLUMNS];
    let mut at = 0;
    while at < order.len() {
        last[order[at] as usize] = Some(at);
        at += 1;
    }
    last
}

/// Orders of columns of files without header line, likelier ones first. The last two have the place of a revisit's original behind.
pub(super) static KNOWN: [Columns; 6] = [
    Columns::known(&[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Length, Offset, File,
    ]),
    Columns::known(&[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Offset, File,
    ]),
    Columns::known(&[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Offset, File,
    ]),
    Columns::known(&[Urlkey, Date, Url, Mime, Status, Digest, Length]),
    Columns::known(&[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Length, Offset, File, Other,
        Other, Other,
    ]),
    Columns::known(&[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Offset, File, Other, Other, Other,
    ]),
];

/// The columns that a header line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    pub(super) columns: Columns,
}

/// The first byte of a header line is the delimiter, then `CDX` and letters; the blank before it is lost in some files.
pub(super) fn header(line: &[u8]) -> Option<Layout> {
    let (delimiter, names) = match line {
        [b'C', b'D', b'X', delimiter, names @ ..] => (*delimiter, names),
        [first, b'C', b'D', b'X', delimiter, names @ ..] if first == delimiter => {
            (*delimiter, names)
        }
        _ => return None,
    };
    if delimiter.is_ascii_alphanumeric() {
        return None;
    }
    let columns = names
        .trim_ascii_end()
        .split(|byte| *byte == delimiter)
        .map(|name| match name {
            [letter] if letter.is_ascii_alphabetic() || *letter == b'#' => {
                Some(Column::of_letter(*letter))
            }
            _ => None,
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Layout {
        delimiter,
        columns: Columns::named(only_one_url(columns)),
    })
}

/// wget has the URL twice, the first time in the place of the key.
fn only_one_url(mut columns: Vec<Column>) -> Vec<Column> {
    if let Some(last) = columns.iter().rposition(|column| *column == Url) {
        for column in &mut columns[..last] {
            if *column == Url {
                *column = Urlkey;
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_a_place_among_the_columns() {
        for letter in 0..=u8::MAX {
            assert!((Column::of_letter(letter) as usize) < N_COLUMNS);
        }
    }

    #[test]
    fn of_a_column_that_is_named_twice_both_places_are_known() {
        let layout = header(b" CDX N b a m m g").unwrap();
        let columns = &layout.columns;
        assert_eq!(
            (columns.first(Mime), columns.last(Mime)),
            (Some(3), Some(4))
        );
        assert_eq!((columns.first(Digest), columns.last(Digest)), (None, None));
        assert!(columns.start_with_key_and_date() && columns.len() == 6);
    }
}
