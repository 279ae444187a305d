//! `[[origin]]`: bets of one host, or of a part of it.

use std::collections::HashMap;
use std::hash::Hash;

use toml_edit::{Item, TableLike};

use super::bets::Said;
use super::list::Lists;
use super::mistake::{Mistake, Mistakes, Read, start};
use super::{host, names, span_of, string};
use crate::policy::Evidence;
use crate::policy::origins::{Authority, Origin, Origins};
use crate::policy::plan::Bets;

const KEYS: [&str; 2] = ["host", "path"];

/// An entry as the file has it.
struct Entry {
    authority: Authority,
    path: Vec<u8>,
    said: Said,
}

/// Reads entries, and notes what is wrong with each.
pub(super) struct Reader<'r, 'f> {
    pub(super) lists: &'r mut Lists<'f>,
    pub(super) mistakes: &'r mut Mistakes,
}

impl Reader<'_, '_> {
    /// All entries, each with the bets of `policy` and of the entries that cover it.
    pub(super) fn read_all(
        &mut self,
        root: &dyn TableLike,
        policy: &Bets,
        evidence: &mut Vec<Evidence>,
    ) -> Origins {
        let tables = root.get("origin").map(tables);
        let tables = tables.and_then(|tables| self.mistakes.note(tables));
        let mut entries: Vec<Entry> = Vec::new();
        let mut tree = Tree::default();
        for table in tables.unwrap_or_default() {
            let Some(entry) = self.read(table) else {
                continue;
            };
            if tree.insert(&entry, entries.len()).is_some() {
                self.mistakes.extend([Mistake::at(
                span_of(table, "host"),
                "an origin of this host, port and path stands above; expected one entry for each",
            )]);
            }
            entries.push(entry);
        }
        let origins: Vec<Origin> = entries
            .iter()
            .map(|entry| {
                let chain = tree.covering(entry).into_iter();
                let mut bets = Said::lay(chain.map(|index| &entries[index].said), policy);
                names::complete(&mut bets);
                Origin {
                    authority: entry.authority.clone(),
                    path: entry.path.clone(),
                    bets,
                }
            })
            .collect();
        for entry in entries {
            let origin = name_of(&entry);
            evidence.extend(entry.said.into_evidence(&origin));
        }
        Origins::new(origins)
    }

    fn read(&mut self, table: &dyn TableLike) -> Option<Entry> {
        let place = self.mistakes.note(read_place(table));
        let said = Said::read(table, &KEYS, self.lists, self.mistakes);
        let (authority, path) = place?;
        Some(Entry {
            authority,
            path,
            said,
        })
    }
}

/// Entries by host and port, then by segment of their paths: what covers one is found in a walk along it.
#[derive(Default)]
struct Tree {
    /// The entry at each node, if one stands there.
    entries: Vec<Option<usize>>,
    /// The nodes of hosts and ports.
    roots: HashMap<(Vec<u8>, Option<u16>), usize>,
    /// The node that a segment leads to from another.
    longer: HashMap<(usize, Vec<u8>), usize>,
}

impl Tree {
    /// Puts the entry of this index in its place, and says which stood there.
    fn insert(&mut self, entry: &Entry, index: usize) -> Option<usize> {
        let Authority { host, port } = &entry.authority;
        let mut at = node(&mut self.roots, (host.clone(), *port), &mut self.entries);
        for segment in segments(&entry.path) {
            let edge = (at, segment.to_vec());
            at = node(&mut self.longer, edge, &mut self.entries);
        }
        self.entries[at].replace(index)
    }

    /// Every entry that covers this one, the widest first, itself last.
    fn covering(&self, entry: &Entry) -> Vec<usize> {
        let Authority { host, port } = &entry.authority;
        let labels = memchr::memrchr_iter(b'.', host).map(|at| at + 1).chain([0]);
        let mut ports = vec![None];
        ports.extend(port.map(Some));
        let mut found = Vec::new();
        for start in labels {
            for &port in &ports {
                let root = self.roots.get(&(host[start..].to_vec(), port)).copied();
                let mut segments = segments(&entry.path);
                let nodes = std::iter::successors(root, |at| {
                    let edge = (*at, segments.next()?.to_vec());
                    self.longer.get(&edge).copied()
                });
                found.extend(nodes.filter_map(|at| self.entries[at]));
            }
        }
        found
    }
}

