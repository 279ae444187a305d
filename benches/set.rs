//! Inserts into the sharded set, beside shards that are locked for each key: `cargo bench --bench set`.

#![expect(
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that shows nothing measures nothing; its macro writes no docs"
)]

use std::sync::Mutex;

use crawl_dedupe::set::Sharded;
use criterion::{Criterion, Throughput};
use hashbrown::HashTable;
use rayon::prelude::*;

/// Of so many keys one in six is there already, as in a crawl.
const N_KEYS: usize = 6_000_000;
const N_DISTINCT: usize = 5_000_000;
const N_SHARDS: usize = 256;

/// Bits as random as those of a hash.
fn key(index: usize) -> u64 {
    let mixed = ((index % N_DISTINCT) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

fn ours(keys: &[u64]) -> Sharded {
    let mut set = Sharded::default();
    let again = set.insert_all(keys.len(), |index| keys[index]);
    assert_eq!(again.len(), N_KEYS - N_DISTINCT);
    set
}

/// As many shards, each a table of hashbrown behind a lock.
fn locked(keys: &[u64]) -> usize {
    let shards: Vec<Mutex<HashTable<u64>>> = (0..N_SHARDS).map(|_| Mutex::default()).collect();
    keys.par_iter().for_each(|key| {
        let shard = usize::from((key >> 32).to_le_bytes()[0]);
        let mut shard = shards[shard].lock().expect("nobody panics");
        shard
            .entry(*key, |known| known == key, |known| *known)
            .or_insert(*key);
    });
    let len = |shard: Mutex<HashTable<u64>>| shard.into_inner().expect("nobody panics").len();
    shards.into_iter().map(len).sum()
}

/// One table, one thread.
fn one_table(keys: &[u64]) -> usize {
    let mut table = HashTable::new();
    for key in keys {
        table
            .entry(*key, |known| known == key, |known| *known)
            .or_insert(*key);
    }
    table.len()
}

fn set(criterion: &mut Criterion) {
    let keys: Vec<u64> = (0..N_KEYS).map(key).collect();
    let set = ours(&keys);
    assert_eq!(set.len(), N_DISTINCT);
    assert_eq!(locked(&keys), N_DISTINCT);
    assert_eq!(one_table(&keys), N_DISTINCT);
    println!("{} bytes a distinct key", set.table_bytes() / set.len());
    let mut group = criterion.benchmark_group("set");
    group.throughput(Throughput::Elements(N_KEYS as u64));
    group.sample_size(10);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads can be started");
        group.bench_function(format!("ours, threads {threads}"), |bencher| {
            bencher.iter(|| pool.install(|| ours(&keys)));
        });
        group.bench_function(format!("a lock a shard, threads {threads}"), |bencher| {
            bencher.iter(|| pool.install(|| locked(&keys)));
        });
    }
    group.bench_function("one table", |bencher| bencher.iter(|| one_table(&keys)));
    group.finish();
}

criterion::criterion_group!(benches, set);
criterion::criterion_main!(benches);
