//! List files: one name a line, `#` starts a comment line; a name that ends in `*` is a prefix, an
//! escape is the byte that it stands for.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::mistake::{Mistake, Place, Read};
use super::names;
use crate::policy::ListFile;
use crate::policy::plan::Names;

/// The list files beside a policy file, each read once, however many entries name it.
#[derive(Debug)]
pub(super) struct Lists<'f> {
    folder: &'f Path,
    /// In the order in which they were named.
    read: Vec<List>,
    by_name: HashMap<String, usize>,
}

/// A list file and its names.
#[derive(Debug)]
pub(super) struct List {
    pub(super) names: Names,
    pub(super) file: ListFile,
}

impl<'f> Lists<'f> {
    /// Lists that are found from `folder`.
    pub(super) fn beside(folder: &'f Path) -> Self {
        Self {
            folder,
            read: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    /// The list file `name`; a mistake stands at `span` of the policy file, and names the line of the list.
    pub(super) fn read(&mut self, name: &str, span: Option<Range<usize>>) -> Read<&List> {
        if let Some(&index) = self.by_name.get(name) {
            return Ok(&self.read[index]);
        }
        let path = self.folder.join(name);
        let bytes = super::read(&path).map_err(|error| {
            Mistake::at(
                span.clone(),
                format!("cannot read the list `{name}`: {error}; expected a file beside the policy file, one name a line"),
            )
        })?;
        let own = parse(&bytes).map_err(|(offset, why)| {
            let mut place = Place::start();
            place.advance(&bytes, offset);
            let Place { line, column, .. } = place;
            Mistake::at(span, format!("in the list {name}:{line}:{column}: {why}"))
        })?;
        let index = self.read.len();
        self.by_name.insert(name.to_owned(), index);
        self.read.push(List {
            file: ListFile {
                name: name.to_owned(),
                path,
                hash: xxhash_rust::xxh3::xxh3_128(&bytes),
                n_names: own.len(),
            },
            names: Names::new(own.iter().map(Vec::as_slice)),
        });
        Ok(&self.read[index])
    }

    /// What to say of those that were read.
    pub(super) fn into_files(self) -> Vec<ListFile> {
        self.read.into_iter().map(|list| list.file).collect()
    }
}

/// The names of a list, or where the first wrong one stands and why it is wrong.
fn parse(bytes: &[u8]) -> Result<Vec<Vec<u8>>, (usize, String)> {
    let mut own = Vec::new();
    let mut line_start = 0;
    for line in bytes.split(|&byte| byte == b'\n') {
        let mark = if line_start == 0 {
            &b"\xEF\xBB\xBF"[..]
        } else {
            b""
        };
        let text = line.strip_prefix(mark).unwrap_or(line).trim_ascii_start();
        let offset = line_start + line.len() - text.len();
        let name = text.trim_ascii_end();
        if !name.is_empty() && !name.starts_with(b"#") {
            own.push(names::read(name).map_err(|why| (offset, why))?);
        }
        line_start += line.len() + 1;
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_on_lines_of_their_own() {
        let names = parse(b"\xEF\xBB\xBFa\r\n# b\n\n \tutm_* \n%2A%41\nc").unwrap();
        assert_eq!(names, [&b"a"[..], b"utm_*", b"*A", b"c"]);
    }

    #[test]
    fn the_first_wrong_name_is_told_with_its_place() {
        for (list, offset, why) in [
            (&b"a\n*\nb b"[..], 2, "a parameter without a name"),
            (b"#\n  b b", 4, "a space or control character"),
            (b"\xEF\xBB\xBFa*b", 3, "`*` stands at the end"),
            (b"a\na=1\n", 2, "`=` is no part of a name"),
        ] {
            let (found, message) = parse(list).unwrap_err();
            assert_eq!(found, offset, "{}", list.escape_ascii());
            assert!(message.contains(why), "{message}");
        }
    }
}
