//! Blocks of memory that ended, kept for the next of their size.
//!
//! Each pass of grouping takes the same few blocks, and fresh pages cost the system zeroing them; on a virtual machine that gives
//! free pages back to its host they cost twenty times that: 2 of 34 s of a run over 11.5 million index lines.
#![expect(
    unsafe_code,
    reason = "a block is a bare pointer, which threads hand to each other"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::block::Block;

/// Blocks that are kept.
const SPARES_MAX: usize = 2;

/// The last one first. They count as held.
static SPARES: Mutex<[Option<Block>; SPARES_MAX]> = Mutex::new([None; SPARES_MAX]);

// SAFETY: the blocks in `SPARES` are no one's, so that it does not matter which thread takes or unmaps them.
unsafe impl Send for Block {}

/// A spare block of at least `len` bytes and not many more.
pub(super) fn take(len: usize) -> Option<Block> {
    let fits = |block: &mut Block| (len..=len + len / 4).contains(&block.home.len);
    spares().iter_mut().find_map(|spare| spare.take_if(fits))
}

/// Keeps a block that ended; gives back the one that ended before all that are kept.
pub(super) fn put(block: Block) -> Option<Block> {
    let mut ended = Some(block);
    for spare in &mut *spares() {
        std::mem::swap(spare, &mut ended);
    }
    ended
}

/// Unmaps all of them; whether there were any.
pub(super) fn give_up() -> bool {
    let blocks = std::mem::take(&mut *spares());
    for block in blocks.into_iter().flatten() {
        block.unmap();
    }
    blocks.iter().any(Option::is_some)
}

/// Bytes of all of them.
pub(super) fn n_bytes() -> usize {
    let blocks = spares();
    blocks.iter().flatten().map(|block| block.home.len).sum()
}

fn spares() -> MutexGuard<'static, [Option<Block>; SPARES_MAX]> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}
