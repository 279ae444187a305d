//! Outcome counts of rules, noise floor, intervals, verdicts.
//!
//! Works on plain rows: URLs in the order of keepers, what was seen of them and when, and the keys
//! that rules give them. Must never parse, see text, or decide roles.

mod audit;
mod boilerplate;
mod classes;
mod count;
mod differing;
mod explain;
mod floor;
mod halves;
mod interval;
mod learn;
mod limits;
mod loss;
mod merge;
mod noise;
mod outcome;
mod pair;
mod rows;
mod run;
mod same;
mod sample;
mod sweep;
mod table;
mod trials;
mod verdict;

pub use audit::{Drawn, draw};
pub use classes::{Classes, Fired, by_key};
pub use count::PairCounts;
pub use explain::{Explanation, Interaction, Interactions};
pub use floor::{Chance, Floor};
pub use halves::{Half, Skeleton};
pub use interval::{Cluster, DOMAIN_GROUPS, Precision};
pub use learn::{Candidate, Chosen, Evidence, Fate, LearnedRule, LearnedRules, held_out, learn};
pub use limits::Limits;
pub use loss::{Contents, Loss};
pub use merge::{MergeCounts, Merges, WrongMerge};
pub use noise::{N_BINS, Noise, Share};
pub use outcome::{Counted, Outcome};
pub use pair::Verdict;
pub use run::{Instant, Window};
pub use sample::{Estimate, Sample, Sampled};
pub use table::{Content, Lanes, Sighting, Table, Url, UrlId};
pub use verdict::{Advice, DOMAINS_MIN, Lack, Thresholds};

use rayon::prelude::*;
use sample::{Known, Spread};

/// A rule, a policy, or one held against another.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What it merges.
    pub classes: Classes,
    /// Classes of another policy, whose merges do not count.
    pub except: Option<Classes>,
    /// URLs whose key it changes.
    pub urls_fired: u64,
    /// URLs whose raw forms get several keys.
    pub urls_split: u64,
    /// Of a rule: domains where it was learned. `None` for what is not learned as such: its own counts decide.
    pub learned_on: Option<Vec<u32>>,
}

/// What the answers depend on besides the table.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which URLs were keyed; `None`: all.
    pub sample: Option<Sample>,
    /// For the advice.
    pub thresholds: Thresholds,
    /// Where counting changes its method.
    pub limits: Limits,
    /// Group of each domain, for the bootstrap.
    pub domain_groups: Vec<u16>,
    /// Whether an input states where redirects lead.
    pub has_redirects: bool,
    /// Whether bodies were read for their visible text.
    pub has_texts: bool,
}

/// The answers, in the order of the questions, and what they share.
#[derive(Debug)]
pub struct Evaluation {
    /// One for each question.
    pub outcomes: Vec<Outcome>,
    /// Equal shares by domain, where there are merges.
    pub chance: Chance,
}

/// Answers all questions on one table.
#[must_use]
pub fn evaluate(table: &Table, questions: &[Question], settings: &Settings) -> Evaluation {
    let all: Vec<UrlId> = table.ids().collect();
    let contents = Contents::of(table, &settings.domain_groups);
    let same = table.same(&all, &settings.limits);
    let shared = Shared {
        known: settings
            .sample
            .map(|sample| Known::of(table, sample, (same.pairs, contents.n))),
        contents,
        same,
    };
    let is_noise_known = table.noise.is_known_somewhere();
    let weighed: Vec<(floor::Weights, Option<Classes>)> = questions
        .par_iter()
        .map(|question| {
            let part = question
                .except
                .as_ref()
                .map(|except| question.classes.meet(except));
            let weights = if is_noise_known {
                floor::weights(table, &question.classes, part.as_ref(), &settings.limits)
            } else {
                floor::Weights::default()
            };
            (weights, part)
        })
        .collect();
    let chance = chance(table, questions, &weighed, settings.sample);
    let outcomes = questions
        .par_iter()
        .zip(&weighed)
        .map(|(question, (weights, part))| {
            let floor = Floor::of(table, &chance, weights);
            let mut outcome = shared.answer(table, question, (part.as_ref(), floor), settings);
            outcome.approximate += weights
                .values()
                .map(|trials| trials.approximate)
                .sum::<u64>();
            outcome
        })
        .collect();
    Evaluation { outcomes, chance }
}

