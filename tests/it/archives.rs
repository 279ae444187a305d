//! The archives of other projects' test suites, read to their end, held against what their index says of them.

use crate::shared;
use crawl_dedupe::capture::{Event, FileId, RecordType};
use crawl_dedupe::scan::warc::{DigestMode, Framing, Options, Reader, VisibleText};
use crawl_dedupe::source::{Compression, Content, Decoder, Map, SNIFFED, Stream, sniff};

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// What was found in one file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    by_type: BTreeMap<&'static str, u64>,
    n_captures: u64,
    damage: Vec<String>,
    statuses: BTreeMap<String, u64>,
}

impl Found {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Record { record_type, .. } => {
                *self.by_type.entry(record_type.name()).or_default() += 1;
            }
            Event::Capture(capture) => {
                self.n_captures += u64::from(capture.record_type != RecordType::Revisit);
                let status = format!("{:?}", capture.payload.status);
                *self.statuses.entry(status).or_default() += 1;
            }
            Event::Damage(damage) => self
                .damage
                .push(format!("{}: {}", damage.offset, damage.what)),
            _ => {}
        }
    }

    /// `1 warcinfo, 2 response, 1 damage`.
    fn words(&self) -> String {
        let mut words: Vec<_> = self
            .by_type
            .iter()
            .map(|(name, n)| format!("{n} {name}"))
            .collect();
        if !self.damage.is_empty() {
            words.push(format!("{} damage", self.damage.len()));
        }
        words.join(", ")
    }
}

const VERIFY: Options = Options {
    digests: DigestMode::Verify,
    text: VisibleText::Skip,
};

/// Reads a mapped file; `None` if it is no WARC.
fn read(path: &Path) -> Option<Found> {
    let map = Map::open(path).expect("the archive can be mapped");
    let format = sniff(&map[..map.len().min(SNIFFED)]);
    if format.content != Content::Warc {
        return None;
    }
    let mut reader = match format.compression {
        Compression::Plain => Reader::over_map(FileId(0), &map, VERIFY),
        _ => Reader::new(FileId(0), Framing::Members, VERIFY),
    };
    let mut found = Found::default();
    Decoder::default()
        .pieces(&mut &map[..], format.compression, |piece| {
            reader.push(piece, &mut |event| found.take(&event));
            ControlFlow::Continue(())
        })
        .expect("bytes in memory can be read");
    reader.finish(&mut |event| found.take(&event));
    Some(found)
}

/// Reads the same file as a stream.
fn read_stream(path: &Path) -> Found {
    let bytes = fs::read(path).expect("the archive is readable");
    let format = sniff(&bytes[..bytes.len().min(SNIFFED)]);
    let framing = match format.compression {
        Compression::Plain => Framing::Plain,
        _ => Framing::Members,
    };
    let mut reader = Reader::new(FileId(0), framing, VERIFY);
    let mut found = Found::default();
    Decoder::default()
        .pieces(&mut Stream::new(&bytes[..]), format.compression, |piece| {
            reader.push(piece, &mut |event| found.take(&event));
            ControlFlow::Continue(())
        })
        .expect("bytes in memory can be read");
    reader.finish(&mut |event| found.take(&event));
    found
}

/// The files that the index lists, with what it says they hold.
fn index(folder: &Path) -> Vec<(String, String)> {
    index_of(folder, 4)
}

/// The files that the index lists, with what one of its columns says of them.
fn index_of(folder: &Path, column: usize) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder.join("INDEX.md")).expect("the list is readable");
    let mut project = "";
    let mut files = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            project = name;
        }
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if cells.len() > 5 && cells[1] != "file" && !cells[1].starts_with('-') {
            files.push((format!("{project}/{}", cells[1]), cells[column].to_owned()));
        }
    }
    files
}

