//! Where scenes are played: makes URLs, pages and captures that nothing else has.

use super::capture::{Capture, Coding, Declared, Framing, Kind, Role, Truth, Wholeness};
use super::random::Random;
use super::text::{Body, Press};

const HOUR: i64 = 3_600;
/// 2024-05-01T00:00:00Z.
const START: i64 = 1_714_521_600;

/// Which scenes an output can tell: an index has no bodies, so what only a body shows is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    Bodies,
    Declared,
}

/// What scenes are made with; counts what must be new each time.
#[derive(Debug)]
pub(crate) struct Stage<'p> {
    pub(crate) random: Random,
    press: &'p Press,
    median: u32,
    pub(crate) evidence: Evidence,
    next_class: u64,
    next_body: u64,
    pub(crate) next_scene: u64,
}

impl<'p> Stage<'p> {
    pub(crate) fn new(random: Random, press: &'p Press, median: u32, evidence: Evidence) -> Self {
        Self {
            random,
            press,
            median,
            evidence,
            next_class: 0,
            next_body: 0,
            next_scene: 0,
        }
    }

    /// The start of the next scene: crawls go on for as long as they are large.
    pub(crate) fn now(&mut self) -> i64 {
        self.next_scene += 1;
        START + i64::try_from(self.next_scene).unwrap_or(0)
    }

    pub(crate) fn class(&mut self) -> u64 {
        self.next_class += 1;
        self.next_class
    }

    pub(crate) fn page(&mut self) -> Body {
        self.next_body += 1;
        Body::Page(self.next_body, self.random.lognormal(self.median))
    }

    pub(crate) fn notice(&mut self) -> Body {
        self.next_body += 1;
        Body::Notice(self.next_body)
    }

    pub(crate) fn line(&mut self) -> Body {
        self.next_body += 1;
        Body::Line(self.next_body)
    }

    /// A site; a thousand captures have some twenty, with `www` or without.
    pub(crate) fn host(&mut self) -> String {
        let n_sites = 20 + usize::try_from(self.next_scene / 50).unwrap_or(0);
        let site = self.random.below(n_sites);
        match site % 3 {
            0 => format!("site{site}.example"),
            1 => format!("www.site{site}.example"),
            _ => format!("news.site{site}.example:8080"),
        }
    }

    /// A path that no other scene has, with a `-` in it to be spelled another way.
    pub(crate) fn path(&mut self) -> String {
        let word = self.press.word(&mut self.random).to_owned();
        let section = self.press.word(&mut self.random);
        format!("/{section}/{word}-{}", self.next_scene)
    }

    pub(crate) fn url(&mut self) -> String {
        let scheme = if self.random.chance(0.7) {
            "https"
        } else {
            "http"
        };
        let query = match self.random.below(5) {
            0 => format!("?id={}", self.next_scene),
            1 => "?view=full&lang=en".to_owned(),
            _ => ".html".to_owned(),
        };
        format!("{scheme}://{}{}{query}", self.host(), self.path())
    }

    /// A page's capture, in some framing. Its page is its body.
    pub(crate) fn capture(&mut self, url: String, class: u64, time: i64, body: Body) -> Capture {
        let framing = match self.random.below(100) {
            0..4 => Framing::Chunked,
            4..6 => Framing::ChunkedDigestOverRaw,
            _ => Framing::Length,
        };
        Capture {
            url,
            time,
            kind: Kind::Response,
            status: 200,
            location: None,
            body,
            coding: Coding::Identity,
            framing,
            declared: Declared::Sha1,
            posted: None,
            wholeness: Wholeness::Whole,
            truth: Truth {
                class,
                page: body.id(),
                role: Some(Role::Unique),
                planted: String::new(),
            },
        }
    }

    /// A capture of a new page at a new URL.
    pub(crate) fn fresh(&mut self) -> Capture {
        let time = self.now();
        let (url, class, body) = (self.url(), self.class(), self.page());
        self.capture(url, class, time, body)
    }

    /// Some hours, a few days at most, and never the same twice.
    pub(crate) fn later(&mut self, time: i64, n: usize) -> i64 {
        let hours = i64::try_from(self.random.below(40)).unwrap_or(0);
        let n = i64::try_from(n).unwrap_or(0);
        time + (n * 48 + hours) * HOUR + n
    }
}
