//! Where certain bytes stand in a line, found for the whole line at once. Must never know what they mean there.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Appends the place of each byte of `text` that is one of two.
///
/// 64 bytes at a time: columns and strings are so short that going from one to the next (`memchr`) took 14 % of reading 3 GB of CDX,
/// and this took 4 when it looked for one byte (Xeon with AVX-512, one thread).
pub(super) fn push_places(text: &[u8], bytes: [u8; 2], places: &mut Vec<usize>) {
    push_places_on(Level::new(), text, bytes, places);
}

/// The same with what a processor of this level has.
fn push_places_on(level: Level, text: &[u8], bytes: [u8; 2], places: &mut Vec<usize>) {
    match text.last_chunk() {
        Some(last) => dispatch!(level, simd => {
            let (blocks, rest) = text.as_chunks();
            for (nth, block) in blocks.iter().enumerate() {
                push_bits(found(simd, block, bytes), nth * BLOCK, places);
            }
            if !rest.is_empty() {
                // The last block overlaps the one before, whose bytes are not to be found twice.
                let n_old = BLOCK - rest.len();
                let found = found(simd, last, bytes) >> n_old << n_old;
                push_bits(found, text.len() - BLOCK, places);
            }
        }),
        None => places.extend(memchr::memchr2_iter(bytes[0], bytes[1], text)),
    }
}

/// The bytes of a block that are one of two, a bit each. Without a closure, which would not be compiled for the processor at hand.
#[inline(always)]
fn found<S: Simd>(simd: S, block: &[u8; BLOCK], bytes: [u8; 2]) -> u64 {
    let block = u8x64::load_array_ref(simd, block);
    let one = block.simd_eq(u8x64::splat(simd, bytes[0]));
    let other = block.simd_eq(u8x64::splat(simd, bytes[1]));
    (one | other).to_bitmask()
}

/// Appends the place of each bit that is set, the lowest being at `start`.
fn push_bits(mut found: u64, start: usize, places: &mut Vec<usize>) {
    while found != 0 {
        places.push(start + found.trailing_zeros() as usize);
        found &= found - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_looking_at_each_byte_finds(
            text in proptest::collection::vec(prop_oneof![Just(b' '), Just(b'"'), any::<u8>()], 0..300),
        ) {
            for bytes in [[b' ', b' '], [b'"', b'\\'], [0xff, 0]] {
                for level in [Level::new(), Level::baseline()] {
                    let mut places = vec![7];
                    push_places_on(level, &text, bytes, &mut places);
                    let expected = (0..text.len()).filter(|at| bytes.contains(&text[*at]));
                    prop_assert!(std::iter::once(7).chain(expected).eq(places));
                }
            }
        }
    }
}
