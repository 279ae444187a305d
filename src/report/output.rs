//! Outputs that appear whole or not at all.
//!
//! A file is written beside its target and renamed once everything of the run is on disk. A target
//! that is no regular file, and `-`, is written straight.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use super::temporary::Temporary;
use crate::{Error, Result};

/// Large enough that a system call per buffer costs nothing.
const BUF_LEN: usize = 1 << 17;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `-`.
    Stdout,
    /// A file, or whatever stands at that path.
    File(PathBuf),
}

impl From<PathBuf> for Target {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::File(path)
        }
    }
}

impl Target {
    /// The path, as messages name it.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Stdout => Path::new("stdout"),
            Self::File(path) => path,
        }
    }

    /// Whether something stands there that is no regular file: a pipe, a device.
    pub(super) fn is_special(&self) -> bool {
        let is_special_at = |path| fs::metadata(path).is_ok_and(|found| !found.is_file());
        match self {
            Self::Stdout => true,
            Self::File(path) => is_special_at(path),
        }
    }

    /// Where its bytes finally stand, if that can be the same file as another's.
    fn place(&self) -> Option<Place> {
        let path = match self {
            Self::Stdout => Path::new("/dev/stdout"),
            Self::File(path) => path,
        };
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Some(Place::Inode(found.dev(), found.ino())),
            Ok(_) => None,
            Err(_) => Some(Place::Path(absolute(self.path()))),
        }
    }
}

/// A regular file by what it is, or by name where it is not there yet.
#[derive(PartialEq, Eq)]
enum Place {
    Inode(u64, u64),
    Path(PathBuf),
}

/// The same path however its folder is spelled.
fn absolute(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name()
        .map_or_else(|| folder.clone(), |name| folder.join(name))
}

/// Refuses outputs that are an input, or each other, by whatever name or link.
///
/// To be called before anything is read or created. `inputs` are files that will be read: archives,
/// policy files, key sets.
///
/// # Errors
/// A usage error that names the file.
pub fn refuse_overwriting<'a>(
    targets: &[&Target],
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let places: Vec<Option<Place>> = targets.iter().map(|target| target.place()).collect();
    let same_as = |other: &Option<Place>| {
        let place = places
            .iter()
            .position(|place| place.is_some() && place == other);
        place.map(|index| targets[index].path())
    };
    for (index, place) in places.iter().enumerate() {
        if let Some(other) = places[..index]
            .iter()
            .find(|other| other.is_some() && *other == place)
        {
            let other = same_as(other).unwrap_or(Path::new(""));
            return Err(Error::usage(format!(
                "would be written over {}: give each output a file name of its own",
                other.display()
            ))
            .at(targets[index].path()));
        }
    }
    for input in inputs {
        let place = fs::metadata(input)
            .ok()
            .map(|found| Place::Inode(found.dev(), found.ino()));
        if let Some(output) = same_as(&place) {
            return Err(Error::usage(format!(
                "is the input {}, which is never written to: give the output another name",
                input.display()
            ))
            .at(output));
        }
    }
    Ok(())
}

/// An output that is being written.
#[derive(Debug)]
pub struct Output {
    target: Target,
    sink: Encoder,
}

/// The compression that the suffix asks for.
#[derive(Debug)]
enum Encoder {
    Plain(BufWriter<Sink>),
    Gzip(Box<GzEncoder<BufWriter<Sink>>>),
    Zstd(ZstdEncoder),
}

/// `zstd`'s encoder, which cannot be printed.
struct ZstdEncoder(zstd::Encoder<'static, BufWriter<Sink>>);

impl std::fmt::Debug for ZstdEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ZstdEncoder")
    }
}

/// Where bytes leave the process.
#[derive(Debug)]
struct Sink {
    way: Way,
    bytes: u64,
}

#[derive(Debug)]
enum Way {
    Stdout(io::Stdout),
    /// Stdout, whose reader has gone while files are still to be written.
    Closed,
    Device(File),
    Beside(Temporary, File),
}

