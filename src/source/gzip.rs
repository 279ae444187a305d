//! Gzip members (RFC 1952), for the walk over them.

use super::inflate::Inflater;
use super::members::{Codec, Step};

use std::ops::Range;

impl Codec for Inflater {
    const MAGIC: &'static [u8] = b"\x1f\x8b\x08";
    const WHAT: [&'static str; 3] = [
        "bytes that are no gzip member",
        "the last gzip member is cut short",
        "a gzip member is damaged",
    ];

    /// No reserved flags, a known XFL and OS.
    fn is_plausible(stored: &[u8]) -> bool {
        let Some(header) = stored.first_chunk::<10>() else {
            return false;
        };
        header[3] & 0xe0 == 0 && matches!(header[8], 0 | 2 | 4) && matches!(header[9], 0..=13 | 255)
    }

    fn n_passed_over(_head: &[u8]) -> Option<u64> {
        None
    }

    /// ISIZE, the last four bytes (RFC 1952 section 2.3.1).
    fn stated_length(member: &[u8]) -> Option<u32> {
        member.last_chunk().copied().map(u32::from_le_bytes)
    }

    fn whole(&mut self, stored: &[u8], filled: usize) -> Option<(usize, usize)> {
        self.inflate_whole(stored, filled)
    }

    fn head(&mut self, stored: &[u8], n_stored: usize, room: usize) -> bool {
        self.reset_head();
        self.longer_head(stored, n_stored, room)
    }

    fn longer_head(&mut self, stored: &[u8], n_stored: usize, room: usize) -> bool {
        let stored = &stored[..stored.len().min(n_stored)];
        header_len(stored).is_some_and(|start| self.inflate_head(&stored[start..], room))
    }

    fn given(&self, range: Range<usize>) -> &[u8] {
        self.inflated(range)
    }

    fn begin(&mut self) {
        self.reset();
    }

    fn step(&mut self, stored: &[u8], limit: usize) -> Step {
        self.inflate_up_to(stored, limit)
    }

    fn filled(&self) -> &[u8] {
        self.buffered()
    }

    fn clear(&mut self) {
        self.empty();
    }
}

/// Bytes of a member's header (RFC 1952 section 2.3).
fn header_len(stored: &[u8]) -> Option<usize> {
    let (header, fields) = stored.split_first_chunk::<10>()?;
    let mut rest = fields;
    let flags = header[3];
    if flags & 4 != 0 {
        let (n, extra) = rest.split_first_chunk::<2>()?;
        rest = extra.get(usize::from(u16::from_le_bytes(*n))..)?;
    }
    // FNAME and FCOMMENT end in NUL.
    for flag in [8, 16] {
        if flags & flag != 0 {
            rest = &rest[memchr::memchr(0, rest)? + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(stored.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::super::{Compression, Decoder, Input, Piece, Stream};
    use std::io::Write as _;
    use std::ops::ControlFlow;

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
                    Piece::First { .. } | Piece::Coming(_) | Piece::Passed => {
                        unreachable!("only heads are asked for so")
                    }
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
