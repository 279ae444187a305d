//! Text of an archive as the page shows it: nothing in it is invisible, turns the text around, or hides where it ends.

use std::fmt::Write as _;

use crate::report::text::{clean, push_visible};
use crate::uri::write_redacted;

/// Bytes of one text that the page shows.
const SHOWN_MAX: usize = 2000;

/// A name or place of the archive, cut where it is very long.
#[must_use]
pub(super) fn text(bytes: &[u8]) -> String {
    let (shown, n_more) = cut(bytes);
    let mut out = String::new();
    push_visible(&clean(shown), &mut out);
    if n_more > 0 {
        // Writing to a `String` cannot fail.
        write!(out, " \u{2026} and {n_more} more bytes").ok();
    }
    out
}

/// A URL, its user info hidden; not yet cut.
#[must_use]
pub(super) fn url(bytes: &[u8]) -> String {
    let mut redacted = Vec::new();
    write_redacted(bytes, &mut redacted);
    let mut out = String::new();
    push_visible(&clean(&redacted), &mut out);
    out
}

/// Splits `bytes` where a text is cut, not within a character; says how many bytes are left out.
fn cut(bytes: &[u8]) -> (&[u8], usize) {
    if bytes.len() <= SHOWN_MAX {
        return (bytes, 0);
    }
    let is_inside = |end: &usize| (0x80..0xC0).contains(&bytes[*end]);
    let end = (SHOWN_MAX - 3..=SHOWN_MAX)
        .rev()
        .find(|end| !is_inside(end))
        .unwrap_or(SHOWN_MAX);
    (&bytes[..end], bytes.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_would_be_invisible_or_turn_text_around() {
        for (bytes, shown) in [
            ("gr\u{fc}n \u{4e2d}".as_bytes(), "gr\u{fc}n \u{4e2d}"),
            ("a\u{202e}gpj.exe".as_bytes(), "a\\u{202e}gpj.exe"),
            ("a\u{200b}b\u{ad}c".as_bytes(), "a\\u{200b}b\\u{ad}c"),
            ("a\u{a0}b\u{2028}c".as_bytes(), "a\\u{a0}b\\u{2028}c"),
            ("\u{feff}\u{e0041}".as_bytes(), "\\u{feff}\\u{e0041}"),
            (b"a\x00\r\n\xff\x1b[31m", "a%00%0D%0A%FF%1B[31m"),
            ("\u{85}".as_bytes(), "\\u{85}"),
        ] {
            assert_eq!(text(bytes), shown);
        }
    }

    #[test]
    fn cuts_what_is_very_long_between_characters() {
        assert_eq!(text(&[b'a'; 2000]), "a".repeat(2000));
        assert_eq!(
            text(&[b'a'; 2001]),
            "a".repeat(2000) + " \u{2026} and 1 more bytes"
        );
        let long = "a".to_owned() + &"\u{fc}".repeat(2000);
        let shown = text(long.as_bytes());
        let kept = "a".to_owned() + &"\u{fc}".repeat(999);
        assert_eq!(shown, kept + " \u{2026} and 2002 more bytes");
    }

    #[test]
    fn hides_user_info() {
        assert_eq!(url(b"http://me:secret@a.test/"), "http://***@a.test/");
    }
}