impl Output {
    /// Starts an output. Until it is published nothing stands under its name.
    ///
    /// # Errors
    /// The file cannot be created, or the device not opened.
    pub fn create(target: &Target) -> Result<Self> {
        let way = match target {
            Target::Stdout => Ok(Way::Stdout(io::stdout())),
            Target::File(path) => open(path),
        };
        let way = way.map_err(|source| Error::io("write", target.path(), source))?;
        let sink = BufWriter::with_capacity(BUF_LEN, Sink { way, bytes: 0 });
        let sink = match target.path().extension().and_then(|suffix| suffix.to_str()) {
            Some("gz") => Encoder::Gzip(Box::new(GzEncoder::new(
                sink,
                flate2::Compression::default(),
            ))),
            Some("zst") => Encoder::Zstd(ZstdEncoder(
                zstd::Encoder::new(sink, 0)
                    .map_err(|source| Error::io("compress", target.path(), source))?,
            )),
            _ => Encoder::Plain(sink),
        };
        Ok(Self {
            target: target.clone(),
            sink,
        })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As the system says, with the name of the output.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes)
            .map_err(|source| Error::io("write", self.target.path(), source))
    }

    /// Brings everything to disk.
    ///
    /// # Errors
    /// A full disk shows here at the latest.
    pub fn finish(self) -> Result<Finished> {
        let path = self.target.path().to_owned();
        let failed = |source| Error::io("write", &path, source);
        let sink = self.sink.finish().map_err(failed)?;
        let bytes = sink.bytes;
        let temporary = match sink.way {
            Way::Beside(temporary, file) => {
                file.sync_all().map_err(failed)?;
                Some(temporary)
            }
            Way::Stdout(_) | Way::Closed | Way::Device(_) => None,
        };
        Ok(Finished {
            path,
            bytes,
            temporary,
        })
    }
}

/// Opens what stands at `path`, or a temporary file beside it.
fn open(path: &Path) -> io::Result<Way> {
    let target = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            return OpenOptions::new().write(true).open(path).map(Way::Device);
        }
        // A link to a file stays a link.
        Ok(_) => fs::canonicalize(path)?,
        Err(_) => path.to_owned(),
    };
    Temporary::create(target).map(|(temporary, file)| Way::Beside(temporary, file))
}

impl Encoder {
    fn finish(self) -> io::Result<Sink> {
        let buf = match self {
            Self::Plain(buf) => buf,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.0.finish()?,
        };
        let mut sink = buf.into_inner().map_err(io::IntoInnerError::into_error)?;
        sink.flush()?;
        Ok(sink)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Encoder::Plain(buf) => buf.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Encoder::Plain(buf) => buf.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.0.flush(),
        }
    }
}

impl Sink {
    /// A closed pipe ends a run that writes nothing else; beside files it only silences stdout.
    fn close_quietly(&mut self, error: io::Error) -> io::Result<()> {
        if error.kind() == io::ErrorKind::BrokenPipe && Temporary::any_pending() {
            self.way = Way::Closed;
            Ok(())
        } else {
            Err(error)
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.way {
            Way::Stdout(stdout) => stdout.lock().write(bytes),
            Way::Closed => Ok(bytes.len()),
            Way::Device(file) | Way::Beside(_, file) => file.write(bytes),
        };
        let n = match (written, &self.way) {
            (Ok(n), _) => n,
            (Err(error), Way::Stdout(_)) => {
                self.close_quietly(error)?;
                bytes.len()
            }
            (Err(error), _) => return Err(error),
        };
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Stdout(stdout) => {
                let flushed = stdout.flush();
                flushed.or_else(|error| self.close_quietly(error))
            }
            Way::Device(file) | Way::Beside(_, file) => file.flush(),
            Way::Closed => Ok(()),
        }
    }
}

/// An output that is whole, but for its name.
#[derive(Debug)]
pub struct Finished {
    path: PathBuf,
    bytes: u64,
    temporary: Option<Temporary>,
}

