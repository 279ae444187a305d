//! A head of lines `name: value`, as WARC and HTTP have it, fed in pieces of any size.
//!
//! Only the fields of a table are kept, and not more than [`KEPT`] bytes of them: ten million other fields, or one of
//! a gigabyte, are skimmed. Lines may end in LF alone, values may be folded, and a line without colon is passed over.

/// Bytes kept of a head; what does not fit is counted as overlong, never cut and used.
const KEPT: usize = 1 << 20;

/// Bytes kept of values that may repeat.
const REPEATED: usize = 1 << 16;

/// Fields of the longest table.
const FIELDS_MAX: usize = 20;

/// Every name of a table is shorter.
const NAME_MAX: usize = 32;

/// Which fields to keep, and how a head starts.
pub(super) struct Table {
    /// Lower-case names; a field's index in it is its handle.
    pub(super) names: &'static [&'static [u8]],
    /// The field that may stand several times: its values are joined by blanks.
    pub(super) repeatable: Option<usize>,
    /// Whether a first line is one.
    pub(super) is_start: fn(&[u8]) -> bool,
    /// Whether a head starts in a line: if not at the first line's start, the head before it was cut.
    pub(super) start_in: fn(&[u8]) -> Option<Start>,
    /// Longest first line.
    pub(super) first_line_max: usize,
}

/// Where in a line another head starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At this byte.
    At(usize),
    /// At this byte, if the next line repeats a field; else it is the end of a value.
    Perhaps(usize),
}

/// What a push came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All bytes were taken, the head goes on.
    More,
    /// The head ended after so many bytes.
    Ended(usize),
    /// The first line is none; so many bytes were taken.
    NotHead(usize),
    /// So many bytes were taken, and the last line of them starts a new head, at an offset from the old one's start.
    Restarts {
        /// Bytes taken.
        taken: usize,
        /// Offset of the new head from the old one's first byte.
        at: u64,
    },
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// The first line, a field, or nothing of use.
    Field,
    /// The end of the head.
    Empty,
    /// A first line that starts no head.
    NotFirst,
    /// The first line of another head, at an offset from the head's first byte.
    Restarts(u64),
}

/// A head.
pub(super) struct Fields {
    table: &'static Table,
    /// The fields whose names have so many bytes, a bit each.
    of_length: [u32; NAME_MAX],
    /// First line and values, one after the other.
    text: Vec<u8>,
    first: Span,
    values: [Option<Span>; FIELDS_MAX],
    repeated: Vec<u8>,
    /// The field that a folded line would go on with.
    open: Option<usize>,
    /// The start of a line that an earlier piece brought.
    line: Vec<u8>,
    is_skimmed: bool,
    /// The first lines of the head that [`Step::Restarts`] tells of, or that [`Start::Perhaps`] is about.
    next: Vec<u8>,
    /// The line after which this head may have ended, and the offset of the next one.
    suspect: Option<(u64, u64)>,
    n_bytes: u64,
    /// Offset of the line that is being read.
    line_start: u64,
    n_lines: u64,
    has_lf_lines: bool,
    is_odd: bool,
    overlong: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: usize,
    end: usize,
}

impl Fields {
    /// An empty head.
    pub(super) fn new(table: &'static Table) -> Self {
        assert!(table.names.len() <= FIELDS_MAX, "the longest table fits");
        let mut of_length = [0; NAME_MAX];
        for (field, name) in table.names.iter().enumerate() {
            of_length[name.len()] |= 1 << field;
        }
        Self {
            table,
            of_length,
            text: Vec::new(),
            first: Span::default(),
            values: [None; FIELDS_MAX],
            repeated: Vec::new(),
            open: None,
            line: Vec::new(),
            is_skimmed: false,
            next: Vec::new(),
            suspect: None,
            n_bytes: 0,
            line_start: 0,
            n_lines: 0,
            has_lf_lines: false,
            is_odd: false,
            overlong: 0,
        }
    }

    /// Forgets the last head, and starts the one that [`Step::Restarts`] told of: its first lines were taken.
    pub(super) fn begin_again(&mut self) {
        let lines = std::mem::take(&mut self.next);
        self.begin();
        for line in lines.split(|byte| *byte == b'\n') {
            self.take_line(line);
            self.n_bytes += line.len() as u64 + 1;
            self.line_start = self.n_bytes;
        }
        self.next = lines;
    }

