//! Which files are read, in which order: what `--in` names, resolved to inputs. Looks at names and metadata, never at
//! content.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

/// Bytes of a list: millions of paths.
const LIST_BYTES_MAX: u64 = 1 << 28;

/// One input, as it will be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path as given or found; reports print it. `-` for stdin.
    pub path: PathBuf,
    /// How it is read.
    pub access: Access,
    /// Why it is read.
    pub origin: Origin,
}

/// How an input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A regular file: it can be mapped.
    File,
    /// A pipe that a shell opened (`<(zcat …)` is `/dev/fd/63`): it can be read once.
    Pipe,
    /// Standard input.
    Stdin,
}

/// Why an input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named it: if it is no archive, that is said.
    Named,
    /// It was found in a folder: if it is no archive, it is ignored and counted.
    Folder,
}

/// An input that was named but cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// As given or found.
    pub name: OsString,
    /// What is wrong with it, and what to do; for people.
    pub what: String,
}

/// What is to be read.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In the order given; folders and globs in byte order of the path. No file is there twice.
    pub inputs: Vec<Input>,
    /// Named, but not to be read.
    pub skipped: Vec<Skipped>,
    /// Empty files in folders.
    pub ignored: u64,
    /// The @LIST files.
    lists: Vec<PathBuf>,
    seen: HashSet<FileIdentity>,
}

/// Device and inode: one file, whatever its names.
type FileIdentity = (u64, u64);

/// Resolves the values of `--in`: files, folders, globs, `@list` files and `-`.
#[must_use]
pub fn inputs(values: &[OsString]) -> Plan {
    let mut plan = Plan::default();
    for value in values {
        match value.as_bytes() {
            [b'@', list @ ..] => plan.add_list(value, Path::new(OsStr::from_bytes(list))),
            _ => plan.add(value),
        }
    }
    plan
}

impl Plan {
    /// Every file that is read, by a name that leads to it: none of them may be written to.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.inputs.iter().map(|input| match input.access {
            Access::Stdin => Path::new("/dev/stdin"),
            Access::File | Access::Pipe => input.path.as_path(),
        });
        inputs.chain(self.lists.iter().map(PathBuf::as_path))
    }

    /// The lines of a list; `#` starts a comment line. A list in a list would be a name that starts with `@`.
    fn add_list(&mut self, value: &OsStr, list: &Path) {
        let text = match read_list(list) {
            Ok(text) => text,
            Err(error) => return self.skip(value, unreadable(&error)),
        };
        self.lists.push(list.to_owned());
        let mut is_empty = true;
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let start = line.trim_ascii_start();
            if !start.is_empty() && start[0] != b'#' {
                is_empty = false;
                self.add(OsStr::from_bytes(line));
            }
        }
        if is_empty {
            self.skip(value, "a list that names no input");
        }
    }

    fn add(&mut self, value: &OsStr) {
        let path = Path::new(value);
        if value == "-" {
            return self.add_stdin();
        }
        match fs::metadata(path) {
            Ok(metadata) => self.add_found(path.to_owned(), &metadata, Origin::Named),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_pattern(value) => {
                self.add_pattern(value);
            }
            Err(error) => self.skip(value, unreadable(&error)),
        }
    }

    fn add_stdin(&mut self) {
        let stdin = Input {
            path: "-".into(),
            access: Access::Stdin,
            origin: Origin::Named,
        };
        if !self.inputs.contains(&stdin) {
            self.inputs.push(stdin);
        }
    }

    fn add_pattern(&mut self, value: &OsStr) {
        match matching(value) {
            None => self.skip(value, "no such file, and no pattern that can be read"),
            Some(paths) if paths.is_empty() => self.skip(value, "no file matches the pattern"),
            Some(paths) => {
                for path in paths {
                    self.add_path(path, Origin::Named);
                }
            }
        }
    }

    fn add_path(&mut self, path: PathBuf, origin: Origin) {
        match fs::metadata(&path) {
            Ok(metadata) => self.add_found(path, &metadata, origin),
            Err(error) => self.skip(path.as_os_str(), unreadable(&error)),
        }
    }

    /// Everything in a folder, links followed; a link that leads back up adds nothing.
    fn add_folder(&mut self, folder: &Path) {
        let mut paths = Vec::new();
        for entry in WalkDir::new(folder).follow_links(true) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => paths.push(entry.into_path()),
                Err(error) if error.loop_ancestor().is_some() => {}
                Err(error) => {
                    let name = error.path().unwrap_or(folder).as_os_str().to_owned();
                    self.skip(&name, unreadable(&error.into()));
                }
            }
        }
        if paths.is_empty() {
            self.skip(folder.as_os_str(), "a folder without files");
        }
        for path in in_byte_order(paths) {
            self.add_path(path, Origin::Folder);
        }
    }

    fn add_found(&mut self, path: PathBuf, metadata: &Metadata, origin: Origin) {
        if metadata.is_dir() {
            return self.add_folder(&path);
        }
        let access = match special(metadata, &path) {
            Ok(access) => access,
            Err(what) => return self.skip(path.as_os_str(), what),
        };
        if access == Access::File {
            // A pipe would be opened twice, and what stands in it lost.
            if let Err(error) = File::open(&path) {
                return self.skip(path.as_os_str(), unreadable(&error));
            }
            if metadata.len() == 0 {
                match origin {
                    Origin::Folder => self.ignored += 1,
                    Origin::Named => self.skip(path.as_os_str(), "empty file"),
                }
                return;
            }
        }
        if self.seen.insert(identity(metadata)) {
            self.inputs.push(Input {
                path,
                access,
                origin,
            });
        }
    }

    fn skip(&mut self, name: &OsStr, what: impl Into<String>) {
        self.skipped.push(Skipped {
            name: name.to_owned(),
            what: what.into(),
        });
    }
}

