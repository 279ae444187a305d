//! How fast a target URI becomes a comparison key, beside what the libraries take to parse and
//! serialize it: `DEDUPE_SHARED=… cargo bench --bench normalize`.
//!
//! Each group runs over the same list in the same process. What is timed: ours, normalize and
//! XXH3-128; `url`, parse, drop the fragment and XXH3-128; `ada-url`, parse and href, unhashed;
//! `fluent-uri`, parse, normalize and XXH3-128. Sums of the keys are asserted on first and fed to a
//! black box, so that no work can be left out.

#![expect(missing_docs, reason = "criterion's macro makes the one public item")]

use std::hint::black_box;
use std::path::PathBuf;

use crawl_dedupe::key::{ComparisonKey, Keyer};
use crawl_dedupe::policy::Policy;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Distinct URLs of the long run, in blocks that are made while the clock stands.
const N_DISTINCT: u64 = 1_000_000;

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

fn compare(criterion: &mut Criterion, name: &str, urls: &[String]) {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    report_slices(name, urls);
    assert_ne!(ours(&mut keyer, urls), 0);
    assert_ne!(url_crate(urls), 0);
    let n_bytes = urls.iter().map(String::len).sum::<usize>();
    assert!(ada(urls) > n_bytes / 2);
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(urls.len() as u64));
    group.sample_size(20);
    group.bench_function("ours", |bench| bench.iter(|| ours(&mut keyer, urls)));
    group.bench_function("url", |bench| bench.iter(|| url_crate(urls)));
    group.bench_function("ada-url", |bench| bench.iter(|| ada(urls)));
    group.bench_function("fluent-uri", |bench| bench.iter(|| fluent(urls)));
    group.finish();
}

/// Prints how many keys are slices of the input.
#[expect(clippy::print_stderr, reason = "a bench reports what it counted")]
fn report_slices(name: &str, urls: &[String]) {
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    let is_slice = |url: &&String| {
        let input = url.as_bytes().as_ptr_range();
        input.contains(&keyer.key(url.as_bytes()).text.as_ptr())
    };
    let n_slices = urls.iter().filter(is_slice).count();
    eprintln!("{name}: {n_slices} of {} keys are slices", urls.len());
    assert!(
        n_slices * 100 >= urls.len() * 97,
        "fewer than 97 % are slices"
    );
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

/// 20 to 40 bytes, plain, all distinct.
fn short(criterion: &mut Criterion) {
    let urls: Vec<String> = (0..100_000).map(short_url).collect();
    assert!(urls.iter().all(|url| (20..=40).contains(&url.len())));
    compare(criterion, "short", &urls);
}

/// More distinct URLs than a branch predictor can learn.
fn distinct(criterion: &mut Criterion) {
    let urls: Vec<String> = (0..N_DISTINCT).map(long_url).collect();
    let policy = Policy::load("safe@1").expect("it is built in");
    let mut keyer = Keyer::new(&policy);
    report_slices("distinct", &urls);
    let mut group = criterion.benchmark_group("distinct");
    group
        .throughput(Throughput::Elements(N_DISTINCT))
        .sample_size(10);
    group.bench_function("ours", |bench| bench.iter(|| ours(&mut keyer, &urls)));
    group.finish();
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
