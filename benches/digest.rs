//! Hash functions over payloads as the three modes use them: `cargo bench --bench digest`.

#![expect(
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that shows nothing measures nothing; its macro writes no docs"
)]

use std::hint::black_box;

use crawl_dedupe::capture::Algorithm;
use crawl_dedupe::digest::{Sum, Wanted};
use criterion::{Criterion, Throughput};

/// Payloads, as long as pages are.
const N_PAYLOADS: usize = 200;

fn digest(criterion: &mut Criterion) {
    let payloads: Vec<Vec<u8>> = (0..N_PAYLOADS)
        .map(|nth| {
            let len = 1_000 + nth * nth % 60_000;
            (0..len)
                .map(|at| ((at * (nth + 7)) >> 3).to_le_bytes()[0])
                .collect()
        })
        .collect();
    let n_bytes: usize = payloads.iter().map(Vec::len).sum();
    println!("{N_PAYLOADS} payloads, {n_bytes} bytes");
    let sha1 = Wanted::NOTHING.with(Algorithm::Sha1);
    let mut group = criterion.benchmark_group("digest");
    group.throughput(Throughput::Bytes(n_bytes as u64));
    for (name, wanted) in [
        ("SHA-1", sha1),
        ("XXH3-128", Wanted::BODY_HASH),
        ("SHA-1 and XXH3-128 (verify)", sha1.and(Wanted::BODY_HASH)),
        ("BLAKE3 (content)", Wanted::NOTHING.with(Algorithm::Blake3)),
        ("SHA-256", Wanted::NOTHING.with(Algorithm::Sha256)),
    ] {
        let mut sum = Sum::default();
        let mut hash = || {
            let mut n_hashed = 0;
            for payload in &payloads {
                sum.begin(wanted);
                sum.update(payload);
                n_hashed += sum.n_bytes();
                for algorithm in [Algorithm::Sha1, Algorithm::Blake3, Algorithm::Sha256] {
                    black_box(sum.digest(algorithm));
                }
                black_box(sum.body_hash());
            }
            n_hashed
        };
        assert_eq!(hash(), n_bytes as u64);
        group.bench_function(name, |bencher| bencher.iter(&mut hash));
    }
    group.finish();
}

criterion::criterion_group!(benches, digest);
criterion::criterion_main!(benches);
