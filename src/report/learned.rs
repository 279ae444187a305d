//! `--policy-out`: what was learned, as a policy file with its evidence.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::advice::percent;
use super::output::{Finished, Output};
use super::text::{clean, is_deceptive, visible};
use crate::Result;
use crate::capture::Timestamp;
use crate::evaluate::{Evidence, Fate, LearnedRule, LearnedRules, Precision, Sample};
use crate::policy::plan::Fragment;
use crate::policy::{Rule, RuleSet};

/// Hosts that are left out, and names that were not tried, of which so many are named.
const LEFT_OUT_MAX: usize = 20;

/// What was learned of one host.
#[derive(Clone, Copy, Debug)]
pub struct LearnedHost<'a> {
    /// A registrable domain.
    pub host: &'a [u8],
    /// The names that the rules number; a policy file can say each.
    pub names: &'a [Vec<u8>],
    /// What was chosen, and what became of it.
    pub rules: &'a LearnedRules,
    /// Names of parameters that were not tried, with the URLs that carry them.
    pub untried: &'a [(Vec<u8>, u64)],
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
    /// Hosts that no entry can be about alone, with the number of their URLs.
    pub unnamed: &'a [(Vec<u8>, u64)],
    /// Of all that half A has chosen, on half B.
    pub held_out: Precision,
    /// URLs evaluated.
    pub n_urls: u64,
    /// Which of them were learned from; `None`: all.
    pub sample: Option<Sample>,
    /// Somebody asked for the file.
    pub is_written: bool,
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

    /// Whether people are told of it unasked: something was learned.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.is_written || self.count(Fate::Kept) > 0
    }

    /// Its line on stderr.
    #[must_use]
    pub fn line(&self) -> String {
        let hosts = self.hosts.iter().filter(|host| has_kept(host));
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
        if !self.unnamed.is_empty() {
            let n_unnamed = self.unnamed.len();
            write!(text, "; {n_unnamed} hosts left out that no entry can name").ok();
        }
        if !self.is_written {
            text.push_str("; --policy-out writes them");
        }
        text
    }

    /// Hosts that no entry can be about alone, and names that were not tried: a sentence each.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.unnamed.is_empty() {
            let n_urls: u64 = self.unnamed.iter().map(|(_, n_urls)| n_urls).sum();
            sentences.push(format!(
                "not learned for {} hosts with {n_urls} URLs, since an entry for one would be about other sites too: {}",
                self.unnamed.len(),
                listed(self.unnamed),
            ));
        }
        for host in &self.hosts {
            let (more, unsayable): (Vec<_>, Vec<_>) = host
                .untried
                .iter()
                .cloned()
                .partition(|(name, _)| parameter_text(name).is_some());
            for (names, why) in [
                (unsayable, "since no policy file can say it"),
                (more, "since others are on more URLs"),
            ] {
                if !names.is_empty() {
                    let host = shown(host.host);
                    sentences.push(format!("{host}: not tried, {why}: {}", listed(&names)));
                }
            }
        }
        sentences
    }

    /// For the summary.
    #[must_use]
    pub fn figures(&self) -> Value {
        let (low, high) = self.held_out.interval.unzip();
        let total = self.total();
        json!({
            "date": self.day(),
            "entries": self.hosts.iter().flat_map(|host| {
                host.rules.all.iter().map(|rule| rule_figures(host, rule))
            }).collect::<Vec<_>>(),
            "left_out": self.left_out(),
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
        let sample = self.sample.map_or(String::new(), |sample| {
            let share = percent(Some(sample.share));
            format!("a sample ({share}, seed {}) of ", sample.seed)
        });
        writeln!(
            out,
            "# Learned by `dedupe evaluate` on {} from half A of {sample}{} URLs, measured once on half B.",
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
        for host in self.hosts.iter().filter(|host| has_kept(host)) {
            let name = std::str::from_utf8(host.host).unwrap_or_default();
            writeln!(out, "\n[[origin]]\nhost = {}", quoted(name))?;
            self.write_bets(host, out)?;
            self.write_names(host, out)?;
        }
        if self.count(Fate::Kept) < self.n_rules() {
            writeln!(out, "\n# Chosen by half A and removed by half B:")?;
        }
        for host in &self.hosts {
            let removed = |rule: &&LearnedRule| rule.fate != Fate::Kept;
            for rule in host.rules.all.iter().filter(removed) {
                let names = rule_names(host, rule).join("; ");
                let host = shown(host.host);
                writeln!(out, "# {host}: {names}: {}", self.evidence(rule))?;
            }
        }
        let left_out = self.left_out();
        if !left_out.is_empty() {
            writeln!(out, "\n# Left out:")?;
        }
        left_out
            .iter()
            .try_for_each(|sentence| writeln!(out, "# {sentence}"))
    }

    /// A line a family, under the evidence of each of its options.
    fn write_bets(&self, host: &LearnedHost<'_>, out: &mut String) -> std::fmt::Result {
        let kept = || host.rules.kept().map(|rule| (rule, rule.candidate.rules));
        let rules = kept().fold(RuleSet::EMPTY, |all, (_, own)| all.union(own));
        let mut families: Vec<&str> = rules.iter().map(Rule::family).collect();
        families.dedup();
        for family in families {
            let of_family = |rule: &Rule| rule.family() == family;
            for (rule, _) in kept().filter(|(_, own)| own.iter().any(|rule| of_family(&rule))) {
                let names = rule_names(host, rule).join("; ");
                let (evidence, right) = (self.evidence(rule), rule.learned.right);
                writeln!(out, "# {names}: {evidence} ({right} right)")?;
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
        let mut names: Vec<(&[u8], &LearnedRule)> = host
            .rules
            .kept()
            .flat_map(|rule| rule.candidate.names.iter().map(move |name| (name, rule)))
            .map(|(name, rule)| (host.names[*name as usize].as_slice(), rule))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        names.sort_unstable_by_key(|(name, _)| *name);
        writeln!(out, "query-drop = [")?;
        for (name, rule) in names {
            let name = quoted(&parameter_text(name).unwrap_or_default());
            let (evidence, right) = (self.evidence(rule), rule.learned.right);
            writeln!(
                out,
                "    {{ name = {name}, evidence = \"{evidence}\" }}, # ({right} right)"
            )?;
        }
        writeln!(out, "]")
    }

    /// `412 right, 0 wrong, 2026-11-30`.
    fn evidence(&self, rule: &LearnedRule) -> String {
        let Evidence { right, wrong, .. } = rule.measured;
        format!("{right} right, {wrong} wrong, {}", self.day())
    }

    /// `2 of 900 merges are wrong (95 %: 0.031 % to 0.774 %)`.
    fn rate(&self) -> String {
        let total = self.total();
        if total.decidable() == 0 {
            return "no merge has a verdict".to_owned();
        }
        let of_sample = self.sample.map_or("", |_| " of the sample");
        let (wrong, decidable) = (total.wrong, total.decidable());
        let mut text = format!("{wrong} of {decidable} merges{of_sample} are wrong");
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
        for rule in self.hosts.iter().flat_map(|host| &host.rules.all) {
            total.join(rule.measured);
        }
        total
    }

    fn day(&self) -> String {
        let mut text = Vec::new();
        self.date.write_rfc3339(&mut text);
        text.truncate(10);
        String::from_utf8(text).unwrap_or_default()
    }

    fn n_rules(&self) -> u64 {
        let hosts = self.hosts.iter();
        hosts.map(|host| host.rules.all.len() as u64).sum()
    }

    fn count(&self, fate: Fate) -> u64 {
        let rules = self.hosts.iter().flat_map(|host| &host.rules.all);
        rules.filter(|rule| rule.fate == fate).count() as u64
    }
}

fn has_kept(host: &LearnedHost<'_>) -> bool {
    host.rules.kept().next().is_some()
}

/// Bets as `name=option`, a parameter as `query-drop=name`.
pub(super) fn rule_names(host: &LearnedHost<'_>, rule: &LearnedRule) -> Vec<String> {
    let candidate = &rule.candidate;
    let bets = candidate.rules.iter().map(|rule| rule.name().to_owned());
    let names = candidate.names.iter().map(|name| {
        let name = parameter_text(&host.names[*name as usize]);
        format!("query-drop={}", name.unwrap_or_default())
    });
    bets.chain(names).collect()
}

/// A parameter's name as a policy file says it, escaped where it would be read as another, or would not be seen as
/// what it is; `None` where no file can say it.
#[must_use]
pub fn parameter_text(name: &[u8]) -> Option<String> {
    if name.is_empty() || name.ends_with(b"*") {
        return None;
    }
    let mut text = String::new();
    let mut at = 0;
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            let bytes = &name[at..at + c.len_utf8()];
            let digits = name.get(at + 1..at + 3).filter(|_| c == '%');
            let is_escape = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            // What a policy file reads as more than a part of a name.
            let is_mark = matches!(c, '*' | '=' | '&' | '#' | ' ');
            if is_escape || is_mark || is_deceptive(c) {
                push_escaped(bytes, &mut text);
            } else {
                text.push(c);
            }
            at += bytes.len();
        }
        push_escaped(chunk.invalid(), &mut text);
        at += chunk.invalid().len();
    }
    Some(text)
}

fn push_escaped(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a `String` cannot fail.
        write!(text, "%{byte:02X}").ok();
    }
}

/// Names with their URLs.
fn listed(names: &[(Vec<u8>, u64)]) -> String {
    let first = names.iter().take(LEFT_OUT_MAX);
    let mut texts: Vec<String> = first
        .map(|(name, n_urls)| format!("{} ({n_urls} URLs)", shown(name)))
        .collect();
    if names.len() > LEFT_OUT_MAX {
        texts.push(format!("{} more", names.len() - LEFT_OUT_MAX));
    }
    texts.join(", ")
}

/// On one line, and as it is.
fn shown(text: &[u8]) -> String {
    visible(&clean(text))
}

fn rule_figures(host: &LearnedHost<'_>, rule: &LearnedRule) -> Value {
    let counts = |evidence: Evidence| json!({ "right": evidence.right, "wrong": evidence.wrong, "unverifiable": evidence.unverifiable });
    json!({
        "host": shown(host.host),
        "rules": rule_names(host, rule),
        "fate": match rule.fate {
            Fate::Kept => "kept",
            Fate::Wrong => "removed-wrong",
            Fate::TooFew => "removed-too-few",
        },
        "learned": counts(rule.learned),
        "measured": counts(rule.measured),
    })
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use std::path::Path;

    #[test]
    fn a_name_is_read_as_the_one_that_was_written() {
        for name in [
            &b"sid"[..],
            b"a%5B%5D",
            b"100%",
            b"%41",
            b"a*b",
            b"a b=c&d",
            b"\xff\xfe",
            b"a\x00\n\"\\'#",
            "gr\u{fc}n\u{202e}".as_bytes(),
            b"\xe2\x82",
        ] {
            let text = parameter_text(name).unwrap();
            assert_eq!(visible(&text), text);
            let file = format!(
                "name = \"p\"\nversion = 1\n[bets]\nquery-drop = [{}]\n",
                quoted(&text)
            );
            let policy = Policy::parse(file.as_bytes(), Path::new("p.toml")).unwrap();
            let names: Vec<Vec<u8>> = policy.plan().bets.query_drop.iter().collect();
            assert_eq!(names, [name.to_vec()], "{text}");
        }
        for name in [&b"*"[..], b"sid*", b""] {
            assert_eq!(parameter_text(name), None);
        }
    }
}
