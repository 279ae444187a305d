//! CSV as RFC 4180 has it, but for LF: a header always, quotes only where needed.
//!
//! ```text
//! a line of a report is first put down as if nothing of it needed care
//! one look at the whole: if all is printable ASCII without `"` and `@`, with a comma for each column but one, it stays
//! else it is made again, with a look at each cell
//! ```
//! Thirty-four cells, most of them short, cost more to look at one by one than to write: 6,000 instructions a line of a report instead of
//! 3,800 (`valgrind --tool=callgrind`, the report of 117,600 lines of CDX, AVX2).

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

use super::Escape;
use super::row::Cells;
use super::text::{push_clean, push_decimal, push_real};

/// Appends the line of column names.
pub(super) fn push_header(columns: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(columns.join(",").as_bytes());
    out.push(b'\n');
}

/// A line without a look at its cells, appended to a buffer.
#[derive(Debug)]
pub(super) struct PlainLine<'a> {
    out: &'a mut Vec<u8>,
    escape: Escape,
    start: usize,
}

impl<'a> PlainLine<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, escape: Escape) -> Self {
        Self {
            start: out.len(),
            out,
            escape,
        }
    }

    /// Ends the line, of `n_cells`; takes it back, and returns `false`, if a cell of it needs care.
    pub(super) fn end_if_plain(self, n_cells: usize) -> bool {
        let line = &mut self.out[self.start..];
        let stands = is_plain_line(Level::new(), line, n_cells);
        match line.last_mut() {
            Some(last) if stands => *last = b'\n',
            _ => self.out.truncate(self.start),
        }
        stands
    }
}

impl Cells for PlainLine<'_> {
    fn text(&mut self, text: &[u8]) {
        if is_guarded(text, self.escape) {
            self.out.push(b'\'');
        }
        self.out.extend_from_slice(text);
        self.out.push(b',');
    }

    /// User info is hidden all the same: it ends with `@`, and a line with one does not stand.
    fn uri(&mut self, uri: &[u8], _scratch: &mut Vec<u8>) {
        self.text(uri);
    }

    fn made(&mut self, make: impl FnOnce(&mut Vec<u8>)) {
        push_made(make, self.escape, self.out);
        self.out.push(b',');
    }

    fn number(&mut self, number: Option<u64>) {
        if let Some(number) = number {
            push_decimal(number, self.out);
        }
        self.out.push(b',');
    }

    fn real(&mut self, number: f64) {
        push_real(number, self.out);
        self.out.push(b',');
    }

    fn literal(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b',');
    }

    fn list<'n>(&mut self, names: impl Iterator<Item = &'n str>, separator: u8) {
        push_list(names, separator, self.out);
        self.out.push(b',');
    }
}

/// Cells of one line, appended to a buffer.
#[derive(Debug)]
pub(super) struct Line<'a> {
    out: &'a mut Vec<u8>,
    escape: Escape,
    is_first: bool,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, escape: Escape) -> Self {
        Self {
            out,
            escape,
            is_first: true,
        }
    }

    pub(super) fn end(self) {
        self.out.push(b'\n');
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    fn guard(&mut self, text: &[u8]) {
        if is_guarded(text, self.escape) {
            self.out.push(b'\'');
        }
    }

    fn quoted(&mut self, text: &[u8]) {
        self.out.push(b'"');
        self.guard(text);
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'"', rest) {
            push_clean(&rest[..at], self.out);
            self.out.extend_from_slice(b"\"\"");
            rest = &rest[at + 1..];
        }
        push_clean(rest, self.out);
        self.out.push(b'"');
    }
}