    /// Forgets the last head.
    pub(super) fn begin(&mut self) {
        self.text.clear();
        self.first = Span::default();
        self.values = [None; FIELDS_MAX];
        self.repeated.clear();
        self.open = None;
        self.line.clear();
        self.is_skimmed = false;
        self.suspect = None;
        self.n_bytes = 0;
        self.line_start = 0;
        self.n_lines = 0;
        self.has_lf_lines = false;
        self.is_odd = false;
        self.overlong = 0;
    }

    /// Takes lines up to the empty one.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Step {
        let mut taken = 0;
        while let Some(end) = memchr::memchr(b'\n', &bytes[taken..]) {
            let line = &bytes[taken..taken + end];
            taken += end + 1;
            self.n_bytes += end as u64 + 1;
            let step = if self.line.is_empty() && !self.is_skimmed {
                self.take_line(line)
            } else {
                self.keep(line);
                self.take_kept_line()
            };
            self.line_start = self.n_bytes;
            match step {
                Line::Field => {}
                Line::Empty => return Step::Ended(taken),
                Line::NotFirst => return Step::NotHead(taken),
                Line::Restarts(at) => return Step::Restarts { taken, at },
            }
        }
        let rest = &bytes[taken..];
        self.n_bytes += rest.len() as u64;
        self.keep(rest);
        if self.n_lines == 0 && self.line.len() > self.table.first_line_max {
            return Step::NotHead(bytes.len());
        }
        Step::More
    }

    /// Takes what came of a line that no line end closed: the input ended in it. Says whether there is a first line.
    pub(super) fn finish(&mut self) -> bool {
        if !self.line.is_empty() && self.take_kept_line() == Line::NotFirst {
            return false;
        }
        self.n_lines > 0
    }

    /// The value of a field, empty if it is absent.
    pub(super) fn get(&self, field: usize) -> &[u8] {
        if self.table.repeatable == Some(field) {
            return &self.repeated;
        }
        self.values[field].map_or(b"", |span| &self.text[span.start..span.end])
    }

    /// The first line.
    pub(super) fn first_line(&self) -> &[u8] {
        &self.text[self.first.start..self.first.end]
    }

    /// Whether a first line was taken.
    pub(super) fn has_first_line(&self) -> bool {
        self.first.start < self.first.end
    }

    /// Whether there is no field of the table.
    pub(super) fn is_bare(&self) -> bool {
        self.values.iter().all(Option::is_none) && self.repeated.is_empty()
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, field: usize) -> bool {
        self.values[field].is_some()
    }

    /// Bytes of the head so far, the empty line included.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Whether a line ended in LF alone.
    pub(super) fn has_lf_lines(&self) -> bool {
        self.has_lf_lines
    }

    /// Whether a line has no colon, or a field stands twice.
    pub(super) fn is_odd(&self) -> bool {
        self.is_odd
    }

    /// Whether the field's value was too long to keep.
    pub(super) fn is_overlong(&self, field: usize) -> bool {
        self.overlong & (1 << field) != 0
    }

    /// Keeps the start of a line: its name at least.
    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT - self.line.len();
        self.is_skimmed |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take_kept_line(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.line);
        let outcome = self.take_line(&line);
        line.clear();
        self.line = line;
        self.is_skimmed = false;
        outcome
    }

    /// Takes a line without its LF.
    fn take_line(&mut self, raw: &[u8]) -> Line {
        let line = without_returns(raw);
        self.n_lines += 1;
        if self.n_lines > 1 && line.is_empty() {
            self.has_lf_lines |= raw.is_empty();
            return Line::Empty;
        }
        if let Some(restart) = self.restart(raw, line) {
            return restart;
        }
        self.has_lf_lines |= line.len() == raw.len();
        if self.n_lines == 1 {
            return self.take_first_line(line);
        }
        self.take_field(line);
        Line::Field
    }

    fn take_first_line(&mut self, line: &[u8]) -> Line {
        if self.is_skimmed || !(self.table.is_start)(line) {
            return Line::NotFirst;
        }
        self.first = self.store(line).unwrap_or_default();
        Line::Field
    }

    /// Whether another head starts in this line, or started in the line before.
    fn restart(&mut self, raw: &[u8], line: &[u8]) -> Option<Line> {
        if let Some((n_lines, at)) = self.suspect.take()
            && n_lines + 1 == self.n_lines
            && self.field_of(line).is_some_and(|field| self.has(field))
        {
            self.next.push(b'\n');
            self.next.extend_from_slice(raw);
            return Some(Line::Restarts(at));
        }
        if self.is_skimmed {
            return None;
        }
        let start = (self.table.start_in)(line)?;
        let (Start::At(index) | Start::Perhaps(index)) = start;
        if self.n_lines == 1 && index == 0 {
            return None;
        }
        let at = self.line_start + index as u64;
        self.next.clear();
        self.next.extend_from_slice(&raw[index..]);
        match start {
            Start::At(_) => Some(Line::Restarts(at)),
            Start::Perhaps(_) => {
                self.suspect = Some((self.n_lines, at));
                None
            }
        }
    }

    /// The field of the table that a line holds.
    fn field_of(&self, line: &[u8]) -> Option<usize> {
        self.field_named(&line[..memchr::memchr(b':', line)?])
    }

    /// Length and last byte leave one name to compare: half of WARC's start alike.
    fn field_named(&self, name: &[u8]) -> Option<usize> {
        let name = name.trim_ascii();
        let last = name.last()? | 0x20;
        let mut candidates = *self.of_length.get(name.len())?;
        while candidates != 0 {
            let field = candidates.trailing_zeros() as usize;
            let known = self.table.names[field];
            if known.last() == Some(&last) && name.eq_ignore_ascii_case(known) {
                return Some(field);
            }
            candidates &= candidates - 1;
        }
        None
    }

    fn take_field(&mut self, line: &[u8]) {
        if line.first().is_some_and(|byte| b" \t".contains(byte)) {
            return self.take_folded(line.trim_ascii());
        }
        self.open = None;
        let Some(colon) = memchr::memchr(b':', line) else {
            self.is_odd = true;
            return;
        };
        let Some(field) = self.field_named(&line[..colon]) else {
            return;
        };
        let value = line[colon + 1..].trim_ascii();
        if self.is_skimmed {
            self.overlong |= 1 << field;
        } else if self.table.repeatable == Some(field) {
            self.take_repeated(value);
        } else if self.values[field].is_some() || self.is_overlong(field) {
            self.is_odd = true;
        } else if let Some(span) = self.store(value) {
            self.values[field] = Some(span);
            self.open = Some(field);
        } else {
            self.overlong |= 1 << field;
        }
    }

    /// A folded line belongs to the value stored last, so that appending is enough.
    fn take_folded(&mut self, more: &[u8]) {
        let Some(field) = self.open else { return };
        let Some(mut span) = self.values[field] else {
            return;
        };
        if more.is_empty() {
            return;
        }
        if self.is_skimmed || self.text.len() + more.len() >= KEPT {
            self.overlong |= 1 << field;
            self.values[field] = None;
            self.open = None;
            return;
        }
        if span.start < span.end {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(more);
        span.end = self.text.len();
        self.values[field] = Some(span);
    }

    fn take_repeated(&mut self, value: &[u8]) {
        let value = unbracketed(value);
        if self.repeated.len() + value.len() < REPEATED {
            if !self.repeated.is_empty() {
                self.repeated.push(b' ');
            }
            self.repeated.extend_from_slice(value);
        }
    }

    fn store(&mut self, value: &[u8]) -> Option<Span> {
        if self.text.len() + value.len() > KEPT {
            return None;
        }
        let start = self.text.len();
        self.text.extend_from_slice(value);
        Some(Span {
            start,
            end: self.text.len(),
        })
    }
}

