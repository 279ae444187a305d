//! The catalogue of rules: every core step and every bet, in policy order. Leaf; imports nothing.
//!
//! A rule is one core step (`dot-segments`) or one option of a bet (`www=mobile`); its place in
//! [`Rule::ALL`] is its bit in a [`RuleSet`] and its place in every list that people read.
//!
//! The code that runs a rule says more of it: its section, an example, a pair that it would merge wrongly and
//! one that it must not merge. Core steps stand in `uri::core`, `host`, `percent` and `dots`; bets in `uri::bets`,
//! one file per component.

use std::fmt;

/// Who decides that a rule may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// RFC 3986 §6.2.2 and §6.2.3 and HTTP: always on. Steps that both standards know count here.
    Grammar,
    /// What every browser sends as one request (WHATWG URL), though the grammar does not admit it.
    Browser,
    /// Everything that depends on the server: off until a policy names it.
    Bet,
}

impl Tier {
    /// As reports and errors write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Grammar => "grammar",
            Self::Browser => "browser",
            Self::Bet => "bet",
        }
    }
}

/// One core step or one option of a bet, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// Bytes up to 0x20 at both ends, and TAB, CR, LF anywhere (WHATWG URL, "basic URL parser").
    Trim,
    /// The scheme in lower case (RFC 3986 §6.2.2.1).
    SchemeCase,
    /// Any run of `/` and `\` after `http:` is `//`; `\` is `/` before the query (WHATWG URL, "path state").
    Slashes,
    /// The fragment is cut, since HTTP does not send it (RFC 9110 §4.1); under keep-routes its escapes settle.
    Fragment,
    /// Empty user info, and an empty password (RFC 3986 §3.2.1; WHATWG URL, "includes credentials").
    UserinfoEmpty,
    /// The host in lower case (RFC 3986 §6.2.2.1).
    HostCase,
    /// A host with bytes from 0x80, escapes or `xn--` (RFC 3986 §3.2.2; UTS 46 §4, non-transitional).
    HostIdna,
    /// IPv4 and IPv6 in the one text that browsers write (WHATWG URL, "IPv4 parser"; RFC 5952 §4).
    HostIp,
    /// The default port, an empty port, leading zeros (RFC 3986 §6.2.3).
    Port,
    /// Percent-encoding of the path (RFC 3986 §6.2.2.2).
    PathEscapes,
    /// Dot-segments (RFC 3986 §5.2.4).
    DotSegments,
    /// An empty path is `/` (RFC 3986 §6.2.3).
    PathEmpty,
    /// Percent-encoding of the query (RFC 3986 §6.2.2.2).
    QueryEscapes,
    /// `https` is `http` where neither has a port.
    SchemeMerge,
    /// User info goes.
    UserinfoDrop,
    /// The dot at the end of a host goes.
    HostTrailingDotDrop,
    /// A first label `www` goes.
    WwwWww,
    /// A first label `www` with digits goes.
    WwwNumbered,
    /// A first label `m` or `mobile` goes.
    WwwMobile,
    /// Text outside ASCII is composed (NFC).
    UnicodeNfc,
    /// `&amp;` in a query is `&`.
    AmpEntityDecode,
    /// Session names in the path go.
    PathSessionDrop,
    /// `//` in the path is `/`.
    SlashCollapse,
    /// `index.html` and its like go.
    IndexFileDefault,
    /// The policy's own index files go.
    IndexFileList,
    /// The slash at the end of a path goes.
    TrailingSlashDrop,
    /// A path without one gets a slash at its end.
    TrailingSlashAdd,
    /// The path in lower case.
    PathCaseLower,
    /// Zeros in front of a number go.
    LeadingZerosDrop,
    /// The parameters that the policy or the origin names go.
    QueryDropList,
    /// Tracking parameters go.
    QueryDropTracking,
    /// The parameters of the list file go.
    QueryDropFile,
    /// Session parameters go.
    QuerySessionDrop,
    /// A `?` with nothing after it goes.
    QueryEmptyMark,
    /// Parameters that are nothing between two `&` go.
    QueryEmptyParams,
    /// `a` is `a=`.
    QueryEmptyValue,
    /// `+` is `%20`.
    QueryPlusSpace,
    /// Parameters in the order of their names.
    QueryOrderSortStable,
    /// Parameters in the order of names and values.
    QueryOrderSortFull,
    /// A parameter that was there already goes.
    QueryOrderDedupe,
    /// The query in lower case.
    QueryCaseLower,
    /// The whole query goes.
    QueryAllDrop,
    /// `|` `[` `]` `\` and a stray `%` are escaped.
    EscapesEncodeGrey,
    /// Escaped sub-delims are decoded.
    EscapesDecodeSubDelims,
    /// Escaped reserved characters are decoded.
    EscapesDecodeReserved,
    /// Escapes are decoded until none is left.
    EscapesDecodeRepeated,
    /// Parameters that name a language go.
    LanguageParamDrop,
    /// `.html` and its like go.
    ExtensionDrop,
}

