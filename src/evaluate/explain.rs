//! Which rules make a merge: the shortest set of them, and which only work together.

use std::collections::BTreeMap;

use crate::policy::{Rule, RuleSet};

/// The sets of rules that make one merge, by trying single rules and then pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Each of these alone makes it, in policy order.
    Singles(Vec<Rule>),
    /// Each of these pairs makes it, and no rule alone, in policy order.
    Pairs(Vec<[Rule; 2]>),
    /// Only more than two together.
    Whole(RuleSet),
}

impl Explanation {
    /// Tries the rules of `fired`; `is_merged` says whether a set of rules merges the two URLs.
    pub fn of(fired: RuleSet, mut is_merged: impl FnMut(RuleSet) -> bool) -> Self {
        let singles: Vec<Rule> = fired
            .iter()
            .filter(|rule| is_merged(RuleSet::of(&[*rule])))
            .collect();
        if !singles.is_empty() {
            return Self::Singles(singles);
        }
        let rules: Vec<Rule> = fired.iter().collect();
        let pairs: Vec<[Rule; 2]> = two_of(&rules)
            .filter(|pair| is_merged(RuleSet::of(pair)))
            .collect();
        if pairs.is_empty() {
            Self::Whole(fired)
        } else {
            Self::Pairs(pairs)
        }
    }

    /// The shortest set; of equally short ones the first in policy order.
    #[must_use]
    pub fn shortest(&self) -> RuleSet {
        match self {
            Self::Singles(singles) => RuleSet::of(&singles[..1]),
            Self::Pairs(pairs) => RuleSet::of(&pairs[0]),
            Self::Whole(rules) => *rules,
        }
    }
}

/// How often a set of rules made merges together or instead of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interaction {
    /// Merges that no smaller set makes.
    pub needs_both: u64,
    /// Merges that either of two rules makes alone.
    pub either: u64,
}

/// Interactions by set of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interactions {
    by_rules: BTreeMap<Vec<Rule>, Interaction>,
}

impl Interactions {
    /// Counts one merge.
    pub fn add(&mut self, explanation: &Explanation) {
        match explanation {
            Explanation::Singles(singles) => {
                for pair in two_of(singles) {
                    self.of(&pair).either += 1;
                }
            }
            Explanation::Pairs(pairs) => {
                for pair in pairs {
                    self.of(pair).needs_both += 1;
                }
            }
            Explanation::Whole(rules) => {
                let rules: Vec<Rule> = rules.iter().collect();
                self.of(&rules).needs_both += 1;
            }
        }
    }

    /// Adds the counts of other merges.
    pub fn join(&mut self, other: Self) {
        for (rules, interaction) in other.by_rules {
            let own = self.by_rules.entry(rules).or_default();
            own.needs_both += interaction.needs_both;
            own.either += interaction.either;
        }
    }

    /// All of them, in policy order.
    pub fn iter(&self) -> impl Iterator<Item = (&[Rule], Interaction)> {
        self.by_rules
            .iter()
            .map(|(rules, interaction)| (rules.as_slice(), *interaction))
    }

    fn of(&mut self, rules: &[Rule]) -> &mut Interaction {
        self.by_rules.entry(rules.to_vec()).or_default()
    }
}

fn two_of(rules: &[Rule]) -> impl Iterator<Item = [Rule; 2]> {
    rules.iter().enumerate().flat_map(move |(index, first)| {
        rules[index + 1..]
            .iter()
            .map(move |second| [*first, *second])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WWW: Rule = Rule::WwwWww;
    const SLASH: Rule = Rule::TrailingSlashDrop;
    const CASE: Rule = Rule::PathCaseLower;

    /// `makers` are the sets that merge; so does every larger one.
    fn check(makers: &[&[Rule]], expected: &Explanation, shortest: &[Rule]) {
        let fired = RuleSet::of(&[CASE, SLASH, WWW]);
        let explanation = Explanation::of(fired, |rules| {
            makers
                .iter()
                .any(|maker| RuleSet::of(maker).without(rules).is_empty())
        });
        assert_eq!(&explanation, expected);
        assert_eq!(explanation.shortest(), RuleSet::of(shortest));
    }

    #[test]
    fn the_shortest_set_is_the_first_in_policy_order() {
        check(
            &[&[CASE], &[SLASH]],
            &Explanation::Singles(vec![SLASH, CASE]),
            &[SLASH],
        );
        check(
            &[&[CASE, WWW], &[SLASH, CASE]],
            &Explanation::Pairs(vec![[WWW, CASE], [SLASH, CASE]]),
            &[WWW, CASE],
        );
        let all = [WWW, SLASH, CASE];
        check(&[&all], &Explanation::Whole(RuleSet::of(&all)), &all);
    }

    #[test]
    fn counts_what_needs_both_and_what_either_makes() {
        let mut interactions = Interactions::default();
        for explanation in [
            Explanation::Singles(vec![SLASH]),
            Explanation::Singles(vec![SLASH, CASE]),
            Explanation::Pairs(vec![[SLASH, CASE]]),
            Explanation::Whole(RuleSet::of(&[CASE, SLASH, WWW])),
        ] {
            interactions.add(&explanation);
        }
        let found: Vec<_> = interactions.iter().collect();
        let counts = |needs_both, either| Interaction { needs_both, either };
        assert_eq!(
            found,
            [
                (&[WWW, SLASH, CASE][..], counts(1, 0)),
                (&[SLASH, CASE][..], counts(1, 1)),
            ]
        );
    }
}
