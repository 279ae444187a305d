//! What was read of inputs, kept in `--temp-dir` until the run is done, so that `--resume` need not read them again.
//! Must never decide what is read.
//!
//! ```text
//! TEMP_DIR/dedupe-resume/input-N   one file for each input that was read to its end:
//!     mark · bytes of the header · header, its sum · what the input gave, its sum
//! ```
//! A file gets its name when all of it is on disk, so that nothing half done is ever there. The folder belongs to the run
//! that holds its lock; another run in the same `--temp-dir` saves nothing meanwhile.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::collect::Found;
use super::memory::OnSaved;
use super::parts::Source;
use super::plan::{Access, Plan};
use super::read::Setting;
use crate::capture::FileId;
use crate::catalog::saved::{Reader, Writer};
use crate::report::People;
use crate::source::{spill, unnamed};
use crate::{Error, Result};
pub(super) use gave::Gave;
use header::Header;

mod gave;
mod header;

/// Where it is kept, in `--temp-dir`.
const FOLDER: &str = "dedupe-resume";
/// What the name of each file starts with; the number of the input follows.
const PREFIX: &str = "input-";
/// What each file starts with; another layout has another one.
const MARK: [u8; 8] = *b"dedupe\0\x03";
/// How long a killed run is waited for: the system may have much of its to write first.
const DYING_MAX: Duration = Duration::from_secs(5);
/// A header of more bytes is none.
const HEADER_BYTES_MAX: u64 = 1 << 20;
/// Said after each reason why something cannot be gone on from.
const WHAT_TO_DO: &str = "without --resume all inputs are read again";

/// What is saved of the inputs of a run.
#[derive(Debug)]
pub(super) struct Saved {
    temp_dir: PathBuf,
    /// Held once the folder is there.
    lock: Option<File>,
    /// What rows depend on beside the inputs.
    facts: Vec<header::Fact>,
    inputs: BTreeSet<FileId>,
    /// The last one, on its way to the disk: reading goes on meanwhile.
    under_way: Option<JoinHandle<io::Result<()>>>,
    /// Saving failed, or another run saves here.
    is_over: bool,
    people: People,
}

/// Whose a folder is.
enum Lock {
    /// It is not there.
    Nobody,
    Another,
    Own(File),
}

impl Saved {
    /// What an interrupted run saved in `--temp-dir`, if it is to be gone on from; else nothing yet, and what is there is
    /// removed. `None` without `--temp-dir`.
    ///
    /// # Errors
    /// What is there is no part of this run, is damaged, or belongs to a run at work.
    pub(super) fn open(plan: &Plan, setting: &Setting<'_>, people: People) -> Result<Option<Self>> {
        let memory = &setting.how.memory;
        let Some(temp_dir) = memory.temp_dir.clone() else {
            return Ok(None);
        };
        let mut saved = Self {
            temp_dir,
            lock: None,
            facts: header::facts(setting),
            inputs: BTreeSet::new(),
            under_way: None,
            is_over: false,
            people,
        };
        match memory.on_saved {
            OnSaved::GoOn => saved.go_on(plan)?,
            OnSaved::Replace => saved.replace()?,
        }
        Ok(Some(saved))
    }

    /// The inputs that need not be read.
    pub(super) fn inputs(&self) -> &BTreeSet<FileId> {
        &self.inputs
    }

    fn folder(&self) -> PathBuf {
        self.temp_dir.join(FOLDER)
    }

    fn path(&self, file: FileId) -> PathBuf {
        let number = u64::from(file.0) + 1;
        self.folder().join(format!("{PREFIX}{number:010}"))
    }

    fn go_on(&mut self, plan: &Plan) -> Result<()> {
        let folder = self.folder();
        match lock_in_time(&folder).map_err(|error| Error::io("lock", &folder, error))? {
            Lock::Nobody => {}
            Lock::Another => {
                let what = "another run saves what it has read here: wait for it, or give another --temp-dir";
                return Err(Error::failed(what).at(&folder));
            }
            Lock::Own(file) => self.lock = Some(file),
        }
        for path in self.files()? {
            let (header, _) = open(&path)?;
            if path != self.path(header.file) {
                return Err(damaged(&path, io::ErrorKind::InvalidData.into()));
            }
            header.check(plan, &self.facts)?;
            self.inputs.insert(header.file);
        }
        let n_pipes = plan
            .inputs
            .iter()
            .filter(|input| input.access != Access::File)
            .count();
        let n_saved = self.inputs.len();
        let pipes = match n_pipes {
            0 => "",
            _ => "; what comes through a pipe cannot be told from anything else, and is read again",
        };
        self.people.note(&format!(
            "{n_saved} of {} inputs were saved in {}, and are not read again{pipes}",
            plan.inputs.len(),
            self.temp_dir.display()
        ));
        Ok(())
    }

    fn replace(&mut self) -> Result<()> {
        let folder = self.folder();
        match lock(&folder) {
            Ok(Lock::Nobody) => {}
            Ok(Lock::Own(file)) => self.lock = Some(file),
            // Nothing is read from there, and nothing written.
            Ok(Lock::Another) | Err(_) => {
                self.is_over = true;
                return Ok(());
            }
        }
        let files = self.files()?;
        for path in &files {
            fs::remove_file(path).map_err(|error| Error::io("remove", path, error))?;
        }
        if !files.is_empty() {
            self.people.note(&format!(
                "what an interrupted run had saved in {} ({} inputs) is removed: --resume would have gone on from it",
                self.temp_dir.display(),
                files.len()
            ));
        }
        Ok(())
    }

