//! The summary as JSON, schema `dedupe.summary/1`. Additive changes only.
//!
//! The engine fills the fields; they stand in the order in which they are printed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::{
    Bytes, Canonical, Counts, CountsByName, Digests, Input, Loss, Memory, Policy, Redirects,
    ThresholdsInForce, Throughput, Written, by_name,
};
use super::names::evidence_name;
use super::output::{Finished, Output, Target};
use super::text::clean;
use crate::capture::Warning;
use crate::group::{self, Conflict, Keep, Thresholds};
use crate::policy::PolicyId;
use crate::{Error, Result};

/// Named damage is listed up to this many.
pub const DAMAGE_LISTED_MAX: usize = 100;

/// All figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    schema: &'static str,
    tool: &'static str,
    /// As it was called.
    pub command: String,
    /// What was read, in reading order.
    pub inputs: Vec<Input>,
    /// The policy in force.
    pub policy: Policy,
    /// What was believed how far.
    pub thresholds: ThresholdsInForce,
    /// Captures, groups and roles.
    pub counts: Counts,
    /// Bytes.
    pub bytes: Bytes,
    /// Declared against computed digests.
    pub digest: Digests,
    /// Redirecting captures.
    pub redirects: Redirects,
    /// `rel=canonical`.
    pub canonical: Canonical,
    /// Captures by conflict, but for those of canonical claims.
    pub conflicts: CountsByName,
    /// What URL-space shapes would save.
    pub savings: CountsByName,
    /// What `evaluate` found.
    pub evaluation: CountsByName,
    /// How fast it was.
    pub throughput: Throughput,
    /// What it took.
    pub memory: Memory,
    /// Oddities that leave exit code 0, by code.
    pub warnings: BTreeMap<&'static str, u64>,
    /// Of a link graph.
    pub graph: CountsByName,
    /// The first pieces of damage.
    pub damage: Vec<Loss>,
    /// What was written.
    pub outputs: Vec<Written>,
}

impl Summary {
    /// An empty summary of a run that was called as `command` under this policy.
    #[must_use]
    pub fn new(command: String, policy: &PolicyId) -> Self {
        Self {
            schema: "dedupe.summary/1",
            tool: concat!("dedupe ", env!("CARGO_PKG_VERSION")),
            command,
            inputs: Vec::new(),
            policy: Policy::of(policy),
            thresholds: ThresholdsInForce::default(),
            counts: Counts::default(),
            bytes: Bytes::default(),
            digest: Digests::default(),
            redirects: Redirects::default(),
            canonical: Canonical::default(),
            conflicts: CountsByName::new(),
            savings: CountsByName::new(),
            evaluation: CountsByName::new(),
            throughput: Throughput::default(),
            memory: Memory::default(),
            warnings: BTreeMap::new(),
            graph: CountsByName::new(),
            damage: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Name and version of the tool.
    #[must_use]
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// Takes over what grouping counted.
    pub fn set_groups(&mut self, found: &group::Counts) {
        let conflicts = |conflict: Conflict| found.by_conflict[conflict as usize];
        self.counts.set_groups(found);
        self.bytes.redundant = found.redundant_bytes;
        self.bytes.redundant_unknown = found.redundant_unknown;
        self.redirects = Redirects {
            chains: found.chains,
            temporary: found.chains_temporary,
            loops: found.loops,
            outside: conflicts(Conflict::RedirectOutside),
            not_http: conflicts(Conflict::NotHttp),
            limit: conflicts(Conflict::RedirectLimit),
            gap: conflicts(Conflict::RedirectGap),
            end_not_2xx: conflicts(Conflict::EndNot2xx),
            fan_in: conflicts(Conflict::FanIn),
            suspect_home: conflicts(Conflict::SuspectHome),
        };
        let (claims, others): (Vec<_>, Vec<_>) = Conflict::ALL
            .into_iter()
            .map(|conflict| (conflict.code(), conflicts(conflict)))
            .partition(|(code, _)| code.starts_with("canonical-"));
        self.canonical.conflicts = by_name(claims);
        self.conflicts = by_name(others);
    }

    /// States how often something was odd; what was not has no entry.
    pub fn add_warning(&mut self, warning: Warning, n: u64) {
        if n > 0 {
            *self.warnings.entry(warning.code()).or_default() += n;
        }
    }

    /// States how far evidence was believed.
    pub fn set_thresholds(&mut self, thresholds: &Thresholds, digests: &'static str) {
        self.thresholds = ThresholdsInForce {
            digests,
            evidence: thresholds
                .evidence
                .iter()
                .copied()
                .map(evidence_name)
                .collect(),
            keep: match thresholds.keep {
                Keep::Earliest => "earliest",
                Keep::Latest => "latest",
                Keep::ShortestUrl => "shortest-url",
            },
            redirect_within_seconds: thresholds.redirect_within,
            max_redirects: thresholds.redirects_max,
            redirect_fan_in: thresholds.fan_in_max,
            boilerplate: thresholds.boilerplate_max,
        };
    }

    /// States speed, from what was read since `start`, and what it took.
    pub fn set_cost(&mut self, start: std::time::Instant, memory: Memory) {
        let seconds = start.elapsed().as_secs_f64();
        self.throughput = Throughput {
            seconds: (seconds * 1000.0).round() / 1000.0,
            bytes_per_second: per_second(self.bytes.read, seconds),
            records_per_second: per_second(self.counts.records, seconds),
        };
        self.memory = memory;
    }

    /// States an output that is whole.
    pub fn add_output(&mut self, output: &Finished, rows: u64) {
        self.outputs.push(Written {
            path: clean(output.path().as_os_str().as_encoded_bytes()),
            rows,
            bytes: output.bytes(),
        });
    }

    /// Writes the summary; it has its name once it is published.
    ///
    /// # Errors
    /// As [`Output::create`] and [`Output::finish`].
    pub fn write(&self, target: &Target) -> Result<Finished> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::failed(format!("cannot write the summary: {error}")))?;
        let mut output = Output::create(target)?;
        output.put(text.as_bytes())?;
        output.put(b"\n")?;
        output.finish()
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate for people"
)]
fn per_second(count: u64, seconds: f64) -> u64 {
    (count as f64 / seconds.max(1e-9)) as u64
}
