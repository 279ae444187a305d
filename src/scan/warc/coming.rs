//! Payloads of members that come next ([`Piece::Coming`](crate::source::Piece::Coming)): their SHA-1 is begun side by side, which is
//! faster than one after the other.
//!
//! Where a payload starts is a guess, by two blank lines. What is made of it is no guess: the hash is taken only where the
//! reader comes upon a payload that starts at that very byte of that very member and goes on as far.

use super::header::PREFIX;
use crate::digest::{Begun, Lanes};
use crate::source;

/// Shorter payloads are not worth it.
const PAYLOAD_MIN: usize = 1 << 10;

/// Bytes in which the header of a record, or of a response, ends as a rule.
const HEAD: usize = 1 << 12;

/// What stands behind a payload, and what the reader holds back of it.
const BEHIND: usize = 8;

/// Payloads that were begun.
#[derive(Debug, Default)]
pub(super) struct Coming {
    lanes: Option<Lanes>,
    /// Where each starts: member, and byte of it.
    starts: Vec<(u64, usize)>,
    begun: Vec<Begun>,
}

impl Coming {
    pub(super) fn new() -> Self {
        Self {
            lanes: Lanes::new(),
            ..Self::default()
        }
    }

    /// Begins the payloads of `members`; forgets those before.
    pub(super) fn begin(&mut self, members: source::Coming<'_>) {
        self.starts.clear();
        self.begun.clear();
        let Some(lanes) = self.lanes else { return };
        let mut bodies: [&[u8]; source::Coming::MAX] = [&[]; source::Coming::MAX];
        for (offset, bytes) in members.members() {
            if let Some((start, payload)) = payload_of(bytes) {
                bodies[self.starts.len()] = payload;
                self.starts.push((offset, start));
            }
        }
        lanes.begin(&bodies[..self.starts.len()], &mut self.begun);
    }

    /// The payload that was begun in the member at `offset`: the byte at which it starts, and its hash so far.
    pub(super) fn begun_in(&self, offset: u64) -> Option<(usize, Begun)> {
        let index = self
            .starts
            .iter()
            .position(|(member, _)| *member == offset)?;
        let begun = self.begun.get(index)?;
        (begun.n_bytes() > 0).then_some((self.starts[index].1, *begun))
    }
}

/// The payload of a member that seems to hold a response, and where it starts.
fn payload_of(bytes: &[u8]) -> Option<(usize, &[u8])> {
    if bytes.len() < PAYLOAD_MIN || !bytes.starts_with(PREFIX) {
        return None;
    }
    let block = behind_blank_line(bytes, 0)?;
    if !bytes[block..].starts_with(b"HTTP/") {
        return None;
    }
    let start = behind_blank_line(bytes, block)?;
    let payload = bytes.get(start..bytes.len().checked_sub(BEHIND)?)?;
    (payload.len() >= PAYLOAD_MIN).then_some((start, payload))
}

fn behind_blank_line(bytes: &[u8], from: usize) -> Option<usize> {
    let end = bytes.len().min(from + HEAD);
    let at = memchr::memmem::find(&bytes[from..end], b"\r\n\r\n")?;
    Some(from + at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_payloads_of_long_responses_only() {
        let response = |body: &[u8]| {
            let head = b"WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
            [head, body, b"\r\n\r\n"].concat()
        };
        let body = [b'x'; 3000];
        let long = response(&body);
        let (start, payload) = payload_of(&long).unwrap();
        assert_eq!(long[start..start + 3000], body);
        assert_eq!(payload, &body[..2996]);
        for other in [
            response(b"short"),
            long[1..].to_vec(),
            long[..20].to_vec(),
            [b"WARC/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n", &body[..]].concat(),
            [b"WARC/1.0\r\n\r\nHTTP/1.1 200 OK\r\n", &body[..]].concat(),
        ] {
            assert_eq!(payload_of(&other), None, "{}", other.escape_ascii());
        }
    }
}
