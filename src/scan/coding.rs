//! Content codings (RFC 9110 section 8.4.1), decoded as a stream within a limit against bombs.

use super::http::without_parameters;

use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, HeapAlloc, HuffmanCode};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation as _};

/// Codings of one body that are followed; nobody uses more than two.
const CODINGS_MAX: usize = 4;

/// Bytes of a stage's output buffer.
const BUFFER: usize = 1 << 15;

/// Decoded bytes that any body may give, and those it may give per stored byte beyond.
const DECODED_MAX: u64 = 64 << 20;
const RATIO_MAX: u64 = 256;

/// Largest zstd window, 8 MiB, as RFC 9659 has it.
const WINDOW_LOG_MAX: u32 = 23;

/// Decodes the content codings of one body after the other.
#[derive(Default)]
pub(super) struct Coding {
    /// Those of this body, in the order in which they are undone.
    stages: Vec<Stage>,
    /// Those of earlier bodies: a decoder costs more to make than most bodies cost to decode.
    idle: Vec<Stage>,
    taken: u64,
    given: u64,
    has_failed: bool,
}

/// What a `Content-Encoding` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Nothing is encoded.
    Identity,
    /// The body is to be decoded.
    Encoded,
    /// A coding that is not known here.
    Unknown,
}

impl Coding {
    /// Starts a body with this `Content-Encoding`.
    pub(super) fn begin(&mut self, content_encoding: &[u8]) -> Start {
        let codings = content_encoding
            .split(|byte| *byte == b',')
            .map(without_parameters)
            .filter(|coding| !is_identity(coding));
        self.idle.append(&mut self.stages);
        (self.taken, self.given, self.has_failed) = (0, 0, false);
        let mut kinds = [Kind::Gzip; CODINGS_MAX];
        let mut n = 0;
        for coding in codings {
            match (Kind::of(coding), kinds.get_mut(n)) {
                (Some(kind), Some(place)) => *place = kind,
                _ => return Start::Unknown,
            }
            n += 1;
        }
        // The coding named last was applied last, and is undone first.
        for kind in kinds[..n].iter().rev() {
            let stage = self.stage(*kind);
            self.stages.push(stage);
        }
        if n == 0 {
            Start::Identity
        } else {
            Start::Encoded
        }
    }

    /// A decoder that stands at the start of a body.
    fn stage(&mut self, kind: Kind) -> Stage {
        let index = self
            .idle
            .iter()
            .position(|stage| stage.state.kind() == kind);
        match index {
            None => Stage::new(kind),
            Some(index) => {
                let mut stage = self.idle.swap_remove(index);
                stage.begin();
                stage
            }
        }
    }

    /// Takes bytes of the body and gives decoded ones to `sink`.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl FnMut(&[u8])) {
        if self.has_failed {
            return;
        }
        self.taken += bytes.len() as u64;
        let limit = DECODED_MAX + RATIO_MAX * self.taken;
        let given = &mut self.given;
        let mut count = |bytes: &[u8]| {
            *given += bytes.len() as u64;
            sink(bytes);
            *given <= limit
        };
        self.has_failed = !run(&mut self.stages, bytes, &mut count);
    }

    /// Whether the body could be decoded, if it ends here. A body of no bytes can.
    pub(super) fn is_decoded(&self) -> bool {
        let is_ended = || self.stages.iter().all(|stage| stage.is_ended);
        self.taken == 0 || !self.has_failed && is_ended()
    }
}

/// Sends bytes through the stages; their number bounds the recursion. False where a stage or the sink refuses.
fn run(stages: &mut [Stage], bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    match stages.split_first_mut() {
        None => bytes.is_empty() || sink(bytes),
        Some((first, rest)) => first.push(bytes, &mut |decoded| run(rest, decoded, sink)),
    }
}

