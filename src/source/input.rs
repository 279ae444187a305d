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

/// Bytes that are read before any of them is given: the window ends at a multiple of it, however a pipe hands them over. A reader
/// that looks ahead sees as far as that, and so says the same of the same bytes every time.
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
        let end = self.filled + BLOCK;
        while self.filled < end {
            match self.read.read(&mut self.buf[self.filled..end]) {
                Ok(0) => {
                    self.is_ended = true;
                    break;
                }
                Ok(n) => self.filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
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
    fn a_window_ends_at_the_same_places_however_slow_the_pipe_is() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(2 * BLOCK + 100).collect();
        let ends = |read: &mut dyn Read| {
            let mut stream = Stream::new(read);
            let mut ends = vec![0];
            loop {
                let end = ends.last().copied().unwrap_or(0);
                match stream.at(end, 1).unwrap().len() as u64 {
                    0 => return ends,
                    n => ends.push(end + n),
                }
            }
        };
        let expected = [0, BLOCK, 2 * BLOCK, bytes.len()].map(|end| end as u64);
        assert_eq!(ends(&mut Trickle(&bytes)), expected);
        assert_eq!(ends(&mut bytes.as_slice()), expected);
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
