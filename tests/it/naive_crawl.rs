//! The brute-force twin of `dedupe evaluate` as a whole: from captures to the cells of its tables, straight from the
//! definitions and by looking at every pair.

use std::collections::{BTreeMap, BTreeSet};

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::evaluate::{Content, Lanes, Sighting, Url};
use crawl_dedupe::group::Thresholds;
use crawl_dedupe::key::Keyer;
use crawl_dedupe::policy::{Policy, RuleSet};
use statrs::distribution::{Binomial, DiscreteCDF};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::crawls::{date_text, digest_text, locator_text, text_of};
use crate::evaluate_naive::{Archive, Naive, Row, Rule};
use crate::given::Given;
use crate::naive_ends::{Naive as Ends, NaiveEnd};
use crate::questions::{Asked, Asking, Keys};

/// What is set by flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) within: i64,
    pub(crate) boilerplate: u64,
    pub(crate) precision_min: f64,
}

/// A capture that counts.
#[derive(Clone, Debug)]
struct Usable {
    capture: usize,
    /// Of a redirect: the capture at its end.
    end: Option<usize>,
    /// The name of the digest that counts.
    content: Option<String>,
}

/// The crawl as `evaluate` must see it.
pub(crate) struct Twin<'a> {
    given: &'a [Given],
    asking: &'a Asking,
    limits: Limits,
    /// V by core form, in the order of keepers.
    pub(crate) urls: Vec<String>,
    /// Captures that count, by time.
    usable: Vec<Usable>,
    domains: Vec<String>,
    pub(crate) archive: Archive,
}

impl<'a> Twin<'a> {
    pub(crate) fn of(given: &'a [Given], asking: &'a Asking, limits: Limits) -> Self {
        let thresholds = Thresholds::default();
        let ends = Ends {
            given,
            thresholds: &thresholds,
        };
        let mut usable: Vec<Usable> = (0..given.len())
            .filter_map(|capture| usable(&ends, capture))
            .collect();
        let own: BTreeSet<&str> = usable
            .iter()
            .filter(|one| one.end.is_none())
            .map(|one| given[one.capture].url.as_str())
            .collect();
        usable.retain(|one| {
            one.end
                .is_none_or(|end| own.contains(given[end].url.as_str()))
        });
        let urls = in_keeper_order(&ends, &usable);
        usable.sort_by_key(|one| {
            let date = given[one.capture].date;
            (date.is_none(), date, ends.tie(one.capture))
        });
        let mut seen = BTreeSet::new();
        usable.retain(|one| {
            let capture = &given[one.capture];
            capture.id.is_empty() || seen.insert((&capture.url, &capture.id))
        });
        let mut domains: Vec<String> = urls.iter().map(|url| domain(url)).collect();
        domains.sort_unstable();
        domains.dedup();
        let mut twin = Self {
            given,
            asking,
            limits,
            usable,
            archive: Archive {
                urls: Vec::new(),
                sightings: Vec::new(),
                window: limits.within * 1_000_000,
                boilerplate_max: limits.boilerplate,
                domain_groups: domains
                    .iter()
                    .map(|domain| (xxh3_64(domain.as_bytes()) % 1024) as u16)
                    .collect(),
                rules: Vec::new(),
            },
            urls,
            domains,
        };
        twin.archive.urls = twin.urls.iter().map(|url| twin.url(url)).collect();
        twin.archive.sightings = twin.usable.iter().map(|one| twin.sighting(one)).collect();
        twin.archive.rules = asking
            .rows
            .iter()
            .map(|asked| Rule {
                keys: twin.keys(&asked.keys),
                except: asked.except.as_ref().map(|except| twin.keys(except)),
            })
            .collect();
        twin
    }

    fn url(&self, url: &str) -> Url {
        let host = host(url);
        let hosts: BTreeSet<&str> = self
            .urls
            .iter()
            .map(|url| crate::naive_crawl::host(url))
            .collect();
        let base = self.asking.base.policy();
        let place = |of: usize| u32::try_from(of).expect("few URLs");
        Url {
            key: Keyer::new(&base).key(url.as_bytes()).key,
            domain: place(
                self.domains
                    .iter()
                    .position(|own| *own == domain(url))
                    .expect("all are there"),
            ),
            host: place(
                hosts
                    .iter()
                    .position(|own| *own == host)
                    .expect("all are there"),
            ),
            resource: xxh3_64(unrelated_form(url).as_bytes()),
            skeleton: crawl_dedupe::evaluate::Skeleton::default(),
        }
    }

    fn place(&self, url: &str) -> u32 {
        let place = self.urls.iter().position(|own| own == url);
        u32::try_from(place.expect("it is in V")).expect("few URLs")
    }

