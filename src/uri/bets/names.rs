//! Names of parameters and files that a policy lists, compared as the other bets in force leave them:
//! otherwise a bet that drops a name would split what another has merged.

use crate::policy::plan::Names;
use crate::policy::{Rule, RuleSet};
use crate::uri::bets::unicode::{self, Case};
use crate::uri::percent::{decoded, push_escape};
use crate::uri::table::{UNRESERVED, is};

/// Which differences between names no longer count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    case: Case,
    letters: Letters,
    plus: Plus,
}

/// What a letter outside ASCII is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letters {
    /// Its bytes.
    Bytes,
    /// Its base and its marks, of which the base may change case: `unicode` is in force.
    Composed,
}

/// What a `+` is that is no escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plus {
    Itself,
    /// `query-plus` is in force. A list may write it either way.
    Space,
}

/// How much of a name a list writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Prefix,
}

/// A name that is looked for.
#[derive(Debug)]
enum Name<'a> {
    /// As it stands in the URL.
    Raw(&'a [u8]),
    /// Decoded, in lower case and composed.
    Folded(Vec<u8>),
}

impl Comparison {
    /// Of names of parameters.
    pub(super) fn of_parameters(rules: RuleSet) -> Self {
        let plus = match rules.contains(Rule::QueryPlusSpace) {
            true => Plus::Space,
            false => Plus::Itself,
        };
        Self {
            plus,
            ..Self::new(rules, Rule::QueryCaseLower)
        }
    }

    /// Of names of files.
    pub(super) fn of_files(rules: RuleSet) -> Self {
        Self::new(rules, Rule::PathCaseLower)
    }

    fn new(rules: RuleSet, lower: Rule) -> Self {
        Self {
            case: match rules.contains(lower) {
                true => Case::Lower,
                false => Case::Kept,
            },
            letters: match rules.contains(Rule::UnicodeNfc) {
                true => Letters::Composed,
                false => Letters::Bytes,
            },
            plus: Plus::Itself,
        }
    }

    /// Whether `names` has the name that `component` stands for.
    pub(super) fn is_listed(self, names: &Names, component: &[u8]) -> bool {
        let is_written_anew = self.case == Case::Lower
            || component.contains(&b'%')
            || (self.plus == Plus::Space && component.contains(&b'+'));
        if !is_written_anew {
            return names.contains(component);
        }
        let name = self.read(component);
        let is_any = |own: &[Vec<u8>], extent| own.iter().any(|own| self.fits(own, extent, &name));
        is_any(names.exact(), Extent::Whole) || is_any(names.prefixes(), Extent::Prefix)
    }

    /// Whether `own`, decoded, is the name that `component` stands for.
    pub(super) fn is_same(self, own: &[u8], component: &[u8]) -> bool {
        self.fits(own, Extent::Whole, &self.read(component))
    }

    /// Only a name that has letters outside ASCII, whose case no longer counts, is written anew.
    fn read(self, component: &[u8]) -> Name<'_> {
        let is_folded = (self.case, self.letters) == (Case::Lower, Letters::Composed)
            && !decoded(component).all(|byte| byte.is_ascii());
        if is_folded {
            Name::Folded(self.folded(component))
        } else {
            Name::Raw(component)
        }
    }

    fn fits(self, own: &[u8], extent: Extent, name: &Name<'_>) -> bool {
        match name {
            Name::Raw(component) => self.agree(own.iter().copied(), extent, self.bytes(component)),
            Name::Folded(name) => {
                let own = self.folded(&escaped(own));
                self.agree(own.iter().copied(), extent, name.iter().copied())
            }
        }
    }

    fn agree(
        self,
        own: impl Iterator<Item = u8> + Clone,
        extent: Extent,
        name: impl Iterator<Item = u8> + Clone,
    ) -> bool {
        let fold = |byte: u8| match self.case {
            Case::Lower => byte.to_ascii_lowercase(),
            Case::Kept => byte,
        };
        let spaced = |byte: u8| if byte == b'+' { b' ' } else { byte };
        let (own, name) = (own.map(fold), name.map(fold));
        extent.holds(own.clone(), name.clone())
            || (self.plus == Plus::Space && extent.holds(own.map(spaced), name))
    }

    /// What `component` stands for, byte by byte.
    fn bytes(self, component: &[u8]) -> impl Iterator<Item = u8> + Clone {
        let is_space = move |byte: &u8| *byte == b'+' && self.plus == Plus::Space;
        let parts = component.split(is_space).enumerate();
        parts.flat_map(|(index, part)| (index > 0).then_some(b' ').into_iter().chain(decoded(part)))
    }

    fn folded(self, component: &[u8]) -> Vec<u8> {
        let spaced = escaped_spaces(component, self.plus);
        let (mut run, mut out) = (Vec::new(), Vec::new());
        unicode::compose(&spaced, Case::Lower, &mut run, &mut out);
        decoded(&out).collect()
    }
}

impl Extent {
    fn holds(self, mut own: impl Iterator<Item = u8>, mut name: impl Iterator<Item = u8>) -> bool {
        match self {
            Self::Whole => own.eq(name),
            Self::Prefix => own.all(|byte| name.next() == Some(byte)),
        }
    }
}

/// A decoded name as a component writes it.
fn escaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in name {
        if is(byte, UNRESERVED) {
            out.push(byte);
        } else {
            push_escape(byte, &mut out);
        }
    }
    out
}

fn escaped_spaces(component: &[u8], plus: Plus) -> Vec<u8> {
    let parts: Vec<&[u8]> = match plus {
        Plus::Space => component.split(|byte| *byte == b'+').collect(),
        Plus::Itself => vec![component],
    };
    parts.join(&b"%20"[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &[Rule], own: &str, listed: &[&str], unlisted: &[&str]) {
        let names = Names::new([own.as_bytes()]);
        let comparison = Comparison::of_parameters(RuleSet::of(rules));
        for (components, expected) in [(listed, true), (unlisted, false)] {
            for component in components {
                let found = comparison.is_listed(&names, component.as_bytes());
                assert_eq!(found, expected, "{own} {component}");
            }
        }
    }

    #[test]
    fn names_are_decoded_and_count_byte_by_byte() {
        check(&[], "a b", &["a%20b"], &["a+b", "A%20b", "a%2Bb", "a%20bc"]);
        check(
            &[],
            "utm_*",
            &["utm_x", "%75tm_x", "utm_"],
            &["utm", "Utm_x"],
        );
        check(&[], "é", &["%C3%A9"], &["e%CC%81", "%C3%89"]);
    }

    #[test]
    fn what_other_bets_merge_is_one_name() {
        let plus = &[Rule::QueryPlusSpace];
        check(plus, "a+b", &["a+b", "a%20b", "a%2Bb"], &["a%20b+", "A+b"]);
        check(plus, "a b", &["a+b", "a%20b"], &["a%2Bb"]);
        check(&[Rule::QueryCaseLower], "Id*", &["iD", "%49ds"], &["i"]);
        let both = &[Rule::QueryCaseLower, Rule::UnicodeNfc];
        check(both, "É", &["%C3%89", "%C3%A9", "E%CC%81"], &["e", "E"]);
        check(both, "j*", &["Ja"], &["J%CC%8C", "%C7%B0"]);
    }
}