impl Finished {
    /// The path as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes as stored.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Gives all outputs of a run their names, at its very end. A signal finds either none or all.
///
/// # Errors
/// A rename fails; the outputs that have no name yet are removed.
pub fn publish(outputs: Vec<Finished>) -> Result<()> {
    let temporaries: Vec<Temporary> = outputs
        .into_iter()
        .filter_map(|output| output.temporary)
        .collect();
    Temporary::publish_all(&temporaries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn target(folder: &Path, name: &str) -> Target {
        Target::from(folder.join(name))
    }

    fn write(target: &Target, text: &[u8]) -> Result<Finished> {
        let mut output = Output::create(target)?;
        output.put(text)?;
        output.finish()
    }

    #[test]
    fn nothing_has_its_name_before_it_is_published() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("r.csv"), "old").unwrap();
        let finished = write(&target(folder.path(), "r.csv"), b"new").unwrap();
        assert_eq!(fs::read(folder.path().join("r.csv")).unwrap(), b"old");
        publish(vec![finished]).unwrap();
        assert_eq!(fs::read(folder.path().join("r.csv")).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["r.csv"]);
    }

    #[test]
    fn leaves_nothing_of_an_output_that_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        drop(write(&target(folder.path(), "r.csv"), b"new").unwrap());
        let mut output = Output::create(&target(folder.path(), "s.json")).unwrap();
        output.put(b"half").unwrap();
        drop(output);
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn keeps_a_link_to_a_file_a_link() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("real.csv"), "old").unwrap();
        std::os::unix::fs::symlink("real.csv", folder.path().join("r.csv")).unwrap();
        publish(vec![
            write(&target(folder.path(), "r.csv"), b"new").unwrap(),
        ])
        .unwrap();
        assert_eq!(fs::read(folder.path().join("real.csv")).unwrap(), b"new");
        assert!(folder.path().join("r.csv").is_symlink());
    }

    #[test]
    fn compresses_by_suffix() {
        let folder = tempfile::tempdir().unwrap();
        for (name, decode) in [
            (
                "r.csv.gz",
                (|bytes| io::read_to_string(flate2::read::GzDecoder::new(bytes)).unwrap())
                    as fn(&[u8]) -> String,
            ),
            ("r.csv.zst", |bytes| {
                String::from_utf8(zstd::decode_all(bytes).unwrap()).unwrap()
            }),
            ("r.csv", |bytes| String::from_utf8(bytes.to_vec()).unwrap()),
        ] {
            let finished = write(&target(folder.path(), name), b"text").unwrap();
            let n_bytes = finished.bytes();
            publish(vec![finished]).unwrap();
            let stored = fs::read(folder.path().join(name)).unwrap();
            assert_eq!(
                (decode(&stored), stored.len() as u64),
                ("text".into(), n_bytes),
                "{name}"
            );
        }
    }

    #[test]
    fn a_full_disk_fails_though_the_text_fits_in_the_buffer() {
        let error = write(&Target::from(PathBuf::from("/dev/full")), b"short").unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }

    #[test]
    fn a_folder_or_a_missing_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "missing/r.csv"] {
            let error = write(&target(folder.path(), name), b"").unwrap_err();
            assert_eq!(error.exit_code(), 1, "{error}");
        }
    }

    #[test]
    fn refuses_an_input_by_any_name_and_two_outputs_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["in.warc", "other.csv"] {
            fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink("in.warc", at("soft.csv")).unwrap();
        fs::hard_link(at("in.warc"), at("hard.csv")).unwrap();
        for (outputs, is_refused) in [
            (&["in.warc"][..], true),
            (&["soft.csv"], true),
            (&["hard.csv"], true),
            (&["./in.warc"], true),
            (&["other.csv"], false),
            (&["new.csv"], false),
            (&["new.csv", "new.csv"], true),
            (&["new.csv", "./new.csv"], true),
            (&["other.csv", "other.csv"], true),
            (&["new.csv", "new.json"], false),
            (&["/dev/null", "/dev/null"], false),
        ] {
            let targets: Vec<Target> = outputs
                .iter()
                .map(|name| target(folder.path(), name))
                .collect();
            let input = at("in.warc");
            let refused =
                refuse_overwriting(&targets.iter().collect::<Vec<_>>(), [input.as_path()]);
            assert_eq!(refused.is_err(), is_refused, "{outputs:?}");
            if let Err(error) = refused {
                assert_eq!(error.exit_code(), 2, "{error}");
            }
        }
    }
}
