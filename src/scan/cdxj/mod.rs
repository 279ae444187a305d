//! Reads CDXJ: `urlkey SP timestamp SP {json}`, as written by pywb, cdxj-indexer, jwarc and Common Crawl, and the bare JSON
//! lines of Common Crawl's index server. Must never touch files or threads, nor call another format's reader.
//!
//! ```text
//! the JSON starts at the first `{` that stands behind a timestamp
//! run over its members; keep where the values of known names lie, decoded only if they have escapes
//! ```

mod json;

use crate::capture::{Event, Warning};
use crate::scan::cdxj::json::{Members, Text, Value};
use crate::scan::index_line::{Scratch, Statement, is_date};
use crate::scan::lines::{self, Line, Parse};

/// A CDXJ file, piece by piece.
pub type Reader = lines::Reader<Parser>;

/// A line, cut where the JSON starts.
#[derive(Clone, Copy)]
struct Split<'a> {
    urlkey: &'a [u8],
    date: &'a [u8],
    json: &'a [u8],
}

/// A key may have blanks and braces in it, so the JSON is what stands behind a date; failing that, behind the first blank and brace.
fn split(line: &[u8]) -> Option<Split<'_>> {
    let mut first = None;
    for brace in memchr::memchr_iter(b'{', line) {
        let before = line[..brace].trim_ascii_end();
        if brace > 0 && before.len() == brace {
            continue;
        }
        let blank = before.iter().rposition(u8::is_ascii_whitespace);
        let (urlkey, date) = blank.map_or((before, &b""[..]), |at| before.split_at(at));
        let found = Split {
            urlkey: urlkey.trim_ascii(),
            date: date.trim_ascii(),
            json: &line[brace..],
        };
        if before.is_empty() || is_date(found.date) {
            return Some(found);
        }
        first.get_or_insert(found);
    }
    first
}

/// Reads the lines of a CDXJ.
#[derive(Debug, Default)]
pub struct Parser {
    members: Members,
    /// A `!meta` line said that the lines are of a zipnum index (`index.idx` in a WACZ): they point at blocks, not captures.
    points_at_blocks: bool,
    /// What of that was taken for granted at the start.
    assumed: bool,
    scratch: Scratch,
}

impl Parse for Parser {
    fn further_on(&self) -> Self {
        Self {
            points_at_blocks: self.points_at_blocks,
            assumed: self.points_at_blocks,
            ..Self::default()
        }
    }

    fn next(&self) -> Self {
        self.further_on()
    }

    fn follows(&self, before: &Self) -> bool {
        self.assumed == before.points_at_blocks
    }

    fn line(&mut self, line: Line<'_>, sink: &mut impl FnMut(Event<'_>)) {
        let mut text = line.text;
        if line.place.is_first() {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        let is_remark = matches!(text.first(), None | Some(b'!' | b'#'));
        if text.starts_with(b"!meta") {
            self.points_at_blocks = memchr::memmem::find(text, b"\"cdxj-gzip-").is_some();
        }
        if is_remark || text.starts_with(b" CDX") || text.trim_ascii().is_empty() {
            return sink(Event::Ignored);
        }
        if text.iter().all(|byte| *byte == 0) {
            return sink(Event::Warning(Warning::ZeroPadding));
        }
        let Some(parts) = split(text) else {
            return sink(line.place.damage("not a line of CDXJ: no JSON object"));
        };
        match read(parts, &mut self.members) {
            Ok(statement) => statement.emit(line.place, &mut self.scratch, sink),
            Err(NO_URL) if self.points_at_blocks => sink(Event::Ignored),
            Err(json::BROKEN) if !line.is_terminated => {
                sink(line.place.damage("incomplete last line"));
            }
            Err(what) => sink(line.place.damage(what)),
        }
    }

    fn is_whole(&mut self, text: &[u8]) -> bool {
        split(text).is_some_and(|parts| read(parts, &mut self.members).is_ok())
    }
}

