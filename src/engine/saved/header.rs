//! What a saved file says of the input that it was read from, and of how it was read.

use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::super::figures::digests_name;
use super::super::job::InFormat;
use super::super::plan::{Access, Plan};
use super::super::read::Setting;
use super::{HEADER_BYTES_MAX, MARK, WHAT_TO_DO};
use crate::capture::FileId;
use crate::catalog::saved::{Reader, Writer};
use crate::scan::warc::VisibleText;
use crate::source::Version;
use crate::{Error, Result};

/// Something that rows depend on: its name, and what it is.
pub(super) type Fact = (String, String);

/// The first bytes of a saved file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    facts: Vec<Fact>,
    /// Which input of the run it is.
    pub(super) file: FileId,
    path: PathBuf,
    version: Version,
}

/// What rows depend on beside the inputs.
pub(super) fn facts(setting: &Setting<'_>) -> Vec<Fact> {
    let format = match setting.how.format {
        None => "none",
        Some(InFormat::Warc) => "warc",
        Some(InFormat::Cdx) => "cdx",
        Some(InFormat::Cdxj) => "cdxj",
    };
    let command = match setting.text {
        VisibleText::Skip => "dedupe",
        VisibleText::Hash => "dedupe evaluate",
    };
    let facts = [
        ("version of dedupe", env!("CARGO_PKG_VERSION").to_owned()),
        ("command", command.to_owned()),
        ("policy", setting.policy.id().to_string()),
        ("--digests", digests_name(setting.how.digests).to_owned()),
        ("--in-format", format.to_owned()),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

impl Header {
    /// The header of an input as it stands on disk now.
    pub(super) fn of(file: FileId, path: &Path, facts: Vec<Fact>) -> io::Result<Self> {
        Ok(Self {
            facts,
            file,
            path: path.to_owned(),
            version: Version::at(path)?,
        })
    }

    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut to = Writer::new(Vec::new());
        to.number(self.facts.len() as u64)?;
        for (name, value) in &self.facts {
            to.text(name.as_bytes())?;
            to.text(value.as_bytes())?;
        }
        to.number(u64::from(self.file.0))?;
        to.text(self.path.as_os_str().as_bytes())?;
        to.number(self.version.n_bytes)?;
        to.number(self.version.seconds.cast_unsigned())?;
        to.number(self.version.nanos.cast_unsigned())?;
        to.number(self.version.device)?;
        to.number(self.version.inode)?;
        to.finish()
    }

    /// Reads it from the begin of a saved file of `n_bytes`.
    pub(super) fn read(from: &mut impl Read, n_bytes: u64) -> io::Result<Self> {
        let mut mark = [0; MARK.len()];
        from.read_exact(&mut mark)?;
        let mut len = [0; 8];
        from.read_exact(&mut len)?;
        let len = u64::from_le_bytes(len);
        if mark != MARK || len > n_bytes.min(HEADER_BYTES_MAX) {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        from.take(len).read_to_end(&mut bytes)?;
        let mut from = Reader::new(&bytes[..], len);
        let text = |bytes| String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData);
        let mut facts = Vec::new();
        for _ in 0..from.count(2 * size_of::<u64>())? {
            facts.push((text(from.text()?)?, text(from.text()?)?));
        }
        let file = u32::try_from(from.number()?).map_err(|_| ErrorKind::InvalidData)?;
        let path = std::ffi::OsString::from_vec(from.text()?);
        let version = Version {
            n_bytes: from.number()?,
            seconds: from.number()?.cast_signed(),
            nanos: from.number()?.cast_signed(),
            device: from.number()?,
            inode: from.number()?,
        };
        from.finish()?;
        Ok(Self {
            facts,
            file: FileId(file),
            path: path.into(),
            version,
        })
    }

    /// Tells whether a run with this plan and these facts would read what was saved.
    ///
    /// # Errors
    /// It would not, and why.
    pub(super) fn check(&self, plan: &Plan, facts: &[Fact]) -> Result<()> {
        let refused = |make: fn(String) -> Error, why: String| {
            Err(make(format!("cannot be resumed: {why}; {WHAT_TO_DO}")).at(&self.path))
        };
        for ((name, now), (_, saved)) in facts.iter().zip(&self.facts) {
            if now != saved {
                let why = format!("it was read with {name} {saved}, and this run has {name} {now}");
                return refused(Error::usage, why);
            }
        }
        let number = u64::from(self.file.0) + 1;
        let place = |input: &super::super::plan::Input| input.path == self.path;
        match plan.inputs.get(self.file.0 as usize) {
            Some(input) if place(input) && input.access == Access::File => {}
            _ => {
                let why = match plan.inputs.iter().position(place) {
                    Some(now) => format!("it was input {number}, and is input {} now", now + 1),
                    None => format!("it was input {number}, and is none of this run's"),
                };
                return refused(Error::usage, why);
            }
        }
        let now = Version::at(&self.path).map_err(|error| Error::io("read", &self.path, error))?;
        let saved = self.version;
        if now.n_bytes != saved.n_bytes {
            let (then, now) = (saved.n_bytes, now.n_bytes);
            let why = format!("it had {then} bytes when it was read, and has {now} now");
            return refused(Error::failed, why);
        }
        if now != saved {
            return refused(
                Error::failed,
                "it was modified or replaced since it was read".to_owned(),
            );
        }
        Ok(())
    }
}
