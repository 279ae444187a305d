//! The page of `dedupe evaluate --html`: what stands on it, and that no archive can put markup into it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::expect;

/// The page that the command writes to stdout; `folder` is where it runs.
fn page(folder: &Path, flags: &[&OsStr]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .arg0("dedupe")
        .arg("evaluate")
        .args(flags)
        .args(["-q", "--html", "-"])
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", output.stderr.escape_ascii());
    String::from_utf8(output.stdout).expect("a page is UTF-8")
}

fn sample(flags: &[&str]) -> String {
    let flags: Vec<&OsStr> = [&["--in", "sample-data/rules.cdxj"], flags]
        .concat()
        .into_iter()
        .map(OsStr::new)
        .collect();
    page(Path::new("."), &flags)
}

/// A tag with its attributes, a piece of text, or what opens with `<!`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Tag(String, Vec<(String, String)>),
    Text(String),
    Declaration(String),
}

/// Splits a page as a browser does: enough of the standard for what a page holds, strict about the rest.
fn tokens(page: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let Some(inside) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            tokens.push(Token::Text(rest[..end].to_owned()));
            rest = &rest[end..];
            continue;
        };
        let (tag, after) = tag(inside);
        let is_style = matches!(&tag, Token::Tag(name, _) if name == "style");
        tokens.push(tag);
        rest = after;
        if is_style {
            let end = rest.find("</style").expect("a style ends");
            tokens.push(Token::Text(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    tokens
}

/// The tag whose `<` was read, and what follows it.
fn tag(inside: &str) -> (Token, &str) {
    if let Some(declaration) = inside.strip_prefix('!') {
        let (text, after) = declaration.split_once('>').expect("a declaration ends");
        return (Token::Declaration(text.to_owned()), after);
    }
    let end = inside
        .find(|c: char| c.is_whitespace() || c == '>')
        .expect("a name ends");
    let (name, mut rest) = inside.split_at(end);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return (Token::Tag(name.to_owned(), attributes), after);
        }
        let (attribute, value) = rest.split_once("=\"").expect("values stand in quotes");
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(attribute.chars().all(is_of_name), "{attribute}");
        let (value, after) = value.split_once('"').expect("a value ends");
        attributes.push((attribute.to_owned(), value.to_owned()));
        rest = after;
    }
}

