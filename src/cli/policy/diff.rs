//! `dedupe policy diff`: what two policies say differently, and which URLs that concerns.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::key::{ComparisonKey, Keyer};
use crate::policy::Policy;
use crate::{Error, Result};

/// Both ids, the rules of only one of them, and whatever else differs in their descriptions.
pub(super) fn policies(first: &Policy, second: &Policy) -> String {
    let mut out = format!("A  {}\nB  {}\n", first.id(), second.id());
    if first.id().hash == second.id().hash {
        out.push_str("equal: every URL has one key under both\n");
        return out;
    }
    let (a, b) = (first.plan().bets.rules, second.plan().bets.rules);
    for (side, rules) in [("A", a.without(b)), ("B", b.without(a))] {
        if !rules.is_empty() {
            // Writing to a String cannot fail.
            writeln!(out, "only {side}: {rules}").unwrap_or_default();
        }
    }
    let (a, b) = (first.describe(), second.describe());
    let is_rule = |line: &&str| !line.starts_with("# ") && !line.is_empty();
    let (a, b): (Vec<&str>, Vec<&str>) = (
        a.lines().filter(is_rule).collect(),
        b.lines().filter(is_rule).collect(),
    );
    for (mark, lines, others) in [('-', &a, &b), ('+', &b, &a)] {
        let others: HashSet<&&str> = others.iter().collect();
        for line in lines.iter().filter(|line| !others.contains(line)) {
            writeln!(out, "{mark} {line}").unwrap_or_default();
        }
    }
    out
}

/// How many distinct URLs of a file change their class: share their key with other URLs under `second`
/// than under `first`.
pub(super) fn classes(first: &Policy, second: &Policy, path: &Path) -> Result<String> {
    let failed = |source| Error::io("read", path, source);
    let input: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        Box::new(BufReader::with_capacity(1 << 17, file))
    };
    let counts = Counts::of(first, second, input).map_err(failed)?;
    Ok(format!(
        "urls      {}\n\
         keys A    {}\n\
         keys B    {}\n\
         changed   {}\n",
        counts.keys.len(),
        counts.by_first.len(),
        counts.by_second.len(),
        counts.n_changed(),
    ))
}

/// The distinct URLs, by what they share.
#[derive(Default)]
struct Counts {
    /// Both keys of each distinct URL.
    keys: Vec<(ComparisonKey, ComparisonKey)>,
    by_first: HashMap<ComparisonKey, u64>,
    by_second: HashMap<ComparisonKey, u64>,
    by_both: HashMap<(ComparisonKey, ComparisonKey), u64>,
}

impl Counts {
    fn of(first: &Policy, second: &Policy, mut input: impl BufRead) -> io::Result<Self> {
        let (mut one, mut other) = (Keyer::new(first), Keyer::new(second));
        let mut counts = Self::default();
        let mut urls: HashSet<ComparisonKey> = HashSet::new();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            let url = line.strip_suffix(b"\n").unwrap_or(&line);
            let url = url.strip_suffix(b"\r").unwrap_or(url);
            if urls.insert(ComparisonKey::of(url)) {
                let keys = (one.key(url).key, other.key(url).key);
                counts.keys.push(keys);
                *counts.by_first.entry(keys.0).or_default() += 1;
                *counts.by_second.entry(keys.1).or_default() += 1;
                *counts.by_both.entry(keys).or_default() += 1;
            }
            line.clear();
        }
        Ok(counts)
    }

    /// A URL keeps its class if all that share its key under one policy share it under the other.
    fn n_changed(&self) -> usize {
        let keeps = |keys: &(ComparisonKey, ComparisonKey)| {
            let both = self.by_both.get(keys);
            both == self.by_first.get(&keys.0) && both == self.by_second.get(&keys.1)
        };
        self.keys.iter().filter(|keys| !keeps(keys)).count()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The classes of two full runs, compared as sets.
    fn n_changed_slowly(first: &Policy, second: &Policy, urls: &[&str]) -> usize {
        let classes = |policy: &Policy| {
            let mut by_key: BTreeMap<Vec<u8>, BTreeSet<&str>> = BTreeMap::new();
            for url in urls {
                let text = Keyer::new(policy).key(url.as_bytes()).text.to_vec();
                by_key.entry(text).or_default().insert(url);
            }
            by_key
        };
        let (a, b) = (classes(first), classes(second));
        let class = |classes: &BTreeMap<Vec<u8>, BTreeSet<&str>>, url: &str| -> Vec<String> {
            let class = classes.values().find(|class| class.contains(url)).unwrap();
            class.iter().map(|url| (*url).to_owned()).collect()
        };
        let urls: BTreeSet<&str> = urls.iter().copied().collect();
        urls.iter()
            .filter(|url| class(&a, url) != class(&b, url))
            .count()
    }

    #[test]
    fn changed_classes_are_those_of_two_full_runs() {
        let urls = [
            "http://www.example.org/a",
            "http://example.org/a",
            "http://example.org/a",
            "http://example.org/A/",
            "http://example.org/b?x=1",
            "http://EXAMPLE.org/b?x=1",
            "http://example.org/index.html",
            "http://example.org/",
            "http:/example.org/",
            "alone",
        ];
        let input = urls.join("\r\n");
        let names = ["safe@1", "rfc3986@1", "lee2005@1", "surt@0.3.1"];
        for (one, other) in names
            .iter()
            .flat_map(|one| names.iter().map(move |other| (one, other)))
        {
            let (first, second) = (Policy::load(one).unwrap(), Policy::load(other).unwrap());
            let counts = Counts::of(&first, &second, input.as_bytes()).unwrap();
            let expected = n_changed_slowly(&first, &second, &urls);
            assert_eq!(counts.n_changed(), expected, "{one} {other}");
            assert_eq!(expected == 0, one == other, "{one} {other}");
        }
    }

    #[test]
    fn says_which_rules_differ() {
        let load = |name| Policy::load(name).unwrap();
        let found = policies(&load("safe@1"), &load("lee2005@1"));
        for line in [
            "only B: www=www;index-file=default;trailing-slash=drop;path-case=lower;query-case=lower\n",
            "+ www = [\"www\"]\n",
        ] {
            assert!(found.contains(line), "{found}");
        }
        let found = policies(&load("safe@1"), &load("rfc3986@1"));
        assert!(
            found.contains("- base = \"safe@1\"\n+ name = \"rfc3986\"\n+ base = \"rfc3986@1\"\n"),
            "{found}"
        );
        assert!(policies(&load("safe@1"), &load("safe@1")).contains("equal"));
    }
}
