//! Payload digests: reading declared ones, computing, and holding one against the other.
//! Knows `capture` only; must never format for people (the text of a digest is the archive's own notation).

mod base32;
mod lanes;
mod sha1;
mod sum;

pub use lanes::{Begun, Lanes};
pub use sum::{Sum, Wanted};

use crate::capture::{Algorithm, Digest};

use data_encoding::{BASE32_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};

/// 128 bits that stand for a digest in the sets: XXH3-128 of algorithm and bytes; never 0.
#[must_use]
pub fn identity(digest: &Digest) -> u128 {
    xxhash_rust::xxh3::xxh3_128_with_seed(digest.as_bytes(), digest.algorithm as u64).max(1)
}

/// Whether it is the digest of no bytes at all.
#[must_use]
pub fn is_of_nothing(digest: &Digest) -> bool {
    let of_nothing: &[u8] = match digest.algorithm {
        Algorithm::Md5 => b"\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e",
        Algorithm::Sha1 => {
            b"\xda\x39\xa3\xee\x5e\x6b\x4b\x0d\x32\x55\xbf\xef\x95\x60\x18\x90\xaf\xd8\x07\x09"
        }
        Algorithm::Sha256 => {
            b"\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24\
              \x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55"
        }
        Algorithm::Sha512 => {
            b"\xcf\x83\xe1\x35\x7e\xef\xb8\xbd\xf1\x54\x28\x50\xd6\x6d\x80\x07\
              \xd6\x20\xe4\x05\x0b\x57\x15\xdc\x83\xf4\xa9\x21\xd3\x6c\xe9\xce\
              \x47\xd0\xd1\x3c\x5d\x85\xf2\xb0\xff\x83\x18\xd2\x87\x7e\xec\x2f\
              \x63\xb9\x31\xbd\x47\x41\x7a\x81\xa5\x38\x32\x7a\xf9\x27\xda\x3e"
        }
        Algorithm::Blake3 => {
            b"\xaf\x13\x49\xb9\xf5\xf9\xa1\xa6\xa0\x40\x4d\xea\x36\xdc\xc9\x49\
              \x9b\xcb\x25\xc9\xad\xc1\x12\xb7\xcc\x9a\x93\xca\xe4\x1f\x32\x62"
        }
    };
    digest.as_bytes() == of_nothing
}

/// Reads a declared digest as archives write it: `sha1:` and base32 as a rule, but hex, either case, labels with
/// or without dash, or none at all occur (WARC 1.1, WARC-Payload-Digest fixes none of it).
///
/// `None` for an unknown label, or a value that cannot be of the label's algorithm.
#[must_use]
pub fn parse_declared(text: &[u8]) -> Option<Digest> {
    let text = text.trim_ascii();
    // As nearly all are: no label but this one, and no MD5, which could be read as base32 too.
    let value = text.strip_prefix(b"sha1:").unwrap_or(text);
    if let Ok(value) = value.try_into()
        && let Some(digest) = decode_sha1(value)
    {
        return Some(digest);
    }
    match memchr::memchr(b':', text) {
        Some(colon) => {
            let value = text[colon + 1..].trim_ascii();
            match label(text[..colon].trim_ascii())? {
                Some(algorithm) => decode_as(algorithm, value),
                None => guess(value),
            }
        }
        None => guess(text),
    }
}

/// Appends the digest as reports print it: `sha1:` and upper-case base32, all others in lower-case hex.
pub fn write_text(digest: &Digest, out: &mut Vec<u8>) {
    let bytes = digest.as_bytes();
    if digest.algorithm == Algorithm::Sha1 {
        out.extend_from_slice(b"sha1:");
        for five in bytes.as_chunks::<5>().0 {
            let [a, b, c, d, e] = *five;
            let bits = u64::from_be_bytes([0, 0, 0, a, b, c, d, e]);
            out.extend_from_slice(&base32::eight_letters(bits));
        }
        return;
    }
    out.extend_from_slice(digest.algorithm.label().as_bytes());
    out.push(b':');
    let start = out.len();
    out.resize(start + HEXLOWER.encode_len(bytes.len()), 0);
    HEXLOWER.encode_mut(bytes, &mut out[start..]);
}

/// The algorithm of a label, `Some(None)` for an empty one, `None` for an unknown one.
fn label(text: &[u8]) -> Option<Option<Algorithm>> {
    const LABELS: [(&[u8], Algorithm); 9] = [
        (b"sha1", Algorithm::Sha1),
        (b"sha-1", Algorithm::Sha1),
        (b"sha256", Algorithm::Sha256),
        (b"sha-256", Algorithm::Sha256),
        (b"sha512", Algorithm::Sha512),
        (b"sha-512", Algorithm::Sha512),
        (b"md5", Algorithm::Md5),
        (b"md-5", Algorithm::Md5),
        (b"blake3", Algorithm::Blake3),
    ];
    if text.is_empty() {
        return Some(None);
    }
    LABELS
        .iter()
        .find(|(name, _)| text.eq_ignore_ascii_case(name))
        .map(|(_, algorithm)| Some(*algorithm))
}

/// Unlabelled: the length decides, and for 32 characters the alphabet (base32 has neither 0, 1, 8 nor 9; a value
/// that could be both is the field's own SHA-1).
fn guess(value: &[u8]) -> Option<Digest> {
    let algorithm = match value.len() {
        40 => Algorithm::Sha1,
        32 if value.iter().any(|byte| b"0189".contains(byte)) => Algorithm::Md5,
        32 => Algorithm::Sha1,
        64 | 52 | 56 => Algorithm::Sha256,
        128 | 103 | 104 => Algorithm::Sha512,
        _ => return None,
    };
    decode_as(algorithm, value)
}

