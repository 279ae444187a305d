//! Dot-segments (RFC 3986 §5.2.4). Knows bytes only.

/// Removes the dot-segments of the path that starts at `start` with a `/` and ends with `text`; says
/// whether there were any.
///
/// `/a/b/..` is `/a/` and `/m/.` is `/m/`, which is not `/m`; `//` stays, since an empty segment is
/// a segment. A dot-segment of escapes (`%2e%2e`) has been decoded before: the order matters.
pub(crate) fn remove(text: &mut Vec<u8>, start: usize) -> bool {
    let Some(first) = text[start..].windows(2).position(|two| two == b"/.") else {
        return false;
    };
    let (mut read, mut write) = (start + first, start + first);
    while read < text.len() {
        let end = segment_end(text, read + 1);
        match &text[read + 1..end] {
            b"." | b".." => {
                if end - read == 3 {
                    let parent = text[start..write].iter().rposition(|byte| *byte == b'/');
                    write = start + parent.unwrap_or(0);
                }
                if end == text.len() {
                    text[write] = b'/';
                    write += 1;
                }
            }
            _ => {
                text.copy_within(read..end, write);
                write += end - read;
            }
        }
        read = end;
    }
    let changed = write != text.len();
    text.truncate(write);
    changed
}

/// Where the segment that starts at `from` ends.
fn segment_end(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'/', &text[from..]).map_or(text.len(), |len| from + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let mut text = [b"x:", input.as_bytes()].concat();
        let changed = remove(&mut text, 2);
        assert_eq!(text[2..].escape_ascii().to_string(), expected);
        assert_eq!(changed, input != expected);
    }

    #[test]
    fn removes_what_the_standard_removes() {
        check("/a/b/c/./../../g", "/a/g");
        check("/q/c/../b", "/q/b");
        check("/../k", "/k");
        check("/a/b/..", "/a/");
        check("/m/.", "/m/");
        check("/..", "/");
        check("/.", "/");
        check("/../../", "/");
    }

    #[test]
    fn empty_segments_are_segments() {
        check("//a", "//a");
        check("/a//../b", "/a/b");
        check("//..", "/");
        check("/a/..//b", "//b");
    }

    #[test]
    fn names_with_dots_stay() {
        check("/.a/..b/c./d../...", "/.a/..b/c./d../...");
        check("/a.", "/a.");
    }
}
