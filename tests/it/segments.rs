//! Records stored in several segments: joined where all are there, else no evidence (WARC 1.1 section 7).

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const BODY: &str = "one page, in two segments or in one piece";

#[test]
fn joins_a_record_whose_segments_are_all_there() {
    for (name, archive) in [
        ("in order", [plain(), first(), last(BODY.len())]),
        ("last first", [last(BODY.len()), first(), plain()]),
    ] {
        let report = report_of(&archive);
        let roles = roles(&report);
        assert_eq!(roles, ["duplicate", "keeper"], "{name}: {report}");
    }
}

#[test]
fn a_record_with_a_segment_missing_joins_nothing() {
    assert_eq!(roles(&report_of(&[plain(), first()])), ["unique", "unique"]);
}

#[test]
fn a_record_of_another_length_than_its_last_segment_states_joins_nothing() {
    let archive = [plain(), first(), last(BODY.len() + 1)];
    assert_eq!(roles(&report_of(&archive)), ["unique", "unique"]);
}

fn plain() -> String {
    record(
        "Type: response\r\nWARC-Record-ID: <urn:x:plain>\r\nWARC-Target-URI: http://a.example/",
        &http(BODY),
    )
}

fn first() -> String {
    record(
        "Type: response\r\nWARC-Record-ID: <urn:x:first>\r\nWARC-Target-URI: http://b.example/\r\nWARC-Segment-Number: 1",
        &http(&BODY[..10]),
    )
}

fn last(body_bytes: usize) -> String {
    let total = http("").len() + body_bytes;
    record(
        &format!(
            "Type: continuation\r\nWARC-Record-ID: <urn:x:last>\r\nWARC-Target-URI: http://b.example/\r\n\
             WARC-Segment-Origin-ID: <urn:x:first>\r\nWARC-Segment-Number: 2\r\nWARC-Segment-Total-Length: {total}"
        ),
        &BODY[10..],
    )
}

fn http(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}")
}

fn record(fields: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-{fields}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// The report of the records, each a gzip member of its own; and the same of a plain file.
fn report_of(records: &[String]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (plain, gzip) = (
        folder.path().join("a.warc"),
        folder.path().join("a.warc.gz"),
    );
    std::fs::write(&plain, records.concat()).expect("a file can be written");
    let mut members = Vec::new();
    for record in records {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        member
            .write_all(record.as_bytes())
            .expect("a member can be written");
        members.extend(member.finish().expect("a member can be written"));
    }
    std::fs::write(&gzip, members).expect("a file can be written");
    let (of_plain, of_gzip) = (dedupe(&plain), dedupe(&gzip));
    assert_eq!(roles(&of_plain), roles(&of_gzip));
    of_plain
}

fn dedupe(input: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["--include-unique", "-q", "--report", "-", "--in"])
        .arg(input)
        .output()
        .expect("the binary runs");
    String::from_utf8(output.stdout).expect("a report is UTF-8")
}

fn roles(report: &str) -> Vec<String> {
    let mut roles: Vec<String> = report
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').nth(2))
        .map(str::to_owned)
        .collect();
    roles.sort();
    roles
}
