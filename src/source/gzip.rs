//! Gzip inputs, member by member (RFC 1952; WARC 1.1 annex D).
//!
//! After damage the reader goes on at the next member. It looks for one right behind the *start* of the damaged
//! member, not where inflating failed: an inflater that lost its way runs over the start of the next member before it
//! notices. So bytes may be inflated twice; crafted input could make that quadratic, hence the budget in
//! [`Members::search_start`].

use super::inflate::{Inflater, State};
use super::{Halt, Input, Piece, hand};

use std::ops::ControlFlow;

const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// A member's header without its optional parts.
const HEADER: usize = 10;

/// Stored bytes that a probe may look at.
const PROBE: usize = 1 << 12;

/// Stored bytes searched at once.
const SEARCH: usize = 1 << 16;

/// Bytes that may be inflated in vain before the search starts behind what was inflated.
const IN_VAIN: u64 = 64 << 20;

/// The walk over an input's members.
pub(super) struct Members<'a, I, S> {
    input: &'a mut I,
    inflater: &'a mut Inflater,
    sink: &'a mut S,
    position: u64,
    /// Stored bytes of members that turned out to be damaged, each counted as often as it was inflated.
    in_vain: u64,
}

impl<'a, I: Input, S: FnMut(Piece<'_>) -> ControlFlow<()>> Members<'a, I, S> {
    pub(super) fn new(input: &'a mut I, inflater: &'a mut Inflater, sink: &'a mut S) -> Self {
        Self {
            input,
            inflater,
            sink,
            position: 0,
            in_vain: 0,
        }
    }

    /// Hands over all members.
    pub(super) fn run(mut self) -> Result<(), Halt> {
        loop {
            let bytes = self.input.at(self.position, HEADER)?;
            match bytes.first() {
                None => return Ok(()),
                Some(_) if bytes.starts_with(&MAGIC) => self.member()?,
                Some(0) => self.padding()?,
                Some(_) => {
                    let start = self.position;
                    self.lose(start, start, "bytes that are no gzip member")?;
                }
            }
        }
    }

    fn member(&mut self) -> Result<(), Halt> {
        let start = self.position;
        let stored = self.input.whole().map(|all| tail(all, start));
        let Some((taken, bytes)) = stored.and_then(|stored| self.inflater.whole(stored)) else {
            return self.member_in_steps();
        };
        if !bytes.is_empty() {
            let offset = start;
            hand(Piece::Bytes { bytes, offset }, self.sink)?;
        }
        self.end_member(start + taken as u64)
    }

    fn member_in_steps(&mut self) -> Result<(), Halt> {
        let start = self.position;
        let mut at = start;
        self.inflater.begin();
        loop {
            let stored = self.input.at(at, 1)?;
            let is_ended = stored.is_empty();
            let step = self.inflater.step(stored);
            at += step.taken as u64;
            let what = match step.state {
                State::Open if self.inflater.is_full() => {
                    self.hand_filled()?;
                    continue;
                }
                State::Open if !is_ended => continue,
                State::Ended => {
                    self.hand_filled()?;
                    return self.end_member(at);
                }
                State::Open => "the last gzip member is cut short",
                State::Bad => "a gzip member is damaged",
            };
            self.hand_filled()?;
            self.in_vain += at - start;
            return self.lose(start, at, what);
        }
    }

    fn hand_filled(&mut self) -> Result<(), Halt> {
        let bytes = self.inflater.filled();
        if !bytes.is_empty() {
            let offset = self.position;
            hand(Piece::Bytes { bytes, offset }, self.sink)?;
        }
        self.inflater.clear();
        Ok(())
    }

    fn end_member(&mut self, end: u64) -> Result<(), Halt> {
        let (offset, length) = (self.position, end - self.position);
        self.position = end;
        hand(Piece::MemberEnd { offset, length }, self.sink)
    }

    fn padding(&mut self) -> Result<(), Halt> {
        let offset = self.position;
        loop {
            let bytes = self.input.at(self.position, SEARCH)?;
            let n_zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = n_zeros == bytes.len() && n_zeros > 0;
            self.position += n_zeros as u64;
            if !is_all {
                return hand(Piece::Padding { offset }, self.sink);
            }
        }
    }

    /// Gives up the bytes from `start` to the next member.
    fn lose(&mut self, start: u64, failed_at: u64, what: &'static str) -> Result<(), Halt> {
        let mut at = self.search_start(start, failed_at);
        self.position = loop {
            let bytes = self.input.at(at, SEARCH)?;
            if bytes.len() < MAGIC.len() {
                break at + bytes.len() as u64;
            }
            match memchr::memmem::find(bytes, &MAGIC) {
                None => at += (bytes.len() - (MAGIC.len() - 1)) as u64,
                Some(index) => {
                    at += index as u64;
                    let stored = self.input.at(at, PROBE)?;
                    let stored = &stored[..stored.len().min(PROBE)];
                    if is_plausible(stored) && self.inflater.probe(stored) {
                        break at;
                    }
                    at += 1;
                }
            }
        };
        let length = Some(self.position - start);
        let offset = start;
        hand(
            Piece::Lost {
                offset,
                length,
                what,
            },
            self.sink,
        )
    }

    /// Where to look for the next member: behind the start of the damaged one, unless so much was inflated in vain
    /// that the input must be crafted; then behind what was inflated.
    fn search_start(&self, start: u64, failed_at: u64) -> u64 {
        let start = if self.in_vain > IN_VAIN + 4 * failed_at {
            failed_at
        } else {
            start
        };
        (start + 1).max(self.input.earliest())
    }
}