/// The text alone.
fn text(page: &str) -> String {
    let texts = tokens(page).into_iter().filter_map(|token| match token {
        Token::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Elements and attributes, without the text.
fn structure(page: &str) -> Vec<Token> {
    let mut tokens = tokens(page);
    tokens.retain(|token| !matches!(token, Token::Text(_)));
    tokens
}

#[test]
fn the_page_of_the_sample_data() {
    expect::check("evaluate.html", sample(&[]).as_bytes());
}

#[test]
fn nothing_is_fetched_or_run_and_only_the_own_style_is_admitted() {
    let page = sample(&["--policy", "lee2005@1", "--against", "safe@1"]);
    let mut style = None;
    let mut security_policy = None;
    let tokens = tokens(&page);
    for (token, next) in tokens.iter().zip(&tokens[1..]) {
        let Token::Tag(name, attributes) = token else {
            continue;
        };
        let name = name.trim_start_matches('/');
        for forbidden in [
            "script", "a", "img", "link", "iframe", "object", "embed", "form", "base", "image",
            "use",
        ] {
            assert_ne!(name, forbidden);
        }
        for (attribute, value) in attributes {
            assert!(
                !attribute.starts_with("on") && attribute != "style",
                "{token:?}"
            );
            assert!(
                !matches!(attribute.as_str(), "href" | "src" | "srcset" | "action"),
                "{token:?}"
            );
            assert!(
                !value.contains("http") && !value.contains("url("),
                "{token:?}"
            );
            if value.starts_with("default-src") {
                security_policy = Some(value.replace("&#39;", "'"));
            }
        }
        if let (true, Token::Text(text)) = (name == "style", next) {
            style = style.or(Some(text));
        }
    }
    let style = style.expect("the page has a style");
    assert!(!style.contains("url(") && !style.contains("@import"));
    let hash = data_encoding::BASE64.encode(&Sha256::digest(style));
    assert_eq!(
        security_policy.expect("the page has a policy"),
        format!(
            "default-src 'none'; script-src 'none'; img-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
        )
    );
}

#[test]
fn the_answer_comes_first_and_names_each_rule() {
    let page = sample(&["--rules", "www=www,path-case=lower"]);
    let text = text(&page);
    for said in [
        "Adopt none of these rules yet. 2 rules are open.",
        "Of 32 merges that could be checked, on 32 sites, 2 put two different pages together and 30 were right.",
        "so far mostly right",
        "The wrong ones are not certain (a page may have changed between two fetches), so it cannot be rejected",
        "This archive is a single crawl",
    ] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn what_is_to_be_adopted_stands_there_as_a_policy_file() {
    let page = sample(&["--min-precision", "0.9", "--min-pairs", "30"]);
    let (_, rest) = page.split_once("<pre>").expect("a policy file is shown");
    let (text, _) = rest.split_once("</pre>").expect("it ends");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("adopted.toml");
    std::fs::write(&path, text.replace("&quot;", "\"")).expect("the folder is writable");
    let output = Command::new(env!("CARGO_BIN_EXE_dedupe"))
        .args(["policy", "show"])
        .arg(&path)
        .output()
        .expect("the binary runs");
    let shown = String::from_utf8(output.stdout).expect("a policy is text");
    for bet in ["query-drop-list = [\"tracking\"]", "query-all = [\"drop\"]"] {
        assert!(shown.contains(bet), "{shown}");
    }
}

#[test]
fn what_was_learned_and_what_was_sampled_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let policy = folder.path().join("learned.toml").display().to_string();
    let page = sample(&["--policy-out", &policy, "--sample", "0.5", "--seed", "3"]);
    for said in [
        "Rules learned for single sites",
        "All of it speaks of the sample.",
        "of the URLs were compared (seed 3)",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("counts are exact"));
}

#[test]
fn what_does_not_occur_is_not_explained() {
    for (rule, occurs) in [("www=www", false), ("trailing-slash=drop", true)] {
        let text = text(&sample(&["--rules", rule]));
        assert_eq!(text.contains("Cannot be told"), occurs, "{rule}");
        assert_eq!(text.contains("cannot be told"), occurs, "{rule}");
        assert!(text.contains("wrong, not certain"));
        for absent in ["wrong, certain:", "some sites only", "digits only"] {
            assert!(!text.contains(absent), "{rule}: {absent}");
        }
    }
}

/// An index of fetches: host and its number, path, day, letter of the content.
fn index_of(fetches: &[(char, u8, &str, u8, char)]) -> String {
    let mut cdx = " CDX N b a m s k r M S V g\n".to_owned();
    for (offset, (host, number, path, day, letter)) in (0..).step_by(100).zip(fetches) {
        // A content of its own for each host: what many have is boilerplate.
        let own = [number / 20, number % 20].map(|digit| char::from(b'A' + digit));
        let digest: String = [*host, *letter].into_iter().chain(own).collect();
        let digest = digest.to_uppercase().repeat(8);
        cdx += &format!(
            "- 202405{day:02}120000 http://{host}{number}.test/{path} text/html 200 {digest} - - 100 {offset} a.warc.gz\n"
        );
    }
    cdx
}

#[test]
fn where_noise_could_explain_all_that_is_wrong_refetching_is_advised() {
    let said = "fetched a day to a week apart, and 50\u{a0}% of all refetches that far apart differ: noise alone could explain them. What would settle it is fetching both URLs of these pairs again within 30 days, not more sites.";
    // With refetches that stay the same, noise explains nothing.
    for (second, is_said) in [('B', true), ('A', false)] {
        let fetches: Vec<_> = (0..40)
            .flat_map(|n| {
                let other = if n < 10 { 'B' } else { 'A' };
                let refetched = if n < 20 { second } else { 'A' };
                [
                    ('a', n, "page", 1, 'A'),
                    ('a', n, "page/", 3, other),
                    ('b', n, "page", 1, 'A'),
                    ('b', n, "page", 3, refetched),
                ]
            })
            .collect();
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("a.cdx"), index_of(&fetches))
            .expect("a temporary folder is writable");
        let flags = ["--in", "a.cdx", "--rules", "trailing-slash=drop"];
        let text = text(&page(folder.path(), &flags.map(OsStr::new)));
        assert_eq!(text.contains(said), is_said, "{second}: {text}");
        let of_sites = text.contains("What would settle them: an archive of more sites");
        assert_eq!(of_sites, !is_said, "{second}");
    }
}

/// An archive's index, a pair of URLs a line, and the page of one rule over it.
fn page_of(paths: &[&[u8]], host: &str, file_name: &[u8], input: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut cdx = b" CDX N b a m s k r M S V g\n".to_vec();
    let mut offset = 0;
    for (path, letter) in paths.iter().zip(['A', 'B', 'C', 'D', 'E', 'F']) {
        let digests =
            [letter, char::from(letter as u8 + 8)].map(|letter| letter.to_string().repeat(32));
        for (slash, digest) in ["", "/"].into_iter().zip(digests) {
            offset += 100;
            cdx.extend_from_slice(
                format!("- 20240501120000 http://{host}{letter}.test/").as_bytes(),
            );
            cdx.extend_from_slice(path);
            cdx.extend_from_slice(
                format!("{slash} text/html 200 {digest} - - 100 {offset} ").as_bytes(),
            );
            cdx.extend_from_slice(file_name);
            cdx.push(b'\n');
        }
    }
    std::fs::write(folder.path().join(input), cdx).expect("a temporary folder is writable");
    let flags = ["--in", input, "--rules", "trailing-slash=drop"]
        .map(|flag| OsStr::from_bytes(flag.as_bytes()));
    page(folder.path(), &flags)
}

#[test]
fn no_text_of_an_archive_becomes_markup() {
    let hostile = page_of(
        &[
            b"</style><script>alert(1)</script>",
            b"\"onmouseover=\"alert(1)\"x=\"<img/src=x/onerror=alert(1)>",
            b"&lt;script&gt;&amp;&quot;",
            b"<!--]]><svg/onload=alert(1)>",
            "\u{202e}gpj.exe".as_bytes(),
            b"\xff\xfe\x01\x1b[31m",
        ],
        "a'onclick='x'&lt;b&",
        "<script>\"'\u{202e}\u{200b}".as_bytes(),
        "a\"><script>'&lt;.cdx",
    );
    let paths = [&b"a"[..], b"b", b"c", b"d", b"e", b"f"];
    let harmless = page_of(&paths, "a", b"a.warc.gz", "a.cdx");
    assert_eq!(harmless.matches("Would be lost").count(), paths.len());
    let (found, expected) = (structure(&hostile), structure(&harmless));
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    for seen in [
        "http://a'onclick='x'&amp;lt;b&amp;a.test/%3C/style%3E%3Cscript",
        "&lt;script&gt;&quot;'\\u{202e}\\u{200b}:",
        "a&quot;&gt;&lt;script&gt;'&amp;lt;.cdx",
    ] {
        assert!(hostile.contains(seen), "{seen}");
    }
    assert!(!hostile.contains(['\u{202e}', '\u{200b}', '\u{1b}']));
}

#[test]
fn a_very_long_url_is_cut_and_says_so() {
    let long = "x/".repeat(10_000) + "x";
    let page = page_of(&[long.as_bytes()], "a", b"a.warc.gz", "a.cdx");
    assert!(page.contains("equal bytes"), "{}", page.len());
    assert!(page.len() < 40_000, "{}", page.len());
}

#[test]
fn a_page_is_an_output_like_the_others() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let run = |flags: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_dedupe"))
            .args([
                "evaluate",
                "-q",
                "--in",
                "sample-data/rules.cdxj",
                "--rules",
                "www=www",
            ])
            .args(flags)
            .output()
            .expect("the binary runs")
    };
    let at = |name: &str| folder.path().join(name).display().to_string();
    for flags in [
        &["--html", "-", "--report", "-"][..],
        &["--html", "sample-data/rules.cdxj"],
        &["--html", &at("a"), "--pairs", &at("a")],
    ] {
        assert_eq!(run(flags).status.code(), Some(2), "{flags:?}");
    }
    let output = run(&["--html", &at("report.html"), "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let written = std::fs::read(folder.path().join("report.html")).expect("the page is there");
    assert_eq!(summary["outputs"][0]["path"], at("report.html"));
    assert_eq!(summary["outputs"][0]["bytes"], written.len());
}

#[test]
fn what_was_learned_for_single_sites_is_part_of_the_answer() {
    let flags = [
        "--in",
        "sample-data/hosts.cdxj.gz",
        "--min-host-pairs",
        "100",
    ]
    .map(OsStr::new);
    let page = page(Path::new("."), &flags);
    let text = text(&page);
    for said in [
        "Adopt none of these rules for all sites yet. Adopt what was learned for 1 single site.",
        "shop.example query-drop=sidIgnores this parameter of the query",
        "On the other half all 118 merges that could be checked were right.",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("data.example query-drop=sid"));
}

#[test]
fn a_sample_shows_no_figure_that_it_does_not_know() {
    let page = sample(&["--sample", "0.5"]);
    assert!(!page.contains("NaN"));
    assert!(text(&page).contains("This is a sample: only 50\u{a0}% of the URLs were compared."));
}

#[test]
fn two_policies_are_compared_both_ways() {
    let page = sample(&["--policy", "lee2005@1", "--against", "safe@1"]);
    let text = text(&page);
    for said in [
        "only lee2005@1what safe@1 keeps apart",
        "Of 95 merges that could be checked, on 95 sites, 20 put two different pages together and 75 were right.",
        "only safe@1what lee2005@1 keeps apartNothing: the other one merges all of it too.",
    ] {
        assert!(text.contains(said), "{said}");
    }
}
