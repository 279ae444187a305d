//! A large block: pages of memory, or of a stretch of the spill file.
#![expect(unsafe_code, reason = "blocks are mapped, moved and unmapped by hand")]

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::{END, FILE, HELD, PAGE, SPILLED, SPILLED_MAX, fault, spares, take_memory};

/// The offset of a block that is in memory.
const NOWHERE: i64 = -1;
/// A block may grow to so many times its size before it needs another stretch of the file.
pub(super) const SLACK: usize = 4;
/// The same of a block that grew already, and will again: it is copied once, when it leaves memory.
const GROWN_SLACK: usize = 64;

/// A large block: a page that says where it lives, then its bytes.
#[derive(Clone, Copy)]
pub(super) struct Block {
    base: *mut u8,
    pub(super) home: Home,
}

/// Where a block lives.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Home {
    /// Bytes mapped, this page included.
    pub(super) len: usize,
    /// Where its stretch of the spill file starts; [`NOWHERE`] for memory.
    offset: i64,
    /// Bytes of that stretch.
    slot: usize,
}

pub(super) fn len_of(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(PAGE)?.checked_add(PAGE)
}

impl Block {
    /// The block whose bytes are at `data`.
    pub(super) fn at(data: *mut u8) -> Self {
        // SAFETY: a large block has a page before its bytes, in the same mapping.
        let base = unsafe { data.sub(PAGE) };
        // SAFETY: `data` wrote it there, and only its owner, who called, changes it.
        let home = unsafe { base.cast::<Home>().read() };
        Self { base, home }
    }

    /// Writes down where a block lives; its bytes.
    pub(super) fn data(self) -> *mut u8 {
        // SAFETY: the mapping starts with a page for this, aligned to a page.
        unsafe { self.base.cast::<Home>().write(self.home) };
        // SAFETY: the mapping is longer than a page.
        unsafe { self.base.add(PAGE) }
    }

    /// A block of memory that is counted already.
    pub(super) fn in_memory(len: usize) -> *mut u8 {
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
    pub(super) fn in_file(len: usize, slack: usize) -> *mut u8 {
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

    /// Keeps a block of memory as a spare one; unmaps any other.
    pub(super) fn free(self) {
        let replaced = match self.home.offset {
            NOWHERE => spares::put(self),
            _ => Some(self),
        };
        if let Some(block) = replaced {
            block.unmap();
        }
    }

    pub(super) fn unmap(self) {
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
    pub(super) fn resize(self, new_size: usize) -> *mut u8 {
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
            self.unmap();
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
