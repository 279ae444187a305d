//! P(a) = P(b) implies σ(a) = σ(b), for every bet, pairs of bets, all at once, and every parity policy: on URLs and
//! what becomes of them by what some rule undoes, mutated at random.
//!
//! `DEDUPE_MUTATIONS=10000000 cargo test --release --test it skeletons::` runs as many pairs.

use crawl_dedupe::policy::plan::{Base, Bets, Names, Parity, Plan};
use crawl_dedupe::policy::{Rule, RuleSet};
use crawl_dedupe::uri::{Kind, Normalizer, Skeletons};

use crate::mutations::{Random, generated, mutate, n_mutations, seeded};

const INDEX_FILES: [&str; 4] = ["Main.html", "list.php", "index.xml", "a;b.c"];
const PARITIES: [Parity; 3] = [Parity::Surt, Parity::W3lib, Parity::UrlcanonSemantic];

/// A policy under test, and the base that it stands on.
struct Policy {
    base: Plan,
    plan: Plan,
}

impl Policy {
    fn of(base: Base, rules: RuleSet) -> Self {
        let names = |names: &[&str]| Names::new(names.iter().map(|name| name.as_bytes()));
        let bets = Bets {
            rules,
            query_drop: names(&["a", "id"]),
            query_drop_file: names(&["page", "s*"]),
            index_files: names(&INDEX_FILES),
        };
        Self {
            base: Plan::new(base),
            plan: Plan {
                bets,
                ..Plan::new(base)
            },
        }
    }

    fn random(random: &mut Random) -> Self {
        let bets: Vec<Rule> = RuleSet::bets().iter().collect();
        let base = random.pick(&[Base::Browser, Base::Browser, Base::Browser, Base::Grammar]);
        let mut rules = match random.below(6) {
            0 => RuleSet::of(&[random.pick(&bets)]),
            1 | 2 => RuleSet::of(&[random.pick(&bets), random.pick(&bets)]),
            3 => RuleSet::bets(),
            4 => RuleSet(RuleSet::bets().0 & random.next()),
            _ => {
                return Self {
                    base: Plan::new(Base::Browser),
                    plan: Plan::new(Base::Parity(random.pick(&PARITIES))),
                };
            }
        };
        if rules.contains(Rule::TrailingSlashDrop) {
            let slash = random.pick(&[Rule::TrailingSlashDrop, Rule::TrailingSlashAdd]);
            rules.remove(slash);
        }
        Self::of(base, rules)
    }

    fn name(&self) -> String {
        let rules: Vec<&str> = self.plan.bets.rules.iter().map(Rule::name).collect();
        format!("{:?} {}", self.plan.base, rules.join(","))
    }
}

/// A URL, as the policy and its skeleton see it.
struct Seen {
    key: Vec<u8>,
    skeleton: u64,
}

struct Eye {
    normalizer: Normalizer,
    skeletons: Skeletons,
}

impl Eye {
    fn new() -> Self {
        Self {
            normalizer: Normalizer::default(),
            skeletons: Skeletons::new(INDEX_FILES.map(str::as_bytes)),
        }
    }

    /// `None` for what is no http URL or has no skeleton.
    fn see(&mut self, policy: &Policy, raw: &[u8]) -> Option<Seen> {
        let base = self.normalizer.normalize(&policy.base, raw);
        if base.kind != Kind::Http {
            return None;
        }
        let form = base.text.to_vec();
        let skeleton = self.skeletons.hash(raw, &form)?;
        let read = match policy.plan.base {
            Base::Parity(_) => raw,
            _ => &form,
        };
        let key = self.normalizer.normalize(&policy.plan, read).text.to_vec();
        Some(Seen { key, skeleton })
    }
}

/// Other texts of the same URL to some rule.
const TWISTS: usize = 24;

