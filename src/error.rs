//! The one error type: what was read or written, where, and what was expected.
//!
//! Malformed input is not an [`Error`]; it is a counted [`Damage`](crate::capture::Damage). A leaf: must never import anything of this crate.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a run ends without a report.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    offset: Option<u64>,
}

#[derive(Debug)]
enum ErrorKind {
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
    Usage(String),
    Failed(String),
    Interrupted,
}

impl Error {
    /// The operating system refused: `doing` is a verb phrase, as in "cannot `open`".
    pub fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self {
            kind: ErrorKind::Io { doing, source },
            path: Some(path.to_owned()),
            offset: None,
        }
    }

    /// A wrong flag, an invalid policy, a key set of another policy: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Usage(message.into()),
            path: None,
            offset: None,
        }
    }

    /// The run cannot go on: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Failed(message.into()),
            path: None,
            offset: None,
        }
    }

    /// SIGINT or SIGTERM: exit code 130.
    #[must_use]
    pub fn interrupted() -> Self {
        Self {
            kind: ErrorKind::Interrupted,
            path: None,
            offset: None,
        }
    }

    /// Names the file that was read or written.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Names the byte offset in the file.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The process exit code of this error (1, 2 or 130).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Io { .. } | ErrorKind::Failed(_) => 1,
            ErrorKind::Usage(_) => 2,
            ErrorKind::Interrupted => 130,
        }
    }

    /// Whether stdout was closed by its reader, which ends a run quietly with 0.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write_path(path, f)?;
            if let Some(offset) = self.offset {
                write!(f, ":{offset}")?;
            }
            f.write_str(": ")?;
        }
        match &self.kind {
            ErrorKind::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
            ErrorKind::Usage(message) | ErrorKind::Failed(message) => {
                for (index, line) in message.split('\n').enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    write_visibly(line, f)?;
                }
                Ok(())
            }
            ErrorKind::Interrupted => f.write_str("interrupted, no report written"),
        }
    }
}

/// Bytes that are not UTF-8 are percent-encoded, so that the file can be found.
fn write_path(path: &Path, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        write_visibly(chunk.valid(), f)?;
        for byte in chunk.invalid() {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

/// Whether a character commands a terminal, or turns text around.
pub(crate) fn commands(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// What commands a terminal, or turns text around, as `\u{…}`: messages quote files and names.
fn write_visibly(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for c in text.chars() {
        if commands(c) {
            write!(f, "{}", c.escape_unicode())?;
        } else {
            f.write_char(c)?;
        }
    }
    Ok(())
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
