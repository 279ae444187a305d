//! Whole reports, byte for byte.

use crawl_dedupe::capture::{
    Algorithm, Capture, Completeness, Damage, Digest, DigestStatus, FileId, Locator, Method,
    Payload, RecordType, RefersTo, Timestamp,
};
use crawl_dedupe::catalog::{RowFlags, RowId};
use crawl_dedupe::group::{
    Conflict, Conflicts, Counts, End, Evidence, Fate, Role, Sameness, Thresholds,
};
use crawl_dedupe::policy::{PolicyId, Rule, RuleSet};
use crawl_dedupe::report::{
    Escape, Format, Lines, Link, Loss, Place, Row, Summary, Target, publish,
};

use crate::expect;

#[test]
fn csv_is_what_it_was() {
    expect::check("report.csv", &report(Format::Csv));
}

#[test]
fn jsonl_is_what_it_was() {
    let text = report(Format::Jsonl);
    expect::check("report.jsonl", &text);
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let row: serde_json::Value = serde_json::from_slice(line).expect("each line is JSON");
        assert!(row["evidence"].is_array() && row["chain"].is_array());
    }
}

/// A keeper, an alias with everything that needs care, and a damaged row in no group.
fn report(format: Format) -> Vec<u8> {
    let mut lines = Lines::new(format, Escape::Formula);
    let mut out = Vec::new();
    lines.push_header(&mut out);
    let keeper = fate(Role::Keeper);
    lines.push(&row(capture(), &keeper), &mut out);
    push_alias(&mut lines, &mut out);
    push_damaged(&mut lines, &mut out);
    out
}

fn push_alias(lines: &mut Lines, out: &mut Vec<u8>) {
    let mut conflicts = Conflicts::default();
    conflicts.insert(Conflict::Language);
    conflicts.insert(Conflict::Variant);
    let fate = Fate {
        sameness: Some(Sameness::SamePage),
        evidence: vec![Evidence::Redirect, Evidence::Digest],
        joined_to: Some(RowId(0)),
        conflicts,
        end: End::Row(RowId(0)),
        url_group: None,
        ..fate(Role::Alias)
    };
    let uri = b"http://user:secret@example.org/a,\"b\"";
    let capture = Capture {
        target_uri: uri,
        status: Some(301),
        mime: b"=cmd()",
        method: Method {
            name: b"POST",
            body_hash: 1,
        },
        date: Timestamp::new(1_704_164_645, 250_000_000),
        record_id: b"urn:uuid:2",
        ..capture()
    };
    let link = Link {
        url: b"http://u:p@example.org/",
        status: Some(200),
        timestamp: Timestamp::new(1_704_067_200, 0),
    };
    let row = Row {
        flags: RowFlags::CREDENTIALS.with(RowFlags::SIGNED, true),
        key_text: uri,
        rules: [Rule::Trim, Rule::Port].into_iter().collect::<RuleSet>(),
        joined_to: Some(Place {
            file_name: b"crawl.warc.gz",
            offset: 0,
        }),
        redirect_to: b"http://u:p@example.org/",
        final_url: b"http://u:p@example.org/",
        keeper_url: b"http://u:p@example.org/",
        chain: &[link],
        ..row(capture, &fate)
    };
    lines.push(&row, out);
}

fn push_damaged(lines: &mut Lines, out: &mut Vec<u8>) {
    let fate = Fate {
        group_id: 0,
        group_size: 1,
        keeper: None,
        url_group: None,
        content_group: None,
        page_group: None,
        ..fate(Role::Unique)
    };
    let capture = Capture {
        target_uri: b"http://example.org/\xff\t\\",
        record_id: b"",
        date: Timestamp::UNKNOWN,
        status: None,
        mime: b"",
        payload: Payload {
            bytes: None,
            digest: None,
            declared_text: b"sha1:oops",
            status: DigestStatus::Uncheckable,
            completeness: Completeness::Cut,
            ..capture().payload
        },
        locator: Locator {
            length: None,
            ..capture().locator
        },
        ..capture()
    };
    lines.push(
        &Row {
            file_name: b"\xe9.warc",
            ..row(capture, &fate)
        },
        out,
    );
}

fn row<'a>(capture: Capture<'a>, fate: &'a Fate) -> Row<'a> {
    Row {
        key_text: capture.target_uri,
        capture,
        fate,
        flags: RowFlags::default(),
        rules: RuleSet::default(),
        joined_to: None,
        redirect_to: b"",
        final_url: b"",
        canonical: b"",
        keeper_url: b"",
        file_name: b"crawl.warc.gz",
        chain: &[],
    }
}

fn fate(role: Role) -> Fate {
    Fate {
        group_id: 1,
        group_size: 2,
        role,
        sameness: None,
        evidence: Vec::new(),
        joined_to: None,
        conflicts: Conflicts::default(),
        keeper: Some(RowId(0)),
        end: End::Itself,
        url_group: Some(1),
        content_group: Some(0xdead_beef),
        page_group: Some(u64::MAX),
    }
}

fn capture() -> Capture<'static> {
    Capture {
        locator: Locator {
            file: FileId(0),
            ordinal: 0,
            offset: 424,
            length: Some(1000),
        },
        record_type: RecordType::Response,
        target_uri: b"http://example.org/",
        record_id: b"urn:uuid:1",
        date: Timestamp::new(1_704_067_200, 0),
        method: Method::GET,
        status: Some(200),
        has_http_head: true,
        mime: b"text/html",
        language: b"",
        location: b"",
        is_hsts: false,
        payload: Payload {
            bytes: Some(20),
            digest: Digest::new(Algorithm::Sha1, &[7; 20]),
            body_hash: None,
            text: None,
            decoded: None,
            decodes_to_nothing: false,
            is_undecodable: false,
            declared_text: b"sha1:A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYH",
            declared: None,
            status: DigestStatus::Ok,
            completeness: Completeness::Complete,
        },
        truncated: b"",
        refers_to: RefersTo::default(),
        profile: b"",
        shares_member: false,
        stated_file: b"",
        is_index_line: false,
    }
}

#[test]
fn summary_is_what_it_was() {
    let id = PolicyId {
        name: "safe".to_owned(),
        version: "1".to_owned(),
        hash: 0xabc,
    };
    let mut summary = Summary::new("dedupe --in a.warc".to_owned(), &id);
    summary.set_thresholds(&Thresholds::default(), "verify");
    let mut counts = Counts {
        distinct_uris: 3,
        ..Counts::default()
    };
    counts.by_role[Role::Duplicate as usize] = 1;
    counts.by_conflict[Conflict::RedirectOutside as usize] = 2;
    counts.by_conflict[Conflict::CanonicalHub as usize] = 4;
    summary.set_groups(&counts);
    let damage = Damage {
        file: FileId(0),
        offset: 9,
        length: None,
        line: Some(2),
        what: "no timestamp".to_owned(),
    };
    summary.damage.push(Loss::of(&damage, b"\xe9.cdx"));
    let folder = tempfile::tempdir().expect("a folder");
    let target = Target::from(folder.path().join("s.json"));
    let written = summary.write(&target).expect("the summary is written");
    publish(vec![written]).expect("it gets its name");
    let text = std::fs::read(target.path()).expect("it is there");
    let version = env!("CARGO_PKG_VERSION");
    let text = String::from_utf8(text)
        .expect("JSON is UTF-8")
        .replace(version, "VERSION");
    expect::check("summary.json", text.as_bytes());
}
