//! The inflaters, over the members of a generated archive: `cargo bench --bench inflate`.
//!
//! libdeflate runs as `source` calls it, member after member into one buffer, so that finding members is in its figure. The others stream
//! into a buffer of 64 KiB. Bytes per second are those of the output.

#![expect(
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that shows nothing measures nothing; its macro writes no docs"
)]

use std::io::Read as _;
use std::ops::ControlFlow;

use crawl_dedupe::source::{Compression, Decoder, Piece};
use criterion::{Criterion, Throughput};
use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use generate::{Format, Storage};
use made::{N_CAPTURES, made, tell};
use zlib_rs::{Inflate, InflateFlush};

#[path = "../scripts/generate/mod.rs"]
#[expect(dead_code, reason = "a bench needs little of what it can make")]
mod generate;
mod made;

const BUF_LEN: usize = 1 << 16;

/// The product's way: whole members with libdeflate.
fn whole(stored: &[u8], decoder: &mut Decoder) -> usize {
    let mut n = 0;
    decoder
        .pieces(&mut &stored[..], Compression::Gzip, |piece| {
            if let Piece::Bytes { bytes, .. } = piece {
                n += bytes.len();
            }
            ControlFlow::Continue(())
        })
        .expect("memory can be read");
    n
}

/// zlib-rs as it is.
fn direct(mut stored: &[u8], buf: &mut [u8]) -> usize {
    let mut n = 0;
    let mut inflate = Inflate::new(true, 16 + 15);
    while !stored.is_empty() {
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(stored, buf, InflateFlush::NoFlush)
            .expect("the archive is sound");
        stored = &stored[usize::try_from(inflate.total_in() - before_in).expect("it fits")..];
        n += usize::try_from(inflate.total_out() - before_out).expect("it fits");
        if status == zlib_rs::Status::StreamEnd {
            inflate = Inflate::new(true, 16 + 15);
        }
    }
    n
}

/// zlib-rs through the interface of flate2 that `source` streams with.
fn through_flate2(mut stored: &[u8], buf: &mut [u8]) -> usize {
    let mut n = 0;
    let mut inflate = Decompress::new_gzip(15);
    while !stored.is_empty() {
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(stored, buf, FlushDecompress::None)
            .expect("the archive is sound");
        stored = &stored[usize::try_from(inflate.total_in() - before_in).expect("it fits")..];
        n += usize::try_from(inflate.total_out() - before_out).expect("it fits");
        if status == Status::StreamEnd {
            inflate.reset(true);
        }
    }
    n
}

/// The decoder that is a `Read`, which most programs use.
fn as_read(stored: &[u8], buf: &mut [u8]) -> usize {
    let mut decoder = MultiGzDecoder::new(stored);
    let mut n = 0;
    loop {
        match decoder.read(buf).expect("the archive is sound") {
            0 => return n,
            more => n += more,
        }
    }
}

fn inflate(criterion: &mut Criterion) {
    let stored = made(N_CAPTURES, Format::Warc, Storage::Gzip);
    let plain = made(N_CAPTURES, Format::Warc, Storage::Plain);
    println!("{} bytes of gzip, ratio {:.2}", stored.len(), {
        #[expect(clippy::cast_precision_loss, reason = "a ratio has three digits")]
        let ratio = plain.len() as f64 / stored.len() as f64;
        ratio
    });
    let mut buf = vec![0; BUF_LEN];
    let mut decoder = Decoder::default();
    let mut group = criterion.benchmark_group("inflate");
    group.throughput(Throughput::Bytes(plain.len() as u64));
    group.sample_size(10);
    let mut bench = |name: &str, run: &mut dyn FnMut() -> usize| {
        assert_eq!(run(), plain.len(), "{name}");
        tell(name, plain.len(), N_CAPTURES, || {
            run();
        });
        group.bench_function(name, |bencher| bencher.iter(&mut *run));
    };
    bench("libdeflate, whole members", &mut || {
        whole(&stored, &mut decoder)
    });
    bench("zlib-rs, streaming", &mut || direct(&stored, &mut buf));
    bench("zlib-rs through flate2, streaming", &mut || {
        through_flate2(&stored, &mut buf)
    });
    bench("flate2's reader", &mut || as_read(&stored, &mut buf));
    group.finish();
}

criterion::criterion_group!(benches, inflate);
criterion::criterion_main!(benches);
