//! `--policy-out`: what was learned, as a policy file with its evidence.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::advice::percent;
use super::output::{Finished, Output};
use crate::Result;
use crate::capture::Timestamp;
use crate::evaluate::{Entry, Evidence, Fate, Lesson, Precision};
use crate::policy::plan::Fragment;
use crate::policy::{Rule, RuleSet};

/// What was learned of one host.
#[derive(Clone, Copy, Debug)]
pub struct LearnedHost<'a> {
    /// A registrable domain.
    pub host: &'a [u8],
    /// The names that the lesson numbers; UTF-8.
    pub names: &'a [Vec<u8>],
    /// What was chosen, and what became of it.
    pub lesson: &'a Lesson,
}

/// A learned policy.
#[derive(Clone, Debug)]
pub struct LearnedPolicy<'a> {
    /// The day that stands beside the evidence.
    pub date: Timestamp,
    /// The base it stands on, `name@version`.
    pub base: String,
    /// What the base does with fragments.
    pub fragment: Fragment,
    /// By name.
    pub hosts: Vec<LearnedHost<'a>>,
    /// Of all that half A has chosen, on half B.
    pub held_out: Precision,
    /// URLs evaluated.
    pub n_urls: u64,
}

impl LearnedPolicy<'_> {
    /// A policy file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a `String` cannot fail.
        self.write_to(&mut out).ok();
        out
    }

    /// Writes the file; says how many entries it has.
    ///
    /// # Errors
    /// As [`Output::put`] and [`Output::finish`].
    pub fn write(&self, mut output: Output) -> Result<(Finished, u64)> {
        output.put(self.text().as_bytes())?;
        Ok((output.finish()?, self.count(Fate::Kept)))
    }

    /// Its line on stderr.
    #[must_use]
    pub fn line(&self) -> String {
        let hosts = self.hosts.iter().filter(|host| has_kept(host.lesson));
        let n_removed = self.count(Fate::Wrong) + self.count(Fate::TooFew);
        let mut text = format!(
            "{} rules for {} hosts; half B: {}",
            self.count(Fate::Kept),
            hosts.count(),
            self.rate()
        );
        if n_removed > 0 {
            write!(text, "; {n_removed} chosen by half A but removed").ok();
        }
        text
    }

    /// For the summary.
    #[must_use]
    pub fn figures(&self) -> Value {
        let (low, high) = self.held_out.interval.unzip();
        let total = self.total();
        json!({
            "date": self.day(),
            "entries": self.hosts.iter().flat_map(|host| {
                host.lesson.entries.iter().map(|entry| entry_figures(host, entry))
            }).collect::<Vec<_>>(),
            "held_out": {
                "right": total.right,
                "wrong": total.wrong,
                "unverifiable": total.unverifiable,
                "precision": self.held_out.verified,
                "precision_ci_low": low,
                "precision_ci_high": high,
                "n_eff": self.held_out.n_eff,
                "wrong_rate_max": self.held_out.wrong_rate_max,
            },
        })
    }

    fn write_to(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "# Learned by `dedupe evaluate` on {} from half A of {} URLs, measured once on half B.",
            self.day(),
            self.n_urls
        )?;
        writeln!(out, "# Of all that half A has chosen, {}.", self.rate())?;
        writeln!(
            out,
            "# Counts are those of half B, beyond the rules above each; in brackets what half A had shown."
        )?;
        writeln!(
            out,
            "name = \"learned\"\nversion = \"{}\"",
            self.day().replace('-', ".")
        )?;
        writeln!(out, "base = \"{}\"", self.base)?;
        if self.fragment == Fragment::KeepRoutes {
            writeln!(out, "fragment = \"keep-routes\"")?;
        }
        for host in self.hosts.iter().filter(|host| has_kept(host.lesson)) {
            writeln!(out, "\n[[origin]]\nhost = {}", quoted(host.host))?;
            self.write_bets(host, out)?;
            self.write_names(host, out)?;
        }
        if self.count(Fate::Kept) < self.n_entries() {
            writeln!(out, "\n# Chosen by half A and removed by half B:")?;
        }
        for host in &self.hosts {
            for entry in host
                .lesson
                .entries
                .iter()
                .filter(|entry| entry.fate != Fate::Kept)
            {
                let names = entry_names(host, entry).join("; ");
                let host = host.host.escape_ascii();
                writeln!(
                    out,
                    "# {host}: {}: {}",
                    names.escape_default(),
                    self.evidence(entry)
                )?;
            }
        }
        Ok(())
    }

    /// A line a family, under the evidence of each of its options.
    fn write_bets(&self, host: &LearnedHost<'_>, out: &mut String) -> std::fmt::Result {
        let kept = || kept(host.lesson).filter(|entry| !entry.rule.rules.is_empty());
        let rules = kept().fold(RuleSet::EMPTY, |all, entry| all.union(entry.rule.rules));
        let mut families: Vec<&str> = rules.iter().map(Rule::family).collect();
        families.dedup();
        for family in families {
            let of_family = |rule: &Rule| rule.family() == family;
            for entry in kept().filter(|entry| entry.rule.rules.iter().any(|rule| of_family(&rule)))
            {
                let names = entry_names(host, entry).join("; ");
                writeln!(
                    out,
                    "# {names}: {} ({} right)",
                    self.evidence(entry),
                    entry.learned.right
                )?;
            }
            let options: Vec<String> = rules
                .iter()
                .filter(of_family)
                .filter_map(Rule::option)
                .map(|option| format!("\"{option}\""))
                .collect();
            writeln!(out, "{family} = [{}]", options.join(", "))?;
        }
        Ok(())
    }

    /// `query-drop`, a line a name.
    fn write_names(&self, host: &LearnedHost<'_>, out: &mut String) -> std::fmt::Result {
        let mut names: Vec<(&[u8], &Entry)> = kept(host.lesson)
            .flat_map(|entry| entry.rule.names.iter().map(move |name| (name, entry)))
            .map(|(name, entry)| (host.names[*name as usize].as_slice(), entry))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        names.sort_unstable_by_key(|(name, _)| *name);
        writeln!(out, "query-drop = [")?;
        for (name, entry) in names {
            let (name, evidence) = (quoted(name), self.evidence(entry));
            writeln!(
                out,
                "    {{ name = {name}, evidence = \"{evidence}\" }}, # ({} right)",
                entry.learned.right
            )?;
        }
        writeln!(out, "]")
    }

    /// `412 right, 0 wrong, 2026-11-30`.
    fn evidence(&self, entry: &Entry) -> String {
        let Evidence { right, wrong, .. } = entry.measured;
        format!("{right} right, {wrong} wrong, {}", self.day())
    }

    /// `2 of 900 merges are wrong (95 %: 0.031 % to 0.774 %)`.
    fn rate(&self) -> String {
        let total = self.total();
        if total.decidable() == 0 {
            return "no merge has a verdict".to_owned();
        }
        let mut text = format!("{} of {} merges are wrong", total.wrong, total.decidable());
        match self.held_out.interval {
            Some((low, high)) if total.wrong > 0 => {
                let [from, to] = [1.0 - high, 1.0 - low].map(|share| percent(Some(share)));
                write!(
                    text,
                    " (95 %: {from} to {to} of further ones on these hosts)"
                )
                .ok();
            }
            _ => {
                let most = percent(self.held_out.wrong_rate_max);
                write!(
                    text,
                    " (95 %: at most {most} of further ones on these hosts)"
                )
                .ok();
            }
        }
        text
    }

    fn total(&self) -> Evidence {
        let mut total = Evidence::default();
        for entry in self.hosts.iter().flat_map(|host| &host.lesson.entries) {
            total.join(entry.measured);
        }
        total
    }

    fn day(&self) -> String {
        let mut text = Vec::new();
        self.date.write_rfc3339(&mut text);
        text.truncate(10);
        String::from_utf8(text).unwrap_or_default()
    }

    fn n_entries(&self) -> u64 {
        let hosts = self.hosts.iter();
        hosts.map(|host| host.lesson.entries.len() as u64).sum()
    }

    fn count(&self, fate: Fate) -> u64 {
        let entries = self.hosts.iter().flat_map(|host| &host.lesson.entries);
        entries.filter(|entry| entry.fate == fate).count() as u64
    }
}

