//! The bytes of a URL as lanes of 64: loads that never leave the input, and sorts of bytes as masks.
//!
//! Lane `i` is bit `i` of a mask. Knows bytes and tables only; what a mask means is `fast`'s affair.
//! Functions are `inline(always)`, since lanes live in registers only where their caller was compiled
//! for the processor at hand.

use fearless_simd::{Simd, prelude::*, u8x16, u8x32, u8x64};

use crate::uri::table::{UNRESERVED, is};

/// Bytes that are looked at together.
pub(crate) const LANES: usize = 64;

/// Eight sorts of bytes, each a bit, by low and by high nibble: a byte is of those that both tables
/// name. So a sort must be all pairs of some low and some high nibbles; the compiler checks it.
#[derive(Debug)]
pub(crate) struct Sorts {
    low: [u8; 16],
    high: [u8; 16],
}

impl Sorts {
    /// The tables for the sorts that each byte is of.
    pub(crate) const fn of(sorts: &[u8; 256]) -> Self {
        let mut tables = Self {
            low: [0; 16],
            high: [0; 16],
        };
        let mut byte = 0;
        while byte < 256 {
            tables.low[byte & 15] |= sorts[byte];
            tables.high[byte >> 4] |= sorts[byte];
            byte += 1;
        }
        byte = 0;
        while byte < 256 {
            let found = tables.low[byte & 15] & tables.high[byte >> 4];
            assert!(found == sorts[byte], "a sort is no rectangle of nibbles");
            byte += 1;
        }
        tables
    }

    /// The sorts of each lane.
    #[inline(always)]
    pub(crate) fn look_up<S: Simd>(&self, simd: S, lanes: u8x64<S>) -> u8x64<S> {
        by_nibble(simd, &self.low, lanes & 15) & by_nibble(simd, &self.high, lanes >> 4)
    }
}

/// What hex digits stand for in a table of their low nibbles: `0` to `9`, then `A` to `F`.
#[derive(Debug)]
struct Digits {
    decimal: [u8; 16],
    letter: [u8; 16],
}

impl Digits {
    const fn of(digits: &[u8; 16]) -> Self {
        let mut tables = Self {
            decimal: [0; 16],
            letter: [0; 16],
        };
        let mut digit = 0;
        while digit < 16 {
            if digit < 10 {
                tables.decimal[digit] = digits[digit];
            } else {
                tables.letter[digit - 9] = digits[digit];
            }
            digit += 1;
        }
        tables
    }

    /// The entry of each lane; nothing for what is no digit in upper case.
    #[inline(always)]
    fn look_up<S: Simd>(&self, simd: S, lanes: u8x64<S>) -> u8x64<S> {
        let row = lanes & 0xF0;
        let column = lanes & 15;
        let none = u8x64::splat(simd, 0);
        let is_decimal = row.simd_eq(u8x64::splat(simd, b'0'));
        let is_letter = row.simd_eq(u8x64::splat(simd, b'A' & 0xF0));
        is_decimal.select(by_nibble(simd, &self.decimal, column), none)
            | is_letter.select(by_nibble(simd, &self.letter, column), none)
    }
}

/// Second digits that escapes treat alike, each group a bit: `0`, `1-9`, `A`, `BC`, `D`, `E`, `F`.
const SECOND: [u8; 16] = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 8, 8, 16, 32, 64];
const SECOND_DIGITS: Digits = Digits::of(&SECOND);

/// By the first digit of an escape: the groups of second digits with which it stays, since what it
/// stands for is not unreserved (RFC 3986 §6.2.2.2).
const FIRST_DIGITS: Digits = {
    let mut digits = [0; 16];
    let mut escape = 0u8;
    loop {
        let (first, group) = ((escape >> 4) as usize, SECOND[(escape & 15) as usize]);
        if is(escape, UNRESERVED) {
            assert!(digits[first] & group == 0, "a group is not alike");
        } else {
            digits[first] |= group;
        }
        if escape == u8::MAX {
            break Digits::of(&digits);
        }
        escape += 1;
    }
};

/// Lanes that are the last byte of an escape which stays as it is, in upper case. `at` is not 0, and
/// a block of `text` starts there; what stands two bytes before need not be a `%`.
#[inline(always)]
pub(crate) fn ends_of_staying<S: Simd>(simd: S, text: &[u8], at: usize) -> u64 {
    let first = FIRST_DIGITS.look_up(simd, load(simd, text, at - 1));
    let second = SECOND_DIGITS.look_up(simd, load(simd, text, at));
    nonzero(simd, first & second)
}

