//! The visible text of a page without its digits, hashed as the bytes come: pages that differ by a clock or a counter
//! have the same.
//!
//! ```text
//! text --"<"--> tag, with quoted values --">"--> text, or within <script> and <style> their end tag
//!      \------> comment --"-->"--> text
//! ```
//!
//! Of the bytes between, digits go, then each run of white space is one blank, none at begin and end. A digit of `&#8217;` is
//! no digit of the text. All that is kept between pieces is a state, a name of seven bytes and a buffer for the hash.

use xxhash_rust::xxh3::Xxh3;

/// How text is marked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// HTML or XHTML.
    Html,
    /// Plain text: all of it is visible.
    Plain,
}

impl Syntax {
    /// By the media type without parameters; `None` for what is no text.
    pub(super) fn of(mime: &[u8]) -> Option<Self> {
        const NAMES: [(&[u8], Syntax); 3] = [
            (b"text/html", Syntax::Html),
            (b"application/xhtml+xml", Syntax::Html),
            (b"text/plain", Syntax::Plain),
        ];
        NAMES
            .iter()
            .find(|(name, _)| mime.eq_ignore_ascii_case(name))
            .map(|(_, syntax)| *syntax)
    }
}

/// Bytes that are hashed at once.
const BUFFER: usize = 256;

/// One more than the longest name that matters, `script`.
const NAME_MAX: usize = 7;

/// Hashes the text of one payload after the other.
pub(super) struct Text {
    /// `None`: the payload's text is not asked for.
    syntax: Option<Syntax>,
    state: State,
    /// Of the start tag, in lower case; its first bytes.
    name: [u8; NAME_MAX],
    n_name: usize,
    /// The last byte of the tag was a slash.
    is_closed: bool,
    /// White space came since the last byte of text.
    is_blank_due: bool,
    has_text: bool,
    out: [u8; BUFFER],
    n_out: usize,
    hash: Xxh3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// Behind `&`.
    Ampersand,
    /// Behind `&#`.
    Reference,
    /// Behind `<`.
    Open,
    /// In the name of a start tag.
    Name,
    /// In a tag, behind its name.
    Attributes,
    /// Behind `=`.
    Value,
    /// In a value, up to this quote.
    Quoted(u8),
    /// Behind `<!`.
    Bang,
    /// Behind `<!-`.
    BangDash,
    /// In a comment, behind so many dashes, at most two.
    Comment(u8),
    /// In a declaration or instruction.
    Declaration,
    /// In a script or style sheet; so many bytes of its end tag were seen.
    Raw(usize),
}

impl Text {
    pub(super) fn new() -> Self {
        Self {
            syntax: None,
            state: State::Text,
            name: [0; NAME_MAX],
            n_name: 0,
            is_closed: false,
            is_blank_due: false,
            has_text: false,
            out: [0; BUFFER],
            n_out: 0,
            hash: Xxh3::new(),
        }
    }

    /// Forgets the last payload and starts another.
    pub(super) fn begin(&mut self, syntax: Option<Syntax>) {
        self.syntax = syntax;
        self.state = State::Text;
        self.is_blank_due = false;
        self.has_text = false;
        self.n_out = 0;
        self.hash.reset();
    }

