use std::path::Path;

use proptest::prelude::*;

use crate::policy::plan::{Base, Fragment};
use crate::policy::{Policy, Rule, RuleSet};

fn load(text: &str) -> Policy {
    Policy::parse(text.as_bytes(), Path::new("p.toml")).unwrap()
}

/// A policy with what every policy needs, and `rest` on lines 3 and on.
fn with(rest: &str) -> String {
    format!("name = \"n\"\nversion = 1\n{rest}")
}

fn check(text: &[u8], expected: &str) {
    let error = Policy::parse(text, Path::new("p.toml")).map(|policy| policy.id().to_string());
    let message = error
        .expect_err(&text.escape_ascii().to_string())
        .to_string();
    let start = expected.split(' ').next().unwrap();
    assert!(message.starts_with(start), "{message}\nnot at {start}");
    let rest = &expected[start.len() + 1..];
    assert!(message.contains(rest), "{message}\nwithout {rest}");
}

/// What stands from line 3 on, where the mistake is, and a part of the message.
const MISTAKES: &[(&str, &str)] = &[
    (
        "x = 1",
        "p.toml:3:1: unknown key `x`; expected one of name, version, base",
    ),
    ("bsae = \"safe@1\"", "p.toml:3:1: did you mean `base`?"),
    ("base = \"safe@2\"", "p.toml:3:8: did you mean `safe@1`?"),
    (
        "base = \"lee2005@1\"",
        "p.toml:3:8: `lee2005@1` is no base that takes rules",
    ),
    ("base = 1", "p.toml:3:8: not a text; expected \"safe@1\" or"),
    (
        "fragment = \"keep\"",
        "p.toml:3:12: expected \"drop\" or \"keep-routes\"",
    ),
    ("name = \"m\"", "p.toml:3:1: duplicate key"),
    (
        "[bets]\nww = \"www\"",
        "p.toml:4:1: unknown rule `ww`; expected one of scheme, userinfo",
    ),
    ("[bets]\nww = \"www\"", "p.toml:4:1: did you mean `www`?"),
    ("[bets]\nwww = \"wwww\"", "p.toml:4:7: did you mean `www`?"),
    (
        "[bets]\nwww = 1",
        "p.toml:4:7: `www` takes one or several of \"www\", \"www-numbered\", \"mobile\"",
    ),
    (
        "[bets]\nwww = [\"www\", \"www\"]",
        "p.toml:4:15: `www=www` is named twice",
    ),
    (
        "[bets]\ntrailing-slash = [\"drop\", \"add\"]",
        "p.toml:4:18: both \"drop\" and \"add\"",
    ),
    (
        "[bets]\ndot-segments = \"on\"",
        "p.toml:4:1: `dot-segments` is a step of the core",
    ),
    ("[bets]\nwww.x = 1", "p.toml:4:1: expected an option"),
    (
        "[bets]\nquery-drop = [1]",
        "p.toml:4:15: `query-drop` takes names of parameters",
    ),
    (
        "[bets]\nquery-drop = [{ nam = \"a\" }]",
        "p.toml:4:17: did you mean `name`?",
    ),
    (
        "[bets]\nquery-drop = [\"\"]",
        "p.toml:4:15: a parameter without a name",
    ),
    (
        "[bets]\nquery-drop = [\"a\", \"*\"]",
        "p.toml:4:20: a parameter without a name",
    ),
    (
        "[bets]\nquery-drop = [{ name = \"*_id\" }]",
        "p.toml:4:15: `*` stands at the end",
    ),
    (
        "[bets]\nindex-file = [\"main\"]",
        "p.toml:4:15: expected \"default\" or file names with a dot",
    ),
    (
        "[bets]\nquery-drop-list = { file = \"no.txt\" }",
        "p.toml:4:28: cannot read the list `no.txt`",
    ),
    (
        "[bets]\nquery-drop-list = { fil = \"no.txt\" }",
        "p.toml:4:21: did you mean `file`?",
    ),
    (
        "[bets]\nquery-drop-list = \"list\"",
        "p.toml:4:19: expected \"tracking\" or { file",
    ),
    (
        "[[origin]]\npath = \"/\"",
        "p.toml:4:1: an origin without `host`",
    ),
    (
        "[[origin]]\nhost = \"http://a\"",
        "p.toml:4:8: a scheme is no part of it",
    ),
    (
        "[[origin]]\nhost = \"a\"\npath = \"b\"",
        "p.toml:5:8: does not start with `/`",
    ),
    (
        "[[origin]]\nhost = \"a\"\npath = \"/%2f\"",
        "p.toml:5:8: an escape is not %XX in upper case",
    ),
    (
        "[[origin]]\nhost = \"a\"\npath = \"/é\"",
        "p.toml:5:8: a character that is written as %XX",
    ),
    (
        "[[origin]]\nhost = \"a\"\npaht = \"/\"",
        "p.toml:5:1: did you mean `path`?",
    ),
    (
        "[[origin]]\nhost = \"a\"\n[[origin]]\nhost = \"A\"",
        "p.toml:6:1: of this host, port and path stands above",
    ),
    (
        "[[origin]]\nhost = \"a\"\npath=\"/b\"\n[[origin]]\nhost = \"a\"\npath=\"/b/\"",
        "p.toml:7:1: stands above",
    ),
    ("[origin]\nhost = \"a\"", "p.toml:3:1: expected [[origin]]"),
    (
        "[scope]\nhost = [\"a\"]",
        "p.toml:4:1: did you mean `hosts`?",
    ),
    (
        "[scope]\nhosts = []",
        "p.toml:4:9: an empty one; expected hosts",
    ),
    (
        "[scope]\nhosts = [\"a:b\"]",
        "p.toml:4:10: no number from 1 to 65535",
    ),
    (
        "[scope]\nschemes = [\"HTTP\"]",
        "p.toml:4:12: expected lower case",
    ),
    ("bets = 1", "p.toml:3:8: expected a table [bets]"),
    ("[bets", "p.toml:3:6: not TOML"),
];

