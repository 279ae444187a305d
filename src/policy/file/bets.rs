//! The bets that `[bets]` or an `[[origin]]` names.

use std::ops::Range;

use toml_edit::{Item, TableLike, Value};

use super::list::Lists;
use super::mistake::{Mistake, Mistakes, Read, did_you_mean};
use super::{names, span_of};
use crate::policy::Evidence;
use crate::policy::plan::{Bets, Names};
use crate::policy::rule::{Rule, RuleSet, Tier};

/// What one table says about bets.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Every rule of the families that the table names.
    families: RuleSet,
    /// Those of them that are to run.
    rules: RuleSet,
    query_drop: Vec<Vec<u8>>,
    query_drop_file: Vec<Names>,
    index_files: Vec<Vec<u8>>,
    /// Parameters and why they are dropped.
    evidence: Vec<(String, String)>,
}

impl Said {
    /// Reads the families of `table`; the keys in `others` are somebody else's.
    pub(super) fn read(
        table: &dyn TableLike,
        others: &[&str],
        lists: &mut Lists<'_>,
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut said = Self::default();
        for (name, item) in table.iter().filter(|(name, _)| !others.contains(name)) {
            let options = family(name);
            if options.is_empty() {
                mistakes.extend([unknown_family(name, span_of(table, name), others)]);
            } else {
                said.families = said.families.union(options);
                mistakes.note(said.read_family(name, item, lists));
            }
        }
        mistakes.note(refuse_exclusive(said.rules, table));
        said
    }

    fn read_family(&mut self, name: &str, item: &Item, lists: &mut Lists<'_>) -> Read<()> {
        for value in values(item)? {
            self.read_value(name, value, lists)?;
        }
        Ok(())
    }

    /// One option, name or list file of a family.
    fn read_value(&mut self, family: &str, value: &Value, lists: &mut Lists<'_>) -> Read<()> {
        match (family, value) {
            ("query-drop", _) => self.read_parameter(value),
            ("query-drop-list", Value::InlineTable(table)) => self.read_list(table, value, lists),
            ("index-file", Value::String(name)) if name.value().contains('.') => {
                self.index_files.push(name.value().as_bytes().to_vec());
                self.rules.insert(Rule::IndexFileList);
                Ok(())
            }
            (_, Value::String(option)) => self.insert(family, option.value(), value.span()),
            _ => Err(Mistake::at(
                value.span(),
                format!("`{family}` takes {}", expected(family)),
            )),
        }
    }

    fn insert(&mut self, family: &str, option: &str, span: Option<Range<usize>>) -> Read<()> {
        let known = options(family);
        let rule = known
            .iter()
            .find(|known| **known == option)
            .and_then(|option| Rule::parse(&format!("{family}={option}")));
        let Some(rule) = rule else {
            return Err(Mistake::at(
                span,
                format!(
                    "unknown option `{option}` of `{family}`; expected {}{}",
                    expected(family),
                    did_you_mean(option, known)
                ),
            ));
        };
        if self.rules.contains(rule) {
            return Err(Mistake::at(
                span,
                format!("`{rule}` is named twice; expected once"),
            ));
        }
        self.rules.insert(rule);
        Ok(())
    }

    /// `"sid"` or `{ name = "sid", evidence = "412 right, 0 wrong, 2026-11-30" }`.
    fn read_parameter(&mut self, value: &Value) -> Read<()> {
        let wrong = |span| {
            Mistake::at(
                span,
                format!("`query-drop` takes {}", expected("query-drop")),
            )
        };
        let (name, evidence) = match value {
            Value::String(name) => (name.value().as_str(), None),
            Value::InlineTable(table) => {
                super::refuse_unknown(table, &["name", "evidence"], "key of a parameter")?;
                let text = |key: &str| match table.get(key) {
                    None => Ok(None),
                    Some(Value::String(text)) => Ok(Some(text.value().as_str())),
                    Some(other) => Err(wrong(other.span())),
                };
                let name = text("name")?.ok_or_else(|| wrong(value.span()))?;
                (name, text("evidence")?)
            }
            _ => return Err(wrong(value.span())),
        };
        let own = names::read(name.as_bytes()).map_err(|why| Mistake::at(value.span(), why))?;
        self.query_drop.push(own);
        self.rules.insert(Rule::QueryDropList);
        if let Some(evidence) = evidence {
            self.evidence.push((name.to_owned(), evidence.to_owned()));
        }
        Ok(())
    }

    /// `{ file = "tracking.txt" }`, perhaps with the `hash` that `policy show` prints.
    fn read_list(
        &mut self,
        table: &dyn TableLike,
        value: &Value,
        lists: &mut Lists<'_>,
    ) -> Read<()> {
        super::refuse_unknown(table, &["file", "hash"], "key of a list")?;
        let Some(file) = table.get("file") else {
            return Err(Mistake::at(
                value.span(),
                "a list without `file`; expected { file = \"tracking.txt\" }",
            ));
        };
        let name = super::string(
            file,
            "expected a file name, as in { file = \"tracking.txt\" }",
        )?;
        let list = lists.read(name, file.span())?;
        if let Some(item) = table.get("hash") {
            let hash = super::string(item, "expected 32 hex digits")?;
            if u128::from_str_radix(hash, 16).ok() != Some(list.file.hash) {
                return Err(Mistake::at(
                    item.span(),
                    format!(
                        "`{name}` has another hash: {:032x}; expected {hash}",
                        list.file.hash
                    ),
                ));
            }
        }
        self.query_drop_file.push(list.names.clone());
        self.rules.insert(Rule::QueryDropFile);
        Ok(())
    }