fn chance(
    table: &Table,
    questions: &[Question],
    weighed: &[(floor::Weights, Option<Classes>)],
    sample: Option<Sample>,
) -> Chance {
    let mut domains: Vec<u32> = weighed
        .iter()
        .flat_map(|(weights, _)| weights.keys().copied())
        .filter(|domain| table.noise.is_known(*domain))
        .collect();
    domains.sort_unstable();
    domains.dedup();
    let merged: Vec<&Classes> = questions
        .iter()
        .flat_map(|question| [Some(&question.classes), question.except.as_ref()])
        .flatten()
        .collect();
    // Of the others it is not known whether they are merged.
    let is_keyed = |url: UrlId| sample.is_none_or(|it| it.holds(table.url(url).skeleton));
    Chance::of(table, &domains, &merged, is_keyed)
}

/// What all questions share.
struct Shared {
    contents: Contents,
    same: same::Tally,
    /// Where only a sample was keyed.
    known: Option<Known>,
}

impl Shared {
    fn answer(
        &self,
        table: &Table,
        question: &Question,
        (part, floor): (Option<&Classes>, Floor),
        settings: &Settings,
    ) -> Outcome {
        let mut counts = count_all(table, &question.classes, &settings.limits);
        let right_of_all = counts.right;
        let mut loss = self.contents.loss(table, &question.classes);
        if let Some(part) = part {
            counts.part(count_all(table, part, &settings.limits));
            loss = loss.beyond(&self.contents.loss(table, part));
        }
        let merges = Merges::of(table, &question.classes, question.except.as_ref());
        let precision = Precision::of(&merges.clusters());
        let thresholds = &settings.thresholds;
        let passing = question.learned_on.clone();
        let passing = passing.unwrap_or_else(|| merges.passing_domains(thresholds).collect());
        let mut outcome = Outcome {
            urls_fired: question.urls_fired,
            urls_split: question.urls_split,
            n_urls: table.urls.len() as u64,
            pairs_merged: counts.merged,
            pairs_right: counts.right,
            pairs_right_redirect: settings
                .has_redirects
                .then(|| counts.right.saturating_sub(counts.right_own)),
            pairs_wrong: counts.wrong,
            pairs_wrong_stable: counts.wrong_stable,
            pairs_wrong_near: settings.has_texts.then_some(counts.wrong_near),
            pairs_missed: self.same.pairs.saturating_sub(right_of_all),
            approximate: counts.approximate + self.same.approximate,
            contents: self.contents.n,
            contents_unstable: self.contents.n_unstable,
            loss_interval: interval::page_loss(&self.contents.group_losses(&loss)),
            loss,
            advice: Advice::of(&merges, &precision, thresholds, &passing),
            passing,
            precision,
            floor,
            merges,
            sampled: None,
            counted: None,
        };
        if let (Some(known), Some(sample)) = (&self.known, settings.sample) {
            self.blow_up(table, question, (part, known), &mut outcome);
            let right = sample.whole_pairs(right_of_all, self.same.pairs);
            outcome.pairs_missed = self.same.pairs - right;
        }
        outcome
    }

    /// Of a sample: what its counts say of the whole.
    fn blow_up(
        &self,
        table: &Table,
        question: &Question,
        (part, known): (Option<&Classes>, &Known),
        outcome: &mut Outcome,
    ) {
        let is_keyed = |url: UrlId| known.holds(table.url(url).skeleton);
        let among = |classes| self.contents.loss_among(table, classes, is_keyed);
        let mut at_most = among(&question.classes);
        if let Some(part) = part {
            at_most = at_most.beyond(&among(part));
        }
        let limits = Limits::default();
        let parts = (question.except.as_ref(), part);
        let spread = Spread::of(table, &question.classes, parts, &limits);
        let lost = [&*outcome.loss.homes, &*at_most.homes];
        let sampled = spread.sampled(table, known, lost);
        outcome.loss.worst = at_most.worst;
        outcome.blow_up(sampled, known);
    }
}

fn count_all(table: &Table, classes: &Classes, limits: &Limits) -> PairCounts {
    let mut counts = PairCounts::default();
    for (_, members) in classes.iter() {
        counts.join(table.count(members, limits));
    }
    counts
}