/// The statement of a line, whose decoded values lie in `members`.
fn read<'a>(parts: Split<'a>, members: &'a mut Members) -> Result<Statement<'a>, &'static str> {
    let mut values = [Text::NONE; N_FIELDS];
    members.read(parts.json, |name, value| {
        if let Some(field) = Field::of_name(name) {
            values[field as usize] = match value {
                Value::Text(text) => text,
                Value::Other => Text::NONE,
            };
        }
    })?;
    let value = |field: Field| members.text(parts.json, values[field as usize]);
    let or = |stated: &'a [u8], other: &'a [u8]| if stated.is_empty() { other } else { stated };
    let statement = Statement {
        urlkey: or(parts.urlkey, value(Field::Urlkey)),
        date: or(parts.date, value(Field::Timestamp)),
        url: value(Field::Url),
        mime: value(Field::Mime),
        status: value(Field::Status),
        digest: value(Field::Digest),
        redirect: value(Field::Redirect),
        length: value(Field::Length),
        offset: value(Field::Offset),
        file: value(Field::Filename),
        truncated: value(Field::Truncated),
        method: value(Field::Method),
        request_body: value(Field::RequestBody),
        ..Statement::default()
    };
    if matches!(statement.url, b"" | b"-") {
        return Err(NO_URL);
    }
    Ok(statement)
}

const NO_URL: &str = "no url in the line";

/// The members that are read; all others are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Urlkey,
    Timestamp,
    Url,
    Mime,
    Status,
    Digest,
    Redirect,
    Length,
    Offset,
    Filename,
    Truncated,
    Method,
    RequestBody,
}

/// One more than the last of them.
const N_FIELDS: usize = Field::RequestBody as usize + 1;

