//! Which captures stand in one URL, content or page group.

use super::made::{FILES, Made, Stored, catalog_of, groups_of, with_urls};
use super::{check, check_with, counts_of, fates, with_evidence};
use crawl_dedupe::capture::{Completeness, RecordType};
use crawl_dedupe::catalog::{Catalog, RowId};
use crawl_dedupe::group::{Conflict, Ends, Evidence, Fate, Groups, Role, Thresholds};
use crawl_dedupe::key::ComparisonKey;

/// One group's label.
type Label = fn(&Fate) -> Option<u64>;

const URL: Label = |fate| fate.url_group;
const CONTENT: Label = |fate| fate.content_group;
const PAGE: Label = |fate| fate.page_group;

/// Compares groups, each row as a letter: equal letters are one group, `-` is alone.
fn check_sets(label: Label, made: &[Made], expected: &str) {
    check_sets_with(&Thresholds::default(), label, made, expected);
}

fn check_sets_with(thresholds: &Thresholds, label: Label, made: &[Made], expected: &str) {
    let catalog = catalog_of(made);
    let groups = groups_of(&catalog, thresholds);
    assert_eq!(
        letters(&fates(&catalog, &groups), label),
        expected,
        "{made:#?}"
    );
}

fn letters(fates: &[Fate], label: Label) -> String {
    let mut seen = Vec::new();
    let letter = |fate| {
        let Some(label) = label(fate) else { return '-' };
        if !seen.contains(&label) {
            seen.push(label);
        }
        let at = seen.iter().position(|known| *known == label);
        at.and_then(|at| ('a'..='z').nth(at)).unwrap_or('?')
    };
    fates.iter().map(letter).collect()
}

fn post(url: &str) -> Made {
    Made {
        method: "POST",
        ..Made::page(url, 1)
    }
}

#[test]
fn a_url_group_has_one_key_and_method() {
    let made = [
        Made::page("a#1", 1),
        Made::page("b", 2),
        Made::page("a#2", 3),
        post("a"),
        post("a"),
        Made::page("c", 2),
    ];
    check_sets(URL, &made, "a-abb-");
}

#[test]
fn keys_of_equal_bits_and_other_checks_stay_apart_and_are_counted() {
    let made = ["a", "b", "c", "d", "e"].map(|url| Made::page(url, 1));
    let mut catalog = catalog_of(&made);
    for (row, check) in [5, 6, 5, 6, 7].into_iter().enumerate() {
        catalog.set_key(RowId::from_index(row), ComparisonKey { key: 9, check });
    }
    let groups = groups_of(&catalog, &Thresholds::default());
    assert_eq!(letters(&fates(&catalog, &groups), URL), "abab-");
    assert_eq!(groups.counts().key_collisions, 2);
    assert_eq!(groups.counts().distinct_keys, 3);
    assert_eq!(groups.counts().url_groups, 2);
}

#[test]
fn a_content_group_is_of_equal_payloads_whatever_the_status() {
    let made = [
        Made::page("a", 1),
        Made::page("b", 1).with_status(404),
        Made {
            payload: Stored::Read(1),
            ..Made::redirect("c", 301, "gone")
        },
        Made::page("d", 2),
    ];
    check_sets(CONTENT, &made, "aaa-");
}

#[test]
fn no_content_group_for_what_proves_nothing() {
    let whole = || Made::page("a", 1);
    let lame = |completeness| Made {
        completeness,
        ..whole()
    };
    for proves_nothing in [
        lame(Completeness::Truncated),
        lame(Completeness::Cut),
        lame(Completeness::Partial),
        lame(Completeness::Segment),
        Made {
            method: "HEAD",
            ..whole()
        },
        Made {
            decodes_to_nothing: true,
            ..Made::page("a", 3)
        },
    ] {
        let made = [whole(), proves_nothing.clone(), whole(), proves_nothing];
        check_sets(CONTENT, &made, "a-a-");
    }
    let empty = Made {
        payload: Stored::Nothing,
        ..whole()
    };
    check_sets(CONTENT, &[empty.clone(), empty], "--");
}