impl Cells for Line<'_> {
    fn text(&mut self, text: &[u8]) {
        self.separate();
        if is_plain(text) {
            self.guard(text);
            self.out.extend_from_slice(text);
        } else if memchr::memchr2(b',', b'"', text).is_some() {
            self.quoted(text);
        } else {
            self.guard(text);
            push_clean(text, self.out);
        }
    }

    fn made(&mut self, make: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        push_made(make, self.escape, self.out);
    }

    fn number(&mut self, number: Option<u64>) {
        self.separate();
        if let Some(number) = number {
            push_decimal(number, self.out);
        }
    }

    fn real(&mut self, number: f64) {
        self.separate();
        push_real(number, self.out);
    }

    fn literal(&mut self, text: &str) {
        self.separate();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn list<'n>(&mut self, names: impl Iterator<Item = &'n str>, separator: u8) {
        self.separate();
        push_list(names, separator, self.out);
    }
}

/// Whether a quote stands before a cell, since a spreadsheet computes one that starts so. (Tab and CR are percent-encoded and can
/// do no harm.)
fn is_guarded(text: &[u8], escape: Escape) -> bool {
    escape == Escape::Formula && matches!(text, [b'=' | b'+' | b'-' | b'@', ..])
}

fn push_made(make: impl FnOnce(&mut Vec<u8>), escape: Escape, out: &mut Vec<u8>) {
    let start = out.len();
    make(out);
    if is_guarded(&out[start..], escape) {
        out.insert(start, b'\'');
    }
}

fn push_list<'n>(names: impl Iterator<Item = &'n str>, separator: u8, out: &mut Vec<u8>) {
    let start = out.len();
    for name in names {
        if out.len() > start {
            out.push(separator);
        }
        out.extend_from_slice(name.as_bytes());
    }
}

/// Whether a text may stand as it is: printable ASCII without comma and quote. Looks at every byte, many at a time, which costs
/// less than to stop at the first.
fn is_plain(text: &[u8]) -> bool {
    let is_odd = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b',' | b'"');
    !text
        .iter()
        .fold(false, |is_any, byte| is_any | is_odd(byte))
}

/// Whether a line of `n_cells`, each with a comma behind it, has nothing in it that a cell would have to be quoted or cleaned for.
fn is_plain_line(level: Level, line: &[u8], n_cells: usize) -> bool {
    let Some(last) = line.last_chunk::<64>() else {
        let n_commas = line.iter().filter(|byte| **byte == b',').count();
        let is_odd = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'@');
        return n_commas == n_cells && !line.iter().any(is_odd);
    };
    let (blocks, rest) = line.as_chunks();
    dispatch!(level, simd => {
        let (mut odd, mut n_commas) = (0, 0);
        for block in blocks {
            let (some, commas) = odd_and_commas(simd, block);
            odd |= some;
            n_commas += commas.count_ones();
        }
        // The last block overlaps the one before.
        let (some, commas) = odd_and_commas(simd, last);
        let new = match rest.len() {
            0 => 0,
            n_new => commas >> (last.len() - n_new),
        };
        n_commas += new.count_ones();
        (odd | some) == 0 && n_commas as usize == n_cells
    })
}

