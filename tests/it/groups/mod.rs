//! Groups, keepers and roles, sentence by sentence of what they mean, and against a slow twin.

mod made;
mod roles;
mod sets;
mod twin;

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::{Catalog, RowId};
use crawl_dedupe::group::{
    Conflict, Counts, End, Ends, Evidence, Fate, Groups, Keep, Listing, Role, Sameness, Thresholds,
};
use crawl_dedupe::key::ComparisonKey;
use made::{Made, Stored, catalog_in, catalog_of, groups_of};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A fate on one line: `GROUP/SIZE role same-x evidence @JOINED conflicts`, without what is empty.
fn line(fate: &Fate) -> String {
    let role = match fate.role {
        Role::Keeper => "keeper",
        Role::Duplicate => "duplicate",
        Role::Version => "version",
        Role::Alias => "alias",
        Role::Unjudged => "unjudged",
        Role::Unique => "unique",
    };
    let sameness = fate.sameness.map(|sameness| match sameness {
        Sameness::SameRecord => "same-record",
        Sameness::SameUrl => "same-url",
        Sameness::SameKey => "same-key",
        Sameness::SamePage => "same-page",
    });
    let kinds: Vec<&str> = fate
        .evidence
        .iter()
        .map(|kind| match kind {
            Evidence::Key => "key",
            Evidence::Digest => "digest",
            Evidence::Decoded => "decoded",
            Evidence::Revisit => "revisit",
            Evidence::Redirect => "redirect",
            Evidence::RedirectTemporary => "redirect-temporary",
            Evidence::Canonical => "canonical",
        })
        .collect();
    let codes: Vec<&str> = fate.conflicts.iter().map(Conflict::code).collect();
    let words = [
        format!("{}/{}", fate.group_id, fate.group_size),
        role.into(),
        sameness.unwrap_or_default().into(),
        kinds.join(">"),
        fate.joined_to
            .map(|row| format!("@{}", row.0))
            .unwrap_or_default(),
        codes.join(";"),
    ];
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Fates of all rows, in input order.
fn fates(catalog: &Catalog, groups: &Groups) -> Vec<Fate> {
    catalog.ids().map(|row| groups.fate(catalog, row)).collect()
}

/// Groups `made` by default thresholds and compares each row's line.
fn check(made: &[Made], expected: &[&str]) {
    check_with(&Thresholds::default(), made, expected);
}

fn check_with(thresholds: &Thresholds, made: &[Made], expected: &[&str]) {
    let catalog = catalog_of(made);
    let groups = groups_of(&catalog, thresholds);
    let lines: Vec<String> = fates(&catalog, &groups).iter().map(line).collect();
    assert_eq!(lines, expected, "{made:#?}");
}

fn with_evidence(evidence: &[Evidence]) -> Thresholds {
    Thresholds {
        evidence: evidence.to_vec(),
        ..Thresholds::default()
    }
}

fn counts_of(made: &[Made]) -> Counts {
    let catalog = catalog_of(made);
    groups_of(&catalog, &Thresholds::default()).counts().clone()
}

/// Picks an element; 0 picks the first, so that shrinking leads to the plainest.
fn pick<T: Clone>(choices: &[T], byte: u8) -> T {
    choices[usize::from(byte) % choices.len()].clone()
}

const KEYS: [&str; 5] = ["a.a/1", "a.a/2", "a.b/1", "b.a/1", "a.a/3"];
const TARGETS: [&str; 7] = ["a.a/1", "a.a/2", "a.b/1", "b.a/1", "gone", "mailto", ""];
const IDS: [&str; 6] = ["", "", "", "r1", "r2", "r3"];
const DAYS: [Option<i64>; 6] = [Some(0), Some(1), Some(2), Some(3), Some(40), None];
const METHODS: [&str; 7] = ["GET", "GET", "GET", "GET", "GET", "HEAD", "POST"];
const STATUSES: [u16; 13] = [
    200, 200, 200, 0, 404, 301, 302, 203, 304, 206, 308, 301, 500,
];
const RECORD_TYPES: [RecordType; 4] = [
    RecordType::Response,
    RecordType::Response,
    RecordType::Resource,
    RecordType::Revisit,
];
const CHECKED: [DigestStatus; 5] = [
    DigestStatus::Ok,
    DigestStatus::OkOverRawBody,
    DigestStatus::Unchecked,
    DigestStatus::Absent,
    DigestStatus::Mismatch,
];

/// A capture out of random bytes.
fn made_of(bytes: [u8; 18]) -> Made {
    let [
        file,
        key,
        spelling,
        method,
        record_type,
        id,
        status,
        head,
        date,
        stored,
        rest @ ..,
    ] = bytes;
    let [
        decoded,
        whole,
        checked,
        location,
        refers,
        refers_uri,
        cost,
        scope,
    ] = rest;
    let status = pick(&STATUSES, status);
    let is_3xx = (300..400).contains(&status) && status != 304;
    let spelling = pick(&["", "", "#2", "#~bet"], spelling);
    Made {
        file: u32::from(file) % 3,
        url: format!("{}{spelling}", pick(&KEYS, key)),
        method: pick(&METHODS, method),
        record_type: pick(&RECORD_TYPES, record_type),
        record_id: pick(&IDS, id).into(),
        status: Some(status).filter(|status| *status != 0),
        has_http_head: head % 4 != 1,
        date: pick(&DAYS, date),
        payload: match stored % 11 {
            6 => Stored::Nothing,
            7 => Stored::Unknown,
            8 => Stored::Declared(stored / 11 % 3),
            9 => Stored::Forged(stored / 11 % 3),
            _ => Stored::Read(stored / 11 % 3),
        },
        decoded: pick(&[None, None, None, Some(0), Some(1), Some(7)], decoded),
        decodes_to_nothing: decoded == 255,
        completeness: match whole % 6 {
            4 => Completeness::Truncated,
            5 => Completeness::Partial,
            _ => Completeness::Complete,
        },
        digest_status: pick(&CHECKED, checked),
        location: Some(pick(&TARGETS, location))
            .filter(|text| is_3xx && !text.is_empty())
            .map(String::from),
        refers_id: pick(&IDS, refers).into(),
        refers_uri: pick(&["", "a.a/1", "a.b/1", "b.a/3"], refers_uri).into(),
        refers_date: pick(&DAYS, refers_uri / 4),
        length: pick(&[100, 3, 0], cost),
        shares_member: cost % 7 == 6,
        is_index_line: scope % 5 == 4,
        in_scope: scope % 16 != 15,
    }
}

prop_compose! {
    fn thresholds()(
        evidence in 0_u8..64,
        keep in 0_u8..3,
        boilerplate_max in 1_u64..6,
        redirects_max in 0_u32..5,
        fan_in_max in 1_u64..6,
    ) -> Thresholds {
        let all = [
            Evidence::Digest,
            Evidence::Decoded,
            Evidence::Revisit,
            Evidence::Redirect,
            Evidence::RedirectTemporary,
            Evidence::Key,
        ];
        let named = all.into_iter().enumerate().filter(|(bit, _)| evidence & 1 << bit != 0);
        Thresholds {
            evidence: named.map(|(_, kind)| kind).collect(),
            keep: pick(&[Keep::Earliest, Keep::Latest, Keep::ShortestUrl], keep),
            boilerplate_max,
            redirects_max,
            fan_in_max,
            ..Thresholds::default()
        }
    }
}

fn assert_agrees(made: &[Made], thresholds: &Thresholds) {
    let catalog = catalog_of(made);
    let ends = Ends::of(&catalog, thresholds);
    let slow = twin::Twin {
        catalog: &catalog,
        ends: &ends,
        thresholds,
    }
    .outcome();
    let groups = groups_of(&catalog, thresholds);
    let mut fast = fates(&catalog, &groups);
    twin::relabel(&mut fast);
    for (row, (fast, slow)) in fast.iter().zip(&slow.fates).enumerate() {
        assert_eq!(fast, slow, "fate of row {row} in {made:#?}");
    }
    let order: Vec<RowId> = groups.listed(0..groups.n_captures(), Listing::WithUnique);
    assert_eq!(order, slow.order, "order of {made:#?}");
    assert_eq!(groups.counts(), &slow.counts, "counts of {made:#?}");
}

/// All that is said of each capture, by file name and ordinal, in words that do not depend on where it was read.
fn told_by_place(catalog: &Catalog, groups: &Groups) -> BTreeMap<(Vec<u8>, u64), String> {
    let place = |row: RowId| {
        let at = catalog.locator(row);
        (catalog.file_name(at.file).to_vec(), at.ordinal)
    };
    let tell = |row| {
        let mut fate = groups.fate(catalog, row);
        let (keeper, joined_to) = (fate.keeper.take(), fate.joined_to.take());
        (fate.group_id, fate.end) = (0, End::Itself);
        format!(
            "{fate:?} {:?} {:?}",
            keeper.map(place),
            joined_to.map(place)
        )
    };
    catalog.ids().map(|row| (place(row), tell(row))).collect()
}

#[test]
fn threads_change_nothing() {
    let bytes = |nth: u64| {
        let hash = |nth: u64| ComparisonKey::of(&nth.to_le_bytes());
        let mut bytes = [0; 18];
        bytes[..8].copy_from_slice(&hash(nth).key.to_le_bytes());
        bytes[8..16].copy_from_slice(&hash(nth).check.to_le_bytes());
        bytes
    };
    let made: Vec<Made> = (0..20_000).map(|nth| made_of(bytes(nth))).collect();
    let catalog = catalog_of(&made);
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().expect("threads can be started");
        pool.install(|| {
            let groups = groups_of(&catalog, &Thresholds::default());
            let order: Vec<RowId> = groups.listed(0..groups.n_captures(), Listing::WithUnique);
            (fates(&catalog, &groups), groups.counts().clone(), order)
        })
    };
    assert!(run(1) == run(3), "one thread and three disagree");
}

