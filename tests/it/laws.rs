//! The laws of every policy over the safe core, on URLs of our own, mutated, and on random bytes.
//!
//! `DEDUPE_MUTATIONS=10000000 cargo test --release --test it laws::` runs as many.

use crawl_dedupe::policy::plan::{Base, Bets, Fragment, Names, Plan};
use crawl_dedupe::policy::{Rule, RuleSet};
use crawl_dedupe::uri::Normalizer;

use crate::mutations::{Random, generated, mutate, n_mutations};
use crate::naive::normalize_naive;

/// Rules that may split what the others have merged, by their nature.
const SPLITTERS: RuleSet = RuleSet::of(&[
    Rule::QueryOrderSortStable,
    Rule::EscapesDecodeSubDelims,
    Rule::EscapesDecodeReserved,
    Rule::EscapesDecodeRepeated,
]);

fn plan(base: Base, rules: RuleSet) -> Plan {
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

/// A URL, or bytes.
fn input(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0 => (0..random.below(40))
            .map(|_| random.next().to_le_bytes()[0])
            .collect(),
        1 => generated(random).into_bytes(),
        _ => {
            let seed = generated(random);
            mutate(&seed, random).into_bytes()
        }
    }
}

/// None, one, two or all bets but a few; never both of two that exclude each other.
fn rules(random: &mut Random) -> RuleSet {
    let bets: Vec<Rule> = RuleSet::bets().iter().collect();
    let mut rules = match random.below(4) {
        0 => RuleSet::of(&[random.pick(&bets)]),
        1 | 2 => RuleSet::of(&[random.pick(&bets), random.pick(&bets)]),
        _ => RuleSet(RuleSet::bets().0 & (random.next() | random.next())),
    };
    if rules.contains(Rule::TrailingSlashDrop) {
        rules.remove(Rule::TrailingSlashAdd);
    }
    rules
}

fn normalize(plan: &Plan, input: &[u8]) -> Vec<u8> {
    Normalizer::default().normalize(plan, input).text.to_vec()
}

fn show(rules: RuleSet) -> String {
    rules.iter().map(Rule::name).collect::<Vec<_>>().join(" ")
}

/// Runs `law` on as many cases as are asked for, and shows the first that break it.
fn check(seed: u64, law: impl Fn(&[u8], Base, RuleSet, &mut Random) -> Result<(), String>) {
    let mut random = Random(seed);
    let mut failures = Vec::new();
    for _ in 0..n_mutations() {
        let base = random.pick(&[Base::Browser, Base::Grammar]);
        let rules = rules(&mut random);
        let input = input(&mut random);
        if let Err(failure) = law(&input, base, rules, &mut random) {
            failures.push(format!(
                "{base:?} {}: {}: {failure}",
                show(rules),
                input.escape_ascii()
            ));
        }
        if failures.len() == 12 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_policy_is_idempotent() {
    check(3, |input, base, rules, random| {
        let mut plan = plan(base, rules);
        if random.below(4) == 0 {
            plan.fragment = Fragment::KeepRoutes;
        }
        let once = normalize(&plan, input);
        let twice = normalize(&plan, &once);
        if once == twice {
            return Ok(());
        }
        Err(format!(
            "{} then {}",
            once.escape_ascii(),
            twice.escape_ascii()
        ))
    });
}

#[test]
fn a_bet_never_splits() {
    check(4, |input, base, rules, random| {
        let all: Vec<Rule> = rules.iter().collect();
        if all.is_empty() || !rules.intersection(SPLITTERS).is_empty() {
            return Ok(());
        }
        let bet = random.pick(&all);
        let without = plan(base, rules.without(RuleSet::of(&[bet])));
        let with = plan(base, rules);
        let representative = normalize(&without, input);
        let (direct, merged) = (normalize(&with, input), normalize(&with, &representative));
        if direct == merged {
            return Ok(());
        }
        Err(format!(
            "{bet} makes {} of it, but {} of {}",
            direct.escape_ascii(),
            merged.escape_ascii(),
            representative.escape_ascii()
        ))
    });
}

#[test]
fn a_key_is_at_most_three_times_as_long() {
    check(5, |input, base, rules, _| {
        let text = normalize(&plan(base, rules), input);
        let times =
            if rules.contains(Rule::UnicodeNfc) || !input.is_ascii() || input.contains(&b'%') {
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
    check(6, |input, base, rules, _| {
        let plan = plan(base, rules);
        let mut normalizer = Normalizer::default();
        let normalized = normalizer.normalize(&plan, input);
        let (changed, fired) = (normalized.text != input, normalized.fired);
        if changed && fired.is_empty() {
            return Err("a change without a rule".into());
        }
        if !fired
            .intersection(RuleSet::bets())
            .without(rules)
            .is_empty()
        {
            return Err(format!("a rule that is not in force: {}", show(fired)));
        }
        let masks = normalizer.masks(&plan, input);
        if masks.in_policy != fired.intersection(RuleSet::bets()) {
            return Err("masks and rules differ".into());
        }
        Ok(())
    });
}

#[test]
fn a_rule_is_in_its_mask_alone_if_it_makes_another_key() {
    check(7, |input, base, _, _| {
        let core = normalize(&plan(base, RuleSet::EMPTY), input);
        let mut normalizer = Normalizer::default();
        let alone = normalizer.masks(&plan(base, RuleSet::EMPTY), input).alone;
        for rule in RuleSet::bets().iter() {
            let text = normalize(&plan(base, RuleSet::of(&[rule])), input);
            if alone.contains(rule) != (text != core) {
                return Err(format!("{rule}: {}", text.escape_ascii()));
            }
        }
        Ok(())
    });
}

#[test]
fn the_slow_twin_agrees() {
    check(10, |input, base, rules, random| {
        let mut plan = plan(base, rules);
        if random.below(4) == 0 {
            plan.fragment = Fragment::KeepRoutes;
        }
        let mut normalizer = Normalizer::default();
        let fast = normalizer.normalize(&plan, input);
        let (slow, kind) = normalize_naive(&plan, input);
        if (fast.text, fast.kind) == (slow.as_slice(), kind) {
            return Ok(());
        }
        let fast = fast.text.escape_ascii();
        Err(format!(
            "fast {fast}, slow {kind:?} {}",
            slow.escape_ascii()
        ))
    });
}
