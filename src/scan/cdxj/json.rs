//! The members of one JSON object, without a tree (RFC 8259). Must never know what the names mean.
//!
//! Strings without escapes stay where they lie; others are decoded into one buffer. Objects and arrays inside are passed
//! over with a stack of the closers that are due, so that depth costs a byte and no recursion.

use std::ops::Range;

use crate::scan::places::push_places;

/// Where a value's text lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text {
    InLine(usize, usize),
    Decoded(usize, usize),
}

impl Text {
    pub(super) const NONE: Self = Self::InLine(0, 0);

    fn is_in_line(range: Range<usize>) -> Self {
        Self::InLine(range.start, range.end)
    }

    fn of<'a>(self, json: &'a [u8], decoded: &'a [u8]) -> &'a [u8] {
        match self {
            Self::InLine(start, end) => &json[start..end],
            Self::Decoded(start, end) => &decoded[start..end],
        }
    }
}

/// A member's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A string, or a number as it is written.
    Text(Text),
    /// `null`, a truth value, an object or array.
    Other,
}

/// Reads objects; holds the buffers.
#[derive(Debug, Default)]
pub(super) struct Members {
    decoded: Vec<u8>,
    closers: Vec<u8>,
    /// Where quotes and backslashes stand.
    marks: Vec<usize>,
}

/// What is wrong with a line that stops short, among others.
pub(super) const BROKEN: &str = "broken JSON";

impl Members {
    /// Hands each member of the object `json` to `on`, in the order written.
    pub(super) fn read(
        &mut self,
        json: &[u8],
        mut on: impl FnMut(&[u8], Value),
    ) -> Result<(), &'static str> {
        self.decoded.clear();
        self.marks.clear();
        push_places(json, [b'"', b'\\'], &mut self.marks);
        let mut scan = Scan {
            json,
            at: 0,
            marks: &self.marks,
        };
        scan.expect(b'{')?;
        if scan.next_is(b'}') {
            return scan.end();
        }
        loop {
            scan.blanks();
            if let Some((name, value)) = scan.plain_member() {
                on(&json[name], Value::Text(Text::is_in_line(value)));
            } else {
                let name = scan.string(&mut self.decoded)?;
                scan.expect(b':')?;
                let value = scan.value(&mut self.decoded, &mut self.closers)?;
                on(name.of(json, &self.decoded), value);
            }
            if scan.next_is(b'}') {
                return scan.end();
            }
            scan.expect(b',')?;
        }
    }

    /// The bytes of `text`, which was found in `json`.
    pub(super) fn text<'a>(&'a self, json: &'a [u8], text: Text) -> &'a [u8] {
        text.of(json, &self.decoded)
    }
}

struct Scan<'a> {
    json: &'a [u8],
    at: usize,
    /// Places of quotes and backslashes, those passed so far left out; some of them may have been passed unseen.
    marks: &'a [usize],
}