fn is_identity(coding: &[u8]) -> bool {
    coding.is_empty()
        || coding.eq_ignore_ascii_case(b"identity")
        || coding.eq_ignore_ascii_case(b"none")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Kind {
    fn of(coding: &[u8]) -> Option<Self> {
        const NAMES: [(&[u8], Kind); 5] = [
            (b"gzip", Kind::Gzip),
            (b"x-gzip", Kind::Gzip),
            (b"deflate", Kind::Deflate),
            (b"br", Kind::Brotli),
            (b"zstd", Kind::Zstd),
        ];
        NAMES
            .iter()
            .find(|(name, _)| coding.eq_ignore_ascii_case(name))
            .map(|(_, kind)| *kind)
    }
}

/// One decoder and its output buffer.
struct Stage {
    state: State,
    out: Vec<u8>,
    /// Whether the input may end here.
    is_ended: bool,
}

enum State {
    Gzip(Decompress),
    /// zlib or, as some servers send it, raw deflate: the first two bytes tell, of which one may have come.
    Deflate {
        decompress: Decompress,
        first: Option<u8>,
        is_known: bool,
    },
    Brotli(Box<BrotliState<HeapAlloc<u8>, HeapAlloc<u32>, HeapAlloc<HuffmanCode>>>),
    /// `None` where there was no memory for it.
    Zstd(Option<ZstdDecoder<'static>>),
}

/// What a decoder did with some bytes.
struct Turn {
    taken: usize,
    given: usize,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Open,
    Ended,
    Bad,
}

impl Stage {
    fn new(kind: Kind) -> Self {
        Self {
            state: State::new(kind),
            out: vec![0; BUFFER],
            is_ended: false,
        }
    }

    fn begin(&mut self) {
        self.is_ended = false;
        match &mut self.state {
            State::Gzip(decompress) => decompress.reset(true),
            State::Deflate {
                first, is_known, ..
            } => (*first, *is_known) = (None, false),
            State::Zstd(decoder) => {
                let is_ready = decoder
                    .as_mut()
                    .is_some_and(|decoder| decoder.reinit().is_ok());
                *decoder = decoder.take().filter(|_| is_ready);
            }
            brotli @ State::Brotli(_) => *brotli = State::new(Kind::Brotli),
        }
    }

    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let held;
        let bytes = match self.tell_deflate(bytes) {
            Told::Nothing => bytes,
            Told::Wait => return true,
            Told::First(first) => {
                held = [first];
                if !self.decode(&held, sink) {
                    return false;
                }
                bytes
            }
        };
        self.decode(bytes, sink)
    }

    fn decode(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        loop {
            if self.is_ended && !self.starts_again(bytes) {
                return true;
            }
            let turn = self.state.turn(bytes, &mut self.out);
            bytes = &bytes[turn.taken..];
            if turn.given > 0 && !sink(&self.out[..turn.given]) {
                return false;
            }
            match turn.outcome {
                Outcome::Bad => return false,
                Outcome::Ended => self.is_ended = true,
                Outcome::Open if turn.given < BUFFER && (bytes.is_empty() || turn.taken == 0) => {
                    return bytes.is_empty();
                }
                Outcome::Open => {}
            }
        }
    }

    /// Behind its end a body may hold a further gzip member or zstd frame; anything else is passed over, as
    /// browsers do.
    fn starts_again(&mut self, bytes: &[u8]) -> bool {
        let is_start_of = |magic: &[u8]| {
            !bytes.is_empty() && bytes.iter().zip(magic).all(|(byte, magic)| byte == magic)
        };
        let starts = match &mut self.state {
            State::Gzip(decompress) if is_start_of(b"\x1f\x8b") => {
                decompress.reset(true);
                true
            }
            State::Zstd(_) => is_start_of(b"\x28\xb5\x2f\xfd"),
            _ => false,
        };
        self.is_ended = !starts;
        starts
    }

    /// Settles whether a deflate body has a zlib header (RFC 1950: the two bytes are a multiple of 31).
    fn tell_deflate(&mut self, bytes: &[u8]) -> Told {
        let State::Deflate {
            decompress,
            first,
            is_known: is_known @ false,
        } = &mut self.state
        else {
            return Told::Nothing;
        };
        let (a, b, told) = match (*first, bytes) {
            (None, [a, b, ..]) => (*a, *b, Told::Nothing),
            (Some(a), [b, ..]) => (a, *b, Told::First(a)),
            (None, [a]) => {
                *first = Some(*a);
                return Told::Wait;
            }
            (_, []) => return Told::Wait,
        };
        let has_header = a & 0x0f == 8 && u16::from_be_bytes([a, b]) % 31 == 0;
        decompress.reset(has_header);
        *is_known = true;
        told
    }
}

enum Told {
    /// Nothing is to be done before the bytes.
    Nothing,
    /// More bytes must come first.
    Wait,
    /// This byte came before them.
    First(u8),
}

impl State {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Gzip => Self::Gzip(Decompress::new_gzip(15)),
            Kind::Deflate => Self::Deflate {
                decompress: Decompress::new(true),
                first: None,
                is_known: false,
            },
            Kind::Brotli => Self::Brotli(Box::new(BrotliState::new_strict(
                HeapAlloc::new(0),
                HeapAlloc::new(0),
                HeapAlloc::new(HuffmanCode::default()),
            ))),
            Kind::Zstd => Self::Zstd(ZstdDecoder::new().ok().and_then(|mut decoder| {
                let window = DParameter::WindowLogMax(WINDOW_LOG_MAX);
                decoder.set_parameter(window).ok().map(|()| decoder)
            })),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Gzip(_) => Kind::Gzip,
            Self::Deflate { .. } => Kind::Deflate,
            Self::Brotli(_) => Kind::Brotli,
            Self::Zstd(_) => Kind::Zstd,
        }
    }

    fn turn(&mut self, bytes: &[u8], out: &mut [u8]) -> Turn {
        match self {
            Self::Gzip(decompress) | Self::Deflate { decompress, .. } => {
                inflate(decompress, bytes, out)
            }
            Self::Brotli(state) => unbrotli(state, bytes, out),
            Self::Zstd(decoder) => unzstd(decoder.as_mut(), bytes, out),
        }
    }
}

