//! Which capture is kept, what the others are to it, in which order they are listed, and what they cost.

use super::made::{Made, Stored, catalog_of, groups_of};
use super::{check, check_with, counts_of, fates, line, with_evidence};
use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::RowId;
use crawl_dedupe::group::{Conflict, Evidence, Keep, Listing, Role, Thresholds};

const KEEPER: &str = "1/2 keeper";

/// The second of two captures is kept.
fn check_keeps_second(thresholds: &Thresholds, first: Made, second: Made) {
    let made = [first, second];
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, thresholds);
    let kept = groups.fate(&catalog, RowId(0)).keeper;
    assert_eq!(kept, Some(RowId(1)), "{made:#?}");
}

#[test]
fn the_keeper_is_first_in_a_total_order() {
    let page = || Made::page("a", 1);
    let status = |digest_status| Made {
        digest_status,
        ..page()
    };
    let check = |first: Made, second: Made| {
        // What decides earlier outweighs everything that decides later.
        check_keeps_second(&Thresholds::default(), first, second.on_day(9));
    };
    check(
        Made {
            payload: Stored::Declared(1),
            ..Made::revisit("a", "")
        },
        status(DigestStatus::Mismatch),
    );
    for best in [DigestStatus::Ok, DigestStatus::OkOverRawBody] {
        for middle in [
            DigestStatus::Unchecked,
            DigestStatus::Absent,
            DigestStatus::Uncheckable,
        ] {
            check(status(middle), status(best).incomplete());
            check(status(DigestStatus::Mismatch), status(middle).incomplete());
        }
    }
    check(page().incomplete(), page().with_status(404));
    check(page().with_status(404), page());
    check(
        page().with_status(404),
        Made {
            status: None,
            ..page()
        },
    );
}

#[test]
fn the_keeper_is_as_wished() {
    let page = || Made::page("a", 1);
    let undated = Made {
        date: None,
        ..page()
    };
    for (keep, first, second) in [
        (Keep::Earliest, page().on_day(2), page().on_day(1)),
        (Keep::Earliest, undated.clone(), page().on_day(1)),
        (Keep::Latest, page().on_day(1), page().on_day(2)),
        (Keep::Latest, undated, page().on_day(-1)),
        (
            Keep::ShortestUrl,
            Made::page("a#12", 1).on_day(1),
            Made::page("a#3", 1).on_day(2),
        ),
        (Keep::Earliest, Made::page("a#2", 1), Made::page("a#1", 1)),
        (Keep::Latest, Made::page("a#2", 1), Made::page("a#1", 1)),
        (
            Keep::ShortestUrl,
            Made::page("a#2", 1).on_day(1),
            Made::page("a#1", 1).on_day(2),
        ),
    ] {
        let thresholds = Thresholds {
            keep,
            ..Thresholds::default()
        };
        check_keeps_second(&thresholds, first, second);
    }
}

#[test]
fn the_last_ties_are_base_name_ordinal_and_input() {
    let in_file = |file| Made {
        file,
        ..Made::page("a", 1)
    };
    let kept = |made: &[Made]| {
        let catalog = catalog_of(made);
        groups_of(&catalog, &Thresholds::default())
            .fate(&catalog, RowId(0))
            .keeper
            .unwrap()
            .0
    };
    let other = |file| Made {
        file,
        ..Made::page("z", 9)
    };
    // `x.warc.gz` before `y.warc.gz`; then the lower ordinal, even in a later input; then the input.
    assert_eq!(kept(&[in_file(1), in_file(2)]), 0);
    assert_eq!(kept(&[in_file(0), in_file(0)]), 0);
    assert_eq!(kept(&[in_file(0), in_file(1)]), 0);
    let catalog = catalog_of(&[other(0), in_file(0), in_file(1)]);
    let groups = groups_of(&catalog, &Thresholds::default());
    assert_eq!(groups.fate(&catalog, RowId(1)).keeper, Some(RowId(2)));
}

#[test]
fn in_a_page_group_only_an_end_is_kept() {
    check(
        &[
            Made::redirect("a", 301, "b").on_day(0),
            Made {
                digest_status: DigestStatus::Mismatch,
                ..Made::page("b", 1).incomplete().on_day(1)
            },
        ],
        &["1/2 alias same-page redirect @1", KEEPER],
    );
}

