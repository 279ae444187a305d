//! The laws of every policy over the safe core, on vectors, on URLs of our own, mutated, and on
//! random bytes; the policies are random too.
//!
//! `DEDUPE_MUTATIONS=10000000 cargo test --release --test it laws::` runs as many.

use std::cell::RefCell;
use std::fs;

use crawl_dedupe::policy::origins::{Authority, Origin, Origins};
use crawl_dedupe::policy::plan::{Base, Bets, Plan};
use crawl_dedupe::policy::{Rule, RuleSet};
use crawl_dedupe::uri::{Kind, Normalizer};

use crate::mutations::{Random, generated, mutate, n_mutations, seeded};
use crate::naive::{self, normalize_naive};
use crate::plans::{all_rules, allowed, any, plan, with_rules};
use crate::vectors;

/// Rules that may split what the others have merged, by their nature.
const SPLITTERS: RuleSet = RuleSet::of(&[
    Rule::QueryOrderSortStable,
    Rule::EscapesDecodeSubDelims,
    Rule::EscapesDecodeReserved,
    Rule::EscapesDecodeRepeated,
]);

thread_local! {
    static NORMALIZER: RefCell<Normalizer> = RefCell::default();
}

/// URLs that stand in files: those with a golden key, and the vectors of others where they are.
fn vectors() -> Vec<String> {
    let golden = fs::read_to_string("tests/it/golden/safe-1.keys").expect("the file is there");
    let url = |line: &str| {
        let json = line.splitn(3, ' ').last().expect("three columns");
        serde_json::from_str(json).expect("the URL is a JSON string")
    };
    let mut all: Vec<String> = golden.lines().map(url).collect();
    all.extend(vectors::inputs());
    all
}

/// A URL, or bytes.
fn input(vectors: &[String], random: &mut Random) -> Vec<u8> {
    let bytes = |random: &mut Random| -> Vec<u8> {
        (0..random.below(40))
            .map(|_| random.next().to_le_bytes()[0])
            .collect()
    };
    match random.below(12) {
        0 => bytes(random),
        1 => {
            let start = random.pick(&["http://", "https://example.org/", "http://a/?", "HTTP:"]);
            [start.as_bytes(), &bytes(random)].concat()
        }
        2 => generated(random).into_bytes(),
        3 => vectors[random.below(vectors.len())].clone().into_bytes(),
        4 | 5 => mutate(&vectors[random.below(vectors.len())], random).into_bytes(),
        _ => {
            let seed = generated(random);
            mutate(&seed, random).into_bytes()
        }
    }
}

fn normalize(plan: &Plan, input: &[u8]) -> Vec<u8> {
    NORMALIZER.with_borrow_mut(|it| it.normalize(plan, input).text.to_vec())
}

fn show(plan: &Plan) -> String {
    let names = |bets: &Bets| {
        let lists = [&bets.query_drop, &bets.query_drop_file, &bets.index_files];
        let lists = lists.map(|it| {
            it.iter()
                .collect::<Vec<_>>()
                .join(&b',')
                .escape_ascii()
                .to_string()
        });
        format!("{} ({})", bets.rules, lists.join(" | "))
    };
    let mut text = format!("{:?} {:?} {}", plan.base, plan.fragment, names(&plan.bets));
    for origin in &plan.origins {
        let (host, path) = (
            origin.authority.host.escape_ascii(),
            origin.path.escape_ascii(),
        );
        let port = origin.authority.port;
        text += &format!("; at {host}:{port:?}{path}: {}", names(&origin.bets));
    }
    text
}