/// Hex if the length says so, else base32 with or without padding.
fn decode_as(algorithm: Algorithm, value: &[u8]) -> Option<Digest> {
    if let (Algorithm::Sha1, Ok(value)) = (algorithm, value.try_into()) {
        return decode_sha1(value);
    }
    let mut bytes = [0; 65];
    let n = algorithm.digest_len();
    if value.len() == 2 * n {
        HEXLOWER_PERMISSIVE
            .decode_mut(value, &mut bytes[..n])
            .ok()?;
    } else {
        decode_base32(value, &mut bytes[..n])?;
    }
    Digest::new(algorithm, &bytes[..n])
}

/// Base32 of a SHA-1 as nearly all archives have it: 32 letters and digits of either case.
fn decode_sha1(value: &[u8; 32]) -> Option<Digest> {
    let mut bytes = [0; 20];
    let fives = bytes.as_chunks_mut::<5>().0;
    for (five, eight) in fives.iter_mut().zip(value.as_chunks::<8>().0) {
        let [.., a, b, c, d, e] = base32::forty_bits(*eight)?.to_be_bytes();
        *five = [a, b, c, d, e];
    }
    Some(Digest::sha1(bytes))
}

fn decode_base32(value: &[u8], bytes: &mut [u8]) -> Option<()> {
    let value = match memchr::memchr(b'=', value) {
        Some(end) if value[end..].iter().all(|byte| *byte == b'=') => &value[..end],
        Some(_) => return None,
        None => value,
    };
    if value.len() != BASE32_NOPAD.encode_len(bytes.len()) {
        return None;
    }
    let mut upper = [0; 103];
    let upper = upper.get_mut(..value.len())?;
    upper.copy_from_slice(value);
    upper.make_ascii_uppercase();
    BASE32_NOPAD.decode_mut(upper, bytes).ok().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(declared: &str) -> Option<String> {
        let mut out = Vec::new();
        write_text(&parse_declared(declared.as_bytes())?, &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn reads_every_notation_of_one_digest() {
        let sha1 = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        let sha256 = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let md5 = "md5:d41d8cd98f00b204e9800998ecf8427e";
        for (declared, expected) in [
            (sha1, sha1),
            ("SHA-1: 3i42h3s6nnfq2msvx7xzkyayscx5qbyj ", sha1),
            ("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", sha1),
            (":3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", sha1),
            ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", sha1),
            ("da39a3ee5e6b4b0d3255bfef95601890AFD80709", sha1),
            (sha256, sha256),
            (
                "sha-256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ",
                sha256,
            ),
            (
                "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
                sha256,
            ),
            (md5, md5),
            ("MD5:D41D8CD98F00B204E9800998ECF8427E", md5),
            ("d41d8cd98f00b204e9800998ecf8427e", md5),
            ("md5:2QOYZWMPACZAJ2MABGMOZ6CCPY", md5),
        ] {
            assert_eq!(text(declared).as_deref(), Some(expected), "{declared}");
            assert!(is_of_nothing(&parse_declared(declared.as_bytes()).unwrap()));
        }
    }

    #[test]
    fn the_usual_notation_is_read_as_any_base32() {
        for letter in 0..=u8::MAX {
            let mut value = *b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
            value[usize::from(letter) % 32] = letter;
            let mut bytes = [0; 20];
            let expected = decode_base32(&value, &mut bytes);
            let expected = expected.and_then(|()| Digest::new(Algorithm::Sha1, &bytes));
            assert_eq!(decode_sha1(&value), expected, "{letter}");
        }
    }

    #[test]
    fn refuses_what_no_algorithm_wrote() {
        for declared in [
            "",
            "sha1:",
            "sha1",
            "monkeypowah!:3I42H3S6NNFQ",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY",
            "sha1:d41d8cd98f00b204e9800998ecf8427e",
            "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha256:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QB=J",
            "sha999:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        ] {
            assert_eq!(parse_declared(declared.as_bytes()), None, "{declared}");
        }
    }

    #[test]
    fn label_decides_between_md5_and_sha1_of_32_characters() {
        let both = "abcdefabcdefabcdefabcdefabcdef23";
        let algorithm =
            |text: String| parse_declared(text.as_bytes()).map(|digest| digest.algorithm);
        assert_eq!(algorithm(format!("md5:{both}")), Some(Algorithm::Md5));
        assert_eq!(algorithm(format!("sha1:{both}")), Some(Algorithm::Sha1));
        assert_eq!(algorithm(both.to_owned()), Some(Algorithm::Sha1));
    }

    #[test]
    fn knows_the_digest_of_nothing_in_every_algorithm() {
        let all = Wanted::NOTHING
            .with(Algorithm::Md5)
            .with(Algorithm::Sha1)
            .with(Algorithm::Sha256)
            .with(Algorithm::Sha512)
            .with(Algorithm::Blake3);
        let mut sum = Sum::default();
        sum.begin(all);
        for algorithm in [
            Algorithm::Md5,
            Algorithm::Sha1,
            Algorithm::Sha256,
            Algorithm::Sha512,
            Algorithm::Blake3,
        ] {
            assert!(is_of_nothing(&sum.digest(algorithm).unwrap()));
        }
        sum.update(b"a");
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Blake3] {
            assert!(!is_of_nothing(&sum.digest(algorithm).unwrap()));
        }
    }
}
