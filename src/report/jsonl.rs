//! One JSON object a line, with the names of the CSV's columns; `null` for absent.

use super::row::{Cells, Link, Row};
use super::text::{is_clean, push_clean, push_decimal, push_real};
use crate::uri::write_redacted;

/// Members of one object, appended to a buffer.
#[derive(Debug)]
pub(super) struct Line<'a> {
    out: &'a mut Vec<u8>,
    columns: &'static [&'static str],
    index: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, columns: &'static [&'static str]) -> Self {
        Self {
            out,
            columns,
            index: 0,
        }
    }

    pub(super) fn end(self) {
        self.out.extend_from_slice(b"}\n");
    }

    /// The members of a report's row that CSV has no place for.
    pub(super) fn more(&mut self, row: &Row<'_>, scratch: &mut Vec<u8>) {
        let out = &mut *self.out;
        out.extend_from_slice(b",\"chain\":[");
        for (index, link) in row.chain.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            push_link(link, out, scratch);
        }
        out.push(b']');
        if !is_clean(row.capture.target_uri) {
            scratch.clear();
            write_redacted(row.capture.target_uri, scratch);
            out.extend_from_slice(b",\"url_b64\":\"");
            push_base64(scratch, out);
            out.push(b'"');
        }
    }

    fn name(&mut self) {
        self.out.push(if self.index == 0 { b'{' } else { b',' });
        push_string(self.columns[self.index].as_bytes(), self.out);
        self.out.push(b':');
        self.index += 1;
    }
}

impl Cells for Line<'_> {
    fn text(&mut self, text: &[u8]) {
        self.name();
        push_text(text, self.out);
    }

    fn made(&mut self, make: impl FnOnce(&mut Vec<u8>)) {
        self.name();
        let start = self.out.len();
        self.out.push(b'"');
        make(self.out);
        if self.out.len() == start + 1 {
            self.out.truncate(start);
            self.out.extend_from_slice(b"null");
        } else {
            self.out.push(b'"');
        }
    }

    fn number(&mut self, number: Option<u64>) {
        self.name();
        push_number(number, self.out);
    }

    fn real(&mut self, number: f64) {
        self.name();
        push_real(number, self.out);
    }

    fn literal(&mut self, text: &str) {
        self.name();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn list<'n>(&mut self, names: impl Iterator<Item = &'n str>, _separator: u8) {
        self.name();
        self.out.push(b'[');
        for (index, name) in names.enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            push_string(name.as_bytes(), self.out);
        }
        self.out.push(b']');
    }
}

fn push_link(link: &Link<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    scratch.clear();
    write_redacted(link.url, scratch);
    out.extend_from_slice(b"{\"url\":");
    push_text(scratch, out);
    out.extend_from_slice(b",\"status\":");
    push_number(link.status.map(u64::from), out);
    scratch.clear();
    link.timestamp.write_rfc3339(scratch);
    out.extend_from_slice(b",\"timestamp\":");
    push_text(scratch, out);
    out.push(b'}');
}

fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + data_encoding::BASE64.encode_len(bytes.len()), 0);
    data_encoding::BASE64.encode_mut(bytes, &mut out[start..]);
}

fn push_number(number: Option<u64>, out: &mut Vec<u8>) {
    match number {
        Some(number) => push_decimal(number, out),
        None => out.extend_from_slice(b"null"),
    }
}

fn push_text(text: &[u8], out: &mut Vec<u8>) {
    if text.is_empty() {
        out.extend_from_slice(b"null");
    } else {
        push_string(text, out);
    }
}

/// A JSON string. Once control bytes are percent-encoded, nothing is to be escaped but quote and backslash.
fn push_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        push_clean(&rest[..at], out);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    push_clean(rest, out);
    out.push(b'"');
}
