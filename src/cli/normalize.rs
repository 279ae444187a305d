//! `dedupe normalize`: URLs on stdin, key texts on stdout; one line out for each line in.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;

use super::{cannot_print, load_policy};
use crate::engine::Outcome;
use crate::key::{Keyed, Keyer, Kind};
use crate::policy::Policy;
use crate::report::{self, Target};
use crate::{Error, Result, uri};

/// Large enough that a system call per buffer costs nothing.
const BUF_LEN: usize = 1 << 17;

/// Flags of the command.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags are what they are")]
pub(super) struct Args {
    /// Policy that makes the keys: a name (see `dedupe policy list`) or a policy file
    #[arg(long, value_name = "NAME|FILE", default_value = "safe@1")]
    policy: String,

    /// Resolve each line against this URL first, as a browser would
    #[arg(long, value_name = "URL")]
    base: Option<String>,

    /// Print the line as it is, then the key text as a further field
    #[arg(long)]
    with_original: bool,

    /// Add two fields: the kind of URL (http, other-scheme, opaque) and the rules that fired
    #[arg(long)]
    explain: bool,

    /// The URL is the Nth field of a line; the others are passed through
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    field: u32,

    /// One byte between fields [default: a tab; without --field a line is one field]
    #[arg(long, value_name = "C", value_parser = parse_delimiter)]
    delimiter: Option<u8>,

    /// Lines end in NUL, in and out
    #[arg(short = '0', long)]
    null: bool,

    /// What to do with a line that is an error: a URL of kind opaque
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    on_error: OnError,

    /// Credentials, and schemes and hosts out of the policy's scope, are errors too
    #[arg(long)]
    strict_url: bool,

    /// Print user info in clear instead of ***
    #[arg(long)]
    show_credentials: bool,
}

/// Spellings of `--on-error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OnError {
    /// Print its key text like any other: the line itself, trimmed.
    #[default]
    Keep,
    /// Print nothing for it.
    Drop,
    /// Add a field to every line: empty, or the error (opaque, credentials, out-of-scope).
    Mark,
}

fn parse_delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        b"\\0" => Ok(0),
        _ => Err(format!("`{text}` is not one byte; expected as in , or \\t")),
    }
}

/// Runs the command.
#[expect(
    clippy::needless_pass_by_value,
    reason = "every command takes its flags"
)]
pub(super) fn run(args: Args) -> Result<Outcome> {
    let policy = load_policy(&args.policy)?;
    report::refuse_overwriting(&[&Target::Stdout], [Path::new("/dev/stdin")])?;
    if let Some(base) = &args.base
        && uri::resolve(base.as_bytes(), b"").is_none()
    {
        return Err(Error::usage(format!(
            "--base {base} cannot be resolved against; expected an absolute URL as http://example.org/"
        )));
    }
    Lines::new(&args, &policy).copy(
        BufReader::with_capacity(BUF_LEN, io::stdin().lock()),
        BufWriter::with_capacity(BUF_LEN, io::stdout().lock()),
    )?;
    Ok(Outcome::Done)
}

/// The lines on their way from stdin to stdout.
struct Lines<'a> {
    args: &'a Args,
    keyer: Keyer<'a>,
    is_split: bool,
    delimiter: u8,
    terminator: u8,
}

impl<'a> Lines<'a> {
    fn new(args: &'a Args, policy: &'a Policy) -> Self {
        Self {
            args,
            keyer: Keyer::new(policy),
            is_split: args.delimiter.is_some() || args.field > 1,
            delimiter: args.delimiter.unwrap_or(b'\t'),
            terminator: if args.null { 0 } else { b'\n' },
        }
    }

