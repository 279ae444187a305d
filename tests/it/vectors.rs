//! Vectors of others: `safe@1` agrees with each, or it stands with its reason in `vectors.tsv`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crawl_dedupe::key::{Keyer, Kind};
use crawl_dedupe::policy::Policy;
use crawl_dedupe::uri;
use serde_json::Value;

use crate::oracle::{Verdict, standards, without_userinfo};
use crate::shared;

/// What a vector says about its input.
#[derive(Clone, Debug)]
enum Expected {
    /// It has the key of this URL.
    SameAs(String),
    /// No browser sends it.
    Failure,
}

#[derive(Clone, Debug)]
struct Vector {
    set: &'static str,
    base: Option<String>,
    input: String,
    expected: Expected,
}

impl Vector {
    fn new(set: &'static str, input: impl Into<String>, expected: Option<String>) -> Self {
        Self {
            set,
            base: None,
            input: input.into(),
            expected: expected.map_or(Expected::Failure, Expected::SameAs),
        }
    }

    /// How it is written in the list of exceptions.
    fn name(&self) -> String {
        let base = self
            .base
            .as_ref()
            .map(|base| format!(" on {}", base.escape_default()));
        format!(
            "{}\t{}{}",
            self.set,
            self.input.escape_default(),
            base.unwrap_or_default()
        )
    }

    fn agrees(&self, keyer: &mut Keyer<'_>) -> bool {
        let target = match &self.base {
            Some(base) => uri::resolve(base.as_bytes(), self.input.as_bytes()),
            None => Some(self.input.as_bytes().into()),
        };
        let mut key = |url: &[u8]| {
            let keyed = keyer.key(url);
            (without_userinfo(keyed.text, keyed.kind), keyed.kind)
        };
        match (&self.expected, target) {
            (Expected::Failure, target) => target.is_none_or(|target| key(&target).1 != Kind::Http),
            (Expected::SameAs(_), None) => false,
            (Expected::SameAs(url), Some(target)) => {
                let (text, kind) = key(&target);
                let is_by_standards = match standards(url) {
                    Verdict::Text(normal) => normal.into_bytes() == text,
                    Verdict::Failure | Verdict::NotComparable => true,
                };
                (text, kind) == key(url.as_bytes()) && is_by_standards
            }
        }
    }
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the vectors are readable");
    serde_json::from_str(&with_whole_surrogates(&text)).expect("the vectors are JSON")
}

/// Half a surrogate pair is U+FFFD, as it is when a browser is given such a string.
fn with_whole_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let len = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push('\u{FFFD}');
                at += 6;
                continue;
            }
            _ => text[at..].chars().next().map_or(1, char::len_utf8),
        };
        whole.push_str(&text[at..at + len]);
        at += len;
    }
    whole
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn is_http(url: &str) -> bool {
    url.starts_with("http:") || url.starts_with("https:")
}

fn whatwg(dir: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for file in [
        "wpt/urltestdata.json",
        "wpt/ada_extra_urltestdata.json",
        "wpt/ada_long_urltestdata.json",
    ] {
        for case in json(&dir.join(file)).as_array().into_iter().flatten() {
            let Some(input) = text(&case["input"]) else {
                continue;
            };
            let base = text(&case["base"]).filter(|base| base != "about:blank");
            let href = text(&case["href"]);
            let is_ours = match &href {
                Some(href) => is_http(href),
                None => is_http(base.as_ref().unwrap_or(&input)),
            };
            if is_ours {
                vectors.push(Vector {
                    base,
                    ..Vector::new("wpt", input, href)
                });
            }
        }
    }
    vectors
}

fn hosts(dir: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for (set, file) in [
        ("toascii", "wpt/toascii.json"),
        ("idna", "wpt/IdnaTestV2.json"),
    ] {
        for case in json(&dir.join(file)).as_array().into_iter().flatten() {
            let Some(input) = text(&case["input"]) else {
                continue;
            };
            let output = text(&case["output"]).map(|host| format!("http://{host}/x"));
            vectors.push(Vector::new(set, format!("http://{input}/x"), output));
        }
    }
    for (host, output) in json(&dir.join("urlcanon/funky_ipv4.json"))
        .as_object()
        .into_iter()
        .flatten()
    {
        // Without an output it is no address, and so a name.
        let output = text(output).unwrap_or_else(|| host.clone());
        vectors.push(Vector::new(
            "urlcanon-ipv4",
            format!("http://{host}/"),
            Some(format!("http://{output}/")),
        ));
    }
    vectors
}