impl Scan<'_> {
    fn rest(&self) -> &[u8] {
        &self.json[self.at..]
    }

    fn blanks(&mut self) {
        // As nearly always.
        if self.rest().first().is_some_and(|byte| *byte > b' ') {
            return;
        }
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.at += self.rest().iter().take_while(is_blank).count();
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_next = self.rest().first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), &'static str> {
        if self.next_is(byte) {
            Ok(())
        } else {
            Err(BROKEN)
        }
    }

    fn end(&mut self) -> Result<(), &'static str> {
        self.blanks();
        match self.rest() {
            [] => Ok(()),
            _ => Err("bytes after the JSON object"),
        }
    }

    /// Passes a member that is two strings without escapes, as nearly all are: four quotes, and a colon between the middle ones.
    fn plain_member(&mut self) -> Option<(Range<usize>, Range<usize>)> {
        let (&[open, name_end, value_open, end], rest) = self.marks.split_first_chunk()?;
        let marks = [open, name_end, value_open, end];
        let is_plain = open == self.at
            && marks.iter().all(|place| self.json[*place] == b'"')
            && matches!(&self.json[name_end + 1..value_open], b":" | b": ");
        is_plain.then(|| {
            self.marks = rest;
            self.at = end + 1;
            (open + 1..name_end, value_open + 1..end)
        })
    }

    fn value(
        &mut self,
        decoded: &mut Vec<u8>,
        closers: &mut Vec<u8>,
    ) -> Result<Value, &'static str> {
        self.blanks();
        match self.rest().first() {
            Some(b'"') => self.string(decoded).map(Value::Text),
            Some(b'{' | b'[') => self.pass_nested(closers).map(|()| Value::Other),
            _ => self.bare(),
        }
    }

    /// A number or literal.
    fn bare(&mut self) -> Result<Value, &'static str> {
        let start = self.at;
        let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        self.at += self.rest().iter().take_while(is_letter).count();
        match &self.json[start..self.at] {
            b"null" | b"true" | b"false" => Ok(Value::Other),
            text if is_number(text) => Ok(Value::Text(Text::is_in_line(start..self.at))),
            _ => Err(BROKEN),
        }
    }

    fn string(&mut self, decoded: &mut Vec<u8>) -> Result<Text, &'static str> {
        if self.rest().first() != Some(&b'"') {
            return Err(BROKEN);
        }
        self.at += 1;
        let start = self.at;
        match self.pass_mark()? {
            b'"' => Ok(Text::is_in_line(start..self.at - 1)),
            _ => self.decode(start, decoded),
        }
    }

    /// Goes behind the next quote or backslash, and says which it is.
    fn pass_mark(&mut self) -> Result<u8, &'static str> {
        while let Some((place, behind)) = self.marks.split_first() {
            self.marks = behind;
            if *place >= self.at {
                self.at = place + 1;
                return Ok(self.json[*place]);
            }
        }
        Err(BROKEN)
    }

    /// Decodes a string from `start`, whose first backslash was just passed.
    fn decode(&mut self, start: usize, decoded: &mut Vec<u8>) -> Result<Text, &'static str> {
        let begin = decoded.len();
        let mut from = start;
        loop {
            decoded.extend_from_slice(&self.json[from..self.at - 1]);
            self.escape(decoded)?;
            from = self.at;
            if self.pass_mark()? == b'"' {
                decoded.extend_from_slice(&self.json[from..self.at - 1]);
                return Ok(Text::Decoded(begin, decoded.len()));
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, decoded: &mut Vec<u8>) -> Result<(), &'static str> {
        let letter = *self.rest().first().ok_or(BROKEN)?;
        self.at += 1;
        decoded.push(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(decoded),
            _ => return Err(BROKEN),
        });
        Ok(())
    }

    fn unicode(&mut self, decoded: &mut Vec<u8>) -> Result<(), &'static str> {
        let unit = self.four_hex().ok_or(BROKEN)?;
        let mut code = unit;
        if (0xd800..0xdc00).contains(&unit) {
            let behind = self.at;
            let low = match self.rest() {
                [b'\\', b'u', ..] => {
                    self.at += 2;
                    self.four_hex().ok_or(BROKEN)?
                }
                _ => 0,
            };
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = behind;
            }
        }
        push_utf8(code, decoded);
        Ok(())
    }

    fn four_hex(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        let value = digits.iter().try_fold(0, |value, digit| {
            Some(value * 16 + char::from(*digit).to_digit(16)?)
        })?;
        self.at += 4;
        Some(value)
    }

    /// Passes an object or array; what stands between its strings and brackets is not judged.
    fn pass_nested(&mut self, closers: &mut Vec<u8>) -> Result<(), &'static str> {
        closers.clear();
        loop {
            let byte = *self.rest().first().ok_or(BROKEN)?;
            self.at += 1;
            match byte {
                b'{' => closers.push(b'}'),
                b'[' => closers.push(b']'),
                b'}' | b']' if closers.pop() != Some(byte) => return Err(BROKEN),
                b'}' | b']' if closers.is_empty() => return Ok(()),
                b'"' => {
                    while self.pass_mark()? == b'\\' {
                        self.at = (self.at + 1).min(self.json.len());
                    }
                }
                _ => {}
            }
        }
    }
}

/// As RFC 8259 section 6 has it.
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = mark.map_or((text, None), |at| {
        let exponent = &text[at + 1..];
        let unsigned = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-"));
        (&text[..at], Some(unsigned.unwrap_or(exponent)))
    });
    let mut halves = mantissa.splitn(2, |byte| *byte == b'.');
    let is_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_whole = |text: &[u8]| is_digits(text) && (text.len() == 1 || text[0] != b'0');
    halves.next().is_some_and(is_whole)
        && halves.next().is_none_or(is_digits)
        && exponent.is_none_or(is_digits)
}

