//! The path skeleton of a URL: what no bet and no parity policy tells apart within one registrable domain.
//!
//! Halves of an archive are drawn by its hash, so that two URLs that any policy merges fall into one half.

use xxhash_rust::xxh3::Xxh3;

use super::{host_of, path_of, registrable_domain};

/// XXH3-64 of registrable domain and path skeleton of a key text.
#[must_use]
pub fn skeleton_hash(key_text: &[u8]) -> u64 {
    let host = host_of(key_text);
    let end = host.iter().rposition(|byte| *byte != b'.');
    let mut hash = Xxh3::new();
    hash.update(registrable_domain(&host[..end.map_or(0, |end| end + 1)]));
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
    let mut whole: Vec<&[u8]> = Vec::new();
    for segment in path[..end]
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .skip(1)
    {
        match segment {
            b"." => {}
            b".." => {
                whole.pop();
            }
            segment => whole.push(segment),
        }
    }
    let is_session = |segment: &[u8]| segment.starts_with(b"(s(") && segment.ends_with(b"))");
    let mut segments: Vec<&[u8]> = whole
        .into_iter()
        .map(|segment| &segment[..memchr::memchr(b';', segment).unwrap_or(segment.len())])
        .filter(|segment| !segment.is_empty() && !is_session(segment))
        .collect();
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
    use proptest::prelude::*;

    use super::*;
    use crate::policy::plan::{Base, Parity, Plan};
    use crate::policy::{Rule, RuleSet};
    use crate::uri::{Kind, Normalizer};

    /// Base forms of URLs that are easily confused. Without dot segments behind escapes: whether `%2F..%2F` takes
    /// off an empty segment or a full one depends on which bet comes first.
    fn forms() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let url = (
            "https?://(www\\.|m\\.)?ex\\.org\\.?",
            "(/|//|/a|/A|/0a?|/index\\.html?|/a\\.php|/home|;b|/\\(S\\(a\\)\\)|%2[fFeE]|%2561|%3b|%C3%A9|e%CC%81)*",
            "(\\?[abA=&]*)?",
        );
        let url = url.prop_map(|(host, path, query)| [host, path, query].concat());
        proptest::collection::vec(url, 2..12).prop_map(|urls| {
            let mut normalizer = Normalizer::default();
            urls.iter()
                .filter_map(|url| {
                    let form = normalizer.normalize(&Plan::new(Base::Browser), url.as_bytes());
                    (form.kind == Kind::Http).then(|| form.text.to_vec())
                })
                .collect()
        })
    }

    fn check_merges(plan: &Plan, forms: &[Vec<u8>]) {
        let mut normalizer = Normalizer::default();
        let keys: Vec<Vec<u8>> = forms
            .iter()
            .map(|form| normalizer.normalize(plan, form).text.to_vec())
            .collect();
        for (index, key) in keys.iter().enumerate() {
            for (other, other_key) in keys[..index].iter().enumerate() {
                if key == other_key {
                    check_same(&forms[index], &forms[other]);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_a_policy_merges_falls_into_one_half(forms in forms()) {
            for rule in RuleSet::bets().iter() {
                let mut plan = Plan::new(Base::Browser);
                plan.bets.rules = RuleSet::of(&[rule]);
                check_merges(&plan, &forms);
                // The text of a bet is a URL again, and in the class of what it was made from.
                let mut normalizer = Normalizer::default();
                for form in &forms {
                    check_same(form, normalizer.normalize(&plan, form).text);
                }
            }
            for library in [Parity::Surt, Parity::W3lib, Parity::UrlcanonSemantic] {
                check_merges(&Plan::new(Base::Parity(library)), &forms);
            }
        }
    }

    #[test]
    fn bets_together_fall_into_one_half() {
        let mut plan = Plan::new(Base::Browser);
        plan.bets.rules = RuleSet::bets().without(RuleSet::of(&[Rule::TrailingSlashAdd]));
        let form = b"http://www.ex.org/A%2F/index.html;x?b=1";
        let mut normalizer = Normalizer::default();
        check_same(form, normalizer.normalize(&plan, form).text);
    }

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
