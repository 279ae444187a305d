//! Zstandard frames (RFC 8878; warc-zstd 1.0), for the walk over them: with or without a dictionary at the start.

use super::members::{CHUNK, Codec, Members, State, Step, Walk};
use super::{Halt, Input, Next, Piece};

use std::ops::Range;

use zstd::stream::raw::{Decoder, Operation as _};

const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";

/// A skippable frame of this number is a dictionary, at the start of the input only.
const DICTIONARY: &[u8] = b"\x5d\x2a\x4d\x18";

/// Magic and length of a skippable frame.
const SKIPPABLE: usize = 8;

/// Bytes of a dictionary: twice what every reader must support.
const DICTIONARY_MAX: usize = 16 << 20;

/// Hands over all frames.
pub(super) fn pieces(
    input: &mut impl Input,
    sink: &mut impl FnMut(Piece<'_>) -> Next,
) -> Result<(), Halt> {
    let head = input.at(0, SKIPPABLE)?;
    let (dictionary, start) = match n_dictionary(head) {
        Some(n) => {
            let stored = input.at(0, SKIPPABLE + n)?;
            let end = (SKIPPABLE + n).min(stored.len());
            (dictionary(&stored[SKIPPABLE..end]), end as u64)
        }
        None => (Some(Vec::new()), 0),
    };
    let mut frames = Frames::new(dictionary)?;
    Members::new(input, &mut frames, sink, Walk::starting_at(start)).run()
}

/// The first decoded bytes of an input that starts like this; `None` if they do not say.
pub(super) fn first_bytes(first: &[u8]) -> Option<Vec<u8>> {
    let (dictionary, frames) = match n_dictionary(first) {
        Some(n) => {
            let (stored, frames) = first.get(SKIPPABLE..)?.split_at_checked(n)?;
            (dictionary(stored), frames)
        }
        None => (Some(Vec::new()), first),
    };
    let mut decoder = Frames::new(dictionary).ok()?;
    decoder.step(frames, CHUNK);
    Some(decoder.out[..decoder.filled].to_vec())
}

/// Whether an input starts with a dictionary.
pub(super) fn has_dictionary(first: &[u8]) -> bool {
    n_dictionary(first).is_some()
}

/// Bytes of the dictionary frame at the start of an input.
fn n_dictionary(head: &[u8]) -> Option<usize> {
    if !head.starts_with(DICTIONARY) {
        return None;
    }
    let n = usize::try_from(skippable_length(head)?).ok()?;
    (n <= DICTIONARY_MAX).then_some(n)
}

/// The dictionary itself, which may be stored as a frame.
fn dictionary(stored: &[u8]) -> Option<Vec<u8>> {
    if !stored.starts_with(FRAME) {
        return Some(stored.to_vec());
    }
    let mut decoder = Frames::new(Some(Vec::new())).ok()?;
    let (mut taken, mut out) = (0, Vec::new());
    loop {
        let step = decoder.step(&stored[taken..], CHUNK);
        taken += step.taken;
        let n = decoder.filled().len();
        out.extend_from_slice(decoder.filled());
        decoder.clear();
        match step.state {
            State::Ended => return Some(out),
            State::Open if n > 0 && out.len() <= DICTIONARY_MAX => {}
            State::Open | State::Bad => return None,
        }
    }
}

fn skippable_length(head: &[u8]) -> Option<u32> {
    let length = head.get(4..SKIPPABLE)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*length))
}

/// Decodes frames.
struct Frames {
    /// `None` where the dictionary is damaged: then no frame can be decoded.
    decoder: Option<Decoder<'static>>,
    out: Vec<u8>,
    filled: usize,
}

impl Frames {
    fn new(dictionary: Option<Vec<u8>>) -> Result<Self, Halt> {
        let decoder = dictionary.map(|bytes| Decoder::with_dictionary(&bytes));
        Ok(Self {
            decoder: decoder.transpose()?,
            out: vec![0; CHUNK],
            filled: 0,
        })
    }
}

impl Codec for Frames {
    const MAGIC: &'static [u8] = FRAME;
    const WHAT: [&'static str; 3] = [
        "bytes that are no zstd frame",
        "the last zstd frame is cut short",
        "a zstd frame is damaged",
    ];

    fn is_plausible(stored: &[u8]) -> bool {
        // The reserved bit of the frame header descriptor (RFC 8878 section 3.1.1.1.1).
        stored.get(4).is_some_and(|descriptor| descriptor & 8 == 0)
    }

    fn n_passed_over(head: &[u8]) -> Option<u64> {
        let is_skippable =
            head.len() >= SKIPPABLE && head[0] & 0xf0 == 0x50 && head[1..4] == DICTIONARY[1..4];
        let length = skippable_length(head).filter(|_| is_skippable)?;
        Some(SKIPPABLE as u64 + u64::from(length))
    }

    fn stated_length(_member: &[u8]) -> Option<u32> {
        None
    }

    fn whole(&mut self, _stored: &[u8], _filled: usize) -> Option<(usize, usize)> {
        None
    }

