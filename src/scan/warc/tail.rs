//! What stands around the end of a block: its last bytes, and the blank lines that should follow.

/// The last four bytes of a block, held back: they may turn out to be the blank lines behind it.
#[derive(Debug, Default)]
pub(super) struct Hold {
    bytes: [u8; 4],
    len: usize,
}

impl Hold {
    /// Takes bytes; gives all but the last four of what was taken to `sink`.
    pub(super) fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) {
        if let Some((head, last)) = bytes.split_last_chunk::<4>() {
            sink(self.held());
            sink(head);
            (self.bytes, self.len) = (*last, 4);
            return;
        }
        let n_out = (self.len + bytes.len()).saturating_sub(4);
        sink(&self.bytes[..n_out]);
        self.bytes.copy_within(n_out..self.len, 0);
        self.len -= n_out;
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// What is held back.
    pub(super) fn held(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Forgets what is held back.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// How many of the bytes held back are the blank lines behind a block, if the input ends with them.
    pub(super) fn n_separators(&self) -> usize {
        match self.held() {
            b"\r\n\r\n" => 4,
            [.., b'\n', b'\n'] => 2,
            _ => 0,
        }
    }
}

/// How the bytes behind a block read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The two line ends that belong there: so many bytes.
    Whole(usize),
    /// The block's last bytes belong to these: its length is so many too large.
    Shifted(usize),
    /// One line end, or none: so many bytes.
    Bare(usize),
    /// Something else.
    Wrong,
}

/// Line ends and NULs behind a block, up to a number that no writer reaches.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: [u8; 64],
    len: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            bytes: [0; 64],
            len: 0,
        }
    }
}

impl Tail {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes line ends and NULs; the number of them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> usize {
        let room = self.bytes.len() - self.len;
        let n = bytes
            .iter()
            .take(room)
            .take_while(|byte| is_filler(**byte))
            .count();
        self.bytes[self.len..self.len + n].copy_from_slice(&bytes[..n]);
        self.len += n;
        n
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == self.bytes.len()
    }

    /// How they read behind a block that ends with what `hold` has.
    pub(super) fn verdict(&self, hold: &Hold) -> Verdict {
        let held = hold.held();
        match self.bytes() {
            [b'\r', b'\n', b'\r', b'\n', ..] => Verdict::Whole(4),
            [b'\n', b'\n', ..] => Verdict::Whole(2),
            [b'\n', b'\r', b'\n', ..] if held.ends_with(b"\r") => Verdict::Shifted(1),
            [b'\n', ..] if held.ends_with(b"\r\n\r") => Verdict::Shifted(3),
            [b'\r', b'\n', ..] => Verdict::Bare(2),
            [b'\n', ..] => Verdict::Bare(1),
            [] => Verdict::Bare(0),
            _ => Verdict::Wrong,
        }
    }
}

/// What may stand between records: line ends, and the NULs of some writers.
pub(super) fn is_filler(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_back_four_bytes_of_any_pieces() {
        let text = b"0123456789abcdef";
        for size in 1..=text.len() {
            let (mut hold, mut out) = (Hold::default(), Vec::new());
            for piece in text.chunks(size) {
                hold.push(piece, |bytes| out.extend_from_slice(bytes));
            }
            assert_eq!((&out[..], hold.held()), (&text[..12], &text[12..]));
        }
    }

    #[test]
    fn judges_the_lines_behind_a_block() {
        for (block, behind, expected) in [
            (&b"body"[..], &b"\r\n\r\n"[..], Verdict::Whole(4)),
            (b"body", b"\r\n\r\n\r\n\0", Verdict::Whole(4)),
            (b"body", b"\n\n", Verdict::Whole(2)),
            (b"ody\r", b"\n\r\n", Verdict::Shifted(1)),
            (b"y\r\n\r", b"\n", Verdict::Shifted(3)),
            (b"dy\r\n", b"\r\n", Verdict::Bare(2)),
            (b"body", b"\n\r\n", Verdict::Bare(1)),
            (b"body", b"", Verdict::Bare(0)),
            (b"body", b"\0\r\n\r\n", Verdict::Wrong),
            (b"body", b"\r", Verdict::Wrong),
        ] {
            let (mut hold, mut tail) = (Hold::default(), Tail::default());
            hold.push(block, |_| {});
            assert_eq!(tail.push(behind), behind.len());
            assert_eq!(tail.verdict(&hold), expected, "{}", behind.escape_ascii());
        }
    }
}
