//! Random small crawls: the files as a crawler and an indexer would write them, and the same captures as the twins know them.

use std::io::Read as _;

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType, Timestamp};
use crawl_dedupe::catalog::Target;
use data_encoding::{BASE32, HEXLOWER};
use sha1::Digest as _;

use crate::evaluate::Random;
use crate::given::{FILES, Given, key, response};

/// 2024-05-01T00:00:00Z.
const START: i64 = 1_714_521_600;
const HOUR: i64 = 3_600;

/// Inputs: records in the first of [`FILES`], index lines of an archive that is not there in the second.
#[derive(Debug, Default)]
pub(crate) struct Crawl {
    /// All captures: url is the core form, `spelled` what is written; payloads by name, see [`bytes_of`].
    pub(crate) given: Vec<Given>,
    pub(crate) records: Vec<u8>,
    pub(crate) lines: String,
}

/// What sort of crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// A few URLs.
    Small,
    /// One host, of which noise is known.
    Deep,
    /// Many domains, of which an interval is believed.
    Wide,
}

/// What a crawl is drawn from.
#[derive(Debug)]
struct World {
    urls: Vec<String>,
    n_pages: u32,
    hours: u32,
    changing: u32,
    /// Captures of each URL at least, less one.
    n_fetches: u32,
    n_urls_with_records: usize,
}

impl Crawl {
    pub(crate) fn random(size: Size, random: &mut Random) -> Self {
        let world = World::random(size, random);
        let mut crawl = Self::default();
        for url in &world.urls {
            let own = random.below(world.n_pages);
            for _ in 0..=world.n_fetches + random.below(3) {
                let page = if random.below(100) < world.changing {
                    random.below(world.n_pages)
                } else {
                    own
                };
                let given = world.capture(random, url, page);
                crawl.push(given);
            }
        }
        if random.below(2) == 0 {
            crawl.repeat(random);
        }
        crawl.revisits(&world, random);
        crawl
    }

    /// A record stored twice.
    fn repeat(&mut self, random: &mut Random) {
        let records: Vec<Given> = self
            .given
            .iter()
            .filter(|one| one.file == 0)
            .cloned()
            .collect();
        if !records.is_empty() {
            let again = random.pick(&records).clone();
            self.push(again);
        }
    }

    /// Revisits of what is there, or of nothing.
    fn revisits(&mut self, world: &World, random: &mut Random) {
        for _ in 0..random.below(4) {
            let of = random.pick(&self.given).clone();
            let elsewhere = random.pick(&world.urls).clone();
            let url = if random.below(3) > 0 {
                of.url.clone()
            } else {
                elsewhere
            };
            let status = *random.pick(&[0, 0, 200, 200, 304, 301, 404]);
            let mut given = Given {
                record_type: RecordType::Revisit,
                has_head: status != 0,
                payload: String::new(),
                digest_status: DigestStatus::Absent,
                id: format!("<urn:revisit:{}>", self.given.len()),
                ..response(&url, 0, status)
            };
            given.spelled = spelled(&url, random);
            given.date = world.date(random);
            if random.below(5) > 0 && !of.payload.is_empty() {
                given.payload.clone_from(&of.payload);
                given.declared.clone_from(&of.payload);
                given.digest_status = DigestStatus::ByReference;
            }
            if random.below(3) == 0 {
                as_line(&mut given, random);
            } else {
                match random.below(4) {
                    0 => given.refers_id.clone_from(&of.id),
                    1 => {
                        given.refers_url.clone_from(&of.url);
                        given.refers_date = of.date;
                    }
                    2 => given.refers_url.clone_from(&of.url),
                    _ => {}
                }
            }
            if status == 301 {
                let to: &String = random.pick(&world.urls);
                lead(&mut given, to, random);
            }
            self.push(given);
        }
    }

    fn push(&mut self, mut given: Given) {
        let n_before = self
            .given
            .iter()
            .filter(|one| one.file == given.file)
            .count();
        given.ordinal = Some(n_before);
        if given.file == 0 {
            given.offset = self.records.len() as u64;
            self.records.extend(record(&given));
        } else {
            // An index is known by the date in its first line.
            given.date = given.date.or((n_before == 0).then_some((START, 0)));
            given.offset = 1000 * n_before as u64;
            self.lines += &line(&given);
        }
        self.given.push(given);
    }
}

