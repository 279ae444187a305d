//! Built-in policies by name.

use crate::policy::plan::{Base, Parity, Plan};
use crate::policy::rule::{Rule, RuleSet};

/// A policy that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// `name@version`.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    base: Base,
    bets: RuleSet,
}

/// The classic literature's bets (Lee, Kim and Hong 2005, "On URL normalization"; Schonfeld 2006).
const LEE: RuleSet = RuleSet::of(&[
    Rule::WwwWww,
    Rule::IndexFileDefault,
    Rule::TrailingSlashDrop,
    Rule::PathCaseLower,
    Rule::QueryCaseLower,
]);

/// All of them, the default first.
pub const BUILTINS: [Builtin; 6] = [
    Builtin {
        name: "safe@1",
        about: "what the grammar and every browser take for one request (default)",
        base: Base::Browser,
        bets: RuleSet::EMPTY,
    },
    Builtin {
        name: "rfc3986@1",
        about: "what the grammar of RFC 3986 takes for one request",
        base: Base::Grammar,
        bets: RuleSet::EMPTY,
    },
    Builtin {
        name: "lee2005@1",
        about: "safe, and the classic bets: lower case, www, trailing slash, index file",
        base: Base::Browser,
        bets: LEE,
    },
    Builtin {
        name: "surt@0.3.1",
        about: "the keys of the Python package surt, bit by bit",
        base: Base::Parity(Parity::Surt),
        bets: RuleSet::EMPTY,
    },
    Builtin {
        name: "w3lib@2.5",
        about: "canonicalize_url of the Python package w3lib, bit by bit",
        base: Base::Parity(Parity::W3lib),
        bets: RuleSet::EMPTY,
    },
    Builtin {
        name: "urlcanon-semantic@0.3.1",
        about: "the semantic form of the Python package urlcanon, bit by bit",
        base: Base::Parity(Parity::UrlcanonSemantic),
        bets: RuleSet::EMPTY,
    },
];

impl Builtin {
    /// The one that is written so.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILTINS.iter().find(|builtin| builtin.name == name)
    }

    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let mut plan = Plan::new(self.base);
        plan.bets.rules = self.bets;
        plan
    }
}

/// The name of a base, as policy files and `policy show` write it.
pub(super) fn base_name(base: Base) -> &'static str {
    BUILTINS
        .iter()
        .find(|builtin| builtin.base == base && builtin.bets.is_empty())
        .map_or("", |builtin| builtin.name)
}
