//! The input of benches: what the generator of `scripts/` makes, in memory.

use crate::generate::plant::Fetches;
use crate::generate::{self, Format, Health, Limit, Opening, Options, Outputs, Storage};

/// Captures of whatever is benched: a second of work at most.
pub(crate) const N_CAPTURES: u64 = 2_000;

/// `n` captures or a few more, in a format and storage.
pub(crate) fn made(n: u64, format: Format, storage: Storage) -> Vec<u8> {
    let options = Options {
        seed: 1,
        limit: Limit::Captures(n),
        format,
        storage,
        name: "bench.warc.gz".to_owned(),
        median: 31_000,
        boilerplate: None,
        unstable: 0,
        plants: Vec::new(),
        rates: Vec::new(),
        domains: 1,
        fetches: Fetches::Once,
        opening: Opening::Random,
        health: Health::Sound,
    };
    let mut archive = Vec::new();
    let outputs = Outputs {
        archive: &mut archive,
        cdx: std::io::sink(),
        cdxj: std::io::sink(),
        truth: std::io::sink(),
    };
    generate::generate(&options, outputs).expect("memory takes it");
    archive
}

/// Puts bytes/s and captures/s of a run beside Criterion's figures; what it counted must be right before.
pub(crate) fn tell(name: &str, n_bytes: usize, n_captures: u64, mut run: impl FnMut()) {
    let start = std::time::Instant::now();
    run();
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate has three digits")]
    let (bytes, captures) = (n_bytes as f64 / seconds, n_captures as f64 / seconds);
    println!("{name}: {bytes:.3e} bytes/s, {captures:.3e} captures/s");
}
