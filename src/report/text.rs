//! Bytes of an input as text that nobody can mistake: no control bytes, no broken UTF-8, no secrets.

use crate::capture::{Algorithm, Digest};

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

/// Appends a number in decimal digits; without the machinery of formatting, as rows have many.
pub(super) fn push_decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10).to_le_bytes()[0];
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a digest as the field writes it: SHA-1 in base32, others in hex.
pub(super) fn push_digest(digest: &Digest, out: &mut Vec<u8>) {
    out.extend_from_slice(digest.algorithm.label().as_bytes());
    out.push(b':');
    let mut text = [0; 128];
    let encoding = match digest.algorithm {
        Algorithm::Sha1 => &data_encoding::BASE32_NOPAD,
        _ => &data_encoding::HEXLOWER,
    };
    let text = &mut text[..encoding.encode_len(digest.as_bytes().len())];
    encoding.encode_mut(digest.as_bytes(), text);
    out.extend_from_slice(text);
}

/// Appends a URI with its user info as `***`.
pub(super) fn push_redacted(uri: &[u8], out: &mut Vec<u8>) {
    match user_info(uri) {
        Some((start, end)) => {
            out.extend_from_slice(&uri[..start]);
            out.extend_from_slice(b"***");
            out.extend_from_slice(&uri[end..]);
        }
        None => out.extend_from_slice(uri),
    }
}

/// Where non-empty user info stands: after `//`, and in http after any run of slashes, as browsers read it.
fn user_info(uri: &[u8]) -> Option<(usize, usize)> {
    memchr::memchr(b'@', uri)?;
    let colon = memchr::memchr(b':', uri)?;
    let is_http = {
        let scheme = uri[..colon].trim_ascii();
        scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")
    };
    let is_slash = |byte: &u8| *byte == b'/' || is_http && *byte == b'\\';
    let n_slashes = uri[colon + 1..]
        .iter()
        .take_while(|byte| is_slash(byte))
        .count();
    let start = match (is_http, n_slashes) {
        (true, n) => colon + 1 + n,
        (false, 2..) => colon + 3,
        (false, _) => return None,
    };
    let authority = &uri[start..];
    let len = authority
        .iter()
        .take_while(|byte| !is_slash(byte) && !matches!(byte, b'?' | b'#'))
        .count();
    let end = start + memchr::memrchr(b'@', &authority[..len])?;
    (end > start).then_some((start, end))
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
    fn writes_numbers() {
        for number in [0, 7, 10, 65_535, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(number, &mut out);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }

    #[test]
    fn writes_digests() {
        let mut out = Vec::new();
        push_digest(
            &Digest::new(Algorithm::Sha1, &[0xff; 20]).unwrap(),
            &mut out,
        );
        assert_eq!(out, b"sha1:77777777777777777777777777777777");
        out.clear();
        push_digest(&Digest::new(Algorithm::Md5, &[0xab; 16]).unwrap(), &mut out);
        assert_eq!(out, b"md5:abababababababababababababababab");
    }

    #[test]
    fn prints_no_user_info() {
        for (uri, text) in [
            ("http://user:secret@example.com/", "http://***@example.com/"),
            (
                "HTTPS://u@example.com:80/@x",
                "HTTPS://***@example.com:80/@x",
            ),
            ("http://a@b@c/", "http://***@c/"),
            ("http:\\\\u:p@c/", "http:\\\\***@c/"),
            ("http:u:p@c/", "http:***@c/"),
            ("http:///u:p@c/", "http:///***@c/"),
            (" http://u:p@c/", " http://***@c/"),
            ("ftp://u:p@c/", "ftp://***@c/"),
            ("http://@c/", "http://@c/"),
            ("mailto:u@c", "mailto:u@c"),
            ("http://c/?a=u:p@d", "http://c/?a=u:p@d"),
            ("http://c?u:p@d", "http://c?u:p@d"),
            ("http://c#u:p@d", "http://c#u:p@d"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            push_redacted(uri.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