fn twist(url: &str, random: &mut Random) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let of = |authority: &str, path: &str, query: &str| {
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{scheme}://{authority}/{path}{mark}{query}")
    };
    let joined = |path: &str| of(authority, path, query);
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    let at = |insert: &str, random: &mut Random| {
        let at = slashes.get(random.below(slashes.len() + 1)).copied();
        let at = at.unwrap_or(path.len());
        joined(&format!("{}{insert}{}", &path[..at], &path[at..]))
    };
    match random.below(TWISTS) {
        0 => of(&format!("www.{authority}"), path, query),
        1 => of(&format!("www12.{authority}"), path, query),
        2 => of(&format!("m.{authority}"), path, query),
        3 => of(&format!("{authority}."), path, query),
        4 => of(&format!("user@{authority}"), path, query),
        5 => joined(&format!("{path}/")),
        6 => joined(&format!("{path}/index.html")),
        7 => joined(&format!("{path}/Main.html")),
        8 => joined(&format!("{path}.html")),
        9 => joined(&path.to_ascii_uppercase()),
        10 => at("/", random),
        11 => at(";jsessionid=0A", random),
        12 => at("/(S(abc))", random),
        13 => at("/(0123456789abcdef01234567)", random),
        14 => joined(&path.replacen("/7", "/007", 1)),
        15 => joined(&path.replacen('/', "%2F", 1)),
        16 => joined(&path.replacen('%', "%25", 1)),
        17 => joined(&path.replacen("%C3%A9", "e%CC%81", 1)),
        18 => joined(&path.replacen('/', "/./", 1)),
        19 => at("/x/..", random),
        20 => of(authority, path, &format!("{query}&a=1")),
        21 => of(authority, path, ""),
        22 => escaped(url, random),
        _ => url.replacen("http:", "https:", 1),
    }
}

/// One character as its escape.
fn escaped(url: &str, random: &mut Random) -> String {
    let at = random.below(url.len());
    let Some(letter) = url.get(at..=at).filter(|_| at > 10) else {
        return url.to_owned();
    };
    let escape = format!("%{:02X}", letter.as_bytes()[0]);
    format!("{}{escape}{}", &url[..at], &url[at + 1..])
}

fn pair(random: &mut Random) -> (String, String) {
    let mut url = generated(random);
    if random.below(2) == 0 {
        url = mutate(&url, random);
    }
    let mut other = url.clone();
    for _ in 0..=random.below(3) {
        other = twist(&other, random);
    }
    if random.below(8) == 0 {
        other = mutate(&other, random);
    }
    if random.below(4) == 0 {
        url = twist(&url, random);
    }
    (url, other)
}

#[test]
fn what_a_policy_merges_has_one_skeleton() {
    let mut random = seeded(7);
    let mut eye = Eye::new();
    let (mut n_merged, mut n_without) = (0_u64, 0_u64);
    let n_pairs = n_mutations();
    for _ in 0..n_pairs {
        let (a, b) = pair(&mut random);
        let policy = Policy::random(&mut random);
        let seen = [&a, &b].map(|url| eye.see(&policy, url.as_bytes()));
        let [Some(of_a), Some(of_b)] = seen else {
            n_without += 1;
            continue;
        };
        if of_a.key == of_b.key {
            n_merged += u64::from(a != b);
            assert_eq!(
                of_a.skeleton,
                of_b.skeleton,
                "{}\n{a:?}\n{b:?}\n{}",
                policy.name(),
                of_a.key.escape_ascii()
            );
        }
        if matches!(policy.plan.base, Base::Parity(_)) {
            continue;
        }
        // The text of a bet is a URL again, in the class of what it was made from.
        if let Some(of_key) = eye.see(&policy, &of_a.key) {
            assert_eq!(of_a.skeleton, of_key.skeleton, "{}\n{a:?}", policy.name());
        }
    }
    let n_pairs = u64::try_from(n_pairs).expect("a count");
    assert!(n_merged * 8 > n_pairs, "{n_merged} of {n_pairs} merged");
    assert!(n_without * 2 < n_pairs, "{n_without} of {n_pairs} without");
}