impl Field {
    fn of_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"urlkey" => Self::Urlkey,
            b"timestamp" => Self::Timestamp,
            b"url" => Self::Url,
            b"mime" => Self::Mime,
            b"status" => Self::Status,
            b"digest" => Self::Digest,
            b"redirect" => Self::Redirect,
            b"length" => Self::Length,
            b"offset" => Self::Offset,
            b"filename" => Self::Filename,
            b"truncated" => Self::Truncated,
            b"method" => Self::Method,
            b"requestBody" => Self::RequestBody,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::FileId;
    use crate::scan::index_line::tests::told;
    use crate::source::Piece;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]], tell: impl Fn(&Event<'_>) -> Option<String>) -> Vec<String> {
        let mut reader = Reader::new(FileId(0));
        let mut found = Vec::new();
        let mut offset = 0;
        let mut sink = |event: Event<'_>| found.extend(tell(&event));
        for bytes in pieces {
            reader.push(Piece::Bytes { bytes, offset }, &mut sink);
            offset += bytes.len() as u64;
        }
        reader.finish(&mut sink);
        found
    }

    fn check(text: &[u8], expected: &[&str]) {
        let found = events(&[text], |event| {
            (!matches!(event, Event::Record { .. })).then(|| told(event))
        });
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }

    const A: &str =
        "http://a.com/ 2024-05-01T12:00:00Z Some(200) text/html Unchecked 900+Some(500) a.warc.gz";

    #[test]
    fn reads_what_each_tool_writes() {
        for line in [
            // pywb, Common Crawl
            r#"com,a)/ 20240501120000 {"url": "http://a.com/", "mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": "ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ", "length": "500", "offset": "900", "filename": "a.warc.gz", "charset": "UTF-8", "languages": "eng"}"#,
            // cdxj-indexer, jwarc, in a WACZ
            r#"com,a)/ 20240501120000 {"url":"http://a.com/","mime":"text/html","status":"200","digest":"sha1:ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ","length":"500","offset":"900","filename":"a.warc.gz","recordDigest":"sha256:00"}"#,
            // Common Crawl's index server
            r#"{"urlkey": "com,a)/", "timestamp": "20240501120000", "url": "http://a.com/", "mime": "text/html", "status": "200", "digest": "ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ", "length": "500", "offset": "900", "filename": "a.warc.gz"}"#,
            // Numbers, nested values, escapes, blanks and braces in the key.
            r#"com,a)/b {c {d 20240501120000 {"url":"http:\/\/a.com\u002f","mime":"text/html","x":{"url":["}"]},"status":200,"digest":"ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ","length":500,"offset":900,"filename":"a.warc.gz"}  "#,
        ] {
            check(line.as_bytes(), &[A]);
        }
    }

    #[test]
    fn absent_fields_are_unknown() {
        check(
            br#"com,a)/ 20240501120000 {"url": "http://a.com/", "status": null, "mime": "warc/revisit", "offset": "1"}"#,
            &["http://a.com/ 2024-05-01T12:00:00Z None  Absent 1+None "],
        );
        for key in ["com,a)/ 20240231120000", "com,a)/ yesterday", "com,a)/"] {
            check(
                format!(r#"{key} {{"url": "http://a.com/"}}"#).as_bytes(),
                &["warning bad-date", "http://a.com/  None  Absent 0+None "],
            );
        }
    }

    #[test]
    fn keeps_bytes_that_are_no_utf8() {
        check(
            b"com,a)/ 20240501120000 {\"url\": \"http://a.com/\xff\\ud800\"}",
            &[r"http://a.com/\xff\xed\xa0\x80 2024-05-01T12:00:00Z None  Absent 0+None "],
        );
    }

    #[test]
    fn bad_lines_are_damage_and_reading_goes_on() {
        let good = r#"com,a)/ 20240501120000 {"url": "http://a.com/"}"#;
        let told_good = "http://a.com/ 2024-05-01T12:00:00Z None  Absent 0+None ";
        for (bad, what) in [
            (
                r#"com,a)/ 20240501120000 {"url": "http://a.com/"#,
                "broken JSON",
            ),
            (
                r#"com,a)/ 20240501120000 {"url": "http://a.com/"} {"url": "#,
                "bytes after the JSON object",
            ),
            (
                r#"com,a)/ 20240501120000 {"mime": "text/html"}"#,
                "no url in the line",
            ),
            (
                r#"com,a)/ 20240501120000 {"url": ""}"#,
                "no url in the line",
            ),
            (
                "INFO: 12 files indexed",
                "not a line of CDXJ: no JSON object",
            ),
            (
                "com,a)/ 20240501120000",
                "not a line of CDXJ: no JSON object",
            ),
        ] {
            let damage = format!("line 2: {what}");
            check(
                format!("{good}\n{bad}\n{good}\n").as_bytes(),
                &[told_good, &damage, told_good],
            );
        }
    }

    #[test]
    fn a_last_line_that_stops_short_is_damage() {
        let good = r#"com,a)/ 20240501120000 {"url": "http://a.com/"}"#;
        for cut in 1..good.len() {
            let found = events(&[&good.as_bytes()[..cut]], |event| Some(told(event)));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("line 1: "), "{found:?}");
        }
        check(
            br#"com,a)/ 20240501120000 {"url": "http://a.com/"#,
            &["line 1: incomplete last line"],
        );
        check(
            br#"com,a)/ 20240501120000 {"mime": "text/html"}"#,
            &["line 1: no url in the line"],
        );
    }

    #[test]
    fn odd_lines_that_are_no_captures_are_passed() {
        check(
            b"\xef\xbb\xbf!meta 0 {\"url\": \"x\"}\n!OpenWayback-CDXJ 1.0\n# remark\n CDX N b a\n\n\0\0",
            &["Ignored", "Ignored", "Ignored", "Ignored", "Ignored", "warning zero-padding"],
        );
    }

    #[test]
    fn lines_that_point_at_blocks_are_no_captures() {
        let line = r#"com,a)/ 20240501120000 {"offset": 0, "length": 390, "digest": "sha256:00"}"#;
        let meta = r#"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#;
        check(
            format!("{meta}\n{line}").as_bytes(),
            &["Ignored", "Ignored"],
        );
        check(line.as_bytes(), &["line 1: no url in the line"]);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            lines in proptest::collection::vec(r#"(com,a\)/ 20240501120000 \{"url": "http://a\.com/(\\u00e9|é|\\)?"(, "status": "200")?\}|\{|\r| |[a-z]{0,9}){0,3}\n?"#, 0..6),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..9),
        ) {
            let text = lines.concat();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in at.into_iter().chain([text.len()]) {
                if to > from {
                    pieces.push(&text.as_bytes()[from..to]);
                }
                from = to;
            }
            let debug = |event: &Event<'_>| Some(format!("{event:?}"));
            prop_assert_eq!(events(&pieces, debug), events(&[text.as_bytes()], debug));
        }
    }
}
