//! `encodings.idna` of Python: IDNA 2003 (RFC 3490) over nameprep (RFC 3491) with Unicode 3.2.

use stringprep::tables;
use unicode_normalization::UnicodeNormalization as _;

/// A label has 63 bytes at most (RFC 1035 §2.3.4).
const LABEL_BYTES_MAX: usize = 63;

/// `host.encode("idna")`; `None` where it raises `UnicodeError`.
pub(super) fn encode(host: &str) -> Option<Vec<u8>> {
    if host.is_empty() {
        return Some(Vec::new());
    }
    if host.is_ascii() {
        return are_ascii_labels_valid(host).then(|| host.as_bytes().to_vec());
    }
    let mut labels: Vec<&str> = host
        .split(['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'])
        .collect();
    let has_trailing_dot = labels.last().is_some_and(|label| label.is_empty());
    if has_trailing_dot {
        labels.pop();
    }
    let mut out = Vec::with_capacity(host.len() + 8);
    for label in labels {
        if !out.is_empty() {
            out.push(b'.');
        }
        out.extend_from_slice(&to_ascii(label)?);
    }
    if has_trailing_dot {
        out.push(b'.');
    }
    Some(out)
}

/// Each label has 1 to 63 bytes; the last one may be empty.
fn are_ascii_labels_valid(host: &str) -> bool {
    let (front, last) = match host.rsplit_once('.') {
        Some((front, last)) => (Some(front), last),
        None => (None, host),
    };
    last.len() <= LABEL_BYTES_MAX
        && front.is_none_or(|front| {
            front
                .split('.')
                .all(|label| (1..=LABEL_BYTES_MAX).contains(&label.len()))
        })
}

/// `ToASCII` (RFC 3490 §4.1) without `UseSTD3ASCIIRules`.
pub(super) fn to_ascii(label: &str) -> Option<Vec<u8>> {
    let fits = |text: &[u8]| (1..=LABEL_BYTES_MAX).contains(&text.len());
    if label.is_ascii() {
        return Some(label.as_bytes().to_vec()).filter(|text| fits(text));
    }
    let label = nameprep(label)?;
    if label.is_ascii() {
        return Some(label.into_bytes()).filter(|text| fits(text));
    }
    if label.starts_with("xn--") {
        return None;
    }
    let mut out = b"xn--".to_vec();
    out.extend_from_slice(idna::punycode::encode_str(&label)?.as_bytes());
    Some(out).filter(|text| fits(text))
}

/// Nameprep as Python has it: unassigned characters are let through.
fn nameprep(label: &str) -> Option<String> {
    let mapped: String = label
        .chars()
        .filter(|&c| !tables::commonly_mapped_to_nothing(c))
        .flat_map(fold)
        .collect();
    let label = nfkc_3_2(&mapped);
    (!label.chars().any(is_prohibited) && is_bidi_valid(&label)).then_some(label)
}

/// Table B.2; what it leaves alone is lowered by the Unicode at hand, which has more letters.
fn fold(c: char) -> impl Iterator<Item = char> {
    let is_left_alone = tables::case_fold_for_nfkc(c).eq([c]);
    let folded = (!is_left_alone).then(|| tables::case_fold_for_nfkc(c));
    let lowered = is_left_alone.then(|| c.to_lowercase().flat_map(tables::case_fold_for_nfkc));
    folded
        .into_iter()
        .flatten()
        .chain(lowered.into_iter().flatten())
}

/// Five characters had other decompositions in Unicode 3.2 (NormalizationCorrections.txt).
fn decomposition_3_2(c: char) -> char {
    match c {
        '\u{2F868}' => '\u{2136A}',
        '\u{2F874}' => '\u{5F33}',
        '\u{2F91F}' => '\u{43AB}',
        '\u{2F95F}' => '\u{7AAE}',
        '\u{2F9BF}' => '\u{4D57}',
        _ => c,
    }
}

/// NFKC as Python does it for Unicode 3.2: characters that came later do not decompose, and that is all.
fn nfkc_3_2(text: &str) -> String {
    let is_later = |c: char| tables::unassigned_code_point(c) && !std::iter::once(c).nfkc().eq([c]);
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(is_later) {
        let later = part.chars().next_back().filter(|&c| is_later(c));
        let end = part.len() - later.map_or(0, char::len_utf8);
        out.extend(part[..end].chars().map(decomposition_3_2).nfkc());
        out.extend(later);
    }
    out
}

/// Tables C.1.2, C.2.2 and C.3 to C.9.
fn is_prohibited(c: char) -> bool {
    tables::non_ascii_space_character(c)
        || tables::non_ascii_control_character(c)
        || tables::private_use(c)
        || tables::non_character_code_point(c)
        || tables::surrogate_code(c)
        || tables::inappropriate_for_plain_text(c)
        || tables::inappropriate_for_canonical_representation(c)
        || tables::change_display_properties_or_deprecated(c)
        || tables::tagging_character(c)
}

/// RFC 3454 §6: with a right-to-left character, no left-to-right one, and the first and last are such.
fn is_bidi_valid(label: &str) -> bool {
    let is_right_to_left = |c: char| tables::bidi_r_or_al(c) && !tables::unassigned_code_point(c);
    if !label.chars().any(is_right_to_left) {
        return true;
    }
    !label
        .chars()
        .any(|c| tables::bidi_l(c) && !tables::unassigned_code_point(c))
        && label.chars().next().is_some_and(is_right_to_left)
        && label.chars().next_back().is_some_and(is_right_to_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_python_does() {
        for (host, expected) in [
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("faß.de", Some("fass.de")),
            ("ＧＯ.com", Some("go.com")),
            ("example\u{3002}com", Some("example.com")),
            ("a..b", None),
            ("ü..b", None),
            ("ü.", Some("xn--tda.")),
            ("\u{5D0}a.com", None),
            ("\u{2028}.com", None),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(encode(host), expected, "{host}");
        }
    }
}