    /// Takes bytes of the payload.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self.syntax {
            None => {}
            Some(Syntax::Plain) => bytes.iter().for_each(|byte| self.put_visible(*byte)),
            Some(Syntax::Html) => bytes.iter().for_each(|byte| self.take(*byte)),
        }
    }

    /// The hash, if the payload ends here; `None` where no text shows. Markup that is not ended is no text.
    pub(super) fn hash(&self) -> Option<u64> {
        self.has_text.then(|| {
            let mut hash = self.hash.clone();
            hash.update(&self.out[..self.n_out]);
            hash.digest()
        })
    }

    fn take(&mut self, byte: u8) {
        match self.state {
            State::Text => self.take_text(byte),
            State::Ampersand if byte == b'#' => {
                self.put(byte);
                self.state = State::Reference;
            }
            State::Reference if byte.is_ascii_alphanumeric() => self.put(byte),
            State::Ampersand | State::Reference => self.take_text(byte),
            State::Open => self.take_open(byte),
            State::Name | State::Attributes | State::Value | State::Quoted(_) => {
                self.take_tag(byte);
            }
            State::Bang | State::BangDash | State::Comment(_) | State::Declaration => {
                self.state = in_declaration(self.state, byte);
            }
            State::Raw(n) => self.take_raw(n, byte),
        }
    }

    fn take_text(&mut self, byte: u8) {
        self.state = match byte {
            b'<' => State::Open,
            b'&' => {
                self.put(byte);
                State::Ampersand
            }
            _ => {
                self.put_visible(byte);
                State::Text
            }
        };
    }

    /// A `<` that opens nothing is text.
    fn take_open(&mut self, byte: u8) {
        match byte {
            b'!' => self.state = State::Bang,
            b'?' => self.state = State::Declaration,
            b'/' => self.start_end_tag(),
            _ if byte.is_ascii_alphabetic() => {
                self.n_name = 0;
                self.is_closed = false;
                self.push_name(byte);
                self.state = State::Name;
            }
            _ => {
                self.put(b'<');
                self.take_text(byte);
            }
        }
    }

    fn take_tag(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Quoted(quote), _) if byte != quote => return,
            (State::Quoted(_), _) => State::Attributes,
            (_, b'>') => return self.end_tag(),
            (State::Value, b'"' | b'\'') => State::Quoted(byte),
            (State::Value, _) if byte.is_ascii_whitespace() => return,
            (State::Name, _) if !byte.is_ascii_whitespace() && byte != b'/' => {
                return self.push_name(byte);
            }
            (State::Attributes, b'=') => State::Value,
            _ => State::Attributes,
        };
        self.is_closed = byte == b'/';
    }

    fn push_name(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.n_name) {
            *place = byte.to_ascii_lowercase();
            self.n_name += 1;
        }
    }

    /// Its name does not matter.
    fn start_end_tag(&mut self) {
        self.n_name = 0;
        self.state = State::Attributes;
    }

    /// Behind the start tag of a script or style sheet nothing is visible, unless it is empty as XML has it.
    fn end_tag(&mut self) {
        let is_raw = matches!(&self.name[..self.n_name], b"script" | b"style");
        self.state = if is_raw && !self.is_closed {
            State::Raw(0)
        } else {
            State::Text
        };
    }

    fn take_raw(&mut self, n: usize, byte: u8) {
        let expected = match n {
            0 => Some(b'<'),
            1 => Some(b'/'),
            _ => self.name[..self.n_name].get(n - 2).copied(),
        };
        match expected {
            Some(expected) if byte.eq_ignore_ascii_case(&expected) => {
                self.state = State::Raw(n + 1);
            }
            None if byte == b'>' => self.state = State::Text,
            None if byte.is_ascii_whitespace() || byte == b'/' => self.start_end_tag(),
            _ => self.state = State::Raw(usize::from(byte == b'<')),
        }
    }

    fn put_visible(&mut self, byte: u8) {
        if byte.is_ascii_whitespace() {
            self.is_blank_due = true;
        } else if !byte.is_ascii_digit() {
            self.put(byte);
        }
    }

    /// Hashes a byte, and before it the blank that is due.
    fn put(&mut self, byte: u8) {
        if std::mem::take(&mut self.is_blank_due) && self.has_text {
            self.write(b' ');
        }
        self.has_text = true;
        self.write(byte);
    }

    fn write(&mut self, byte: u8) {
        if self.n_out == BUFFER {
            self.hash.update(&self.out);
            self.n_out = 0;
        }
        self.out[self.n_out] = byte;
        self.n_out += 1;
    }
}

