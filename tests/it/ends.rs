//! Where captures lead: a table for every sentence of "The end of a capture".

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::{RowId, Target};
use crawl_dedupe::group::{End, Ends, Evidence, Thresholds};

use crate::given::{DAY, Given, catalog, identity, redirect, response, revisit};

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

/// A capture dated by day and second.
fn at(day: i64, seconds: i64, given: Given) -> Given {
    Given {
        date: Some((day * DAY + seconds, 0)),
        ..given
    }
}

fn undated(given: Given) -> Given {
    Given {
        date: None,
        ..given
    }
}

/// A revisit of record `id` whose block has an HTTP head with `status`.
fn headed(status: u16, id: &str, given: Given) -> Given {
    Given {
        status,
        has_head: true,
        refers_id: id.to_owned(),
        ..given
    }
}

fn named(id: &str, given: Given) -> Given {
    Given {
        id: id.to_owned(),
        ..given
    }
}

#[test]
fn of_several_captures_a_redirect_leads_to_the_nearest_in_time() {
    let to = |dates: &[i64]| -> Vec<Given> {
        let targets = dates.iter().map(|day| response("http://b/", *day, 200));
        [redirect("http://a/", 50, 301, "http://b/")]
            .into_iter()
            .chain(targets)
            .collect()
    };
    for (dates, expected) in [
        (&[40, 51, 60][..], "redirect 2, end 2"),
        (&[48, 53], "redirect 1, end 1"),
        // Equally near: the later.
        (&[49, 51], "redirect 2, end 2"),
        // Thirty days are near enough, and no more.
        (&[20], "redirect 1, end 1"),
        (&[80], "redirect 1, end 1"),
        (&[19, 81], "-, not from 0 redirect-gap"),
        (&[], "-, not from 0 redirect-outside"),
    ] {
        let given = to(dates);
        let ends = Ends::of(&catalog(&given), &Thresholds::default());
        assert_eq!(outcome(&ends, 0), expected, "{dates:?}");
    }
}

#[test]
fn a_second_beyond_the_window_is_a_gap() {
    let given = [
        at(0, 0, redirect("http://a/", 0, 301, "http://b/")),
        at(30, 1, response("http://b/", 0, 200)),
    ];
    check(&given, &["-, not from 0 redirect-gap", "-, itself"]);
}

#[test]
fn of_equally_near_captures_the_one_that_is_no_redirect_is_meant() {
    let away = |day| redirect("http://b/", day, 301, "http://c/");
    let given = [
        redirect("http://a/", 10, 301, "http://b/"),
        response("http://b/", 9, 200),
        away(11),
        response("http://c/", 10, 200),
    ];
    check(
        &given,
        &[
            "redirect 1, end 1",
            "-, itself",
            "redirect 3, end 3",
            "-, itself",
        ],
    );
    // At the same moment, too; a revisit of a redirect is one.
    let given = [
        redirect("http://a/", 10, 301, "http://b/"),
        Given {
            refers_id: "original".to_owned(),
            ..revisit("http://b/", 10, "")
        },
        response("http://b/", 10, 200),
        named("original", redirect("http://d/", 10, 301, "http://c/")),
        response("http://c/", 10, 200),
    ];
    let ends = Ends::of(&catalog(&given), &Thresholds::default());
    assert_eq!(outcome(&ends, 0), "redirect 2, end 2");
    assert_eq!(outcome(&ends, 1), "revisit 3, end 4");
}

#[test]
fn an_unknown_date_is_farthest_yet_never_a_gap() {
    let source = redirect("http://a/", 100, 301, "http://b/");
    let target = |day| response("http://b/", day, 200);
    for (given, expected) in [
        (
            vec![source.clone(), undated(target(0)), target(99)],
            "redirect 2, end 2",
        ),
        (
            vec![source.clone(), undated(target(0)), target(0)],
            "redirect 1, end 1",
        ),
        (
            vec![source.clone(), undated(target(0))],
            "redirect 1, end 1",
        ),
        (
            vec![undated(source.clone()), target(0)],
            "redirect 1, end 1",
        ),
        // All are equally far from an unknown date: the latest.
        (
            vec![undated(source), undated(target(0)), target(8), target(9)],
            "redirect 3, end 3",
        ),
    ] {
        let ends = Ends::of(&catalog(&given), &Thresholds::default());
        assert_eq!(outcome(&ends, 0), expected);
    }
}

