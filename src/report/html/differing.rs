//! What differs between two URLs.

/// Pieces of a middle that are held against each other one by one; longer middles differ as a whole.
const PIECES_MAX: usize = 300;
/// Bytes of equal text that stand in front of the first difference of a long URL.
const LEAD_MAX: usize = 300;
/// Bytes of a URL that are shown.
const SHOWN_MAX: usize = 2000;

/// A part of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// In both.
    Same,
    /// In this one only.
    Own,
    /// No text of the URL: says what was left out.
    Note,
}

/// Both URLs in parts, each cut where it is very long but not before the first difference.
#[must_use]
pub(super) fn parts(a: &str, b: &str) -> [Vec<Part>; 2] {
    let (pieces_a, pieces_b) = (pieces(a), pieces(b));
    let equal = |(a, b): &(&&str, &&str)| a == b;
    let n_front = pieces_a.iter().zip(&pieces_b).take_while(equal).count();
    let (rest_a, rest_b) = (&pieces_a[n_front..], &pieces_b[n_front..]);
    let n_back = rest_a
        .iter()
        .rev()
        .zip(rest_b.iter().rev())
        .take_while(equal)
        .count();
    let middle_a = &rest_a[..rest_a.len() - n_back];
    let middle_b = &rest_b[..rest_b.len() - n_back];
    let (same_a, same_b) = common(middle_a, middle_b);
    [(&pieces_a, same_a), (&pieces_b, same_b)].map(|(pieces, same)| {
        let n_middle = same.len();
        let is_same =
            |index: usize| index < n_front || index >= n_front + n_middle || same[index - n_front];
        cut(joined(pieces, is_same))
    })
}

/// Runs of letters and digits, escapes, and each other character by itself.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let n_word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_escape = first == '%'
            && rest
                .bytes()
                .skip(1)
                .take(2)
                .filter(u8::is_ascii_hexdigit)
                .count()
                == 2;
        let len = match (n_word, is_escape) {
            (0, true) => 3,
            (0, false) => first.len_utf8(),
            _ => n_word,
        };
        let (piece, after) = rest.split_at(len);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// For each piece whether it belongs to a longest common subsequence.
fn common(a: &[&str], b: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let mut same = (vec![false; a.len()], vec![false; b.len()]);
    if a.len() > PIECES_MAX || b.len() > PIECES_MAX {
        return same;
    }
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    for (i, piece) in a.iter().enumerate().rev() {
        for (j, other) in b.iter().enumerate().rev() {
            lengths[i * width + j] = if piece == other {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (same.0[i], same.1[j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    same
}

fn joined(pieces: &[&str], is_same: impl Fn(usize) -> bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let kind = if is_same(index) {
            Kind::Same
        } else {
            Kind::Own
        };
        match parts.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(piece),
            _ => parts.push(Part {
                text: (*piece).to_owned(),
                kind,
            }),
        }
    }
    parts
}

/// Leaves out most of a long common beginning, and what is beyond the limit.
fn cut(parts: Vec<Part>) -> Vec<Part> {
    let n_bytes: usize = parts.iter().map(|part| part.text.len()).sum();
    if n_bytes <= SHOWN_MAX {
        return parts;
    }
    let mut kept = Vec::new();
    let mut room = SHOWN_MAX;
    let mut n_left_out = 0;
    for (index, part) in parts.into_iter().enumerate() {
        if index == 0 && part.kind == Kind::Same && part.text.len() > 2 * LEAD_MAX {
            let (front, rest) = part.text.split_at(boundary(&part.text, LEAD_MAX));
            let (hidden, back) = rest.split_at(boundary(rest, rest.len() - LEAD_MAX));
            kept.extend([same(front), note(hidden.len(), "equal bytes"), same(back)]);
            room -= front.len() + back.len();
            continue;
        }
        let (shown, hidden) = part.text.split_at(boundary(&part.text, room));
        if !shown.is_empty() {
            kept.push(Part {
                text: shown.to_owned(),
                kind: part.kind,
            });
        }
        room -= shown.len();
        n_left_out += hidden.len();
    }
    if n_left_out > 0 {
        kept.push(note(n_left_out, "more bytes"));
    }
    kept
}

fn same(text: &str) -> Part {
    Part {
        text: text.to_owned(),
        kind: Kind::Same,
    }
}

fn note(n_bytes: usize, what: &str) -> Part {
    Part {
        text: format!(" \u{2026} {n_bytes} {what} \u{2026} "),
        kind: Kind::Note,
    }
}

/// The last place between two characters up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|place| text.is_char_boundary(*place))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts as text, own ones in brackets, notes in braces.
    fn marked(parts: &[Part]) -> String {
        parts
            .iter()
            .map(|part| match part.kind {
                Kind::Same => part.text.clone(),
                Kind::Own => format!("[{}]", part.text),
                Kind::Note => format!("{{{}}}", part.text),
            })
            .collect()
    }

    #[test]
    fn marks_what_only_one_of_them_has() {
        for (a, b, marked_a, marked_b) in [
            (
                "http://www.a.test/x",
                "http://a.test/x",
                "http://[www.]a.test/x",
                "http://a.test/x",
            ),
            (
                "http://a.test/About",
                "http://a.test/about",
                "http://a.test/[About]",
                "http://a.test/[about]",
            ),
            (
                "http://www.a.test/x/",
                "http://a.test/x",
                "http://[www.]a.test/x[/]",
                "http://a.test/x",
            ),
            (
                "http://a.test/%41b",
                "http://a.test/%42b",
                "http://a.test/[%41]b",
                "http://a.test/[%42]b",
            ),
            (
                "http://a.test/?b=2&a=1",
                "http://a.test/?a=1&b=2",
                "http://a.test/?[b=2&]a=1",
                "http://a.test/?a=1[&b=2]",
            ),
            (
                "http://a.test/\u{fc}",
                "http://a.test/",
                "http://a.test/[\u{fc}]",
                "http://a.test/",
            ),
            ("", "", "", ""),
        ] {
            let [of_a, of_b] = parts(a, b);
            assert_eq!(marked(&of_a), marked_a);
            assert_eq!(marked(&of_b), marked_b);
        }
    }

    #[test]
    fn a_long_url_is_cut_but_never_before_what_differs() {
        let long = format!("http://a.test/{}", "x/".repeat(3000));
        let [own, _] = parts(&format!("{long}A"), &format!("{long}b"));
        let shown = marked(&own);
        assert!(shown.ends_with("x/[A]"), "{shown}");
        assert!(
            shown.contains("{ \u{2026} 5414 equal bytes \u{2026} }"),
            "{shown}"
        );
        let [own, _] = parts(&format!("{}A", "y.".repeat(1500)), "b");
        assert!(
            marked(&own).ends_with("{ \u{2026} 1001 more bytes \u{2026} }"),
            "{}",
            marked(&own)
        );
    }

    #[test]
    fn parts_put_together_are_the_url() {
        for (a, b) in [
            ("http://a/b?c", "http://d/b?e"),
            ("aaaa", "aa"),
            ("a.a.a", "a.b.a.c"),
        ] {
            let whole = parts(a, b)
                .map(|parts| parts.into_iter().map(|part| part.text).collect::<String>());
            assert_eq!(whole, [a, b]);
        }
    }
}