/// The first bytes of a URL, in two runs that overlap where it is short: no load leaves the input,
/// none waits for a copy, and the lengths from 32 on share one path.
#[derive(Clone, Copy)]
pub(crate) struct Head<S: Simd> {
    pub(crate) lanes: u8x64<S>,
    /// How many lanes the first run has, and where in the input the second one starts.
    width: usize,
    second: usize,
}

impl<S: Simd> Head<S> {
    /// Of an input of 16 bytes or more.
    #[inline(always)]
    pub(crate) fn of(simd: S, input: &[u8]) -> Self {
        if input.len() < 32 {
            let second = input.len() - 16;
            let both = load_16(simd, input, 0).combine(load_16(simd, input, second));
            return Self {
                lanes: both.combine(both),
                width: 16,
                second,
            };
        }
        let second = (input.len() - 32).min(32);
        Self {
            lanes: load_32(simd, input, 0).combine(load_32(simd, input, second)),
            width: 32,
            second,
        }
    }

    /// A mask of these lanes by places in the input; what is behind its end means nothing.
    #[inline(always)]
    pub(crate) fn places(&self, mask: u64) -> u64 {
        mask & lowest(self.width) | mask >> self.width << self.second
    }

    /// The bytes from 64 to 128 in two runs; of a shorter input some that the head has too.
    #[inline(always)]
    pub(crate) fn rest(&self, simd: S, input: &[u8]) -> u8x64<S> {
        if input.len() < 32 {
            return self.lanes;
        }
        let last = input.len() - 32;
        load_32(simd, input, last.min(64)).combine(load_32(simd, input, last.min(96)))
    }
}

/// The block that starts at `at`.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, text: &[u8], at: usize) -> u8x64<S> {
    let block = text[at..].first_chunk().expect("a block starts there");
    u8x64::load_array_ref(simd, block)
}

#[inline(always)]
fn load_32<S: Simd>(simd: S, text: &[u8], at: usize) -> u8x32<S> {
    let half = text[at..].first_chunk().expect("half a block starts there");
    u8x32::load_array_ref(simd, half)
}

#[inline(always)]
fn load_16<S: Simd>(simd: S, text: &[u8], at: usize) -> u8x16<S> {
    let quarter = text[at..].first_chunk().expect("a quarter starts there");
    u8x16::load_array_ref(simd, quarter)
}

/// The entry of `table` for each lane, which is below 16.
#[inline(always)]
fn by_nibble<S: Simd>(simd: S, table: &[u8; 16], lanes: u8x64<S>) -> u8x64<S> {
    u8x64::block_splat(u8x16::load_array_ref(simd, table)).swizzle_dyn_within_blocks(lanes)
}

/// Lanes that are `byte`.
#[inline(always)]
pub(crate) fn equal<S: Simd>(simd: S, lanes: u8x64<S>, byte: u8) -> u64 {
    lanes.simd_eq(u8x64::splat(simd, byte)).to_bitmask()
}

/// Lanes that are not 0.
#[inline(always)]
pub(crate) fn nonzero<S: Simd>(simd: S, lanes: u8x64<S>) -> u64 {
    !equal(simd, lanes, 0)
}

/// Lanes that are not `a-z`, `0-9`, `-` or `.`.
#[inline(always)]
pub(crate) fn not_host<S: Simd>(simd: S, lanes: u8x64<S>) -> u64 {
    let is_letter = (lanes - b'a').simd_lt(u8x64::splat(simd, 26));
    // From `-` to `9` there is nothing else but `/`.
    let is_other = (lanes - b'-').simd_lt(u8x64::splat(simd, 13));
    !(is_letter | is_other).to_bitmask() | equal(simd, lanes, b'/')
}

/// The lowest `n` bits.
#[inline(always)]
pub(crate) fn lowest(n: usize) -> u64 {
    if n < LANES {
        !(u64::MAX << n)
    } else {
        u64::MAX
    }
}

/// The bits below the first that is set; all if none is.
#[inline(always)]
pub(crate) fn below(mask: u64) -> u64 {
    (mask & mask.wrapping_neg()).wrapping_sub(1)
}

