//! Every bet: pairs that it merges, and near misses that it leaves apart.

use crawl_dedupe::policy::plan::{Base, Bets, Names, Plan};
use crawl_dedupe::policy::{Rule, RuleSet};
use crawl_dedupe::uri::Normalizer;

/// Rule; what it makes of paths and queries behind `http://example.org`, or of whole URLs; what it
/// leaves as it is.
type Claim = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const TABLE: &[Claim] = &[
    (
        "scheme=merge",
        &[("https://a.example/", "http://a.example/")],
        &["https://a.example:8443/", "http://a.example:443/"],
    ),
    (
        "userinfo=drop",
        &[("http://u:p@a.example/", "http://a.example/")],
        &["/@a"],
    ),
    (
        "host-trailing-dot=drop",
        &[("http://a.example./", "http://a.example/")],
        &["http://1.2.3.999../"],
    ),
    (
        "www=www",
        &[("http://www.www.example.org/", "/")],
        &[
            "http://www.com/",
            "http://www.co.uk/",
            "http://www2.example.org/",
        ],
    ),
    (
        "www=www-numbered",
        &[("http://www12.example.org/", "/")],
        &["http://www1355544.com/", "http://www.example.org/"],
    ),
    (
        "www=mobile",
        &[
            ("http://m.example.org/", "/"),
            ("http://mobile.example.org/", "/"),
        ],
        &["http://m.com/", "http://mob.example.org/"],
    ),
    (
        "unicode=nfc",
        &[("/e%CC%81?e%CC%81", "/%C3%A9?%C3%A9")],
        &["/%3D%CC%B8", "/%EF%AC%81"],
    ),
    (
        "amp-entity=decode",
        &[("/?a&amp;b&amp;amp;c", "/?a&b&c"), ("/?amp;a", "/?a")],
        &["/?amp;", "/&amp;a", "/?a&AMP;b", "/?a&amp;sig=1"],
    ),
    (
        "path-session=drop",
        &[
            ("/a;JSESSIONID=1;b/c", "/a;b/c"),
            ("/(s(x))/a", "/a"),
            ("/a/(S(x))", "/a/"),
        ],
        &["/a;jsession=1", "/(S(x))b", "/?a;jsessionid=1"],
    ),
    ("slash-collapse=on", &[("//a///b//", "/a/b/")], &["/?a//b"]),
    (
        "index-file=default",
        &[("/a/Index.HTML", "/a/"), ("/default.aspx?q", "/?q")],
        &["/index.xml", "/index.html/", "/aindex.html", "/index"],
    ),
    (
        "index-file=list",
        &[("/a/start.php", "/a/"), ("/start%2Ephp", "/")],
        &["/Start.php", "/index.html"],
    ),
    (
        "trailing-slash=drop",
        &[("/a//", "/a")],
        &["/", "/a", "/?a/"],
    ),
    (
        "trailing-slash=add",
        &[("/a", "/a/")],
        &["/a.b", "/a/", "/"],
    ),
    ("path-case=lower", &[("/A%C3%84?B", "/a%C3%84?B")], &["/?A"]),
    (
        "leading-zeros=drop",
        &[("/007/0?a=00&b=01", "/7/0?a=0&b=1")],
        &["/07a", "/?007", "/?sid=00000001", "/?a=-01"],
    ),
    (
        "query-drop=list",
        &[("/?ref=1&a=2", "/?a=2"), ("/?r%65f&", "/")],
        &["/?Ref=1", "/?refs=1", "/?ref=1&sig=2"],
    ),
    (
        "query-drop-list=tracking",
        &[("/?utm_source=x&a&gclid=1", "/?a"), ("/?%75tm_x", "/")],
        &["/?UTM_x=1", "/?utm=1"],
    ),
    (
        "query-drop-list=list",
        &[("/?pk_x=1&a", "/?a")],
        &["/?pk=1"],
    ),
    (
        "query-session=drop",
        &[("/?PHPSESSID=0123abcd&a", "/?a")],
        &["/?sid=12", "/?sid=1234.678", "/?side=01234567"],
    ),
    ("query-empty=mark", &[("/?", "/")], &["/?&", "/?a"]),
    (
        "query-empty=params",
        &[("/?&a&&b&", "/?a&b"), ("/?&&", "/?")],
        &["/?a=", "/?"],
    ),
    (
        "query-empty=value",
        &[("/?a&b=", "/?a=&b=")],
        &["/?", "/?a=1&&b="],
    ),
    (
        "query-plus=space",
        &[("/?a+b", "/?a%20b")],
        &["/a+b", "/?a%2Bb", "/?a+b&sig=1"],
    ),
    (
        "query-order=sort-stable",
        &[("/?b=1&a=2&%61=1", "/?a=2&a=1&b=1")],
        &["/?a=2&a=1", "/?b&a&hmac=1"],
    ),
    (
        "query-order=sort-full",
        &[("/?b&a=2&a=1", "/?a=1&a=2&b")],
        &["/?a&b", "/?b&a&Signature=1"],
    ),
    (
        "query-order=dedupe",
        &[("/?b&a&b&a", "/?b&a")],
        &["/?a=1&a=2"],
    ),
    (
        "query-case=lower",
        &[("/A?B=%2F", "/A?b=%2F")],
        &["/A", "/?X-Amz-Signature=A"],
    ),
    (
        "query-all=drop",
        &[("/a?b", "/a"), ("/?", "/")],
        &["/a%3Fb", "/?sig=1"],
    ),
    (
        "escapes=encode-grey",
        &[("/|[]%zz?|[]\\%", "/%7C%5B%5D%25zz?%7C%5B%5D%5C%25")],
        &["/%7C%41"],
    ),
    (
        "escapes=decode-sub-delims",
        &[("/%2C%3B?%26%3D", "/,;?&=")],
        &["/%2F?%2F", "/?%27"],
    ),
    (
        "escapes=decode-reserved",
        &[("/%2F%40?%2F%3F", "//@?/?")],
        &["/%3F%23?%23", "/?a%26sig=1"],
    ),
    (
        "escapes=decode-repeated",
        &[
            ("/%252541?%252541", "/A?A"),
            ("/a%253Fb%2523c", "/a?b"),
            ("/%2520", "/%20"),
        ],
        &["/%C3%A9", "/a%3Fsig=1"],
    ),
    (
        "language-param=drop",
        &[("/?hl=de&a&lang", "/?a")],
        &["/?LANG=de", "/?language_id=1"],
    ),
    (
        "extension=drop",
        &[("/a.html", "/a"), ("/a.php.html?q", "/a?q")],
        &[
            "/a.HTML",
            "/.html",
            "/..html",
            "/index.html",
            "/a.html/",
            "/a.xml",
        ],
    ),
];

