//! CSV as RFC 4180 has it, but for LF: a header always, quotes only where needed.

use super::Escape;
use super::row::Cells;
use super::text::{push_clean, push_decimal, push_real};

/// Appends the line of column names.
pub(super) fn push_header(columns: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(columns.join(",").as_bytes());
    out.push(b'\n');
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

    /// A spreadsheet computes a cell that starts so. (Tab and CR are percent-encoded and can do no harm.)
    fn guard(&mut self, text: &[u8]) {
        if self.escape == Escape::Formula && matches!(text, [b'=' | b'+' | b'-' | b'@', ..]) {
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
        let start = self.out.len();
        for name in names {
            if self.out.len() > start {
                self.out.push(separator);
            }
            self.out.extend_from_slice(name.as_bytes());
        }
    }
}

/// Whether a text may stand as it is: printable ASCII without comma and quote. Looks at every byte, many at a time, which costs
/// less than to stop at the first.
fn is_plain(text: &[u8]) -> bool {
    let is_odd = |byte: &u8| !matches!(byte, b' '..=b'~') | matches!(byte, b',' | b'"');
    !text
        .iter()
        .fold(false, |is_any, byte| is_any | is_odd(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(escape: Escape, text: &[u8], expected: &str) {
        let mut out = Vec::new();
        let mut line = Line::new(&mut out, escape);
        line.text(text);
        line.number(Some(1));
        line.end();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected},1\n"));
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
