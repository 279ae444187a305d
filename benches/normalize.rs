//! How fast a target URI becomes a comparison key, beside what the libraries take to parse and
//! serialize it: `DEDUPE_SHARED=… cargo bench --bench normalize`.
//!
//! Each group runs over the same list in the same process. What is timed: ours, normalize and
//! XXH3-128; `url`, parse, drop the fragment and XXH3-128; `ada-url`, parse and href, unhashed;
//! `fluent-uri`, parse, normalize and XXH3-128. Counts and sums of the keys are asserted on first, and
//! fed to a black box, so that no work can be left out.

#![expect(missing_docs, reason = "criterion's macro makes the one public item")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crawl_dedupe::capture::{Event, FileId};
use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;
use crawl_dedupe::scan::cdx::Reader;
use crawl_dedupe::source::Piece;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Distinct URLs of the long run, and how many of them are keyed at one go.
const N_DISTINCT: u64 = 10_000_000;
const N_BLOCK: u64 = 10_000;
/// How often the short lists are gone through to find the least time of each thousand.
const N_ROUNDS: usize = 30;
const N_STRETCH: usize = 1_000;

/// What is compared, ours first.
const CONTENDERS: [&str; 4] = ["ours", "url", "ada-url", "fluent-uri"];

fn ours(keyer: &mut Keyer<'_>, urls: &[String]) -> u64 {
    urls.iter().fold(0, |sum, url| {
        let keyed = keyer.key(black_box(url.as_bytes()));
        sum ^ keyed.key.key ^ keyed.key.check
    })
}

fn url_crate(urls: &[String]) -> u64 {
    urls.iter().fold(0, |sum, url| {
        let Ok(mut parsed) = url::Url::parse(black_box(url)) else {
            return sum;
        };
        parsed.set_fragment(None);
        sum ^ ComparisonKey::of(parsed.as_str().as_bytes()).key
    })
}

fn ada(urls: &[String]) -> usize {
    urls.iter().fold(0, |sum, url| {
        ada_url::Url::parse(black_box(url.as_str()), None)
            .map_or(sum, |parsed| sum + black_box(parsed.href()).len())
    })
}

fn fluent(urls: &[String]) -> u64 {
    urls.iter().fold(0, |sum, url| {
        let Ok(parsed) = fluent_uri::Uri::parse(black_box(url.as_str())) else {
            return sum;
        };
        sum ^ ComparisonKey::of(parsed.normalize().as_str().as_bytes()).key
    })
}

/// Runs one of the contenders over `urls`.
fn run(contender: &str, keyer: &mut Keyer<'_>, urls: &[String]) -> u64 {
    match contender {
        "ours" => ours(keyer, urls),
        "url" => url_crate(urls),
        "ada-url" => ada(urls) as u64,
        _ => fluent(urls),
    }
}

fn compare(criterion: &mut Criterion, name: &str, urls: &[String]) {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let n_slices = slices(&mut keyer, urls);
    report_slices(name, n_slices, urls.len() as u64);
    assert_ne!(ours(&mut keyer, urls), 0);
    assert_ne!(url_crate(urls), 0);
    let n_bytes = urls.iter().map(String::len).sum::<usize>();
    assert!(ada(urls) > n_bytes / 2);
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(urls.len() as u64));
    group.sample_size(20);
    for contender in CONTENDERS {
        group.bench_function(contender, |bench| {
            bench.iter(|| run(contender, &mut keyer, urls));
        });
    }
    group.finish();
    let times = CONTENDERS.map(|contender| least(contender, &mut keyer, urls));
    report_times(name, "least", urls.len() as u64, times);
}

/// The sum over stretches of the list of the least time that each took: what a busy machine does to a
/// mean, it does not do to this.
fn least(contender: &str, keyer: &mut Keyer<'_>, urls: &[String]) -> Duration {
    let mut least = vec![Duration::MAX; urls.len().div_ceil(N_STRETCH)];
    for _ in 0..N_ROUNDS {
        for (stretch, least) in urls.chunks(N_STRETCH).zip(&mut least) {
            let start = Instant::now();
            black_box(run(contender, keyer, stretch));
            *least = start.elapsed().min(*least);
        }
    }
    least.iter().sum()
}

/// Prints nanoseconds a URL, and how many times those of ours.
#[expect(clippy::print_stderr, reason = "a bench reports what it timed")]
fn report_times(name: &str, what: &str, n_urls: u64, times: [Duration; CONTENDERS.len()]) {
    let nanos = |time: Duration| time.as_secs_f64() * 1e9 / n_urls as f64;
    for (contender, time) in CONTENDERS.iter().zip(times) {
        let ratio = time.as_secs_f64() / times[0].as_secs_f64();
        eprintln!(
            "{name}/{contender}: {what} {:.1} ns a URL, {ratio:.2} times ours",
            nanos(time)
        );
    }
}

