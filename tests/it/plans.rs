//! Policies at random: bets with their lists, origins, scope, what becomes of a fragment.

use crawl_dedupe::policy::origins::{Authority, Origin, Origins};
use crawl_dedupe::policy::plan::{Base, Bets, Fragment, Names, Plan, Scope};
use crawl_dedupe::policy::{Rule, RuleSet};

use crate::mutations::Random;

const HOSTS: &[&str] = &[
    "example.org",
    "www.example.com",
    "example.com",
    "org",
    "com",
    "shop.example",
    "m.shop.example",
    "a-b.co.uk",
    "127.0.0.1",
    "[::1]",
    "xn--tda.example",
];
const PORTS: &[Option<u16>] = &[None, None, None, Some(80), Some(443), Some(8080)];
const PATHS: &[&str] = &[
    "",
    "",
    "",
    "/a",
    "/articles",
    "/articles/a",
    "/%5B",
    "/[",
    "//",
];
/// Names of parameters that bets on case, letters and `+` write otherwise.
const PARAMETERS: &[&[u8]] = &[
    b"a",
    b"Id",
    b"flag",
    b"page",
    b"s*",
    b"A",
    b"q",
    b"a+b",
    b"a b",
    b"a+*",
    b"%41",
    b"a%",
    "é".as_bytes(),
    "É".as_bytes(),
    "e\u{301}".as_bytes(),
    b"j*",
    b"e*",
    "J\u{30c}*".as_bytes(),
    b"\xE9",
    b"=",
    b"",
];
const FILES: &[&[u8]] = &[
    b"Main.html",
    b"list.php",
    b"index.xml",
    b"007.html",
    b"a b.php",
    b"a+b.html",
    b"home.php.html",
    "é.html".as_bytes(),
    "E\u{301}.php".as_bytes(),
    b".html",
    b"1.2",
];

/// The lists of most tests.
pub(crate) fn plan(base: Base, rules: RuleSet) -> Plan {
    let names = |names: &[&'static str]| Names::new(names.iter().map(|name| name.as_bytes()));
    Plan {
        bets: Bets {
            rules,
            query_drop: names(&["a", "Id", "flag"]),
            query_drop_file: names(&["page", "s*"]),
            index_files: names(&["Main.html", "list.php", "index.xml"]),
        },
        ..Plan::new(base)
    }
}

/// None, one, two or all bets but a few; never both of two that exclude each other.
fn rules(random: &mut Random) -> RuleSet {
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    let rules = match random.below(4) {
        0 => RuleSet::of(&[random.pick(&bets)]),
        1 | 2 => RuleSet::of(&[random.pick(&bets), random.pick(&bets)]),
        _ => RuleSet(RuleSet::bets().0 & (random.next() | random.next())),
    };
    allowed(rules)
}

/// `rules` without one of two that exclude each other.
pub(crate) fn allowed(mut rules: RuleSet) -> RuleSet {
    if rules.contains(Rule::TrailingSlashDrop) {
        rules.remove(Rule::TrailingSlashAdd);
    }
    rules
}

/// Any policy: half of them have no more than bets.
pub(crate) fn any(random: &mut Random) -> Plan {
    let base = random.pick(&[Base::Browser, Base::Grammar]);
    let mut any = plan(base, rules(random));
    if random.below(4) == 0 {
        any.fragment = Fragment::KeepRoutes;
    }
    if random.below(2) == 0 {
        any.bets = with_lists(any.bets.rules, random);
    }
    if random.below(3) == 0 {
        let list = (0..=random.below(4)).map(|_| origin(&any.bets, random));
        any.origins = Origins::new(list.collect());
    }
    if random.below(4) == 0 {
        any.scope = Some(scope(random));
    }
    any
}

fn with_lists(rules: RuleSet, random: &mut Random) -> Bets {
    let mut names = |from: &[&'static [u8]]| {
        let names: Vec<&[u8]> = (0..random.below(4)).map(|_| random.pick(from)).collect();
        Names::new(names)
    };
    Bets {
        rules,
        query_drop: names(PARAMETERS),
        query_drop_file: names(PARAMETERS),
        index_files: names(FILES),
    }
}

/// An entry with bets of its own, or those of the policy and another, or less one.
fn origin(policy: &Bets, random: &mut Random) -> Origin {
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    let mut own = policy.clone();
    let rule = random.pick(&bets);
    match random.below(4) {
        0 => own = with_lists(rules(random), random),
        1 => own.rules.remove(rule),
        _ => own.rules.insert(rule),
    }
    own.rules = allowed(own.rules);
    Origin {
        authority: authority(random),
        path: random.pick(PATHS).as_bytes().to_vec(),
        bets: own,
    }
}

fn authority(random: &mut Random) -> Authority {
    Authority {
        host: random.pick(HOSTS).as_bytes().to_vec(),
        port: random.pick(PORTS),
    }
}

fn scope(random: &mut Random) -> Scope {
    let schemes: &[&[u8]] = &[b"http", b"https", b"ftp"];
    Scope {
        hosts: (0..random.below(3)).map(|_| authority(random)).collect(),
        schemes: (0..random.below(3))
            .map(|_| random.pick(schemes).to_vec())
            .collect(),
    }
}

/// Every bet that runs somewhere.
pub(crate) fn all_rules(plan: &Plan) -> RuleSet {
    plan.origins
        .iter()
        .fold(plan.bets.rules, |all, origin| all.union(origin.bets.rules))
}

/// `plan` with other rules for each set of bets, the policy's and those of origins.
pub(crate) fn with_rules(plan: &Plan, change: impl Fn(RuleSet) -> RuleSet) -> Plan {
    let mut plan = plan.clone();
    plan.bets.rules = change(plan.bets.rules);
    for bets in plan.origins.bets_mut() {
        bets.rules = change(bets.rules);
    }
    plan
}
