//! What is asked: rules alone, the policy, the policy without each rule, and against another one; and the
//! keys that each gives.

use rayon::prelude::*;

use super::learning::Learned;
use super::sightings::Seen;
use super::texts::Texts;
use crate::catalog::Catalog;
use crate::evaluate::{Question, Sample, by_key};
use crate::policy::plan::{Base, Bets, Plan};
use crate::policy::{Policy, Rule, RuleSet, Tier};
use crate::uri::Skeletons;
use crate::{Error, Result};

/// One row of the report to come.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// As the report names it.
    pub(super) name: String,
    /// The rule's tier, or `policy`.
    pub(super) tier: &'static str,
    /// What makes its keys.
    pub(super) policy: Policy,
    /// The other policy, of a comparison.
    pub(super) against: Option<Policy>,
    /// The rule, where it is one alone.
    pub(super) rule: Option<Rule>,
}

/// Everything that is asked of one archive.
#[derive(Debug)]
pub(super) struct Questions {
    /// What all of it stands on.
    pub(super) base: Policy,
    /// In the order of the report.
    pub(super) rows: Vec<Asked>,
    /// Where the row of the whole policy stands.
    pub(super) policy_row: Option<usize>,
    /// Bets that may be learned.
    pub(super) learnable: RuleSet,
}

impl Questions {
    /// What `--policy`, `--rules` and `--against` ask for.
    ///
    /// # Errors
    /// A rule that is no bet, or needs a list that the policy has not.
    pub(super) fn of(
        policy: Option<Policy>,
        against: Option<Policy>,
        picked: &[String],
    ) -> Result<Self> {
        let plan = policy
            .as_ref()
            .map_or_else(|| Plan::new(Base::Browser), |policy| policy.plan().clone());
        let picked = picked_rules(picked)?;
        let own = bets(&plan);
        let rules = match (picked, &policy) {
            (Some(picked), _) => picked,
            (None, Some(_)) => own,
            (None, None) => RuleSet::bets().without(NEED_LISTS),
        };
        check_lists(rules, &plan)?;
        let mut questions = Self {
            base: Policy::of(base_name(&plan), "1", plan.without_bets()),
            rows: rules.iter().map(|rule| alone(&plan, rule)).collect(),
            policy_row: None,
            learnable: picked.unwrap_or_else(RuleSet::bets),
        };
        let Some(policy) = policy else {
            return Ok(questions);
        };
        questions.policy_row = Some(questions.rows.len());
        questions
            .rows
            .push(Asked::policy(policy.id().label(), policy.clone()));
        if own.len() > 1 {
            let rows = own.intersection(rules);
            questions
                .rows
                .extend(rows.iter().map(|rule| without(&policy, rule)));
        }
        if let Some(other) = against {
            questions.rows.push(comparison(&policy, &other));
            questions.rows.push(comparison(&other, &policy));
        }
        Ok(questions)
    }

    /// Keys all URLs under everything that is asked.
    pub(super) fn classes(
        &self,
        seen: &Seen,
        catalog: &Catalog,
        sample: Option<Sample>,
    ) -> Vec<Question> {
        let order = by_key(&seen.urls, |url| {
            sample.is_none_or(|sample| sample.holds(url.skeleton))
        });
        let policies = self.policies();
        let texts = Texts {
            seen,
            catalog,
            base: &self.base,
            policies: &policies,
            drawn: &order,
        };
        let answers: Vec<Question> = texts
            .changed()
            .into_par_iter()
            .zip(&policies)
            .map(|(changed, policy)| match policy.plan().base {
                Base::Parity(_) => texts.parity(policy, &order),
                _ => texts.question(changed, &order),
            })
            .collect();
        let of = |policy: &Policy| {
            let known = policies
                .iter()
                .position(|known| known.plan() == policy.plan());
            &answers[known.expect("all policies were asked for")]
        };
        self.rows
            .iter()
            .map(|row| Question {
                except: row.against.as_ref().map(|other| of(other).classes.clone()),
                ..of(&row.policy).clone()
            })
            .collect()
    }

    /// A rule is one for single hosts exactly where it was learned.
    pub(super) fn hold_to(&self, learned: &Learned, questions: &mut [Question]) {
        for (asked, question) in self.rows.iter().zip(questions) {
            let Some(rule) = asked.rule else {
                continue;
            };
            let plan = asked.policy.plan();
            let is_listed = |name: &Vec<u8>| {
                let origins = plan.origins.iter().map(|origin| &origin.bets);
                let mut bets = origins.chain([&plan.bets]);
                bets.any(|bets| bets.query_drop.contains(name))
            };
            question.learned_on = Some(learned.domains(|candidate, names| {
                let mut own = candidate.names.iter().map(|name| &names[*name as usize]);
                candidate.rules.contains(rule)
                    || rule == Rule::QueryDropList && own.len() > 0 && own.all(is_listed)
            }));
        }
    }