fn tail(all: &[u8], start: u64) -> &[u8] {
    usize::try_from(start)
        .ok()
        .and_then(|start| all.get(start..))
        .unwrap_or_default()
}

/// Whether the header reads as one that a compressor wrote: no reserved flags, a known XFL and OS.
fn is_plausible(stored: &[u8]) -> bool {
    let Some(header) = stored.first_chunk::<HEADER>() else {
        return false;
    };
    header[3] & 0xe0 == 0 && matches!(header[8], 0 | 2 | 4) && matches!(header[9], 0..=13 | 255)
}

#[cfg(test)]
mod tests {
    use super::super::{Compression, Decoder, Stream};
    use super::*;
    use std::io::Write as _;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Text that does not compress to nothing, so that members have an inside.
    fn text(seed: u32, n: usize) -> Vec<u8> {
        let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            b'a' + u8::try_from(state % 26).unwrap()
        };
        (0..n).map(|_| next()).collect()
    }

    /// What happened, one line a piece: decoded text apart.
    fn walk(input: &mut impl Input) -> (Vec<u8>, Vec<String>) {
        let (mut bytes, mut events) = (Vec::new(), Vec::new());
        Decoder::default()
            .pieces(input, Compression::Gzip, |piece| {
                match piece {
                    Piece::Bytes { bytes: more, .. } => bytes.extend_from_slice(more),
                    Piece::MemberEnd { offset, length } => {
                        events.push(format!("member {offset}+{length}"));
                    }
                    Piece::Lost { offset, length, .. } => {
                        events.push(format!("lost {offset}+{}", length.unwrap()));
                    }
                    Piece::Padding { offset } => events.push(format!("padding {offset}")),
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        (bytes, events)
    }

    fn check(stored: &[u8], expected: &[String]) -> Vec<u8> {
        let (bytes, events) = walk(&mut &stored[..]);
        assert_eq!(events, expected);
        let streamed = walk(&mut Stream::new(stored));
        assert_eq!(
            streamed,
            (bytes.clone(), events),
            "a stream is read like a slice"
        );
        bytes
    }

    #[test]
    fn walks_members_small_large_and_empty() {
        let texts = [text(1, 1000), Vec::new(), text(2, 3 << 20), text(3, 10)];
        let members: Vec<_> = texts.iter().map(|text| member(text)).collect();
        let mut offset = 0;
        let mut expected = Vec::new();
        for member in &members {
            expected.push(format!("member {offset}+{}", member.len()));
            offset += member.len();
        }
        assert!(check(&members.concat(), &expected) == texts.concat());
    }

    #[test]
    fn skips_extra_fields_of_either_form() {
        let sound = member(b"text");
        for extra in [
            &b"\x0c\x00sl\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"[..],
            &b"\x0a\x00sl\x00\x00\x00\x00\x00\x00\x00\x00"[..],
        ] {
            let mut stored = sound.clone();
            stored[3] |= 4;
            stored.splice(10..10, extra.iter().copied());
            let expected = [format!("member 0+{}", stored.len())];
            assert_eq!(check(&stored, &expected), b"text");
        }
    }

    #[test]
    fn names_padding_and_garbage_after_the_last_member() {
        let sound = member(b"text");
        let n = sound.len();
        let stored = [&sound[..], &[0; 700]].concat();
        check(&stored, &[format!("member 0+{n}"), format!("padding {n}")]);
        let stored = [&sound[..], b"\nEND OF TAPE"].concat();
        check(&stored, &[format!("member 0+{n}"), format!("lost {n}+12")]);
        let stored = [&sound[..], b"garbage", &sound[..]].concat();
        let expected = [
            format!("member 0+{n}"),
            format!("lost {n}+7"),
            format!("member {}+{n}", n + 7),
        ];
        assert_eq!(check(&stored, &expected), b"texttext");
    }

    #[test]
    fn goes_on_at_the_next_member_wherever_one_is_damaged() {
        let members = [text(1, 3000), text(2, 3000), text(3, 3000)].map(|text| member(&text));
        let [a, b, c] = members.each_ref().map(Vec::len);
        for at in 0..b {
            let mut stored = members.concat();
            stored[a + at] ^= 0x55;
            let (bytes, events) = walk(&mut &stored[..]);
            assert!(bytes.starts_with(&text(1, 3000)) && bytes.ends_with(&text(3, 3000)));
            let end = format!("member {}+{c}", a + b);
            assert_eq!(events.last(), Some(&end), "byte {at}");
            // Flags, time, XFL and OS are in no checksum.
            if !(3..10).contains(&at) {
                assert_eq!(events[1], format!("lost {a}+{b}"), "byte {at}");
            }
        }
    }

    #[test]
    fn goes_on_behind_a_member_that_was_cut() {
        let members = [text(1, 3000), text(2, 3000)].map(|text| member(&text));
        let n = members[0].len();
        for cut in [4, 10, 500, n - 8, n - 1] {
            let stored = [&members[0][..cut], &members[1][..]].concat();
            let (bytes, events) = walk(&mut &stored[..]);
            assert!(bytes.ends_with(&text(2, 3000)));
            let end = format!("member {cut}+{}", members[1].len());
            assert_eq!(events, [format!("lost 0+{cut}"), end], "cut at {cut}");
            let stored = &members[0][..cut];
            let (bytes, events) = walk(&mut &stored[..]);
            assert!(text(1, 3000).starts_with(&bytes) && (cut < 500 || !bytes.is_empty()));
            assert_eq!(events, [format!("lost 0+{cut}")]);
        }
    }

    #[test]
    fn takes_linear_time_over_members_that_all_fail_late() {
        // Each header starts a stored block that covers the following ones; all of them end in the same garbage.
        let mut stored = Vec::new();
        for _ in 0..20_000 {
            stored.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
            stored.extend_from_slice(b"\x00\x19\x00\xe6\xff");
            stored.extend_from_slice(&[b'x'; 10]);
        }
        let (_, events) = walk(&mut &stored[..]);
        assert!(!events.is_empty());
    }

    #[test]
    fn breaks_off_when_the_sink_says_so() {
        let stored = member(b"text").repeat(3);
        let mut n = 0;
        Decoder::default()
            .pieces(&mut &stored[..], Compression::Gzip, |_| {
                n += 1;
                ControlFlow::Break(())
            })
            .unwrap();
        assert_eq!(n, 1);
    }
}
