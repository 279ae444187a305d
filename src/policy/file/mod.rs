//! Policy files: TOML in, a plan out, or the mistakes with their places. Must never decide what a rule does.

mod bets;
mod host;
mod list;
mod mistake;
mod names;
mod origin;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use toml_edit::{Array, Document, Item, Key, TableLike};

use crate::policy::builtin::{BUILTINS, Builtin};
use crate::policy::plan::{Base, Fragment, Plan, Scope};
use crate::policy::{Evidence, ListFile};

use list::Lists;
pub(super) use mistake::{Mistake, did_you_mean, messages};
use mistake::{Mistakes, Read, start};

/// What a policy file says.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) plan: Plan,
    pub(super) lists: Vec<ListFile>,
    pub(super) evidence: Vec<Evidence>,
}

const KEYS: [&str; 7] = [
    "name", "version", "base", "fragment", "bets", "origin", "scope",
];
const SCOPE_KEYS: [&str; 2] = ["hosts", "schemes"];

/// Bytes of a policy or list file; more is a mistake, or a device that never ends.
const FILE_BYTES_MAX: u64 = 1 << 26;

/// The bytes of a policy or list file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let n = File::open(path)?
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if n as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("longer than 64 MiB"));
    }
    Ok(bytes)
}

/// Reads a policy file; list files are found from `folder`. Of each key and each entry the first mistake
/// is told, in the order of the file.
pub(super) fn parse(bytes: &[u8], folder: &Path) -> Result<Loaded, Vec<Mistake>> {
    let document = read_document(bytes).map_err(|mistake| vec![mistake])?;
    let mut mistakes = Mistakes::default();
    let loaded = read_root(document.as_table(), folder, &mut mistakes);
    mistakes.none().map(|()| loaded)
}

fn read_document(bytes: &[u8]) -> Read<Document<&str>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Mistake::at(Some(at..at), "not UTF-8; a policy file is TOML, in UTF-8")
    })?;
    Document::parse(text).map_err(|error| Mistake::at(error.span(), toml_message(&error)))
}

/// What the tables say, as far as it can be read.
fn read_root(root: &dyn TableLike, folder: &Path, mistakes: &mut Mistakes) -> Loaded {
    mistakes.extend(unknown(root, &KEYS, "key"));
    let name = mistakes.note(read_name(root)).unwrap_or_default();
    let version = mistakes.note(read_version(root)).unwrap_or_default();
    mistakes.extend(Builtin::named(&format!("{name}@{version}")).map(|builtin| {
        let message = format!(
            "`{}` is built in; expected another name or version",
            builtin.name
        );
        Mistake::at(span_of(root, "name"), message)
    }));
    let base = mistakes.note(read_base(root));
    let mut plan = Plan::new(base.unwrap_or(Base::Browser));
    plan.fragment = mistakes.note(read_fragment(root)).unwrap_or(Fragment::Drop);
    let mut evidence = Vec::new();
    let mut lists = Lists::beside(folder);
    let bets = root.get("bets").map(|item| table(item, "[bets]"));
    if let Some(table) = bets.and_then(|table| mistakes.note(table)) {
        let said = bets::Said::read(table, &[], &mut lists, mistakes);
        plan.bets = bets::Said::lay([&said], &plan.bets);
        evidence.extend(said.into_evidence(""));
    }
    let mut origins = origin::Reader {
        lists: &mut lists,
        mistakes,
    };
    plan.origins = origins.read_all(root, &plan.bets, &mut evidence);
    names::complete(&mut plan.bets);
    let scope = root.get("scope").map(read_scope);
    plan.scope = scope.and_then(|scope| mistakes.note(scope));
    Loaded {
        name,
        version,
        plan,
        lists: lists.into_files(),
        evidence,
    }
}

/// What the TOML parser says, on one line.
fn toml_message(error: &toml_edit::TomlError) -> String {
    let lines: Vec<&str> = error.message().lines().map(str::trim).collect();
    format!("not TOML: {}", lines.join("; "))
}

fn read_name(root: &dyn TableLike) -> Read<String> {
    const EXPECTED: &str = "expected letters, digits, `-`, `_` and `.`, as in \"news\"";
    let Some(item) = root.get("name") else {
        return Err(Mistake::at(None, format!("no `name`; {EXPECTED}")));
    };
    let name = string(item, EXPECTED)?;
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 100 || !name.chars().all(is_valid) {
        return Err(Mistake::at(
            item.span(),
            format!("wrong name `{name}`; {EXPECTED}"),
        ));
    }
    Ok(name.to_owned())
}

