//! What one thread reads at a time: a chunk of a mapped input, or an input from begin to end.
//! Looks at first bytes only, to know which.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::job::{self, InFormat};
use super::plan::{Access, Input, Plan};
use super::readers::Lines;
use crate::Error;
use crate::capture::FileId;
use crate::catalog::Inputs;
use crate::scan::warc::DigestMode;
use crate::source::{self, Compression, Content, Decoder, Format, Map, SNIFFED};

/// Bytes of a gzip file, in chunks, in which a second record should start if it is one member a record.
const SECOND_MEMBER: u64 = 16;

/// Indexes whose maps are kept until the end; the system allows 65,530 maps (`vm.max_map_count`), all else included.
const MAPS_KEPT_MAX: u32 = 1 << 14;

/// What every member of an archive starts with.
pub(super) const PREFIX: &[u8] = b"WARC/";

/// What is to be read by one thread.
#[derive(Debug)]
pub(super) struct Part<'p> {
    /// Of which input.
    pub(super) source: Source<'p>,
    /// What of it.
    pub(super) extent: Extent,
}

/// An input, opened.
#[derive(Clone, Debug)]
pub(super) struct Source<'p> {
    /// As planned.
    pub(super) input: &'p Input,
    /// Its number.
    pub(super) file: FileId,
    /// Its bytes, unless they come through a pipe.
    pub(super) mapped: Option<Arc<Mapped>>,
}

impl Source<'_> {
    /// The input, if texts of captures may be left in it.
    pub(super) fn inputs(&self) -> Inputs {
        let mapped = self.mapped.as_ref();
        let mapped = mapped.filter(|mapped| mapped.holds_texts() && self.file.0 < MAPS_KEPT_MAX);
        mapped.map_or_else(Inputs::default, |mapped| {
            Inputs::one(self.file, Arc::clone(&mapped.map))
        })
    }
}

/// What of an input is to be read.
#[derive(Debug)]
pub(super) enum Extent {
    /// What starts in these bytes; the last chunk of an input has no end.
    Chunk(Range<u64>),
    /// All of it: nobody knows where to start in its midst.
    Whole,
    /// Nothing: what it gives was saved.
    Saved,
    /// Nothing: it cannot be opened.
    Nothing(Error),
}

/// An input that is mapped, and what its first bytes say.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Its bytes.
    pub(super) map: Arc<Map>,
    /// What they are.
    pub(super) format: Format,
    /// Of an index: what its first lines say of the others.
    pub(super) first_lines: Option<Lines>,
}

/// The parts of all inputs of a plan, in order.
#[derive(Debug)]
pub(super) struct Parts<'p> {
    plan: &'p Plan,
    how: &'p job::Reading,
    /// Inputs that are not read again.
    saved: BTreeSet<FileId>,
    n_opened: usize,
    /// The input that is being cut, and where its next chunk starts.
    cut: Option<(Source<'p>, u64)>,
    decoder: Decoder,
}

impl<'p> Parts<'p> {
    /// The parts of the inputs of `plan`, of which some are `saved`.
    pub(super) fn new(plan: &'p Plan, how: &'p job::Reading, saved: BTreeSet<FileId>) -> Self {
        Self {
            plan,
            how,
            saved,
            n_opened: 0,
            cut: None,
            decoder: Decoder::default(),
        }
    }

    /// Opens the next input.
    fn open(&mut self) -> Option<Part<'p>> {
        let input = self.plan.inputs.get(self.n_opened)?;
        let mut source = Source {
            input,
            file: FileId(u32::try_from(self.n_opened).expect("a plan has fewer than 2^32 inputs")),
            mapped: None,
        };
        self.n_opened += 1;
        let extent = match input.access {
            Access::Stdin | Access::Pipe => Extent::Whole,
            Access::File => match Mapped::open(&input.path, source.file, self.how.format) {
                Err(error) => Extent::Nothing(error),
                Ok(mapped) if self.saved.contains(&source.file) => {
                    source.mapped = Some(Arc::new(mapped));
                    Extent::Saved
                }
                Ok(mapped) => {
                    let can_be_cut = mapped.can_be_cut(self.how, &mut self.decoder);
                    source.mapped = Some(Arc::new(mapped));
                    if can_be_cut {
                        return Some(self.cut(source, 0));
                    }
                    Extent::Whole
                }
            },
        };
        Some(Part { source, extent })
    }

    /// The chunk of an input that starts at `start`.
    fn cut(&mut self, source: Source<'p>, start: u64) -> Part<'p> {
        let n_bytes = source
            .mapped
            .as_ref()
            .map_or(0, |mapped| mapped.map.len() as u64);
        let end = start.saturating_add(self.how.chunk_bytes.get());
        let end = if end < n_bytes {
            self.cut = Some((source.clone(), end));
            end
        } else {
            u64::MAX
        };
        Part {
            source,
            extent: Extent::Chunk(start..end),
        }
    }
}

impl<'p> Iterator for Parts<'p> {
    type Item = Part<'p>;

    fn next(&mut self) -> Option<Part<'p>> {
        match self.cut.take() {
            Some((source, start)) => Some(self.cut(source, start)),
            None => self.open(),
        }
    }
}

impl Mapped {
    /// Whether texts of captures stand in its bytes: it is an index, and not compressed.
    ///
    /// Those of a plain WARC do too, but far apart: each would be a page to read again.
    pub(super) fn holds_texts(&self) -> bool {
        self.first_lines.is_some()
    }

    /// Maps an input, and looks at its first bytes.
    pub(super) fn open(path: &Path, file: FileId, format: Option<InFormat>) -> Result<Self, Error> {
        let map = Map::open(path)?;
        let format = forced(source::sniff(&map[..map.len().min(SNIFFED)]), format);
        let first_lines = match (format.content, format.compression) {
            (Content::Cdx | Content::Cdxj, Compression::Plain) => {
                Some(Lines::of_first(format, file, &map))
            }
            _ => None,
        };
        Ok(Self {
            map: Arc::new(map),
            format,
            first_lines,
        })
    }

    /// Whether a thread can find a place to start at in the midst.
    fn can_be_cut(&self, how: &job::Reading, decoder: &mut Decoder) -> bool {
        match (self.format.content, self.format.compression) {
            (Content::Warc | Content::Cdx | Content::Cdxj, Compression::Plain) => true,
            (Content::Warc, Compression::Gzip) => {
                let chunk_bytes = how.chunk_bytes.get();
                let searched = 1..chunk_bytes.saturating_mul(SECOND_MEMBER);
                // Members are passed over in chunks only.
                how.digests == DigestMode::Declared
                    || self.map.len() as u64 <= chunk_bytes
                    || decoder.find_member(&self.map, searched, PREFIX).is_some()
            }
            _ => false,
        }
    }
}

/// What `--in-format` says in place of the first bytes; how the input is compressed is always seen.
pub(super) fn forced(seen: Format, format: Option<InFormat>) -> Format {
    let content = match format {
        None => seen.content,
        Some(InFormat::Warc) => Content::Warc,
        Some(InFormat::Cdx) => Content::Cdx,
        Some(InFormat::Cdxj) => Content::Cdxj,
    };
    Format { content, ..seen }
}
