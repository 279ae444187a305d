//! Names of parameters and files as a policy file writes them, made what they are compared with.

use unicode_normalization::UnicodeNormalization as _;

use crate::policy::plan::{Bets, Names};
use crate::policy::rule::Rule;

/// A parameter name as it is compared, or why it is none: the same for a list file and for a name that
/// stands in the policy file. A `*` at its end makes it a prefix.
pub(super) fn read(name: &[u8]) -> Result<Vec<u8>, String> {
    const EXPECTED: &str = "expected one as in \"sid\", or a prefix as in \"utm_*\"";
    let wrong = |why: &str| Err(format!("{why}; {EXPECTED}"));
    let own = name.strip_suffix(b"*").unwrap_or(name);
    if own.is_empty() {
        return wrong("a parameter without a name");
    }
    if let Some(byte) = own.iter().find(|byte| b"=&#".contains(byte)) {
        let c = char::from(*byte);
        return wrong(&format!("`{c}` is no part of a name, but as %{byte:02X}"));
    }
    if own.iter().any(|byte| *byte <= b' ' || *byte == 0x7F) {
        return wrong("a space or control character in a name, which an escape stands for");
    }
    if own.contains(&b'*') {
        return wrong("`*` stands at the end of a prefix only, elsewhere as %2A");
    }
    let decoded = decoded(name);
    if decoded.ends_with(b"*") && !name.ends_with(b"*") {
        return wrong("a name cannot end in %2A, which would be a prefix");
    }
    Ok(decoded)
}

/// What a name stands for, so that it may be copied from a URL.
fn decoded(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, behind)) = rest.split_first() {
        let digits = rest.get(1..3).filter(|_| first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &rest[3..] } else { behind };
    }
    out
}

/// Adds the composed form of each listed name where `unicode` is in force: URLs have no other there.
pub(super) fn complete(bets: &mut Bets) {
    if !bets.rules.contains(Rule::UnicodeNfc) {
        return;
    }
    for names in [
        &mut bets.query_drop,
        &mut bets.query_drop_file,
        &mut bets.index_files,
    ] {
        let own: Vec<Vec<u8>> = names.iter().collect();
        if own.iter().all(|name| name.is_ascii()) {
            continue;
        }
        let composed: Vec<Vec<u8>> = own
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok())
            .map(|name| name.nfc().collect::<String>().into_bytes())
            .collect();
        *names = Names::new(own.iter().chain(&composed).map(Vec::as_slice));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_its_escapes_stand_for() {
        for (name, expected) in [
            ("sid", "sid"),
            ("a%5B%5D", "a[]"),
            ("%2541", "%41"),
            ("50%", "50%"),
            ("utm_*", "utm_*"),
            ("%2Aa", "*a"),
            ("a%3Db%20c", "a=b c"),
            ("%2A*", "**"),
        ] {
            assert_eq!(read(name.as_bytes()), Ok(expected.into()), "{name}");
        }
    }

    #[test]
    fn what_could_be_no_name_is_refused() {
        for (name, why) in [
            ("", "without a name"),
            ("*", "without a name"),
            ("**", "`*` stands at the end"),
            ("*_id", "`*` stands at the end"),
            ("%2A", "cannot end in %2A"),
            ("a=1", "`=` is no part of a name, but as %3D"),
            ("a&b", "`&` is no part"),
            ("a # b", "`#` is no part"),
            ("a b", "a space or control character"),
            (" a", "a space or control character"),
            ("a\u{1b}", "a space or control character"),
        ] {
            let message = read(name.as_bytes()).unwrap_err();
            assert!(message.contains(why), "{name}: {message}");
        }
    }
}