#[test]
fn at_most_so_many_redirects_are_followed() {
    let chain = |n_redirects: i64| -> Vec<Given> {
        let url = |at: i64| format!("http://a/{at}");
        let hops = (0..n_redirects).map(|at| redirect(&url(at), 1, 301, &url(at + 1)));
        hops.chain([response(&url(n_redirects), 1, 200)]).collect()
    };
    let first = |n_redirects| {
        let ends = Ends::of(&catalog(&chain(n_redirects)), &Thresholds::default());
        [outcome(&ends, 0), outcome(&ends, 1)]
    };
    assert_eq!(first(20), ["redirect 1, end 20", "redirect 2, end 20"]);
    // The hop that is not followed is that of the twentieth after the first.
    assert_eq!(
        first(21),
        [
            "redirect 1, not from 20 redirect-limit",
            "redirect 2, end 21"
        ]
    );
}

#[test]
fn only_redirects_count_as_hops() {
    let thresholds = Thresholds {
        redirects_max: 1,
        ..Thresholds::default()
    };
    let given = [
        Given {
            refers_id: "b".to_owned(),
            ..revisit("http://a/", 1, "")
        },
        named(
            "b",
            Given {
                refers_id: "c".to_owned(),
                ..revisit("http://b/", 1, "")
            },
        ),
        named("c", redirect("http://c/", 1, 301, "http://d/")),
        Given {
            refers_id: "e".to_owned(),
            ..revisit("http://d/", 1, "")
        },
        named("e", response("http://e/", 1, 200)),
    ];
    check_with(
        &thresholds,
        &given,
        &[
            "revisit 2, end 4",
            "revisit 2, end 4",
            "redirect 3, end 4",
            "revisit 4, end 4",
            "-, itself",
        ],
    );
}

#[test]
fn hops_that_come_round_lead_out_where_they_can() {
    // A redirect to its own key is nearest to itself.
    let given = [
        redirect("http://a/", 1, 301, "http://a/"),
        response("http://a/", 5, 200),
        response("http://a/", 4, 200),
    ];
    check(&given, &["redirect 2, end 2", "-, itself", "-, itself"]);
    // Of two that redirect to each other only one has a page at its target; the other leads to it.
    let given = [
        redirect("http://a/", 1, 301, "http://b/"),
        redirect("http://b/", 1, 301, "http://a/"),
        response("http://a/", 2, 200),
    ];
    check(
        &given,
        &["redirect 1, end 2", "redirect 2, end 2", "-, itself"],
    );
    // Beyond the window there is no way out.
    let given = [
        redirect("http://a/", 1, 301, "http://a/"),
        response("http://a/", 40, 200),
    ];
    check(&given, &["-, loop redirect-loop", "-, itself"]);
}

#[test]
fn a_chain_that_reaches_a_loop_within_the_limit_is_one() {
    let round = [
        redirect("http://r/", 1, 301, "http://s/"),
        redirect("http://s/", 1, 301, "http://r/"),
    ];
    let chain = |at: i64, to: &str| redirect(&format!("http://a/{at}"), 1, 302, to);
    let given: Vec<Given> = round
        .into_iter()
        .chain([
            chain(0, "http://r/"),
            chain(1, "http://a/0"),
            chain(2, "http://a/1"),
        ])
        .collect();
    let thresholds = Thresholds {
        redirects_max: 2,
        ..Thresholds::default()
    };
    check_with(
        &thresholds,
        &given,
        &[
            "-, loop redirect-loop",
            "-, loop redirect-loop",
            "temporary 0, loop redirect-loop",
            "temporary 2, loop redirect-loop",
            "temporary 3, not from 2 redirect-limit",
        ],
    );
}