/// How many rules there are.
pub const N_RULES: usize = 48;

/// How reports, errors and `--rules` write each rule, in policy order.
const NAMES: [&str; N_RULES] = [
    "trim",
    "scheme-case",
    "slashes",
    "fragment",
    "userinfo-empty",
    "host-case",
    "host-idna",
    "host-ip",
    "port",
    "path-escapes",
    "dot-segments",
    "path-empty",
    "query-escapes",
    "scheme=merge",
    "userinfo=drop",
    "host-trailing-dot=drop",
    "www=www",
    "www=www-numbered",
    "www=mobile",
    "unicode=nfc",
    "amp-entity=decode",
    "path-session=drop",
    "slash-collapse=on",
    "index-file=default",
    "index-file=list",
    "trailing-slash=drop",
    "trailing-slash=add",
    "path-case=lower",
    "leading-zeros=drop",
    "query-drop=list",
    "query-drop-list=tracking",
    "query-drop-list=list",
    "query-session=drop",
    "query-empty=mark",
    "query-empty=params",
    "query-empty=value",
    "query-plus=space",
    "query-order=sort-stable",
    "query-order=sort-full",
    "query-order=dedupe",
    "query-case=lower",
    "query-all=drop",
    "escapes=encode-grey",
    "escapes=decode-sub-delims",
    "escapes=decode-reserved",
    "escapes=decode-repeated",
    "language-param=drop",
    "extension=drop",
];

impl Rule {
    /// Every rule, in policy order: a rule's index is its bit.
    pub const ALL: [Self; N_RULES] = [
        Self::Trim,
        Self::SchemeCase,
        Self::Slashes,
        Self::Fragment,
        Self::UserinfoEmpty,
        Self::HostCase,
        Self::HostIdna,
        Self::HostIp,
        Self::Port,
        Self::PathEscapes,
        Self::DotSegments,
        Self::PathEmpty,
        Self::QueryEscapes,
        Self::SchemeMerge,
        Self::UserinfoDrop,
        Self::HostTrailingDotDrop,
        Self::WwwWww,
        Self::WwwNumbered,
        Self::WwwMobile,
        Self::UnicodeNfc,
        Self::AmpEntityDecode,
        Self::PathSessionDrop,
        Self::SlashCollapse,
        Self::IndexFileDefault,
        Self::IndexFileList,
        Self::TrailingSlashDrop,
        Self::TrailingSlashAdd,
        Self::PathCaseLower,
        Self::LeadingZerosDrop,
        Self::QueryDropList,
        Self::QueryDropTracking,
        Self::QueryDropFile,
        Self::QuerySessionDrop,
        Self::QueryEmptyMark,
        Self::QueryEmptyParams,
        Self::QueryEmptyValue,
        Self::QueryPlusSpace,
        Self::QueryOrderSortStable,
        Self::QueryOrderSortFull,
        Self::QueryOrderDedupe,
        Self::QueryCaseLower,
        Self::QueryAllDrop,
        Self::EscapesEncodeGrey,
        Self::EscapesDecodeSubDelims,
        Self::EscapesDecodeReserved,
        Self::EscapesDecodeRepeated,
        Self::LanguageParamDrop,
        Self::ExtensionDrop,
    ];