#[test]
fn every_mistake_has_its_place_and_what_was_expected() {
    for (rest, expected) in MISTAKES {
        check(with(rest).as_bytes(), expected);
    }
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_file() {
    let text = "x = 1\nversion = -1\nbase = \"safe@2\"\n[bets]\nww = \"www\"\nwww = 1\n[[origin]]\nhost = \"a b\"\n\
                scheme = 1\n[[origin]]\npath = \"/\"\n[scope]\nhosts = []";
    let error = Policy::parse(text.as_bytes(), Path::new("p")).unwrap_err();
    let message = error.to_string();
    let places: Vec<&str> = message
        .lines()
        .map(|line| line.split(": ").next().unwrap_or_default())
        .collect();
    let expected = [
        "p:1:1", "p:1:1", "p:2:11", "p:3:8", "p:5:1", "p:6:7", "p:8:8", "p:9:10", "p:11:1",
        "p:13:9",
    ];
    assert_eq!(places, expected, "{message}");
}

#[test]
fn names_and_versions_are_checked() {
    for (text, expected) in [
        (&b"version = 1"[..], "p.toml:1:1: no `name`"),
        (b"name = \"a\"", "p.toml:1:1: no `version`"),
        (
            b"name = \"a b\"\nversion = 1",
            "p.toml:1:8: wrong name `a b`",
        ),
        (
            b"name = \"a\"\nversion = -1",
            "p.toml:2:11: expected digits and dots",
        ),
        (
            b"name = \"a\"\nversion = 1.5",
            "p.toml:2:11: expected digits and dots",
        ),
        (
            b"name = \"a\"\nversion = \"1.x\"",
            "p.toml:2:11: wrong version `1.x`",
        ),
        (
            b"name = \"a\"\nversion = \"\"",
            "p.toml:2:11: wrong version",
        ),
        (
            b"name = \"safe\"\nversion = 1",
            "p.toml:1:1: `safe@1` is built in",
        ),
        (b"name = \"a\"\n# \xFF", "p.toml:2:3: not UTF-8"),
        ("é = 1 \n\n# ü \u{7}".as_bytes(), "p.toml:3:5: not TOML"),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_policy_says_what_its_file_says() {
    let policy = load(&with(
        r#"
        base = "rfc3986@1"
        fragment = "keep-routes"
        [bets]
        www = ["mobile", "www"]
        query-drop = ["a", { name = "b", evidence = "412 right, 0 wrong, 2026-11-30" }]
        index-file = ["default", "main.html"]
        [scope]
        hosts = ["example.org", "example.net:8443"]
        schemes = ["http"]
        "#,
    ));
    let plan = policy.plan();
    assert_eq!(
        (plan.base, plan.fragment),
        (Base::Grammar, Fragment::KeepRoutes)
    );
    let expected = [
        Rule::WwwWww,
        Rule::WwwMobile,
        Rule::IndexFileDefault,
        Rule::IndexFileList,
        Rule::QueryDropList,
    ];
    assert_eq!(plan.bets.rules, RuleSet::of(&expected));
    assert!(plan.bets.query_drop.contains(b"b") && plan.bets.index_files.contains(b"main.html"));
    let scope = plan.scope.as_ref().unwrap();
    assert!(
        scope.admits(b"http", b"a.example.org", 80) && scope.admits(b"http", b"example.net", 8443)
    );
    assert!(
        !scope.admits(b"https", b"example.org", 443) && !scope.admits(b"http", b"example.net", 80)
    );
}

const ORIGINS: &str = r#"
        [bets]
        trailing-slash = "drop"
        query-drop = ["a"]
        [[origin]]
        host = "example.org"
        www = "www"
        query-drop = ["b"]
        [[origin]]
        host = "shop.example.org"
        path = "/catalog/"
        trailing-slash = "add"
        query-drop = ["c"]
        [[origin]]
        host = "shop.example.org:8443"
        path = "/catalog/x"
        query-drop = []
        [[origin]]
        host = "other.example.org"
        path = "/catalog/x"
        www = []
        "#;

#[test]
fn an_origin_has_what_covers_it_and_decides_over_it() {
    let policy = load(&with(ORIGINS));
    let bets = |host: &str, port, path: &str| {
        let bets = policy
            .plan()
            .bets_for(host.as_bytes(), port, path.as_bytes());
        let names: Vec<String> = bets
            .rules
            .iter()
            .map(|rule| rule.name().to_owned())
            .collect();
        let dropped: Vec<String> = bets
            .query_drop
            .iter()
            .map(|name| String::from_utf8(name).unwrap())
            .collect();
        format!("{} {}", names.join(","), dropped.join(","))
    };
    for (host, port, path, expected) in [
        (
            "example.net",
            80,
            "/",
            "trailing-slash=drop,query-drop=list a",
        ),
        (
            "www.example.org",
            80,
            "/",
            "www=www,trailing-slash=drop,query-drop=list a,b",
        ),
        (
            "badexample.org",
            80,
            "/",
            "trailing-slash=drop,query-drop=list a",
        ),
        (
            "shop.example.org",
            80,
            "/catalog/x/y",
            "www=www,trailing-slash=add,query-drop=list a,b,c",
        ),
        (
            "shop.example.org",
            80,
            "/catalogue",
            "www=www,trailing-slash=drop,query-drop=list a,b",
        ),
        (
            "shop.example.org",
            8443,
            "/catalog/x",
            "www=www,trailing-slash=add ",
        ),
        (
            "other.example.org",
            80,
            "/catalog/x",
            "trailing-slash=drop,query-drop=list a,b",
        ),
    ] {
        assert_eq!(bets(host, port, path), expected, "{host}:{port}{path}");
    }
}

#[test]
fn a_list_file_is_part_of_the_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    let id = |list: &str, entry: &str| {
        std::fs::write(folder.path().join("l.txt"), list).unwrap();
        std::fs::write(&path, with(&format!("[bets]\nquery-drop-list = {entry}"))).unwrap();
        Policy::load(path.to_str().unwrap()).map(|policy| policy.id().clone())
    };
    let file = "{ file = \"l.txt\" }";
    let first = id("# of 2026\nutm_*\r\nref\n", file).unwrap();
    assert_eq!(
        first,
        id("ref\nutm_*", file).unwrap(),
        "order and comments do not count"
    );
    assert_ne!(first, id("ref\nutm_*\nx", file).unwrap());
    assert_ne!(
        first,
        id("ref\nutm_*\n", &format!("[\"tracking\", {file}]")).unwrap()
    );
    let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(b"ref\n"));
    let pinned = format!("{{ file = \"l.txt\", hash = \"{hash}\" }}");
    assert!(id("ref\n", &pinned).is_ok());
    let error = id("ref \n", &pinned).unwrap_err().to_string();
    assert!(error.contains("`l.txt` has another hash"), "{error}");
}

#[test]
fn a_wrong_line_of_a_list_is_told_with_both_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    std::fs::write(folder.path().join("l.txt"), "utm_*\n# all\n  *\n").unwrap();
    let text = with("[bets]\nquery-drop-list = { file = \"l.txt\" }");
    let error = Policy::parse(text.as_bytes(), &path).unwrap_err();
    let expected = "p.toml:4:28: in the list l.txt:3:3: a parameter without a name; expected one as in \"sid\"";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_policy_tells_the_files_it_was_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let [path, list] = ["p.toml", "l.txt"].map(|name| folder.path().join(name));
    std::fs::write(&list, "sid\n").unwrap();
    let entry = "query-drop-list = { file = \"l.txt\" }\n";
    let text = with(&format!("[bets]\n{entry}[[origin]]\nhost = \"a\"\n{entry}"));
    let policy = Policy::parse(text.as_bytes(), &path).unwrap();
    assert_eq!(policy.files().collect::<Vec<_>>(), [&path, &list]);
    assert_eq!(Policy::load("safe@1").unwrap().files().count(), 0);
}