fn inflate(decompress: &mut Decompress, bytes: &[u8], out: &mut [u8]) -> Turn {
    let (taken, given) = (decompress.total_in(), decompress.total_out());
    let outcome = match decompress.decompress(bytes, out, FlushDecompress::None) {
        Ok(Status::StreamEnd) => Outcome::Ended,
        Ok(Status::Ok | Status::BufError) => Outcome::Open,
        Err(_) => Outcome::Bad,
    };
    let within = "no more than the slices that were given";
    Turn {
        taken: usize::try_from(decompress.total_in() - taken).expect(within),
        given: usize::try_from(decompress.total_out() - given).expect(within),
        outcome,
    }
}

fn unbrotli(
    state: &mut BrotliState<HeapAlloc<u8>, HeapAlloc<u32>, HeapAlloc<HuffmanCode>>,
    bytes: &[u8],
    out: &mut [u8],
) -> Turn {
    let (mut available_in, mut taken) = (bytes.len(), 0);
    let (mut available_out, mut given) = (out.len(), 0);
    let mut total = 0;
    let result = BrotliDecompressStream(
        &mut available_in,
        &mut taken,
        bytes,
        &mut available_out,
        &mut given,
        out,
        &mut total,
        state,
    );
    Turn {
        taken,
        given,
        outcome: match result {
            BrotliResult::ResultSuccess => Outcome::Ended,
            BrotliResult::ResultFailure => Outcome::Bad,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Outcome::Open,
        },
    }
}

