//! What to do when a mapped file is cut under us: SIGBUS becomes a message and an orderly end.
//!
//! The thread that touched the missing page can never go on, and its stack cannot be unwound. So the handler wakes
//! a thread that was made for this, and then sleeps for good; that thread names the file and ends the process.
//! The same thread ends the run when the spill file has no room: an allocator can return no error.
//! `signal-hook` would call the handler of Rust's runtime first, which restores the default action: a second thread
//! that faults at the same moment would kill the process before the first one's message is out.
#![expect(
    unsafe_code,
    reason = "no safe interface installs a handler for SIGBUS"
)]

use std::io::Read as _;
use std::os::fd::IntoRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Said of a file that is not what it was when it was opened.
pub(super) const CHANGED: &str =
    "the file was cut, written to or replaced while it was read: run again when it is at rest";

/// Where the handler writes one byte; -1 before [`watch`].
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// Why the spill file got no more room, as an error number of the system; 0 while it has some.
static NO_ROOM: AtomicI32 = AtomicI32::new(0);

/// Where the spill file stands.
static ROOM: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The files that are mapped now, and their lengths.
static MAPPED: Mutex<Vec<(PathBuf, u64)>> = Mutex::new(Vec::new());

/// Calls `end` with what happened, in a thread of its own, as soon as a mapped page is gone. `end` must not return
/// to what the process was doing: it removes temporary files, prints the error and exits.
///
/// # Errors
///
/// Where the system refuses a pipe, a thread or the handler.
pub fn watch(end: impl FnOnce(Error) + Send + 'static) -> Result<()> {
    let failed = |error: std::io::Error| Error::failed(format!("cannot watch for faults: {error}"));
    let (mut reader, writer) = std::io::pipe().map_err(failed)?;
    WAKE.store(writer.into_raw_fd(), Ordering::SeqCst);
    std::thread::Builder::new()
        .name("fault".to_owned())
        .spawn(move || {
            if reader.read_exact(&mut [0]).is_ok() {
                end(what_happened());
            }
        })
        .map_err(failed)?;
    // SAFETY: `sigaction` is plain data, for which all zeros is a valid value (no flags, empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int) = sleep_for_good;
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_ONSTACK;
    // SAFETY: `action` is initialized, and the handler it names does only what is async-signal-safe.
    let outcome = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) };
    if outcome == 0 {
        Ok(())
    } else {
        Err(failed(std::io::Error::last_os_error()))
    }
}

/// The handler: `write` and `pause` are all it calls, and both are async-signal-safe (POSIX, section 2.4.3).
extern "C" fn sleep_for_good(_signal: libc::c_int) {
    let wake = WAKE.load(Ordering::SeqCst);
    // SAFETY: one byte is read from a live array; a bad descriptor is refused by the system.
    unsafe { libc::write(wake, [0_u8].as_ptr().cast(), 1) };
    loop {
        // SAFETY: waits for a signal, touches no memory.
        unsafe { libc::pause() };
    }
}

/// Notes where the spill file stands.
pub(super) fn expect_room_in(folder: &Path) {
    *ROOM.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
}

/// Ends the run because the system refused more room with `error`; returns only where nothing watches.
pub(super) fn end_for_want_of_room(error: i32) {
    NO_ROOM.store(error, Ordering::SeqCst);
    if WAKE.load(Ordering::SeqCst) >= 0 {
        sleep_for_good(libc::SIGBUS);
    }
}

/// Notes that `path` is mapped.
pub(super) fn expect_bytes(path: &Path, bytes: u64) {
    mapped().push((path.to_owned(), bytes));
}

/// Notes that `path` is mapped no more.
pub(super) fn forget(path: &Path) {
    let mut mapped = mapped();
    if let Some(index) = mapped.iter().position(|(known, _)| known == path) {
        mapped.swap_remove(index);
    }
}

fn mapped() -> std::sync::MutexGuard<'static, Vec<(PathBuf, u64)>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fault without a file that became shorter is a disk that cannot be read.
fn what_happened() -> Error {
    let no_room = NO_ROOM.load(Ordering::SeqCst);
    let room = ROOM.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(folder) = room.filter(|_| no_room != 0) {
        let source = std::io::Error::from_raw_os_error(no_room);
        return Error::io("spill to", &folder, source);
    }
    let is_short = |(path, bytes): &&(PathBuf, u64)| {
        std::fs::metadata(path).map_or(true, |metadata| metadata.len() < *bytes)
    };
    match mapped().iter().find(is_short) {
        Some((path, _)) => Error::failed(CHANGED).at(path),
        None => Error::failed("a mapped input could not be read: the disk may be faulty"),
    }
}
