//! A policy as text: what `policy show` prints, as a policy file that says the same.

use std::fmt::Write as _;

use crate::policy::Policy;
use crate::policy::builtin::base_name;
use crate::policy::id::{DATA, fragment_name};
use crate::policy::origins::Authority;
use crate::policy::plan::{Bets, Names};
use crate::policy::rule::{Rule, RuleSet};

impl Policy {
    /// The whole policy as text, in the form of a policy file: every bet, every name of every list,
    /// origins with all that runs there, and as comments the id, list files and evidence.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        self.write_to(&mut out).unwrap_or_default();
        out
    }

    fn write_to(&self, out: &mut String) -> std::fmt::Result {
        let (id, plan) = (self.id(), self.plan());
        writeln!(out, "# {id}")?;
        let data: Vec<String> = DATA
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        writeln!(out, "# data: {}", data.join(", "))?;
        for list in &self.sources.lists {
            let name = list.name.escape_default();
            writeln!(
                out,
                "# list: {name}, hash {:032x}, {} names",
                list.hash, list.n_names
            )?;
        }
        for evidence in &self.sources.evidence {
            let origin = if evidence.origin.is_empty() {
                "everywhere"
            } else {
                &evidence.origin
            };
            let (parameter, why) = (
                evidence.parameter.escape_default(),
                evidence.evidence.escape_default(),
            );
            writeln!(out, "# evidence: {origin}: {parameter}: {why}")?;
        }
        writeln!(out, "name = \"{}\"", id.name)?;
        writeln!(out, "version = \"{}\"", id.version)?;
        writeln!(out, "base = \"{}\"", base_name(plan.base))?;
        writeln!(out, "fragment = \"{}\"", fragment_name(plan.fragment))?;
        if !plan.bets.rules.is_empty() {
            writeln!(out, "\n[bets]")?;
            write_bets(&plan.bets, RuleSet::EMPTY, out)?;
        }
        for origin in &plan.origins {
            writeln!(out, "\n[[origin]]")?;
            writeln!(
                out,
                "host = {}",
                quoted(authority_name(&origin.authority).as_bytes())
            )?;
            if !origin.path.is_empty() {
                writeln!(out, "path = {}", quoted(&origin.path))?;
            }
            write_bets(&origin.bets, plan.bets.rules, out)?;
        }
        if let Some(scope) = &plan.scope {
            writeln!(out, "\n[scope]")?;
            let hosts: Vec<String> = scope.hosts.iter().map(authority_name).collect();
            write_list("hosts", hosts.iter().map(String::as_bytes), out)?;
            write_list("schemes", scope.schemes.iter().map(Vec::as_slice), out)?;
        }
        Ok(())
    }
}

/// One line a family, its options in policy order, and the names of its list. A family of `inherited`
/// that does not run here gets an empty list, which is how a policy file turns it off.
fn write_bets(bets: &Bets, inherited: RuleSet, out: &mut String) -> std::fmt::Result {
    let rules = bets.rules.union(inherited).intersection(RuleSet::bets());
    let mut families: Vec<&str> = rules.iter().map(Rule::family).collect();
    families.dedup();
    for family in families {
        let mut values: Vec<String> = Vec::new();
        for rule in bets.rules.iter().filter(|rule| rule.family() == family) {
            match rule {
                Rule::QueryDropList => values.extend(bets.query_drop.iter().map(parameter)),
                Rule::IndexFileList => values.extend(quoted_names(&bets.index_files)),
                Rule::QueryDropFile => {
                    let names: Vec<String> = bets.query_drop_file.iter().map(parameter).collect();
                    writeln!(out, "# the names of the list files: {}", names.join(", "))?;
                }
                _ => values.extend(rule.option().map(|option| format!("\"{option}\""))),
            }
        }
        writeln!(out, "{family} = [{}]", values.join(", "))?;
    }
    Ok(())
}

fn write_list<'a>(
    key: &str,
    texts: impl Iterator<Item = &'a [u8]>,
    out: &mut String,
) -> std::fmt::Result {
    let texts: Vec<String> = texts.map(quoted).collect();
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "{key} = [{}]", texts.join(", "))
}

/// A parameter name in quotes, with escapes, which are decoded, for bytes that may not stand in one.
fn parameter(name: Vec<u8>) -> String {
    let is_utf8 = std::str::from_utf8(&name).is_ok();
    let last = name.len().saturating_sub(1);
    let mut escaped = Vec::with_capacity(name.len());
    for (index, byte) in name.into_iter().enumerate() {
        let is_reserved = match byte {
            b'*' => index < last,
            0..=b' ' | 0x7F | b'%' | b'=' | b'&' | b'#' => true,
            _ => byte >= 0x80 && !is_utf8,
        };
        if is_reserved {
            escaped.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            escaped.push(byte);
        }
    }
    quoted(&escaped)
}

fn quoted_names(names: &Names) -> impl Iterator<Item = String> {
    names.iter().map(|name| quoted(&name))
}

/// A TOML text; a byte that is no UTF-8, which only a list file can have, as `\xXX`.
fn quoted(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => toml_edit::Value::from(text).to_string(),
        Err(_) => format!("'{}'", text.escape_ascii()),
    }
}

fn authority_name(authority: &Authority) -> String {
    let host = authority.host.escape_ascii();
    match authority.port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::BUILTINS;

    #[test]
    fn a_description_is_a_policy_file_that_says_the_same() {
        let text = r#"
            name = "news"
            version = "3.1"
            fragment = "keep-routes"
            [bets]
            trailing-slash = "drop"
            www = ["www-numbered", "www"]
            unicode = "nfc"
            query-drop = ["b", "c%5B%5D", "%2541", "%E9", "%2Ad%20%3D%09", { name = "a*", evidence = "1 \"right\"" }]
            index-file = ["default", "it's.html", "e\u0301.html"]
            query-drop-list = "tracking"
            [[origin]]
            host = "shop.example:8443"
            path = "/c/"
            trailing-slash = []
            query-drop = ["sid"]
            [scope]
            hosts = ["example.org"]
        "#;
        let policy = Policy::parse(text.as_bytes(), Path::new("p")).unwrap();
        let described = policy.describe();
        let again = Policy::parse(described.as_bytes(), Path::new("p")).unwrap();
        assert_eq!(again.id(), policy.id(), "{described}");
        assert!(
            described.contains("# evidence: everywhere: a*: 1 \\\"right\\\""),
            "{described}"
        );
    }

    #[test]
    fn built_in_policies_are_described() {
        for builtin in BUILTINS {
            let described = Policy::load(builtin.name).unwrap().describe();
            assert!(
                described.starts_with(&format!("# {}+", builtin.name)),
                "{described}"
            );
            assert!(described.contains("\nbase = \"") && !described.contains("base = \"\""));
        }
    }
}