#[test]
fn where_no_member_is_an_end_the_first_is_kept() {
    // The end's own status keeps it out of the group.
    check(
        &[
            Made::page("a", 1).with_status(404).with_id("r"),
            Made::revisit("b", "r").with_status(200).on_day(2),
            Made::revisit("c", "r").with_status(200).on_day(1),
            Made::redirect("d", 301, "b").on_day(3),
        ],
        &[
            "0/1 unique",
            "1/3 duplicate same-page revisit>digest @0",
            "1/3 keeper",
            "1/3 alias same-page redirect>revisit>digest @1",
        ],
    );
}

#[test]
fn same_content_in_a_url_group_needs_equal_digests_status_and_location() {
    let page = |content| Made::page("a", content).with_status(404);
    let moved = |status, location| Made {
        payload: Stored::Read(1),
        ..Made::redirect("a", status, location)
    };
    let none = |made: Made| Made {
        payload: Stored::Unknown,
        digest_status: DigestStatus::Ok,
        ..made
    };
    let nothing = |made: Made| Made {
        payload: Stored::Nothing,
        ..made
    };
    let duplicate = "1/2 duplicate same-url digest @0";
    let version = "1/2 version same-url key @0";
    let unjudged = "1/2 unjudged same-url key @0";
    for (first, second, expected) in [
        (page(1), page(1), duplicate),
        (page(1), page(2), version),
        (
            page(1),
            page(5).with_decoded(1),
            "1/2 duplicate same-url decoded @0 encoding-differs",
        ),
        (page(1), page(1).with_status(500), version),
        (page(1), none(page(1)).with_status(500), version),
        (page(1), page(1).incomplete(), unjudged),
        (page(1), none(page(1)), unjudged),
        (none(page(1)), none(page(1)), unjudged),
        (page(1), nothing(page(1)), unjudged),
        (
            nothing(page(1)),
            nothing(page(1)),
            "1/2 duplicate same-url key @0",
        ),
        (nothing(page(1)), nothing(page(1)).with_status(500), version),
        (
            nothing(page(1)),
            Made {
                decodes_to_nothing: true,
                ..page(3)
            },
            "1/2 duplicate same-url key @0",
        ),
        (moved(301, "mailto"), moved(302, "mailto"), version),
    ] {
        let made = [first, second.on_day(1)];
        let catalog = catalog_of(&made);
        let groups = groups_of(&catalog, &Thresholds::default());
        let fate = groups.fate(&catalog, RowId(1));
        let told = line(&fate).replace(" not-http", "");
        assert_eq!(told, expected, "{made:#?}");
    }
}

#[test]
fn a_redirect_in_a_url_group_stands_by_its_own_body() {
    let gone = |location, content| Made {
        payload: Stored::Read(content),
        ..Made::redirect("a", 301, location)
    };
    let outside = " redirect-outside";
    check(
        &[
            gone("x", 1),
            gone("x", 1).on_day(1),
            gone("y", 1).on_day(2),
            gone("x", 2).on_day(3),
        ],
        &[
            &("1/4 keeper".to_owned() + outside),
            &("1/4 duplicate same-url digest @0".to_owned() + outside),
            &("1/4 version same-url key @0".to_owned() + outside),
            &("1/4 version same-url key @0".to_owned() + outside),
        ],
    );
}

#[test]
fn answers_to_head_are_never_judged() {
    let head = || Made {
        method: "HEAD",
        payload: Stored::Nothing,
        ..Made::page("a", 1)
    };
    check(
        &[head(), head().on_day(1)],
        &[KEEPER, "1/2 unjudged same-url key @0"],
    );
}

#[test]
fn a_revisit_is_a_duplicate_by_its_reference() {
    let page = || Made::page("a", 1).with_id("r");
    check(
        &[page(), Made::revisit("a", "r").on_day(1)],
        &[KEEPER, "1/2 duplicate same-url revisit @0"],
    );
    // Of a 404, and without a usable digest: in the URL group only.
    check(
        &[
            page().with_status(404).incomplete(),
            Made::revisit("a", "r").on_day(1),
            Made::revisit("a", "r").with_status(500).on_day(2),
        ],
        &[
            "1/3 keeper",
            "1/3 duplicate same-url revisit @0",
            "1/3 version same-url key @0",
        ],
    );
    check(
        &[
            Made::page("a", 1).with_status(404),
            Made::page("b", 1).with_status(404).with_id("r").on_day(1),
            Made::revisit("a", "r").on_day(2),
        ],
        &[
            KEEPER,
            "0/1 unique",
            "1/2 duplicate same-url revisit>digest @1",
        ],
    );
}