fn plan(rule: Rule) -> Plan {
    let names = |name: &'static str| Names::new([name.as_bytes()]);
    Plan {
        bets: Bets {
            rules: RuleSet::of(&[rule]),
            query_drop: names("ref"),
            query_drop_file: names("pk_*"),
            index_files: names("start.php"),
        },
        ..Plan::new(Base::Browser)
    }
}

fn whole(url: &str) -> String {
    if url.starts_with('/') {
        format!("http://example.org{url}")
    } else {
        url.to_owned()
    }
}

#[test]
fn each_bet_merges_its_pairs_and_no_near_miss() {
    let core = Plan::new(Base::Browser);
    let mut normalizer = Normalizer::default();
    let mut text = |plan: &Plan, url: &str| {
        let url = whole(url);
        let normalized = normalizer.normalize(plan, url.as_bytes());
        (
            String::from_utf8(normalized.text.to_vec()).expect("keys are ASCII"),
            normalized.fired,
        )
    };
    for (name, merged, apart) in TABLE {
        let rule = Rule::parse(name).expect("it is in the catalogue");
        let plan = plan(rule);
        for (input, expected) in *merged {
            let (found, fired) = text(&plan, input);
            assert_eq!(found, whole(expected), "{name}: {input}");
            assert!(fired.contains(rule), "{name}: {input}");
            assert_ne!(
                text(&core, input).0,
                text(&core, expected).0,
                "{name}: {input} is one already"
            );
        }
        for input in *apart {
            let (found, fired) = text(&plan, input);
            assert_eq!(found, text(&core, input).0, "{name}: {input}");
            assert!(!fired.contains(rule), "{name}: {input}");
        }
    }
}

#[test]
fn the_table_has_every_bet() {
    let named: RuleSet = TABLE.iter().filter_map(|row| Rule::parse(row.0)).collect();
    assert_eq!(named, RuleSet::bets());
}

#[test]
fn a_rule_is_named_beside_one_that_does_a_part_of_its_work() {
    let both = [Rule::IndexFileDefault, Rule::TrailingSlashDrop];
    let mut plan = Plan::new(Base::Browser);
    plan.bets.rules = RuleSet::of(&both);
    let mut normalizer = Normalizer::default();
    for (url, expected, rules) in [
        ("/x/index.html", "/x", &both[..]),
        ("/index.html/index.html", "/", &both),
        ("/index.html", "/", &both[..1]),
        ("/x/", "/x", &both[1..]),
    ] {
        let url = whole(url);
        let normalized = normalizer.normalize(&plan, url.as_bytes());
        assert_eq!(normalized.text, whole(expected).as_bytes(), "{url}");
        assert_eq!(normalized.fired, RuleSet::of(rules), "{url}");
    }
}
