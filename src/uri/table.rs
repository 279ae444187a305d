//! Byte tables, named as in RFC 3986; they are part of the policy id. Leaf; imports nothing.

/// `A-Z a-z 0-9 - . _ ~` (RFC 3986 §2.3).
pub(crate) const UNRESERVED: u8 = 1;
/// `! $ & ' ( ) * + , ; =` (RFC 3986 §2.2).
pub(crate) const SUB_DELIMS: u8 = 1 << 1;
/// `: / ? # [ ] @` (RFC 3986 §2.2).
pub(crate) const GEN_DELIMS: u8 = 1 << 2;
/// `0-9 A-F a-f` (RFC 5234, B.1).
pub(crate) const HEXDIG: u8 = 1 << 3;
/// Bytes that become escapes in a path: C0, space, `"` `#` `<` `>` `?` `^` `` ` `` `{` `}`, 0x7F-0xFF.
pub(crate) const PATH: u8 = 1 << 4;
/// Bytes that become escapes in a query: C0, space, `"` `#` `<` `>`, 0x7F-0xFF.
pub(crate) const QUERY: u8 = 1 << 5;
/// [`QUERY`] and `'`: what browsers escape in the query of an http URL.
pub(crate) const SPECIAL_QUERY: u8 = 1 << 6;
/// Bytes that become escapes in a fragment that is kept: C0, space, `"` `<` `>` `` ` ``, 0x7F-0xFF.
pub(crate) const FRAGMENT: u8 = 1 << 7;

/// The sets that each byte is in.
pub(crate) const CLASS: [u8; 256] = classes();

/// Whether `byte` is in one of `sets`.
#[inline]
pub(crate) const fn is(byte: u8, sets: u8) -> bool {
    CLASS[byte as usize] & sets != 0
}

/// Bytes of a reg-name that are no escape (RFC 3986 §3.2.2).
#[inline]
pub(crate) const fn is_reg_name(byte: u8) -> bool {
    is(byte, UNRESERVED | SUB_DELIMS)
}

/// Bytes of a scheme behind its first letter (RFC 3986 §3.1).
#[inline]
pub(crate) const fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The value of a hex digit; of other bytes, nothing that means anything.
#[inline]
pub(crate) const fn hex_value(digit: u8) -> u8 {
    (digit & 15) + (digit >> 6) * 9
}

/// The byte that the escape at the start of `text` stands for.
#[inline]
pub(crate) fn escape_at(text: &[u8]) -> Option<u8> {
    match *text {
        [b'%', high, low, ..] if is(high, HEXDIG) && is(low, HEXDIG) => {
            Some(hex_value(high) << 4 | hex_value(low))
        }
        _ => None,
    }
}

/// Digits of escapes, in upper case (RFC 3986 §6.2.2.1).
pub(crate) const HEX_UPPER: [u8; 16] = *b"0123456789ABCDEF";

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0u8;
    loop {
        let mut sets = 0;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            sets |= UNRESERVED;
        }
        if byte.is_ascii_hexdigit() {
            sets |= HEXDIG;
        }
        if matches!(
            byte,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
        ) {
            sets |= SUB_DELIMS;
        }
        if matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@') {
            sets |= GEN_DELIMS;
        }
        if byte <= b' ' || byte >= 0x7F || matches!(byte, b'"' | b'<' | b'>') {
            sets |= PATH | QUERY | SPECIAL_QUERY | FRAGMENT;
        }
        match byte {
            b'#' => sets |= PATH | QUERY | SPECIAL_QUERY,
            b'?' | b'^' | b'{' | b'}' => sets |= PATH,
            b'`' => sets |= PATH | FRAGMENT,
            b'\'' => sets |= SPECIAL_QUERY,
            _ => {}
        }
        table[byte as usize] = sets;
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(sets: u8) -> Vec<u8> {
        (b'!'..0x7F).filter(|byte| is(*byte, sets)).collect()
    }

    #[test]
    fn tables_are_those_of_the_policy() {
        assert_eq!(members(PATH), b"\"#<>?^`{}");
        assert_eq!(members(QUERY), b"\"#<>");
        assert_eq!(members(SPECIAL_QUERY), b"\"#'<>");
        assert_eq!(members(FRAGMENT), b"\"<>`");
        for byte in (0..=b' ').chain(0x7F..=0xFF) {
            assert_eq!(
                CLASS[usize::from(byte)],
                PATH | QUERY | SPECIAL_QUERY | FRAGMENT
            );
        }
    }

    #[test]
    fn an_escape_has_two_hex_digits() {
        assert_eq!(escape_at(b"%7e/"), Some(b'~'));
        assert_eq!(escape_at(b"%aF"), Some(0xAF));
        assert_eq!(escape_at(b"%a"), None);
        assert_eq!(escape_at(b"%g0"), None);
        assert_eq!(escape_at(b"%0g"), None);
    }
}
