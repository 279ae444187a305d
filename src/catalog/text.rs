//! The little that grouping asks of stored text: paths and languages.

/// Most primary subtags of one `Content-Language` that are looked at.
const LANGUAGES_MAX: usize = 16;

/// The path of an http URI: what stands between authority and query or fragment; `/` for an empty one.
pub(super) fn path(uri: &[u8]) -> &[u8] {
    let after_scheme = match uri.windows(3).position(|window| window == b"://") {
        Some(at) => &uri[at + 3..],
        None => uri,
    };
    let end = memchr::memchr2(b'?', b'#', after_scheme).unwrap_or(after_scheme.len());
    let hierarchy = &after_scheme[..end];
    match memchr::memchr(b'/', hierarchy) {
        Some(at) => &hierarchy[at..],
        None => b"/",
    }
}

/// Whether a resolved URI is the root of its host: path `/` and no query.
pub(super) fn is_home(uri: &[u8]) -> bool {
    path(uri) == b"/" && memchr::memchr(b'?', uri).is_none()
}

/// Whether two values of `Content-Language` name languages, and none in common.
pub(super) fn languages_differ(one: &[u8], other: &[u8]) -> bool {
    let has_any = |value| primary_subtags(value).next().is_some();
    has_any(one)
        && has_any(other)
        && !primary_subtags(one)
            .any(|tag| primary_subtags(other).any(|known| known.eq_ignore_ascii_case(tag)))
}

/// `de` and `en` of `de-AT, en;q=0.5`; what is no language tag names none.
fn primary_subtags(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .take(LANGUAGES_MAX)
        .filter_map(|tag| {
            tag.trim_ascii()
                .split(|byte| !byte.is_ascii_alphabetic())
                .next()
        })
        .filter(|primary| (1..=8).contains(&primary.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_path_of_an_uri() {
        for (uri, expected) in [
            ("http://a.test/x/y?q#f", "/x/y"),
            ("http://a.test", "/"),
            ("http://a.test?/x", "/"),
            ("http://a.test/?q", "/"),
            ("https://u:p@a.test:1/#/x", "/"),
        ] {
            assert_eq!(path(uri.as_bytes()), expected.as_bytes(), "{uri}");
        }
    }

    #[test]
    fn a_home_has_no_path_and_no_query() {
        for (uri, expected) in [
            ("http://a.test/", true),
            ("http://a.test", true),
            ("http://a.test/#top", true),
            ("http://a.test/x", false),
            ("http://a.test/?p=1", false),
        ] {
            assert_eq!(is_home(uri.as_bytes()), expected, "{uri}");
        }
    }

    #[test]
    fn languages_differ_only_if_both_are_known_and_share_none() {
        for (one, other, expected) in [
            ("de", "en", true),
            ("de-AT", "DE-de", false),
            ("de, en", "en", false),
            ("de", "", false),
            ("*", "en", false),
            ("fr, it", "de,en", true),
            ("deutsch-lang-name", "en", true),
            ("averylongname", "en", false),
        ] {
            assert_eq!(
                languages_differ(one.as_bytes(), other.as_bytes()),
                expected,
                "{one} {other}"
            );
            assert_eq!(
                languages_differ(other.as_bytes(), one.as_bytes()),
                expected,
                "{other} {one}"
            );
        }
    }
}
