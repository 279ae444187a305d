//! What an input is, by its first bytes and never by its name.

use flate2::{Decompress, FlushDecompress};

/// First bytes of an input that [`sniff`] wants to see; fewer if it is shorter.
pub const SNIFFED: usize = 1 << 16;

/// How an input is stored, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Of the bytes as stored.
    pub compression: Compression,
    /// Of the bytes when decompressed.
    pub content: Content,
}

/// How the bytes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    Plain,
    /// Gzip members.
    Gzip,
    /// Zstandard frames.
    Zstd,
}

/// What the bytes are when decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// WARC records.
    Warc,
    /// ARC, the format before WARC.
    Arc,
    /// A CDX index, with a header line or with 9 or 11 columns.
    Cdx,
    /// A CDXJ index.
    Cdxj,
    /// A zip archive (WACZ).
    Zip,
    /// No bytes.
    Empty,
    /// Something else.
    Unknown,
}

/// Tells the format of an input from its first bytes.
#[must_use]
pub fn sniff(first: &[u8]) -> Format {
    let compression = compression(first);
    let content = match compression {
        Compression::Plain => content(first),
        Compression::Gzip => inflated(first),
        Compression::Zstd => framed(first),
    };
    Format {
        compression,
        content,
    }
}

fn compression(first: &[u8]) -> Compression {
    if first.starts_with(b"\x1f\x8b\x08") {
        Compression::Gzip
    } else if first.starts_with(b"\x28\xb5\x2f\xfd") || first.starts_with(b"\x5d\x2a\x4d\x18") {
        Compression::Zstd
    } else {
        Compression::Plain
    }
}

/// The content of the first members that hold anything. A damaged first member may give nothing: then a later one
/// tells.
fn inflated(first: &[u8]) -> Content {
    let mut found = Content::Empty;
    let mut out = vec![0; SNIFFED];
    let mut inflate = Decompress::new_gzip(15);
    for start in memchr::memmem::find_iter(first, b"\x1f\x8b\x08").take(64) {
        inflate.reset(true);
        // An error after good bytes still leaves these.
        inflate
            .decompress(&first[start..], &mut out, FlushDecompress::None)
            .ok();
        let n = usize::try_from(inflate.total_out()).expect("no more than the buffer holds");
        match content(&out[..n]) {
            Content::Empty => {}
            Content::Unknown => found = Content::Unknown,
            known => return known,
        }
    }
    found
}

/// The content of the first frame. Only WARC files have a dictionary, which may be longer than `first`.
fn framed(first: &[u8]) -> Content {
    match super::zstd::first_bytes(first).map(|text| content(&text)) {
        None | Some(Content::Empty) if super::zstd::has_dictionary(first) => Content::Warc,
        Some(known) => known,
        None => Content::Unknown,
    }
}

fn content(text: &[u8]) -> Content {
    let start = text.iter().position(|byte| !b"\r\n\0".contains(byte));
    let Some(trimmed) = start.map(|start| &text[start..]) else {
        return if text.is_empty() {
            Content::Empty
        } else {
            Content::Unknown
        };
    };
    if trimmed.starts_with(b"PK\x03\x04") {
        Content::Zip
    } else if trimmed.starts_with(b"filedesc:") {
        Content::Arc
    } else if starts_with_version(trimmed) {
        Content::Warc
    } else if points_at_blocks(trimmed) {
        Content::Unknown
    } else if let Some(index) = lines(text).take(16).find_map(index_line) {
        index
    } else if lines(trimmed).next().is_some_and(is_arc_line) {
        Content::Arc
    } else if has_record(text) {
        Content::Warc
    } else {
        Content::Unknown
    }
}

/// `WARC/` and a digit, in any case.
fn starts_with_version(text: &[u8]) -> bool {
    text.len() > 5 && text[..5].eq_ignore_ascii_case(b"WARC/") && text[5].is_ascii_digit()
}

/// Damage at the start of a WARC file: its first whole record comes later.
fn has_record(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"\nWARC/").any(|at| {
        starts_with_version(&text[at + 1..])
            && lines(&text[at + 1..])
                .nth(1)
                .is_some_and(|line| line.len() > 5 && line[..5].eq_ignore_ascii_case(b"WARC-"))
    })
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
}

/// The `index.idx` of a WACZ looks like CDXJ, but its lines are about blocks of `index.cdx.gz`.
fn points_at_blocks(text: &[u8]) -> bool {
    lines(text).next().is_some_and(|line| {
        line.starts_with(b"!meta ") && memchr::memmem::find(line, b"\"cdxj-gzip-").is_some()
    })
}

/// `CDX` and letters, one delimiter before each; a blank at the start of the line may be lost.
fn is_cdx_header(line: &[u8]) -> bool {
    let (delimiter, letters) = match line {
        [b'C', b'D', b'X', delimiter, letters @ ..] => (*delimiter, letters),
        [first, b'C', b'D', b'X', delimiter, letters @ ..] if first == delimiter => {
            (*delimiter, letters)
        }
        _ => return false,
    };
    !delimiter.is_ascii_alphanumeric()
        && letters
            .split(|byte| *byte == delimiter)
            .all(|letter| letter.len() == 1)
}