/// The bytes of a block that a cell would have to be quoted or cleaned for, and those that are commas, a bit each.
#[inline(always)]
fn odd_and_commas<S: Simd>(simd: S, block: &[u8; 64]) -> (u64, u64) {
    let bytes = u8x64::load_array_ref(simd, block);
    let is_control = (bytes - b' ').simd_gt(u8x64::splat(simd, b'~' - b' '));
    let is_quote = bytes.simd_eq(u8x64::splat(simd, b'"'));
    let is_at = bytes.simd_eq(u8x64::splat(simd, b'@'));
    let is_comma = bytes.simd_eq(u8x64::splat(simd, b','));
    let odd = is_control | is_quote | is_at;
    (odd.to_bitmask(), is_comma.to_bitmask())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(escape: Escape, text: &[u8], expected: &str) {
        let mut out = Vec::new();
        let mut line = Line::new(&mut out, escape);
        line.text(text);
        line.number(Some(1));
        line.end();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected},1\n"));
    }

    /// Texts as cells, the first as URI, and one cell of each other kind.
    fn put(texts: &[Vec<u8>], cells: &mut impl Cells) {
        let (uri, others) = texts.split_first().unwrap();
        cells.uri(uri, &mut Vec::new());
        for text in others {
            cells.text(text);
        }
        cells.text(b"");
        for made in [&b""[..], b"made", b"-0001"] {
            cells.made(|out| out.extend_from_slice(made));
        }
        cells.number(None);
        cells.number(Some(7));
        cells.real(-0.5);
        cells.literal("true");
        cells.list(["a", "b"].into_iter(), b';');
        cells.list([].into_iter(), b';');
    }

    /// Cells that [`put`] adds.
    const N_OTHERS: usize = 10;

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let plain = "[ -~]{0,40}".prop_map(String::into_bytes);
        let harmless = "[a-z=+-][a-z0-9:/?.=+-]{0,80}".prop_map(String::into_bytes);
        let any = proptest::collection::vec(any::<u8>(), 0..9);
        prop_oneof![8 => harmless, 1 => plain, 1 => any]
    }

    proptest! {
        #[test]
        fn a_line_that_stands_is_what_a_look_at_each_cell_makes(
            texts in proptest::collection::vec(text(), 1..6),
            escape in prop_oneof![Just(Escape::Formula), Just(Escape::None)],
        ) {
            let (mut fast, mut slow) = (b"before".to_vec(), b"before".to_vec());
            let mut line = PlainLine::new(&mut fast, escape);
            put(&texts, &mut line);
            let stands = line.end_if_plain(texts.len() + N_OTHERS);
            let mut line = Line::new(&mut slow, escape);
            put(&texts, &mut line);
            line.end();
            if stands {
                prop_assert_eq!(fast, slow);
            } else {
                prop_assert_eq!(fast, b"before");
                let is_care = |byte: &u8| !matches!(byte, b' '..=b'~') || b"\",@".contains(byte);
                prop_assert!(texts.concat().iter().any(is_care));
            }
        }

        #[test]
        fn a_whole_line_is_looked_at(
            mut line in proptest::collection::vec(b'a'..=b'z', 1..300),
            at: proptest::sample::Index,
            byte: u8,
        ) {
            for level in [Level::new(), Level::baseline()] {
                *line.last_mut().unwrap() = b',';
                let n_commas = line.iter().filter(|byte| **byte == b',').count();
                prop_assert!(is_plain_line(level, &line, n_commas));
                prop_assert!(!is_plain_line(level, &line, n_commas + 1));
            }
            let at = at.index(line.len());
            line[at] = byte;
            let n_commas = line.iter().filter(|byte| **byte == b',').count();
            let is_plain = matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'@');
            for level in [Level::new(), Level::baseline()] {
                prop_assert_eq!(is_plain_line(level, &line, n_commas), is_plain);
            }
        }
    }

    #[test]
    fn quotes_only_where_needed() {
        check(Escape::Formula, b"plain text", "plain text");
        check(Escape::Formula, b"a,b", "\"a,b\"");
        check(Escape::Formula, b"say \"hi\"", "\"say \"\"hi\"\"\"");
        check(Escape::Formula, b"\"", "\"\"\"\"");
        check(Escape::Formula, b"", "");
        check(Escape::Formula, b"a\nb", "a%0Ab");
        check(Escape::Formula, b"a\xff,", "\"a%FF,\"");
    }

    #[test]
    fn guards_what_a_spreadsheet_would_compute() {
        for text in ["=1+1", "+1", "-1", "@x"] {
            check(Escape::Formula, text.as_bytes(), &format!("'{text}"));
            check(Escape::None, text.as_bytes(), text);
        }
        check(Escape::Formula, b"=a,b", "\"'=a,b\"");
        check(Escape::Formula, b"\t=1", "%09=1");
        check(Escape::Formula, b"'=1", "'=1");
        check(Escape::Formula, b"1=1", "1=1");
    }
}
