//! What `--html` shows: which wrong merges and which hosts, out of all.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

use super::listing::Listing;
use super::questions::Asked;
use crate::evaluate::{Outcome, UrlId, WrongMerge};
use crate::policy::Policy;
use crate::report::{Evaluated, HostRow, Page, PageRow, Subject, Summary};

/// Wrong merges of one row.
const PAIRS_MAX: usize = 6;
/// Of these, of one domain.
const PAIRS_OF_DOMAIN_MAX: usize = 2;
/// Hosts in all.
const HOSTS_MAX: usize = 50;
/// Hosts that are named where a rule may be adopted on these alone.
const PASSING_MAX: usize = 20;

impl<'a> Listing<'a> {
    /// The page.
    pub(super) fn page<'b>(&self, evaluated: &'b Evaluated<'a>, summary: &'b Summary) -> Page<'b>
    where
        'a: 'b,
    {
        let mut shown = HashSet::new();
        let rows = self
            .rows()
            .enumerate()
            .map(|(index, (asked, outcome))| {
                let passing = outcome.passing.iter();
                let subject = self.subject(index);
                PageRow {
                    subject,
                    lacks: outcome.lacks(&evaluated.thresholds),
                    passing: passing
                        .take(PASSING_MAX)
                        .map(|domain| self.domain(*domain))
                        .collect(),
                    n_passing: outcome.passing.len() as u64,
                    wrong: match subject {
                        Subject::Without => Vec::new(),
                        _ => self.worst(asked, outcome, &mut shown),
                    },
                }
            })
            .collect();
        let mut hosts = self.failing_hosts();
        let n_hosts = hosts.len() as u64;
        hosts.truncate(HOSTS_MAX);
        Page {
            evaluated,
            summary,
            rows,
            hosts,
            n_hosts,
            policies: self.policies(),
        }
    }

    fn subject(&self, index: usize) -> Subject {
        match self.questions.policy_row {
            Some(row) if row == index => Subject::Policy,
            Some(row) if row < index && self.questions.rows[index].against.is_some() => {
                Subject::Against
            }
            Some(row) if row < index => Subject::Without,
            _ => Subject::Rule,
        }
    }

    /// Stable ones first, those that differ by digits only last; none that is shown already.
    fn worst(
        &self,
        asked: &'a Asked,
        outcome: &Outcome,
        shown: &mut HashSet<(UrlId, UrlId)>,
    ) -> Vec<crate::report::WrongPair<'a>> {
        let mut worst: Vec<&WrongMerge> = outcome.merges.wrong.iter().collect();
        worst.sort_unstable_by_key(|merge| {
            (!merge.is_stable, merge.is_near, merge.keeper, merge.url)
        });
        let mut of_domain: HashMap<u32, usize> = HashMap::new();
        let mut picked = Vec::new();
        for merge in worst {
            if picked.len() == PAIRS_MAX {
                break;
            }
            let domain = self.measured.table.url(merge.keeper).domain;
            let n_of_domain = of_domain.entry(domain).or_default();
            if *n_of_domain < PAIRS_OF_DOMAIN_MAX && shown.insert((merge.url, merge.keeper)) {
                *n_of_domain += 1;
                picked.push((self.form(merge.url), merge));
            }
        }
        self.wrong_pairs(asked, &picked)
    }

    /// Of rules alone, or where there is none, of the policy.
    fn failing_hosts(&self) -> Vec<HostRow<'a>> {
        let has_rules = self.questions.policy_row != Some(0);
        let mut hosts: Vec<HostRow<'a>> = self
            .rows()
            .enumerate()
            .filter(|(index, _)| match self.subject(*index) {
                Subject::Rule => true,
                Subject::Policy => !has_rules,
                Subject::Without | Subject::Against => false,
            })
            .flat_map(|(_, (asked, outcome))| self.failing_hosts_of(asked, outcome))
            .collect();
        // Stable, so that equals stay in the order of rules and domains.
        hosts.sort_by_key(|host| {
            (
                !host.is_flagged,
                Reverse(host.counts.wrong_stable),
                Reverse(host.counts.wrong),
            )
        });
        hosts
    }

    fn failing_hosts_of(&self, asked: &'a Asked, outcome: &Outcome) -> Vec<HostRow<'a>> {
        outcome
            .hosts(self.job.advice.precision_min)
            .into_iter()
            .filter(|(_, counts, is_flagged)| *is_flagged || counts.wrong > 0)
            .map(|(domain, counts, is_flagged)| HostRow {
                rule: &asked.name,
                domain: self.domain(domain),
                counts,
                noise_floor: self.measured.table.noise.floor_of(domain),
                is_flagged,
            })
            .collect()
    }

    /// The policy under test and the one that it is held against; without any, the base.
    fn policies(&self) -> Vec<(String, String)> {
        let of = |policy: &Policy| (policy.id().to_string(), policy.describe());
        let Some(row) = self.questions.policy_row else {
            return vec![of(&self.questions.base)];
        };
        let rows = &self.questions.rows;
        let other = rows.iter().find_map(|row| row.against.as_ref());
        std::iter::once(&rows[row].policy)
            .chain(other)
            .map(of)
            .collect()
    }
}