#[test]
fn no_message_commands_a_terminal() {
    for name in ["\\u001b[31m", "\\u202e", "\\n\\tb"] {
        let text = format!("name = \"{name}\"\nversion = 1\n[bets]\nwww = \"{name}\"");
        let error = Policy::parse(text.as_bytes(), Path::new("p\u{1b}")).unwrap_err();
        let message = error.to_string();
        let is_plain = |c: char| c == '\n' || !crate::error::commands(c);
        assert!(message.chars().all(is_plain), "{message:?}");
        assert_eq!(message.lines().count(), 2, "{message:?}");
    }
}

#[test]
fn parameter_names_are_those_behind_escapes() {
    let policy = load(&with(
        "[bets]\nunicode = \"nfc\"\nquery-drop = [\"a%5B%5D\", \"%2541\", \"e\\u0301\", \"50%\"]",
    ));
    let names = &policy.plan().bets.query_drop;
    for name in ["a[]", "%41", "e\u{301}", "\u{e9}", "50%"] {
        assert!(names.contains(name.as_bytes()), "{name}");
    }
    assert!(!names.contains(b"A") && !names.contains(b"a%5B%5D"));
}

#[test]
fn evidence_and_names_decide_nothing() {
    let id = |name: &str, evidence: &str| {
        let text = format!(
            "name = \"{name}\"\nversion = 1\n[bets]\nquery-drop = [{{ name = \"a\", evidence = \"{evidence}\" }}]"
        );
        load(&text).id().hash
    };
    assert_eq!(id("a", "x"), id("b", "y"));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _outcome = Policy::parse(&bytes, Path::new("p"));
    }

    #[test]
    fn no_policy_makes_it_panic(
        lines in prop::collection::vec(
            "(name|version|base|fragment|bets|www|query-drop|index-file|host|path|hosts|é|\\[bets\\]|\\[\\[origin\\]\\]|\\[scope\\])\
             ( = )?(1|\"[a-z/.:%é\\[\\]]{0,6}\"|\\[\"www\", 1\\]|\\{ name = \"[a-z]\" \\}|\\{ file = \"\\.\" \\})?",
            0..8,
        ),
    ) {
        let text = with(&lines.join("\n"));
        if let Err(error) = Policy::parse(text.as_bytes(), Path::new("p")) {
            let message = error.to_string();
            prop_assert!(message.lines().all(|line| line.starts_with("p:")), "{}", message);
        }
    }
}
