//! Stored bytes by offset: a slice has all of them, a stream a window.

use std::io::{self, Read};

/// Stored bytes that are asked for by offset, mostly in rising order.
pub trait Input {
    /// Bytes from `offset` on: at least `min` unless the input ends before, more if they are at hand.
    ///
    /// # Errors
    ///
    /// Where a stream cannot be read.
    fn at(&mut self, offset: u64, min: usize) -> io::Result<&[u8]>;

    /// The first offset that can still be asked for.
    fn earliest(&self) -> u64;

    /// All bytes, where they are at hand.
    fn whole(&self) -> Option<&[u8]>;
}

impl Input for &[u8] {
    fn at(&mut self, offset: u64, _min: usize) -> io::Result<&[u8]> {
        let start = usize::try_from(offset).map_or(self.len(), |start| start.min(self.len()));
        Ok(&self[start..])
    }

    fn earliest(&self) -> u64 {
        0
    }

    fn whole(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// Bytes kept behind the reading position of a stream: damage in a gzip member is searched from the member's start,
/// as far as this reaches.
const KEPT: usize = 1 << 20;

/// Bytes asked from the system at once.
const BLOCK: usize = 1 << 18;

/// A window over what can only be read once: stdin, a named pipe.
#[derive(Debug)]
pub struct Stream<R> {
    read: R,
    /// The window is `buf[..filled]`.
    buf: Vec<u8>,
    filled: usize,
    /// Offset of the first byte of the window.
    start: u64,
    is_ended: bool,
}

impl<R: Read> Stream<R> {
    /// A window over `read`.
    pub fn new(read: R) -> Self {
        Self {
            read,
            buf: Vec::new(),
            filled: 0,
            start: 0,
            is_ended: false,
        }
    }

    /// Drops what lies far behind `offset`; only now and then, so that each byte moves a bounded number of times.
    fn forget_before(&mut self, offset: u64) {
        let behind = usize::try_from(offset - self.start)
            .map_or(self.filled, |behind| behind.min(self.filled));
        if behind > 3 * KEPT {
            let dropped = behind - KEPT;
            self.buf.copy_within(dropped..self.filled, 0);
            self.filled -= dropped;
            self.start += dropped as u64;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        if self.buf.len() < self.filled + BLOCK {
            self.buf.resize(self.filled + 2 * BLOCK, 0);
        }
        let n = loop {
            match self.read.read(&mut self.buf[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome?,
            }
        };
        self.filled += n;
        self.is_ended = n == 0;
        Ok(())
    }
}

impl<R: Read> Input for Stream<R> {
    fn at(&mut self, offset: u64, min: usize) -> io::Result<&[u8]> {
        let offset = offset.max(self.start);
        self.forget_before(offset);
        let end = offset.saturating_add(min as u64);
        while self.start + (self.filled as u64) < end && !self.is_ended {
            self.read_block()?;
            self.forget_before(offset);
        }
        let from =
            usize::try_from(offset - self.start).map_or(self.filled, |from| from.min(self.filled));
        Ok(&self.buf[from..self.filled])
    }

    fn earliest(&self) -> u64 {
        self.start
    }

    fn whole(&self) -> Option<&[u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow pipe does.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(buf.len()).min(1);
            buf[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn gives_at_least_what_was_asked_for() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut stream = Stream::new(Trickle(&bytes));
        for (offset, min) in [(0, 10), (3, 1), (100, 50), (5, 3), (250, 100)] {
            let given = stream.at(offset, min).unwrap();
            let from = usize::try_from(offset).unwrap();
            assert!(bytes[from..].starts_with(given));
            assert!(given.len() >= min.min(bytes.len() - from));
        }
        assert!(stream.at(256, 1).unwrap().is_empty());
    }

    #[test]
    fn keeps_a_bounded_window() {
        let mut stream = Stream::new(io::repeat(7).take(1 << 26));
        let mut offset = 0;
        loop {
            let n = stream.at(offset, 1).unwrap().len();
            if n == 0 {
                break;
            }
            offset += n as u64;
            assert!(stream.buf.len() <= 4 * KEPT + 2 * BLOCK);
        }
        assert_eq!(offset, 1 << 26);
        assert!(stream.earliest() > 0);
    }
}
