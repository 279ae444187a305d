//! A bound on memory: large blocks beyond it stand in a file that has no name, mapped, and not in anonymous memory.
//!
//! The idea: everything that grows with the crawl (rows, texts, sort arrays, tables) is a few large blocks, and who
//! sorts or scans a block does not care where its pages live. So the bound is kept in one place, the allocator of the
//! `dedupe` binary:
//! ```text
//! small block       ─► the system's allocator, as ever
//! large block       ─► pages of its own: anonymous ones while all large blocks fit in the bound,
//!                      else a stretch of the spill file, mapped MAP_SHARED
//! a block that grows ─► its pages are moved, not copied; copied once if it goes from memory to the file
//! a block that ends  ─► of the file: its stretch becomes a hole; of memory: it is spare, the next of its size takes it over,
//!                      and its pages go back to the system when others end, or memory is short
//! ```
//! Tricks: each block gets a stretch of file offsets many times its size (offsets cost nothing), so that growing in
//! place is the rule; disk is allocated before it is mapped, so that a full disk is an error where a block is asked for
//! and never a SIGBUS where it is written; a spare block saves each pass of grouping the zeroing of its pages (on a virtual machine that
//! gives free pages back to its host, 2 of 34 s); the file is unlinked from its first moment, so that nothing is left behind
//! by SIGKILL either.
//!
//! What is not proven: a file system that breaks its promise of `fallocate` raises SIGBUS all the same, which
//! [`fault`] turns into a message.
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by its trait, and no safe interface maps a file for writing"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::IntoRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicUsize, Ordering};

mod block;
mod spares;

use super::fault;
use crate::error::{Error, Result};
use block::{Block, len_of};

/// Blocks from this size on have pages of their own. Buffers that come and go are smaller.
const LARGE: usize = 1 << 20;
/// Alignment of a large block.
const PAGE: usize = 4096;

/// Bytes of large blocks that may be in memory.
static BOUND: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes of large blocks that are.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// The spill file; -1 for none.
static FILE: AtomicI32 = AtomicI32::new(-1);
/// Where the next stretch of it starts.
static END: AtomicI64 = AtomicI64::new(0);
/// Bytes of blocks in it, and the most there were.
static SPILLED: AtomicUsize = AtomicUsize::new(0);
static SPILLED_MAX: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What is allocated now is text, the first to leave memory.
    static IS_TEXT: Cell<bool> = const { Cell::new(false) };
}

/// From now on at most `bytes` of large blocks are in memory; others go to a file in `folder`.
///
/// # Errors
/// No file can be created there.
pub fn bound(bytes: usize, folder: &Path) -> Result<()> {
    let file = tempfile::tempfile_in(folder);
    let file: File =
        file.map_err(|error| Error::io("create a temporary file in", folder, error))?;
    fault::expect_room_in(folder);
    FILE.store(file.into_raw_fd(), Ordering::SeqCst);
    BOUND.store(bytes, Ordering::SeqCst);
    Ok(())
}

/// What `work` allocates leaves memory as soon as half of the bound is taken: text is read least.
pub fn text_first<T>(work: impl FnOnce() -> T) -> T {
    let before = IS_TEXT.replace(true);
    let done = work();
    IS_TEXT.set(before);
    done
}

/// Bytes that are in the spill file now.
#[must_use]
pub fn spilled() -> u64 {
    SPILLED.load(Ordering::Relaxed) as u64
}

/// The most that were at once.
#[must_use]
pub fn spilled_max() -> u64 {
    SPILLED_MAX.load(Ordering::Relaxed) as u64
}

/// Bytes of large blocks that may yet be in memory.
#[must_use]
pub fn memory_left() -> u64 {
    let held = HELD
        .load(Ordering::Relaxed)
        .saturating_sub(spares::n_bytes());
    BOUND.load(Ordering::Relaxed).saturating_sub(held) as u64
}