#[test]
fn a_forged_digest_is_another_content() {
    let of = |url, payload| Made {
        payload,
        ..Made::page(url, 1)
    };
    let made = [
        of("a", Stored::Forged(1)),
        of("b", Stored::Read(1)),
        of("c", Stored::Forged(1)),
        of("d", Stored::Declared(1)),
        of("e", Stored::Read(1)),
    ];
    check_sets(CONTENT, &made, "ababb");
    check_sets(PAGE, &made, "ababb");
    let counts = counts_of(&made);
    assert_eq!((counts.digest_collisions, counts.content_groups), (1, 2));
}

#[test]
fn a_page_group_is_of_ends_with_equal_decoded_digests() {
    let made = [
        Made::page("a", 5).with_decoded(1),
        Made::page("b", 1),
        Made::page("c", 6).with_decoded(1),
        Made::page("d", 6).with_status(404),
        Made::redirect("e", 301, "c"),
        Made::redirect("f", 301, "d"),
        Made {
            status: None,
            ..Made::page("g", 1)
        },
    ];
    check_sets(PAGE, &made, "aaa-a-a");
    let without_decoded = with_evidence(&[Evidence::Digest, Evidence::Redirect]);
    check_sets_with(&without_decoded, PAGE, &made, "-ab-b-a");
}

#[test]
fn an_end_without_digest_is_a_content_of_its_own() {
    let made = [
        Made::page("a", 1).incomplete().with_id("r"),
        Made::page("b", 1).incomplete(),
        Made::redirect("c", 301, "a"),
        Made::revisit("d", "r"),
        Made::redirect("e", 301, "b"),
    ];
    check_sets(PAGE, &made, "abaab");
}

#[test]
fn copies_of_a_record_in_files_of_one_name_are_contents_of_their_own() {
    let of_file = |file| {
        [
            Made {
                file,
                ..Made::page("a", 1).incomplete().with_id(&format!("{file}"))
            },
            Made {
                file,
                ..Made::revisit("b", &format!("{file}"))
            },
        ]
    };
    assert_eq!(FILES[0].rsplit('/').next(), FILES[1].rsplit('/').next());
    let made = [of_file(0), of_file(1)].concat();
    check_sets(PAGE, &made, "aabb");
}

#[test]
fn only_named_evidence_joins_pages() {
    use Evidence::{Decoded, Digest, Redirect, RedirectTemporary, Revisit};
    let made = [
        Made::page("a", 1).with_id("r"),
        Made::page("b", 1),
        Made::page("c", 5).with_decoded(1),
        Made::redirect("d", 301, "a"),
        Made::redirect("e", 302, "a"),
        Made::redirect("f", 301, "e"),
        Made::page("g", 3).incomplete().with_id("s"),
        Made::revisit("h", "s"),
        Made::revisit("i", "r"),
    ];
    for (evidence, expected) in [
        (&[Digest, Decoded, Revisit, Redirect][..], "aaaa--bba"),
        (&[Digest, Decoded, Revisit, RedirectTemporary], "aaa-aabba"),
        (&[Digest], "aa------a"),
        (&[Digest, Decoded], "aaa-----a"),
        (&[Redirect], "a--a-----"),
        (&[Revisit], "a-----bba"),
        (&[Redirect, RedirectTemporary], "a--aaa---"),
        (&[], "---------"),
    ] {
        check_sets_with(&with_evidence(evidence), PAGE, &made, expected);
    }
}

#[test]
fn with_digest_alone_pages_are_content_groups_less_boilerplate_and_non_2xx() {
    let mut made = vec![
        Made::page("a.a/1", 1),
        Made::page("a.a/2", 1),
        Made::page("a.a/3", 2).with_status(404),
        Made::page("a.a/4", 2).with_status(404),
    ];
    made.extend((0..4).map(|n| Made::page(&format!("a.a/{n}x"), 3)));
    let thresholds = Thresholds {
        boilerplate_max: 3,
        ..with_evidence(&[Evidence::Digest])
    };
    check_sets_with(&thresholds, CONTENT, &made, "aabbcccc");
    check_sets_with(&thresholds, PAGE, &made, "aa------");
}

