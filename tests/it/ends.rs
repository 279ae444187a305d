//! Where captures lead: a table for every sentence of "The end of a capture".

use crawl_dedupe::catalog::RowId;
use crawl_dedupe::group::{End, Ends, Evidence, Thresholds};

use crate::given::{Given, catalog, redirect, response, revisit};

/// Where a row should lead: its hop, its end and its conflicts, as one line.
fn outcome(ends: &Ends, row: usize) -> String {
    let row = RowId::from_index(row);
    let mut line = match ends.hop(row) {
        None => "-".to_owned(),
        Some(hop) => {
            let kind = match hop.kind {
                Evidence::Revisit => "revisit",
                Evidence::Redirect => "redirect",
                Evidence::RedirectTemporary => "temporary",
                other => panic!("{other:?} is no pointer"),
            };
            format!("{kind} {}", hop.to.0)
        }
    };
    line += &match ends.end(row) {
        End::Itself => ", itself".to_owned(),
        End::Row(end) => format!(", end {}", end.0),
        End::Unfollowed(at) => format!(", not from {}", at.0),
        End::Loop => ", loop".to_owned(),
    };
    for conflict in ends.conflicts(row).iter() {
        line = line + " " + conflict.code();
    }
    line
}

fn check(given: &[Given], expected: &[&str]) {
    check_with(&Thresholds::default(), given, expected);
}

fn check_with(thresholds: &Thresholds, given: &[Given], expected: &[&str]) {
    let ends = Ends::of(&catalog(given), thresholds);
    let found: Vec<String> = (0..given.len()).map(|row| outcome(&ends, row)).collect();
    assert_eq!(found, expected);
}

#[test]
fn follows_a_chain_and_names_what_leaves_the_archive() {
    let given = [
        redirect("http://a/old", 1, 301, "http://a/start"),
        redirect("http://a/start", 1, 308, "https://a/"),
        response("https://a/", 1, 200),
        redirect("http://a/gone", 1, 301, "http://elsewhere/x"),
    ];
    check(
        &given,
        &[
            "redirect 1, end 2",
            "redirect 2, end 2",
            "-, itself",
            "-, not from 3 redirect-outside",
        ],
    );
}

#[test]
fn a_revisit_without_original_dangles() {
    let given = [
        response("http://a/1", 1, 200),
        Given {
            declared: "http://a/1 200".to_owned(),
            ..revisit("http://a/1", 2, "http://a/1 200")
        },
        revisit("http://a/2", 2, "other"),
    ];
    check(
        &given,
        &["-, itself", "revisit 0, end 0", "-, itself dangling"],
    );
}
