//! Bytes of an input as text that nobody can mistake: no control bytes, no broken UTF-8.

use std::io::Write as _;

/// Whether `bytes` can stand in a report as they are.
pub(super) fn is_clean(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' '..=b'~'))
        || bytes.iter().all(|byte| !byte.is_ascii_control()) && std::str::from_utf8(bytes).is_ok()
}

/// Appends `bytes`, control bytes and bytes that are not UTF-8 percent-encoded.
pub(super) fn push_clean(bytes: &[u8], out: &mut Vec<u8>) {
    if is_clean(bytes) {
        return out.extend_from_slice(bytes);
    }
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            if byte.is_ascii_control() {
                push_percent(byte, out);
            } else {
                out.push(byte);
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|byte| push_percent(*byte, out));
    }
}

fn push_percent(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
    out.extend_from_slice(&[b'%', HEX[high], HEX[low]]);
}

/// A file name, or other bytes of unknown encoding, for people and summaries.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    push_clean(bytes, &mut out);
    String::from_utf8(out).expect("clean text is UTF-8")
}

/// What a terminal or a page may show of a text: characters that nobody sees or that move others as `\u{…}`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_visible(text, &mut out);
    out
}

/// Appends what [`visible`] makes of `text`.
pub(super) fn push_visible(text: &str, out: &mut String) {
    for c in text.chars() {
        if is_deceptive(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
}

/// Controls, format characters (bidirectional ones among them), spaces that are none, fillers, variation selectors, tags, private use.
pub(super) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}' | '\u{115F}' | '\u{1160}'
            | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{E000}'..='\u{F8FF}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{10FFFF}')
}

/// Appends a number in decimal digits; without the machinery of formatting, as rows have many.
pub(super) fn push_decimal(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number in 16 hex digits, eight at a time, as each row has some.
pub(super) fn push_hex(number: u64, out: &mut Vec<u8>) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    for half in [number >> 32, number & 0xffff_ffff] {
        let fours = half & 0xffff | (half << 16) & 0xffff_0000_0000;
        let twos = fours & 0x00ff_0000_00ff | (fours << 8) & 0x00ff_0000_00ff_0000;
        let digits = twos & 0x000f_000f_000f_000f | (twos << 4) & 0x0f00_0f00_0f00_0f00;
        let is_letter = (digits + 6 * ONES) >> 4 & ONES;
        let text = digits + u64::from(b'0') * ONES + is_letter * u64::from(b'a' - b'9' - 1);
        out.extend_from_slice(&text.to_be_bytes());
    }
}

/// Appends a real number in nine significant digits, without an exponent.
pub(super) fn push_real(number: f64, out: &mut Vec<u8>) {
    let scientific = format!("{number:.8e}");
    let exponent = scientific
        .rsplit_once('e')
        .and_then(|(_, exponent)| exponent.parse::<i32>().ok())
        .unwrap_or(0);
    let decimals = usize::try_from(8 - exponent).unwrap_or(0);
    // Writing to a `Vec` cannot fail.
    write!(out, "{:.decimals$}", number + 0.0).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_control_bytes_and_broken_utf8_only() {
        for (bytes, text) in [
            (&b"plain, \"text\" %41"[..], "plain, \"text\" %41"),
            ("gr\u{fc}n \u{85}".as_bytes(), "gr\u{fc}n \u{85}"),
            (b"a\tb\r\n\0\x7f", "a%09b%0D%0A%00%7F"),
            (b"\xff\xc3", "%FF%C3"),
            (b"\xc3\xbc\xe2\x82x", "\u{fc}%E2%82x"),
            (b"", ""),
        ] {
            assert_eq!(clean(bytes), text);
            assert_eq!(is_clean(bytes), text.as_bytes() == bytes, "{text}");
        }
    }

    #[test]
    fn writes_reals_in_nine_digits() {
        for (number, text) in [
            (1.0 / 3.0, "0.333333333"),
            (2.0 / 300.0, "0.00666666667"),
            (0.999_999_999_9, "1.00000000"),
            (3690.0, "3690.00000"),
            (123_456_789_012.3, "123456789012"),
            (0.0, "0.00000000"),
            (-0.0, "0.00000000"),
        ] {
            let mut out = Vec::new();
            push_real(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn hex_is_what_formatting_makes(number: u64) {
            let mut out = Vec::new();
            push_hex(number, &mut out);
            proptest::prop_assert_eq!(out, format!("{number:016x}").into_bytes());
        }
    }

    #[test]
    fn writes_numbers() {
        for number in [0, 7, 10, 65_535, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(number, &mut out);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }
}