/// Of four URLs with one content, at a threshold of 3: whether it is boilerplate.
fn check_boilerplate(urls: [&str; 4], expected: u64) {
    let is_boilerplate = expected > 0;
    let made = urls.map(|url| Made::page(url, 1));
    let thresholds = Thresholds {
        boilerplate_max: 3,
        ..Thresholds::default()
    };
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &thresholds);
    for fate in fates(&catalog, &groups) {
        assert_eq!(
            fate.conflicts.contains(Conflict::Boilerplate),
            is_boilerplate,
            "{made:?}"
        );
        assert_eq!(fate.page_group.is_none(), is_boilerplate);
        assert!(fate.content_group.is_some());
    }
    assert_eq!(groups.counts().boilerplate_contents, expected);
}

#[test]
fn boilerplate_is_shared_by_too_many_unrelated_urls_of_one_host() {
    check_boilerplate(["a.a/1", "a.a/2", "a.a/3", "a.a/4"], 1);
    // Another host, a related URL, a spelling, a second capture.
    check_boilerplate(["a.a/1", "a.a/2", "a.a/3", "a.b/4"], 0);
    check_boilerplate(["a.a/1", "a.a/2", "a.a/3", "a.a/3?tracking"], 0);
    check_boilerplate(["a.a/1", "a.a/2", "a.a/3", "a.a/3#x"], 0);
    check_boilerplate(["a.a/1", "a.a/2", "a.a/3", "a.a/3"], 0);
}

#[test]
fn boilerplate_counts_what_a_content_decodes_to() {
    let mut made = ["a.a/1", "a.a/2", "a.a/3", "a.a/4"].map(|url| Made::page(url, 1));
    made[3].payload = Stored::Read(9);
    made[3].decoded = Some(1);
    let thresholds = Thresholds {
        boilerplate_max: 3,
        ..Thresholds::default()
    };
    check_sets_with(&thresholds, PAGE, &made, "----");
}

#[test]
fn boilerplate_is_shared_by_more_than_fifty_domains() {
    let of = |n| -> Vec<Made> { (0..n).map(|n| Made::page(&format!("{n}.a/1"), 1)).collect() };
    for (n, is_boilerplate) in [(50, false), (51, true)] {
        // Another host of the last domain adds nothing.
        let made = [of(n), vec![Made::page(&format!("{}.b/1", n - 1), 1)]].concat();
        let catalog = catalog_of(&made);
        let groups = groups_of(&catalog, &Thresholds::default());
        let counts = groups.counts();
        assert_eq!(
            counts.boilerplate_contents,
            u64::from(is_boilerplate),
            "{n}"
        );
        assert_eq!(counts.page_groups, u64::from(!is_boilerplate), "{n}");
    }
}

#[test]
fn an_alias_of_boilerplate_says_why_it_stands_alone() {
    let mut made: Vec<Made> = (0..4).map(|n| Made::page(&format!("a.a/{n}"), 1)).collect();
    made.push(Made::redirect("a.a/old", 301, "a.a/1"));
    let thresholds = Thresholds {
        boilerplate_max: 3,
        ..Thresholds::default()
    };
    check_with(&thresholds, &made, &["0/1 unique boilerplate"; 5]);
}

#[test]
fn a_redirects_own_body_is_no_boilerplate() {
    let made: Vec<Made> = (0..4)
        .map(|n| Made {
            payload: Stored::Read(7),
            ..Made::redirect(&format!("a.a/{n}"), 301, "a.a/new")
        })
        .chain([Made::page("a.a/new", 1)])
        .collect();
    let thresholds = Thresholds {
        boilerplate_max: 3,
        ..Thresholds::default()
    };
    check_sets_with(&thresholds, PAGE, &made, "aaaaa");
}

