//! `dedupe evaluate` held against archives whose truth is known, since their pairs were planted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crawl_dedupe::key::Keyer;
use crawl_dedupe::policy::plan::{Base, Plan};
use crawl_dedupe::policy::{Policy, Rule, RuleSet};

use crate::generated::cells;
use crate::generated::generate::plant::Fetches;
use crate::generated::generate::{Format, Options, Storage};
use crate::generated::{make, options, plant};

const RULES: [&str; 11] = [
    "scheme=merge",
    "www=www",
    "www=mobile",
    "index-file=default",
    "trailing-slash=drop",
    "path-case=lower",
    "leading-zeros=drop",
    "query-drop-list=tracking",
    "query-session=drop",
    "query-order=sort-full",
    "query-all=drop",
];

type Cells = BTreeMap<String, String>;

#[test]
fn each_planted_pair_has_its_verdict_and_the_loss_is_the_true_one() {
    for seed in 1..3 {
        let everything = Options {
            boilerplate: Some(60),
            unstable: 8,
            plants: RULES
                .into_iter()
                .map(|rule| plant(rule, 6 + seed, 4, 4))
                .collect(),
            fetches: if seed == 2 {
                Fetches::Twice
            } else {
                Fetches::Once
            },
            ..options(seed, 600)
        };
        check(&everything);
        check(&Options {
            format: Format::Cdxj,
            storage: Storage::Plain,
            ..everything
        });
    }
}

fn check(options: &Options) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let made = make(options);
    std::fs::write(folder.path().join("made"), made.archive).expect("the folder is writable");
    let truth = Truth::of(&String::from_utf8(made.truth).expect("URLs are ASCII"));
    let near = Found::of(folder.path(), "30d");
    let far = Found::of(folder.path(), "400d");
    for rule in RULES {
        for (domain, (fate, urls)) in truth.pairs(rule) {
            let what = format!("seed {}, {rule}, {domain}: {fate}", options.seed);
            let of = |found: &Found| found.verdict(rule, &domain, &urls);
            let (expected, expected_far) = match fate.as_str() {
                "right" => ("right", "right"),
                "wrong" => ("wrong", "wrong"),
                // Nothing is known of so long a time; in a longer window it is.
                "far" => ("unverifiable", "wrong"),
                // A page that differs from itself says nothing.
                _ => ("unverifiable", "unverifiable"),
            };
            assert_eq!(of(&near), expected, "{what}");
            assert_eq!(of(&far), expected_far, "{what}, 400d");
        }
        truth.check_loss(rule, &near.rules[rule]);
    }
}

/// What one run wrote.
struct Found {
    rules: BTreeMap<String, Cells>,
    hosts: BTreeMap<(String, String), Cells>,
    wrong: BTreeSet<(String, BTreeSet<String>)>,
}

impl Found {
    fn of(folder: &Path, within: &str) -> Self {
        let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args(["evaluate", "--in", "made", "--within", within, "-q"])
            .args(["--rules", &RULES.join(",")])
            .args(["--report", "r.csv", "--pairs", "w.csv", "--hosts", "h.csv"])
            .current_dir(folder)
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{}", output.stderr.escape_ascii());
        let table =
            |name: &str| rows(&std::fs::read_to_string(folder.join(name)).expect("it was written"));
        let named = |row: &Cells, column: &str| row[column].clone();
        Self {
            rules: table("r.csv")
                .into_iter()
                .map(|row| (named(&row, "rule"), row))
                .collect(),
            hosts: table("h.csv")
                .into_iter()
                .map(|row| ((named(&row, "rule"), named(&row, "domain")), row))
                .collect(),
            wrong: table("w.csv")
                .into_iter()
                .map(|row| {
                    let urls = ["url_a", "url_b"].map(|column| named(&row, column));
                    (named(&row, "rule"), urls.into())
                })
                .collect(),
        }
    }

    /// Of the one pair of a domain: as the counts have it, and as the listed pairs do.
    fn verdict(&self, rule: &str, domain: &str, urls: &BTreeSet<String>) -> &'static str {
        let host = &self.hosts[&(rule.to_owned(), domain.to_owned())];
        assert_eq!(host["urls_merged"], "1", "{host:?}");
        let verdicts = ["right", "wrong", "unverifiable"];
        let verdict = verdicts
            .into_iter()
            .find(|name| host[&format!("urls_{name}")] == "1");
        let is_listed = self.wrong.contains(&(rule.to_owned(), urls.clone()));
        assert_eq!(is_listed, verdict == Some("wrong"), "{host:?}");
        verdict.expect("a merge has a verdict")
    }
}

fn rows(csv: &str) -> Vec<Cells> {
    let mut lines = csv.lines().map(cells);
    let columns = lines.next().expect("a header");
    lines
        .map(|line| columns.iter().cloned().zip(line).collect())
        .collect()
}