/// The node of `place`, a new one if need be.
fn node<P: Eq + Hash>(
    nodes: &mut HashMap<P, usize>,
    place: P,
    entries: &mut Vec<Option<usize>>,
) -> usize {
    *nodes.entry(place).or_insert_with(|| {
        entries.push(None);
        entries.len() - 1
    })
}

/// What follows each `/` of a path.
fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').skip(1)
}

/// `[[origin]]`, or a list of inline tables.
fn tables(item: &Item) -> Read<Vec<&dyn TableLike>> {
    const EXPECTED: &str = "expected [[origin]], each with a `host`";
    match item {
        Item::ArrayOfTables(tables) => {
            Ok(tables.iter().map(|table| table as &dyn TableLike).collect())
        }
        Item::Value(value) if value.is_array() => value
            .as_array()
            .into_iter()
            .flatten()
            .map(|value| {
                let table = value.as_inline_table().map(|table| table as &dyn TableLike);
                table.ok_or_else(|| Mistake::at(value.span(), EXPECTED))
            })
            .collect(),
        _ => Err(Mistake::at(item.span(), EXPECTED)),
    }
}

fn read_place(table: &dyn TableLike) -> Read<(Authority, Vec<u8>)> {
    let Some(item) = table.get("host") else {
        let span = table
            .iter()
            .next()
            .and_then(|(name, _)| span_of(table, name));
        return Err(Mistake::at(
            span,
            "an origin without `host`; expected one as in host = \"shop.example\"",
        ));
    };
    let name = string(item, "expected a host, as in \"shop.example\"")?;
    let authority = host::read(name, start(item.span()))?;
    let path = match table.get("path") {
        Some(item) => {
            let path = string(item, "expected a path, as in \"/catalog/\"")?;
            read_path(path, start(item.span()))?
        }
        None => Vec::new(),
    };
    Ok((authority, path))
}

/// A path as keys write it, without the slash at its end; it is a prefix of whole segments.
fn read_path(path: &str, offset: usize) -> Read<Vec<u8>> {
    let wrong = |why: &str| {
        let message =
            format!("wrong path `{path}`: {why}; expected it as in a key, like \"/catalog/\"");
        Mistake::at_offset(offset, message)
    };
    if !path.starts_with('/') {
        return Err(wrong("it does not start with `/`"));
    }
    if path.contains(['?', '#']) {
        return Err(wrong("query and fragment are no part of it"));
    }
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(wrong("it has dot segments"));
    }
    let bytes = path.as_bytes();
    if bytes
        .iter()
        .any(|b| !b.is_ascii_graphic() || b"\"<>^`{}".contains(b))
    {
        return Err(wrong("it has a character that is written as %XX"));
    }
    for at in memchr::memchr_iter(b'%', bytes) {
        let digits = path.get(at + 1..at + 3).unwrap_or_default();
        let is_upper = digits
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
        let decoded = u8::from_str_radix(digits, 16)
            .ok()
            .filter(|_| is_upper && digits.len() == 2);
        let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
        if decoded.is_none_or(is_unreserved) {
            return Err(wrong(
                "an escape is not %XX in upper case, or is not needed",
            ));
        }
    }
    Ok(path.trim_end_matches('/').as_bytes().to_vec())
}

/// As people write it.
fn name_of(entry: &Entry) -> String {
    let port = entry
        .authority
        .port
        .map_or(String::new(), |port| format!(":{port}"));
    let host = String::from_utf8(entry.authority.host.clone()).unwrap_or_default();
    let path = String::from_utf8(entry.path.clone()).unwrap_or_default();
    format!("{host}{port}{path}")
}
