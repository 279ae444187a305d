//! SHA-1 of eight bodies at once.
//!
//! One body is a chain: each block waits for the one before, and the processor's SHA instructions for each other. Eight bodies
//! side by side, a lane of 32 bits each, wait for nothing:
//!
//! ```text
//! give each lane a body, the longest first
//! take from every lane as many blocks as the shortest has left; a lane that is done takes the next body
//! when so few are left that one after the other is as fast: leave the rest of each to whoever reads it
//! ```
//!
//! What it bought (Xeon with AVX-512, 48 kB bodies): 3.9 GB/s a core, where the SHA instructions give 2.1 and, two bodies
//! interleaved, 2.5. Rotations and three-way logic are one instruction there; where they are three, it is not worth it.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u32x8};

/// Bodies that are hashed side by side.
const LANES: usize = 8;

/// Fewer are not worth it.
const LANES_MIN: usize = 5;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// What SHA-1 chains from block to block.
pub(super) type State = [u32; 5];

/// FIPS 180-4 section 5.3.1.
pub(super) const START: State = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// SHA-1 of the first bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    pub(super) state: State,
    n_bytes: usize,
}

impl Begun {
    const NOTHING: Self = Self {
        state: START,
        n_bytes: 0,
    };

    /// How many bytes of the body were taken.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

/// Hashes bodies side by side.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(Level);

impl Lanes {
    /// `None` where the processor is as fast with one body after the other.
    #[must_use]
    pub fn new() -> Option<Self> {
        let level = Level::new();
        has_rotations(level).then_some(Self(level))
    }

    /// SHA-1 of some of each of `bodies`, in place of what stood in `begun`.
    pub fn begin(self, bodies: &[&[u8]], begun: &mut Vec<Begun>) {
        begun.clear();
        begun.resize(bodies.len(), Begun::NOTHING);
        let mut order: Vec<usize> = (0..bodies.len()).collect();
        order.sort_unstable_by_key(|index| std::cmp::Reverse(bodies[*index].len()));
        let mut waiting = order.into_iter();
        let mut lanes: Vec<usize> = waiting.by_ref().take(LANES).collect();
        let left = |begun: &[Begun], index: usize| {
            (bodies[index].len() - begun[index].n_bytes) / BLOCK * BLOCK
        };
        while lanes.len() >= LANES_MIN {
            let n_bytes = lanes
                .iter()
                .map(|index| left(begun, *index))
                .min()
                .unwrap_or(0);
            self.run(bodies, &lanes, n_bytes, begun);
            for lane in (0..lanes.len()).rev() {
                if left(begun, lanes[lane]) == 0 {
                    match waiting.next() {
                        Some(next) => lanes[lane] = next,
                        None => drop(lanes.swap_remove(lane)),
                    }
                }
            }
        }
    }

