//! Pairs of URLs that exactly one rule of the catalogue makes one, each pair on a domain of its own, or all on one host.

use super::capture::{Capture, Role};
use super::stage::Stage;

/// `--plant RULE=RIGHT,WRONG,UNVERIFIABLE`, and `--plant-host HOST:RULE=…`.
#[derive(Clone, Debug)]
pub(crate) struct Plant {
    /// Where all of them stand; else each stands on a domain of its own.
    pub(crate) host: Option<String>,
    pub(crate) rule: String,
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    pub(crate) unverifiable: u64,
}

/// `--plant-rate RULE=P`: pairs over `--domains`, wrong with probability P.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) rule: String,
    pub(crate) wrong: f64,
}

/// Where a pair stands: its domain, and which of the domain's pairs it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) domain: &'a str,
    pub(crate) index: usize,
}

/// Two URLs at `place` that `rule` (as `name=option`) makes one; `None` for a rule that is not in the catalogue.
pub(crate) fn pair(rule: &str, place: Place<'_>) -> Option<(String, String)> {
    let domain = place.domain;
    let path = format!("/shelf/page-{}", place.index);
    let page = format!("http://{domain}{path}");
    let with = |end: &str| format!("{page}{end}");
    let with_host = |start: &str| format!("http://{start}{domain}{path}");
    Some(match rule {
        "scheme=merge" => (page.clone(), page.replacen("http:", "https:", 1)),
        "userinfo=drop" => (page.clone(), with_host("reader:secret@")),
        "host-trailing-dot=drop" => (page.clone(), format!("http://{domain}.{path}")),
        "www=www" => (page.clone(), with_host("www.")),
        "www=www-numbered" => (page.clone(), with_host("www2.")),
        "www=mobile" => (page.clone(), with_host("m.")),
        "unicode=nfc" => (with("-e%CC%81"), with("-%C3%A9")),
        "amp-entity=decode" => (with("?a=1&b=2"), with("?a=1&amp;b=2")),
        "path-session=drop" => (page.clone(), with(";jsessionid=0123456789ABCDEF")),
        "slash-collapse=on" => (page.clone(), page.replacen("/shelf/", "/shelf//", 1)),
        "index-file=default" => (with("/"), with("/index.html")),
        "trailing-slash=drop" | "trailing-slash=add" => (page.clone(), with("/")),
        "path-case=lower" => (page.clone(), page.replacen("shelf", "Shelf", 1)),
        "leading-zeros=drop" => (with("?id=7"), with("?id=07")),
        "query-drop-list=tracking" => (page.clone(), with("?utm_source=feed")),
        "query-session=drop" => (page.clone(), with("?PHPSESSID=0123456789abcdef")),
        "query-empty=mark" => (page.clone(), with("?")),
        "query-empty=params" => (with("?a=1"), with("?a=1&")),
        "query-empty=value" => (with("?a"), with("?a=")),
        "query-plus=space" => (with("?q=a+b"), with("?q=a%20b")),
        "query-order=sort-stable" => (with("?a=1&b=2"), with("?b=2&a=1")),
        "query-order=sort-full" => (with("?a=1&a=2"), with("?a=2&a=1")),
        "query-order=dedupe" => (with("?a=1"), with("?a=1&a=1")),
        "query-case=lower" => (with("?q=word"), with("?q=Word")),
        "query-all=drop" => (page.clone(), with("?part=2")),
        "escapes=encode-grey" => (with("?q=a|b"), with("?q=a%7Cb")),
        "escapes=decode-sub-delims" => (with("-(1)"), with("-%281%29")),
        "escapes=decode-reserved" => (with(":1"), with("%3A1")),
        "escapes=decode-repeated" => (with("-%2D"), with("-%252D")),
        "language-param=drop" => (page.clone(), with("?lang=fr")),
        "extension=drop" => (page.clone(), with(".html")),
        _ => {
            let name = rule.strip_prefix("query-drop=")?;
            (page.clone(), with(&format!("?{name}=x1")))
        }
    })
}

/// What a planted pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The same page.
    Right,
    /// Two pages.
    Wrong,
    /// Two pages, half a year apart.
    Far,
    /// Two pages, one of which is another at each fetch.
    Unstable,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Far => "far",
            Self::Unstable => "unstable",
        }
    }
}

/// How often each URL of a pair is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetches {
    Once,
    /// Twice, the same page: the archive knows that it is stable.
    Twice,
}

const HOUR: i64 = 3_600;

/// The captures of one pair, each URL fetched `fetches` times.
pub(crate) fn play(
    stage: &mut Stage<'_>,
    rule: &str,
    place: Place<'_>,
    verdict: Verdict,
    fetches: Fetches,
) -> Vec<Capture> {
    let Some((one, other)) = pair(rule, place) else {
        return Vec::new();
    };
    let time = stage.now();
    let page = stage.page();
    let other_page = match verdict {
        Verdict::Right => page,
        _ => stage.page(),
    };
    let other_time = match verdict {
        Verdict::Far => time + 180 * 24 * HOUR,
        _ => time + HOUR,
    };
    let mut captures = Vec::new();
    let sides = [(one, time, page), (other, other_time, other_page)];
    for (side, (url, time, body)) in sides.into_iter().enumerate() {
        let class = stage.class();
        captures.push(stage.capture(url.clone(), class, time, body));
        if fetches == Fetches::Twice {
            captures.push(stage.capture(url.clone(), class, time + 24 * HOUR, body));
        }
        if verdict == Verdict::Unstable && side == 0 {
            let body = stage.page();
            captures.push(stage.capture(url, class, time + 2 * HOUR, body));
        }
    }
    let is_one_fetch = captures.len() == 2;
    for (index, capture) in captures.iter_mut().enumerate() {
        capture.truth.planted = format!("{}:{rule}", verdict.name());
        capture.truth.role = match (verdict, index) {
            (Verdict::Right, 0) => Some(Role::Keeper),
            (Verdict::Right, _) => Some(Role::Duplicate),
            _ if is_one_fetch => Some(Role::Unique),
            _ => None,
        };
        // Pages of a URL with user info stay apart whatever their content.
        if rule == "userinfo=drop" {
            capture.truth.role = None;
        }
    }
    captures
}
