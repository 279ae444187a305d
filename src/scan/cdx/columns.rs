//! Which columns a CDX has: named by its header line, or one of the known orders. Must never see a line's values.

use std::borrow::Cow;

use Column::{Date, Digest, File, Length, Mime, Offset, Other, Redirect, Status, Url, Urlkey};

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

/// Orders of columns of files without header line, likelier ones first. The last two have the place of a revisit's original behind.
pub(super) const KNOWN: [&[Column]; 6] = [
    &[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Length, Offset, File,
    ],
    &[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Offset, File,
    ],
    &[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Offset, File,
    ],
    &[Urlkey, Date, Url, Mime, Status, Digest, Length],
    &[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Other, Length, Offset, File, Other,
        Other, Other,
    ],
    &[
        Urlkey, Date, Url, Mime, Status, Digest, Redirect, Offset, File, Other, Other, Other,
    ],
];

/// The columns that a header line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    pub(super) columns: Cow<'static, [Column]>,
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
        columns: only_one_url(columns).into(),
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
