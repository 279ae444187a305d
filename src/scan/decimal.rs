//! Decimal numbers as the lines of records and indexes have them.

/// The number that `text` is, digits and nothing else; `None` where it is none or does not fit 64 bits.
#[inline]
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    match text.len() {
        0 => None,
        1..=DIGITS_MAX => {
            let mut number = 0;
            for byte in text {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    return None;
                }
                number = number * 10 + u64::from(digit);
            }
            Some(number)
        }
        _ => of_many_digits(text),
    }
}

/// Any number of so many digits fits 64 bits.
const DIGITS_MAX: usize = 19;

#[cold]
fn of_many_digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_fit_64_bits() {
        let nines = "9".repeat(19);
        let zeros = "0".repeat(25);
        for (text, expected) in [
            ("", None),
            ("/", None),
            ("1:", None),
            ("-1", None),
            ("007", Some(7)),
            (&nines, Some(9_999_999_999_999_999_999)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            (&zeros, Some(0)),
        ] {
            assert_eq!(decimal(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_number_is_what_parsing_says(text in "[0-9]{1,25}|[0-9+/: -]{0,5}") {
            let digits = Some(&text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let expected = digits.and_then(|digits| digits.parse().ok());
            prop_assert_eq!(decimal(text.as_bytes()), expected);
        }
    }
}