/// Runs `law` on as many cases as are asked for, and shows the first that break it.
fn check(seed: u64, law: impl Fn(&Plan, &[u8], &mut Random) -> Result<(), String>) {
    let mut random = seeded(seed);
    let vectors = vectors();
    let mut failures = Vec::new();
    for _ in 0..n_mutations() {
        let plan = any(&mut random);
        let input = input(&vectors, &mut random);
        if let Err(failure) = law(&plan, &input, &mut random) {
            failures.push(format!(
                "{}: {}: {failure}",
                show(&plan),
                input.escape_ascii()
            ));
        }
        if failures.len() == 12 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn is_idempotent(plan: &Plan, input: &[u8]) -> Result<(), String> {
    let once = normalize(plan, input);
    let twice = normalize(plan, &once);
    if once == twice {
        return Ok(());
    }
    let (once, twice) = (once.escape_ascii(), twice.escape_ascii());
    Err(format!("{once} then {twice}"))
}

/// Whether `with`, which has `bet` more than `without`, gives one key to what `without` does.
///
/// Says nothing where a rule moves the URL from one entry to another: it is the other entry that
/// runs from there on, and it may know nothing of the bet.
fn does_not_split(bet: Rule, with: &Plan, without: &Plan, input: &[u8]) -> Result<(), String> {
    let representative = normalize(without, input);
    let (direct, merged) = (normalize(with, input), normalize(with, &representative));
    if direct == merged {
        return Ok(());
    }
    let core = normalize(
        &with_rules(
            &Plan {
                origins: Default::default(),
                ..with.clone()
            },
            |_| RuleSet::EMPTY,
        ),
        input,
    );
    let entry = |text: &[u8]| naive::bets_of(with, text).map(std::ptr::from_ref);
    let entries = [&core, &representative, &direct, &merged].map(|text| entry(text));
    if entries.iter().any(|it| *it != entries[0]) {
        return Ok(());
    }
    Err(format!(
        "{bet} makes {} of it, but {} of {}",
        direct.escape_ascii(),
        merged.escape_ascii(),
        representative.escape_ascii()
    ))
}

fn agrees_with_the_twin(plan: &Plan, input: &[u8]) -> Result<(), String> {
    let (slow, kind) = normalize_naive(plan, input);
    NORMALIZER.with_borrow_mut(|normalizer| {
        let fast = normalizer.normalize(plan, input);
        if (fast.text, fast.kind) == (slow.as_slice(), kind) {
            return Ok(());
        }
        let (fast, slow) = (fast.text.escape_ascii(), slow.escape_ascii());
        Err(format!("fast {fast}, slow {kind:?} {slow}"))
    })
}

#[test]
fn every_policy_is_idempotent() {
    check(3, |plan, input, _| is_idempotent(plan, input));
}

#[test]
fn a_bet_never_splits() {
    check(4, |plan, input, random| {
        let all: Vec<Rule> = all_rules(plan).iter().collect();
        if all.is_empty() || !all_rules(plan).intersection(SPLITTERS).is_empty() {
            return Ok(());
        }
        let bet = random.pick(&all);
        let without = with_rules(plan, |rules| rules.without(RuleSet::of(&[bet])));
        does_not_split(bet, plan, &without, input)
    });
}

#[test]
fn the_slow_twin_agrees() {
    check(10, |plan, input, _| agrees_with_the_twin(plan, input));
}

#[test]
fn one_bet_two_or_all_keep_the_laws_on_vectors() {
    /// So that few cases meet all sets and all vectors.
    const STRIDE: usize = 1_000_003;
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    let mut sets: Vec<RuleSet> = Vec::new();
    for (index, first) in bets.iter().enumerate() {
        sets.extend(
            bets[index..]
                .iter()
                .map(|second| RuleSet::of(&[*first, *second])),
        );
    }
    sets.push(RuleSet::bets().without(RuleSet::of(&[Rule::TrailingSlashAdd])));
    sets.push(RuleSet::bets().without(RuleSet::of(&[Rule::TrailingSlashDrop])));
    sets.retain(|rules| allowed(*rules) == *rules);
    assert_eq!(sets.len(), 35 + 35 * 34 / 2 - 1 + 2);
    let vectors = vectors();
    let bases = [Base::Browser, Base::Grammar];
    let n_cases = sets.len() * vectors.len() * bases.len();
    for case in (0..n_cases.min(n_mutations())).map(|index| index * STRIDE % n_cases) {
        let rules = sets[case % sets.len()];
        let vector = vectors[case / sets.len() % vectors.len()].as_bytes();
        let plan = plan(bases[case / sets.len() / vectors.len()], rules);
        let mut outcome = is_idempotent(&plan, vector).and(agrees_with_the_twin(&plan, vector));
        if rules.intersection(SPLITTERS).is_empty() && rules.len() <= 2 {
            for bet in rules.iter() {
                let without = with_rules(&plan, |rules| rules.without(RuleSet::of(&[bet])));
                outcome = outcome.and(does_not_split(bet, &plan, &without, vector));
            }
        }
        let name = || format!("{}: {}", show(&plan), vector.escape_ascii());
        assert!(outcome.is_ok(), "{}: {outcome:?}", name());
    }
}

#[test]
fn a_key_is_at_most_three_times_as_long() {
    check(5, |plan, input, _| {
        let text = normalize(plan, input);
        let times = if all_rules(plan).contains(Rule::UnicodeNfc)
            || !input.is_ascii()
            || input.contains(&b'%')
        {
            9
        } else {
            3
        };
        // A scheme, its slashes and an empty path are there in any key.
        if text.len() <= times * input.len() + "//".len() + "/".len() {
            return Ok(());
        }
        Err(format!("{} bytes", text.len()))
    });
}

#[test]
fn rules_fire_where_they_change_something() {
    check(6, |plan, input, _| {
        let mut normalizer = Normalizer::default();
        let normalized = normalizer.normalize(plan, input);
        let (changed, fired) = (normalized.text != input, normalized.fired);
        if changed && fired.is_empty() {
            return Err("a change without a rule".into());
        }
        let bets = fired.intersection(RuleSet::bets());
        if !bets.without(all_rules(plan)).is_empty() {
            return Err(format!("a rule that is not in force: {fired}"));
        }
        if normalizer.masks(plan, input).in_policy != bets {
            return Err("masks and rules differ".into());
        }
        Ok(())
    });
}

#[test]
fn a_rule_is_in_its_mask_alone_if_it_makes_another_key() {
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    check(7, |plan, input, random| {
        let mut alone = with_rules(plan, |_| RuleSet::EMPTY);
        let core = normalize(&alone, input);
        let mask = NORMALIZER.with_borrow_mut(|it| it.masks(&alone, input).alone);
        // All that it has, and of the others some, for ten million cases to take minutes.
        let others: RuleSet = (0..4).map(|_| random.pick(&bets)).collect();
        for rule in mask.union(others).iter() {
            alone.bets.rules = RuleSet::of(&[rule]);
            for bets in alone.origins.bets_mut() {
                bets.rules = RuleSet::of(&[rule]);
            }
            let is_other =
                NORMALIZER.with_borrow_mut(|it| it.normalize(&alone, input).text != core);
            if mask.contains(rule) != is_other {
                return Err(format!("{rule}: not as its mask says"));
            }
        }
        Ok(())
    });
}

#[test]
fn an_entry_decides_alone_where_its_urls_stay() {
    check(8, |plan, input, _| {
        let nothing = Plan {
            bets: Bets::default(),
            origins: Default::default(),
            ..plan.clone()
        };
        let core = normalize(&nothing, input);
        let Some(bets) = naive::bets_of(plan, &core) else {
            return Ok(());
        };
        let own = Plan {
            bets: bets.clone(),
            ..nothing
        };
        let (text, by_own) = (normalize(plan, input), normalize(&own, input));
        let stays = |text: &[u8]| naive::bets_of(plan, text) == Some(bets);
        if text == by_own || !stays(&text) || !stays(&by_own) {
            return Ok(());
        }
        let (text, by_own) = (text.escape_ascii(), by_own.escape_ascii());
        Err(format!("{text}, but {by_own} by the entry alone"))
    });
}

#[test]
fn scope_decides_no_key() {
    check(9, |plan, input, _| {
        let mut everywhere = plan.clone();
        everywhere.scope = None;
        let mut normalizer = Normalizer::default();
        let scoped = normalizer.normalize(plan, input);
        let (text, kind, is_in) = (scoped.text.to_vec(), scoped.kind, scoped.in_scope);
        let free = normalizer.normalize(&everywhere, input);
        if (free.text, free.kind, free.in_scope) != (text.as_slice(), kind, true) {
            return Err("another key without the scope".into());
        }
        let core = with_rules(&everywhere, |_| RuleSet::EMPTY);
        let core = normalize(&core, input);
        let expected = plan.scope.as_ref().is_none_or(|scope| {
            kind != Kind::Opaque
                && naive::place_of(&core)
                    .is_some_and(|(scheme, host, port)| scope.admits(&scheme, &host, port))
        });
        if is_in != expected {
            return Err(format!("in scope: {is_in}"));
        }
        Ok(())
    });
}

#[test]
fn entries_that_undo_each_other_settle_on_one_text() {
    let entry = |path: &str, rule| Origin {
        authority: Authority {
            host: b"a.example".to_vec(),
            port: None,
        },
        path: path.as_bytes().to_vec(),
        bets: Bets {
            rules: RuleSet::of(&[rule]),
            ..Bets::default()
        },
    };
    let plan = Plan {
        origins: Origins::new(vec![
            entry("/[", Rule::EscapesEncodeGrey),
            entry("/%5B", Rule::EscapesDecodeReserved),
        ]),
        ..Plan::new(Base::Browser)
    };
    for url in ["http://a.example/[/x", "http://a.example/%5b/x"] {
        assert_eq!(normalize(&plan, url.as_bytes()), b"http://a.example/%5B/x");
        is_idempotent(&plan, url.as_bytes()).expect("it is idempotent");
        agrees_with_the_twin(&plan, url.as_bytes()).expect("the twin agrees");
    }
}

/// Cases that broke a law once.
#[test]
fn what_broke_a_law_once_does_not_again() {
    let check = |rules: &[Rule], input: &str, expected: &str| {
        for base in [Base::Browser, Base::Grammar] {
            let with = plan(base, RuleSet::of(rules));
            let input = input.as_bytes();
            let text = normalize(&with, input);
            assert_eq!(text.escape_ascii().to_string(), expected);
            is_idempotent(&with, input).expect("it is idempotent");
            agrees_with_the_twin(&with, input).expect("the twin agrees");
            for bet in rules {
                let without = with_rules(&with, |rules| rules.without(RuleSet::of(&[*bet])));
                does_not_split(*bet, &with, &without, input).expect("it does not split");
            }
        }
    };
    check(
        &[Rule::PathSessionDrop, Rule::TrailingSlashAdd],
        "http://a.example/;jsessionid=",
        "http://a.example/",
    );
    check(
        &[Rule::PathSessionDrop, Rule::TrailingSlashAdd],
        "http://a.example/b/;jsessionid=1/c",
        "http://a.example/b/c/",
    );
}