#[test]
fn loops_are_counted_by_the_keys_that_go_round() {
    let round = |day| {
        [
            redirect("http://r/", day, 301, "http://s/"),
            redirect("http://s/", day, 301, "http://r/"),
        ]
    };
    let given: Vec<Given> = round(1)
        .into_iter()
        .chain(round(9))
        .chain([redirect("http://t/", 1, 301, "http://t/")])
        .collect();
    let figures = *Ends::of(&catalog(&given), &Thresholds::default()).figures();
    assert_eq!((figures.loops, figures.chains), (2, 0));
}

#[test]
fn what_is_no_redirect_leads_nowhere() {
    let given = [
        Given {
            to: Target::None,
            ..redirect("http://a/", 1, 301, "")
        },
        redirect("http://b/", 1, 304, "http://c/"),
        redirect("http://b/", 2, 200, "http://c/"),
        response("http://c/", 1, 200),
    ];
    check(&given, &["-, itself"; 4]);
}

#[test]
fn the_method_of_a_target_is_get() {
    for method in ["POST", "HEAD"] {
        let given = [
            Given {
                method: "POST",
                ..redirect("http://a/", 1, 302, "http://b/")
            },
            Given {
                method,
                ..response("http://b/", 1, 200)
            },
            response("http://b/", 9, 200),
        ];
        check(&given, &["temporary 2, end 2", "-, itself", "-, itself"]);
    }
}

#[test]
fn keys_that_differ_in_the_check_stay_apart() {
    let Target::Key(mut other) = redirect("http://a/", 1, 301, "http://b/").to else {
        panic!("a redirect has a target");
    };
    other.check ^= 1;
    let given = [
        Given {
            to: Target::Key(other),
            ..redirect("http://a/", 1, 301, "http://b/")
        },
        response("http://b/", 1, 200),
    ];
    check(&given, &["-, not from 0 redirect-outside", "-, itself"]);
}

#[test]
fn permanent_and_temporary_redirects_are_told_apart() {
    for (status, is_hsts, expected) in [
        (301, false, Evidence::Redirect),
        (308, false, Evidence::Redirect),
        (307, true, Evidence::Redirect),
        (302, false, Evidence::RedirectTemporary),
        (303, false, Evidence::RedirectTemporary),
        (307, false, Evidence::RedirectTemporary),
        (302, true, Evidence::RedirectTemporary),
        (300, false, Evidence::RedirectTemporary),
    ] {
        let given = [
            redirect("http://a/", 1, 301, "http://b/"),
            Given {
                is_hsts,
                ..redirect("http://b/", 1, status, "http://c/")
            },
            response("http://c/", 1, 200),
        ];
        let ends = Ends::of(&catalog(&given), &Thresholds::default());
        let kind = |row| ends.hop(RowId::from_index(row)).map(|hop| hop.kind);
        assert_eq!(kind(0), Some(Evidence::Redirect));
        assert_eq!(kind(1), Some(expected), "{status}");
        let is_temporary = expected == Evidence::RedirectTemporary;
        assert_eq!(ends.is_temporary(RowId::from_index(0)), is_temporary);
        let figures = ends.figures();
        assert_eq!(
            (figures.chains, figures.temporary),
            (2, if is_temporary { 2 } else { 0 })
        );
    }
}

#[test]
fn a_location_that_is_not_followed_names_why() {
    for (target, expected) in [
        (Target::NotHttp, "-, not from 0 not-http"),
        (Target::Credentials, "-, not from 0 credentials"),
        (Target::OutOfScope, "-, not from 0 out-of-scope"),
    ] {
        let given = [
            Given {
                to: target,
                ..redirect("http://a/", 1, 301, "x")
            },
            redirect("http://b/", 1, 301, "http://a/"),
        ];
        let inherited = expected.replacen('-', "redirect 0", 1);
        check(&given, &[expected, &inherited]);
    }
}

