//! What `scripts/compare.sh` holds dedupe against, in Rust: the `fastwarc` crate, and bare loops that do nothing but inflate and hash.
//! The script makes a package of it in a folder of its own.
//!
//!     peer fastwarc|inflate|inflate-sha1|inflate-blake3 ARCHIVE
//!
//! Prints how many payloads (for the loops: members) had been seen before.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;

use fastwarc::warc::iter::{ArchiveIterator, ArchiveIteratorOptions};
use fastwarc::warc::record::{AutoDecode, WarcRecordType};
use sha1::{Digest, Sha1};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (job, path) = (arguments.next().unwrap(), arguments.next().unwrap());
    let n = match job.as_str() {
        "fastwarc" => fastwarc(&path),
        "inflate" => members(&path, |bytes| bytes.len().to_le_bytes().to_vec()),
        "inflate-sha1" => members(&path, |bytes| Sha1::digest(bytes).to_vec()),
        "inflate-blake3" => members(&path, |bytes| blake3::hash(bytes).as_bytes().to_vec()),
        _ => panic!("no such job: {job}"),
    };
    println!("{n}");
}

/// Payloads after transfer decoding, SHA-1 into a set, as fast as the crate gives them.
fn fastwarc(path: &str) -> u64 {
    let options = ArchiveIteratorOptions {
        // It ends the archive at a continuation record, which is HTTP by its type but has no head.
        parse_http: false,
        inplace: true,
        ..ArchiveIteratorOptions::default()
    };
    let (mut seen, mut n_again) = (HashSet::new(), 0);
    let mut buf = vec![0; 1 << 18];
    for record in ArchiveIterator::from_path_with_options(path, options).unwrap() {
        let record = record.unwrap();
        let mut record = record.borrow_mut();
        let is_capture = matches!(
            record.record_type(),
            WarcRecordType::Response | WarcRecordType::Resource
        );
        if !is_capture {
            continue;
        }
        record
            .parse_http_with_decode(AutoDecode::TransferEncoding)
            .unwrap();
        let reader = record.reader_mut().unwrap();
        let mut hasher = Sha1::new();
        loop {
            let n = reader.read(&mut buf).unwrap();
            if n == 0 {
                break;
            }
            hasher.update(&buf[..n]);
        }
        let digest: [u8; 20] = hasher.finalize().into();
        n_again += u64::from(!seen.insert(digest));
    }
    n_again
}

/// Inflates member by member into one buffer and digests all of it: the least that hashing an archive can cost.
fn members(path: &str, mut digest: impl FnMut(&[u8]) -> Vec<u8>) -> u64 {
    let map = unsafe { memmap2::Mmap::map(&File::open(path).unwrap()) }.unwrap();
    let (mut rest, mut buf) = (&map[..], vec![0_u8; 1 << 20]);
    let (mut seen, mut n_again) = (HashSet::new(), 0);
    let decompressor = unsafe { libdeflate_sys::libdeflate_alloc_decompressor() };
    while !rest.is_empty() {
        let (mut n_in, mut n_out) = (0, 0);
        let result = unsafe {
            libdeflate_sys::libdeflate_gzip_decompress_ex(
                decompressor,
                rest.as_ptr().cast(),
                rest.len(),
                buf.as_mut_ptr().cast(),
                buf.len(),
                &mut n_in,
                &mut n_out,
            )
        };
        match result {
            libdeflate_sys::libdeflate_result_LIBDEFLATE_SUCCESS => {
                n_again += u64::from(!seen.insert(digest(&buf[..n_out])));
                rest = &rest[n_in..];
            }
            libdeflate_sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => {
                buf = vec![0; buf.len() * 2];
            }
            _ => panic!("a member is damaged"),
        }
    }
    n_again
}