const HOSTS: [&str; 9] = [
    "http://a.test",
    "https://a.test",
    "http://www.a.test",
    "http://m.a.test",
    "http://b.test",
    "https://www2.b.test",
    "http://10.0.0.1",
    "http://reader:secret@a.test",
    "http://a.test.",
];
const PATHS: [&str; 16] = [
    "/",
    "/x",
    "/x",
    "/x/",
    "/X",
    "/x/index.html",
    "/x//",
    "/y",
    "/Y",
    "/y.html",
    "/z",
    "/z;jsessionid=12345678",
    "/%7C",
    "/a%21b",
    "/a!b",
    "/x/home.htm",
];
const QUERIES: [&str; 18] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "?",
    "?a=1&b=2",
    "?b=2&a=1",
    "?utm_source=n",
    "?id=7",
    "?id=07",
    "?a",
    "?a=",
    "?PHPSESSID=0123456789",
    "?a=1&sig=abc",
    "?q=A+b",
    "?lang=fr",
];

impl World {
    fn random(size: Size, random: &mut Random) -> Self {
        let n_urls = match size {
            Size::Deep => 70,
            Size::Wide => 80,
            Size::Small => 2 + random.below(12),
        };
        let n_hosts = 1 + random.below(9);
        let n_paths = 2 + random.below(15);
        let n_queries = *random.pick(&[1, 6, 18]);
        let mut urls: Vec<String> = (0..n_urls)
            .map(|url| match size {
                Size::Wide => format!("http://d{}.test/x{}", url / 2, ["", "/"][url as usize % 2]),
                Size::Deep => format!(
                    "{}{}{}",
                    HOSTS[0],
                    random.pick(&PATHS),
                    ["", "?id=1", "?id=2", "?id=3", "?id=04", "?id=4"][random.below(6) as usize]
                ),
                Size::Small => format!(
                    "{}{}{}",
                    HOSTS[random.below(n_hosts) as usize],
                    PATHS[random.below(n_paths) as usize],
                    QUERIES[random.below(n_queries) as usize]
                ),
            })
            .collect();
        urls.sort_unstable();
        urls.dedup();
        Self {
            n_pages: *random.pick(&[2, 3, 2 + n_urls, 2 + n_urls, 2 + n_urls]),
            hours: match size {
                Size::Deep => 6,
                Size::Wide | Size::Small => *random.pick(&[3, 30, 24 * 40]),
            },
            changing: if size == Size::Deep {
                random.below(3) * 10
            } else {
                *random.pick(&[0, 10, 40])
            },
            n_fetches: if size == Size::Deep { 2 } else { 0 },
            n_urls_with_records: random.below(n_urls + 1) as usize,
            urls,
        }
    }

    fn date(&self, random: &mut Random) -> Option<(i64, u32)> {
        let hours = i64::from(random.below(self.hours));
        (random.below(25) > 0).then_some((START + hours * HOUR, 0))
    }

    fn capture(&self, random: &mut Random, url: &str, page: u32) -> Given {
        let mut given = Given {
            date: self.date(random),
            spelled: spelled(url, random),
            id: format!("<urn:uuid:{}>", random.below(1 << 30)),
            ..response(url, 0, 200)
        };
        given.payload = format!("p{page}");
        match random.below(24) {
            0 => {
                given.status = *random.pick(&[206, 404, 304, 500]);
                if given.status == 206 {
                    given.completeness = Completeness::Partial;
                }
            }
            1 => given.payload = "empty".to_owned(),
            2..5 => {
                given.payload = format!("z{page}");
                given.decoded = format!("p{page}");
            }
            5 => given.payload = format!("b{page}"),
            6 => given.completeness = Completeness::Truncated,
            7 => {
                given.record_type = RecordType::Resource;
                given.status = 0;
                given.has_head = false;
            }
            8..13 => {
                given.status = *random.pick(&[301, 301, 301, 308, 307, 302]);
                given.payload = format!("r{page}");
                let to: &String = random.pick(&self.urls);
                lead(&mut given, to, random);
            }
            _ => {}
        }
        let is_record =
            self.urls.iter().position(|own| own == url) < Some(self.n_urls_with_records);
        if is_record {
            if random.below(3) == 0 {
                (given.declared, given.digest_status) = match random.below(4) {
                    0 => ("elsewhere".to_owned(), DigestStatus::Mismatch),
                    1 if given.payload != "empty" => {
                        (format!("s256:{}", given.payload), DigestStatus::Ok)
                    }
                    _ => (given.payload.clone(), DigestStatus::Ok),
                };
                if given.completeness != Completeness::Complete {
                    given.declared = String::new();
                    given.digest_status = DigestStatus::Absent;
                }
            }
        } else {
            as_line(&mut given, random);
        }
        given
    }
}