#[cfg(test)]
pub(crate) mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    /// What this processor can be made to use.
    pub(crate) fn levels() -> Vec<Level> {
        let own = Level::new();
        #[cfg(target_arch = "x86_64")]
        {
            let lesser = [
                own.as_sse2().map(Simd::level),
                own.as_sse4_2().map(Simd::level),
                own.as_avx2().map(Simd::level),
            ];
            lesser.into_iter().flatten().chain([own]).collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![own]
    }

    fn all_bytes() -> Vec<u8> {
        (0..=u8::MAX).collect()
    }

    /// Which bytes a mask over lanes has, by a function of all levels.
    macro_rules! found {
        ($text:expr, $mask:expr) => {{
            let text: &[u8] = $text;
            let found: Vec<Vec<u8>> = levels()
                .into_iter()
                .map(|level| {
                    let masks = text.as_chunks::<LANES>().0.iter().enumerate().map(|(index, block)| {
                        let at = index * LANES;
                        (block, dispatch!(level, simd => $mask(simd, text, at)))
                    });
                    masks
                        .flat_map(|(block, mask): (_, u64)| {
                            let lanes = (0..LANES).filter(move |lane| mask >> lane & 1 == 1);
                            lanes.map(|lane| block[lane])
                        })
                        .collect()
                })
                .collect();
            assert!(found.iter().all(|it| *it == found[0]), "levels differ");
            found[0].clone()
        }};
    }

    #[test]
    fn a_byte_is_found_in_any_lane() {
        for byte in [0, b'/', 0x7F, 0x80, 0xFF] {
            let found = found!(&all_bytes(), |simd, text, at| equal(
                simd,
                load(simd, text, at),
                byte
            ));
            assert_eq!(found, [byte]);
        }
        let found = found!(&all_bytes(), |simd, text, at| nonzero(
            simd,
            load(simd, text, at)
        ));
        assert_eq!(found, all_bytes()[1..]);
    }

    #[test]
    fn bytes_of_a_plain_host_are_lower_case_letters_digits_dash_and_dot() {
        let others = found!(&all_bytes(), |simd, text, at| not_host(
            simd,
            load(simd, text, at)
        ));
        let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
        let expected: Vec<u8> = all_bytes().into_iter().filter(|it| !is_plain(it)).collect();
        assert_eq!(others, expected);
    }

    #[test]
    fn sorts_are_looked_up_for_each_byte() {
        const VOWELS: Sorts = {
            let mut sorts = [0; 256];
            sorts[b'a' as usize] = 1;
            sorts[b'e' as usize] = 1;
            sorts[b'i' as usize] = 1;
            sorts[b'o' as usize] = 1;
            sorts[b'U' as usize] = 1 << 7;
            Sorts::of(&sorts)
        };
        let find = |sort: u8| {
            found!(&all_bytes(), |simd, text, at| nonzero(
                simd,
                VOWELS.look_up(simd, load(simd, text, at)) & sort
            ))
        };
        assert_eq!(find(1), b"aeio");
        assert_eq!(find(1 << 7), b"U");
        assert_eq!(find(1 << 3), b"");
    }

    #[test]
    fn an_escape_stays_if_it_is_upper_case_and_of_no_unreserved_character() {
        // Every pair of bytes, so placed that the second is the last byte of a block's first lanes.
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut text = [b'x'; LANES + 1];
                (text[0], text[1]) = (first, second);
                let escape = [b'%', first, second];
                let is_upper = !escape.iter().any(u8::is_ascii_lowercase);
                let stays = crate::uri::table::escape_at(&escape)
                    .is_some_and(|byte| is_upper && !is(byte, UNRESERVED));
                let ends = dispatch!(Level::new(), simd => ends_of_staying(simd, &text, 1));
                assert_eq!(ends & 1 == 1, stays, "{}", escape.escape_ascii());
            }
        }
    }

    #[test]
    fn a_head_has_each_byte_at_its_place() {
        for len in [16, 17, 31, 32, 33, 63, 64, 65, 127, 128] {
            let input: Vec<u8> = (0..len).map(|at| u8::try_from(at).unwrap()).collect();
            for level in levels() {
                for (at, byte) in input.iter().enumerate() {
                    let (head, rest) = dispatch!(level, simd => {
                        let head = Head::of(simd, &input);
                        let rest = equal(simd, head.rest(simd, &input), *byte);
                        (head.places(equal(simd, head.lanes, *byte)), rest)
                    });
                    if at < LANES {
                        assert_eq!(head & lowest(len), 1 << at, "{at} of {len}");
                    } else {
                        assert_ne!(rest, 0, "{at} of {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn masks_are_cut_by_count_and_by_first_bit() {
        assert_eq!([lowest(0), lowest(3)], [0, 0b111]);
        assert_eq!(
            [lowest(63), lowest(64), lowest(900)],
            [u64::MAX >> 1, u64::MAX, u64::MAX]
        );
        assert_eq!([below(0b1000), below(1), below(0)], [0b111, 0, u64::MAX]);
    }
}