    fn head(&mut self, _stored: &[u8], _n_stored: usize, _room: usize) -> bool {
        self.clear();
        false
    }

    fn longer_head(&mut self, _stored: &[u8], _n_stored: usize, _room: usize) -> bool {
        false
    }

    fn given(&self, range: Range<usize>) -> &[u8] {
        &self.out[range]
    }

    fn begin(&mut self) {
        self.filled = 0;
        let is_ready = self
            .decoder
            .as_mut()
            .is_some_and(|decoder| decoder.reinit().is_ok());
        self.decoder = self.decoder.take().filter(|_| is_ready);
    }

    fn step(&mut self, stored: &[u8], limit: usize) -> Step {
        let room = &mut self.out[self.filled..limit];
        let decoder = self.decoder.as_mut();
        match decoder.map(|decoder| decoder.run_on_buffers(stored, room)) {
            Some(Ok(status)) => {
                self.filled += status.bytes_written;
                Step {
                    taken: status.bytes_read,
                    state: match status.remaining {
                        0 => State::Ended,
                        _ => State::Open,
                    },
                }
            }
            Some(Err(_)) | None => Step {
                taken: 0,
                state: State::Bad,
            },
        }
    }

    fn filled(&self) -> &[u8] {
        &self.out[..self.filled]
    }

    fn clear(&mut self) {
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Compression, Content, Stream, sniff};
    use super::*;
    use std::ops::ControlFlow;

    fn frame(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    }

    fn skippable(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        [&[0x50 + number, 0x2a, 0x4d, 0x18][..], &length, bytes].concat()
    }

    fn walk(input: &mut impl Input) -> (Vec<u8>, Vec<String>) {
        let (mut bytes, mut events) = (Vec::new(), Vec::new());
        super::super::Decoder::default()
            .pieces(input, Compression::Zstd, |piece| {
                match piece {
                    Piece::Bytes { bytes: more, .. } => bytes.extend_from_slice(more),
                    Piece::MemberEnd { offset, length } => {
                        events.push(format!("frame {offset}+{length}"));
                    }
                    Piece::Lost { offset, length, .. } => {
                        events.push(format!("lost {offset}+{}", length.unwrap()));
                    }
                    Piece::Padding { offset } => events.push(format!("padding {offset}")),
                    Piece::First { .. } | Piece::Coming(_) | Piece::Passed => {
                        unreachable!("only heads are asked for so")
                    }
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        (bytes, events)
    }

    fn check(stored: &[u8], text: &[u8], expected: &[String]) {
        let (bytes, events) = walk(&mut &stored[..]);
        assert_eq!((&events[..], bytes == text), (expected, true));
        assert_eq!(walk(&mut Stream::new(stored)), (bytes, events));
    }

    #[test]
    fn walks_frames_and_passes_over_skippable_ones() {
        let large: Vec<u8> = (0..600_000_u32).flat_map(u32::to_le_bytes).collect();
        let frames = [
            frame(b"first"),
            skippable(3, &[b'x'; 99_999]),
            frame(&large),
        ];
        let [a, b, c] = frames.each_ref().map(Vec::len);
        let expected = [format!("frame 0+{a}"), format!("frame {}+{c}", a + b)];
        check(
            &frames.concat(),
            &[b"first", &large[..]].concat(),
            &expected,
        );
    }

    #[test]
    fn goes_on_behind_a_damaged_frame() {
        let frames = [frame(b"first"), frame(b"second text"), frame(b"third")];
        let [a, b, c] = frames.each_ref().map(Vec::len);
        let mut stored = frames.concat();
        stored[a + b - 2] ^= 1;
        let expected = [
            format!("frame 0+{a}"),
            format!("lost {a}+{b}"),
            format!("frame {}+{c}", a + b),
        ];
        check(&stored, b"firstthird", &expected);
        let cut = &stored[..a - 3];
        assert_eq!(walk(&mut &cut[..]).1, [format!("lost 0+{}", a - 3)]);
        let cut = skippable(1, b"some bytes");
        assert_eq!(walk(&mut &cut[..12]).1, ["lost 0+12"]);
    }

    #[test]
    fn reads_frames_that_need_the_dictionary_before_them() {
        let samples: Vec<Vec<u8>> = (0..100_u32)
            .map(|n| format!("WARC/1.0\r\nWARC-Type: response {n} {}\r\n", n * n).into_bytes())
            .collect();
        let dictionary = samples[..100].concat();
        let mut encoder = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
        let record = encoder.compress(&samples[7]).unwrap();
        for stored in [
            skippable(13, &dictionary),
            skippable(13, &frame(&dictionary)),
        ] {
            let (start, n) = (stored.len(), record.len());
            let stored = [stored, record.clone()].concat();
            check(&stored, &samples[7], &[format!("frame {start}+{n}")]);
            assert_eq!(sniff(&stored).content, Content::Warc);
        }
        let broken = [skippable(13, b"\x28\xb5\x2f\xfd no frame"), record.clone()].concat();
        assert_eq!(walk(&mut &broken[..]).1.len(), 1);
    }
}