    fn sighting(&self, one: &Usable) -> Sighting {
        let capture = &self.given[one.capture];
        Sighting {
            url: self.place(&capture.url),
            instant: capture
                .date
                .map(|(seconds, nanos)| seconds * 1_000_000 + i64::from(nanos / 1000)),
            content: one.content.as_ref().map(|name| self.content(one, name)),
            leads_to: one.end.map(|end| self.place(&self.given[end].url)),
        }
    }

    fn content(&self, one: &Usable, name: &str) -> Content {
        let thresholds = Thresholds::default();
        let ends = Ends {
            given: self.given,
            thresholds: &thresholds,
        };
        let holder = &self.given[ends.content(one.end.unwrap_or(one.capture))];
        let is_read = holder.record_type != RecordType::Revisit && !holder.is_index_line;
        let (payload, decoded) = (1, 2);
        let lanes = match name.strip_prefix("s256:") {
            Some(_) => payload << 2,
            None if ends.facts(one.end.unwrap_or(one.capture)).1 == name => decoded,
            // A body that cannot be decoded is its payload alone.
            None if is_read && !name.starts_with('b') => payload | decoded,
            None => payload,
        };
        Content {
            identity: xxh3_128(name.as_bytes()),
            lanes: Lanes(lanes),
            text: if is_read { text_of(name) } else { 0 },
        }
    }

    /// Keys as numbers: equal where the policy makes two URLs one.
    fn keys(&self, keys: &Keys) -> Vec<u64> {
        let policy = keys.policy();
        let mut numbers: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        (0..self.urls.len())
            .map(|url| {
                let text = self.key_text(&policy, keys, url);
                let next = numbers.len() as u64;
                *numbers.entry(text).or_insert(next)
            })
            .collect()
    }

    fn key_text(&self, policy: &Policy, keys: &Keys, url: usize) -> Vec<u8> {
        let mut keyer = Keyer::new(policy);
        match keys {
            Keys::Parity(_) => {
                let earliest = self.raw_forms(url).next().expect("every URL has a capture");
                keyer.key(earliest.as_bytes()).text.to_vec()
            }
            Keys::Bets(_) => {
                let keyed = keyer.key(self.urls[url].as_bytes());
                // Nothing that is out of scope is joined.
                let apart = if keyed.in_scope {
                    String::new()
                } else {
                    format!("{url} is apart: ")
                };
                [apart.as_bytes(), keyed.text].concat()
            }
        }
    }

    /// Target URIs of a URL's captures, the earliest first.
    fn raw_forms(&self, url: usize) -> impl Iterator<Item = &str> {
        self.usable
            .iter()
            .map(|one| &self.given[one.capture])
            .filter(move |capture| capture.url == self.urls[url])
            .map(|capture| capture.spelled.as_str())
    }

    /// URLs fired, URLs split.
    pub(crate) fn fired(&self, asked: &Asked) -> (u64, u64) {
        let policy = asked.keys.policy();
        let all = 0..self.urls.len();
        match asked.keys {
            Keys::Parity(_) => {
                let n_keys = |url: usize| {
                    self.raw_forms(url)
                        .map(|raw| Keyer::new(&policy).key(raw.as_bytes()).text.to_vec())
                        .collect::<BTreeSet<_>>()
                        .len()
                };
                (
                    all.len() as u64,
                    all.filter(|url| n_keys(*url) > 1).count() as u64,
                )
            }
            Keys::Bets(_) => {
                let is_changed = |url: &usize| {
                    let mut keyer = Keyer::new(&policy);
                    let keyed = keyer.key(self.urls[*url].as_bytes());
                    keyed.in_scope && !keyed.fired.intersection(RuleSet::bets()).is_empty()
                };
                (all.filter(is_changed).count() as u64, 0)
            }
        }
    }

    pub(crate) fn has_redirects(&self) -> bool {
        self.given.iter().any(|one| {
            (300..400).contains(&one.status) && one.status != 304 && !one.redirect_to.is_empty()
        })
    }

    pub(crate) fn has_texts(&self) -> bool {
        self.given
            .iter()
            .any(|one| one.record_type != RecordType::Revisit && !one.is_index_line)
    }

    pub(crate) fn domain_name(&self, domain: u32) -> &str {
        &self.domains[domain as usize]
    }