    /// For all policies that are asked for.
    pub(super) fn skeletons(&self) -> Skeletons {
        let plans = self.policies().into_iter().map(Policy::plan);
        let bets = plans.flat_map(|plan| {
            let origins = plan.origins.iter().map(|origin| &origin.bets);
            origins.chain([&plan.bets])
        });
        let names: Vec<Vec<u8>> = bets.flat_map(|bets| bets.index_files.iter()).collect();
        Skeletons::new(names.iter().map(Vec::as_slice))
    }

    /// All policies that make keys, each once.
    fn policies(&self) -> Vec<&Policy> {
        let mut policies: Vec<&Policy> = Vec::new();
        for row in &self.rows {
            for policy in [Some(&row.policy), row.against.as_ref()]
                .into_iter()
                .flatten()
            {
                if !policies.iter().any(|known| known.plan() == policy.plan()) {
                    policies.push(policy);
                }
            }
        }
        policies
    }
}

impl Asked {
    fn policy(name: String, policy: Policy) -> Self {
        Self {
            name,
            tier: "policy",
            policy,
            against: None,
            rule: None,
        }
    }
}

/// Bets whose lists only a policy can name.
pub(super) const NEED_LISTS: RuleSet = RuleSet::of(&[
    Rule::QueryDropList,
    Rule::QueryDropFile,
    Rule::IndexFileList,
]);

fn picked_rules(names: &[String]) -> Result<Option<RuleSet>> {
    if names.is_empty() {
        return Ok(None);
    }
    let rules: Result<RuleSet> = names.iter().map(|name| picked_rule(name.trim())).collect();
    rules.map(Some)
}

fn picked_rule(name: &str) -> Result<Rule> {
    let bet = Rule::parse(name).filter(|rule| rule.tier() == Tier::Bet);
    bet.ok_or_else(|| {
        let what = match name {
            "" => "--rules: a name is empty".to_owned(),
            name => format!("--rules {}: no such bet", name.escape_default()),
        };
        Error::usage(format!(
            "{what}; expected as in www=www,trailing-slash=drop"
        ))
    })
}

fn check_lists(rules: RuleSet, plan: &Plan) -> Result<()> {
    let missing = rules.intersection(NEED_LISTS).without(bets(plan));
    match missing.iter().next() {
        Some(rule) => Err(Error::usage(format!(
            "--rules {rule}: needs a list, which stands in a policy file; give --policy FILE"
        ))),
        None => Ok(()),
    }
}

/// The bets that run for any URL.
pub(super) fn bets(plan: &Plan) -> RuleSet {
    plan.origins
        .iter()
        .map(|origin| origin.bets.rules)
        .fold(plan.bets.rules, RuleSet::union)
        .intersection(RuleSet::bets())
}

/// `plan` with those of its bets that `rules` admits.
pub(super) fn with_only(plan: &Plan, rules: RuleSet) -> Plan {
    let admit = |bets: &Bets| Bets {
        rules: bets.rules.intersection(rules),
        ..bets.clone()
    };
    let mut admitted = plan.clone();
    admitted.bets = admit(&plan.bets);
    for bets in admitted.origins.bets_mut() {
        *bets = admit(bets);
    }
    admitted
}

fn base_name(plan: &Plan) -> &'static str {
    match plan.base {
        Base::Grammar => "rfc3986",
        Base::Browser | Base::Parity(_) => "safe",
    }
}

fn alone(plan: &Plan, rule: Rule) -> Asked {
    let rules = RuleSet::of(&[rule]);
    let mut plan = plan.clone();
    if !bets(&plan).contains(rule) {
        // Out of the policy's scope nothing is joined, whatever the rule.
        let scope = plan.scope.take();
        plan = Plan {
            scope,
            ..plan.without_bets()
        };
        plan.bets.rules = rules;
    }
    Asked {
        name: rule.name().to_owned(),
        tier: rule.tier().name(),
        policy: Policy::of(rule.name(), "1", with_only(&plan, rules)),
        against: None,
        rule: Some(rule),
    }
}

fn without(policy: &Policy, rule: Rule) -> Asked {
    let plan = policy.plan();
    let others = bets(plan).without(RuleSet::of(&[rule]));
    let name = format!("{} without {rule}", policy.id().label());
    Asked::policy(name, Policy::of("without", "1", with_only(plan, others)))
}

fn comparison(policy: &Policy, other: &Policy) -> Asked {
    let name = format!("{} against {}", policy.id().label(), other.id().label());
    Asked {
        against: Some(other.clone()),
        ..Asked::policy(name, policy.clone())
    }
}