/// A CDX header line, a CDX line with date and URL in their places, a CDXJ line.
fn index_line(line: &[u8]) -> Option<Content> {
    if is_cdx_header(line) {
        return Some(Content::Cdx);
    }
    let mut columns = line.split(|byte| *byte == b' ');
    let (key, date) = (columns.next()?, columns.next()?);
    let is_date = matches!(date.len(), 14 | 17) && date.iter().all(u8::is_ascii_digit);
    if key.is_empty() || !is_date {
        return None;
    }
    let rest = columns.clone().count();
    let next = columns.next()?;
    if next.starts_with(b"{") {
        Some(Content::Cdxj)
    } else {
        // 7 columns from a server, 9 to 11 in files, 12 and 14 with a revisit's original, some blanks in a URL.
        ((5..=14).contains(&rest) && next.contains(&b':')).then_some(Content::Cdx)
    }
}

/// `URL IP-address date mime length`, and five more columns in version 2; the URL may hold blanks.
fn is_arc_line(line: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let columns: Vec<_> = line.rsplit(|byte| *byte == b' ').take(9).collect();
    let has_date = |index: usize| {
        columns
            .get(index)
            .is_some_and(|date| date.len() == 14 && is_number(date))
    };
    columns.len() >= 5
        && is_number(columns[0])
        && (has_date(2) || has_date(7))
        && memchr::memchr(b':', line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn tells_contents_by_their_first_bytes() {
        for (text, expected) in [
            (&b"WARC/1.0\r\nWARC-Type: response\r\n"[..], Content::Warc),
            (b"warc/0.17\n", Content::Warc),
            (b"\r\n\0WARC/1.1\r\n", Content::Warc),
            (b"ype: response\r\n\r\nx\r\n\r\nWARC/1.1\r\nWARC-Type: response", Content::Warc),
            (b"the text WARC/1.1 is not one\nWARC/1.1 neither\n", Content::Unknown),
            (b" CDX N b a m s k r M S V g\n", Content::Cdx),
            (b"com,example)/ 20140103030321 http://example.com/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 1043 333 example.warc.gz\n", Content::Cdx),
            (b"com,example)/ 20140103030321 http://example.com/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - 333 example.warc.gz\n", Content::Cdx),
            (b"\tCDX\tN\tb\ta\n", Content::Cdx),
            (b"CDX N b a m s k r V g\n", Content::Cdx),
            (b"CDX is a format of indexes\n", Content::Unknown),
            (b"com,example)/ 20140103030321 http://example.com/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 1043\n", Content::Cdx),
            (b"com,example)/ 20140103030321 http://example.com/a b c text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 1043 333 example.warc.gz\n", Content::Cdx),
            (b"key 20140103030321 some text about nothing much here\n", Content::Unknown),
            (b"!meta 0 {\"format\": \"cdxj-gzip-1.0\"}\ncom,example)/ 20140103030321 {\"offset\": 0}\n", Content::Unknown),
            (b"com,example)/ 20140103030321 {\"url\": \"http://example.com/\"}\n", Content::Cdxj),
            (b"!OpenWayback-CDXJ 1.0\ncom,example)/ 20140103030321 {\"url\": \"http://example.com/\"}\n", Content::Cdxj),
            (b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain 76\n", Content::Arc),
            (b"http://example.com/ 1.2.3.4 20080430204825 text/html 76\nHTTP", Content::Arc),
            (b"http://example.com/ 1.2.3.4 20080430204825 text/html 200 - - 0 a.arc 76\nHTTP", Content::Arc),
            (b"PK\x03\x04", Content::Zip),
            (b"<!doctype html><title>404</title>\n", Content::Unknown),
            (b"http://example.com/\nhttp://example.org/\n", Content::Unknown),
            (b"", Content::Empty),
            (b"\r\n\r\n", Content::Unknown),
        ] {
            let plain = Format { compression: Compression::Plain, content: expected };
            assert_eq!(sniff(text), plain, "{}", text.escape_ascii());
            let format = Format { compression: Compression::Gzip, content: expected };
            assert_eq!(sniff(&gzip(text)), format, "gzip of {}", text.escape_ascii());
        }
    }

    #[test]
    fn looks_past_an_empty_or_damaged_first_member() {
        let warc = gzip(b"WARC/1.0\r\n");
        assert_eq!(
            sniff(&[gzip(b""), warc.clone()].concat()).content,
            Content::Warc
        );
        assert_eq!(sniff(&[&warc[..10], &warc].concat()).content, Content::Warc);
        assert_eq!(sniff(&warc[..warc.len() - 9]).content, Content::Warc);
    }
}
