//! `evaluate --html`: the figures as one page for the person who decides.
//!
//! One file without scripts, links or anything from the network; charts are SVG made here. Templates escape all text, and what
//! an archive says passes through `visible` before. Shows what `evaluate` found and `engine` listed; must never decide anything.

mod chart;
mod decision;
mod differing;
mod figures;
mod hosts;
mod labels;
mod learned;
mod limits;
mod made;
mod meaning;
mod noise;
mod number;
mod pairs;
mod rules;
mod scale;
mod terms;
mod visible;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::advice::Evaluated;
use super::evaluation::{HostRow, WrongPair};
use super::output::Output;
use super::summary::Summary;
use crate::Result;
use crate::evaluate::{Advice, Lack, Outcome};

/// The whole style; its hash is all that the page's security policy admits.
const STYLE: &str = include_str!("style.css");

/// What the page is made of.
#[derive(Debug)]
pub struct Page<'a> {
    /// The figures.
    pub evaluated: &'a Evaluated<'a>,
    /// Command, inputs, policy.
    pub summary: &'a Summary,
    /// What is known of each row of the figures, in their order.
    pub rows: Vec<PageRow<'a>>,
    /// Where rules merge wrongly: flagged first, then by wrong merges.
    pub hosts: Vec<HostRow<'a>>,
    /// How many such hosts there are, shown or not.
    pub n_hosts: u64,
    /// Id and text of the policies that were measured.
    pub policies: Vec<(String, String)>,
}

/// What the page shows of a rule beside its figures.
#[derive(Debug)]
pub struct PageRow<'a> {
    /// What the row is about.
    pub subject: Subject,
    /// What stands against adopting it.
    pub lacks: Vec<Lack>,
    /// Hosts where it alone has the evidence it needs, the first of them.
    pub passing: Vec<&'a [u8]>,
    /// How many these are.
    pub n_passing: u64,
    /// The worst of its wrong merges.
    pub wrong: Vec<WrongPair<'a>>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A rule alone.
    Rule,
    /// The policy under test.
    Policy,
    /// The policy less one rule.
    Without,
    /// What one policy merges and another does not.
    Against,
}

/// A row with its place on the page.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    /// From 1; by it chart, table and pairs name each other.
    number: usize,
    name: &'a str,
    outcome: &'a Outcome,
    row: &'a PageRow<'a>,
}

/// All rows as the page orders them.
#[derive(Debug)]
struct Entries<'a> {
    /// Rules that merge something: by advice, then by what they merge.
    rules: Vec<Entry<'a>>,
    /// Rules that merge nothing here.
    idle: Vec<&'a str>,
    /// Policies and comparisons.
    policies: Vec<Entry<'a>>,
}

impl Page<'_> {
    /// Writes the page; says of how many rules it tells.
    ///
    /// # Errors
    /// As [`Output::put`].
    pub fn write(&self, output: &mut Output) -> Result<u64> {
        output.put(self.markup().into_string().as_bytes())?;
        Ok(self.rows.len() as u64)
    }

    fn markup(&self) -> Markup {
        let entries = self.entries();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(security_policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="color-scheme" content="light dark";
                    title { "What URL rules would cost \u{2013} " (self.evaluated.base) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        (decision::section(self, &entries))
                        (rules::section(self, &entries))
                        (chart::section(self, &entries))
                        (pairs::section(&entries))
                        (hosts::section(self))
                        (learned::section(self))
                        (noise::section(self))
                        (limits::section(self))
                        (figures::section(self, &entries))
                        (made::section(self))
                    }
                }
            }
        }
    }

    /// Whether a figure is more than 0 in any row.
    fn has_any(&self, figure: impl Fn(&Outcome) -> u64) -> bool {
        let mut rows = self.evaluated.rows.iter();
        rows.any(|(_, outcome)| figure(outcome) > 0)
    }

    /// Whether contents were told apart by digests alone.
    fn is_without_bodies(&self) -> bool {
        let mut rows = self.evaluated.rows.iter();
        rows.all(|(_, outcome)| outcome.pairs_wrong_near.is_none())
    }

    fn entries(&self) -> Entries<'_> {
        let all = || {
            self.rows
                .iter()
                .zip(&self.evaluated.rows)
                .map(|(row, (name, outcome))| Entry {
                    number: 0,
                    name,
                    outcome,
                    row,
                })
        };
        let (mut rules, idle): (Vec<_>, Vec<_>) = all()
            .filter(|entry| entry.row.subject == Subject::Rule)
            .partition(|entry| entry.outcome.merges.total().merged > 0);
        rules.sort_by_key(|entry| {
            let merged = entry.outcome.merges.total().merged;
            (order(entry.outcome.advice), std::cmp::Reverse(merged))
        });
        let policies = all().filter(|entry| entry.row.subject != Subject::Rule);
        let mut entries = Entries {
            policies: policies.collect(),
            rules,
            idle: idle.iter().map(|entry| entry.name).collect(),
        };
        let numbered = entries.rules.iter_mut().chain(&mut entries.policies);
        numbered
            .zip(1..)
            .for_each(|(entry, number)| entry.number = number);
        entries
    }
}

/// Where the page puts rules of this advice.
fn order(advice: Advice) -> usize {
    match advice {
        Advice::Adopt => 0,
        Advice::AdoptPerHost => 1,
        Advice::Reject => 2,
        Advice::NotEnoughEvidence => 3,
    }
}

/// Nothing may be fetched, run or sent; the one style is known by its hash.
fn security_policy() -> String {
    let hash = data_encoding::BASE64.encode(&Sha256::digest(STYLE));
    format!(
        "default-src 'none'; script-src 'none'; img-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
    )
}
