//! Bets on escapes (RFC 3986 §2): what SURT does, offered so that it can be measured.

use crate::uri::percent::push_escape;
use crate::uri::table::{GEN_DELIMS, SUB_DELIMS, UNRESERVED, escape_at, is};

/// `escapes=encode-grey`: `|` `[` `]` `\` and a stray `%` become escapes. Merges wrongly: `/a|b` and
/// `/a%7Cb` on a server that looks at the raw bytes. Not merged: `/%7C` and `/|%7C`.
pub(super) fn encode_grey(component: &[u8], out: &mut Vec<u8>) {
    for (index, &byte) in component.iter().enumerate() {
        let is_grey = match byte {
            b'|' | b'[' | b']' | b'\\' => true,
            b'%' => escape_at(&component[index..]).is_none(),
            _ => false,
        };
        if is_grey {
            push_escape(byte, out);
        } else {
            out.push(byte);
        }
    }
}

/// `escapes=decode-sub-delims`: `%2C` is `,` (RFC 3986 §2.2). Merges wrongly: `?a=1%262` and `?a=1&2`, a
/// delimiter and text that looks like one. Not merged: `/a%2Fb` and `/a/b`.
pub(super) fn decode_sub_delims(component: &[u8], encoded: u8, out: &mut Vec<u8>) {
    decode(component, SUB_DELIMS, encoded, out);
}

/// `escapes=decode-reserved`: `%2F` is `/`, but where the character may not stand as it is (`%3F` in
/// a path, `%23`). Merges wrongly: `/a%2Fb` and `/a/b`. Not merged: `/a%3Fb` and `/a?b`.
pub(super) fn decode_reserved(component: &[u8], encoded: u8, out: &mut Vec<u8>) {
    decode(component, SUB_DELIMS | GEN_DELIMS, encoded, out);
}

fn decode(component: &[u8], sets: u8, encoded: u8, out: &mut Vec<u8>) {
    let mut index = 0;
    while index < component.len() {
        match escape_at(&component[index..]) {
            Some(byte) if is(byte, sets) && !is(byte, encoded) => {
                out.push(byte);
                index += 3;
            }
            _ => {
                out.push(component[index]);
                index += 1;
            }
        }
    }
}

/// `escapes=decode-repeated`: `%252541` is `A`; a `?` or `#` that comes out of it ends the component.
/// Merges wrongly: `?u=http://b/%3Fc%26d` and `?u=http://b/?c&d`, a URL in a parameter and parameters of
/// its own (RFC 3986 §2.4 forbids it). Not merged: `/%E9` and `/%C3%A9`. One pass from the left, over
/// what has come out so far, since a decoded byte may complete an escape.
///
/// Bytes that may not stand there, but for `?` and `#`, become escapes again.
pub(super) fn decode_repeated(
    component: &[u8],
    encoded: u8,
    work: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    work.clear();
    for &byte in component {
        work.push(byte);
        while let Some(start) = work.len().checked_sub(3)
            && let Some(byte) = escape_at(&work[start..])
        {
            work.truncate(start);
            work.push(byte);
        }
    }
    for &byte in work.iter() {
        if is(byte, encoded) && !matches!(byte, b'?' | b'#') && !is(byte, UNRESERVED) {
            push_escape(byte, out);
        } else {
            out.push(byte);
        }
    }
}
