//! Files that have no name until they are whole: whatever ends the process before, nothing of them is left.
#![expect(unsafe_code, reason = "no safe interface gives an open file a name")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A file without a name on the disk of `folder`, to be written.
///
/// # Errors
/// The folder takes no files, or its file system knows none without a name.
pub fn create(folder: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE)
        .open(folder)
}

/// Names `file`, with all its bytes on disk before.
///
/// # Errors
/// The disk refuses, or something has that name.
pub fn name(file: &File, path: &Path) -> io::Result<()> {
    file.sync_data()?;
    let own = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: both paths end with a zero byte and outlive the call.
    let outcome = unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            own.as_ptr(),
            libc::AT_FDCWD,
            name.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_is_there_once_it_is_named_and_takes_no_other_ones_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole");
        let mut file = create(folder.path()).unwrap();
        file.write_all(b"bytes").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        name(&file, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
        assert!(name(&create(folder.path()).unwrap(), &path).is_err());
    }
}
