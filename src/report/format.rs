//! Which text a report is, by the name of its file.

use std::path::Path;

use super::output::Target;
use crate::{Error, Result};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

impl Format {
    /// The format that the suffix of `target` names; CSV on stdout and for pipes and devices.
    ///
    /// # Errors
    /// A usage error for a file of another suffix.
    pub fn of(target: &Target) -> Result<Self> {
        let path = target.path();
        let name = match suffix(path) {
            Some("gz" | "zst") => path.file_stem().map_or(path, Path::new),
            _ => path,
        };
        match suffix(name) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            _ if target.is_special() => Ok(Self::Csv),
            _ => Err(Error::usage(
                "a report ends in .csv or .jsonl (also .gz or .zst): give it such a name",
            )
            .at(path)),
        }
    }
}

fn suffix(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_names_the_format() {
        for (name, format) in [
            ("r.csv", Some(Format::Csv)),
            ("a/r.csv.gz", Some(Format::Csv)),
            ("r.jsonl", Some(Format::Jsonl)),
            ("r.jsonl.zst", Some(Format::Jsonl)),
            ("-", Some(Format::Csv)),
            ("/dev/null", Some(Format::Csv)),
            ("r", None),
            ("r.gz", None),
            ("crawl.warc.gz", None),
            (".csv", None),
        ] {
            let target = Target::from(std::path::PathBuf::from(name));
            assert_eq!(Format::of(&target).ok(), format, "{name}");
        }
    }
}