    /// Its place in policy order, and its bit in a [`RuleSet`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// A core step by its name, a bet as `name=option`.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    /// The name in front of the `=`: the key of a policy file. Core steps have only that.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.name().split_once('=').map_or(self.name(), |it| it.0)
    }

    /// What stands behind the `=`; `None` for a core step.
    #[must_use]
    pub fn option(self) -> Option<&'static str> {
        self.name().split_once('=').map(|it| it.1)
    }

    /// The rule that [`Rule::name`] writes so.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let index = NAMES.iter().position(|known| *known == name)?;
        Some(Self::ALL[index])
    }

    /// Who decides that it may run.
    #[must_use]
    pub fn tier(self) -> Tier {
        match self {
            Self::Trim | Self::Slashes | Self::HostIp => Tier::Browser,
            _ if self.index() < Self::SchemeMerge.index() => Tier::Grammar,
            _ => Tier::Bet,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of rules: those that a policy names, or those that changed something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSet(pub u64);

impl RuleSet {
    /// No rule.
    pub const EMPTY: Self = Self(0);

    /// The set of `rules`.
    #[must_use]
    pub const fn of(rules: &[Rule]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < rules.len() {
            bits |= 1 << rules[index].index();
            index += 1;
        }
        Self(bits)
    }

    /// All bets.
    #[must_use]
    pub const fn bets() -> Self {
        let all = (1 << N_RULES) - 1;
        Self(all & !((1 << Rule::SchemeMerge.index()) - 1))
    }

    /// Adds `rule`.
    pub fn insert(&mut self, rule: Rule) {
        self.0 |= 1 << rule.index();
    }

    /// Takes `rule` out.
    pub fn remove(&mut self, rule: Rule) {
        self.0 &= !(1 << rule.index());
    }

    /// Whether `rule` is in it.
    #[must_use]
    pub const fn contains(self, rule: Rule) -> bool {
        self.0 >> rule.index() & 1 == 1
    }

    /// Whether nothing is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many rules are in it.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this one only.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its rules in policy order.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = Rule::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(*first)
        })
    }
}

/// Names in policy order, joined by `;`, as people read them.
impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rule) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(";")?;
            }
            f.write_str(rule.name())?;
        }
        Ok(())
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        let mut set = Self::EMPTY;
        for rule in rules {
            set.insert(rule);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_name_and_parse_agree() {
        for (index, rule) in Rule::ALL.into_iter().enumerate() {
            assert_eq!(rule.index(), index);
            assert_eq!(Rule::parse(rule.name()), Some(rule));
        }
        assert_eq!(Rule::parse("www"), None);
        assert_eq!(Rule::parse("www=WWW"), None);
    }

    #[test]
    fn only_bets_have_options() {
        for rule in Rule::ALL {
            assert_eq!(rule.option().is_some(), rule.tier() == Tier::Bet, "{rule}");
            assert_eq!(RuleSet::bets().contains(rule), rule.tier() == Tier::Bet);
        }
    }

    #[test]
    fn set_keeps_policy_order() {
        let set: RuleSet = [Rule::ExtensionDrop, Rule::Trim, Rule::Port]
            .into_iter()
            .collect();
        let names: Vec<_> = set.iter().map(Rule::name).collect();
        assert_eq!(names, ["trim", "port", "extension=drop"]);
        assert_eq!(set.without(RuleSet::of(&[Rule::Trim])).len(), 2);
        assert_eq!(set.union(RuleSet::bets()).intersection(set), set);
    }
}
