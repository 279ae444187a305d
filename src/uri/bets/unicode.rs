//! `unicode=nfc`, and letter case where that is in force too.

use unicode_normalization::UnicodeNormalization;

use crate::uri::percent::push_escape;
use crate::uri::table::{UNRESERVED, escape_at, is};

/// What happens to text while it is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Kept,
    /// ASCII letters to lower case, those too that are part of a composed letter.
    Lower,
}

/// `unicode=nfc`: `e%CC%81` is `%C3%A9` (UAX #15). Only unreserved characters and escapes from `%80`
/// on are composed, so that no delimiter comes or goes. Merges wrongly: file names of a system that
/// tells the two apart. Not merged: `%EF%AC%81` (a ligature) and `fi`, `%3D%CC%B8` and `%E2%89%A0`.
///
/// With [`Case::Lower`], `%C3%89` is `%C3%A9`: behind `path-case` `E%CC%81` is `e%CC%81`, and if
/// that is composed, `%C3%89` must go with it.
pub(super) fn compose(component: &[u8], case: Case, run: &mut Vec<u8>, out: &mut Vec<u8>) {
    let mut index = 0;
    while index < component.len() {
        run.clear();
        while let Some((byte, len)) = composable(&component[index..]) {
            run.push(byte);
            index += len;
        }
        write_run(run, case, out);
        let rest = &component[index..];
        // The digits of an escape that stays are no text.
        let len = escape_at(rest).map_or(1, |_| 3).min(rest.len());
        out.extend_from_slice(&rest[..len]);
        index += len;
    }
}

/// The byte at the start of `rest`, if it is text, and how long it is there.
fn composable(rest: &[u8]) -> Option<(u8, usize)> {
    match escape_at(rest) {
        Some(byte) => (byte >= 0x80).then_some((byte, 3)),
        None => rest
            .first()
            .filter(|byte| is(**byte, UNRESERVED))
            .map(|byte| (*byte, 1)),
    }
}

/// Composes what is UTF-8; the rest stays those bytes.
fn write_run(run: &[u8], case: Case, out: &mut Vec<u8>) {
    for chunk in run.utf8_chunks() {
        match case {
            Case::Kept if chunk.valid().is_ascii() => {
                out.extend_from_slice(chunk.valid().as_bytes());
            }
            Case::Kept => chunk.valid().nfc().for_each(|text| push(text, out)),
            Case::Lower => chunk
                .valid()
                .nfd()
                .map(|text| text.to_ascii_lowercase())
                .nfc()
                .for_each(|text| push(text, out)),
        }
        for &byte in chunk.invalid() {
            push_escape(byte, out);
        }
    }
}

/// Writes a character; one that composition has turned into a delimiter (U+037E is `;`) as an escape.
fn push(text: char, out: &mut Vec<u8>) {
    let mut bytes = [0; 4];
    for &byte in text.encode_utf8(&mut bytes).as_bytes() {
        if is(byte, UNRESERVED) {
            out.push(byte);
        } else {
            push_escape(byte, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_composed() {
        let check = |case, input: &str, expected: &str| {
            let (mut run, mut out) = (Vec::new(), Vec::new());
            compose(input.as_bytes(), case, &mut run, &mut out);
            assert_eq!(out.escape_ascii().to_string(), expected);
        };
        check(Case::Kept, "/e%CC%81/E%CC%81", "/%C3%A9/%C3%89");
        check(Case::Kept, "%3D%CC%B8", "%3D%CC%B8");
        check(Case::Kept, "%3C%CC%81", "%3C%CC%81");
        check(Case::Kept, "%CD%BE", "%3B");
        check(Case::Kept, "e%CC%81%FFe%CC%81", "%C3%A9%FF%C3%A9");
        check(Case::Kept, "%zz%", "%zz%");
        check(Case::Lower, "/E%CC%81%C3%89", "/%C3%A9%C3%A9");
    }
}