    /// The rows of `hosts.csv` of one rule.
    pub(crate) fn hosts(&self, naive: &Naive<'_>, asked: &Asked, row: &Row) -> Vec<Vec<String>> {
        let p_values: Vec<f64> = row
            .hosts
            .values()
            .map(|host| tail(host.wrong, host.decidable, 1.0 - self.limits.precision_min))
            .collect();
        row.hosts
            .iter()
            .zip(&p_values)
            .map(|((domain, host), p)| {
                let floor = naive.within.get(domain).filter(|share| share.0 >= 20);
                vec![
                    asked.name.clone(),
                    self.domain_name(*domain).to_owned(),
                    host.merged.to_string(),
                    host.right.to_string(),
                    host.wrong.to_string(),
                    (host.merged - host.right - host.wrong).to_string(),
                    floor.map_or(String::new(), |share| {
                        format!("{:.4}", share.1 as f64 / share.0 as f64)
                    }),
                    is_discovery(*p, &p_values).to_string(),
                ]
            })
            .collect()
    }

    /// The rows of `wrong.csv` of one rule, in order.
    pub(crate) fn wrong(&self, naive: &Naive<'_>, asked: &Asked, row: &Row) -> Vec<Vec<String>> {
        let policy = asked.keys.policy();
        let mut rows: Vec<_> = row
            .wrong_merges
            .iter()
            .map(|(url, keeper)| {
                let (url, keeper) = (*url as usize, *keeper as usize);
                let key_text = self.key_text(&policy, &asked.keys, url);
                let key = crawl_dedupe::key::ComparisonKey::of(&key_text);
                let (rules, ways) = self.reasons(asked, url, keeper);
                let shortest = ways.first().cloned().unwrap_or_default();
                let shown = naive
                    .shown(url, keeper)
                    .expect("a wrong pair has runs that meet");
                let [a, b] = [shown.0, shown.1].map(|sighting| &self.usable[sighting]);
                let [of_a, of_b] = [a, b].map(|one| &self.given[one.capture]);
                let near = if self.has_texts() {
                    naive.is_near(url, keeper).to_string()
                } else {
                    String::new()
                };
                let cells = vec![
                    asked.name.clone(),
                    rules.join(";"),
                    shortest.join(";"),
                    hidden(&self.urls[url]),
                    hidden(&self.urls[keeper]),
                    hidden(&String::from_utf8(key_text).expect("test keys are ASCII")),
                    self.digest(a),
                    self.digest(b),
                    date_text(of_a.date),
                    date_text(of_b.date),
                    locator_text(of_a),
                    locator_text(of_b),
                    naive.are_stable(url, keeper).to_string(),
                    near,
                ];
                (key, self.urls[url].clone(), cells)
            })
            .collect();
        rows.sort();
        rows.into_iter().map(|(_, _, cells)| cells).collect()
    }

    /// The digest that is shown: of the capture at the end, decoded where its own body was.
    fn digest(&self, one: &Usable) -> String {
        let thresholds = Thresholds::default();
        let ends = Ends {
            given: self.given,
            thresholds: &thresholds,
        };
        let holder = &self.given[ends.content(one.end.unwrap_or(one.capture))];
        let name = if holder.decoded.is_empty() {
            &holder.payload
        } else {
            &holder.decoded
        };
        digest_text(name)
    }

    /// The bets that fire on either URL, and the smallest sets of them that make the two one.
    pub(crate) fn reasons(
        &self,
        asked: &Asked,
        a: usize,
        b: usize,
    ) -> (Vec<&'static str>, Vec<Vec<&'static str>>) {
        let Keys::Bets(spec) = &asked.keys else {
            return (Vec::new(), Vec::new());
        };
        let policy = spec.policy();
        let mut keyer = Keyer::new(&policy);
        let mut fires = |url: usize| keyer.key(self.urls[url].as_bytes()).fired;
        let fired = fires(a).union(fires(b));
        let fired: Vec<&str> = spec
            .all_bets()
            .into_iter()
            .filter(|bet| fired.iter().any(|rule| rule.name() == *bet))
            .collect();
        let makes = |bets: &[&'static str]| {
            let policy = spec.with_only(bets).policy();
            let mut keyer = Keyer::new(&policy);
            let one = keyer.key(self.urls[a].as_bytes()).text.to_vec();
            one == keyer.key(self.urls[b].as_bytes()).text
        };
        let singles: Vec<Vec<&str>> = fired
            .iter()
            .map(|bet| vec![*bet])
            .filter(|bets| makes(bets))
            .collect();
        let mut pairs = Vec::new();
        for (index, one) in fired.iter().enumerate() {
            pairs.extend(
                fired[index + 1..]
                    .iter()
                    .map(|other| vec![*one, *other])
                    .filter(|bets| makes(bets)),
            );
        }
        let ways = match (singles.is_empty(), pairs.is_empty()) {
            (false, _) => singles,
            (true, false) => pairs,
            (true, true) => vec![fired.clone()],
        };
        (fired, ways)
    }

