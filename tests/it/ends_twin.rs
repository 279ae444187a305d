//! `group::Ends` against its slow twin, on random catalogs.

use proptest::prelude::*;
use proptest::sample::select;

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::{RowId, Target};
use crawl_dedupe::group::{Conflict, End, Ends, Thresholds};

use crate::given::{DAY, Given, catalog, identity, key, response};
use crate::naive_ends::{Naive, NaiveEnd};

const URLS: [&str; 6] = [
    "http://a/",
    "http://a/x",
    "http://b/y",
    "http://b/z",
    "http://c/",
    "http://c/x",
];
const DAYS: [i64; 5] = [0, 1, 2, 20, 40];

fn date() -> impl Strategy<Value = Option<(i64, u32)>> {
    let known = (select(&DAYS), select(&[0, 0, 5]));
    prop_oneof![1 => Just(None), 6 => known.prop_map(|(day, nanos)| Some((day * DAY, nanos)))]
}

fn words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

fn target() -> impl Strategy<Value = (Target, String)> {
    let key_of = |url: &str| (Target::Key(key(url)), url.to_owned());
    prop_oneof![
        8 => select(&URLS).prop_map(key_of),
        1 => Just(key_of("http://outside/")),
        1 => select(&[Target::NotHttp, Target::Credentials, Target::OutOfScope, Target::None])
            .prop_map(|target| (target, String::new())),
    ]
}

prop_compose! {
    fn head()(
        url in select(&URLS),
        date in date(),
        status in select(&[0, 200, 200, 301, 301, 301, 302, 303, 304, 307, 308, 404]),
        (to, redirect_to) in target(),
        has_head in prop::bool::weighted(0.6),
        is_hsts in prop::bool::weighted(0.3),
        is_index_line in prop::bool::weighted(0.2),
        is_out_of_scope in prop::bool::weighted(0.05),
        method in select(&["GET", "GET", "GET", "GET", "GET", "GET", "POST", "HEAD"]),
        language in select(&["", "", "", "de", "en"]),
        file in select(&[0, 2]),
    ) -> Given {
        Given {
            date, to, redirect_to, has_head, is_hsts, is_index_line, is_out_of_scope, method, language, file,
            ..response(url, 0, status)
        }
    }
}

prop_compose! {
    fn capture()(
        head in head(),
        record_type in select(&[RecordType::Response, RecordType::Response, RecordType::Revisit]),
        id in words(&["", "i", "j", "k"]),
        declared in words(&["", "x", "y", "z", "empty"]),
        payload in words(&["", "x", "y", "z", "empty"]),
        decoded in words(&["", "", "D", "E"]),
        digest_status in select(&[
            DigestStatus::Ok, DigestStatus::OkOverRawBody, DigestStatus::Unchecked,
            DigestStatus::Mismatch, DigestStatus::Uncheckable,
        ]),
        completeness in select(&[Completeness::Complete, Completeness::Complete, Completeness::Cut]),
        refers_id in words(&["", "", "i", "j", "k", "elsewhere"]),
        refers_url in prop_oneof![Just(String::new()), select(&URLS).prop_map(str::to_owned)],
        refers_date in date(),
    ) -> Given {
        Given {
            record_type, id, declared, payload, decoded, digest_status, completeness,
            refers_id, refers_url, refers_date,
            ..head
        }
    }
}

fn thresholds() -> impl Strategy<Value = Thresholds> {
    (
        select(&[1, 2, 20]),
        select(&[1, 2, 50]),
        select(&[0, 10, 30]),
    )
        .prop_map(|(redirects_max, fan_in_max, days)| Thresholds {
            redirects_max,
            fan_in_max,
            redirect_within: days * DAY,
            ..Thresholds::default()
        })
}

fn agree(given: &[Given], thresholds: &Thresholds) {
    let naive = Naive { given, thresholds };
    let ends = Ends::of(&catalog(given), thresholds);
    for me in 0..given.len() {
        let row = RowId::from_index(me);
        let end = match ends.end(row) {
            End::Itself => NaiveEnd::Itself,
            End::Row(end) => NaiveEnd::Capture(end.index()),
            End::Unfollowed(from) => NaiveEnd::NotFrom(from.index()),
            End::Loop => NaiveEnd::Loop,
        };
        let mut conflicts: Vec<Conflict> = ends.conflicts(row).iter().collect();
        conflicts.sort_unstable();
        let hop = ends.hop(row).map(|hop| hop.to.index());
        let (naive_hop, naive_end, naive_conflicts, is_temporary) = naive.outcome(me);
        assert_eq!(
            (hop, end, conflicts),
            (naive_hop, naive_end, naive_conflicts),
            "{me}"
        );
        if matches!(end, NaiveEnd::Capture(_) | NaiveEnd::Itself) {
            assert_eq!(ends.is_temporary(row), is_temporary, "{me}");
            assert_eq!(ends.page(row).index(), naive.page(me), "{me}");
        }
        let places = [ends.head(row), ends.content(row)].map(RowId::index);
        assert_eq!(places, [naive.head(me), naive.content(me)], "{me}");
        let facts = ends.facts(row);
        let (payload, decoded, is_empty, is_usable) = naive.facts(me);
        assert_eq!(
            (
                facts.status,
                facts.payload,
                facts.decoded,
                facts.is_empty,
                facts.is_usable
            ),
            (
                naive.status(me),
                identity(&payload),
                identity(&decoded),
                is_empty,
                is_usable
            ),
            "{me}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn on_captures_of_all_kinds(
        given in prop::collection::vec(capture(), 1..12),
        thresholds in thresholds(),
    ) {
        agree(&given, &thresholds);
    }

    #[test]
    fn on_redirects_alone(given in prop::collection::vec(head(), 1..12), thresholds in thresholds()) {
        agree(&given, &thresholds);
    }

    #[test]
    fn in_any_order_of_inputs(
        (given, order) in prop::collection::vec(capture(), 1..12).prop_flat_map(|mut given| {
            for (ordinal, one) in given.iter_mut().enumerate() {
                one.ordinal = Some(ordinal);
            }
            let order = Just((0..given.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(given), order)
        }),
        thresholds in thresholds(),
    ) {
        let turned: Vec<Given> = order.iter().map(|place| given[*place].clone()).collect();
        let [straight, turned] = [given, turned].map(|given| Ends::of(&catalog(&given), &thresholds));
        // Where a row of the turned list stood.
        let back = |row: RowId| order[row.index()];
        for (row, place) in order.iter().enumerate() {
            let (row, place) = (RowId::from_index(row), RowId::from_index(*place));
            let hop = |hop: crawl_dedupe::group::Hop| (hop.to.index(), hop.kind);
            prop_assert_eq!(
                turned.hop(row).map(|hop| (back(hop.to), hop.kind)),
                straight.hop(place).map(hop)
            );
            prop_assert_eq!(turned.conflicts(row), straight.conflicts(place));
            prop_assert_eq!(turned.facts(row), straight.facts(place));
            prop_assert_eq!(back(turned.content(row)), straight.content(place).index());
        }
        prop_assert_eq!(turned.figures(), straight.figures());
    }
}