#[test]
fn a_capture_out_of_scope_is_never_joined() {
    let out = |given| Given {
        is_out_of_scope: true,
        ..given
    };
    let given = [
        out(redirect("http://a/", 1, 301, "http://b/")),
        response("http://b/", 1, 200),
        redirect("http://c/", 1, 301, "http://d/"),
        named("d", out(response("http://d/", 1, 200))),
        Given {
            refers_id: "d".to_owned(),
            ..revisit("http://e/", 1, "")
        },
    ];
    check(
        &given,
        &[
            "-, not from 0 out-of-scope",
            "-, itself",
            "-, not from 2 redirect-outside",
            "-, itself out-of-scope",
            "-, itself out-of-scope",
        ],
    );
}

#[test]
fn an_end_that_is_no_success_is_named() {
    for (status, expected) in [
        (404, "redirect 1, end 1 end-not-2xx"),
        (500, "redirect 1, end 1 end-not-2xx"),
        (304, "redirect 1, end 1 end-not-2xx"),
        (204, "redirect 1, end 1"),
        // Unknown, as in an index.
        (0, "redirect 1, end 1"),
    ] {
        let given = [
            redirect("http://a/", 1, 301, "http://b/"),
            response("http://b/", 1, status),
        ];
        check(&given, &[expected, "-, itself"]);
    }
}

#[test]
fn the_status_of_a_redirect_is_that_of_the_first_capture_that_is_none() {
    let given = [
        redirect("http://a/", 1, 301, "http://b/"),
        headed(404, "c", revisit("http://b/", 1, "")),
        named("c", response("http://c/", 1, 200)),
        redirect("http://d/", 1, 301, "http://e/"),
        Given {
            refers_id: "f".to_owned(),
            ..revisit("http://e/", 1, "")
        },
        named("f", redirect("http://f/", 1, 301, "http://c/")),
    ];
    let ends = Ends::of(&catalog(&given), &Thresholds::default());
    assert_eq!(outcome(&ends, 0), "redirect 1, end 2 end-not-2xx");
    assert_eq!(outcome(&ends, 1), "revisit 2, end 2");
    assert_eq!(outcome(&ends, 3), "redirect 4, end 2");
    let pages: Vec<u32> = (0..6).map(|row| ends.page(RowId(row)).0).collect();
    assert_eq!(pages, [1, 1, 2, 2, 2, 2]);
}

#[test]
fn a_target_of_too_many_sources_is_a_soft_404() {
    let crowd = |n: usize| -> Vec<Given> {
        let source = |at| redirect(&format!("http://a/{at}"), 1, 301, "http://b/x");
        (0..n)
            .map(source)
            .chain([response("http://b/x", 1, 200)])
            .collect()
    };
    let first = |given: &[Given]| outcome(&Ends::of(&catalog(given), &Thresholds::default()), 0);
    assert_eq!(first(&crowd(50)), "redirect 50, end 50");
    assert_eq!(first(&crowd(51)), "-, not from 0 fan-in");
    // One URL that redirects often is one source.
    let mut often = crowd(50);
    often.extend((2..9).map(|day| redirect("http://a/0", day, 301, "http://b/x")));
    assert_eq!(first(&often), "redirect 50, end 50");
}

#[test]
fn unrelated_paths_sent_home_are_not_followed() {
    let home = response("http://b/", 1, 200);
    let sent = |url: &str| redirect(url, 1, 301, "http://b/");
    let first = |urls: &[&str]| {
        let given: Vec<Given> = urls
            .iter()
            .map(|url| sent(url))
            .chain([home.clone()])
            .collect();
        outcome(&Ends::of(&catalog(&given), &Thresholds::default()), 0)
    };
    assert_eq!(
        first(&["http://b/1", "http://b/2", "http://b/3"]),
        "-, not from 0 suspect-home"
    );
    assert_eq!(first(&["http://b/1", "http://b/2"]), "redirect 2, end 2");
    assert_eq!(
        first(&["http://b/1", "http://b/1?x", "http://c/1"]),
        "redirect 3, end 3"
    );
    // A root that is sent to another root is at home.
    assert_eq!(
        first(&["http://c/", "http://b/1", "http://b/2", "http://b/3"]),
        "redirect 4, end 4"
    );
    let elsewhere: Vec<Given> = (0..3)
        .map(|at| redirect(&format!("http://b/{at}"), 1, 301, "http://b/?p=1"))
        .chain([response("http://b/?p=1", 1, 200)])
        .collect();
    let ends = Ends::of(&catalog(&elsewhere), &Thresholds::default());
    assert_eq!(outcome(&ends, 0), "redirect 3, end 3");
}