    /// What tables say, each laid over those before it and all over `bets`: a family that one names replaces
    /// what stood there, but the names of `query-drop`, which are added to; an empty list turns a family off.
    pub(super) fn lay<'s>(chain: impl IntoIterator<Item = &'s Self>, bets: &Bets) -> Bets {
        let mut laid = bets.clone();
        // Sorted once for the whole chain, however long it is.
        let mut added: Vec<&[u8]> = Vec::new();
        for said in chain {
            laid.rules = laid.rules.without(said.families).union(said.rules);
            if said.families.contains(Rule::QueryDropList) {
                if said.query_drop.is_empty() {
                    laid.query_drop = Names::default();
                    added.clear();
                }
                added.extend(said.query_drop.iter().map(Vec::as_slice));
            }
            if said.families.contains(Rule::QueryDropFile) {
                laid.query_drop_file = Names::all(&said.query_drop_file);
            }
            if said.families.contains(Rule::IndexFileList) {
                laid.index_files = Names::new(said.index_files.iter().map(Vec::as_slice));
            }
        }
        if !added.is_empty() {
            let inherited: Vec<Vec<u8>> = laid.query_drop.iter().collect();
            let inherited = inherited.iter().map(Vec::as_slice);
            laid.query_drop = Names::new(inherited.chain(added));
        }
        laid
    }

    /// Why the table drops what it drops.
    pub(super) fn into_evidence(self, origin: &str) -> impl Iterator<Item = Evidence> {
        let origin = origin.to_owned();
        let evidence = self.evidence.into_iter();
        evidence.map(move |(parameter, evidence)| Evidence {
            origin: origin.clone(),
            parameter,
            evidence,
        })
    }
}

/// Every rule of a family of bets.
fn family(name: &str) -> RuleSet {
    RuleSet::bets()
        .iter()
        .filter(|rule| rule.family() == name)
        .collect()
}

/// The options that stand for themselves: those that a list of names switches on are no words.
fn options(name: &str) -> Vec<&'static str> {
    family(name)
        .iter()
        .filter_map(Rule::option)
        .filter(|option| *option != "list")
        .collect()
}

/// One value, or each of a list.
fn values(item: &Item) -> Read<Vec<&Value>> {
    match item {
        Item::Value(Value::Array(array)) => Ok(array.iter().collect()),
        Item::Value(value) => Ok(vec![value]),
        _ => Err(Mistake::at(
            item.span(),
            "expected an option in quotes, or a list of them",
        )),
    }
}

fn expected(family: &str) -> String {
    let options: Vec<String> = options(family)
        .iter()
        .map(|option| format!("\"{option}\""))
        .collect();
    let options = options.join(", ");
    match family {
        "query-drop" => "names of parameters, as in [\"sid\"] or \
                         [{ name = \"sid\", evidence = \"412 right, 0 wrong, 2026-11-30\" }]"
            .to_owned(),
        "query-drop-list" => format!("{options} or {{ file = \"tracking.txt\" }}"),
        "index-file" => format!("{options} or file names with a dot, as in [\"main.html\"]"),
        _ if options.contains(',') => format!("one or several of {options}"),
        _ => options,
    }
}

fn unknown_family(name: &str, span: Option<Range<usize>>, others: &[&str]) -> Mistake {
    if let Some(step) = Rule::parse(name).filter(|rule| rule.tier() != Tier::Bet) {
        return Mistake::at(
            span,
            format!("`{step}` is a step of the core and always on; expected a bet"),
        );
    }
    let mut known: Vec<&str> = RuleSet::bets().iter().map(Rule::family).collect();
    known.dedup();
    let mut known: Vec<&str> = others.iter().copied().chain(known).collect();
    let nearest = did_you_mean(name, known.iter().copied());
    known.truncate(if others.is_empty() {
        usize::MAX
    } else {
        others.len()
    });
    let expected = if others.is_empty() {
        known.join(", ")
    } else {
        format!("{}, or a bet", known.join(", "))
    };
    Mistake::at(
        span,
        format!("unknown rule `{name}`; expected one of {expected}{nearest}"),
    )
}

/// Options of which each undoes the other.
fn refuse_exclusive(rules: RuleSet, table: &dyn TableLike) -> Read<()> {
    let both = RuleSet::of(&[Rule::TrailingSlashDrop, Rule::TrailingSlashAdd]);
    if rules.intersection(both) == both {
        let span = table.get("trailing-slash").and_then(Item::span);
        return Err(Mistake::at(
            span,
            "`trailing-slash` both \"drop\" and \"add\"; expected one of them",
        ));
    }
    Ok(())
}