    /// By set of rules: merges that need all of it, merges that either of two makes.
    pub(crate) fn interactions(&self) -> BTreeMap<Vec<&'static str>, (u64, u64)> {
        let mut found: BTreeMap<Vec<&'static str>, (u64, u64)> = BTreeMap::new();
        let Some(row) = self.asking.policy_row else {
            return found;
        };
        let asked = &self.asking.rows[row];
        if !matches!(&asked.keys, Keys::Bets(spec) if spec.all_bets().len() > 1) {
            return found;
        }
        let keys = &self.archive.rules[row].keys;
        for url in 0..keys.len() {
            let keeper = keys
                .iter()
                .position(|key| *key == keys[url])
                .expect("its own is there");
            if keeper == url {
                continue;
            }
            let (_, ways) = self.reasons(asked, url, keeper);
            if ways[0].len() > 1 {
                for way in ways {
                    found.entry(way).or_default().0 += 1;
                }
                continue;
            }
            for (index, one) in ways.iter().enumerate() {
                for other in &ways[index + 1..] {
                    found.entry([&one[..], other].concat()).or_default().1 += 1;
                }
            }
        }
        found
    }
}

/// Whether a capture counts, and with what.
fn usable(ends: &Ends<'_>, me: usize) -> Option<Usable> {
    let own = &ends.given[me];
    if own.method != "GET" || !own.url.starts_with("http") {
        return None;
    }
    let content = |capture: usize| {
        let (payload, decoded, _, is_usable) = ends.facts(capture);
        let status = ends.status(capture);
        let is_page = status == 0 || (200..300).contains(&status) && status != 206;
        let name = if decoded.is_empty() { payload } else { decoded };
        (is_page && is_usable).then_some(name)
    };
    let page = ends.page(me);
    if page == me {
        return content(me).map(|name| Usable {
            capture: me,
            end: None,
            content: Some(name),
        });
    }
    let (_, end, conflicts, is_temporary) = ends.outcome(me);
    let is_complete = matches!(end, NaiveEnd::Capture(_)) && conflicts.is_empty() && !is_temporary;
    is_complete.then(|| Usable {
        capture: me,
        end: Some(page),
        content: content(page),
    })
}

/// Core forms, by their best capture.
fn in_keeper_order(ends: &Ends<'_>, usable: &[Usable]) -> Vec<String> {
    let mut captures: Vec<&Usable> = usable.iter().collect();
    captures.sort_by_key(|one| {
        let capture = &ends.given[one.capture];
        (
            one.end.is_some(),
            capture.record_type == RecordType::Revisit,
            match capture.digest_status {
                DigestStatus::Ok | DigestStatus::OkOverRawBody => 0,
                DigestStatus::Mismatch => 2,
                _ => 1,
            },
            capture.completeness != Completeness::Complete,
            capture.date.is_none(),
            capture.date,
            ends.tie(one.capture),
        )
    });
    let mut urls: Vec<String> = Vec::new();
    for one in captures {
        let url = &ends.given[one.capture].url;
        if !urls.contains(url) {
            urls.push(url.clone());
        }
    }
    urls
}

fn host(url: &str) -> &str {
    let rest = url.split_once("//").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or("");
    authority.rsplit('@').next().unwrap_or("")
}

/// All test hosts have a suffix of one label, and perhaps a dot behind it.
fn domain(url: &str) -> String {
    let host = host(url);
    if host.starts_with("10.") {
        return host.to_owned();
    }
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let end = if host.ends_with('.') { "." } else { "" };
    labels[labels.len() - 2..].join(".") + end
}

/// Path and query without tracking and session parameters.
fn unrelated_form(url: &str) -> String {
    let after_host = url
        .split_once("//")
        .map(|(_, rest)| rest)
        .and_then(|rest| rest.find('/').map(|at| &rest[at..]))
        .unwrap_or("");
    let (path, query) = after_host.split_once('?').unwrap_or((after_host, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|param| !param.starts_with("utm_") && !param.starts_with("PHPSESSID="))
        .collect();
    let mark = if after_host.contains('?') && !kept.is_empty() {
        "?"
    } else {
        ""
    };
    format!("{path}{mark}{}", kept.join("&"))
}

fn hidden(url: &str) -> String {
    url.replace("reader:secret@", "***@")
}

/// P(X >= wrong) of a binomial X.
fn tail(wrong: u64, decidable: u64, p: f64) -> f64 {
    if wrong == 0 {
        return 1.0;
    }
    let x = Binomial::new(p, decidable).expect("a share");
    1.0 - x.cdf(wrong - 1)
}

/// Benjamini and Hochberg at 5 %.
fn is_discovery(p: f64, all: &[f64]) -> bool {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    (1..=sorted.len())
        .filter(|rank| sorted[rank - 1] <= 0.05 * *rank as f64 / sorted.len() as f64)
        .any(|rank| p <= sorted[rank - 1])
}