#[test]
fn another_language_at_the_end_is_named_for_every_hop_before() {
    let speaks = |language, given| Given { language, ..given };
    let given = [
        redirect("http://a/", 1, 301, "http://b/"),
        speaks("de-AT", redirect("http://b/", 1, 301, "http://c/")),
        speaks("EN-gb", redirect("http://c/", 1, 301, "http://d/")),
        speaks("en", response("http://d/", 1, 200)),
    ];
    check(
        &given,
        &[
            "redirect 1, end 3 language",
            "redirect 2, end 3 language",
            "redirect 3, end 3",
            "-, itself",
        ],
    );
}

mod revisits {
    use super::*;

    /// Where the last of `given`, a revisit, leads.
    fn last(given: &[Given]) -> String {
        let ends = Ends::of(&catalog(given), &Thresholds::default());
        outcome(&ends, given.len() - 1)
    }

    fn holds(digest: &str, given: Given) -> Given {
        Given {
            payload: digest.to_owned(),
            declared: digest.to_owned(),
            digest_status: DigestStatus::Ok,
            ..given
        }
    }

    fn refers(id: &str, url: &str, day: i64, given: Given) -> Given {
        Given {
            refers_id: id.to_owned(),
            refers_url: url.to_owned(),
            refers_date: Some((day * DAY, 0)),
            ..given
        }
    }

    #[test]
    fn are_resolved_by_id_then_uri_and_date_then_digest_and_uri_then_digest() {
        let by_digest = holds("x", response("http://d/", 1, 200));
        let by_digest_and_uri = holds("x", response("http://a/", 2, 200));
        let by_date = response("http://b/", 3, 200);
        let by_id = named("i", response("http://c/", 9, 200));
        let revisit = refers("i", "http://b/", 3, revisit("http://a/", 5, "x"));
        let mut given = vec![by_digest, by_digest_and_uri, by_date, by_id, revisit];
        // The URI that is referred to counts, and not its own.
        given[1].url = "http://b/".to_owned();
        for expected in [
            "revisit 3, end 3",
            "revisit 2, end 2",
            "revisit 1, end 1",
            "revisit 0, end 0",
        ] {
            assert_eq!(last(&given), expected);
            given.remove(given.len() - 2);
        }
        assert_eq!(last(&given), "-, itself dangling");
    }

    #[test]
    fn without_a_referred_uri_are_found_by_their_own() {
        let given = [
            holds("x", response("http://a/", 1, 200)),
            holds("x", response("http://b/", 4, 200)),
            revisit("http://a/", 5, "x"),
        ];
        assert_eq!(last(&given), "revisit 0, end 0");
    }

    #[test]
    fn by_uri_and_date_may_be_of_any_method_and_the_one_of_its_digest() {
        let revisit = refers("", "http://b/", 3, revisit("http://a/", 5, "x"));
        let given = [
            response("http://b/", 3, 200),
            Given {
                method: "POST",
                ..holds("x", response("http://b/", 3, 200))
            },
            response("http://b/", 3, 200),
            revisit.clone(),
        ];
        assert_eq!(last(&given), "revisit 1, end 1");
        assert_eq!(
            last(&[response("http://b/", 3, 200), revisit.clone()]),
            "revisit 0, end 0"
        );
        // A date without fraction stands for every moment of its second, but none for another.
        let late = Given {
            date: Some((3 * DAY, 9)),
            ..response("http://b/", 3, 200)
        };
        assert_eq!(last(&[late.clone(), revisit.clone()]), "revisit 0, end 0");
        let exact = Given {
            refers_date: Some((3 * DAY, 8)),
            ..revisit
        };
        assert_eq!(last(&[late, exact]), "-, itself dangling");
    }