/// Bytes free on the disk of `folder`; `None` where the system does not tell.
#[must_use]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: `statvfs` is plain data, for which all zeros is a valid value.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and the structure is live.
    let outcome = unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) };
    (outcome == 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The allocator that keeps the bound; of a program that never calls [`bound`], one like any other, but that it keeps
/// two large blocks that ended.
#[derive(Clone, Copy, Debug)]
pub struct Spilling;

fn is_large(size: usize, layout: Layout) -> bool {
    size >= LARGE && layout.align() <= PAGE
}

// SAFETY: small blocks are the system's, by their size and alignment alone, which are the same when they come back;
// large ones are mappings of at least the size, aligned to a page, fresh or of a block that ended. Nothing here unwinds, and nothing allocates a
// large block.
unsafe impl GlobalAlloc for Spilling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout) {
            return allocate(layout.size());
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout) {
            // Fresh pages, and stretches of the file that were never written, are zeros.
            return len_of(layout.size()).map_or(null_mut(), fresh);
        }
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        if is_large(layout.size(), layout) {
            Block::at(data).free();
        } else {
            // SAFETY: a small block came from the system.
            unsafe { System.dealloc(data, layout) }
        }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match (is_large(layout.size(), layout), is_large(new_size, layout)) {
            (true, true) => Block::at(data).resize(new_size),
            // SAFETY: a small block came from the system, and the caller keeps the contract of `realloc`.
            (false, false) => unsafe { System.realloc(data, layout, new_size) },
            (was_large, _) => {
                let new = if was_large {
                    // SAFETY: the alignment is the caller's, and the size is below `LARGE`.
                    let layout =
                        unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
                    // SAFETY: `realloc` is never asked for no bytes.
                    unsafe { System.alloc(layout) }
                } else {
                    allocate(new_size)
                };
                if !new.is_null() {
                    // SAFETY: both blocks have at least so many bytes, and are two.
                    unsafe { data.copy_to_nonoverlapping(new, layout.size().min(new_size)) };
                    // SAFETY: the caller gave it with this layout, and uses it no more.
                    unsafe { self.dealloc(data, layout) };
                }
                new
            }
        }
    }
}

/// A large block of `size` bytes; null where there is no room, as the trait has it.
fn allocate(size: usize) -> *mut u8 {
    let Some(len) = len_of(size) else {
        return null_mut();
    };
    // Text is to leave memory.
    let spare = if is_text() { None } else { spares::take(len) };
    spare.map_or_else(|| fresh(len), Block::data)
}

/// A block of pages that no one had before.
fn fresh(len: usize) -> *mut u8 {
    if take_memory(len) {
        Block::in_memory(len)
    } else {
        Block::in_file(len, block::SLACK)
    }
}

/// Whether `len` more bytes may be in memory, spare blocks if need be given up for it; then they count.
fn take_memory(len: usize) -> bool {
    count_memory(len) || spares::give_up() && count_memory(len)
}

fn is_text() -> bool {
    IS_TEXT.try_with(Cell::get).unwrap_or(false)
}

fn count_memory(len: usize) -> bool {
    let bound = BOUND.load(Ordering::Relaxed);
    let bound = if is_text() && bound != usize::MAX {
        bound / 2
    } else {
        bound
    };
    let taken = HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
        held.checked_add(len).filter(|held| *held <= bound)
    });
    taken.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of a size that no other test asks for, one after the other by the allocator itself.
    #[test]
    #[expect(
        clippy::multiple_unsafe_ops_per_block,
        reason = "what is tested is unsafe, all of it"
    )]
    fn a_spare_block_is_as_good_as_a_fresh_one() {
        let layout = |size| Layout::from_size_align(size, 8).expect("it is a size");
        let (size, larger) = (37 << 20, 41 << 20);
        for _ in 0..3 {
            // SAFETY: each block is written within its size, and given back with the layout it has then.
            unsafe {
                let block = Spilling.alloc(layout(size));
                block.write_bytes(0xab, size);
                let block = Spilling.realloc(block, layout(size), larger);
                assert_eq!(*block.add(size - 1), 0xab);
                block.write_bytes(0xcd, larger);
                Spilling.dealloc(block, layout(larger));

                let spare = Spilling.alloc(layout(size));
                spare.write_bytes(0xef, size);
                let zeroed = Spilling.alloc_zeroed(layout(size));
                let zeros = std::slice::from_raw_parts(zeroed, size);
                assert!(zeros.iter().all(|byte| *byte == 0));
                let less = Spilling.realloc(spare, layout(size), LARGE);
                assert_eq!((*less, *less.add(LARGE - 1)), (0xef, 0xef));
                Spilling.dealloc(less, layout(LARGE));
                Spilling.dealloc(zeroed, layout(size));
            }
        }
        assert!(spares::n_bytes() > 0);
        let held = HELD.load(Ordering::Relaxed);
        let kept = spares::n_bytes();
        assert!(spares::give_up());
        assert_eq!(
            (spares::n_bytes(), HELD.load(Ordering::Relaxed)),
            (0, held - kept)
        );
    }
}
