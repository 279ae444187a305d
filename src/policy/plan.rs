//! What hot code reads from a policy: plain data, frozen once the policy is loaded.
//!
//! `key` takes this and hands it to `uri`; nothing here is parsed or looked up by text. Must never
//! import `uri`.

use std::sync::Arc;

use crate::policy::origins::{Authority, Origins};
use crate::policy::rule::RuleSet;

/// Everything that decides a key, as plain values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What runs before the bets.
    pub base: Base,
    /// What becomes of a fragment.
    pub fragment: Fragment,
    /// The bets for a URL that no entry of `origins` is about.
    pub bets: Bets,
    /// Per-origin bets. The most specific that is about a URL decides alone: the loader gives each the
    /// policy's own bets and those of the entries that cover it.
    pub origins: Origins,
    /// Which URLs may be joined; `None`: all.
    pub scope: Option<Scope>,
}

/// What runs before the bets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// `rfc3986@1`: the grammar tier alone.
    Grammar,
    /// `safe@1`: grammar and browser tier.
    Browser,
    /// What another library gives, bit by bit; no bets, no fragment choice.
    Parity(Parity),
}

/// The libraries that can be imitated; `uri::parity` has one function for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parity {
    /// `surt` 0.3.1.
    Surt,
    /// `w3lib` 2.5, `canonicalize_url`.
    W3lib,
    /// `urlcanon` 0.3.1, its semantic canonicalizer.
    UrlcanonSemantic,
}

/// What becomes of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// It is not sent, so it goes.
    Drop,
    /// One that starts with `!` or `/` names a page of its own and stays.
    KeepRoutes,
}

/// The bets that run, and the lists they read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bets {
    /// Which run. Core steps in it mean nothing.
    pub rules: RuleSet,
    /// For `query-drop=list`.
    pub query_drop: Names,
    /// For `query-drop-list=list`: the list file.
    pub query_drop_file: Names,
    /// For `index-file=list`, compared byte by byte with the decoded last segment.
    pub index_files: Names,
}

/// Which URLs may be joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Empty: every host.
    pub hosts: Vec<Authority>,
    /// In lower case; empty: every scheme.
    pub schemes: Vec<Vec<u8>>,
}

/// Names of parameters or files, decoded, compared with case; one that ends in `*` is a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Names(Arc<Sorted>);

/// What origins that inherit a list share.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Sorted {
    exact: Vec<Vec<u8>>,
    prefixes: Vec<Vec<u8>>,
}

impl Plan {
    /// A base without bets, fragment choice, origins or scope.
    #[must_use]
    pub fn new(base: Base) -> Self {
        Self {
            base,
            fragment: Fragment::Drop,
            bets: Bets::default(),
            origins: Origins::default(),
            scope: None,
        }
    }

    /// What this plan is without its bets: the base that single bets are measured on, `safe@1` for an imitation.
    /// A fragment that stays is part of the base (it splits, and so is no bet); scope and origins are not.
    #[must_use]
    pub fn without_bets(&self) -> Self {
        let base = match self.base {
            Base::Grammar => Base::Grammar,
            Base::Browser | Base::Parity(_) => Base::Browser,
        };
        Self {
            fragment: self.fragment,
            ..Self::new(base)
        }
    }

    /// The bets for a normalized URL: its host, its port (that of the scheme, if none stands), its path.
    #[must_use]
    pub fn bets_for(&self, host: &[u8], port: u16, path: &[u8]) -> &Bets {
        self.origins.find(host, port, path).unwrap_or(&self.bets)
    }
}

impl Scope {
    /// Whether a URL of this scheme, host and port may be joined. The host is empty outside http.
    #[must_use]
    pub fn admits(&self, scheme: &[u8], host: &[u8], port: u16) -> bool {
        (self.schemes.is_empty() || self.schemes.iter().any(|own| own == scheme))
            && (self.hosts.is_empty() || self.hosts.iter().any(|own| own.admits(host, port)))
    }
}

impl Names {
    /// Names, and prefixes that end in `*`.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut own = Sorted::default();
        for name in names {
            match name.strip_suffix(b"*") {
                Some(prefix) => own.prefixes.push(prefix.to_vec()),
                None => own.exact.push(name.to_vec()),
            }
        }
        own.exact.sort_unstable();
        own.exact.dedup();
        own.prefixes.sort_unstable();
        own.prefixes.dedup();
        Self(Arc::new(own))
    }

    /// The names of all of `lists`; one alone is shared, not copied.
    #[must_use]
    pub fn all(lists: &[Self]) -> Self {
        match lists {
            [list] => list.clone(),
            _ => {
                let names: Vec<Vec<u8>> = lists.iter().flat_map(Self::iter).collect();
                Self::new(names.iter().map(Vec::as_slice))
            }
        }
    }

    /// Whether the decoded `name` is in it.
    #[must_use]
    pub fn contains(&self, name: &[u8]) -> bool {
        self.0
            .exact
            .binary_search_by(|own| own.as_slice().cmp(name))
            .is_ok()
            || self.0.prefixes.iter().any(|own| name.starts_with(own))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.exact.is_empty() && self.0.prefixes.is_empty()
    }

    /// All of them as [`Names::new`] took them, exact ones first, each kind sorted.
    pub fn iter(&self) -> impl Iterator<Item = Vec<u8>> {
        let prefixes = self.0.prefixes.iter().map(|own| [own, &b"*"[..]].concat());
        self.0.exact.iter().cloned().chain(prefixes)
    }

    /// Names that count as a whole, sorted.
    #[must_use]
    pub fn exact(&self) -> &[Vec<u8>] {
        &self.0.exact
    }

    /// What stands in front of a `*`, sorted.
    #[must_use]
    pub fn prefixes(&self) -> &[Vec<u8>] {
        &self.0.prefixes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_a_prefix() {
        let names = Names::new([&b"utm_*"[..], b"gclid"]);
        assert!(names.contains(b"utm_source") && names.contains(b"gclid"));
        assert!(!names.contains(b"gclids") && !names.contains(b"Gclid"));
    }
}
