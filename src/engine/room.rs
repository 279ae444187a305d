//! How much a run will hold, asked before it reads for hours: the begin of some inputs is read, and taken for the rest.
//! Must never refuse what may fit.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::collect::{Collector, Holds};
use super::parts::{Mapped, Source};
use super::plan::{Access, Input, Plan};
use super::read::{Setting, Worker};
use super::readers::{Reader, bytes_of, holds};
use crate::capture::FileId;
use crate::source::Piece;

/// Inputs of fewer bytes in all are read before anybody has waited for an answer.
const BYTES_MIN: u64 = 64 << 20;
/// Inputs that are looked at; the others are taken to be like these.
const INPUTS_MAX: usize = 16;
/// Bytes of an input that are looked at, as stored.
const STORED_MAX: u64 = 1 << 20;
/// The same, inflated: a bomb is no help.
const INFLATED_MAX: u64 = 16 << 20;
/// The begin of an archive may be nothing like the rest; lines of an index are all alike.
const RECORDS_DIVISOR: u64 = 2;

/// How many captures there will be, and how many bytes of rows and text; too few rather than too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) n_rows: u64,
    pub(super) n_bytes: u64,
}

impl Expected {
    /// Of all inputs, if they are large enough for anybody to ask.
    pub(super) fn of(plan: &Plan, setting: Setting<'_>) -> Self {
        let files = files(plan);
        let n_bytes: u64 = files.iter().map(|file| file.n_bytes).sum();
        if n_bytes < BYTES_MIN {
            return Self::default();
        }
        Self::of_files(&files, setting)
    }

    fn of_files(files: &[File<'_>], setting: Setting<'_>) -> Self {
        let mut worker = Worker::new(setting);
        let (mut expected, mut n_looked) = (Self::default(), 0);
        for file in files
            .iter()
            .step_by(files.len().div_ceil(INPUTS_MAX).max(1))
        {
            let of_file = worker.expect(file);
            expected.n_rows += of_file.n_rows;
            expected.n_bytes += of_file.n_bytes;
            n_looked += file.n_bytes;
        }
        let n_all = files.iter().map(|file| file.n_bytes).sum();
        expected.times(n_all, n_looked)
    }

    /// `n_all / n_some` times as many.
    fn times(self, n_all: u64, n_some: u64) -> Self {
        let times = |n: u64| {
            let product = u128::from(n) * u128::from(n_all);
            u64::try_from(product / u128::from(n_some.max(1))).unwrap_or(u64::MAX)
        };
        Self {
            n_rows: times(self.n_rows),
            n_bytes: times(self.n_bytes),
        }
    }
}

/// An input whose length is known.
#[derive(Debug)]
struct File<'p> {
    file: FileId,
    input: &'p Input,
    n_bytes: u64,
}

fn files(plan: &Plan) -> Vec<File<'_>> {
    let inputs = plan.inputs.iter().zip(0..);
    let files = inputs.filter(|(input, _)| input.access == Access::File);
    files
        .filter_map(|(input, file)| {
            let n_bytes = std::fs::metadata(&input.path).ok()?.len();
            Some(File {
                file: FileId(file),
                input,
                n_bytes,
            })
        })
        .collect()
}

impl Worker<'_> {
    /// What an input will give, by its begin; nothing, where that does not tell.
    fn expect(&mut self, file: &File<'_>) -> Expected {
        let format = self.setting.how.format;
        let mapped = Mapped::open(&file.input.path, file.file, format).ok();
        let source = Source {
            input: file.input,
            file: file.file,
            mapped: mapped.map(Arc::new),
        };
        let Some(mapped) = source.mapped.as_deref() else {
            return Expected::default();
        };
        let format = mapped.format;
        let options = self.setting.warc_options();
        let Ok(mut reader) = Reader::new(format, file.file, options) else {
            return Expected::default();
        };
        let mut collector = self.setting.collector(&source, format);
        let (mut stored, mut inflated) = (0, 0);
        let (mut n_stored, mut seen) = (0, Expected::default());
        let decoded = self
            .decoder
            .pieces(&mut &**mapped.map, format.compression, |piece| {
                reader.push(piece, &mut |event| collector.take(&event));
                let (more_stored, more_inflated) = bytes_of(piece, format.compression);
                stored += more_stored;
                inflated += more_inflated;
                if more_stored > 0 || matches!(piece, Piece::MemberEnd { .. }) {
                    (n_stored, seen) = (stored, so_far(&collector));
                }
                if stored < STORED_MAX && inflated < INFLATED_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
        let divisor = match holds(format) {
            Holds::Records => RECORDS_DIVISOR,
            Holds::IndexLines => 1,
        };
        match decoded {
            Ok(()) if n_stored > 0 => seen.times(file.n_bytes, n_stored * divisor),
            _ => Expected::default(),
        }
    }
}

fn so_far(collector: &Collector<'_>) -> Expected {
    Expected {
        n_rows: collector.n_rows() as u64,
        n_bytes: collector.n_row_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::catalog::saved::Mark;
    use crate::engine::plan::inputs;
    use crate::engine::read::Decoding;
    use crate::engine::{Archive, Reading, Talk};
    use crate::policy::Policy;
    use crate::scan::warc::VisibleText;

    #[test]
    fn expects_of_an_index_what_it_gives() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from(" CDX N b a m s k r M S V g\n");
        for nth in 0..40_000 {
            writeln!(
                text,
                "k)/ 20240101000000 http://a.test/{nth:08} text/html 200 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - - 7 {nth} a.warc.gz"
            )
            .unwrap();
        }
        for host in ["a.test", "b.test"] {
            let text = text.replace("a.test", host);
            std::fs::write(folder.path().join(host), text).unwrap();
        }
        let how = Reading::of(vec![folder.path().into()]);
        let plan = inputs(&how.inputs);
        let policy = Policy::load("safe@1").unwrap();
        let setting = Setting {
            policy: &policy,
            how: &how,
            text: VisibleText::Skip,
            decoding: Decoding::Inline,
        };
        let expected = Expected::of_files(&files(&plan), setting);
        let (talk, text) = (Talk::default(), VisibleText::Skip);
        let archive = Archive::read(&plan, &policy, &how, text, talk).unwrap();
        let catalog = archive.catalog();
        let (all, n_rows) = (catalog.saved_bytes(Mark::default()), catalog.len() as u64);
        assert_eq!(n_rows, 80_000);
        // Numbers are longer further on.
        assert!(expected.n_rows.abs_diff(n_rows) < 800, "{expected:?}");
        assert!(
            expected.n_bytes.abs_diff(all) < all / 50,
            "{expected:?} {all}"
        );
    }
}