    /// Takes so many bytes of the body in each lane; lanes that have none do as the first.
    fn run(self, bodies: &[&[u8]], lanes: &[usize], n_bytes: usize, begun: &mut [Begun]) {
        let index: [usize; LANES] =
            std::array::from_fn(|lane| lanes.get(lane).copied().unwrap_or(lanes[0]));
        let mut states: [State; LANES] = index.map(|index| begun[index].state);
        let texts = index.map(|index| {
            let from = begun[index].n_bytes;
            &bodies[index][from..from + n_bytes]
        });
        dispatch!(self.0, simd => blocks(simd, &mut states, texts));
        for (index, state) in lanes.iter().zip(states) {
            begun[*index].state = state;
            begun[*index].n_bytes += n_bytes;
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_rotations(level: Level) -> bool {
    level.as_avx512().is_some()
}

#[cfg(not(target_arch = "x86_64"))]
fn has_rotations(_level: Level) -> bool {
    false
}

/// Takes all blocks of texts of one length.
#[inline(always)]
fn blocks<S: Simd>(simd: S, states: &mut [State; LANES], texts: [&[u8]; LANES]) {
    let mut chain: [u32x8<S>; 5] = std::array::from_fn(|word| {
        let lanes: [u32; LANES] = std::array::from_fn(|lane| states[lane][word]);
        u32x8::from_slice(simd, &lanes)
    });
    let texts = texts.map(|text| text.as_chunks::<BLOCK>().0);
    let n_blocks = texts[0].len();
    let texts = texts.map(|text| &text[..n_blocks]);
    for nth in 0..n_blocks {
        let words = words_of(simd, texts.map(|text| &text[nth]));
        chain = compress(chain, words);
    }
    for (word, lanes) in chain.into_iter().enumerate() {
        let lanes: [u32; LANES] = lanes.into();
        for (lane, value) in lanes.into_iter().enumerate() {
            states[lane][word] = value;
        }
    }
}

/// The sixteen words of a block, of all lanes.
#[inline(always)]
fn words_of<S: Simd>(simd: S, blocks: [&[u8; BLOCK]; LANES]) -> [u32x8<S>; 16] {
    let rows = blocks.map(|block| {
        let (words, _) = block.as_chunks::<4>();
        let words: [u32; 16] = std::array::from_fn(|word| u32::from_be_bytes(words[word]));
        words
    });
    let mut words = [u32x8::splat(simd, 0); 16];
    for half in [0, LANES] {
        let mut square: [u32x8<S>; LANES] =
            std::array::from_fn(|lane| u32x8::from_slice(simd, &rows[lane][half..half + LANES]));
        // Three perfect shuffles of eight rows are a transposition.
        for _ in 0..3 {
            let rows = square;
            for row in 0..LANES / 2 {
                let (low, high) = rows[row].interleave(rows[row + LANES / 2]);
                square[2 * row] = low;
                square[2 * row + 1] = high;
            }
        }
        words[half..half + LANES].copy_from_slice(&square);
    }
    words
}

/// FIPS 180-4 section 6.1.2. Rounds are spelled out, as words stay in registers only so.
#[inline(always)]
fn compress<S: Simd>(chain: [u32x8<S>; 5], mut words: [u32x8<S>; 16]) -> [u32x8<S>; 5] {
    let mut state = chain;
    macro_rules! rounds {
        ($($t:literal)*, $choose:expr, $constant:literal) => {$({
            let [a, b, c, d, e] = state;
            if $t >= 16 {
                let mixed = words[($t + 13) & 15] ^ words[($t + 8) & 15] ^ words[($t + 2) & 15] ^ words[$t & 15];
                words[$t & 15] = rotated::<S, 1>(mixed);
            }
            let chosen = $choose(b, c, d);
            let sum = rotated::<S, 5>(a) + chosen + e + words[$t & 15] + $constant;
            state = [sum, a, rotated::<S, 30>(b), c, d];
        })*};
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19, choice::<S>, 0x5a82_7999_u32);
    rounds!(20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39, parity::<S>, 0x6ed9_eba1_u32);
    rounds!(40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59, majority::<S>, 0x8f1b_bcdc_u32);
    rounds!(60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79, parity::<S>, 0xca62_c1d6_u32);
    std::array::from_fn(|word| chain[word] + state[word])
}

#[inline(always)]
fn choice<S: Simd>(b: u32x8<S>, c: u32x8<S>, d: u32x8<S>) -> u32x8<S> {
    (b & c) | (!b & d)
}

#[inline(always)]
fn parity<S: Simd>(b: u32x8<S>, c: u32x8<S>, d: u32x8<S>) -> u32x8<S> {
    b ^ c ^ d
}

#[inline(always)]
fn majority<S: Simd>(b: u32x8<S>, c: u32x8<S>, d: u32x8<S>) -> u32x8<S> {
    (b & c) | (b & d) | (c & d)
}

#[inline(always)]
fn rotated<S: Simd, const N: u32>(words: u32x8<S>) -> u32x8<S> {
    (words << N) | (words >> (32 - N))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha1::Sha1;
    use ::sha1::Digest as _;

    #[test]
    fn many_bodies_hash_as_each_alone() {
        let lanes = Lanes(Level::new());
        let bodies: Vec<Vec<u8>> = (0..40_usize)
            .map(|seed| {
                let n_bytes = seed * seed * 997 % 20_000;
                (0..n_bytes)
                    .map(|at| ((at * (2 * seed + 3)) >> 2).to_le_bytes()[0])
                    .collect()
            })
            .collect();
        for n_bodies in [0, 1, 4, 5, 8, 9, 40] {
            let bodies: Vec<&[u8]> = bodies[..n_bodies].iter().map(Vec::as_slice).collect();
            let mut begun = vec![Begun::NOTHING; 3];
            lanes.begin(&bodies, &mut begun);
            assert_eq!(begun.len(), n_bodies);
            let n_taken: usize = begun.iter().map(Begun::n_bytes).sum();
            assert_eq!(n_taken > 0, n_bodies > LANES_MIN, "{n_bodies} bodies");
            for (body, begun) in bodies.iter().zip(&begun) {
                let mut sha1 = Sha1::default();
                sha1.resume(*begun);
                sha1.update(&body[begun.n_bytes()..]);
                assert_eq!(sha1.digest()[..], ::sha1::Sha1::digest(body)[..]);
            }
        }
    }
}
