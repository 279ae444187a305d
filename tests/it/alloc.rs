//! No heap allocation per URL in the steady state: an allocator that counts says so.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; this one only counts and forwards"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crawl_dedupe::key::{Keyer, Kind};
use crawl_dedupe::policy::Policy;

use crate::mutations::{Random, generated};

const N_URLS: usize = 100_000;

thread_local! {
    /// Allocations of this thread: other tests run beside this one.
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed on to `System` as it came; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System` by way of `alloc` or `realloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the block came from `System`, and the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // Gone while a thread ends; nothing is counted then.
    let _ = N_ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

#[test]
fn keys_of_ordinary_urls_allocate_nothing() {
    let mut random = Random(8);
    let urls: Vec<String> = (0..N_URLS).map(|_| generated(&mut random)).collect();
    assert!(urls.iter().all(|url| url.is_ascii()));
    for policy in ["safe@1", "rfc3986@1"] {
        let policy = Policy::load(policy).expect("it is built in");
        let mut keyer = Keyer::new(&policy);
        let longest = urls
            .iter()
            .max_by_key(|url| url.len())
            .expect("there are some");
        // Buffers grow on the first URL that is rewritten, to no more than this.
        keyer.key(
            longest
                .to_ascii_uppercase()
                .replace('/', "\t\"/")
                .as_bytes(),
        );
        let before = N_ALLOCATIONS.get();
        let n_http = urls
            .iter()
            .filter(|url| keyer.key(url.as_bytes()).kind == Kind::Http)
            .count();
        let n_allocations = N_ALLOCATIONS.get() - before;
        assert_eq!((n_http, n_allocations), (N_URLS, 0));
    }
}

#[test]
fn the_allocator_counts() {
    let before = N_ALLOCATIONS.get();
    drop(std::hint::black_box(vec![0u8; 100]));
    assert!(N_ALLOCATIONS.get() > before);
}