#[test]
fn a_reference_out_of_scope_is_named_and_not_followed() {
    check(
        &[
            Made::page("a", 1).with_status(404),
            Made {
                in_scope: false,
                ..Made::page("b", 1).with_status(404).with_id("r")
            },
            Made::revisit("a", "r").on_day(2),
        ],
        &[
            KEEPER,
            "0/1 unique out-of-scope",
            "1/2 duplicate same-url digest @0 out-of-scope",
        ],
    );
}

#[test]
fn evidence_has_pointers_first_and_content_last() {
    let made = [
        Made::page("a", 1).with_id("r"),
        Made::page("b", 1).on_day(1),
        Made::page("c", 5).with_decoded(1).on_day(1),
        Made::redirect("d", 301, "b").on_day(1),
        Made::redirect("e", 308, "d").on_day(1),
        Made::redirect("f", 301, "c").on_day(1),
        Made::redirect("g", 301, "a").on_day(1),
        Made::revisit("h", "r").on_day(1),
        Made::redirect("i", 301, "h").on_day(1),
    ];
    check(
        &made,
        &[
            "1/9 keeper",
            "1/9 duplicate same-page digest @0",
            "1/9 duplicate same-page decoded @0 encoding-differs",
            "1/9 alias same-page redirect>digest @1",
            "1/9 alias same-page redirect>redirect>digest @3",
            "1/9 alias same-page redirect>decoded @2",
            "1/9 alias same-page redirect @0",
            "1/9 duplicate same-page revisit @0",
            "1/9 alias same-page redirect>revisit @7",
        ],
    );
}

#[test]
fn temporary_hops_are_named_one_by_one() {
    check_with(
        &with_evidence(&[Evidence::Digest, Evidence::RedirectTemporary]),
        &[
            Made::page("a", 1),
            Made::redirect("b", 302, "a"),
            Made::redirect("c", 301, "b"),
        ],
        &[
            "1/3 keeper",
            "1/3 alias same-page redirect-temporary @0",
            "1/3 alias same-page redirect>redirect-temporary @1",
        ],
    );
}

#[test]
fn a_revisit_stands_by_its_digest_where_revisits_are_not_named() {
    check_with(
        &with_evidence(&[Evidence::Digest]),
        &[
            Made::page("a", 1).with_id("r"),
            Made::revisit("b", "r").on_day(1),
        ],
        &[KEEPER, "1/2 duplicate same-page digest @0"],
    );
}

#[test]
fn a_revisit_with_another_answer_is_no_duplicate_of_a_content_without_digest() {
    check(
        &[
            Made::page("a", 1).incomplete().with_id("r"),
            Made::revisit("a", "r").on_day(1),
            Made::revisit("a", "r").with_status(203).on_day(2),
            Made::revisit("b", "r").with_status(203).on_day(3),
        ],
        &[
            "1/4 keeper",
            "1/4 duplicate same-url revisit @0",
            "1/4 version same-url key @0",
            "1/4 version same-page revisit @0",
        ],
    );
}

#[test]
fn sameness_is_the_strongest() {
    check(
        &[
            Made::page("a#1", 1).with_id("r"),
            Made::page("a#1", 1).with_id("r").on_day(1),
            Made::page("a#1", 1).with_id("s").on_day(1),
            Made::page("a#2", 1).on_day(1),
            Made::page("b", 1).on_day(1),
        ],
        &[
            "1/5 keeper",
            "1/5 duplicate same-record digest @0",
            "1/5 duplicate same-url digest @0",
            "1/5 duplicate same-key digest @0",
            "1/5 duplicate same-page digest @0",
        ],
    );
}