/// How many keys are slices of the input.
fn slices(keyer: &mut Keyer<'_>, urls: &[String]) -> u64 {
    let is_slice = |url: &&String| {
        let input = url.as_bytes().as_ptr_range();
        input.contains(&keyer.key(url.as_bytes()).text.as_ptr())
    };
    urls.iter().filter(is_slice).count() as u64
}

#[expect(clippy::print_stderr, reason = "a bench reports what it counted")]
fn report_slices(name: &str, n_slices: u64, n_urls: u64) {
    eprintln!("{name}: {n_slices} of {n_urls} keys are slices");
    assert!(n_slices * 100 >= n_urls * 97, "fewer than 97 % are slices");
}

fn top100(criterion: &mut Criterion) {
    let Some(shared) = std::env::var_os("DEDUPE_SHARED") else {
        return;
    };
    let path = PathBuf::from(shared).join("data/url-lists/top100.txt");
    let list = std::fs::read_to_string(path).expect("top100.txt is readable");
    let urls: Vec<String> = list.lines().map(str::to_owned).collect();
    assert_eq!(urls.len(), 100_030);
    compare(criterion, "top100", &urls);
}

/// 20 to 40 bytes, plain, nearly all distinct.
fn short(criterion: &mut Criterion) {
    let urls: Vec<String> = (0..100_000).map(short_url).collect();
    assert!(urls.iter().all(|url| (20..=40).contains(&url.len())));
    let distinct: HashSet<&String> = urls.iter().collect();
    assert!(distinct.len() > 95_000, "distinct URLs");
    compare(criterion, "short", &urls);
}

/// More distinct URLs than a branch predictor can learn, streamed from a CDX that is made block by
/// block while no clock runs. Criterion would go over them again and again; here each contender sees
/// each URL once, and they take turns to be the first.
fn distinct(_: &mut Criterion) {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let mut keys = HashSet::with_capacity(usize::try_from(N_DISTINCT).expect("it fits"));
    let mut n_slices = 0;
    for urls in Blocks::default() {
        n_slices += slices(&mut keyer, &urls);
        keys.extend(urls.iter().map(|url| keyer.key(url.as_bytes()).key.key));
    }
    assert_eq!(keys.len() as u64, N_DISTINCT, "distinct keys");
    report_slices("distinct", n_slices, N_DISTINCT);
    drop(keys);
    let mut times = [Duration::ZERO; CONTENDERS.len()];
    let mut sums = [0u64; CONTENDERS.len()];
    for (turn, urls) in Blocks::default().enumerate() {
        for step in 0..CONTENDERS.len() {
            let index = (turn + step) % CONTENDERS.len();
            let start = Instant::now();
            let sum = run(CONTENDERS[index], &mut keyer, &urls);
            times[index] += start.elapsed();
            sums[index] = sums[index].wrapping_add(black_box(sum));
        }
    }
    assert!(sums.iter().all(|sum| *sum != 0));
    report_times("distinct", "mean", N_DISTINCT, times);
}

/// The target URIs of a CDX, so many at a time, read by the tool's own reader.
#[derive(Default)]
struct Blocks {
    n_made: u64,
}

impl Iterator for Blocks {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.n_made == N_DISTINCT {
            return None;
        }
        let mut cdx = String::from(" CDX N b a m s k r M S V g\n");
        for index in self.n_made..self.n_made + N_BLOCK {
            let url = long_url(index);
            writeln!(
                cdx,
                "key 20240501120000 {url} text/html 200 2LMFUIYHTKZSGPMNNQAPJBLP4OLDKIGB - - 512 {index} a.warc.gz"
            )
            .expect("memory takes it");
        }
        self.n_made += N_BLOCK;
        let mut urls = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Capture(capture) = event {
                urls.push(String::from_utf8(capture.target_uri.to_vec()).expect("it was made so"));
            }
        };
        let mut reader = Reader::new(FileId(0));
        let piece = Piece::Bytes {
            bytes: cdx.as_bytes(),
            offset: 0,
        };
        reader.push(piece, &mut sink);
        reader.finish(&mut sink);
        assert_eq!(urls.len() as u64, N_BLOCK, "captures of a block");
        Some(urls)
    }
}

/// The digits of a number that no predictor guesses.
fn mixed(index: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

fn short_url(index: u64) -> String {
    let digits = format!("{:x}", mixed(index));
    let len = 3 + usize::try_from(mixed(index) >> 60).expect("four bits");
    format!(
        "https://ex-{}.org/{}",
        index % 97,
        &digits[..len.min(digits.len())]
    )
}

fn long_url(index: u64) -> String {
    let random = mixed(index);
    let mut url = format!("https://www{}.example.com", random % 61);
    for step in 0..1 + random % 5 {
        url.push('/');
        url.push_str(
            &"section-of-the-site"
                [..3 + usize::try_from(random >> (8 + step * 5) & 15).expect("four bits")],
        );
    }
    url.push_str(&format!("/{index}"));
    if random.is_multiple_of(4) {
        url.push_str(&format!("?id={}&page={}", random % 1_000, random % 7));
    }
    url
}

criterion_group!(benches, top100, short, distinct);
criterion_main!(benches);