fn paths_and_queries(dir: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for case in json(&dir.join("wpt/percent-encoding.json"))
        .as_array()
        .into_iter()
        .flatten()
    {
        let (Some(input), Some(output)) = (text(&case["input"]), text(&case["output"]["utf-8"]))
        else {
            continue;
        };
        vectors.push(Vector::new(
            "percent",
            format!("http://h/?{input}"),
            Some(format!("http://h/?{output}")),
        ));
    }
    let dots = json(&dir.join("urlcanon/path_dots.json"));
    for (path, output) in dots["special"].as_object().into_iter().flatten() {
        let output = text(output).map(|path| format!("http://h{path}"));
        vectors.push(Vector::new(
            "urlcanon-dots",
            format!("http://h{path}"),
            output,
        ));
    }
    vectors
}

fn whole_urls(dir: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for (set, file) in [
        ("urlcanon-whatwg", "urlcanon/supplemental_whatwg.json"),
        ("urlcanon-precise", "urlcanon/semantic_precise.json"),
    ] {
        for (input, output) in json(&dir.join(file)).as_object().into_iter().flatten() {
            if is_http(input.trim()) {
                vectors.push(Vector::new(set, input, text(output)));
            }
        }
    }
    let csv = fs::read_to_string(dir.join("crawler-commons/weirdToNormalizedUrls.csv"))
        .expect("it is readable");
    for line in csv.lines().filter(|line| is_http(line)) {
        let Some((input, output)) = line.split_once(", ") else {
            continue;
        };
        vectors.push(Vector::new(
            "crawler-commons",
            input,
            Some(output.to_owned()),
        ));
    }
    vectors
}

/// What all of them are about, without the expectations; none where they are not at hand.
pub(crate) fn inputs() -> Vec<String> {
    let Some(shared) = shared::dir() else {
        return Vec::new();
    };
    let dir = shared.join("data/url-vectors");
    let vectors = [
        whatwg(&dir),
        hosts(&dir),
        paths_and_queries(&dir),
        whole_urls(&dir),
    ];
    vectors.concat().into_iter().map(|it| it.input).collect()
}

fn references(dir: &Path) -> Vec<Vector> {
    let csv = fs::read_to_string(dir.join("rfc3986-5.4.csv")).expect("it is readable");
    let vector = |line: &str| {
        let columns: Vec<&str> = line.split(',').collect();
        let [base, input, target, _section] = columns[..] else {
            panic!("a line has four columns: {line}");
        };
        Vector {
            base: Some(base.to_owned()),
            ..Vector::new("rfc3986-5.4", input, Some(target.to_owned()))
        }
    };
    csv.lines().skip(1).map(vector).collect()
}

#[test]
fn vectors_agree_or_are_explained() {
    let Some(shared) = shared::dir() else { return };
    let dir = shared.join("data/url-vectors");
    let vectors = [
        whatwg(&dir),
        hosts(&dir),
        paths_and_queries(&dir),
        whole_urls(&dir),
        references(&dir),
    ]
    .concat();
    assert!(vectors.len() > 3_500, "only {} vectors", vectors.len());
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let differing: BTreeSet<String> = vectors
        .iter()
        .filter(|vector| !vector.agrees(&mut keyer))
        .map(Vector::name)
        .collect();
    let list = fs::read_to_string("tests/it/vectors.tsv").expect("the list of exceptions is there");
    let explained: BTreeSet<String> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            line.rsplit_once('\t')
                .expect("a reason stands behind the vector")
                .0
                .to_owned()
        })
        .collect();
    let new: Vec<_> = differing.difference(&explained).cloned().collect();
    let gone: Vec<_> = explained.difference(&differing).cloned().collect();
    assert!(
        new.is_empty(),
        "{} not explained:\n{}",
        new.len(),
        new.join("\n")
    );
    assert!(gone.is_empty(), "agree by now:\n{}", gone.join("\n"));
}