#[test]
fn out_of_scope_is_never_joined() {
    let out = |url| Made {
        in_scope: false,
        ..Made::page(url, 1)
    };
    let made = [
        Made::page("a", 1),
        out("a"),
        out("b"),
        out("b"),
        Made::page("a", 1),
    ];
    check(
        &made,
        &[
            "1/2 keeper",
            "0/1 unique out-of-scope",
            "0/1 unique out-of-scope",
            "0/1 unique out-of-scope",
            "1/2 duplicate same-url digest @0",
        ],
    );
    check_sets(URL, &made, "a---a");
    check_sets(CONTENT, &made, "aaaaa");
    check_sets(PAGE, &made, "a---a");
    let counts = counts_of(&made);
    assert_eq!((counts.distinct_uris, counts.distinct_keys), (2, 2));
}

#[test]
fn labels_are_made_of_content() {
    let made = [
        Made::page("a", 1),
        Made::page("a", 1),
        Made::page("b", 2).incomplete().with_id("r"),
        Made::revisit("b", "r"),
        Made::page("c", 3),
    ];
    let labels = |made: &[Made]| -> Vec<_> {
        let catalog = catalog_of(made);
        let groups = groups_of(&catalog, &Thresholds::default());
        let mut labels: Vec<_> = fates(&catalog, &groups)
            .iter()
            .map(|fate| (fate.url_group, fate.content_group, fate.page_group))
            .collect();
        labels.sort_unstable();
        labels
    };
    let mut moved = made.to_vec();
    for (at, made) in moved.iter_mut().enumerate() {
        // Ordinals in the file stay, since files are read one after the other.
        made.file = u32::from(at > 1);
    }
    assert_ne!(labels(&made), labels(&moved), "an ordinal is part of an id");
    // Another folder, input and neighbours in other files change nothing.
    for made in &mut moved {
        made.file = 1;
    }
    moved.push(Made {
        file: 0,
        ..Made::page("z", 9)
    });
    let mut expected = labels(&made);
    expected.insert(0, (None, None, None));
    assert_eq!(labels(&moved), expected);
}

#[test]
fn counts_captures_not_revisits_as_empty() {
    let empty = |record_type| Made {
        record_type,
        payload: Stored::Nothing,
        ..Made::page("a", 1)
    };
    let made = [
        empty(RecordType::Response),
        empty(RecordType::Resource),
        empty(RecordType::Revisit),
        Made {
            decodes_to_nothing: true,
            ..Made::page("b", 3)
        },
        Made::page("c", 1).incomplete(),
    ];
    assert_eq!(counts_of(&made).empty_payloads, 3);
}

#[test]
fn urls_changed_counts_groups_with_two_contents_among_2xx() {
    let changed = |made: &[Made]| counts_of(made).urls_changed;
    let page = |content| Made::page("a", content);
    assert_eq!(changed(&[page(1), page(2), Made::page("b", 3)]), 1);
    assert_eq!(changed(&[page(1), page(1)]), 0);
    assert_eq!(changed(&[page(1), page(2).with_status(404)]), 0);
    assert_eq!(changed(&[page(1), page(2).incomplete()]), 0);
    assert_eq!(changed(&[page(1), page(2).with_decoded(1)]), 0);
    assert_eq!(
        changed(&[
            page(1),
            Made {
                status: None,
                ..page(2)
            }
        ]),
        0
    );
    assert_eq!(changed(&[page(1), page(2), page(3), page(3)]), 1);
}

#[test]
fn counts_redirects_that_lead_to_an_end() {
    let made = [
        Made::page("a", 1),
        Made::redirect("b", 301, "a"),
        Made::redirect("c", 302, "b"),
        Made::redirect("d", 301, "c"),
        Made::redirect("e", 301, "gone"),
        Made::redirect("f", 301, "f"),
    ];
    let counts = counts_of(&made);
    assert_eq!(
        (counts.chains, counts.chains_temporary, counts.loops),
        (3, 2, 1)
    );
}

#[test]
fn an_empty_catalog_has_no_groups() {
    let catalog = Catalog::new(Vec::new());
    let thresholds = Thresholds::default();
    let ends = Ends::of(&catalog, &thresholds);
    let groups = with_urls(&catalog, |urls| {
        Groups::of(&catalog, ends, &thresholds, urls)
    });
    assert_eq!(groups.counts().by_role, [0; 6]);
    assert_eq!(groups.counts().by_role[Role::Unique as usize], 0);
}