/// Rows are arranged by some thousand, and looked up by some hundred; a page has more than are looked up together.
#[test]
fn groups_of_many_rows_are_numbered_as_they_are_listed() {
    let page = |nth: u64| Made::page(&format!("a.a/{nth}"), 255);
    let alone_or_two = |nth: u64| Made {
        url: format!("b.a/{}", nth * 7919 % 20_000),
        payload: Stored::Unknown,
        ..Made::default()
    };
    // The keeper of a page group keeps a later capture too, which has no digest.
    let kept_twice = |nth: u64| {
        let content = u8::try_from(nth).expect("there are fewer than 200");
        let url = format!("c.a/{content}");
        let later = Made {
            payload: Stored::Unknown,
            ..Made::page(&url, content).on_day(3)
        };
        let page = Made::page(&url, content);
        [page.clone().on_day(1), later, page.on_day(2)]
    };
    let made: Vec<Made> = (0..20_000)
        .map(|nth| match nth % 20 {
            0 => page(nth),
            _ => alone_or_two(nth),
        })
        .chain((0..200).flat_map(kept_twice))
        .chain((20_000..25_000).map(alone_or_two))
        .enumerate()
        .map(|(nth, made)| match made.date {
            Some(0) => made.on_day(7 - nth as i64 % 5),
            _ => made,
        })
        .collect();
    let thresholds = Thresholds {
        boilerplate_max: 20_000,
        ..Thresholds::default()
    };
    let catalog = catalog_of(&made);
    let groups = groups_of(&catalog, &thresholds);
    let fast = fates(&catalog, &groups);
    let mut slow = fast.clone();
    for fate in &mut slow {
        (fate.group_id, fate.group_size) = (0, 1);
    }
    let expected = twin::arrange(&catalog, &mut slow);
    let order: Vec<RowId> = groups.listed(0..groups.n_captures(), Listing::WithUnique);
    let differs = order.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the place in the list");
    let differs = fast.iter().zip(&slow).position(|(a, b)| a != b);
    assert_eq!(
        differs, None,
        "the row whose group has another number or size"
    );

    let n_of = |is_meant: &dyn Fn(&Fate) -> bool| slow.iter().filter(|fate| is_meant(fate)).count();
    assert_eq!(n_of(&|fate| fate.group_size == 1000), 1000, "the page");
    assert_eq!(n_of(&|fate| fate.page_group.is_some()), 1000 + 400);
    assert!(
        n_of(&|fate| fate.keeper.is_none()) > 5000,
        "most are unique"
    );
}