#[test]
fn a_capture_is_in_its_page_group_else_in_what_is_left_of_its_url_group() {
    // The keeper of the URL group of `a` stands in a page group; of `c` in none; `b` has one left.
    let made = [
        Made::page("a", 1),
        Made::page("b", 1).on_day(1),
        Made::page("a", 2).on_day(1),
        Made::page("a", 3).on_day(2),
        Made::page("b", 4).on_day(2),
        Made::page("c", 5).on_day(0),
        Made::page("c", 6).on_day(1),
        Made::page("c", 7).on_day(2),
        Made::page("d", 7).on_day(3),
    ];
    check(
        &made,
        &[
            "1/2 keeper",
            "1/2 duplicate same-page digest @0",
            "2/2 version same-url key @0",
            "2/2 version same-url key @0",
            "3/1 version same-url key @1",
            "4/2 keeper",
            "4/2 version same-url key @5",
            "5/2 keeper",
            "5/2 duplicate same-page digest @7",
        ],
    );
}

#[test]
fn a_remainder_of_one_that_is_its_own_keeper_is_unique() {
    let made = [
        Made::page("a", 1),
        Made::page("a", 2).on_day(1),
        Made::page("b", 2).on_day(2),
    ];
    check(
        &made,
        &["0/1 unique", KEEPER, "1/2 duplicate same-page digest @1"],
    );
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &Thresholds::default());
    let url = |row| groups.fate(&catalog, RowId(row)).url_group;
    assert!(url(0).is_some() && url(0) == url(1));
}

#[test]
fn groups_are_in_the_order_of_their_keepers_and_keepers_are_first() {
    let made = [
        Made::page("a", 1).on_day(5),
        Made::page("u", 9),
        Made::page("b", 2).on_day(0),
        Made {
            date: None,
            ..Made::page("b", 2)
        },
        Made::page("b", 2).on_day(3),
        Made::page("b", 2).on_day(2),
        Made::page("a", 1).on_day(4),
    ];
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &Thresholds::default());
    let order = groups.listed(0..groups.n_captures(), Listing::WithUnique);
    let order: Vec<u32> = order.iter().map(|row| row.0).collect();
    assert_eq!(order, [1, 2, 5, 4, 3, 6, 0]);
    let ids: Vec<u64> = fates(&catalog, &groups)
        .iter()
        .map(|fate| fate.group_id)
        .collect();
    assert_eq!(ids, [2, 0, 1, 1, 1, 1, 2]);
}

#[test]
fn a_listing_has_the_rows_of_its_level_and_every_conflict() {
    let made = [
        Made::page("a", 1),
        Made::page("a", 2).on_day(1),
        Made::page("b", 3),
        Made::page("c", 3).on_day(1),
        Made::redirect("d", 301, "gone"),
        Made::page("e", 4),
    ];
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &Thresholds::default());
    for (listing, expected) in [
        (Listing::Url, &[0, 1, 4][..]),
        (Listing::Page, &[2, 3, 4]),
        (Listing::All, &[0, 1, 2, 3, 4]),
        (Listing::WithUnique, &[0, 1, 2, 3, 4, 5]),
    ] {
        let rows: Vec<u32> = groups
            .listed(0..groups.n_captures(), listing)
            .iter()
            .map(|row| row.0)
            .collect();
        assert_eq!(rows, expected, "{listing:?}");
    }
}

#[test]
fn a_chain_has_the_captures_on_the_way() {
    let made = [
        Made::redirect("old", 301, "start"),
        Made::redirect("start", 301, "next"),
        Made::redirect("next", 302, "s"),
        Made::redirect("s", 308, "final"),
        Made::page("final", 1),
        Made::redirect("gone", 301, "elsewhere"),
        Made::redirect("before", 301, "gone"),
        Made::redirect("x", 301, "y"),
        Made::redirect("y", 301, "x"),
    ];
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &Thresholds::default());
    let chain = |row| -> Vec<u32> { groups.chain(RowId(row)).iter().map(|row| row.0).collect() };
    assert_eq!(chain(0), [1, 2, 3, 4]);
    assert_eq!(chain(4).len(), 0);
    assert_eq!(chain(5).len(), 0);
    assert_eq!(chain(6), [5]);
    assert!(chain(7).len() < 3);
    let few = Thresholds {
        redirects_max: 2,
        ..Thresholds::default()
    };
    let groups = groups_of(&catalog, &few);
    assert_eq!(groups.chain(RowId(0)), [RowId(1), RowId(2)]);
}

