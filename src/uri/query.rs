//! Parameters of a query, and the names that several rules share; the names are part of the policy id.

use crate::uri::percent::decoded;

/// Tracking parameters, compared with case; `utm_` is a prefix.
pub(crate) const TRACKING: [&str; 24] = [
    "utm_*",
    "gclid",
    "dclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "mc_cid",
    "mc_eid",
    "igshid",
    "ttclid",
    "twclid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
    "wickedid",
    "s_cid",
];

/// Session parameters, compared without case; they count with a token as value only.
pub(crate) const SESSION: [&str; 12] = [
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "asp.net_sessionid",
    "cfid",
    "cftoken",
    "sid",
    "sessid",
    "session_id",
    "sessionid",
    "oscsid",
    "zenid",
];

/// Parameters that sign a URL, compared without case: a change of its query would break it.
pub(crate) const SIGNATURE: [&str; 7] = [
    "signature",
    "sig",
    "hmac",
    "x-amz-signature",
    "x-goog-signature",
    "x-oss-signature",
    "key-pair-id",
];

/// Parameters that name a language, compared with case.
pub(crate) const LANGUAGE: [&str; 4] = ["lang", "language", "locale", "hl"];

/// The shortest value that can be a session token.
const TOKEN_LEN_MIN: usize = 8;

/// What stands between the `&` of a query; an empty query is one empty parameter.
pub(crate) fn params(query: &[u8]) -> impl Iterator<Item = &[u8]> {
    query.split(|byte| *byte == b'&')
}

/// Name and value of a parameter; without a `=` there is no value.
pub(crate) fn name_value(param: &[u8]) -> (&[u8], Option<&[u8]>) {
    crate::uri::core::cut(param, b'=')
}

/// Whether the parameter is on the list of trackers.
pub(crate) fn is_tracking(param: &[u8]) -> bool {
    let name = name_value(param).0;
    TRACKING
        .iter()
        .any(|own| is_named(own.as_bytes(), decoded(name)))
}

/// Whether the parameter carries a session: by its name, and by a value that looks like a token.
///
/// `sid=0123abcd` does; `sid=12` may be an article.
pub(crate) fn is_session(param: &[u8]) -> bool {
    let (name, value) = name_value(param);
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    value.is_some_and(|value| value.len() >= TOKEN_LEN_MIN && value.iter().all(is_token))
        && SESSION.iter().any(|own| names_lower(own, name))
}

/// Whether a query has a signature parameter.
pub(crate) fn is_signed(query: &[u8]) -> bool {
    let delimiters = memchr::memchr_iter(b'&', query).map(|at| at + 1);
    std::iter::once(0).chain(delimiters).any(|start| {
        let params = &query[start..];
        may_sign(params) && {
            let is_end = |byte: &u8| matches!(byte, b'&' | b'=');
            let len = params.iter().position(is_end).unwrap_or(params.len());
            SIGNATURE.iter().any(|own| names_lower(own, &params[..len]))
        }
    })
}

/// Whether parameters start as a signature does, or with escapes that may stand for that.
fn may_sign(params: &[u8]) -> bool {
    match *params {
        [first, second, ..] => {
            (first == b'%' || starts_signature(first))
                && (first == b'%' || second == b'%' || continues_signature(second))
        }
        _ => false,
    }
}

/// Whether `byte` is the first letter of a name in [`SIGNATURE`].
#[inline]
pub(crate) const fn starts_signature(byte: u8) -> bool {
    LETTERS[0][byte as usize]
}

/// Whether `byte` is the second letter of a name in [`SIGNATURE`].
#[inline]
pub(crate) const fn continues_signature(byte: u8) -> bool {
    LETTERS[1][byte as usize]
}

/// The first and the second letters of names in [`SIGNATURE`].
const LETTERS: [[bool; 256]; 2] = {
    let mut letters = [[false; 256]; 2];
    let mut name = 0;
    while name < SIGNATURE.len() {
        let mut place = 0;
        while place < 2 {
            let letter = SIGNATURE[name].as_bytes()[place];
            letters[place][letter as usize] = true;
            letters[place][letter.to_ascii_uppercase() as usize] = true;
            place += 1;
        }
        name += 1;
    }
    letters
};

fn names_lower(own: &str, name: &[u8]) -> bool {
    is_named(
        own.as_bytes(),
        decoded(name).map(|byte| byte.to_ascii_lowercase()),
    )
}

/// Whether `own`, a name or a prefix that ends in `*`, is about this name.
pub(crate) fn is_named(own: &[u8], mut name: impl Iterator<Item = u8>) -> bool {
    match own.strip_suffix(b"*") {
        Some(prefix) => prefix.iter().all(|byte| name.next() == Some(*byte)),
        None => name.eq(own.iter().copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_after_decoding() {
        assert!(is_tracking(b"utm_source=x"));
        assert!(is_tracking(b"%75tm_x"));
        assert!(is_tracking(b"gclid"));
        assert!(!is_tracking(b"Gclid=1"));
        assert!(!is_tracking(b"gclids=1"));
        assert!(is_named(b"a*", b"ab".iter().copied()));
    }

    #[test]
    fn a_session_needs_a_token() {
        assert!(is_session(b"PHPSESSID=0123abcd"));
        assert!(is_session(b"osCsid=0123-bc_"));
        assert!(is_session(b"ASPSESSIONIDQADSBC=ABCDEFGH"));
        assert!(!is_session(b"sid=1234567"));
        assert!(!is_session(b"sid=1234.678"));
        assert!(!is_session(b"side=01234567"));
    }

    #[test]
    fn a_signature_counts_by_its_whole_name() {
        for query in [
            "sig=1",
            "a=1&Sig=",
            "X-Amz-Signature=0",
            "a&HMAC",
            "%53ig=1",
            "s%69g",
            "Key-Pair-Id=A",
            "x-goog-signature=1",
            "x-oss-signature=1",
            "Signature=x",
        ] {
            assert!(is_signed(query.as_bytes()), "{query}");
        }
        for query in [
            "",
            "sign=1",
            "si=1",
            "design=1",
            "a=sig",
            "xsig=1",
            "signatures=1",
        ] {
            assert!(!is_signed(query.as_bytes()), "{query}");
        }
    }
}
