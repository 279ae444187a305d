//! Which bets could change a core form, by a look at its bytes.
//!
//! To measure every bet of the catalogue alone, each URL would be keyed some thirty times; most bets
//! cannot fire on most URLs. What this leaves out never fires; what it admits may.

use crate::policy::{Rule, RuleSet};
use crate::uri::parts::Parts;

/// Bets that need a query, whatever stands in it.
const IN_QUERY: RuleSet = RuleSet::of(&[
    Rule::AmpEntityDecode,
    Rule::QueryDropList,
    Rule::QueryDropTracking,
    Rule::QueryDropFile,
    Rule::QuerySessionDrop,
    Rule::QueryEmptyMark,
    Rule::QueryEmptyParams,
    Rule::QueryEmptyValue,
    Rule::QueryAllDrop,
    Rule::LanguageParamDrop,
]);
/// Bets that need a dot in the path.
const AT_DOTS: RuleSet = RuleSet::of(&[
    Rule::IndexFileDefault,
    Rule::IndexFileList,
    Rule::ExtensionDrop,
]);
/// Bets that need an escape.
const AT_ESCAPES: RuleSet = RuleSet::of(&[
    Rule::UnicodeNfc,
    Rule::PathSessionDrop,
    Rule::EscapesEncodeGrey,
    Rule::EscapesDecodeSubDelims,
    Rule::EscapesDecodeReserved,
    Rule::EscapesDecodeRepeated,
]);
/// Bets that need two parameters.
const AT_PAIRS: RuleSet = RuleSet::of(&[
    Rule::QueryOrderSortStable,
    Rule::QueryOrderSortFull,
    Rule::QueryOrderDedupe,
]);

/// The bets that could fire on a core form.
#[must_use]
pub fn bets_possible(core_form: &[u8]) -> RuleSet {
    let parts = Parts::of(core_form);
    let path = Marks::of(parts.path);
    let query = parts.query.map_or(Marks::default(), Marks::of);
    let mut possible = RuleSet::EMPTY;
    let mut admit = |rules: RuleSet, is_possible: bool| {
        if is_possible {
            possible = possible.union(rules);
        }
    };
    let one = |rule| RuleSet::of(&[rule]);
    admit(one(Rule::SchemeMerge), parts.scheme == b"https");
    admit(one(Rule::UserinfoDrop), parts.userinfo.is_some());
    admit(one(Rule::HostTrailingDotDrop), parts.host.ends_with(b"."));
    let www = RuleSet::of(&[Rule::WwwWww, Rule::WwwNumbered]);
    admit(www, parts.host.starts_with(b"www"));
    admit(one(Rule::WwwMobile), parts.host.starts_with(b"m"));
    admit(AT_ESCAPES, path.has_escape || query.has_escape);
    admit(one(Rule::PathSessionDrop), path.has_session);
    admit(
        one(Rule::EscapesEncodeGrey),
        path.has_grey || query.has_grey,
    );
    admit(one(Rule::SlashCollapse), path.has_slashes);
    admit(AT_DOTS, path.has_dot);
    let ends_in_slash = parts.path.ends_with(b"/");
    admit(one(Rule::TrailingSlashDrop), ends_in_slash);
    admit(one(Rule::TrailingSlashAdd), !ends_in_slash);
    admit(one(Rule::PathCaseLower), path.has_upper || path.has_escape);
    admit(
        one(Rule::QueryCaseLower),
        query.has_upper || query.has_escape,
    );
    admit(one(Rule::LeadingZerosDrop), path.has_zero || query.has_zero);
    admit(IN_QUERY, parts.query.is_some());
    admit(one(Rule::QueryPlusSpace), query.has_plus);
    admit(AT_PAIRS, query.has_pairs);
    possible
}

/// What stands in a component.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a sort of byte that stands there"
)]
struct Marks {
    has_escape: bool,
    has_upper: bool,
    has_zero: bool,
    has_dot: bool,
    has_plus: bool,
    has_pairs: bool,
    has_slashes: bool,
    has_session: bool,
    has_grey: bool,
}

impl Marks {
    fn of(component: &[u8]) -> Self {
        let mut marks = Self::default();
        let mut previous = 0;
        for &byte in component {
            match byte {
                b'%' => marks.has_escape = true,
                b'A'..=b'Z' => marks.has_upper = true,
                b'0' => marks.has_zero = true,
                b'.' => marks.has_dot = true,
                b'+' => marks.has_plus = true,
                b'&' => marks.has_pairs = true,
                b'/' => marks.has_slashes |= previous == b'/',
                b';' | b'(' => marks.has_session = true,
                b'|' | b'[' | b']' | b'\\' => marks.has_grey = true,
                _ => {}
            }
            previous = byte;
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::plan::{Base, Names, Plan};
    use crate::uri::{Kind, Normalizer};

    /// A plan whose lists have something in them.
    fn plan(base: Base) -> Plan {
        let mut plan = Plan::new(base);
        plan.bets.query_drop = Names::new([&b"a"[..]]);
        plan.bets.query_drop_file = Names::new([&b"b*"[..]]);
        plan.bets.index_files = Names::new([&b"main.html"[..]]);
        plan
    }

    fn check(base: Base, input: &[u8]) {
        let plan = plan(base);
        let mut normalizer = Normalizer::default();
        let core = normalizer.normalize(&plan, input);
        if core.kind != Kind::Http {
            return;
        }
        let possible = bets_possible(core.text);
        let alone = normalizer.masks(&plan, input).alone;
        let missed: Vec<_> = alone.without(possible).iter().map(Rule::name).collect();
        assert!(missed.is_empty(), "{}: {missed:?}", input.escape_ascii());
    }

    proptest! {
        #[test]
        fn admits_whatever_fires(
            host in "(https?)://(u:p@|@)?(www|www2|m|mobile)?\\.?(ex|%65x)\\.org\\.?(:80|:443|:8080)?",
            path in "(/|//|/[aA0.]{0,3}|/index\\.html|/main\\.html|/x\\.php|/(;|\\(S\\(a\\)\\)|;jsessionid=1)|%2[fFeE]|%[cC]3%[aA]9|e%cc%81|%25|[|\\[\\]%+])*",
            query in "(\\?([aAb0=&+%]|&amp;|amp;|utm_a=1|sid=01234567|lang=x|=00|%4[0-9]|%e9|[|\\[\\]]|a=b&)*)?",
        ) {
            for base in [Base::Browser, Base::Grammar] {
                check(base, [host.as_str(), &path, &query].concat().as_bytes());
            }
        }
    }

    #[test]
    fn leaves_out_what_cannot_fire() {
        let possible = bets_possible(b"http://example.org/a/b");
        assert_eq!(possible, RuleSet::of(&[Rule::TrailingSlashAdd]));
    }
}
