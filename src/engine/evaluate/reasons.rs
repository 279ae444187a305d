//! Which rules of a policy make a merge: keys of a pair under sets of rules.

use hashbrown::HashMap;

use super::questions::{bets, with_only};
use crate::evaluate::Explanation;
use crate::policy::RuleSet;
use crate::policy::plan::Plan;
use crate::uri::Normalizer;

/// Keys pairs under parts of a plan.
#[derive(Debug)]
pub(super) struct Reasons<'a> {
    plan: &'a Plan,
    parts: HashMap<u64, Plan>,
    normalizer: Normalizer,
}

impl<'a> Reasons<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            parts: HashMap::new(),
            normalizer: Normalizer::default(),
        }
    }

    /// The rules that changed either of two base forms, and which of them merge the two.
    pub(super) fn of(&mut self, a: &[u8], b: &[u8]) -> (RuleSet, Explanation) {
        let fired = self.fired(a).union(self.fired(b));
        let explanation =
            Explanation::of(fired, |rules| self.text(rules, a) == self.text(rules, b));
        (fired, explanation)
    }

    fn fired(&mut self, form: &[u8]) -> RuleSet {
        self.normalizer
            .normalize(self.plan, form)
            .fired
            .intersection(bets(self.plan))
    }

    fn text(&mut self, rules: RuleSet, form: &[u8]) -> Vec<u8> {
        let plan = self
            .parts
            .entry(rules.0)
            .or_insert_with(|| with_only(self.plan, rules));
        self.normalizer.normalize(plan, form).text.to_vec()
    }
}