    #[test]
    fn by_digest_are_of_the_nearest_that_is_not_later() {
        let held = |day| holds("x", response("http://b/", day, 200));
        let revisit = revisit("http://a/", 5, "x");
        for (given, expected) in [
            (
                vec![held(1), held(4), held(6), revisit.clone()],
                "revisit 1, end 1",
            ),
            (vec![held(5), held(6), revisit.clone()], "revisit 0, end 0"),
            (vec![held(6), revisit.clone()], "-, itself dangling"),
            (
                vec![undated(held(0)), held(1), revisit.clone()],
                "revisit 1, end 1",
            ),
            (
                vec![undated(held(0)), held(6), revisit.clone()],
                "revisit 0, end 0",
            ),
            (vec![held(1), held(2), undated(revisit)], "revisit 1, end 1"),
        ] {
            assert_eq!(last(&given), expected);
        }
    }

    #[test]
    fn by_digest_alone_are_of_complete_captures() {
        let cut = |url| Given {
            completeness: Completeness::Cut,
            ..holds("x", response(url, 1, 200))
        };
        assert_eq!(
            last(&[cut("http://b/"), revisit("http://a/", 5, "x")]),
            "-, itself dangling"
        );
        assert_eq!(
            last(&[cut("http://a/"), revisit("http://a/", 5, "x")]),
            "revisit 0, end 0"
        );
    }

    #[test]
    fn by_digest_are_never_of_a_revisit_nor_of_nothing() {
        let given = [revisit("http://a/", 1, "x"), revisit("http://a/", 5, "x")];
        check(&given, &["-, itself dangling"; 2]);
        let given = [
            holds("empty", response("http://a/", 1, 200)),
            revisit("http://a/", 5, "empty"),
        ];
        assert_eq!(last(&given), "-, itself dangling");
    }

    #[test]
    fn are_not_of_what_declares_their_digest_and_has_another() {
        let rotten = Given {
            declared: "x".to_owned(),
            digest_status: DigestStatus::Mismatch,
            ..response("http://a/", 1, 200)
        };
        assert_eq!(
            last(&[rotten, revisit("http://a/", 5, "x")]),
            "-, itself dangling"
        );
    }

    #[test]
    fn that_refer_to_each_other_dangle_and_what_leads_to_them_does_not() {
        let given = [
            named(
                "i",
                Given {
                    refers_id: "j".to_owned(),
                    ..revisit("http://a/", 1, "x")
                },
            ),
            named(
                "j",
                Given {
                    refers_id: "i".to_owned(),
                    ..revisit("http://a/", 1, "x")
                },
            ),
            named(
                "k",
                Given {
                    refers_id: "k".to_owned(),
                    ..revisit("http://a/", 1, "x")
                },
            ),
            Given {
                refers_id: "j".to_owned(),
                ..revisit("http://a/", 1, "x")
            },
        ];
        check(
            &given,
            &[
                "-, itself dangling",
                "-, itself dangling",
                "-, itself dangling",
                "revisit 1, end 1",
            ],
        );
    }

    #[test]
    fn take_payload_and_decoded_digest_from_their_original() {
        let original = Given {
            decoded: "D".to_owned(),
            ..named("i", response("http://a/", 1, 200))
        };
        let given = [
            original,
            Given {
                refers_id: "i".to_owned(),
                ..revisit("http://b/", 2, "x")
            },
            revisit("http://c/", 2, "x"),
        ];
        let ends = Ends::of(&catalog(&given), &Thresholds::default());
        let facts = |row| ends.facts(RowId(row));
        assert_eq!(facts(1), facts(0));
        assert_eq!(
            (facts(1).decoded, facts(1).is_usable),
            (identity("D"), true)
        );
        assert_eq!(ends.content(RowId(1)), RowId(0));
        // A dangling one stands by its declared digest.
        assert_eq!(
            (facts(2).payload, facts(2).is_usable),
            (identity("x"), true)
        );
    }

