//! What is said on stderr: damage as it stands, and at the end a dozen lines of what came out.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use indicatif::{HumanBytes, HumanCount};

use super::figures::{CountsByName, Loss};
use super::summary::Summary;
use super::text::visible;
use crate::Error;

/// Damage is named up to this many, unless `-v` asks for all that is listed.
const LOSSES_NAMED_MAX: usize = 10;

/// `-q`, `-v`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// The first few of everything, and a summary at the end.
    #[default]
    Normal,
    /// Every piece of damage that is listed.
    Verbose,
}

/// `--no-progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressMode {
    /// A bar on a terminal, a line now and then elsewhere.
    #[default]
    Shown,
    /// None.
    Hidden,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                io::stderr().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }
}

/// Prints an error with its causes, on one line. Where stderr is closed there is nobody to tell.
pub fn print_error(error: &Error) {
    let mut line = format!("dedupe: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    let mut line = visible(&line);
    line.push('\n');
    io::stderr().write_all(line.as_bytes()).ok();
}

/// The people who started this run, as far as they want to be told.
#[derive(Clone, Copy, Debug)]
pub struct People {
    verbosity: Verbosity,
    paint: Paint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paint {
    Plain,
    Colored,
}

impl People {
    /// Those who asked for this.
    #[must_use]
    pub fn new(verbosity: Verbosity, color: Color) -> Self {
        let paint = if color.is_on() {
            Paint::Colored
        } else {
            Paint::Plain
        };
        Self { verbosity, paint }
    }

    /// Names the first pieces of damage, and counts the others.
    pub fn name_losses(&self, losses: &[Loss], n_losses: u64) {
        let n_named_max = match self.verbosity {
            Verbosity::Quiet => return,
            Verbosity::Normal => LOSSES_NAMED_MAX,
            Verbosity::Verbose => losses.len(),
        };
        let mut text = String::new();
        for loss in losses.iter().take(n_named_max) {
            let label = self.paint.warning("damage:");
            push_line(&mut text, format_args!("{label} {}", place_and_cause(loss)));
        }
        let n_more = n_losses - losses.len().min(n_named_max) as u64;
        if n_more > 0 {
            let more = HumanCount(n_more);
            push_line(
                &mut text,
                format_args!("damage: {more} more, see --summary"),
            );
        }
        self.tell(&text);
    }

    /// Says what came out.
    pub fn conclude(&self, summary: &Summary) {
        self.tell(&conclusion(summary, self.paint));
    }

    /// Says, in one line, what the run does that nobody might expect.
    pub fn note(&self, what: &str) {
        self.tell(&format!("dedupe: {what}\n"));
    }

    /// The same, for those who want to know more.
    pub fn detail(&self, what: &str) {
        if self.verbosity == Verbosity::Verbose {
            self.note(what);
        }
    }

    /// In one call, so that threads do not mix their lines. Where stderr is closed there is nobody to tell.
    pub(super) fn tell(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            io::stderr().write_all(text.as_bytes()).ok();
        }
    }
}

impl Paint {
    fn label(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colored => format!("\x1b[1m{text}\x1b[0m"),
        }
    }

    fn warning(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colored => format!("\x1b[33m{text}\x1b[0m"),
        }
    }
}

fn place_and_cause(loss: &Loss) -> String {
    let line = loss
        .line
        .map_or(String::new(), |line| format!(", line {line}"));
    let lost = match loss.length {
        Some(length) if length > 0 => format!(" ({length} bytes)"),
        _ => String::new(),
    };
    format!(
        "{} at offset {}{line}: {}{lost}",
        visible(&loss.file),
        loss.offset,
        loss.what
    )
}

/// A dozen lines. What is zero and no news has none.
fn conclusion(summary: &Summary, paint: Paint) -> String {
    let mut text = String::new();
    let mut say = |label: &str, news: String| {
        // Padded first: an escape sequence has no width.
        let label = paint.label(&format!("{label:<11}"));
        push_line(&mut text, format_args!("{label} {news}"));
    };
    say("read", what_was_read(summary));
    let counts = &summary.counts;
    let n = HumanCount;
    say(
        "keys",
        format!(
            "{} of {} URIs, under {}",
            n(counts.distinct_keys),
            n(counts.distinct_uris),
            summary.policy.label()
        ),
    );
    say(
        "groups",
        format!(
            "{} by URL, {} by page, {} by content",
            n(counts.url_groups),
            n(counts.page_groups),
            n(counts.content_groups)
        ),
    );
    for (label, role, meaning) in ROLES {
        let count = count(&counts.by_role, role);
        say(label, format!("{} {meaning}", n(count)));
    }
    say("could save", what_could_be_saved(summary));
    for (label, found) in [
        (
            "conflicts",
            non_zero(summary.conflicts.iter().map(as_count)),
        ),
        (
            "warnings",
            non_zero(summary.warnings.iter().map(|(code, count)| (*code, *count))),
        ),
    ] {
        if !found.is_empty() {
            say(label, found);
        }
    }
    if counts.damaged > 0 {
        say(
            "damage",
            format!("{} in all, the first named above", n(counts.damaged)),
        );
    }
    for output in &summary.outputs {
        say("written", output.to_string());
    }
    text
}