#[test]
fn content_differs_where_only_a_bet_made_the_keys_equal() {
    check(
        &[
            Made::page("a", 1),
            Made::page("a#~bet", 2).on_day(1),
            Made::page("a#spelling", 2).on_day(2).incomplete(),
            Made::page("a#spelling", 3).on_day(3),
            Made::page("a#~bet", 1).on_day(4),
        ],
        &[
            "1/2 keeper",
            "2/3 version same-key key @0 content-differs",
            "2/3 unjudged same-key key @0",
            "2/3 version same-key key @0",
            "1/2 duplicate same-key digest @0",
        ],
    );
}

/// Redundant bytes, rows of unknown cost, and rows with `encoding-differs`.
fn check_cost(made: &[Made], bytes: u64, unknown: u64, conflicts: u64) {
    let counts = counts_of(made);
    let differs = counts.by_conflict[Conflict::EncodingDiffers as usize];
    assert_eq!(
        (counts.redundant_bytes, counts.redundant_unknown, differs),
        (bytes, unknown, conflicts),
        "{made:#?}"
    );
}

#[test]
fn redundant_bytes_are_those_of_duplicates_that_are_no_revisits() {
    let page = |length| Made {
        length,
        ..Made::page("a", 1).with_id("r")
    };
    check_cost(&[page(5), page(7), page(11)], 18, 0, 0);
    check_cost(&[page(5), Made::revisit("a", "r").on_day(1)], 0, 0, 0);
    check_cost(&[page(5), Made::page("a", 2).on_day(1)], 0, 0, 0);
    check_cost(&[page(5), page(0).on_day(1)], 0, 1, 0);
    check_cost(
        &[
            page(5),
            Made {
                shares_member: true,
                ..page(7).on_day(1)
            },
        ],
        0,
        1,
        0,
    );
    let nothing = Made {
        payload: Stored::Nothing,
        ..Made::page("a", 1).with_status(404)
    };
    check_cost(&[nothing.clone(), nothing.on_day(1)], 0, 0, 0);
}

#[test]
fn one_of_each_other_encoding_is_not_redundant() {
    let coded = |payload, length| Made {
        length,
        ..Made::page("a", payload).with_decoded(1).on_day(1)
    };
    let plain = || Made {
        length: 1,
        ..Made::page("b", 1)
    };
    check_cost(&[plain(), coded(5, 10)], 0, 0, 1);
    check_cost(
        &[plain(), coded(5, 10), coded(5, 100), coded(6, 1000)],
        100,
        0,
        2,
    );
    // The one that stays is the first in keeper order; what is unknown of it is not missed.
    check_cost(&[plain(), coded(5, 10), coded(5, 0).on_day(0)], 10, 0, 1);
    // As well where the URL group joins what named evidence does not.
    let catalog = catalog_of(&[
        coded(5, 10),
        coded(6, 100).on_day(2),
        coded(5, 1000).on_day(3),
    ]);
    let groups = groups_of(&catalog, &with_evidence(&[Evidence::Digest]));
    let lines: Vec<String> = fates(&catalog, &groups).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "1/2 keeper",
            "2/1 duplicate same-url decoded @0 encoding-differs",
            "1/2 duplicate same-url digest @0",
        ]
    );
    assert_eq!(groups.counts().redundant_bytes, 1000);
}

#[test]
fn by_role_and_sameness_count_every_row_once() {
    let counts = counts_of(&[
        Made::page("a", 1),
        Made::page("a", 1).on_day(1),
        Made::page("a", 2).on_day(1),
        Made::page("b", 3),
        Made {
            record_type: RecordType::Resource,
            completeness: Completeness::Cut,
            ..Made::page("a", 4).on_day(2)
        },
    ]);
    let of = |role: Role| counts.by_role[role as usize];
    assert_eq!(
        [
            Role::Keeper,
            Role::Duplicate,
            Role::Version,
            Role::Unjudged,
            Role::Unique
        ]
        .map(of),
        [1, 1, 1, 1, 1]
    );
    assert_eq!(counts.by_sameness, [0, 3, 0, 0]);
}
