//! From outcomes to outputs: brings text, digests and places together.

use std::path::Path;

use rayon::prelude::*;

use super::auditing::{self, Audit};
use super::questions::{Asked, Questions, bets};
use super::reasons::Reasons;
use super::sightings::Basis;
use super::{Evaluation, Measured, Outputs};
use crate::Result;
use crate::capture::Digest;
use crate::catalog::RowId;
use crate::evaluate::{Interactions, Outcome, UrlId, WrongMerge, held_out};
use crate::key::Keyer;
use crate::policy::plan::{Base, Plan};
use crate::policy::{Policy, RuleSet};
use crate::report::{
    AuditTable, Evaluated, Finished, HostRow, HostTable, LearnedHost, LearnedPolicy, Output,
    RuleRow, RuleTable, Summary, WrongPair, WrongSide, WrongTable,
};

/// Classes whose merges one thread explains at a time.
const BLOCK_CLASSES: usize = 256;
/// Pairs that are made before any of them is written.
const BLOCK_PAIRS: usize = 1 << 16;

/// All that the outputs are made of.
#[derive(Clone, Copy)]
pub(super) struct Listing<'a> {
    pub(super) basis: Basis<'a>,
    pub(super) questions: &'a Questions,
    pub(super) measured: &'a Measured,
    pub(super) job: &'a Evaluation,
}

/// The tables that were asked for; created before anything is read.
#[derive(Debug)]
pub(super) struct Tables {
    rules: Option<RuleTable>,
    pairs: Option<WrongTable>,
    hosts: Option<HostTable>,
    html: Option<Output>,
    policy: Option<Output>,
    audit: Option<(Audit, AuditTable)>,
}

impl Tables {
    pub(super) fn create(outputs: &Outputs) -> Result<Self> {
        Ok(Self {
            rules: outputs.report.as_ref().map(RuleTable::create).transpose()?,
            pairs: outputs.pairs.as_ref().map(WrongTable::create).transpose()?,
            hosts: outputs.hosts.as_ref().map(HostTable::create).transpose()?,
            html: outputs.html.as_ref().map(Output::create).transpose()?,
            policy: outputs.policy.as_ref().map(Output::create).transpose()?,
            audit: match &outputs.audit {
                Some((audit, target)) => Some((*audit, AuditTable::create(target)?)),
                None => None,
            },
        })
    }

    /// Writes all of them.
    pub(super) fn write(
        self,
        listing: &Listing<'_>,
        evaluated: &Evaluated<'_>,
        summary: &mut Summary,
    ) -> Result<Vec<Finished>> {
        let mut finished = Vec::new();
        if let Some(mut table) = self.rules {
            listing.write_rules(&mut table)?;
            finished.push(table.finish()?);
        }
        if let Some(mut table) = self.pairs {
            listing.write_pairs(&mut table)?;
            finished.push(table.finish()?);
        }
        if let Some(mut table) = self.hosts {
            listing.write_hosts(&mut table)?;
            finished.push(table.finish()?);
        }
        if let Some(mut output) = self.html {
            let n_rows = listing.page(evaluated, summary).write(&mut output)?;
            finished.push((output.finish()?, n_rows));
        }
        if let Some((audit, mut table)) = self.audit {
            auditing::write(listing, audit, &mut table)?;
            finished.push(table.finish()?);
        }
        if let Some(output) = self.policy {
            let learned = listing.learned_policy();
            Policy::parse(learned.text().as_bytes(), Path::new("learned"))?;
            finished.push(learned.write(output)?);
        }
        for (output, rows) in &finished {
            summary.add_output(output, *rows);
        }
        Ok(finished.into_iter().map(|(output, _)| output).collect())
    }
}