/// UTF-8 of `code`; half a surrogate pair as the three bytes it would have, so that no two strings become one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "each shift leaves the bits of one byte"
)]
fn push_utf8(code: u32, out: &mut Vec<u8>) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
    match code {
        0..0x80 => out.push(code as u8),
        0x80..0x800 => out.extend([0xc0 | (code >> 6) as u8, tail(0)]),
        0x800..0x10000 => out.extend([0xe0 | (code >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Found = Vec<(Vec<u8>, Option<Vec<u8>>)>;

    fn read(json: &[u8]) -> Option<Found> {
        let mut members = Members::default();
        let mut found = Vec::new();
        let mut values = Vec::new();
        members
            .read(json, |name, value| {
                found.push(name.to_vec());
                values.push(value);
            })
            .ok()?;
        let text = |value: &Value| match value {
            Value::Text(text) => Some(members.text(json, *text).to_vec()),
            Value::Other => None,
        };
        Some(found.into_iter().zip(values.iter().map(text)).collect())
    }

    #[test]
    fn reads_members_in_order() {
        let found = read(br#" { "a" : "b" , "c":-1.5e3,"d":null,"e":{"x":["}",{}]} ,"\u0066":"\u00e9\ud83d\ude00\/" } "#);
        let expected: [(&[u8], Option<&[u8]>); 5] = [
            (b"a", Some(b"b")),
            (b"c", Some(b"-1.5e3")),
            (b"d", None),
            (b"e", None),
            (b"f", Some("é😀/".as_bytes())),
        ];
        let own =
            |(name, value): (&[u8], Option<&[u8]>)| (name.to_vec(), value.map(<[u8]>::to_vec));
        assert_eq!(found, Some(expected.map(own).to_vec()));
    }

    #[test]
    fn keeps_half_surrogates_and_foreign_bytes_apart() {
        for (json, expected) in [
            (&br#"{"a":"\ud800"}"#[..], &b"\xed\xa0\x80"[..]),
            (br#"{"a":"\ud800\u0041"}"#, b"\xed\xa0\x80A"),
            (
                br#"{"a":"\ud800\ud800\udc00"}"#,
                b"\xed\xa0\x80\xf0\x90\x80\x80",
            ),
            (b"{\"a\":\"\xff\"}", b"\xff"),
        ] {
            assert_eq!(read(json).unwrap()[0].1.as_deref(), Some(expected));
        }
    }

    #[test]
    fn refuses_what_is_no_object() {
        for json in [
            "",
            "{",
            "{}x",
            "[]",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":"b}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12"}"#,
            r#"{"a":[}"#,
            r#"{"a":nul}"#,
            r#"{'a':1}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":"\"#,
            r#"{"a":["\"#,
        ] {
            assert_eq!(read(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(read(deep.as_bytes()), Some(vec![(b"a".to_vec(), None)]));
    }

    /// A member's value, with and without escapes, strings and others.
    fn any_value() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "\"[a-z:,{} ]{0,6}\"",
            1 => Just(String::from(r#""a\"b\\""#)),
            1 => Just(String::from(r#"{"x":["\"}"]}"#)),
            1 => "-?[1-9][0-9]{0,3}",
            1 => Just(String::from("null")),
        ]
    }

    proptest! {
        #[test]
        fn blanks_and_values_of_any_kind_change_no_other_member(
            values in proptest::collection::vec((any_value(), "[ \t]{0,2}", "[ \t]{0,2}", "[ \t]{0,2}"), 0..7),
        ) {
            let members = values.iter().enumerate().map(|(nth, (value, before, after, behind))| {
                format!("{before}\"n{nth}\"{after}:{behind}{value}{after}")
            });
            let json = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
            prop_assert_eq!(read(json.as_bytes()), twin(&json));
        }
    }

    /// The slow twin is `serde_json`; names given twice and nested values are left out, where the two differ by intent.
    fn twin(json: &str) -> Option<Found> {
        let value: serde_json::Value = serde_json::from_str(json).ok()?;
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => Some(text.as_bytes().to_vec()),
            serde_json::Value::Number(number) => Some(number.to_string().into_bytes()),
            _ => None,
        };
        let members = value.as_object()?.iter();
        Some(
            members
                .map(|(name, value)| (name.as_bytes().to_vec(), text(value)))
                .collect(),
        )
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(names in proptest::collection::btree_set("\\PC{1,6}|[\"\\\\\u{0}-\u{1f}é]{1,3}", 0..5), text in any::<String>(), number in any::<u64>()) {
            let object: serde_json::Map<_, _> = names.iter().enumerate().map(|(index, name)| {
                let value = match index % 4 {
                    0 => serde_json::json!(text),
                    1 => serde_json::json!(number),
                    2 => serde_json::json!({"n": [text, null, {"]": "}"}]}),
                    _ => serde_json::json!(true),
                };
                (name.clone(), value)
            }).collect();
            let json = serde_json::Value::Object(object).to_string();
            prop_assert_eq!(read(json.as_bytes()), twin(&json));
        }

        #[test]
        fn refuses_what_serde_json_refuses(json in r#"\{("[ab]":("x"|\[\]|\{\}|1|-|\\|null),?){0,3}\}?"#) {
            prop_assert_eq!(read(json.as_bytes()).is_some(), twin(&json).is_some());
        }

        #[test]
        fn any_bytes_are_read(json in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = read(&[b"{\"", json.as_slice()].concat());
        }
    }
}
