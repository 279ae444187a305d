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
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault;
use crate::error::{Error, Result};

/// Blocks from this size on have pages of their own. Buffers that come and go are smaller.
const LARGE: usize = 1 << 20;
const PAGE: usize = 4096;
/// The offset of a block that is in memory.
const NOWHERE: i64 = -1;
/// A block may grow to so many times its size before it needs another stretch of the file.
const SLACK: usize = 4;
/// The same of a block that grew already, and will again: it is copied once, when it leaves memory.
const GROWN_SLACK: usize = 64;
/// Blocks of memory that are kept when they end.
const SPARES_MAX: usize = 2;

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
/// Blocks of memory that ended, the last one first. They count as held.
static SPARES: Mutex<[Option<Block>; SPARES_MAX]> = Mutex::new([None; SPARES_MAX]);

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
    let held = HELD.load(Ordering::Relaxed);
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

/// The allocator that keeps the bound; of a program that never calls [`bound`], one like any other.
#[derive(Clone, Copy, Debug)]
pub struct Spilling;

fn is_large(size: usize, layout: Layout) -> bool {
    size >= LARGE && layout.align() <= PAGE
}

// SAFETY: small blocks are the system's, by their size and alignment alone, which are the same when they come back;
// large ones are fresh mappings of at least the size, aligned to a page. Nothing here unwinds, and nothing allocates a
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

/// A large block: a page that says where it lives, then its bytes.
#[derive(Clone, Copy)]
struct Block {
    base: *mut u8,
    home: Home,
}

// SAFETY: a block that is moved between threads is a spare one, which no one else has.
unsafe impl Send for Block {}

/// Where a block lives.
#[derive(Clone, Copy)]
#[repr(C)]
struct Home {
    /// Bytes mapped, this page included.
    len: usize,
    /// Where its stretch of the spill file starts; [`NOWHERE`] for memory.
    offset: i64,
    /// Bytes of that stretch.
    slot: usize,
}

/// A large block of `size` bytes; null where there is no room, as the trait has it.
fn allocate(size: usize) -> *mut u8 {
    let Some(len) = len_of(size) else {
        return null_mut();
    };
    match take_spare(len) {
        Some(block) => block.data(),
        None => fresh(len),
    }
}

/// A block of pages that no one had before.
fn fresh(len: usize) -> *mut u8 {
    if take_memory(len) {
        Block::in_memory(len)
    } else {
        Block::in_file(len, SLACK)
    }
}

fn spares() -> MutexGuard<'static, [Option<Block>; SPARES_MAX]> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A spare block of at least `len` bytes and not many more. None for text, which is to leave memory.
fn take_spare(len: usize) -> Option<Block> {
    let fits = |block: &mut Block| (len..=len + len / 4).contains(&block.home.len);
    let is_text = IS_TEXT.try_with(Cell::get).unwrap_or(false);
    let mut spares = (!is_text).then(spares)?;
    spares.iter_mut().find_map(|spare| spare.take_if(fits))
}

/// Gives the spare blocks back to the system; whether there were any.
fn unmap_spares() -> bool {
    let spares = std::mem::take(&mut *spares());
    let spares = spares.into_iter().flatten();
    spares.map(Block::unmap).count() > 0
}

fn len_of(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(PAGE)?.checked_add(PAGE)
}

/// Whether `len` more bytes may be in memory, spare blocks if need be given up for it; then they count.
fn take_memory(len: usize) -> bool {
    count_memory(len) || unmap_spares() && count_memory(len)
}

fn count_memory(len: usize) -> bool {
    let bound = BOUND.load(Ordering::Relaxed);
    let is_text = IS_TEXT.try_with(Cell::get).unwrap_or(false);
    let bound = if is_text && bound != usize::MAX {
        bound / 2
    } else {
        bound
    };
    let taken = HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
        held.checked_add(len).filter(|held| *held <= bound)
    });
    taken.is_ok()
}

impl Block {
    /// The block whose bytes are at `data`.
    fn at(data: *mut u8) -> Self {
        // SAFETY: a large block has a page before its bytes, in the same mapping.
        let base = unsafe { data.sub(PAGE) };
        // SAFETY: `new` wrote it there, and only its owner, who called, changes it.
        let home = unsafe { base.cast::<Home>().read() };
        Self { base, home }
    }

    /// Writes down where a fresh mapping lives; its bytes.
    fn data(self) -> *mut u8 {
        // SAFETY: the mapping starts with a page for this, aligned to a page.
        unsafe { self.base.cast::<Home>().write(self.home) };
        // SAFETY: the mapping is longer than a page.
        unsafe { self.base.add(PAGE) }
    }

    /// A block of memory that is counted already.
    fn in_memory(len: usize) -> *mut u8 {
        let home = Home {
            len,
            offset: NOWHERE,
            slot: 0,
        };
        let Some(base) = map(home) else {
            HELD.fetch_sub(len, Ordering::Relaxed);
            return null_mut();
        };
        Self { base, home }.data()
    }

