//! Strings that are nearly URLs: seeds, changed at random but the same in every run.

/// SplitMix64: small, and its sequence is part of the tests.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a length is a u64");
        usize::try_from(self.next() % end).expect("it is below a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What URLs are made of, and what breaks them.
const PIECES: &[&str] = &[
    "/",
    "//",
    "\\",
    ".",
    "..",
    "/.",
    "/..",
    "/./",
    "/../",
    "%2e",
    "%2E%2e",
    "?",
    "#",
    "#!",
    "#/",
    "@",
    ":",
    ":80",
    ":443",
    ":080",
    ":8080",
    ":65536",
    ":0",
    "%",
    "%4",
    "%41",
    "%7e",
    "%2f",
    "%2F",
    "%25",
    "%zz",
    "%%34%31",
    "%E9",
    "%c3%a9",
    "é",
    "ü",
    "ß",
    "日本",
    "\u{ad}",
    "\u{200d}",
    "。",
    "İ",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "\u{7f}",
    "\u{1f}",
    "\"",
    "'",
    "<",
    ">",
    "^",
    "`",
    "{",
    "}",
    "|",
    "[",
    "]",
    "~",
    "!",
    "$",
    "&",
    "(",
    ")",
    "*",
    "+",
    ",",
    ";",
    "=",
    "-",
    "_",
    "a",
    "Z",
    "0",
    "9",
    "xn--",
    "0x",
    "127.1",
    "0x7f.1",
    ".0x",
    "0x.0x",
    "[::1]",
    "[2001:DB8::A]",
    "www.",
    "WWW.",
    ".com",
    "http:",
    "HTTPS:",
    "ftp:",
    "user:pw@",
    "user:@",
    "a=1",
    "&",
    "&&",
    "&amp;",
    "utm_source=x",
    "sid=0123456789",
    "sig=1",
    "lang=de",
    ";jsessionid=AB12",
    "(S(abc))",
    "index.html",
    "default.ASP",
    ".php",
    "007",
    "m.",
    "www2.",
    "A=",
    "b",
    "a+b=",
    "a%20b=",
    "%C3%89=",
    "%c3%a9=",
    "e%CC%81",
    "E\u{301}",
    "J%CC%8C",
    "\u{1f0}",
    "007.html",
    ";jsessionid=",
    "/(S(b))",
];

/// A seed with one to four changes.
pub(crate) fn mutate(seed: &str, random: &mut Random) -> String {
    let mut text: Vec<char> = seed.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() + 1);
        match random.below(8) {
            0 if !text.is_empty() => {
                text.remove(at.min(text.len() - 1));
            }
            1 => text.truncate(at.max(8)),
            2 => {
                let end = (at + random.below(12)).min(text.len());
                let piece: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            3 => text
                .iter_mut()
                .skip(at)
                .take(5)
                .for_each(|it| *it = it.to_ascii_uppercase()),
            4 if !text.is_empty() => {
                let piece = random.pick(PIECES).chars();
                let end = (at + 1).min(text.len());
                text.splice(at.min(end)..end, piece);
            }
            _ => {
                let piece = random.pick(PIECES).chars();
                text.splice(at..at, piece);
            }
        }
    }
    text.into_iter().collect()
}

/// URLs of our own making, that stand for what archives hold.
pub(crate) fn generated(random: &mut Random) -> String {
    const HOSTS: &[&str] = &[
        "example.org",
        "www.example.com",
        "WWW.Example.NET",
        "m.shop.example",
        "a-b.co.uk",
        "127.0.0.1",
        "news.example.de:8080",
        "example.com:80",
        "user@example.org",
        "my_host.example",
    ];
    const SEGMENTS: &[&str] = &[
        "",
        "a",
        "articles",
        "2024",
        "07",
        "Index.html",
        "default.asp",
        "caf%c3%a9",
        "%7Eann",
        "a%2Fb",
        "..",
        ".",
        "v1.2",
        "image.JPG",
        "x;jsessionid=0A1B2C3D",
        "(S(abc))",
        "list.php",
        "it's",
        "a b",
    ];
    const PARAMS: &[&str] = &[
        "id=1",
        "id=007",
        "q=a+b",
        "utm_source=x",
        "gclid=1",
        "sid=0123456789",
        "lang=de",
        "",
        "flag",
        "A=B",
        "sort=%61",
        "x=%2f",
        "amp;y=1",
        "sig=abc",
        "page=2",
    ];
    const FRAGMENTS: &[&str] = &["", "", "", "", "#", "#top", "#!/route", "#/app"];
    let mut url = String::from(random.pick(&["http://", "https://", "https://", "HTTP://"]));
    url.push_str(random.pick(HOSTS));
    for _ in 0..random.below(5) {
        url.push('/');
        url.push_str(random.pick(SEGMENTS));
    }
    for index in 0..random.below(6).saturating_sub(2) {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(random.pick(PARAMS));
    }
    url.push_str(random.pick(FRAGMENTS));
    url
}

/// Numbers of a test's own; others for each `DEDUPE_SEED`, so that a long run can be split over processes.
pub(crate) fn seeded(seed: u64) -> Random {
    let offset =
        std::env::var("DEDUPE_SEED").map_or(0, |n| n.parse().expect("DEDUPE_SEED is a number"));
    Random(seed + (offset << 32))
}

/// How many mutations to run: few in a test, as many as are asked for in a long run.
pub(crate) fn n_mutations() -> usize {
    std::env::var("DEDUPE_MUTATIONS")
        .map_or(20_000, |n| n.parse().expect("DEDUPE_MUTATIONS is a number"))
}
