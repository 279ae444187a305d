//! Files that are not yet what they will be: each stands beside its target until it is whole.
//!
//! All of them are known to one registry, so that a signal can remove them at any moment, whatever
//! the other threads are doing; nothing has to poll. SIGKILL alone leaves one behind.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::signal::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

use super::people::print_error;
use crate::{Error, Result};

/// The temporary files of this process, and whether a signal still ends it.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    paths: Vec::new(),
    is_published: false,
});

struct Registry {
    paths: Vec<PathBuf>,
    /// All outputs stand under their names: the run is done, a signal comes too late.
    is_published: bool,
}

fn registry() -> MutexGuard<'static, Registry> {
    // A thread that panicked left a list of paths that is still right.
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Signals that end a process which knows nothing of them.
const ENDING: [i32; 7] = [SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// From now on a signal that ends a process removes the temporary files and exits with 130. A limit on the size of
/// files is a write that fails, as on a full disk.
///
/// # Errors
/// The system refuses to install a handler or to start its thread.
pub fn remove_on_signals() -> Result<()> {
    let failed = |source: io::Error| Error::failed(format!("cannot handle signals: {source}"));
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let mut signals = Signals::new(ENDING).map_err(failed)?;
    if !is_hangup_ignored() {
        signals.add_signal(SIGHUP).map_err(failed)?;
    }
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for _ in signals.forever() {
                end_with(&Error::interrupted());
            }
        })
        .map_err(failed)?;
    Ok(())
}

/// Whether `nohup` or the like started this process; then SIGHUP stays ignored.
fn is_hangup_ignored() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

/// Removes the temporary files, prints `error` and exits with its code, whatever other threads are doing.
/// Once all outputs stand under their names it does nothing: the run is done.
#[expect(
    clippy::exit,
    reason = "other threads may be deep in a loop, or never go on again"
)]
pub fn end_with(error: &Error) {
    // Held until the process is gone, so that no thread can create or rename a file any more.
    let registry = registry();
    if registry.is_published {
        return;
    }
    for path in &registry.paths {
        fs::remove_file(path).ok();
    }
    if io::stderr().is_terminal() {
        // The progress bar may stand on this line.
        writeln!(io::stderr()).ok();
    }
    print_error(error);
    std::process::exit(i32::from(error.exit_code()));
}

/// A temporary file beside its target; removed when dropped, unless it was published.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    target: PathBuf,
}

impl Temporary {
    /// Creates one that will be `target`, mode 0644 less the umask.
    pub(super) fn create(target: PathBuf) -> io::Result<(Self, File)> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // That the folder is missing is said in the system's words.
        fs::metadata(folder)?;
        let mut registry = registry();
        let (file, path) = tempfile::Builder::new()
            .prefix(".dedupe-")
            .suffix(".tmp")
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder)
            .map_err(|error| without_path(&error))?
            .keep()?;
        registry.paths.push(path.clone());
        registry.is_published = false;
        Ok((Self { path, target }, file))
    }

    /// Whether any is waiting to be published.
    pub(super) fn any_pending() -> bool {
        !registry().paths.is_empty()
    }

    /// Gives all of them their names, in order; no signal comes in between.
    pub(super) fn publish_all(all: &[Self]) -> Result<()> {
        let mut registry = registry();
        for temporary in all {
            if let Err(source) = fs::rename(&temporary.path, &temporary.target) {
                // What is left is removed when the caller drops it.
                return Err(Error::io(
                    "rename a temporary file to",
                    &temporary.target,
                    source,
                ));
            }
            registry.forget(&temporary.path);
            sync_folder(&temporary.target);
        }
        registry.is_published = registry.paths.is_empty();
        Ok(())
    }
}

impl Registry {
    /// Whether `path` was still there.
    fn forget(&mut self, path: &Path) -> bool {
        let place = self.paths.iter().position(|other| other == path);
        place.is_some_and(|index| {
            self.paths.swap_remove(index);
            true
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if registry().forget(&self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// `tempfile` adds the path of a file that nobody has heard of.
fn without_path(error: &io::Error) -> io::Error {
    error.kind().into()
}

/// Makes a rename last; some file systems refuse, and then it lasts anyway or nothing helps.
fn sync_folder(target: &Path) {
    if let Some(folder) = target.parent()
        && let Ok(folder) = File::open(folder)
    {
        folder.sync_all().ok();
    }
}
