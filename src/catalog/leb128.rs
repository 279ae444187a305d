//! Numbers as LEB128: seven bits a byte, the lowest first, the highest bit of a byte saying that more follow.
//!
//! A text of the spool has some of them, of one to five bytes in no order, so that a loop over their bytes ends where the processor does not
//! expect it: ten mispredicted branches a line of CDX (`valgrind --tool=callgrind --branch-sim=yes`, 117,600 lines). Eight bytes at once have no loop.

/// The bits that say that more bytes follow, of eight bytes.
const MORE: u64 = 0x8080_8080_8080_8080;
/// A number of more bits takes more than eight bytes.
const BITS_MAX: u32 = 56;

/// Appends a number.
#[inline]
pub(super) fn push_number(bytes: &mut Vec<u8>, number: u64) {
    if number < 0x80 {
        return bytes.push(number.to_le_bytes()[0]);
    }
    let n_bits = u64::BITS - number.leading_zeros();
    if n_bits > BITS_MAX {
        return push_slowly(bytes, number);
    }
    let n_bytes = n_bits.div_ceil(7) as usize;
    let more = MORE & ((1 << (8 * (n_bytes - 1))) - 1);
    let end = bytes.len() + n_bytes;
    bytes.extend_from_slice(&(spread(number) | more).to_le_bytes());
    bytes.truncate(end);
}

/// Takes such a number off the front.
///
/// # Panics
/// The bytes are no such number.
#[inline]
pub(super) fn read_number(bytes: &mut &[u8]) -> u64 {
    if let [first @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return u64::from(*first);
    }
    if let Some((eight, _)) = bytes.split_first_chunk() {
        let word = u64::from_le_bytes(*eight);
        let ends = !word & MORE;
        if ends != 0 {
            let n_bits = ends.trailing_zeros() + 1;
            *bytes = &bytes[n_bits as usize / 8..];
            return joined(word & (u64::MAX >> (u64::BITS - n_bits)));
        }
    }
    read_slowly(bytes)
}

/// Seven bits each in the lowest bits of eight bytes.
#[inline]
fn spread(number: u64) -> u64 {
    let halves = number & 0x0fff_ffff | (number << 4) & 0x0fff_ffff_0000_0000;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves << 2) & 0x3fff_0000_3fff_0000;
    quarters & 0x007f_007f_007f_007f | (quarters << 1) & 0x7f00_7f00_7f00_7f00
}

/// The number whose bits are the lowest seven of each byte.
#[inline]
fn joined(bytes: u64) -> u64 {
    let quarters = bytes & 0x007f_007f_007f_007f | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = quarters & 0x0000_3fff_0000_3fff | (quarters & 0x3fff_0000_3fff_0000) >> 2;
    halves & 0x0fff_ffff | (halves & 0x0fff_ffff_0000_0000) >> 4
}

#[cold]
fn push_slowly(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Near the end of all texts, or a number of more than 56 bits.
#[cold]
fn read_slowly(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes
            .split_first()
            .expect("numbers are read where they were pushed");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(number: u64, behind: &[u8]) {
        let (mut bytes, mut slow) = (vec![7], vec![7]);
        push_number(&mut bytes, number);
        push_slowly(&mut slow, number);
        assert_eq!(bytes, slow, "{number}");
        bytes.extend_from_slice(behind);
        for read in [read_number, read_slowly] {
            let mut rest = &bytes[1..];
            assert_eq!((read(&mut rest), rest), (number, behind), "{number}");
        }
    }

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..u64::BITS {
            for number in [1 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                for behind in [&b""[..], b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\xff\x01"] {
                    check(number, behind);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_number_is_stored_as_byte_by_byte(number: u64, shift in 0..u64::BITS, behind: [u8; 4]) {
            check(number >> shift, &behind);
        }
    }
}
