//! What is wrong in a policy file, and where.

use std::ops::Range;
use std::path::Path;

/// A mistake: a byte offset, and what was expected there.
#[derive(Debug)]
pub(crate) struct Mistake {
    offset: usize,
    message: String,
}

/// What reading a part of a policy file gives.
pub(super) type Read<T> = Result<T, Mistake>;

impl Mistake {
    pub(super) fn at(span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        Self::at_offset(start(span), message)
    }

    pub(super) fn at_offset(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Default)]
pub(super) struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// What was read, or nothing, and then its mistake is kept.
    pub(super) fn note<T>(&mut self, read: Read<T>) -> Option<T> {
        read.map_err(|mistake| self.0.push(mistake)).ok()
    }

    pub(super) fn extend(&mut self, mistakes: impl IntoIterator<Item = Mistake>) {
        self.0.extend(mistakes);
    }

    /// All of them in the order of the file, if there are any.
    pub(super) fn none(mut self) -> Result<(), Vec<Mistake>> {
        self.0.sort_by_key(|mistake| mistake.offset);
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }
}

/// `path:line:column: message` for each, which stand in the order of the file.
pub(crate) fn messages(mistakes: &[Mistake], bytes: &[u8], path: &Path) -> Vec<String> {
    let mut place = Place::start();
    let mut tell = |mistake: &Mistake| {
        place.advance(bytes, mistake.offset);
        let Place { line, column, .. } = place;
        // One line each, whatever it quotes.
        let message = mistake.message.replace('\n', "\\n");
        format!("{}:{line}:{column}: {message}", path.display())
    };
    mistakes.iter().map(&mut tell).collect()
}

/// Line and column of an offset, both from 1, the column in characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    offset: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Place {
    /// The start of a file.
    pub(super) fn start() -> Self {
        Self {
            offset: 0,
            line: 1,
            column: 1,
        }
    }

    /// Goes on to `offset`, so that many places of a file are found in one pass.
    pub(super) fn advance(&mut self, bytes: &[u8], offset: usize) {
        let end = offset.min(bytes.len()).max(self.offset);
        let passed = &bytes[self.offset..end];
        let last_line = match memchr::memrchr(b'\n', passed) {
            Some(at) => {
                self.line += memchr::memchr_iter(b'\n', passed).count();
                self.column = 1;
                &passed[at + 1..]
            }
            None => passed,
        };
        let is_start_of_char = |byte: &&u8| **byte & 0xC0 != 0x80;
        self.column += last_line.iter().filter(is_start_of_char).count();
        self.offset = end;
    }
}

/// Where a span starts; what has none stands at the start of the file.
pub(super) fn start(span: Option<Range<usize>>) -> usize {
    span.map_or(0, |span| span.start)
}

/// `; did you mean ...` with the nearest of `known`, if one is near.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // What nobody types by mistake is not compared: the distance takes quadratic time.
    if name.len() > 64 {
        return String::new();
    }
    let nearest = known
        .into_iter()
        .map(|known| (distance(name, known), known))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((distance, known)) if distance <= 1 + known.len().max(name.len()) / 3 => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

/// Insertions, deletions, replacements and swaps of neighbours that make `a` of `b`, without case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_name() {
        let known = ["trailing-slash", "www", "scheme"];
        assert_eq!(
            did_you_mean("trailing-slsah", known),
            "; did you mean `trailing-slash`?"
        );
        assert_eq!(did_you_mean("WW", known), "; did you mean `www`?");
        assert_eq!(did_you_mean("something-else", known), "");
    }

    #[test]
    fn counts_lines_and_characters_from_one() {
        let text = "é = 1\nää = x\n".as_bytes();
        let mistakes = [4, 14, 15, 99].map(|at| Mistake::at_offset(at, "oops"));
        let messages = messages(&mistakes, text, Path::new("p"));
        assert_eq!(
            messages,
            ["p:1:4: oops", "p:2:6: oops", "p:2:7: oops", "p:3:1: oops"]
        );
    }
}
