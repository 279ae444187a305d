//! Reads CDX: lines of columns, named by a header line or told by their values.
//! Must never touch files or threads, nor call another format's reader.
//!
//! ```text
//! cut the line at each delimiter
//! if there are as many parts as columns: one part each
//! if there are more, a column has delimiters in it: the key takes what stands before the date,
//!     the URL (or else the media type, redirect or file name) takes the rest; the values say whether that fits
//! without a header line: the first known order of columns that the values fit
//! ```

mod columns;
mod parts;

use crate::capture::{Event, Warning};
use crate::scan::cdx::columns::{KNOWN, Layout, header};
use crate::scan::cdx::parts::{Fit, Parts, cut, fits};
use crate::scan::index_line::{Scratch, Statement};
use crate::scan::lines::{self, Line, Parse};

/// A CDX file, piece by piece.
pub type Reader = lines::Reader<Parser>;

/// Reads the lines of a CDX.
#[derive(Debug, Default)]
pub struct Parser {
    learnt: Learnt,
    /// What was taken for granted at the start.
    assumed: Learnt,
    /// Where the line is cut.
    cuts: Vec<usize>,
    /// The file name of the last good line, to know a cut one by.
    last_file: LastFile,
    scratch: Scratch,
}

/// How the lines before decide what a line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Learnt {
    /// As the last header line said.
    stated: Option<Layout>,
    /// Which of `KNOWN` the last line without header had.
    guessed: usize,
}

/// The file name of the last good line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LastFile {
    /// Empty before the first line.
    Known(Vec<u8>),
    /// It stands in a part of the file that was not read.
    Elsewhere,
    /// The same, and it was asked for.
    Missed,
}

impl Default for LastFile {
    fn default() -> Self {
        Self::Known(Vec::new())
    }
}

impl Parse for Parser {
    fn further_on(&self) -> Self {
        Self {
            learnt: self.learnt.clone(),
            assumed: self.learnt.clone(),
            last_file: LastFile::Elsewhere,
            ..Self::default()
        }
    }

    fn next(&self) -> Self {
        Self {
            last_file: self.last_file.clone(),
            ..self.further_on()
        }
    }

    fn follows(&self, before: &Self) -> bool {
        self.assumed == before.learnt && self.last_file != LastFile::Missed
    }

    fn line(&mut self, line: Line<'_>, sink: &mut impl FnMut(Event<'_>)) {
        let mut text = line.text;
        if line.place.is_first() {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if text.trim_ascii().is_empty() || matches!(text[0], b'!' | b'#') {
            return sink(Event::Ignored);
        }
        if text.iter().all(|byte| *byte == 0) {
            return sink(Event::Warning(Warning::ZeroPadding));
        }
        if let Some(layout) = header(text) {
            self.learnt.stated = Some(layout);
            return sink(Event::Ignored);
        }
        match self.read(text) {
            Ok(statement) if !line.is_terminated && self.is_cut(text, &statement) => {
                sink(line.place.damage("incomplete last line"));
            }
            Ok(statement) => {
                self.last_file.set(statement.file);
                statement.emit(line.place, &mut self.scratch, sink);
            }
            Err(what) => sink(line.place.damage(what)),
        }
    }

    fn is_whole(&mut self, text: &[u8]) -> bool {
        let Some(layout) = &self.learnt.stated else {
            return self.guess_exactly(text).is_some();
        };
        cut(text, layout.delimiter, &mut self.cuts);
        let parts = Parts::new(text, &self.cuts);
        parts.len() == layout.columns.len() && fits(&parts.spread(&layout.columns), Fit::Strict)
    }
}

impl LastFile {
    fn set(&mut self, file: &[u8]) {
        match self {
            Self::Known(last) => {
                last.clear();
                last.extend_from_slice(file);
            }
            Self::Elsewhere => *self = Self::Known(file.to_vec()),
            Self::Missed => {}
        }
    }

    fn get(&mut self) -> &[u8] {
        if *self == Self::Elsewhere {
            *self = Self::Missed;
        }
        match self {
            Self::Known(last) => last,
            Self::Elsewhere | Self::Missed => b"",
        }
    }
}