    #[test]
    fn have_a_status_of_their_own_with_a_head_that_is_no_304() {
        let status = |revisit: Given| {
            let given = [named("i", response("http://a/", 1, 203)), revisit];
            Ends::of(&catalog(&given), &Thresholds::default())
                .facts(RowId(1))
                .status
        };
        let found = |status, has_head| Given {
            has_head,
            ..headed(status, "i", revisit("http://a/", 2, ""))
        };
        assert_eq!(status(found(200, true)), 200);
        assert_eq!(status(found(404, true)), 404);
        assert_eq!(status(found(304, true)), 203);
        assert_eq!(status(found(0, false)), 203);
        let line = |status| Given {
            is_index_line: true,
            ..found(status, false)
        };
        assert_eq!(status(line(200)), 200);
        assert_eq!(status(line(0)), 203);
        // A dangling 304 stays 304.
        assert_eq!(
            status(headed(304, "elsewhere", revisit("http://a/", 2, ""))),
            304
        );
    }

    #[test]
    fn with_a_3xx_lead_by_their_own_location_and_without_head_by_their_original() {
        let original = named("i", redirect("http://a/", 1, 301, "http://b/"));
        let given = [
            original,
            response("http://b/", 1, 200),
            response("http://c/", 1, 200),
            Given {
                refers_id: "i".to_owned(),
                ..revisit("http://a/", 2, "")
            },
            headed(304, "i", revisit("http://a/", 2, "")),
            Given {
                record_type: RecordType::Revisit,
                refers_id: "i".to_owned(),
                ..redirect("http://a/", 2, 302, "http://c/")
            },
        ];
        check(
            &given,
            &[
                "redirect 1, end 1",
                "-, itself",
                "-, itself",
                "revisit 0, end 1",
                "revisit 0, end 1",
                "temporary 2, end 2",
            ],
        );
    }

    #[test]
    fn inherit_the_conflicts_of_where_they_lead_but_dangling() {
        let given = [
            named("i", redirect("http://a/", 1, 301, "http://outside/")),
            Given {
                refers_id: "i".to_owned(),
                ..revisit("http://a/", 2, "")
            },
            redirect("http://b/", 1, 301, "http://c/"),
            revisit("http://c/", 1, ""),
        ];
        check(
            &given,
            &[
                "-, not from 0 redirect-outside",
                "revisit 0, not from 0 redirect-outside",
                "redirect 3, end 3",
                "-, itself dangling",
            ],
        );
        let figures = *Ends::of(&catalog(&given), &Thresholds::default()).figures();
        assert_eq!((figures.dangling, figures.chains), (1, 1));
    }
}

mod facts {
    use super::*;

    fn of(given: &[Given], row: u32) -> crawl_dedupe::group::Facts {
        Ends::of(&catalog(given), &Thresholds::default()).facts(RowId(row))
    }

    fn line(digest: &str) -> Given {
        Given {
            is_index_line: true,
            payload: digest.to_owned(),
            declared: digest.to_owned(),
            digest_status: DigestStatus::Unchecked,
            ..response("http://b/", 1, 200)
        }
    }

    fn record(declared: &str, status: DigestStatus) -> Given {
        Given {
            declared: declared.to_owned(),
            payload: "p".to_owned(),
            digest_status: status,
            ..response("http://a/", 1, 200)
        }
    }

