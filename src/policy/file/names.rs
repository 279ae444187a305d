//! Names of parameters and files as a policy file writes them, made what they are compared with.

use unicode_normalization::UnicodeNormalization as _;

use crate::policy::plan::{Bets, Names};
use crate::policy::rule::Rule;

/// A parameter name as it is compared: after decoding, so that it may be copied from a URL.
pub(super) fn decoded(name: &[u8]) -> Vec<u8> {
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
        let composed: Vec<Vec<u8>> = own
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok())
            .map(|name| name.nfc().collect::<String>().into_bytes())
            .collect();
        *names = Names::new(own.iter().chain(&composed).map(Vec::as_slice));
    }
}
