//! Chunked bodies (RFC 9112 section 7.1), fed in pieces of any size.
//!
//! Archives hold three other things under `Transfer-Encoding: chunked`: bodies whose chunks the crawler took away
//! without saying so, bodies whose connection was cut, and broken ones. [`Chunked::outcome`] tells which.

/// Longest run of digits of a chunk size, leading zeros included.
const DIGITS_MAX: u8 = 16;

/// How the body turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The last chunk came.
    Whole,
    /// It ends within a chunk.
    Cut,
    /// It has no chunks, or some that are wrong: it is to be taken as it stands.
    NotChunked,
}

/// A decoder of chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunked {
    state: State,
    size: u64,
    n_digits: u8,
    has_chunk: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In the digits of a size.
    #[default]
    Size,
    /// Behind them, up to the line feed.
    Extension,
    /// In a chunk.
    Chunk,
    /// Behind it: a line end must come.
    ChunkEnd,
    /// At the start of a line behind the last chunk.
    Trailer,
    /// Within such a line.
    TrailerLine,
    /// Behind the empty line.
    Done,
    /// Where a size or a line end should stand, something else does.
    Wrong,
}

impl Chunked {
    /// Takes bytes of the body and gives those that chunks hold to `sink`.
    pub(super) fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(&[u8])) {
        while let Some(byte) = bytes.first() {
            let taken = match self.state {
                State::Chunk => self.take_chunk(bytes, sink),
                State::Extension | State::TrailerLine => self.skip_line(bytes),
                State::Done | State::Wrong => return,
                State::Size | State::ChunkEnd | State::Trailer => {
                    self.take(*byte);
                    1
                }
            };
            bytes = &bytes[taken..];
        }
    }

    /// How the body turned out, if it ends here.
    pub(super) fn outcome(&self) -> Outcome {
        match self.state {
            State::Wrong => Outcome::NotChunked,
            State::Done | State::Trailer | State::TrailerLine => Outcome::Whole,
            State::Chunk | State::ChunkEnd => Outcome::Cut,
            State::Size | State::Extension if self.has_chunk => Outcome::Cut,
            State::Size | State::Extension => Outcome::NotChunked,
        }
    }

    fn take_chunk(&mut self, bytes: &[u8], sink: &mut impl FnMut(&[u8])) -> usize {
        let n = usize::try_from(self.size).map_or(bytes.len(), |size| size.min(bytes.len()));
        sink(&bytes[..n]);
        self.size -= n as u64;
        if self.size == 0 {
            self.state = State::ChunkEnd;
        }
        n
    }

    fn skip_line(&mut self, bytes: &[u8]) -> usize {
        match memchr::memchr(b'\n', bytes) {
            None => bytes.len(),
            Some(end) => {
                self.take(b'\n');
                end + 1
            }
        }
    }

    fn take(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Size, _) if byte.is_ascii_hexdigit() && self.n_digits < DIGITS_MAX => {
                self.n_digits += 1;
                self.size = self.size << 4 | u64::from(hex_value(byte));
                State::Size
            }
            (State::Size, b'\r' | b' ' | b'\t' | b';') if self.n_digits > 0 => State::Extension,
            (State::Size, b'\n') if self.n_digits > 0 => self.start_chunk(),
            (State::Extension, _) => self.start_chunk(),
            (State::ChunkEnd, b'\r') => State::ChunkEnd,
            (State::ChunkEnd, b'\n') => State::Size,
            (State::Trailer, b'\n') => State::Done,
            (State::Trailer, b'\r') => State::Trailer,
            (State::Trailer, _) => State::TrailerLine,
            (State::TrailerLine, _) => State::Trailer,
            _ => State::Wrong,
        };
    }

    fn start_chunk(&mut self) -> State {
        self.has_chunk = true;
        self.n_digits = 0;
        if self.size == 0 {
            State::Trailer
        } else {
            State::Chunk
        }
    }
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &[u8], size: usize) -> (Vec<u8>, Outcome) {
        let mut chunked = Chunked::default();
        let mut out = Vec::new();
        for piece in body.chunks(size) {
            chunked.push(piece, &mut |bytes| out.extend_from_slice(bytes));
        }
        (out, chunked.outcome())
    }

    #[test]
    fn tells_whole_cut_and_missing_chunks_apart() {
        for (body, decoded, outcome) in [
            (&b"3\r\nabc\r\n0\r\n\r\n"[..], &b"abc"[..], Outcome::Whole),
            (
                b"3;x=y\r\nabc\r\n2 \r\nde\r\n0\r\nTrailer: x\r\n\r\n",
                b"abcde",
                Outcome::Whole,
            ),
            (b"3\nabc\n00\n\n", b"abc", Outcome::Whole),
            (b"3\r\nabc\r\n0\r\n", b"abc", Outcome::Whole),
            (b"0\r\n\r\n", b"", Outcome::Whole),
            (
                b"A\r\n0123456789\r\n0\r\n\r\ntail",
                b"0123456789",
                Outcome::Whole,
            ),
            (b"3\r\nab", b"ab", Outcome::Cut),
            (b"3\r\nabc", b"abc", Outcome::Cut),
            (b"3\r\nabc\r\n", b"abc", Outcome::Cut),
            (b"3\r\nabc\r\n5", b"abc", Outcome::Cut),
            (b"<html>", b"", Outcome::NotChunked),
            (b"", b"", Outcome::NotChunked),
            (b"face", b"", Outcome::NotChunked),
            (b"3\r\nabcdef", b"abc", Outcome::NotChunked),
            (b"11111111111111111\r\n", b"", Outcome::NotChunked),
            (b"ffffffffffffffff\r\nabc", b"abc", Outcome::Cut),
        ] {
            for size in 1..=body.len().max(1) {
                let got = decode(body, size);
                assert_eq!(got, (decoded.to_vec(), outcome), "{}", body.escape_ascii());
            }
        }
    }

    /// The slow, obvious twin: for clean bodies only.
    fn decode_naive(body: &[u8]) -> Vec<u8> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut out = Vec::new();
        let mut rest = body;
        loop {
            let end = rest.windows(2).position(|pair| pair == b"\r\n").unwrap();
            let size = usize::from_str_radix(&text(&rest[..end]), 16).unwrap();
            if size == 0 {
                return out;
            }
            out.extend_from_slice(&rest[end + 2..end + 2 + size]);
            rest = &rest[end + 2 + size + 2..];
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_naive_twin(chunks: Vec<Vec<u8>>, size in 1_usize..50) {
            let mut body = Vec::new();
            for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\n\r\n");
            let (out, outcome) = decode(&body, size);
            proptest::prop_assert_eq!(&out, &decode_naive(&body));
            proptest::prop_assert_eq!(out, chunks.concat());
            proptest::prop_assert_eq!(outcome, Outcome::Whole);
        }
    }
}