/// Rows are judged, and duplicates summed up, by tens of thousands.
#[test]
fn redundant_bytes_of_many_rows_are_those_of_all() {
    let made: Vec<Made> = (0..70_000)
        .map(|nth| match nth {
            // Two of a page, far from each other, and two that only decode to the same.
            100 | 69_000 => Made::page("a.a/1", 1),
            200 | 69_100 => Made::page("a.a/2", 2).with_decoded(9),
            300 | 69_200 => Made::page("a.a/2", 3).with_decoded(9),
            _ => Made {
                url: format!("b.a/{nth}"),
                payload: Stored::Unknown,
                ..Made::default()
            },
        })
        .collect();
    let counts = counts_of(&made);
    let differs = counts.by_conflict[Conflict::EncodingDiffers as usize];
    assert_eq!((counts.redundant_bytes, differs), (300, 1));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_its_slow_twin(
        bytes in proptest::collection::vec(any::<[u8; 18]>(), 0..14),
        thresholds in thresholds(),
    ) {
        let made: Vec<Made> = bytes.into_iter().map(made_of).collect();
        assert_agrees(&made, &thresholds);
    }

    #[test]
    fn the_order_of_inputs_changes_nothing(
        bytes in proptest::collection::vec(any::<[u8; 18]>(), 0..14),
        thresholds in thresholds(),
    ) {
        let made: Vec<Made> = bytes.into_iter().map(made_of).collect();
        let mut swapped = made.clone();
        for made in &mut swapped {
            made.file = 2 - made.file;
        }
        let catalog = catalog_in(["a", "b", "c"], &made);
        let other = catalog_in(["c", "b", "a"], &swapped);
        prop_assert_eq!(
            told_by_place(&catalog, &groups_of(&catalog, &thresholds)),
            told_by_place(&other, &groups_of(&other, &thresholds))
        );
    }
}