    fn copy(&mut self, mut input: impl BufRead, mut output: impl Write) -> Result<()> {
        let (mut line, mut out) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            out.clear();
            let n_read = input
                .read_until(self.terminator, &mut line)
                .map_err(|source| Error::io("read", Path::new("stdin"), source))?;
            if n_read == 0 {
                break;
            }
            self.write_line(without_terminator(&line, self.terminator), &mut out);
            output.write_all(&out).map_err(cannot_print)?;
        }
        output.flush().map_err(cannot_print)
    }

    /// Appends what becomes of `line`; nothing if it is dropped.
    fn write_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let args = self.args;
        let (before, url, after) = self.split(line);
        let base = args.base.as_ref();
        let resolved = base.map(|base| uri::resolve(base.as_bytes(), url));
        let is_unresolved = matches!(resolved, Some(None));
        let resolved = resolved.flatten();
        let keyed = self.keyer.key(resolved.as_deref().unwrap_or(url));
        let error = if is_unresolved {
            Some("opaque")
        } else {
            error_of(&keyed, args)
        };
        if error.is_some() && args.on_error == OnError::Drop {
            return;
        }
        out.extend_from_slice(before);
        let shown = if args.with_original { url } else { keyed.text };
        write_url(shown, args, out);
        out.extend_from_slice(after);
        if args.with_original {
            out.push(self.delimiter);
            write_url(keyed.text, args, out);
        }
        if args.explain {
            out.push(self.delimiter);
            out.extend_from_slice(kind_name(keyed.kind).as_bytes());
            out.push(self.delimiter);
            write_rules(&keyed, out);
        }
        if args.on_error == OnError::Mark {
            out.push(self.delimiter);
            out.extend_from_slice(error.unwrap_or_default().as_bytes());
        }
        out.push(self.terminator);
    }

    /// What stands before the URL's field, the URL, and what stands after it.
    ///
    /// Where a line has fewer fields, the URL is the empty one at its end.
    fn split<'l>(&self, line: &'l [u8]) -> (&'l [u8], &'l [u8], &'l [u8]) {
        if !self.is_split {
            return (b"", line, b"");
        }
        let mut start = 0;
        for _ in 1..self.args.field {
            let Some(len) = memchr::memchr(self.delimiter, &line[start..]) else {
                return (line, b"", b"");
            };
            start += len + 1;
        }
        let len = memchr::memchr(self.delimiter, &line[start..]);
        let end = len.map_or(line.len(), |len| start + len);
        (&line[..start], &line[start..end], &line[end..])
    }
}

/// A carriage return belongs to the line end where lines end in LF.
fn without_terminator(line: &[u8], terminator: u8) -> &[u8] {
    let line = line.strip_suffix(&[terminator]).unwrap_or(line);
    if terminator == b'\n' {
        line.strip_suffix(b"\r").unwrap_or(line)
    } else {
        line
    }
}

/// Why a URL is an error, if it is one.
fn error_of(keyed: &Keyed<'_>, args: &Args) -> Option<&'static str> {
    match keyed.kind {
        Kind::Opaque => Some("opaque"),
        _ if args.strict_url && keyed.has_credentials => Some("credentials"),
        _ if args.strict_url && !keyed.in_scope => Some("out-of-scope"),
        Kind::Http | Kind::OtherScheme => None,
    }
}

fn write_url(url: &[u8], args: &Args, out: &mut Vec<u8>) {
    if args.show_credentials {
        out.extend_from_slice(url);
    } else {
        uri::write_redacted(url, out);
    }
}

fn write_rules(keyed: &Keyed<'_>, out: &mut Vec<u8>) {
    for (index, rule) in keyed.fired.iter().enumerate() {
        if index > 0 {
            out.push(b';');
        }
        out.extend_from_slice(rule.name().as_bytes());
    }
}

/// The kinds as users read them.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Http => "http",
        Kind::OtherScheme => "other-scheme",
        Kind::Opaque => "opaque",
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn check(flags: &[&str], input: &[u8], expected: &[u8]) {
        let args = Cli::parse_from([&["normalize"], flags].concat()).args;
        let policy = Policy::load(&args.policy).unwrap();
        let mut found = Vec::new();
        Lines::new(&args, &policy).copy(input, &mut found).unwrap();
        assert_eq!(
            found.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{flags:?}"
        );
    }

    #[test]
    fn gives_one_line_for_each_line() {
        check(&[], b"HTTP://A/%7e\r\n\nb", b"http://a/~\n\nb\n");
        check(&["-0"], b"http://a\nb\0", b"http://ab/\0");
    }

    #[test]
    fn passes_other_fields_through() {
        let flags = ["--field", "2", "--delimiter", ","];
        check(&flags, b"1,http://A,x\n2\n", b"1,http://a/,x\n2\n");
        check(&["--field", "2"], b"a b\tHTTP://a\n", b"a b\thttp://a/\n");
    }

    #[test]
    fn resolves_against_the_base() {
        let base = ["--base", "http://a/b/c/d;p?q"];
        check(
            &base,
            b"../g\n//h\n#s\n",
            b"http://a/b/g\nhttp://h/\nhttp://a/b/c/d;p?q\n",
        );
    }

    #[test]
    fn hides_credentials_unless_asked() {
        let url = b"http://u:p@A/\n";
        check(&[], url, b"http://***@a/\n");
        check(&["--with-original"], url, b"http://***@A/\thttp://***@a/\n");
        check(&["--show-credentials"], url, b"http://u:p@a/\n");
    }

    #[test]
    fn explains_and_marks() {
        check(
            &["--explain", "--on-error", "mark", "--strict-url"],
            b"http://A\nx y\nhttp://u@b/\n",
            b"http://a/\thttp\thost-case;path-empty\t\n\
              x y\topaque\t\topaque\n\
              http://***@b/\thttp\t\tcredentials\n",
        );
    }

    #[test]
    fn drops_errors_if_told() {
        check(&["--on-error", "drop"], b"x y\nhttp://a/\n", b"http://a/\n");
        check(&["--on-error", "keep"], b" x y \n", b"x y\n");
    }
}