/// Makes a capture lead to a URL, in a spelling of it.
fn lead(given: &mut Given, to: &str, random: &mut Random) {
    (given.to, given.redirect_to) = match random.below(10) {
        0 => (Target::NotHttp, "ftp://a.test/x".to_owned()),
        1 => {
            let outside = "http://outside.test/".to_owned();
            (Target::Key(key(&outside)), outside)
        }
        _ if to.contains('@') => (Target::Credentials, to.to_owned()),
        _ => (Target::Key(key(to)), to.to_owned()),
    };
}

/// Makes a capture an index line: nothing is known of its body.
fn as_line(given: &mut Given, random: &mut Random) {
    let is_revisit = given.record_type == RecordType::Revisit;
    given.file = 1;
    given.is_index_line = true;
    given.stated_file = "gone.warc.gz";
    given.id = String::new();
    given.decoded = String::new();
    given.language = "";
    given.completeness = if !is_revisit && given.status == 206 {
        Completeness::Partial
    } else {
        Completeness::Complete
    };
    given.record_type = if is_revisit {
        RecordType::Revisit
    } else {
        RecordType::Response
    };
    if !is_revisit && given.payload != "empty" && random.below(12) == 0 {
        given.payload = format!("s256:{}", given.payload);
    }
    if !is_revisit && random.below(15) == 0 {
        given.method = *random.pick(&["POST", "HEAD"]);
    }
    if !is_revisit && random.below(20) == 0 {
        given.payload = String::new();
    }
    given.declared.clone_from(&given.payload);
    given.digest_status = match (given.payload.is_empty(), is_revisit) {
        (true, _) => DigestStatus::Absent,
        (false, true) => DigestStatus::ByReference,
        (false, false) => DigestStatus::Unchecked,
    };
    given.has_head = given.status != 0;
}

/// Another way to write a URL that `safe@1` makes one with it.
fn spelled(url: &str, random: &mut Random) -> String {
    match random.below(12) {
        0 => url.replacen("http", "HTTP", 1),
        1 => url.replacen("/x", "/%78", 1),
        2 => format!("{url}#top"),
        3 => url.replacen(".test/", ".TEST/", 1),
        4 if !url.contains('@') && !url.contains("test.") => {
            let port = if url.starts_with("https") {
                "443"
            } else {
                "80"
            };
            let at = url.find("//").map_or(0, |at| at + 2);
            let slash = url[at..].find('/').map_or(url.len(), |slash| at + slash);
            format!("{}:{port}{}", &url[..slash], &url[slash..])
        }
        5 => url.replacen("/y", "/./y", 1),
        _ => url.to_owned(),
    }
}

/// The bytes that a payload name stands for.
pub(crate) fn bytes_of(name: &str) -> Vec<u8> {
    let number: u32 = name
        .get(1..)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    let page = format!(
        "<p>word{} {}</p>",
        "x".repeat(number as usize / 2),
        number % 2
    );
    match &name[..1] {
        "p" => page.into_bytes(),
        "z" => {
            let mut zipped = Vec::new();
            let level = flate2::Compression::fast();
            flate2::read::GzEncoder::new(page.as_bytes(), level)
                .read_to_end(&mut zipped)
                .expect("it reads memory");
            zipped
        }
        "b" => format!("no gzip {number}").into_bytes(),
        "r" => format!("moved {number}").into_bytes(),
        _ if name == "empty" => Vec::new(),
        _ => name.as_bytes().to_vec(),
    }
}

/// The visible text that a payload shows once it is decoded, as a number; 0 for none.
pub(crate) fn text_of(name: &str) -> u64 {
    let number: u64 = name
        .get(1..)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    match &name[..1] {
        "p" => number / 2 + 1,
        _ => 0,
    }
}

