//! List files: one name a line, `#` starts a comment line; a name that ends in `*` is a prefix, an
//! escape is the byte that it stands for.

use std::ops::Range;
use std::path::Path;

use super::mistake::{Mistake, Read};
use crate::policy::ListFile;

/// The names of the list file `name` beside the policy file, and what to say of it.
pub(super) fn read(
    name: &str,
    span: Option<Range<usize>>,
    folder: &Path,
) -> Read<(Vec<Vec<u8>>, ListFile)> {
    let bytes = super::read(&folder.join(name)).map_err(|error| {
        Mistake::at(
            span,
            format!("cannot read the list `{name}`: {error}; expected a file beside the policy file, one name a line"),
        )
    })?;
    let names: Vec<Vec<u8>> = bytes
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .map(super::names::decoded)
        .collect();
    let list = ListFile {
        name: name.to_owned(),
        hash: xxhash_rust::xxh3::xxh3_128(&bytes),
        n_names: names.len(),
    };
    Ok((names, list))
}