/// What the generator says of its captures.
struct Truth {
    rows: Vec<Cells>,
}

/// A URL class with its pages and when each was seen.
#[derive(Debug, Default)]
struct Class {
    url: String,
    /// The order of keepers: redirects last, revisits before them, then by time.
    merit: Option<(bool, bool, String, String)>,
    pages: BTreeMap<String, (String, String)>,
}

impl Truth {
    fn of(csv: &str) -> Self {
        Self { rows: rows(csv) }
    }

    /// Fates and URLs of the pairs of a rule, by domain.
    fn pairs(&self, rule: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
        let mut pairs: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
        for row in &self.rows {
            let Some(fate) = row["planted"].strip_suffix(&format!(":{rule}")) else {
                continue;
            };
            let host = row["url"].split('/').nth(2).expect("an http URL");
            let labels: Vec<&str> = host.split('.').collect();
            let pair = pairs
                .entry(labels[labels.len() - 2..].join("."))
                .or_default();
            fate.clone_into(&mut pair.0);
            pair.1.insert(row["url"].clone());
        }
        assert!(pairs.len() > 10, "{rule} was planted");
        pairs
    }

    /// URL classes with a page.
    fn classes(&self) -> Vec<Class> {
        let mut classes: BTreeMap<&str, Class> = BTreeMap::new();
        for row in &self.rows {
            let is_page = !row["page"].is_empty() && row["url"].starts_with("http");
            if !is_page || row["planted"] == "posted:post" {
                continue;
            }
            let class = classes.entry(&row["url_class"]).or_default();
            let is_redirect = row["planted"] == "moved" && row["role"] == "alias";
            let merit = (
                is_redirect,
                row["record_type"] == "revisit",
                row["timestamp"].clone(),
                row["url"].clone(),
            );
            if class.merit.as_ref().is_none_or(|best| merit < *best) {
                class.url.clone_from(&row["url"]);
                class.merit = Some(merit);
            }
            let time = row["timestamp"].clone();
            let run = class
                .pages
                .entry(row["page"].clone())
                .or_insert((time.clone(), time.clone()));
            run.0 = time.clone().min(run.0.clone());
            run.1 = time.max(run.1.clone());
        }
        classes.into_values().collect()
    }

    /// The pages that nothing shows any more if only the first URL of each class is kept.
    fn check_loss(&self, rule: &str, found: &Cells) {
        let classes = self.classes();
        let mut plan = Plan::new(Base::Browser);
        plan.bets.rules = RuleSet::of(&[Rule::parse(rule).expect("a bet")]);
        let policy = Policy::of("test", "1", plan);
        let mut keyer = Keyer::new(&policy);
        let mut keepers: BTreeMap<Vec<u8>, &Class> = BTreeMap::new();
        for class in &classes {
            let key = keyer.key(class.url.as_bytes()).text.to_vec();
            let keeper = keepers.entry(key).or_insert(class);
            if class.merit < keeper.merit {
                *keeper = class;
            }
        }
        let pages = |classes: &mut dyn Iterator<Item = &Class>| -> BTreeSet<String> {
            classes
                .flat_map(|class| class.pages.keys().cloned())
                .collect()
        };
        let contents = pages(&mut classes.iter().filter(|class| !class.is_unstable()));
        let all = pages(&mut classes.iter());
        let kept = pages(&mut keepers.values().copied());
        let lost = contents.difference(&kept).count();
        assert!(lost > 0, "{rule} loses nothing");
        let cell = |column: &str| -> f64 { found[column].parse().expect("a number") };
        assert_eq!(found["contents"], contents.len().to_string(), "{rule}");
        let n_unstable = all.len() - contents.len();
        assert_eq!(found["contents_unstable"], n_unstable.to_string(), "{rule}");
        assert_eq!(found["page_loss_first"], lost.to_string(), "{rule}");
        for (low, high) in [
            ("page_loss_first_ci_low", "page_loss_first_ci_high"),
            ("page_loss_best", "page_loss_worst"),
        ] {
            let truth = lost as f64;
            assert!(
                cell(low) <= truth && truth <= cell(high),
                "{rule}: {found:?}"
            );
        }
    }
}

impl Class {
    /// Two pages of it were seen within a month.
    fn is_unstable(&self) -> bool {
        const MONTH: i64 = 30 * 24 * 3_600;
        let runs: Vec<[i64; 2]> = self
            .pages
            .values()
            .map(|run| [&run.0, &run.1].map(|date| seconds(date)))
            .collect();
        runs.iter().enumerate().any(|(index, run)| {
            runs[..index]
                .iter()
                .any(|other| run[0].max(other[0]) - run[1].min(other[1]) <= MONTH)
        })
    }
}

fn seconds(date: &str) -> i64 {
    let date = crawl_dedupe::capture::Timestamp::parse_w3cdtf(date.as_bytes());
    date.seconds()
}