const ROLES: [(&str, &str, &str); 4] = [
    (
        "duplicates",
        "duplicate",
        "with the content of their keeper",
    ),
    ("versions", "version", "of the same URL with other content"),
    ("aliases", "alias", "that redirect to their keeper"),
    (
        "unjudged",
        "unjudged",
        "of the same URL, without a digest to judge by",
    ),
];

fn what_was_read(summary: &Summary) -> String {
    let counts = &summary.counts;
    let n_inputs = summary.inputs.len();
    format!(
        "{} in {n_inputs} {}: {} records, {} captures, {} revisits",
        HumanBytes(summary.bytes.read),
        if n_inputs == 1 { "input" } else { "inputs" },
        HumanCount(counts.records),
        HumanCount(counts.captures),
        HumanCount(counts.revisits),
    )
}

fn what_could_be_saved(summary: &Summary) -> String {
    let bytes = &summary.bytes;
    let mut text = format!("{} as stored", HumanBytes(bytes.redundant));
    if bytes.redundant_unknown > 0 {
        let unknown = HumanCount(bytes.redundant_unknown);
        // Writing to a `String` cannot fail.
        write!(text, ", and of {unknown} more the cost is unknown").ok();
    }
    text
}

fn non_zero<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let named: Vec<String> = counts
        .filter(|(_, count)| *count > 0)
        .map(|(code, count)| format!("{} {code}", HumanCount(count)))
        .collect();
    named.join(", ")
}

fn as_count<'a>((code, count): (&'a String, &serde_json::Value)) -> (&'a str, u64) {
    (code, count.as_u64().unwrap_or(0))
}

fn count(counts: &CountsByName, name: &str) -> u64 {
    counts
        .get(name)
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0)
}

fn push_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    writeln!(text, "{line}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group;
    use crate::policy::PolicyId;

    fn summary() -> Summary {
        let id = PolicyId {
            name: "safe".to_owned(),
            version: "1".to_owned(),
            hash: 1,
        };
        let mut summary = Summary::new("dedupe".to_owned(), &id);
        summary.inputs.push(super::super::Input::default());
        summary.bytes.read = 1 << 20;
        summary.counts.records = 1234;
        summary.counts.captures = 400;
        let mut counts = group::Counts {
            distinct_keys: 390,
            distinct_uris: 395,
            redundant_bytes: 2048,
            redundant_unknown: 1,
            ..group::Counts::default()
        };
        counts.by_role[group::Role::Duplicate as usize] = 7;
        counts.by_conflict[group::Conflict::Boilerplate as usize] = 3;
        summary.set_groups(&counts);
        summary.warnings.insert("lf-lines", 2);
        summary
    }

    #[test]
    fn says_what_came_out_in_a_dozen_lines() {
        let text = conclusion(&summary(), Paint::Plain);
        assert_eq!(
            text,
            "\
read        1.00 MiB in 1 input: 1,234 records, 400 captures, 0 revisits
keys        390 of 395 URIs, under safe@1
groups      0 by URL, 0 by page, 0 by content
duplicates  7 with the content of their keeper
versions    0 of the same URL with other content
aliases     0 that redirect to their keeper
unjudged    0 of the same URL, without a digest to judge by
could save  2.00 KiB as stored, and of 1 more the cost is unknown
conflicts   3 boilerplate
warnings    2 lf-lines
"
        );
    }

    #[test]
    fn colors_are_escape_sequences_only_where_asked_for() {
        assert!(conclusion(&summary(), Paint::Colored).contains('\x1b'));
        assert!(!conclusion(&summary(), Paint::Plain).contains('\x1b'));
        assert!(Color::Always.is_on() && !Color::Never.is_on());
    }

    #[test]
    fn damage_is_named_with_file_offset_and_line() {
        let loss = Loss {
            file: "a.cdx".to_owned(),
            offset: 42,
            length: Some(7),
            line: Some(3),
            what: "three columns where 11 are announced".to_owned(),
        };
        assert_eq!(
            place_and_cause(&loss),
            "a.cdx at offset 42, line 3: three columns where 11 are announced (7 bytes)"
        );
    }
}