    /// The files in the folder, in the order of inputs.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let folder = self.folder();
        let failed = |error| Error::io("read", &folder, error);
        let mut paths = Vec::new();
        match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(found) => {
                for file in found {
                    let file = file.map_err(failed)?;
                    let name = file.file_name();
                    if name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                        paths.push(file.path());
                    }
                }
            }
        }
        paths.sort_unstable();
        Ok(paths)
    }

    /// What an input gave when it was read.
    ///
    /// # Errors
    /// It is damaged, or the input is another one by now.
    pub(super) fn load(&self, source: &Source<'_>, plan: &Plan) -> Result<Found> {
        let file = source.file;
        let path = self.path(file);
        let (header, mut stored) = open(&path)?;
        header.check(plan, &self.facts)?;
        let found = gave::load(file, source.inputs(), &mut stored);
        let found = found.and_then(|found| stored.finish().map(|()| found));
        found.map_err(|error| damaged(&path, error))
    }

    /// Saves what an input gave, which was read to its end. Where that cannot be done the run goes on without.
    pub(super) fn save(&mut self, file: FileId, input: &Path, gave: &Gave<'_>) {
        if self.is_over || self.inputs.contains(&file) {
            return;
        }
        if let Err(error) = self.try_save(file, input, gave) {
            self.is_over = true;
            self.people.detail(&format!(
                "{}: what was read cannot be saved for --resume: {error}",
                self.temp_dir.display()
            ));
        }
    }

    fn try_save(&mut self, file: FileId, input: &Path, gave: &Gave<'_>) -> io::Result<()> {
        let needed = gave.bytes().saturating_mul(2);
        if spill::free_bytes(&self.temp_dir).is_some_and(|free| free < needed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let header = Header::of(file, input, self.facts.clone())?.to_bytes()?;
        let mut stored = unnamed::create(&self.temp_dir)?;
        stored.write_all(&MARK)?;
        stored.write_all(&(header.len() as u64).to_le_bytes())?;
        stored.write_all(&header)?;
        let mut body = Writer::new(stored);
        gave.save(&mut body)?;
        let stored = body.finish()?;
        self.take_folder()?;
        let path = self.path(file);
        self.wait()?;
        self.under_way = Some(thread::spawn(move || unnamed::name(&stored, &path)));
        Ok(())
    }

    /// Waits until the last one is on disk.
    fn wait(&mut self) -> io::Result<()> {
        match self.under_way.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }

    /// Makes the folder, which nobody needs before there is something in it.
    fn take_folder(&mut self) -> io::Result<()> {
        if self.lock.is_some() {
            return Ok(());
        }
        let folder = self.folder();
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        match lock(&folder)? {
            Lock::Own(file) => {
                self.lock = Some(file);
                Ok(())
            }
            Lock::Another | Lock::Nobody => Err(io::Error::other("another run saves here")),
        }
    }

    /// Removes all of it: the run is done.
    pub(super) fn remove(&mut self) {
        // What could not be saved, or cannot be removed, harms nobody any more.
        self.wait().ok();
        if self.lock.is_none() {
            return;
        }
        for path in self.files().unwrap_or_default() {
            fs::remove_file(path).ok();
        }
        fs::remove_dir(self.folder()).ok();
    }
}

impl Drop for Saved {
    /// A run that fails leaves all that it has read.
    fn drop(&mut self) {
        self.wait().ok();
    }
}

/// Locks a folder, once nobody else has: a run that was just killed may take a while to be gone.
fn lock_in_time(folder: &Path) -> io::Result<Lock> {
    let start = Instant::now();
    loop {
        match lock(folder)? {
            Lock::Another if start.elapsed() < DYING_MAX => thread::sleep(DYING_MAX / 50),
            lock => return Ok(lock),
        }
    }
}

/// Locks a folder, if nobody else has.
fn lock(folder: &Path) -> io::Result<Lock> {
    let file = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Nobody),
        file => file?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Lock::Another),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Its run may have removed it since it was opened.
    let is_there = fs::metadata(folder).is_ok_and(|now| {
        let own = file.metadata();
        own.is_ok_and(|own| own.ino() == now.ino())
    });
    Ok(if is_there {
        Lock::Own(file)
    } else {
        Lock::Nobody
    })
}

/// The header of a saved file, and what is to be read behind it.
fn open(path: &Path) -> Result<(Header, Reader<File>)> {
    let read = || -> io::Result<(Header, Reader<File>)> {
        let mut file = File::open(path)?;
        let n_bytes = file.metadata()?.len();
        let header = Header::read(&mut file, n_bytes)?;
        let at = io::Seek::stream_position(&mut file)?;
        Ok((header, Reader::new(file, n_bytes - at)))
    };
    read().map_err(|error| damaged(path, error))
}

/// Why a saved file cannot be read.
fn damaged(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Error::failed(format!(
            "what was saved is damaged, or by another dedupe, and cannot be gone on from; {WHAT_TO_DO}"
        ))
        .at(path),
        _ => Error::io("read", path, error),
    }
}