fn kept(lesson: &Lesson) -> impl Iterator<Item = &Entry> {
    let entries = lesson.entries.iter();
    entries.filter(|entry| entry.fate == Fate::Kept)
}

fn has_kept(lesson: &Lesson) -> bool {
    kept(lesson).next().is_some()
}

/// Bets as `name=option`, a parameter as `query-drop=name`.
pub(super) fn entry_names(host: &LearnedHost<'_>, entry: &Entry) -> Vec<String> {
    let bets = entry.rule.rules.iter().map(|rule| rule.name().to_owned());
    let names = entry.rule.names.iter().map(|name| {
        let name = std::str::from_utf8(&host.names[*name as usize]);
        format!("query-drop={}", name.unwrap_or_default())
    });
    bets.chain(names).collect()
}

fn entry_figures(host: &LearnedHost<'_>, entry: &Entry) -> Value {
    let counts = |evidence: Evidence| json!({ "right": evidence.right, "wrong": evidence.wrong, "unverifiable": evidence.unverifiable });
    json!({
        "host": host.host.escape_ascii().to_string(),
        "rules": entry_names(host, entry),
        "fate": match entry.fate {
            Fate::Kept => "kept",
            Fate::Wrong => "removed-wrong",
            Fate::TooFew => "removed-too-few",
        },
        "learned": counts(entry.learned),
        "measured": counts(entry.measured),
    })
}

/// A text as TOML writes it.
fn quoted(text: &[u8]) -> String {
    toml_edit::Value::from(std::str::from_utf8(text).unwrap_or_default()).to_string()
}