fn unzstd(decoder: Option<&mut ZstdDecoder<'static>>, bytes: &[u8], out: &mut [u8]) -> Turn {
    match decoder.map(|decoder| decoder.run_on_buffers(bytes, out)) {
        Some(Ok(status)) => Turn {
            taken: status.bytes_read,
            given: status.bytes_written,
            outcome: if status.remaining == 0 {
                Outcome::Ended
            } else {
                Outcome::Open
            },
        },
        Some(Err(_)) | None => Turn {
            taken: 0,
            given: 0,
            outcome: Outcome::Bad,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn encode(coding: &str, text: &[u8]) -> Vec<u8> {
        let level = flate2::Compression::new(6);
        let mut out = Vec::new();
        match coding {
            "gzip" => {
                let mut encoder = flate2::write::GzEncoder::new(&mut out, level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap();
            }
            "deflate" => {
                let mut encoder = flate2::write::ZlibEncoder::new(&mut out, level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap();
            }
            "raw" => {
                let mut encoder = flate2::write::DeflateEncoder::new(&mut out, level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap();
            }
            "br" => {
                let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 22);
                encoder.write_all(text).unwrap();
            }
            "zstd" => out = zstd::encode_all(text, 3).unwrap(),
            _ => unreachable!(),
        }
        out
    }

    fn decode(coding: &mut Coding, header: &str, body: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        assert_eq!(coding.begin(header.as_bytes()), Start::Encoded);
        for piece in body.chunks(size) {
            coding.push(piece, &mut |bytes| out.extend_from_slice(bytes));
        }
        coding.is_decoded().then_some(out)
    }

    fn text() -> Vec<u8> {
        (0..30_000_u32)
            .flat_map(|n| (n * n).to_string().into_bytes())
            .collect()
    }

    #[test]
    fn decodes_every_coding_in_pieces_of_any_size() {
        let mut coding = Coding::default();
        let text = text();
        for name in [
            "gzip", "deflate", "raw", "br", "zstd", "br", "gzip", "deflate",
        ] {
            let header = if name == "raw" { "deflate" } else { name };
            let body = encode(name, &text);
            for size in [1, 1000, body.len()] {
                let out = decode(&mut coding, header, &body, size);
                assert!(out.as_ref() == Some(&text), "{name} in pieces of {size}");
            }
            let cut = &body[..body.len() / 2];
            assert_eq!(decode(&mut coding, header, cut, 100), None, "cut {name}");
            assert_eq!(
                decode(&mut coding, header, b"<html>no", 3),
                None,
                "no {name}"
            );
            assert_eq!(
                decode(&mut coding, header, b"", 1),
                Some(Vec::new()),
                "empty {name}"
            );
        }
    }

    #[test]
    fn undoes_a_chain_from_its_end() {
        let body = encode("br", &encode("gzip", b"text"));
        let out = decode(&mut Coding::default(), "X-Gzip , BR", &body, 3);
        assert_eq!(out.as_deref(), Some(&b"text"[..]));
    }

    #[test]
    fn takes_several_members_and_passes_over_what_follows() {
        let body = [encode("gzip", b"a"), encode("gzip", b"b"), b"tail".to_vec()].concat();
        for size in [1, body.len()] {
            let out = decode(
                &mut Coding::default(),
                "gzip",
                &body[..body.len() - 4],
                size,
            );
            assert_eq!(out.as_deref(), Some(&b"ab"[..]), "in pieces of {size}");
        }
        let out = decode(&mut Coding::default(), "gzip", &body, body.len());
        assert_eq!(out.as_deref(), Some(&b"ab"[..]));
    }

    #[test]
    fn knows_identity_and_what_it_does_not_know() {
        let mut coding = Coding::default();
        for (header, start) in [
            ("", Start::Identity),
            ("identity", Start::Identity),
            ("None, identity", Start::Identity),
            ("identity, gzip", Start::Encoded),
            ("utf-8", Start::Unknown),
            ("gzip, compress", Start::Unknown),
            ("gzip,gzip,gzip,gzip,gzip", Start::Unknown),
        ] {
            assert_eq!(coding.begin(header.as_bytes()), start, "{header}");
        }
    }

    #[test]
    fn stops_at_a_bomb() {
        let bomb = encode("br", &vec![0; 100 << 20]);
        let mut coding = Coding::default();
        coding.begin(b"br");
        let mut n = 0;
        coding.push(&bomb, &mut |bytes| n += bytes.len() as u64);
        assert!(!coding.is_decoded());
        assert!(n < DECODED_MAX + RATIO_MAX * bomb.len() as u64 + BUFFER as u64 + 1);
    }
}