/// The state behind a byte of what starts with `<!` or `<?`.
fn in_declaration(state: State, byte: u8) -> State {
    match (state, byte) {
        (State::Bang, b'-') => State::BangDash,
        // These two may be those that end it: `<!-->`.
        (State::BangDash, b'-') => State::Comment(2),
        (State::Comment(2), b'>') => State::Text,
        (State::Comment(n), b'-') => State::Comment((n + 1).min(2)),
        (State::Comment(_), _) => State::Comment(0),
        (_, b'>') => State::Text,
        _ => State::Declaration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash_in_pieces(syntax: Syntax, pieces: &[&[u8]]) -> Option<u64> {
        let mut text = Text::new();
        // What an earlier payload leaves must not matter.
        text.begin(Some(Syntax::Html));
        text.push(b"x <script");
        text.begin(Some(syntax));
        pieces.iter().for_each(|piece| text.push(piece));
        text.hash()
    }

    /// What is hashed, in words.
    fn check(syntax: Syntax, payload: &str, visible: &str) {
        let expected = (!visible.is_empty()).then(|| xxh3_64(visible.as_bytes()));
        let bytes = payload.as_bytes();
        assert_eq!(hash_in_pieces(syntax, &[bytes]), expected, "{payload}");
        let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(hash_in_pieces(syntax, &one_by_one), expected, "{payload}");
        if syntax == Syntax::Html {
            assert_eq!(visible_naive(bytes), visible.as_bytes(), "{payload}");
        }
    }

    #[test]
    fn text_stands_outside_tags_comments_scripts_and_styles() {
        for (payload, visible) in [
            ("<p>one <b>two</b></p>", "one two"),
            ("  one\r\n\t two\n", "one two"),
            ("at 12:30:09 o'clock", "at :: o'clock"),
            ("a 1 b", "a b"),
            ("<p title=\"a > b\">x", "x"),
            ("<p title = 'a > b'>x", "x"),
            ("<p title=it's>x", "x"),
            ("<p a'b>x", "x"),
            ("a<!-- <p> -- > -->b", "ab"),
            ("a<!-->b", "ab"),
            ("a<!--->b", "ab"),
            ("a<!>b<!->c", "abc"),
            ("<!DOCTYPE html><?xml version='1.0'?>x", "x"),
            ("a<script>if (a < b) '</p>'</script>b", "ab"),
            ("a<SCRIPT type=x>y</scripts>z</Script >b", "ab"),
            ("a<script>x<</script/>b", "ab"),
            ("a<script src='x'/>b", "ab"),
            ("a<script src=x></script>b", "ab"),
            ("a<style>p { }</script></style>b", "ab"),
            ("<scripts>a</scripts>", "a"),
            ("a < b <3 <", "a < b <"),
            ("a</>b</ p>c", "abc"),
            ("&#8217;12 &#x2014;&amp;3 &#", "&#8217; &#x2014;&amp; &#"),
            ("&#12<b>34", "&#12"),
            ("&<b>#12", "&#"),
            ("a<p", "a"),
            ("<script>a", ""),
            ("<p>12:</p>", ":"),
            (" <p>12</p> ", ""),
        ] {
            check(Syntax::Html, payload, visible);
        }
    }

    #[test]
    fn all_of_plain_text_is_visible() {
        check(Syntax::Plain, "a <b>  &#12;\n", "a <b> &#;");
        check(Syntax::Plain, " 12\n", "");
    }

    #[test]
    fn only_text_is_text() {
        for (mime, expected) in [
            ("text/html", Some(Syntax::Html)),
            ("Application/XHTML+xml", Some(Syntax::Html)),
            ("text/plain", Some(Syntax::Plain)),
            ("text/css", None),
            ("", None),
        ] {
            assert_eq!(Syntax::of(mime.as_bytes()), expected, "{mime}");
        }
    }

    /// The slow twin: cuts the markup out of the whole page, then digits, then blanks.
    fn visible_naive(page: &[u8]) -> Vec<u8> {
        let mut visible = Vec::new();
        for run in runs_naive(page) {
            visible.extend(without_digits(&run));
        }
        let words: Vec<&[u8]> = visible
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        words.join(&b' ')
    }

    /// The runs of text between markup.
    fn runs_naive(page: &[u8]) -> Vec<Vec<u8>> {
        let mut runs = vec![Vec::new()];
        let mut at = 0;
        while at < page.len() {
            let rest = &page[at..];
            let opens = |next: &u8| next.is_ascii_alphabetic() || b"/!?".contains(next);
            if rest[0] != b'<' || rest.len() > 1 && !opens(&rest[1]) {
                runs.last_mut().unwrap().push(rest[0]);
                at += 1;
                continue;
            }
            match markup_len(rest) {
                Some(len) => at += len,
                None => break,
            }
            runs.push(Vec::new());
        }
        runs
    }

    /// Length of the markup at the start of `rest`; `None` if it does not end.
    fn markup_len(rest: &[u8]) -> Option<usize> {
        let find = |from: usize, what: &[u8]| {
            let at = memchr::memmem::find(rest.get(from..)?, what)?;
            Some(from + at + what.len())
        };
        if rest.starts_with(b"<!--") {
            return find(2, b"-->");
        }
        if rest.starts_with(b"<!") || rest.starts_with(b"<?") {
            return find(2, b">");
        }
        let len = tag_len(rest)?;
        let tag = rest[..len].to_ascii_lowercase();
        for end in [&b"</script"[..], b"</style"] {
            let name = &end[2..];
            let is_start = tag[1..].starts_with(name) && !is_in_name(tag[1 + name.len()]);
            if is_start && !tag.ends_with(b"/>") {
                let is_end = |at: &usize| {
                    let from = &rest[*at..];
                    from.get(..end.len())
                        .is_some_and(|found| found.eq_ignore_ascii_case(end))
                        && from.get(end.len()).is_some_and(|next| !is_in_name(*next))
                };
                let at = (len..rest.len()).find(is_end)?;
                let behind = at + end.len();
                // The rest of an end tag is read like that of any tag without a name.
                return Some(behind + tag_len(&rest[behind..])?);
            }
        }
        Some(len)
    }

    fn is_in_name(byte: u8) -> bool {
        !byte.is_ascii_whitespace() && byte != b'/' && byte != b'>'
    }

    /// Up to the first `>` in no quotes that stand behind `=`, which must come behind a start tag's name.
    fn tag_len(tag: &[u8]) -> Option<usize> {
        let is_named = tag.get(1).is_some_and(u8::is_ascii_alphabetic) && tag[0] == b'<';
        let mut at = if is_named {
            tag.iter().position(|byte| !is_in_name(*byte))?
        } else {
            0
        };
        while *tag.get(at)? != b'>' {
            if tag[at] == b'=' {
                let blanks = tag[at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace());
                at += 1 + blanks.count();
                let first = *tag.get(at)?;
                if first == b'>' {
                    break;
                }
                if first == b'"' || first == b'\'' {
                    at += 1 + tag[at + 1..].iter().position(|byte| *byte == first)?;
                }
            }
            at += 1;
        }
        Some(at + 1)
    }

    fn without_digits(run: &[u8]) -> Vec<u8> {
        let is_of_reference = |at: usize| {
            let before = &run[..at];
            let name = before
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
            before[..at - name].ends_with(b"&#")
        };
        (0..run.len())
            .filter(|at| !run[*at].is_ascii_digit() || is_of_reference(*at))
            .map(|at| run[at])
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn pieces_and_the_slow_twin_agree(
            page in proptest::collection::vec(
                prop_oneof![
                    "[a1 <>&#;!?/='\"-]",
                    "<script|</script|</SCRIPT>|<style>|</style >|<p|</p>|<!--|-->|<b x=|a{200}|[0-9]{1,3}| \n",
                ],
                0..40,
            ),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let page = page.concat().into_bytes();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(page.len() + 1)).collect();
            ends.extend([0, page.len()]);
            ends.sort_unstable();
            let pieces: Vec<&[u8]> = ends.windows(2).map(|pair| &page[pair[0]..pair[1]]).collect();
            let visible = visible_naive(&page);
            let expected = (!visible.is_empty()).then(|| xxh3_64(&visible));
            prop_assert_eq!(hash_in_pieces(Syntax::Html, &pieces), expected);
        }
    }
}