/// `1 warcinfo, 2 response; WARC/1.0; …` in the order and the words of [`Found::words`].
fn indexed_words(holds: &str) -> String {
    let counts = holds.split(';').next().unwrap_or_default();
    let mut by_type = BTreeMap::new();
    for count in counts.split(',') {
        let mut words = count.split_whitespace();
        let (Some(n), Some(name)) = (words.next(), words.next()) else {
            continue;
        };
        let Ok(n) = n.parse::<u64>() else { continue };
        let name = name.to_ascii_lowercase();
        let name = name.trim_start_matches("\\t");
        let known = [
            "warcinfo",
            "response",
            "resource",
            "request",
            "metadata",
            "revisit",
            "conversion",
            "continuation",
        ];
        let name = if known.contains(&name) { name } else { "other" };
        *by_type.entry(name.to_owned()).or_insert(0) += n;
    }
    let words: Vec<_> = by_type
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    words.join(", ")
}

/// `file<TAB>what is found<TAB>why that is right`, one line a difference.
fn known_differences() -> BTreeMap<&'static str, &'static str> {
    include_str!("archives.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut cells = line.split('\t');
            let mut cell = || cells.next().expect("a line has three cells");
            let (file, found) = (cell(), cell());
            assert!(
                cells.next().is_some_and(|why| !why.is_empty()),
                "no reason: {line}"
            );
            (file, found)
        })
        .collect()
}

/// Payload digests that are not the payload's, by the index: what warcio says of responses and all other records.
fn indexed_failures(odd: &str) -> u64 {
    let n = odd.split("digestfail=").nth(1).unwrap_or("0");
    let digits: String = n.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a count")
}

/// `file<TAB>digests that fail<TAB>why that is right`, one line a difference.
fn known_failures() -> BTreeMap<&'static str, u64> {
    let lines = include_str!("digests.tsv").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            assert!(
                cells.len() == 3 && !cells[2].is_empty(),
                "no reason: {line}"
            );
            (cells[0], cells[1].parse().expect("a count"))
        })
        .collect()
}

#[test]
fn digests_of_archives_fail_where_their_index_says() {
    let Some(shared) = shared::dir() else { return };
    let folder = shared.join("data/archives");
    let mut differences = known_failures();
    let mut wrong = String::new();
    for (file, odd) in index_of(&folder, 5) {
        if !file.ends_with(".warc") && !file.ends_with(".warc.gz") {
            continue;
        }
        let found = read(&folder.join(&file)).unwrap_or_default();
        let failed = ["Mismatch", "Uncheckable", "OkOverRawBody"];
        let n_failed: u64 = failed
            .iter()
            .filter_map(|status| found.statuses.get(*status))
            .sum();
        let expected = differences
            .remove(file.as_str())
            .unwrap_or_else(|| indexed_failures(&odd));
        if n_failed != expected {
            wrong += &format!(
                "{file}: {:?}, expected {expected} that fail\n",
                found.statuses
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(differences.is_empty(), "no such files: {differences:?}");
}

#[test]
fn archives_of_other_projects_hold_what_their_index_says() {
    let Some(shared) = shared::dir() else { return };
    let folder = shared.join("data/archives");
    let mut differences = known_differences();
    let mut wrong = String::new();
    let mut n_files = 0;
    for (file, holds) in index(&folder) {
        let is_warc = file.ends_with(".warc") || file.ends_with(".warc.gz");
        if !is_warc {
            continue;
        }
        n_files += 1;
        let path = folder.join(&file);
        let found = read(&path).unwrap_or_default();
        if !found.by_type.is_empty() {
            assert_eq!(
                read_stream(&path).by_type,
                found.by_type,
                "{file} as a stream"
            );
        }
        let expected = match differences.remove(file.as_str()) {
            Some(known) => known.to_owned(),
            None => indexed_words(&holds),
        };
        if found.words() != expected {
            wrong += &format!(
                "{file}\t{}\t{expected}\t{:?}\n",
                found.words(),
                found.damage
            );
        }
    }
    assert!(n_files > 100, "only {n_files} files in the index");
    assert!(wrong.is_empty(), "found, expected:\n{wrong}");
    assert!(differences.is_empty(), "no such files: {differences:?}");
}
