//! `idna.encode(host, uts46=True)` of the Python package: the mapping of UTS 46, then IDNA 2008 (RFC 5891).

use icu_properties::props::{GeneralCategory, Script};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use idna_adapter::Adapter;

/// A label has 63 bytes at most, and a name 253 without its trailing dot.
const LABEL_BYTES_MAX: usize = 63;
const NAME_BYTES_MAX: usize = 253;

/// `idna.uts46_remap(host, std3_rules=False)`; `None` where a character is disallowed.
pub(super) fn remap(host: &str) -> Option<String> {
    let mapped: String = Adapter::new().map_normalize(host.chars()).collect();
    (!mapped.contains('\u{FFFD}')).then_some(mapped)
}

/// Whether `std3_rules` let `c` through: what it maps to is no ASCII but letters, digits, `-` and `.`.
pub(super) fn is_std3(c: char) -> bool {
    Adapter::new()
        .map_normalize(std::iter::once(c))
        .all(|c| !c.is_ascii() || matches!(c, 'a'..='z' | '0'..='9' | '-' | '.'))
}

/// `idna.encode` of what [`remap`] gave; `None` where it raises.
pub(super) fn encode(mapped: &str) -> Option<Vec<u8>> {
    let (name, has_trailing_dot) = match mapped.strip_suffix('.') {
        Some(name) => (name, true),
        None => (mapped, false),
    };
    let mut out = Vec::with_capacity(mapped.len() + 8);
    for label in name.split('.') {
        if !out.is_empty() {
            out.push(b'.');
        }
        out.extend_from_slice(&alabel(label)?);
    }
    if out.len() > NAME_BYTES_MAX {
        return None;
    }
    if has_trailing_dot {
        out.push(b'.');
    }
    Some(out)
}

/// `idna.alabel`.
fn alabel(label: &str) -> Option<Vec<u8>> {
    if let Some(punycode) = label.strip_prefix("xn--").filter(|_| label.is_ascii()) {
        let decoded = idna::punycode::decode_to_string(punycode)?;
        let is_canonical = idna::punycode::encode_str(&decoded)? == punycode;
        let is_alabel = is_canonical && !decoded.is_ascii() && is_valid(&decoded);
        return (is_alabel && label.len() <= LABEL_BYTES_MAX).then(|| label.as_bytes().to_vec());
    }
    if !is_valid(label) {
        return None;
    }
    if label.is_ascii() {
        return (label.len() <= LABEL_BYTES_MAX).then(|| label.as_bytes().to_vec());
    }
    let mut out = b"xn--".to_vec();
    out.extend_from_slice(idna::punycode::encode_str(label)?.as_bytes());
    (out.len() <= LABEL_BYTES_MAX).then_some(out)
}

/// `idna.check_label`: normal form, hyphens, marks, joiners and the bidi rule are those of UTS 46 with
/// all its checks; the rest is the derived property of RFC 5892.
fn is_valid(label: &str) -> bool {
    let ascii = Uts46::new().to_ascii(
        label.as_bytes(),
        AsciiDenyList::EMPTY,
        Hyphens::Check,
        DnsLength::Ignore,
    );
    !label.is_empty() && ascii.is_ok() && label.chars().all(|c| is_permitted(c, label))
}

/// PVALID, or CONTEXTJ or CONTEXTO in a context that admits it.
fn is_permitted(c: char, label: &str) -> bool {
    const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> =
        CodePointMapData::<GeneralCategory>::new();
    match c {
        'a'..='z' | '0'..='9' | '-' => true,
        '\0'..='\x7F' => false,
        // Exceptions of RFC 5892 §2.6.
        'ß' | 'ς' | '\u{6FD}' | '\u{6FE}' | '\u{F0B}' | '\u{3007}' => true,
        '\u{640}' | '\u{7FA}' | '\u{302E}' | '\u{302F}' | '\u{3031}'..='\u{3035}' | '\u{303B}' => {
            false
        }
        // CONTEXTJ was judged by UTS 46.
        '\u{200C}' | '\u{200D}' => true,
        '\u{B7}' => label.contains("l·l"),
        '\u{375}' => has_script(label, &[Script::Greek]),
        '\u{5F3}' | '\u{5F4}' => has_script(label, &[Script::Hebrew]),
        '\u{30FB}' => has_script(label, &[Script::Hiragana, Script::Katakana, Script::Han]),
        '\u{660}'..='\u{669}' => !label.contains(|c| matches!(c, '\u{6F0}'..='\u{6F9}')),
        '\u{6F0}'..='\u{6F9}' => !label.contains(|c| matches!(c, '\u{660}'..='\u{669}')),
        // Old Hangul jamo (§2.9).
        '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{D7B0}'..='\u{D7FB}' => false,
        _ => matches!(
            CATEGORY.get(c),
            GeneralCategory::LowercaseLetter
                | GeneralCategory::OtherLetter
                | GeneralCategory::ModifierLetter
                | GeneralCategory::NonspacingMark
                | GeneralCategory::SpacingMark
                | GeneralCategory::DecimalNumber
        ),
    }
}

fn has_script(label: &str, scripts: &[Script]) -> bool {
    const SCRIPT: CodePointMapDataBorrowed<'static, Script> = CodePointMapData::<Script>::new();
    label.chars().any(|c| scripts.contains(&SCRIPT.get(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_python_does() {
        for (host, expected) in [
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("FAẞ.de", Some("xn--fa-hia.de")),
            ("ＧＯ.com", Some("go.com")),
            ("☃.net", None),
            ("a_b.example", None),
            ("xn--a.example", None),
            ("xn--n3h.net", None),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("a..b", None),
            ("a.", Some("a.")),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(encode(&remap(host).unwrap()), expected, "{host}");
        }
    }
}