impl<'a> Listing<'a> {
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'a Asked, &'a Outcome)> + use<'a> {
        self.questions
            .rows
            .iter()
            .zip(&self.measured.found.outcomes)
    }

    fn write_rules(&self, table: &mut RuleTable) -> Result<()> {
        self.rows().try_for_each(|(asked, outcome)| {
            table.put(&RuleRow {
                rule: &asked.name,
                tier: asked.tier,
                outcome,
                worst_host: outcome
                    .merges
                    .worst_domain()
                    .map_or(b"", |domain| self.domain(domain)),
            })
        })
    }

    fn write_hosts(&self, table: &mut HostTable) -> Result<()> {
        for (asked, outcome) in self.rows() {
            for (domain, counts, is_flagged) in outcome.hosts(self.job.advice.precision_min) {
                table.put(&HostRow {
                    rule: &asked.name,
                    domain: self.domain(domain),
                    counts,
                    noise_floor: self.measured.table.noise.floor_of(domain),
                    is_flagged,
                })?;
            }
        }
        Ok(())
    }

    fn write_pairs(&self, table: &mut WrongTable) -> Result<()> {
        for (asked, outcome) in self.rows() {
            let mut wrong: Vec<(Vec<u8>, &WrongMerge)> = outcome
                .merges
                .wrong
                .iter()
                .map(|merge| (self.form(merge.url), merge))
                .collect();
            wrong.par_sort_unstable_by(|(a, merge_a), (b, merge_b)| {
                merge_a.key.cmp(&merge_b.key).then_with(|| a.cmp(b))
            });
            for block in wrong.chunks(BLOCK_PAIRS) {
                let pairs: Vec<WrongPair<'_>> = block
                    .par_chunks(BLOCK_CLASSES)
                    .flat_map_iter(|merges| self.wrong_pairs(asked, merges))
                    .collect();
                pairs.iter().try_for_each(|pair| table.put(pair))?;
            }
        }
        Ok(())
    }

    pub(super) fn wrong_pairs(
        &self,
        asked: &'a Asked,
        merges: &[(Vec<u8>, &WrongMerge)],
    ) -> Vec<WrongPair<'a>> {
        let mut reasons = Reasons::new(asked.policy.plan());
        let is_parity = matches!(asked.policy.plan().base, Base::Parity(_));
        let mut keyer = Keyer::new(&asked.policy);
        merges
            .iter()
            .map(|(form, merge)| {
                let keeper = self.form(merge.keeper);
                let (rules, shortest_rules) = if is_parity {
                    (RuleSet::EMPTY, RuleSet::EMPTY)
                } else {
                    let (rules, explanation) = reasons.of(form, &keeper);
                    (rules, explanation.shortest())
                };
                let keyed_form = if is_parity {
                    self.basis
                        .catalog
                        .target_uri(self.measured.seen.earliest[merge.url as usize])
                } else {
                    form
                };
                WrongPair {
                    rule: &asked.name,
                    rules,
                    shortest_rules,
                    key_text: keyer.key(keyed_form).text.to_vec(),
                    sides: [
                        self.side_at(form.clone(), merge.captures.0),
                        self.side_at(keeper, merge.captures.1),
                    ],
                    is_stable: merge.is_stable,
                    is_near: self.measured.has_texts.then_some(merge.is_near),
                }
            })
            .collect()
    }

    fn side_at(&self, url: Vec<u8>, sighting: u32) -> WrongSide {
        self.side(url, self.measured.seen.rows[sighting as usize])
    }

    pub(super) fn side(&self, url: Vec<u8>, row: RowId) -> WrongSide {
        let catalog = self.basis.catalog;
        let capture = catalog.capture(row);
        WrongSide {
            url,
            digest: self.digest(row),
            timestamp: capture.date,
            locator: [
                catalog.record_file(row),
                b":",
                capture.locator.offset.to_string().as_bytes(),
            ]
            .concat(),
        }
    }

    /// The digest that counts for a row: of its end, decoded where that is known.
    fn digest(&self, row: RowId) -> Option<Digest> {
        let ends = self.basis.ends;
        let payload = self
            .basis
            .catalog
            .capture(ends.content(ends.page(row)))
            .payload;
        payload.decoded.or(payload.digest).or(payload.declared)
    }

    /// The base form of a URL.
    pub(super) fn form(&self, url: UrlId) -> Vec<u8> {
        let row = self.measured.seen.keepers[url as usize];
        let uri = self.basis.catalog.target_uri(row);
        Keyer::new(self.basis.base).key(uri).text.to_vec()
    }

    pub(super) fn domain(&self, domain: u32) -> &'a [u8] {
        &self.measured.seen.domains[domain as usize]
    }

    fn learned_policy(&self) -> LearnedPolicy<'a> {
        let learned = &self.measured.learned;
        let base = &self.questions.base;
        LearnedPolicy {
            date: self.job.date,
            base: base.id().label(),
            fragment: base.plan().fragment,
            hosts: learned
                .hosts
                .iter()
                .map(|of| LearnedHost {
                    host: &of.host,
                    names: &of.names,
                    rules: &of.rules,
                    untried: &of.untried,
                })
                .collect(),
            unnamed: &learned.unnamed,
            held_out: held_out(learned.hosts.iter().map(|of| &of.rules)),
            n_urls: self.measured.table.urls.len() as u64,
            sample: self.job.sample,
            is_written: self.job.outputs.policy.is_some(),
        }
    }

    /// What people and the summary are told.
    pub(super) fn evaluated(&self) -> Evaluated<'a> {
        let job = self.job;
        let policy_row = self.questions.policy_row;
        Evaluated {
            rows: self
                .rows()
                .map(|(asked, outcome)| (asked.name.as_str(), outcome))
                .collect(),
            policy_row,
            base: self.questions.base.id().label(),
            within_seconds: job.within,
            boilerplate_max: job.thresholds.boilerplate_max,
            thresholds: job.advice,
            loss_max: job.loss_max,
            table: &self.measured.table,
            n_domains: self.measured.seen.domains.len(),
            interactions: policy_row
                .map(|row| self.interactions(&self.questions.rows[row].policy, row))
                .unwrap_or_default(),
            learned: self.learned_policy(),
        }
    }

    /// Which rules of the policy only work together, over all its merges.
    fn interactions(&self, policy: &Policy, row: usize) -> Interactions {
        let plan = policy.plan();
        if matches!(plan.base, Base::Parity(_)) || bets(plan).len() < 2 {
            return Interactions::default();
        }
        let classes: Vec<&[UrlId]> = self.measured.asked[row]
            .classes
            .iter()
            .map(|(_, members)| members)
            .collect();
        let parts: Vec<Interactions> = classes
            .par_chunks(BLOCK_CLASSES)
            .map(|classes| self.interactions_of(plan, classes))
            .collect();
        let mut all = Interactions::default();
        parts.into_iter().for_each(|part| all.join(part));
        all
    }

    fn interactions_of(&self, plan: &Plan, classes: &[&[UrlId]]) -> Interactions {
        let mut reasons = Reasons::new(plan);
        let mut interactions = Interactions::default();
        for members in classes {
            let keeper = self.form(members[0]);
            for url in &members[1..] {
                let (_, explanation) = reasons.of(&self.form(*url), &keeper);
                interactions.add(&explanation);
            }
        }
        interactions
    }
}
