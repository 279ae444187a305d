//! Every CDX and CDXJ among the shared archives, held against INDEX.md.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crawl_dedupe::capture::{Event, FileId, RecordType};
use crawl_dedupe::scan::{cdx, cdxj};
use crawl_dedupe::source::{self, Content, Piece};

use crate::shared;

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    lines: u64,
    revisits: u64,
    captures: u64,
    damage: u64,
}

/// Where INDEX.md and the readers differ: lines, revisits and captures as read, and why.
const DIFFERENCES: [(&str, [u64; 3], &str); 2] = [
    (
        "pywb/zipnum-sample.cdx.gz",
        [188, 133, 188],
        "37 of 38 members end without line feed, each amid what INDEX.md counts as one line",
    ),
    (
        "warc-metadata-sidecar/meta.cdxj",
        [1, 0, 0],
        "the line describes a payload and has no url: damage",
    ),
];

#[test]
fn every_index_holds_what_the_list_of_archives_says() {
    let Some(shared) = shared::dir() else {
        return;
    };
    let archives = shared.join("data/archives");
    let stated = stated_counts(&archives.join("INDEX.md"));
    let found: BTreeMap<String, Counts> = indexes(&archives)
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&archives).expect("it was found there");
            (name.display().to_string(), read(path))
        })
        .collect();
    assert_eq!(found.len(), 25, "{:?}", found.keys());
    for (name, counts) in &found {
        let (lines, revisits) = stated[name];
        let is_cdx = name.ends_with(".cdx");
        let as_stated = [lines, revisits, lines - u64::from(is_cdx)];
        let expected = DIFFERENCES
            .iter()
            .find(|row| row.0 == name)
            .map_or(as_stated, |row| row.1);
        assert_eq!(
            [counts.lines, counts.revisits, counts.captures],
            expected,
            "{name}"
        );
        let damage = counts.lines - u64::from(is_cdx) - counts.captures;
        assert_eq!(counts.damage, damage, "{name}");
    }
}

#[test]
fn one_archive_as_cdx_and_cdxj_states_the_same() {
    let Some(shared) = shared::dir() else {
        return;
    };
    let facts = |name: &str| {
        let mut facts = Vec::new();
        events(&shared.join("data/archives/pywb").join(name), |event| {
            if let Event::Capture(capture) = event {
                facts.push(format!(
                    "{:?} {:?} {:?} {:?} {}",
                    capture.target_uri.escape_ascii().to_string(),
                    capture.date,
                    capture.payload.digest,
                    capture.locator.offset,
                    capture.stated_file.escape_ascii()
                ));
            }
        });
        facts.sort();
        facts
    };
    assert_eq!(facts("iana.cdx"), facts("iana.cdxj"));
    assert_eq!(facts("iana.cdx").len(), 171);
}

/// Lines and revisits by folder and name, from the tables of INDEX.md.
fn stated_counts(index: &Path) -> BTreeMap<String, (u64, u64)> {
    let text = fs::read_to_string(index).expect("INDEX.md stands beside the archives");
    let mut folder = "";
    let mut stated = BTreeMap::new();
    for line in text.lines() {
        folder = line.strip_prefix("## ").unwrap_or(folder);
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, _, _, holds, ..] = cells.as_slice() else {
            continue;
        };
        let words: Vec<&str> = holds.split(' ').collect();
        if let [lines, "lines,", revisits, "revisit;", ..] = words.as_slice() {
            let count = |word: &str| word.parse().expect("INDEX.md states a number");
            let name = name.trim_start_matches("| ");
            stated.insert(format!("{folder}/{name}"), (count(lines), count(revisits)));
        }
    }
    stated
}

fn indexes(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(indexes(&path));
        } else if [".cdx", ".cdxj", ".cdx.gz"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
    found
}

fn read(path: &Path) -> Counts {
    let mut counts = Counts::default();
    events(path, |event| match event {
        Event::Record { record_type, .. } => {
            counts.lines += 1;
            counts.revisits += u64::from(record_type == RecordType::Revisit);
        }
        Event::Capture(_) => counts.captures += 1,
        Event::Ignored => counts.lines += 1,
        Event::Damage(_) => {
            counts.lines += 1;
            counts.damage += 1;
        }
        _ => {}
    });
    counts
}

/// A member of a file, decoded; of a plain file, all of it.
struct Member {
    offset: u64,
    bytes: Vec<u8>,
}

fn members(stored: Vec<u8>) -> Vec<Member> {
    if !stored.starts_with(b"\x1f\x8b") {
        return vec![Member {
            offset: 0,
            bytes: stored,
        }];
    }
    let mut rest = stored.as_slice();
    let mut members = Vec::new();
    while !rest.is_empty() {
        let offset = stored.len() - rest.len();
        let mut bytes = Vec::new();
        flate2::bufread::GzDecoder::new(&mut rest)
            .read_to_end(&mut bytes)
            .expect("the members are sound");
        members.push(Member {
            offset: offset as u64,
            bytes,
        });
    }
    members
}

/// The events of a file, in pieces of a thousand bytes.
fn events(path: &Path, mut sink: impl FnMut(Event<'_>)) {
    let members = members(fs::read(path).expect("the file is readable"));
    let content = source::sniff(&members[0].bytes).content;
    let pieces = members.iter().flat_map(|member| {
        let end = Piece::MemberEnd {
            offset: member.offset,
            length: 1,
        };
        let parts = member.bytes.chunks(1000).enumerate();
        parts
            .map(|(index, bytes)| Piece::Bytes {
                bytes,
                offset: member.offset + index as u64 * 1000,
            })
            .chain([end])
    });
    if content == Content::Cdx {
        let mut reader = cdx::Reader::new(FileId(0));
        pieces.for_each(|piece| reader.push(piece, &mut sink));
        reader.finish(&mut sink);
    } else {
        let mut reader = cdxj::Reader::new(FileId(0));
        pieces.for_each(|piece| reader.push(piece, &mut sink));
        reader.finish(&mut sink);
    }
}
