//! The path skeleton of a URL: what no bet and no parity policy tells apart within one registrable domain.
//!
//! Halves of an archive are drawn by its hash, so that two URLs that any policy merges fall into one half.

use xxhash_rust::xxh3::Xxh3;

use super::{host_of, path_of, registrable_domain};

/// XXH3-64 of registrable domain and path skeleton of a key text.
#[must_use]
pub fn skeleton_hash(key_text: &[u8]) -> u64 {
    let host = host_of(key_text);
    let domain = registrable_domain(host);
    let mut hash = Xxh3::new();
    hash.update(domain.strip_suffix(b".").unwrap_or(domain));
    for segment in skeleton(path_of(key_text)) {
        hash.update(b"/");
        hash.update(&segment);
    }
    hash.digest()
}

/// The segments of a path that remain, each as letters and digits.
fn skeleton(path: &[u8]) -> Vec<Vec<u8>> {
    let path = composed(&decoded(path)).to_ascii_lowercase();
    let end = memchr::memchr2(b'?', b'#', &path).unwrap_or(path.len());
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path[..end].split(|byte| matches!(byte, b'/' | b'\\')) {
        let end = memchr::memchr(b';', segment).unwrap_or(segment.len());
        match &segment[..end] {
            b"" | b"." => {}
            b".." => {
                segments.pop();
            }
            session if session.starts_with(b"(s(") && session.ends_with(b"))") => {}
            segment => segments.push(segment),
        }
    }
    while let Some(last) = segments.pop() {
        let stem = last
            .iter()
            .rposition(|byte| *byte == b'.')
            .map_or(last, |dot| &last[..dot]);
        if !matches!(stem, b"" | b"index" | b"default" | b"home") {
            segments.push(stem);
            if stem.len() == last.len() {
                break;
            }
        }
    }
    let letters = segments.into_iter().map(letters);
    letters.filter(|segment| !segment.is_empty()).collect()
}

/// Letters and digits, without zeros in front.
fn letters(segment: &[u8]) -> Vec<u8> {
    let letters = segment.iter().copied().filter(u8::is_ascii_alphanumeric);
    letters.skip_while(|byte| *byte == b'0').collect()
}

/// Escapes decoded until none is left. Each round shortens the text by what it decodes, so that the
/// rounds together look at no more than thrice its length.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::with_capacity(path.len());
    for byte in path {
        text.push(*byte);
        // What was decoded may complete an escape that was begun before it.
        while let [.., b'%', high, low] = text.as_slice()
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            text.truncate(text.len() - 3);
            text.push(high << 4 | low);
        }
    }
    text
}

fn digit(byte: u8) -> Option<u8> {
    (byte as char)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// NFC of what is UTF-8; letters outside ASCII are left out in the end, but composing can consume an ASCII one.
fn composed(text: &[u8]) -> Vec<u8> {
    use unicode_normalization::UnicodeNormalization;
    match std::str::from_utf8(text) {
        Ok(text) if !text.is_ascii() => text.nfc().collect::<String>().into_bytes(),
        _ => text.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_same(a: &[u8], b: &[u8]) {
        assert_eq!(
            skeleton_hash(a),
            skeleton_hash(b),
            "{} {}",
            a.escape_ascii(),
            b.escape_ascii()
        );
    }

    #[test]
    fn what_bets_merge_has_one_skeleton() {
        for (a, b) in [
            (
                &b"http://example.org/a/b?x=1"[..],
                &b"https://www.example.org/A//b/"[..],
            ),
            (b"http://example.org/", b"http://example.org/index.html"),
            (b"http://example.org/a/index.php", b"http://example.org/a"),
            (b"http://example.org/a.html", b"http://example.org/a"),
            (
                b"http://example.org/a;jsessionid=1/b",
                b"http://example.org/a/b",
            ),
            (b"http://example.org/(S(abc))/b", b"http://example.org/b"),
            (b"http://example.org/007", b"http://example.org/7"),
            (b"http://example.org/%2561", b"http://example.org/a"),
            (b"http://example.org/a%2Fb", b"http://example.org/a/b"),
            (b"http://example.org./a", b"http://example.org/a"),
            (b"http://example.org/a/../b", b"http://example.org/b"),
        ] {
            check_same(a, b);
        }
    }

    #[test]
    fn other_paths_and_domains_have_another_skeleton() {
        let hash = |text| skeleton_hash(text);
        let of = hash(b"http://example.org/a");
        assert_ne!(of, hash(b"http://example.org/b"));
        assert_ne!(of, hash(b"http://example.net/a"));
        assert_ne!(of, hash(b"http://example.org/a/b"));
    }
}