    /// A block in a fresh stretch of the spill file.
    fn in_file(len: usize, slack: usize) -> *mut u8 {
        let slot = len.next_power_of_two().saturating_mul(slack);
        let Ok(step) = i64::try_from(slot) else {
            return null_mut();
        };
        let offset = END.fetch_add(step, Ordering::Relaxed);
        let home = Home { len, offset, slot };
        if !reserve(offset, len) {
            return null_mut();
        }
        match map(home) {
            Some(base) => Self { base, home }.data(),
            None => null_mut(),
        }
    }

    /// Keeps a block of memory in the place of the one that ended before the last; unmaps any other.
    fn free(self) {
        let mut ended = Some(self);
        if self.home.offset == NOWHERE {
            for spare in &mut *spares() {
                std::mem::swap(spare, &mut ended);
            }
        }
        if let Some(ended) = ended {
            ended.unmap();
        }
    }

    fn unmap(self) {
        // SAFETY: the mapping is this block's alone, and its owner gave it up.
        unsafe { libc::munmap(self.base.cast(), self.home.len) };
        self.release(0);
    }

    /// Gives back what is mapped no more: all from `kept` bytes on.
    fn release(self, kept: usize) {
        let len = self.home.len - kept;
        if self.home.offset == NOWHERE {
            HELD.fetch_sub(len, Ordering::Relaxed);
            return;
        }
        SPILLED.fetch_sub(len, Ordering::Relaxed);
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (from, len) = (self.home.offset.cast_unsigned() + kept as u64, len as u64);
        // SAFETY: no mapping of this stretch is left. Where holes cannot be made, the disk is free at the end of the run.
        unsafe {
            libc::fallocate(
                FILE.load(Ordering::Relaxed),
                how,
                from.cast_signed(),
                len.cast_signed(),
            )
        };
    }

    /// As many bytes as fit of both sizes stay what they are.
    fn resize(self, new_size: usize) -> *mut u8 {
        let Some(len) = len_of(new_size) else {
            return null_mut();
        };
        let before = self.home.len;
        let has_room = if len <= before {
            true
        } else if self.home.offset == NOWHERE {
            take_memory(len - before)
        } else {
            let end = self.home.offset.cast_unsigned() + before as u64;
            len <= self.home.slot && reserve(end.cast_signed(), len - before)
        };
        if !has_room {
            return self.move_to_file(len);
        }
        // SAFETY: the mapping is this block's alone; its owner takes the address that comes back.
        let base = unsafe { libc::mremap(self.base.cast(), before, len, libc::MREMAP_MAYMOVE) };
        if base == libc::MAP_FAILED {
            return null_mut();
        }
        if len < before {
            self.release(len);
        }
        let home = Home { len, ..self.home };
        let base = base.cast();
        Self { base, home }.data()
    }

    fn move_to_file(self, len: usize) -> *mut u8 {
        let new = Self::in_file(len, GROWN_SLACK);
        if !new.is_null() {
            // SAFETY: the bytes follow the first page, in this mapping.
            let old = unsafe { self.base.add(PAGE) };
            // SAFETY: the new block is longer, and is another.
            unsafe { old.copy_to_nonoverlapping(new, self.home.len - PAGE) };
            self.free();
        }
        new
    }
}

/// Fresh pages, of zeros.
fn map(home: Home) -> Option<*mut u8> {
    let (fd, offset, flags) = match home.offset {
        NOWHERE => (-1, 0, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS),
        offset => (FILE.load(Ordering::Relaxed), offset, libc::MAP_SHARED),
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the system picks touches no other; the stretch of the file is no one's.
    let base = unsafe { libc::mmap(null_mut(), home.len, protection, flags, fd, offset) };
    if base == libc::MAP_FAILED {
        return None;
    }
    if home.offset == NOWHERE {
        // Rows are looked up in any order: with huge pages that costs a fifth less. A refusal changes nothing.
        // SAFETY: advice on a mapping that was just made.
        unsafe { libc::madvise(base, home.len, libc::MADV_HUGEPAGE) };
    }
    Some(base.cast())
}

/// Allocates disk for `len` bytes of the spill file; a disk without so much ends the run.
fn reserve(offset: i64, len: usize) -> bool {
    let Ok(bytes) = i64::try_from(len) else {
        return false;
    };
    let outcome = loop {
        // SAFETY: a call on a descriptor; a bad one is refused by the system.
        let outcome = unsafe { libc::posix_fallocate(FILE.load(Ordering::Relaxed), offset, bytes) };
        if outcome != libc::EINTR {
            break outcome;
        }
    };
    if outcome != 0 {
        fault::end_for_want_of_room(outcome);
        return false;
    }
    let spilled = SPILLED.fetch_add(len, Ordering::Relaxed) + len;
    SPILLED_MAX.fetch_max(spilled, Ordering::Relaxed);
    true
}