    #[test]
    fn a_checked_digest_names_the_payload_for_index_lines_and_revisits() {
        for (status, named) in [
            (DigestStatus::Ok, "p"),
            (DigestStatus::OkOverRawBody, "p"),
            (DigestStatus::Unchecked, "p"),
            (DigestStatus::Mismatch, "raw"),
            (DigestStatus::Uncheckable, "raw"),
        ] {
            let given = [
                record("raw", status),
                line("raw"),
                revisit("http://c/", 0, "raw"),
            ];
            assert_eq!(of(&given, 1).payload, identity(named), "{status:?}");
            assert_eq!(of(&given, 2).payload, identity(named), "{status:?}");
        }
    }

    #[test]
    fn unchecked_digests_that_disagree_name_no_payload() {
        let other = Given {
            payload: "q".to_owned(),
            ..record("raw", DigestStatus::Unchecked)
        };
        let given = [record("raw", DigestStatus::Unchecked), other, line("raw")];
        assert_eq!(of(&given, 2).payload, identity("raw"));
    }

    #[test]
    fn a_payload_known_to_decode_counts_as_what_it_decodes_to_everywhere() {
        let encoded = Given {
            decoded: "D".to_owned(),
            ..record("p", DigestStatus::Ok)
        };
        let given = [
            encoded.clone(),
            line("p"),
            revisit("http://c/", 0, "p"),
            record("", DigestStatus::Absent),
        ];
        for row in 0..4 {
            assert_eq!(of(&given, row).decoded, identity("D"), "{row}");
        }
        // Half a payload decodes to half of something.
        let cut = Given {
            completeness: Completeness::Cut,
            ..encoded
        };
        assert_eq!(of(&[cut, line("p")], 1).decoded, 0);
    }

    #[test]
    fn an_incomplete_empty_or_head_payload_is_no_evidence() {
        let usable = |given: Given| of(&[given], 0).is_usable;
        let whole = record("p", DigestStatus::Ok);
        assert!(usable(whole.clone()));
        assert!(!usable(Given {
            completeness: Completeness::Truncated,
            ..whole.clone()
        }));
        assert!(!usable(Given {
            method: "HEAD",
            ..whole.clone()
        }));
        assert!(!usable(Given {
            payload: "empty".to_owned(),
            ..whole.clone()
        }));
        assert!(!usable(Given {
            payload: String::new(),
            declared: String::new(),
            ..whole
        }));
    }
}

#[test]
fn thousands_of_everything_on_one_key_are_no_matter() {
    let n = 30_000;
    let url = |at: i64| format!("http://a/{at}");
    let chain = (0..n).map(|at| redirect(&url(at), 1, 301, &url(at + 1)));
    let hub = (0..n).map(|at| at_second(at, response("http://hub/", 0, 200)));
    let sources = (0..n).map(|at| at_second(at, redirect("http://s/", 0, 301, "http://hub/")));
    let revisits = (0..n).map(|at| {
        let one_after_the_other = named(&format!("r{}", at + 1), revisit("http://hub/", 0, "x"));
        Given {
            refers_id: format!("r{at}"),
            ..one_after_the_other
        }
    });
    let round = (0..n).map(|at| {
        redirect(
            &format!("http://r/{at}"),
            1,
            302,
            &format!("http://r/{}", (at + 1) % n),
        )
    });
    let given: Vec<Given> = chain
        .chain(hub)
        .chain(sources)
        .chain(revisits)
        .chain(round)
        .collect();
    let catalog = catalog(&given);
    let thresholds = Thresholds {
        redirects_max: 29_999,
        ..Thresholds::default()
    };
    let ends = Ends::of(&catalog, &thresholds);
    let at =
        |kind: i64, place: i64| outcome(&ends, usize::try_from(kind * n + place).expect("a row"));
    assert_eq!(at(0, 0), "redirect 1, not from 29999 redirect-outside");
    assert_eq!(at(2, 77), "redirect 30077, end 30077");
    assert_eq!(at(3, 0), "-, itself dangling");
    assert_eq!(at(3, 29_999), "revisit 90000, end 90000");
    assert_eq!(at(4, 5), "-, loop redirect-loop");
    assert_eq!(ends.figures().loops, 1);
}

fn at_second(seconds: i64, given: Given) -> Given {
    at(0, seconds, given)
}
