//! Base32 (RFC 4648 section 6), eight letters at once.
//!
//! ```text
//! letters have bit 6: A–Z and a–z are 1–26 in their lowest five bits; digits 2–7 are 18–23 there
//! value = lowest five bits − 1 of a letter, + 8 of a digit
//! wrong: a letter of more than 25, a digit of less than 26 or more than 31, whatever is neither
//! join: two values of 5 bits, two of 10, two of 20
//! ```
//! Each step is one operation on eight bytes, in which no byte disturbs its neighbour.

/// A byte in each byte.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// What eight letters or digits of either case stand for; `None` if one of them is no base32.
#[inline]
pub(super) fn forty_bits(eight: [u8; 8]) -> Option<u64> {
    let text = u64::from_be_bytes(eight);
    let is_letter = text >> 6 & each(1);
    // Bit 7 is lent, so that nothing is borrowed from a neighbour; `@` and a backquote, letter 0, do not give it back.
    let values = ((text & each(0x1f)) + each(0x88)) - is_letter * 9;
    let is_lent = values & each(0x80);
    let values = values & each(0x7f);
    // Set from 26 on.
    let is_digit_value = (values + each(0x80 - 26)) & each(0x80);
    let is_digit = is_letter << 7 ^ each(0x80);
    let wrong = (text & each(0x80))
        | (is_lent ^ each(0x80))
        | (is_digit_value ^ is_digit)
        | (values & each(0x60))
        // Neither bit 6 nor bit 5: a control byte.
        | ((is_letter << 5 | text & each(0x20)) ^ each(0x20));
    (wrong == 0).then(|| joined(values))
}

/// The eight letters and digits, in upper case, that stand for forty bits.
#[inline]
pub(super) fn eight_letters(bits: u64) -> [u8; 8] {
    let values = spread(bits);
    let is_digit = (values + each(0x80 - 26)) >> 7 & each(1);
    (values + each(b'A') - is_digit * (u64::from(b'A') + 26 - u64::from(b'2'))).to_be_bytes()
}

/// Five bits each in the lowest bits of eight bytes.
#[inline]
fn spread(bits: u64) -> u64 {
    let twenties = bits & 0x000f_ffff | (bits << 12) & 0x000f_ffff_0000_0000;
    let tens = twenties & 0x0000_03ff_0000_03ff | (twenties << 6) & 0x03ff_0000_03ff_0000;
    tens & 0x001f_001f_001f_001f | (tens << 3) & 0x1f00_1f00_1f00_1f00
}

/// The values of eight bytes, five bits each, behind each other.
#[inline]
fn joined(values: u64) -> u64 {
    let tens = values & 0x001f_001f_001f_001f | (values & 0x1f00_1f00_1f00_1f00) >> 3;
    let twenties = tens & 0x0000_03ff_0000_03ff | (tens & 0x03ff_0000_03ff_0000) >> 6;
    twenties & 0x000f_ffff | (twenties & 0x000f_ffff_0000_0000) >> 12
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letter by letter.
    fn slowly(eight: [u8; 8]) -> Option<u64> {
        eight.iter().try_fold(0, |bits, letter| {
            let value = match letter.to_ascii_uppercase() {
                upper @ b'A'..=b'Z' => upper - b'A',
                digit @ b'2'..=b'7' => digit - b'2' + 26,
                _ => return None,
            };
            Some(bits << 5 | u64::from(value))
        })
    }

    #[test]
    fn every_byte_is_a_value_or_none_in_every_place() {
        for place in 0..8 {
            for neighbours in [b'A', b'z', b'2', b'7'] {
                for byte in 0..=u8::MAX {
                    let mut eight = [neighbours; 8];
                    eight[place] = byte;
                    assert_eq!(forty_bits(eight), slowly(eight), "{byte:#x} at {place}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn eight_letters_are_read_as_one_by_one(eight: [u8; 8], text in "[A-Za-z2-7]{8}") {
            prop_assert_eq!(forty_bits(eight), slowly(eight));
            let text = text.as_bytes().try_into().unwrap();
            prop_assert_eq!(forty_bits(text), slowly(text));
            let upper = forty_bits(text).map(eight_letters);
            prop_assert_eq!(upper, Some(text.map(|letter| letter.to_ascii_uppercase())));
        }
    }
}