/// A digest as reports and indexes write it.
pub(crate) fn digest_text(name: &str) -> String {
    match name.strip_prefix("s256:") {
        Some(name) => format!(
            "sha256:{}",
            HEXLOWER.encode(&sha2::Sha256::digest(bytes_of(name)))
        ),
        None => format!(
            "sha1:{}",
            BASE32.encode(&sha1::Sha1::digest(bytes_of(name)))
        ),
    }
}

/// A date as reports write it.
pub(crate) fn date_text(date: Option<(i64, u32)>) -> String {
    let mut text = Vec::new();
    date.map_or(Timestamp::UNKNOWN, |(seconds, nanos)| {
        Timestamp::new(seconds, nanos)
    })
    .write_rfc3339(&mut text);
    String::from_utf8(text).expect("a date is ASCII")
}

fn record(given: &Given) -> Vec<u8> {
    let kind = match given.record_type {
        RecordType::Revisit => "revisit",
        RecordType::Resource => "resource",
        _ => "response",
    };
    let date = given
        .date
        .map_or("never".to_owned(), |_| date_text(given.date));
    let mut header = format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {}\r\nWARC-Date: {date}\r\nWARC-Target-URI: {}\r\n",
        given.id, given.spelled
    );
    if !given.declared.is_empty() {
        header += &format!("WARC-Payload-Digest: {}\r\n", digest_text(&given.declared));
    }
    if given.completeness == Completeness::Truncated {
        header += "WARC-Truncated: length\r\n";
    }
    if !given.refers_id.is_empty() {
        header += &format!("WARC-Refers-To: {}\r\n", given.refers_id);
    }
    if !given.refers_url.is_empty() {
        header += &format!("WARC-Refers-To-Target-URI: {}\r\n", given.refers_url);
    }
    if given.refers_date.is_some() {
        header += &format!("WARC-Refers-To-Date: {}\r\n", date_text(given.refers_date));
    }
    let mut block = Vec::new();
    if given.has_head {
        block.extend(
            format!(
                "HTTP/1.1 {} Said\r\nContent-Type: text/html\r\n",
                given.status
            )
            .into_bytes(),
        );
        if !given.redirect_to.is_empty() {
            block.extend(format!("Location: {}\r\n", given.redirect_to).into_bytes());
        }
        if given.payload.starts_with(['z', 'b']) {
            block.extend(b"Content-Encoding: gzip\r\n");
        }
        block.extend(b"\r\n");
    } else if given.record_type == RecordType::Resource {
        header += "Content-Type: text/html\r\n";
    }
    if given.record_type != RecordType::Revisit {
        block.extend(bytes_of(&given.payload));
    }
    let header = format!("{header}Content-Length: {}\r\n\r\n", block.len());
    [header.as_bytes(), &block, b"\r\n\r\n"].concat()
}

fn line(given: &Given) -> String {
    let date: String = match given.date {
        Some(_) => date_text(given.date)
            .chars()
            .filter(char::is_ascii_digit)
            .collect(),
        None => "never".to_owned(),
    };
    let mut fields = vec![("url", given.spelled.clone())];
    if given.record_type == RecordType::Revisit {
        fields.push(("mime", "warc/revisit".to_owned()));
    } else {
        fields.push(("mime", "text/html".to_owned()));
    }
    if given.status != 0 {
        fields.push(("status", given.status.to_string()));
    }
    if !given.declared.is_empty() {
        fields.push(("digest", digest_text(&given.declared)));
    }
    if !given.redirect_to.is_empty() {
        fields.push(("redirect", given.redirect_to.clone()));
    }
    if given.method != "GET" {
        fields.push(("method", given.method.to_owned()));
    }
    fields.push(("length", "100".to_owned()));
    fields.push(("offset", given.offset.to_string()));
    fields.push(("filename", given.stated_file.to_owned()));
    let fields: serde_json::Map<String, serde_json::Value> = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    format!("- {date} {}\n", serde_json::Value::from(fields))
}

/// The input that a capture stands in, and the file and offset that are its place.
pub(crate) fn locator_text(given: &Given) -> String {
    let file = if given.is_index_line {
        given.stated_file
    } else {
        FILES[0].rsplit('/').next().unwrap_or("")
    };
    format!("{file}:{}", given.offset)
}