fn identity(metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino())
}

/// The bytes of a list; one that does not end, a device, would fill the memory.
fn read_list(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let n = fs::File::open(path)?
        .take(LIST_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if n as u64 > LIST_BYTES_MAX {
        return Err(io::Error::other("a list longer than 256 MiB"));
    }
    Ok(bytes)
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "no permission to read it".into(),
        _ => format!("cannot be read: {error}"),
    }
}

/// How what is no folder is read; devices and the like are not. A named pipe that nobody writes to would block for ever.
fn special(metadata: &Metadata, path: &Path) -> Result<Access, &'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(Access::File)
    } else if kind.is_fifo() && is_open_already(path) {
        Ok(Access::Pipe)
    } else if kind.is_fifo() {
        Err("a named pipe, not a file; to read it, give - and the pipe as stdin")
    } else if kind.is_socket() {
        Err("a socket, not a file")
    } else {
        Err("a device, not a file")
    }
}

fn is_open_already(path: &Path) -> bool {
    ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"]
        .iter()
        .any(|start| path.as_os_str().as_bytes().starts_with(start.as_bytes()))
}

fn is_pattern(value: &OsStr) -> bool {
    value.as_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// The paths that match a pattern, in byte order; `None` if it is none.
///
/// Walks by itself: `glob::glob` passes over names that are not UTF-8.
fn matching(value: &OsStr) -> Option<Vec<PathBuf>> {
    let tidy: PathBuf = Path::new(value).components().collect();
    let pattern = glob::Pattern::new(tidy.to_str()?).ok()?;
    let options = glob::MatchOptions {
        require_literal_separator: true,
        ..glob::MatchOptions::new()
    };
    let (base, depth) = literal_base(&tidy);
    let root = match base.as_os_str().is_empty() {
        true => Path::new("."),
        false => &base,
    };
    let found = WalkDir::new(root)
        .follow_links(true)
        .min_depth(1)
        .max_depth(depth)
        .into_iter()
        .filter_map(Result::ok)
        .filter_map(|entry| Some(base.join(entry.path().strip_prefix(root).ok()?)))
        .filter(|path| pattern.matches_with(&path.to_string_lossy(), options));
    Some(in_byte_order(found.collect()))
}

/// The folder in front of the first component with a pattern in it, and how many levels below it can match.
fn literal_base(pattern: &Path) -> (PathBuf, usize) {
    let components: Vec<Component<'_>> = pattern.components().collect();
    let n_literal = components
        .iter()
        .take_while(|component| !is_pattern(component.as_os_str()))
        .count();
    let rest = &components[n_literal..];
    let is_any_depth = rest.iter().any(|component| component.as_os_str() == "**");
    let depth = if is_any_depth { usize::MAX } else { rest.len() };
    (components[..n_literal].iter().collect(), depth)
}

fn in_byte_order(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut bytes: Vec<Vec<u8>> = paths
        .into_iter()
        .map(|path| path.into_os_string().into_vec())
        .collect();
    bytes.sort_unstable();
    bytes
        .into_iter()
        .map(|path| OsString::from_vec(path).into())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    /// A folder with the files named, each holding its name; names that end in `0` are empty.
    fn folder(names: &[&[u8]]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if name.ends_with(b"0") { b"" } else { *name };
            fs::write(path, text).unwrap();
        }
        dir
    }

    /// Plans `values`, in which `DIR` is the folder, and tells the result as text, `name: what` for what is skipped.
    fn told(dir: &Path, values: &[&str]) -> Vec<String> {
        let dir = dir.to_str().unwrap();
        let values: Vec<OsString> = values
            .iter()
            .map(|value| value.replace("DIR", dir).into())
            .collect();
        let plan = inputs(&values);
        let short = |name: &OsStr| {
            name.as_bytes()
                .escape_ascii()
                .to_string()
                .replace(dir, "DIR")
        };
        let inputs = plan
            .inputs
            .iter()
            .map(|input| short(input.path.as_os_str()));
        let skipped = plan.skipped.iter();
        inputs
            .chain(skipped.map(|skipped| format!("{}: {}", short(&skipped.name), skipped.what)))
            .collect()
    }

    #[test]
    fn keeps_the_order_given_and_sorts_folders_by_bytes() {
        let dir = folder(&[b"b/y", b"b.x", b"b/a/z", b"B", b"a"]);
        let path = dir.path();
        assert_eq!(told(path, &["DIR/b.x", "DIR/a"]), ["DIR/b.x", "DIR/a"]);
        assert_eq!(
            told(path, &["DIR/b/y", "DIR"]),
            ["DIR/b/y", "DIR/B", "DIR/a", "DIR/b.x", "DIR/b/a/z"]
        );
    }

    #[test]
    fn reads_a_file_once_whatever_its_names() {
        let dir = folder(&[b"a", b"sub/b"]);
        let path = dir.path();
        symlink(path.join("a"), path.join("link")).unwrap();
        fs::hard_link(path.join("a"), path.join("hard")).unwrap();
        symlink(path, path.join("sub/up")).unwrap();
        assert_eq!(
            told(path, &["DIR/link", "DIR/a", "DIR/sub/../a"]),
            ["DIR/link"]
        );
        assert_eq!(
            told(path, &["DIR", "DIR/", "-", "-"]),
            ["DIR/a", "DIR/sub/b", "-"]
        );
    }

    #[test]
    fn resolves_patterns() {
        let dir = folder(&[
            b"a1.warc",
            b"a2.warc",
            b"b1.warc",
            b"sub/a3.warc",
            b"sub/deep/a4.warc",
            b"[x].cdx",
            b"\xff.cdx",
        ]);
        for (pattern, expected) in [
            ("DIR/a*.warc", vec!["DIR/a1.warc", "DIR/a2.warc"]),
            ("DIR//./a*2.warc", vec!["DIR/a2.warc"]),
            ("DIR/?1.warc", vec!["DIR/a1.warc", "DIR/b1.warc"]),
            ("DIR/*/*.warc", vec!["DIR/sub/a3.warc"]),
            (
                "DIR/**/a*.warc",
                vec![
                    "DIR/a1.warc",
                    "DIR/a2.warc",
                    "DIR/sub/a3.warc",
                    "DIR/sub/deep/a4.warc",
                ],
            ),
            ("DIR/s*", vec!["DIR/sub/a3.warc", "DIR/sub/deep/a4.warc"]),
            ("DIR/[x].cdx", vec!["DIR/[x].cdx"]),
            ("DIR/*.cdx", vec!["DIR/[x].cdx", r"DIR/\xff.cdx"]),
            ("DIR/c*", vec!["DIR/c*: no file matches the pattern"]),
            (
                "DIR/[",
                vec!["DIR/[: no such file, and no pattern that can be read"],
            ),
        ] {
            assert_eq!(told(dir.path(), &[pattern]), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_without_folder_looks_here() {
        let found = matching(OsStr::new("Cargo.*")).unwrap();
        assert_eq!(found, [Path::new("Cargo.lock"), Path::new("Cargo.toml")]);
    }

    #[test]
    fn reads_lists() {
        let dir = folder(&[b"a", b"b 1", b"c"]);
        let path = dir.path();
        let list = format!(
            "# first\r\n\n{0}/b 1\r\n  # more\n{0}/[ac]\n-\n{0}/none",
            path.display()
        );
        fs::write(path.join("list"), list).unwrap();
        fs::write(path.join("empty"), "# nothing\n").unwrap();
        assert_eq!(
            told(path, &["@DIR/list"]),
            ["DIR/b 1", "DIR/a", "DIR/c", "-", "DIR/none: no such file"]
        );
        assert_eq!(
            told(path, &["@DIR/empty", "@DIR/none"]),
            [
                "@DIR/empty: a list that names no input",
                "@DIR/none: no such file"
            ]
        );
    }

    #[test]
    fn says_what_is_wrong_with_an_input() {
        let dir = folder(&[b"a", b"empty0"]);
        let path = dir.path();
        fs::create_dir(path.join("bare")).unwrap();
        let _socket = UnixListener::bind(path.join("socket")).unwrap();
        let values = [
            "DIR/none",
            "DIR/empty0",
            "DIR/bare",
            "DIR/socket",
            "/dev/null",
            "DIR/a/b",
            "",
        ];
        let found = told(path, &values);
        assert_eq!(
            found[..5],
            [
                "DIR/none: no such file",
                "DIR/empty0: empty file",
                "DIR/bare: a folder without files",
                "DIR/socket: a socket, not a file",
                "/dev/null: a device, not a file",
            ]
        );
        assert!(
            found[5].starts_with("DIR/a/b: cannot be read: "),
            "{}",
            found[5]
        );
        assert_eq!(found[6], ": no such file");
    }

    #[test]
    fn a_folder_passes_over_empty_files_but_names_what_it_cannot_read() {
        let dir = folder(&[b"a", b"empty0", b"locked"]);
        let path = dir.path();
        symlink("nowhere", path.join("broken")).unwrap();
        fs::set_permissions(path.join("locked"), fs::Permissions::from_mode(0o0)).unwrap();
        let plan = inputs(&[path.into()]);
        assert_eq!(plan.ignored, 1);
        let is_root = File::open(path.join("locked")).is_ok();
        let names: Vec<String> = told(path, &["DIR"]);
        let mut expected = vec!["DIR/a", "DIR/broken: no such file"];
        if is_root {
            expected.insert(1, "DIR/locked");
        } else {
            expected.push("DIR/locked: no permission to read it");
        }
        assert_eq!(names, expected);
    }

    #[test]
    fn a_named_pipe_is_not_opened() {
        let dir = folder(&[]);
        let pipe = dir.path().join("pipe");
        let is_made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(is_made.is_ok_and(|status| status.success()), "mkfifo");
        assert_eq!(
            told(dir.path(), &["DIR/pipe"]),
            ["DIR/pipe: a named pipe, not a file; to read it, give - and the pipe as stdin"]
        );
    }

    #[test]
    fn keeps_names_that_are_not_utf8() {
        let dir = folder(&[b"a\xff.warc"]);
        let path = dir.path().join(OsStr::from_bytes(b"a\xff.warc"));
        let plan = inputs(&[path.clone().into()]);
        assert_eq!(plan.inputs[0].path, path);
        assert_eq!(inputs(&[dir.path().into()]).inputs[0].path, path);
    }
}
