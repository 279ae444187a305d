//! Two other readers beside ours, the `warc` crate and FastWARC: the records they read, up to where they stop, must be
//! ours too. What FastWARC reads is a table that `scripts/fastwarc-counts.py` makes.

use crate::shared;
use crawl_dedupe::capture::{Event, FileId, RecordType};
use crawl_dedupe::scan::warc::{DigestMode, Framing, Options, Reader, VisibleText};
use crawl_dedupe::source::{Compression, Content, Decoder, Map, SNIFFED, sniff};

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

#[test]
fn every_record_that_the_warc_crate_reads_is_read() {
    let Some(shared) = shared::dir() else { return };
    let folder = shared.join("data/archives");
    let mut differences = known_differences();
    let (mut n_files, mut n_stopped, mut wrong) = (0, 0, String::new());
    for path in archives(&folder) {
        let Some(ours) = types_read(&path) else {
            continue;
        };
        n_files += 1;
        let (theirs, is_whole) = types_read_by_peer(&path);
        n_stopped += u64::from(!is_whole);
        let is_same = ours.starts_with(&theirs) && (!is_whole || ours.len() == theirs.len());
        let name = path.strip_prefix(&folder).expect("it stands in the folder");
        let is_known = differences
            .remove(name.to_str().expect("its name is UTF-8"))
            .is_some();
        if is_same == is_known {
            wrong += &format!("{}: ours {ours:?}, theirs {theirs:?}\n", name.display());
        }
    }
    assert!(n_files > 100, "only {n_files} archives");
    // What the README says of that reader.
    assert!(
        n_stopped > 20,
        "it stops early in {n_stopped} archives only"
    );
    assert!(wrong.is_empty(), "{wrong}");
    assert!(differences.is_empty(), "no such files: {differences:?}");
}

/// Archives at whose first part FastWARC ends as if they ended there, and why.
const FASTWARC_ENDS_EARLY: [(&str, &str); 2] = [
    (
        "tricky-synthetic/39_empty_member_between.warc.gz",
        "a gzip member without content is its end",
    ),
    (
        "warc-metadata-sidecar/digest_multiples.warc",
        "lines end in LF alone",
    ),
];

#[test]
fn every_record_that_fastwarc_reads_is_read() {
    let Some(shared) = shared::dir() else { return };
    let folder = shared.join("data/archives");
    let (mut n_files, mut wrong) = (0, String::new());
    for line in include_str!("fastwarc.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().expect("a line has three cells");
        let (file, n_theirs, end) = (cell(), cell().parse::<usize>().expect("a count"), cell());
        let Some(ours) = types_read(&folder.join(file)) else {
            continue;
        };
        n_files += 1;
        let ends_early = FASTWARC_ENDS_EARLY.iter().any(|(known, _)| *known == file);
        let is_right = match end {
            // Perhaps with an error behind its last record.
            "stops" => ours.len() >= n_theirs,
            _ if ends_early => ours.len() > n_theirs,
            _ => ours.len() == n_theirs,
        };
        if !is_right {
            wrong += &format!("{file}: ours {}, FastWARC {n_theirs}, {end}\n", ours.len());
        }
    }
    assert!(n_files > 100, "only {n_files} archives");
    assert!(wrong.is_empty(), "{wrong}");
}

/// `file<TAB>why the two differ`.
fn known_differences() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("peer.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once('\t').expect("a line has a reason"))
        .collect()
}

fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            found.extend(archives(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The types of all records, as we read them; `None` for what is no WARC in a coding that the peer knows.
fn types_read(path: &Path) -> Option<Vec<RecordType>> {
    let map = Map::open(path).expect("the archive can be mapped");
    let format = sniff(&map[..map.len().min(SNIFFED)]);
    if format.content != Content::Warc || format.compression == Compression::Zstd {
        return None;
    }
    let options = Options {
        digests: DigestMode::Declared,
        text: VisibleText::Skip,
    };
    let mut reader = match format.compression {
        Compression::Plain => Reader::over_map(FileId(0), &map, options),
        _ => Reader::new(FileId(0), Framing::Members, options),
    };
    let mut types = Vec::new();
    let mut take = |event: Event<'_>| {
        if let Event::Record { record_type, .. } = event {
            types.push(record_type);
        }
    };
    let pieces = Decoder::default().pieces(&mut &map[..], format.compression, |piece| {
        reader.push(piece, &mut take);
        ControlFlow::Continue(())
    });
    pieces.expect("bytes in memory can be read");
    reader.finish(&mut take);
    Some(types)
}

/// The types of the records that the `warc` crate reads, and whether it came to the end.
fn types_read_by_peer(path: &Path) -> (Vec<RecordType>, bool) {
    let mut file = BufReader::new(std::fs::File::open(path).expect("the archive is readable"));
    let is_gzip = file
        .fill_buf()
        .expect("the archive is readable")
        .starts_with(b"\x1f\x8b");
    let mut text = Vec::new();
    let decoded = if is_gzip {
        flate2::bufread::MultiGzDecoder::new(file).read_to_end(&mut text)
    } else {
        file.read_to_end(&mut text)
    };
    let mut types = Vec::new();
    for record in warc::WarcReader::new(&text[..]).iter_raw_records() {
        let Ok((header, _)) = record else {
            return (types, false);
        };
        let name = header.as_ref().get(&warc::WarcHeader::WarcType);
        types.push(record_type(name.map_or(&b""[..], Vec::as_slice)));
    }
    (types, decoded.is_ok())
}

fn record_type(name: &[u8]) -> RecordType {
    let all = [
        RecordType::Response,
        RecordType::Resource,
        RecordType::Conversion,
        RecordType::Revisit,
        RecordType::Request,
        RecordType::Metadata,
        RecordType::Warcinfo,
        RecordType::Continuation,
    ];
    let known = all.into_iter().find(|known| {
        known
            .name()
            .as_bytes()
            .eq_ignore_ascii_case(name.trim_ascii())
    });
    known.unwrap_or(RecordType::Other)
}