/// A number, or digits and dots in quotes.
fn read_version(root: &dyn TableLike) -> Read<String> {
    const EXPECTED: &str = "expected digits and dots, as in 3 or \"3.1\"";
    let Some(item) = root.get("version") else {
        return Err(Mistake::at(None, format!("no `version`; {EXPECTED}")));
    };
    let version = match (item.as_integer(), item.as_str()) {
        (Some(number), _) if number >= 0 => number.to_string(),
        (_, Some(text)) => text.to_owned(),
        _ => {
            return Err(Mistake::at(
                item.span(),
                format!("wrong version; {EXPECTED}"),
            ));
        }
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if version.len() > 100 || !version.split('.').all(is_number) {
        return Err(Mistake::at(
            item.span(),
            format!("wrong version `{version}`; {EXPECTED}"),
        ));
    }
    Ok(version)
}

fn read_base(root: &dyn TableLike) -> Read<Base> {
    const NAMES: [&str; 2] = ["safe@1", "rfc3986@1"];
    const EXPECTED: &str = "expected \"safe@1\" or \"rfc3986@1\"";
    let Some(item) = root.get("base") else {
        return Ok(Base::Browser);
    };
    let name = string(item, EXPECTED)?;
    match name {
        "safe@1" => Ok(Base::Browser),
        "rfc3986@1" => Ok(Base::Grammar),
        _ if BUILTINS.iter().any(|builtin| builtin.name == name) => Err(Mistake::at(
            item.span(),
            format!("`{name}` is no base that takes rules; {EXPECTED}"),
        )),
        _ => Err(Mistake::at(
            item.span(),
            format!(
                "unknown base `{name}`; {EXPECTED}{}",
                did_you_mean(name, NAMES)
            ),
        )),
    }
}

fn read_fragment(root: &dyn TableLike) -> Read<Fragment> {
    const EXPECTED: &str = "expected \"drop\" or \"keep-routes\"";
    let Some(item) = root.get("fragment") else {
        return Ok(Fragment::Drop);
    };
    match string(item, EXPECTED)? {
        "drop" => Ok(Fragment::Drop),
        "keep-routes" => Ok(Fragment::KeepRoutes),
        other => Err(Mistake::at(
            item.span(),
            format!(
                "unknown `{other}`; {EXPECTED}{}",
                did_you_mean(other, ["drop", "keep-routes"])
            ),
        )),
    }
}

fn read_scope(item: &Item) -> Read<Scope> {
    let scope = table(item, "[scope]")?;
    refuse_unknown(scope, &SCOPE_KEYS, "key in [scope]")?;
    let mut read = Scope::default();
    if let Some(item) = scope.get("hosts") {
        for (host, offset) in strings(
            item,
            "expected hosts, as in [\"example.org\", \"example.net:8443\"]",
        )? {
            read.hosts.push(host::read(host, offset)?);
        }
    }
    if let Some(item) = scope.get("schemes") {
        for (scheme, offset) in strings(item, "expected schemes, as in [\"http\", \"https\"]")? {
            let is_valid =
                |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b);
            if !scheme.starts_with(|c: char| c.is_ascii_lowercase())
                || !scheme.bytes().all(is_valid)
            {
                return Err(Mistake::at_offset(
                    offset,
                    format!(
                        "wrong scheme `{scheme}`; expected lower case and no colon, as in \"https\""
                    ),
                ));
            }
            read.schemes.push(scheme.as_bytes().to_vec());
        }
    }
    read.hosts
        .sort_unstable_by(|a, b| (&a.host, a.port).cmp(&(&b.host, b.port)));
    read.hosts.dedup();
    read.schemes.sort_unstable();
    read.schemes.dedup();
    Ok(read)
}

/// Keys that are not in `known`, with the nearest one that is.
fn unknown(table: &dyn TableLike, known: &[&str], what: &str) -> Vec<Mistake> {
    let names = table.iter().map(|(name, _)| name);
    names
        .filter(|name| !known.contains(name))
        .map(|name| {
            let message = format!(
                "unknown {what} `{name}`; expected one of {}{}",
                known.join(", "),
                did_you_mean(name, known.iter().copied())
            );
            Mistake::at(span_of(table, name), message)
        })
        .collect()
}

fn refuse_unknown(table: &dyn TableLike, known: &[&str], what: &str) -> Read<()> {
    match unknown(table, known, what).into_iter().next() {
        Some(mistake) => Err(mistake),
        None => Ok(()),
    }
}

/// Where a key stands.
fn span_of(table: &dyn TableLike, name: &str) -> Option<std::ops::Range<usize>> {
    let (key, item) = table.get_key_value(name)?;
    Key::span(key).or_else(|| item.span())
}

fn table<'a>(item: &'a Item, what: &str) -> Read<&'a dyn TableLike> {
    item.as_table_like()
        .ok_or_else(|| Mistake::at(item.span(), format!("expected a table {what}")))
}

fn string<'a>(item: &'a Item, expected: &str) -> Read<&'a str> {
    item.as_str()
        .ok_or_else(|| Mistake::at(item.span(), format!("not a text; {expected}")))
}

/// A list of texts that is not empty, each with its place.
fn strings<'a>(item: &'a Item, expected: &str) -> Read<Vec<(&'a str, usize)>> {
    let array = item.as_array().filter(|array| !array.is_empty());
    let array: &Array = array.ok_or_else(|| {
        Mistake::at(
            item.span(),
            format!("not a list, or an empty one; {expected}"),
        )
    })?;
    array
        .iter()
        .map(|value| match value.as_str() {
            Some(text) => Ok((text, start(value.span()))),
            None => Err(Mistake::at(value.span(), format!("not a text; {expected}"))),
        })
        .collect()
}