impl Parser {
    fn read<'l>(&mut self, text: &'l [u8]) -> Result<Statement<'l>, &'static str> {
        match &self.learnt.stated {
            Some(layout) => {
                cut(text, layout.delimiter, &mut self.cuts);
                Parts::new(text, &self.cuts).place(&layout.columns)
            }
            None => self
                .guess(text)
                .ok_or("not a line of CDX: no order of columns fits it"),
        }
    }

    /// Finds the order of columns of a line without header.
    fn guess<'l>(&mut self, text: &'l [u8]) -> Option<Statement<'l>> {
        self.guess_exactly(text).or_else(|| {
            // Blanks inside columns: only in the orders that archives have.
            let parts = Parts::new(text, &self.cuts);
            KNOWN[..3]
                .iter()
                .find_map(|columns| parts.place_with_slack(columns))
        })
    }

    /// The same for a line without blanks inside columns; the last line's order is tried first.
    fn guess_exactly<'l>(&mut self, text: &'l [u8]) -> Option<Statement<'l>> {
        cut(text, b' ', &mut self.cuts);
        let parts = Parts::new(text, &self.cuts);
        let as_known = |index: usize| {
            (KNOWN[index].len() == parts.len() && !parts.has_empty())
                .then(|| parts.spread(&KNOWN[index]))
                .filter(|statement| fits(statement, Fit::Strict))
        };
        let index = [self.learnt.guessed]
            .into_iter()
            .chain(0..KNOWN.len())
            .find(|index| as_known(*index).is_some())?;
        self.learnt.guessed = index;
        as_known(index)
    }

    /// Whether a line without line end stops inside its last column.
    fn is_cut(&mut self, text: &[u8], statement: &Statement<'_>) -> bool {
        let id = statement.record_id;
        let ends_in_file = !statement.file.is_empty() && text.ends_with(statement.file);
        let last_file = self.last_file.get();
        let is_shorter = statement.file.len() < last_file.len();
        (ends_in_file && is_shorter && last_file.starts_with(statement.file))
            || (id.starts_with(b"<") && !id.ends_with(b">"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::FileId;
    use crate::scan::index_line::tests::told;
    use crate::scan::lines::LINE_MAX;
    use crate::source::Piece;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = Reader::new(FileId(0));
        let mut found = Vec::new();
        let mut offset = 0;
        for bytes in pieces {
            reader.push(Piece::Bytes { bytes, offset }, &mut |event| {
                found.push(format!("{event:?}"));
            });
            offset += bytes.len() as u64;
        }
        reader.finish(&mut |event| found.push(format!("{event:?}")));
        found
    }

    /// What the lines tell, without the record events.
    fn check(text: &str, expected: &[&str]) {
        let mut reader = Reader::new(FileId(0));
        let mut found = Vec::new();
        let mut sink = |event: Event<'_>| {
            if !matches!(event, Event::Record { .. }) {
                found.push(told(&event));
            }
        };
        let bytes = text.as_bytes();
        reader.push(Piece::Bytes { bytes, offset: 0 }, &mut sink);
        reader.finish(&mut sink);
        assert_eq!(found, expected, "{text}");
    }

    const DIGEST: &str = "ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ";
    const A: &str =
        "http://a.com/ 2024-05-01T12:00:00Z Some(200) text/html Unchecked 900+Some(500) a.warc.gz";
    const A_WITHOUT_LENGTH: &str =
        "http://a.com/ 2024-05-01T12:00:00Z Some(200) text/html Unchecked 900+None a.warc.gz";

    #[test]
    fn takes_columns_from_the_header_line() {
        for (header, line, expected) in [
            (
                " CDX N b a m s k r M S V g",
                "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - - 500 900 a.warc.gz",
                A,
            ),
            (
                " CDX N b a m s k r V g",
                "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - 900 a.warc.gz",
                A_WITHOUT_LENGTH,
            ),
            (
                " CDX a b a m s k r M V g u",
                "x 20240501120000 http://a.com/ text/html 200 DIGEST - - 900 a.warc.gz <urn:uuid:1>",
                A_WITHOUT_LENGTH,
            ),
            (
                "CDX g V S k s m a b",
                "a.warc.gz 900 500 DIGEST 200 text/html http://a.com/ 20240501120000",
                A,
            ),
            (
                "\tCDX\tb\ta\tm\ts\tk\tS\tV\tg",
                "20240501120000\thttp://a.com/\ttext/html\t200\tDIGEST\t500\t900\ta.warc.gz",
                A,
            ),
        ] {
            let line = line.replace("DIGEST", DIGEST);
            check(&format!("{header}\r\n{line}\r\n"), &["Ignored", expected]);
        }
    }

    #[test]
    fn tells_columns_without_header_line() {
        for line in [
            "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - - 500 900 a.warc.gz",
            "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - - 500 900 a.warc.gz 1 2 b.warc.gz",
        ] {
            check(&line.replace("DIGEST", DIGEST), &[A]);
        }
        for line in [
            "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - 900 a.warc.gz",
            "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - - 900 a.warc.gz",
            "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST - 900 a.warc.gz 1 2 b.warc.gz",
        ] {
            check(&line.replace("DIGEST", DIGEST), &[A_WITHOUT_LENGTH]);
        }
        let of_server = "com,a)/ 20240501120000 http://a.com/ text/html 200 DIGEST 500";
        check(
            &of_server.replace("DIGEST", DIGEST),
            &["http://a.com/ 2024-05-01T12:00:00Z Some(200) text/html Unchecked 0+Some(500) "],
        );
    }

    #[test]
    fn finds_columns_round_blanks_in_one() {
        for (line, url, mime, file) in [
            (
                "com,a)/ 20240501120000 http://a.com/b c d text/html 200 D - - 5 9 f",
                "http://a.com/b c d",
                "text/html",
                "f",
            ),
            (
                "com,a)/b c 20240501120000 http://a.com/b c text/html 200 D - - 5 9 f",
                "http://a.com/b c",
                "text/html",
                "f",
            ),
            (
                "com,a)/b c 20240501120000 http://a.com/b%20c text/html 200 D - - 5 9 f",
                "http://a.com/b%20c",
                "text/html",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/b  c/d text/html 200 D - - 5 9 f",
                "http://a.com/b  c/d",
                "text/html",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/ text/html; charset=utf-8 200 D - - 5 9 f",
                "http://a.com/",
                "text/html; charset=utf-8",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/ text/html  200 D - - 5 9 f",
                "http://a.com/",
                "text/html",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/b c text 200 D - - 5 9 f",
                "http://a.com/b c",
                "text",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/ text/html 200 D http://a.com/x y - 5 9 f",
                "http://a.com/",
                "text/html",
                "f",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/ text/html 200 D - - 5 9 my crawl.warc.gz",
                "http://a.com/",
                "text/html",
                "my crawl.warc.gz",
            ),
        ] {
            let line = line.replace(" D ", &format!(" {DIGEST} "));
            let expected =
                format!("{url} 2024-05-01T12:00:00Z Some(200) {mime} Unchecked 9+Some(5) {file}");
            check(&line, &[&expected]);
            check(
                &format!(" CDX N b a m s k r M S V g\n{line}"),
                &["Ignored", &expected],
            );
        }
    }

    #[test]
    fn bad_lines_are_damage_and_reading_goes_on() {
        let good = format!(
            "com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz\n"
        );
        for (bad, what) in [
            (
                "com,a)/ 20240501120000 http://a.com/",
                "fewer columns than the header line names",
            ),
            (
                "WARNING: something of another tool that has quite a few words in it",
                "more columns than the header line names, and no telling which is which",
            ),
            (
                "a line of eleven words by some tool that is odd",
                "no URL, or no number where status, length or offset should stand",
            ),
            (
                "com,a)/ 20240501120000 - text/html 200 X - - 500 900 a.warc.gz",
                "no URL, or no number where status, length or offset should stand",
            ),
            (
                "com,a)/ 20240501120000 http://a.com/ text/html 200 X - - 500 99999999999999999999 a.warc.gz",
                "no URL, or no number where status, length or offset should stand",
            ),
        ] {
            let damage = format!("line 3: {what}");
            let text = format!(" CDX N b a m s k r M S V g\n{good}{bad}\n{good}");
            check(&text, &["Ignored", A, &damage, A]);
            let text = format!("{good}{good}{bad}\n{good}");
            check(
                &text,
                &[
                    A,
                    A,
                    "line 3: not a line of CDX: no order of columns fits it",
                    A,
                ],
            );
        }
        check(
            " CDX N b m\nx 1 2\n",
            &[
                "Ignored",
                "line 2: the header line names no column of original URLs",
            ],
        );
    }

    #[test]
    fn a_last_line_that_stops_short_is_damage() {
        let good = format!(
            "com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz\n"
        );
        let whole = good.trim_end();
        check(&format!("{good}{whole}"), &[A, A]);
        for cut in 1..whole.len() {
            let text = format!("{good}{}", &whole[..cut]);
            let mut reader = Reader::new(FileId(0));
            let mut n_captures = 0;
            let mut n_damage = 0;
            let mut sink = |event: Event<'_>| match event {
                Event::Capture(_) => n_captures += 1,
                Event::Damage(_) => n_damage += 1,
                _ => {}
            };
            let bytes = text.as_bytes();
            reader.push(Piece::Bytes { bytes, offset: 0 }, &mut sink);
            reader.finish(&mut sink);
            assert_eq!((n_captures, n_damage), (1, 1), "{text}");
        }
    }

    #[test]
    fn odd_lines_that_are_no_captures_are_passed() {
        check(
            "!meta {}\n# remark\n\n \r\n\0\0\0\0",
            &[
                "Ignored",
                "Ignored",
                "Ignored",
                "Ignored",
                "warning zero-padding",
            ],
        );
    }

    #[test]
    fn a_bad_date_is_unknown() {
        check(
            &format!(
                " CDX N b a m s k r M S V g\ncom,a)/ 20240231120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz"
            ),
            &[
                "Ignored",
                "warning bad-date",
                &A.replace("2024-05-01T12:00:00Z", ""),
            ],
        );
    }

    #[test]
    fn lines_beyond_the_limit_are_skimmed() {
        let good = format!(
            "com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz\n"
        );
        let long = vec![b'x'; LINE_MAX + 1];
        let found = events(&[
            good.as_bytes(),
            &long[..9],
            &long[9..],
            b"\n",
            good.as_bytes(),
        ]);
        let whole = events(&[&[good.as_bytes(), &long, b"\n", good.as_bytes()].concat()]);
        assert_eq!(found, whole);
        assert_eq!(found.len(), 5);
        let length = format!("length: Some({})", LINE_MAX + 2);
        assert!(
            found[2].contains(&length) && found[2].contains("longer than"),
            "{}",
            found[2]
        );
    }

    #[test]
    fn lost_bytes_cut_the_line_they_lie_in() {
        let mut reader = Reader::compressed(FileId(0));
        let mut found = Vec::new();
        let mut sink = |event: Event<'_>| found.push(told(&event));
        let good = format!(
            "com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz\n"
        );
        reader.push(
            Piece::Bytes {
                bytes: &good.as_bytes()[..50],
                offset: 0,
            },
            &mut sink,
        );
        reader.push(
            Piece::Lost {
                offset: 7,
                length: Some(9),
                what: "bad member",
            },
            &mut sink,
        );
        reader.push(
            Piece::Bytes {
                bytes: good.as_bytes(),
                offset: 16,
            },
            &mut sink,
        );
        reader.push(
            Piece::MemberEnd {
                offset: 16,
                length: 60,
            },
            &mut sink,
        );
        reader.push(
            Piece::Bytes {
                bytes: b"stray\n",
                offset: 76,
            },
            &mut sink,
        );
        assert_eq!(found[..3], ["line 1: bad member", "response", A]);
        assert!(found[3].starts_with("line 3: "), "{}", found[3]);
    }

    #[test]
    fn a_member_that_ends_without_line_feed_ends_a_line_only_if_both_parts_are_lines() {
        let line = format!(
            "com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz"
        );
        for (members, n_captures) in [
            (vec![line.clone(), line.clone(), line.clone()], 3),
            (vec![line[..40].to_owned(), line[40..].to_owned()], 1),
            (
                vec![line[..line.len() - 3].to_owned(), format!(".gz\n{line}")],
                2,
            ),
        ] {
            let mut reader = Reader::compressed(FileId(0));
            let mut found = Vec::new();
            let mut sink = |event: Event<'_>| match event {
                Event::Record { .. } => {}
                event => found.push(told(&event)),
            };
            for (index, member) in members.iter().enumerate() {
                let offset = index as u64 * 100;
                let bytes = member.as_bytes();
                reader.push(Piece::Bytes { bytes, offset }, &mut sink);
                reader.push(
                    Piece::MemberEnd {
                        offset,
                        length: 100,
                    },
                    &mut sink,
                );
            }
            reader.finish(&mut sink);
            assert_eq!(found.len(), n_captures, "{found:?}");
            assert!(
                found.iter().all(|told| told.starts_with("http://a.com/ ")),
                "{found:?}"
            );
        }
    }

    /// Lines of CDX letters, good ones among them.
    fn any_index() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            Just(format!("com,a)/ 20240501120000 http://a.com/ text/html 200 {DIGEST} - - 500 900 a.warc.gz\n").into_bytes()),
            Just(b" CDX N b a m s k r M S V g\n".to_vec()),
            Just(b" CDX a b a m s k r M V g u\n".to_vec()),
            "( |[a-c0-9]|[0-9]{14}|-|/|[a-z]{3}/[a-z]{3}|\r|\n){0,40}\n?".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..60),
        ];
        proptest::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(bytes in any_index(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..9)) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in at.into_iter().chain([bytes.len()]) {
                if to > from {
                    pieces.push(&bytes[from..to]);
                }
                from = to;
            }
            prop_assert_eq!(events(&pieces), events(&[&bytes]));
        }

        #[test]
        fn every_line_is_accounted_for(bytes in any_index()) {
            let n_lines = bytes.strip_suffix(b"\n").map_or_else(
                || if bytes.is_empty() { 0 } else { bytes.split(|byte| *byte == b'\n').count() },
                |lines| lines.split(|byte| *byte == b'\n').count(),
            );
            let found = events(&[&bytes]);
            let is_one = |event: &&String| ["Record", "Damage", "Ignored", "Warning(ZeroPadding)"].iter().any(|name| event.starts_with(name));
            prop_assert_eq!(found.iter().filter(is_one).count(), n_lines);
        }
    }
}
