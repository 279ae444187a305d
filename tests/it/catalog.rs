//! Which rows of a catalog are captures of their own, and how they were asked for.

use crawl_dedupe::capture::{FileId, Locator, Method, RecordType, Request, Timestamp};
use crawl_dedupe::catalog::{Catalog, RecordStarts, RowFlags, RowId, index, methods};

use crate::given::{DAY, Given, catalog, key, response, revisit};

fn record(url: &str, offset: u64) -> Given {
    Given {
        offset,
        id: format!("urn:{url}"),
        declared: format!("{url} 200"),
        ..response(url, 1, 200)
    }
}

/// A line of `crawl.cdx` about `url` at `offset` of `stated_file`.
fn line(url: &str, stated_file: &'static str, offset: u64) -> Given {
    Given {
        file: 1,
        id: String::new(),
        stated_file,
        is_index_line: true,
        ..record(url, offset)
    }
}

/// What is left of `given`, and what became of the lines: how many are known, differ, or name nothing.
fn check(given: &[Given], expected_urls: &[&str], expected_counts: [u64; 3]) {
    let mut catalog = catalog(given);
    let mut starts = RecordStarts::default();
    for offset in [0, 100, 200, 300] {
        starts.push(FileId(0), offset);
    }
    let outcome = index::resolve(&mut catalog, &starts);
    let urls: Vec<&[u8]> = catalog.ids().map(|row| catalog.target_uri(row)).collect();
    let expected: Vec<&[u8]> = expected_urls.iter().map(|url| url.as_bytes()).collect();
    assert_eq!(urls, expected);
    let counts = [outcome.index_lines, outcome.n_differing, outcome.n_damage];
    assert_eq!(counts, expected_counts, "{outcome:?}");
}

#[test]
fn a_line_is_the_record_at_its_place() {
    let record = record("http://a/", 100);
    for (line, differs) in [
        (line("http://a/", "elsewhere/crawl.warc.gz", 100), 0),
        (
            Given {
                date: None,
                status: 0,
                ..line("http://a/", "crawl.warc.gz", 100)
            },
            0,
        ),
        (
            Given {
                date: Some((DAY, 999)),
                ..line("http://a/", "crawl.warc.gz", 100)
            },
            0,
        ),
        (
            Given {
                date: Some((DAY + 1, 0)),
                ..line("http://a/", "crawl.warc.gz", 100)
            },
            1,
        ),
        (
            Given {
                status: 404,
                ..line("http://a/", "crawl.warc.gz", 100)
            },
            1,
        ),
        (
            Given {
                declared: "other".to_owned(),
                payload: "other".to_owned(),
                ..line("http://a/", "crawl.warc.gz", 100)
            },
            1,
        ),
    ] {
        check(
            &[record.clone(), line.clone()],
            &["http://a/"],
            [1, differs, 0],
        );
        check(&[line, record.clone()], &["http://a/"], [1, differs, 0]);
    }
}

#[test]
fn a_line_is_the_record_of_its_id() {
    let named = |url: &str, id: &str| Given {
        id: id.to_owned(),
        ..line(url, "unknown.warc.gz", 7)
    };
    let record = record("http://a/", 100);
    check(
        &[record.clone(), named("http://a/", "urn:http://a/")],
        &["http://a/"],
        [1, 0, 0],
    );
    check(
        &[record.clone(), named("http://b/", "urn:http://a/")],
        &["http://a/"],
        [1, 1, 0],
    );
    check(
        &[record, named("http://a/", "urn:other")],
        &["http://a/", "http://a/"],
        [0, 0, 0],
    );
}

#[test]
fn a_line_on_another_record_counts_with_a_warning() {
    // At 200 a record starts that is no capture; at 100 one of another URI.
    for line in [
        line("http://a/", "crawl.warc.gz", 200),
        line("http://b/", "crawl.warc.gz", 100),
    ] {
        check(&[record("http://a/", 100), line], &["http://a/"], [1, 1, 0]);
    }
}

#[test]
fn a_line_to_where_no_record_starts_is_damage() {
    let given = [
        record("http://a/", 100),
        line("http://a/", "crawl.warc.gz", 150),
    ];
    check(&given, &["http://a/"], [0, 0, 1]);
    let mut starts = RecordStarts::default();
    starts.push(FileId(0), 100);
    let outcome = index::resolve(&mut catalog(&given), &starts);
    assert_eq!(
        (
            outcome.damage[0].file,
            outcome.damage[0].line,
            outcome.damage[0].what.as_str()
        ),
        (
            FileId(1),
            Some(2),
            "the line names offset 150 of crawl.warc.gz, where no record starts"
        )
    );
}

#[test]
fn lines_on_one_place_of_an_unknown_file_are_one_capture() {
    let given = [
        line("http://a/", "x/far.warc.gz", 5),
        line("http://a/", "y/far.warc.gz", 5),
        line("http://b/", "far.warc.gz", 5),
        line("http://a/", "far.warc.gz", 6),
        line("http://a/", "near.warc.gz", 5),
        line("http://a/", "", 5),
        line("http://a/", "", 5),
    ];
    check(
        &given,
        &[
            "http://a/",
            "http://b/",
            "http://a/",
            "http://a/",
            "http://a/",
            "http://a/",
        ],
        [1, 0, 0],
    );
}

