//! SHA-1 that can go on from where [`Lanes`](super::Lanes) left off, which the hasher of the `sha1` crate cannot.

use sha1::digest::generic_array::GenericArray;

use super::lanes::{BLOCK, Begun, START, State};

/// Blocks that are given to the crate at once: what a call costs is nothing beside so many.
const BLOCKS: usize = 16;

/// The running state of one body.
pub(super) struct Sha1 {
    state: State,
    n_bytes: u64,
    /// What stands behind the last whole block.
    rest: [u8; BLOCK],
}

impl Default for Sha1 {
    fn default() -> Self {
        Self {
            state: START,
            n_bytes: 0,
            rest: [0; BLOCK],
        }
    }
}

impl Sha1 {
    /// Forgets the last body.
    pub(super) fn reset(&mut self) {
        (self.state, self.n_bytes) = (START, 0);
    }

    /// Forgets the last body, and starts one of which some bytes were taken.
    pub(super) fn resume(&mut self, begun: Begun) {
        (self.state, self.n_bytes) = (begun.state, begun.n_bytes() as u64);
    }

    /// Takes the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        let n_rest = self.n_rest();
        self.n_bytes += bytes.len() as u64;
        let mut bytes = bytes;
        if n_rest > 0 {
            let n = bytes.len().min(BLOCK - n_rest);
            self.rest[n_rest..n_rest + n].copy_from_slice(&bytes[..n]);
            if n_rest + n < BLOCK {
                return;
            }
            compress(&mut self.state, &[self.rest]);
            bytes = &bytes[n..];
        }
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let (groups, single) = blocks.as_chunks::<BLOCKS>();
        for group in groups {
            compress(&mut self.state, group);
        }
        for block in single {
            compress(&mut self.state, &[*block]);
        }
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// The digest of what was taken.
    pub(super) fn digest(&self) -> [u8; 20] {
        let n_rest = self.n_rest();
        let mut last = [0; 2 * BLOCK];
        last[..n_rest].copy_from_slice(&self.rest[..n_rest]);
        last[n_rest] = 0x80;
        let n_padded = if n_rest + 9 <= BLOCK {
            BLOCK
        } else {
            2 * BLOCK
        };
        let n_bits = self.n_bytes.wrapping_mul(8).to_be_bytes();
        last[n_padded - 8..n_padded].copy_from_slice(&n_bits);
        let mut state = self.state;
        for block in last[..n_padded].as_chunks::<BLOCK>().0 {
            compress(&mut state, &[*block]);
        }
        let mut digest = [0; 20];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }

    fn n_rest(&self) -> usize {
        usize::try_from(self.n_bytes % BLOCK as u64).expect("it is less than a block")
    }
}

fn compress<const N: usize>(state: &mut State, blocks: &[[u8; BLOCK]; N]) {
    let blocks: [_; N] = std::array::from_fn(|nth| GenericArray::from(blocks[nth]));
    sha1::compress(state, &blocks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha1::Digest as _;

    #[test]
    fn agrees_with_the_crate_whatever_the_pieces() {
        let body: Vec<u8> = (0..5_000_u32).map(|at| (at * 7).to_le_bytes()[0]).collect();
        for n_bytes in (0..200).chain([1023, 1024, 1025, 5_000]) {
            let body = &body[..n_bytes];
            for size in [1, 55, 63, 64, 65, 1000, 5_000] {
                let mut sha1 = Sha1::default();
                body.chunks(size).for_each(|piece| sha1.update(piece));
                let expected = sha1::Sha1::digest(body);
                assert_eq!(sha1.digest()[..], expected[..], "{n_bytes} by {size}");
            }
        }
    }
}
