//! What each bet does, for a reader who has not seen the catalogue.

use crate::policy::Rule;

/// What a bet does, and two URLs that it makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) text: &'static str,
    pub(super) a: &'static str,
    pub(super) b: &'static str,
}

/// `None` for what is no bet, or depends on a list that a policy names.
#[must_use]
pub(super) fn of(rule: Rule) -> Option<Meaning> {
    MEANINGS
        .iter()
        .find(|(known, ..)| *known == rule)
        .map(|(_, text, [a, b])| Meaning { text, a, b })
}

/// In policy order: the bet, what it does, and two URLs that it makes one.
const MEANINGS: [(Rule, &str, [&str; 2]); 32] = [
    (
        Rule::SchemeMerge,
        "Treats https as http",
        ["https://example.org/a", "http://example.org/a"],
    ),
    (
        Rule::UserinfoDrop,
        "Ignores a user name in front of the host",
        ["http://me@example.org/", "http://example.org/"],
    ),
    (
        Rule::HostTrailingDotDrop,
        "Ignores a dot at the end of the host",
        ["http://example.org./a", "http://example.org/a"],
    ),
    (
        Rule::WwwWww,
        "Ignores www. in front of the host",
        ["http://www.example.org/a", "http://example.org/a"],
    ),
    (
        Rule::WwwNumbered,
        "Ignores www2. and its like in front of the host",
        ["http://www2.example.org/a", "http://example.org/a"],
    ),
    (
        Rule::WwwMobile,
        "Ignores m. or mobile. in front of the host",
        ["http://m.example.org/a", "http://example.org/a"],
    ),
    (
        Rule::UnicodeNfc,
        "Treats one and two code points for a letter alike",
        [
            "http://example.org/caf%C3%A9",
            "http://example.org/cafe%CC%81",
        ],
    ),
    (
        Rule::PathSessionDrop,
        "Ignores a session id in the path",
        [
            "http://example.org/a;jsessionid=1A2B3C4D",
            "http://example.org/a",
        ],
    ),
    (
        Rule::SlashCollapse,
        "Treats several slashes as one",
        ["http://example.org/a//b", "http://example.org/a/b"],
    ),
    (
        Rule::IndexFileDefault,
        "Ignores index.html and its like",
        ["http://example.org/a/index.html", "http://example.org/a/"],
    ),
    (
        Rule::TrailingSlashDrop,
        "Ignores a slash at the end of the path",
        ["http://example.org/a/", "http://example.org/a"],
    ),
    (
        Rule::TrailingSlashAdd,
        "Adds a slash at the end of the path",
        ["http://example.org/a", "http://example.org/a/"],
    ),
    (
        Rule::PathCaseLower,
        "Ignores upper and lower case in the path",
        ["http://example.org/About", "http://example.org/about"],
    ),
    (
        Rule::LeadingZerosDrop,
        "Ignores zeros in front of a number",
        ["http://example.org/page/007", "http://example.org/page/7"],
    ),
    (
        Rule::EscapesEncodeGrey,
        "Escapes | [ ] \\ and a lone %",
        ["http://example.org/a|b", "http://example.org/a%7Cb"],
    ),
    (
        Rule::EscapesDecodeSubDelims,
        "Decodes escaped ! $ & ' ( ) * + , ; =",
        ["http://example.org/a%2Cb", "http://example.org/a,b"],
    ),
    (
        Rule::EscapesDecodeReserved,
        "Decodes escaped reserved characters",
        ["http://example.org/a%3Ab", "http://example.org/a:b"],
    ),
    (
        Rule::EscapesDecodeRepeated,
        "Decodes escapes until none is left",
        ["http://example.org/a%252Cb", "http://example.org/a%2Cb"],
    ),
    (
        Rule::ExtensionDrop,
        "Ignores .html, .php and their like at the end",
        ["http://example.org/a.html", "http://example.org/a"],
    ),
    (
        Rule::AmpEntityDecode,
        "Reads &amp; as &",
        [
            "http://example.org/?a=1&amp;b=2",
            "http://example.org/?a=1&b=2",
        ],
    ),
    (
        Rule::QueryDropTracking,
        "Ignores tracking parameters: utm_source, gclid and their like",
        [
            "http://example.org/a?utm_source=mail",
            "http://example.org/a",
        ],
    ),
    (
        Rule::QuerySessionDrop,
        "Ignores session parameters",
        ["http://example.org/?sid=1A2B3C4D5E", "http://example.org/"],
    ),
    (
        Rule::QueryEmptyMark,
        "Ignores a ? with nothing after it",
        ["http://example.org/a?", "http://example.org/a"],
    ),
    (
        Rule::QueryEmptyParams,
        "Ignores parameters that are nothing",
        [
            "http://example.org/?a=1&&b=2",
            "http://example.org/?a=1&b=2",
        ],
    ),
    (
        Rule::QueryEmptyValue,
        "Treats a parameter without = as one with an empty value",
        ["http://example.org/?a", "http://example.org/?a="],
    ),
    (
        Rule::QueryPlusSpace,
        "Treats + as a space",
        ["http://example.org/?q=a+b", "http://example.org/?q=a%20b"],
    ),
    (
        Rule::QueryOrderSortStable,
        "Ignores the order of parameters of different names",
        ["http://example.org/?b=2&a=1", "http://example.org/?a=1&b=2"],
    ),
    (
        Rule::QueryOrderSortFull,
        "Ignores the order of all parameters",
        ["http://example.org/?a=2&a=1", "http://example.org/?a=1&a=2"],
    ),
    (
        Rule::QueryOrderDedupe,
        "Ignores a parameter that was there already",
        ["http://example.org/?a=1&a=1", "http://example.org/?a=1"],
    ),
    (
        Rule::QueryCaseLower,
        "Ignores upper and lower case in the query",
        ["http://example.org/?q=News", "http://example.org/?q=news"],
    ),
    (
        Rule::QueryAllDrop,
        "Ignores the whole query",
        ["http://example.org/a?id=7", "http://example.org/a"],
    ),
    (
        Rule::LanguageParamDrop,
        "Ignores parameters that name a language",
        ["http://example.org/a?lang=en", "http://example.org/a"],
    ),
];

/// What a bet with a list of its own does.
#[must_use]
pub(super) fn of_list(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::QueryDropList => Some("Ignores the parameters that the policy names"),
        Rule::QueryDropFile => Some("Ignores the parameters of the policy's list file"),
        Rule::IndexFileList => Some("Ignores the index files that the policy names"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Keyer;
    use crate::policy::plan::{Base, Plan};
    use crate::policy::{Policy, RuleSet};

    #[test]
    fn each_example_is_one_url_under_its_bet_and_two_without() {
        let key = |policy: &Policy, url: &str| Keyer::new(policy).key(url.as_bytes()).key;
        for rule in RuleSet::bets().iter() {
            let Some(Meaning { a, b, .. }) = of(rule) else {
                assert!(of_list(rule).is_some(), "{rule} is explained");
                continue;
            };
            let mut plan = Plan::new(Base::Browser);
            let safe = Policy::of("safe", "1", plan.clone());
            plan.bets.rules = RuleSet::of(&[rule]);
            let with = Policy::of("with", "1", plan);
            assert_ne!(key(&safe, a), key(&safe, b), "{rule}");
            assert_eq!(key(&with, a), key(&with, b), "{rule}");
        }
    }
}
