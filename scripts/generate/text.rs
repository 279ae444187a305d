//! Bodies that look and compress like pages: gzip makes a fourth to a fifth of them.

use std::fmt::Write as _;

use super::random::Random;

/// What a body is, so that equal bodies are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A page with this number, of about this length.
    Page(u64, u32),
    /// What a server says with a redirect or an error.
    Notice(u64),
    /// A line of text: `dns:` answers, robots.
    Line(u64),
    /// Nothing.
    Empty,
}

impl Body {
    /// Tells equal bodies from others; `None` for the empty one, which is evidence of nothing.
    pub(crate) fn id(self) -> Option<u64> {
        match self {
            Self::Page(id, _) | Self::Notice(id) | Self::Line(id) => Some(id),
            Self::Empty => None,
        }
    }
}

/// Words and sentences that all bodies of a seed are made of.
#[derive(Debug)]
pub(crate) struct Press {
    seed: u64,
    words: Vec<String>,
    sentences: Vec<String>,
}

const ONSETS: [&str; 20] = [
    "b", "br", "c", "ch", "d", "f", "g", "gr", "h", "l", "m", "n", "p", "pl", "r", "s", "st", "t",
    "tr", "v",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "io"];
const CODAS: [&str; 10] = ["", "", "n", "r", "s", "t", "l", "nd", "ck", "ng"];

impl Press {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::of_part(seed, u64::MAX);
        let mut words = Vec::new();
        for index in 0..2_000 {
            let mut word = String::new();
            let n_syllables = match index {
                0..60 => 1,
                60..900 => 2,
                _ => 2 + random.below(2),
            };
            for _ in 0..n_syllables {
                word.push_str(random.pick::<&str>(&ONSETS));
                word.push_str(random.pick::<&str>(&VOWELS));
                word.push_str(random.pick::<&str>(&CODAS));
            }
            words.push(word);
        }
        let mut press = Self {
            seed,
            words,
            sentences: Vec::new(),
        };
        press.sentences = (0..1_500).map(|_| press.sentence(&mut random)).collect();
        press
    }

    /// A word; the first ones far more often, as in any language.
    pub(crate) fn word(&self, random: &mut Random) -> &str {
        let rank = self.words.len() * random.below(1_000) / 1_000;
        let limit = 1 + rank * rank / self.words.len() * rank / self.words.len();
        &self.words[random.below(limit)]
    }

    fn sentence(&self, random: &mut Random) -> String {
        let mut text = String::new();
        for index in 0..6 + random.below(14) {
            if index > 0 {
                text.push_str(if random.below(12) == 0 { ", " } else { " " });
            }
            text.push_str(self.word(random));
        }
        text[..1].make_ascii_uppercase();
        text.push('.');
        text
    }

    /// The bytes of a body.
    pub(crate) fn print(&self, body: Body) -> Vec<u8> {
        match body {
            Body::Page(id, len) => self.page(id, len as usize),
            Body::Notice(id) => notice(id),
            Body::Line(id) => format!("192.0.2.{} ; {id}\n", id % 250).into_bytes(),
            Body::Empty => Vec::new(),
        }
    }

    fn page(&self, id: u64, len: usize) -> Vec<u8> {
        let mut random = Random::of_part(self.seed, id);
        let mut page = String::with_capacity(len + 2_000);
        let title = self.sentence(&mut random);
        let _ = write!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n"
        );
        for name in ["base", "layout", "theme", "print"] {
            let _ = writeln!(
                page,
                "<link rel=\"stylesheet\" type=\"text/css\" href=\"/assets/css/{name}.css?v=20240501\">"
            );
        }
        let _ = writeln!(page, "</head>\n<body data-page=\"{id}\">");
        self.list(&mut page, &mut random, len / 60);
        while page.len() + 40 < len {
            self.block(&mut page, &mut random);
        }
        page.push_str("</body>\n</html>\n");
        page.into_bytes()
    }

    /// The navigation, as every page has one.
    fn list(&self, page: &mut String, random: &mut Random, n_bytes: usize) {
        page.push_str("<ul class=\"navigation\" role=\"navigation\">\n");
        for _ in 0..(n_bytes / 12).clamp(1, 40) {
            let (section, word) = (self.word(random), self.word(random));
            let _ = writeln!(
                page,
                "  <li class=\"navigation-item\"><a class=\"navigation-link\" href=\"/{section}/{word}.html\">{word}</a></li>"
            );
        }
        page.push_str("</ul>\n");
    }

    fn block(&self, page: &mut String, random: &mut Random) {
        match random.below(5) {
            0 => {
                page.push_str("<div class=\"article-teaser article-teaser--small\">\n  <h3 class=\"article-teaser-title\">");
                page.push_str(self.word(random));
                page.push_str("</h3>\n  <p class=\"article-teaser-text\">");
                page.push_str(random.pick::<String>(&self.sentences));
                page.push_str("</p>\n  <a class=\"article-teaser-link\" href=\"/archive/2024/05/");
                page.push_str(self.word(random));
                page.push_str(".html\">Read more</a>\n</div>\n");
            }
            1 => {
                page.push_str("<table class=\"data-table\">\n");
                for _ in 0..4 {
                    let _ = writeln!(
                        page,
                        "  <tr class=\"data-table-row\"><td class=\"data-table-name\">{}</td><td class=\"data-table-value\">{}</td></tr>",
                        self.word(random),
                        random.below(1_000)
                    );
                }
                page.push_str("</table>\n");
            }
            _ => {
                page.push_str("<p class=\"article-text\">");
                for _ in 0..1 + random.below(2) {
                    page.push_str(random.pick::<String>(&self.sentences));
                    page.push(' ');
                }
                page.push_str("</p>\n");
            }
        }
    }
}

fn notice(id: u64) -> Vec<u8> {
    format!(
        "<html>\r\n<head><title>Notice</title></head>\r\n<body>\r\n<h1>Notice</h1>\r\n<hr><center>httpd/{id}</center>\r\n</body>\r\n</html>\r\n"
    )
    .into_bytes()
}