#[test]
fn of_two_records_in_one_member_a_line_is_the_one_of_its_second() {
    let early = Given {
        status: 404,
        ..record("http://a/", 100)
    };
    let late = Given {
        date: Some((2 * DAY, 0)),
        ..record("http://a/", 100)
    };
    let line = Given {
        date: Some((2 * DAY, 0)),
        ..line("http://a/", "crawl.warc.gz", 100)
    };
    check(&[early, late, line], &["http://a/", "http://a/"], [1, 0, 0]);
}

#[test]
fn a_conversion_is_the_record_it_was_made_from() {
    let conversion = |id: &str, source: &str| Given {
        record_type: RecordType::Conversion,
        file: 2,
        id: id.to_owned(),
        refers_id: source.to_owned(),
        ..record("http://a/", 0)
    };
    check(
        &[record("http://a/", 100), conversion("c", "urn:http://a/")],
        &["http://a/"],
        [1, 0, 0],
    );
    // Its source is elsewhere, or itself a conversion: it stands.
    let both = [conversion("c", "d"), conversion("d", "c")];
    check(&both, &["http://a/", "http://a/"], [0, 0, 0]);
}

#[test]
fn removal_keeps_how_rows_were_asked_for() {
    let given = [
        line("http://a/", "crawl.warc.gz", 100),
        Given {
            method: "POST",
            ..record("http://b/", 200)
        },
        record("http://a/", 100),
    ];
    let mut catalog = catalog(&given);
    let mut starts = RecordStarts::default();
    starts.push(FileId(0), 100);
    index::resolve(&mut catalog, &starts);
    let post = RowId::from_index(0);
    assert_eq!(catalog.url_key(post), key("http://b/"));
    assert_ne!(catalog.row(post).key, key("http://b/"));
    assert_eq!(catalog.capture(post).method.name, b"POST");
    assert!(
        !catalog
            .row(RowId::from_index(1))
            .flags
            .contains(RowFlags::NOT_GET)
    );
}

#[test]
fn a_hash_of_text_is_kept_where_there_is_one() {
    let texts = [Some(7), None, Some(0), Some(u64::MAX)];
    let given = texts.map(|text| Given {
        text,
        method: "POST",
        decoded: "a".to_owned(),
        ..record("http://a/", 100)
    });
    let catalog = catalog(&given);
    for (row, text) in catalog.ids().zip(texts) {
        assert_eq!(catalog.text_hash(row), text);
        assert_eq!(catalog.capture(row).payload.text, text);
    }
    assert_eq!(catalog.len(), texts.len());
}

fn request<'a>(record_id: &'a str, concurrent_to: &'a str, name: &'a str) -> Request<'a> {
    Request {
        locator: Locator {
            file: FileId(0),
            ordinal: 0,
            offset: 0,
            length: None,
        },
        record_id: record_id.as_bytes(),
        concurrent_to: concurrent_to.as_bytes(),
        target_uri: b"http://a/",
        date: Timestamp::UNKNOWN,
        method: Method {
            name: name.as_bytes(),
            body_hash: 7,
        },
    }
}

fn asked(catalog: &Catalog) -> Vec<String> {
    let name = |row| catalog.capture(row).method.name.escape_ascii().to_string();
    catalog.ids().map(name).collect()
}

#[test]
fn a_request_says_how_a_capture_was_asked_for() {
    let answer = |id: &str| Given {
        id: id.to_owned(),
        ..response("http://a/", 1, 200)
    };
    let given = [
        answer("by-request"),
        answer("by-response"),
        answer("alone"),
        answer("head"),
        Given {
            id: "revisit".to_owned(),
            ..revisit("http://a/", 2, "x")
        },
        Given {
            method: "PUT",
            ..answer("both")
        },
    ];
    let mut catalog = catalog(&given);
    let mut requests = methods::Requests::default();
    let mut later = methods::Requests::default();
    requests.push(&request("r1", "x by-request", "POST"));
    requests.push(&request("r2", "", "POST"));
    requests.push(&request("r3", "alone", "GET"));
    requests.push(&request("r4", "head", "HEAD"));
    requests.push(&request("r5", "revisit", "POST"));
    later.push(&request("r6", "both", "POST"));
    // Row 1 is the second of a batch that starts at row 0.
    later.push_concurrent(1, b"y  r2");
    requests.append(later, 0);
    methods::resolve(&mut catalog, requests);
    assert_eq!(
        asked(&catalog),
        ["POST", "POST", "GET", "HEAD", "POST", "PUT"]
    );
    let row = |index| catalog.row(RowId::from_index(index));
    assert_eq!(row(0).key, key("http://a/").with_method(b"POST", 7));
    assert_eq!(row(0).key, row(1).key);
    assert_eq!(row(2).key, key("http://a/"));
    assert!(row(3).flags.contains(RowFlags::HEAD));
    assert!(!row(0).flags.contains(RowFlags::HEAD));
}