/// A line without its CR, of which there may be two: a file that passed through a text-mode copy.
fn without_returns(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b'\r'] = line {
        line = rest;
    }
    line
}

/// Without the `<>` around it, where both are there.
pub(super) fn unbracketed(value: &[u8]) -> &[u8] {
    value
        .strip_prefix(b"<")
        .and_then(|value| value.strip_suffix(b">"))
        .map_or(value, <[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: Table = Table {
        names: &[b"a", b"long-name", b"id"],
        repeatable: Some(2),
        is_start: |line| line.starts_with(b"HEAD"),
        start_in: |line| {
            let index = memchr::memmem::find(line, b"HEAD/")?;
            Some(if line[..index].ends_with(b" ") {
                Start::Perhaps(index)
            } else {
                Start::At(index)
            })
        },
        first_line_max: 20,
    };

    /// Step and values, whole and in pieces of every size.
    fn check(text: &[u8], step: Step, values: [&[u8]; 3]) {
        for size in 1..=text.len() {
            let mut fields = Fields::new(&TABLE);
            fields.begin();
            let mut taken = 0;
            let mut last = Step::More;
            for piece in text.chunks(size) {
                last = fields.push(piece);
                match last {
                    Step::More => taken += piece.len(),
                    Step::Ended(n) => last = Step::Ended(taken + n),
                    Step::NotHead(n) => last = Step::NotHead(taken + n),
                    Step::Restarts { taken: n, at } => {
                        last = Step::Restarts {
                            taken: taken + n,
                            at,
                        };
                    }
                }
                if last != Step::More {
                    break;
                }
            }
            assert_eq!(last, step, "in pieces of {size}: {}", text.escape_ascii());
            for (field, value) in values.into_iter().enumerate() {
                let got = fields.get(field);
                assert_eq!(got, value, "in pieces of {size}: {}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn reads_values_of_known_fields() {
        check(
            b"HEAD\r\nA: 1\r\nother: 2\r\nLONG-name :  x y \r\n\r\nbody",
            Step::Ended(43),
            [b"1", b"x y", b""],
        );
    }

    #[test]
    fn reads_bare_line_feeds_folds_and_repeats() {
        check(
            b"HEAD\nid: <x>\na:\n\tfolded\n  twice\nno colon\nid: y\na: second\n\n",
            Step::Ended(58),
            [b"folded twice", b"", b"x y"],
        );
    }

    #[test]
    fn reads_lines_that_end_in_two_returns() {
        check(
            b"HEAD\r\r\na: 1\r\r\n\r\r\n",
            Step::Ended(17),
            [b"1", b"", b""],
        );
    }

    #[test]
    fn refuses_what_does_not_start_as_a_head() {
        check(b"NONE\n\n", Step::NotHead(5), [b"", b"", b""]);
    }

    #[test]
    fn notices_a_head_within_a_head() {
        let at = Step::Restarts { taken: 19, at: 13 };
        check(b"HEAD\na: 1\nlonHEAD/\na: 2\n\n", at, [b"1", b"", b""]);
        let at = Step::Restarts { taken: 19, at: 8 };
        check(b"HEAD\na: HEAD/\na: 2\n\n", at, [b"HEAD/", b"", b""]);
        let end = Step::Ended(28);
        check(
            b"HEAD\na: HEAD/\nlong-name: 2\n\n",
            end,
            [b"HEAD/", b"2", b""],
        );
    }

    #[test]
    fn skims_what_is_too_long() {
        for size in [1 << 16, 1 << 22] {
            let mut fields = Fields::new(&TABLE);
            let long = vec![b'x'; 1 << 22];
            fields.push(b"HEAD\nother: ");
            for piece in long.chunks(size) {
                assert_eq!(fields.push(piece), Step::More);
            }
            fields.push(b"\na: ");
            for piece in long.chunks(size) {
                assert_eq!(fields.push(piece), Step::More);
            }
            assert_eq!(fields.push(b"\nlong-name: y\n\n"), Step::Ended(15));
            assert_eq!((fields.get(0), fields.get(1)), (&b""[..], &b"y"[..]));
            assert!(fields.is_overlong(0) && !fields.is_overlong(1));
            assert!(fields.text.capacity() + fields.line.capacity() < 5 * KEPT);
            // Whole in one piece.
            let all = [b"HEAD\nother: ", &long[..], b"\na: ", &long, b"\n\n"].concat();
            fields.begin();
            assert_eq!(fields.push(&all), Step::Ended(all.len()));
            assert!(fields.is_overlong(0) && fields.text.capacity() < 5 * KEPT);
        }
    }
}
