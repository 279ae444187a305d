//! A host of a policy file: whole labels from the right, and a port.

use super::mistake::{Mistake, Read};
use crate::policy::origins::Authority;

const EXPECTED: &str =
    "expected a host and perhaps a port, as in \"example.org\" or \"example.org:8443\"";

/// Characters of the longest name (RFC 1035 §2.3.4, less the length of the root).
const LEN_MAX: usize = 253;

/// Reads `host` or `host:port`; a host becomes ASCII and lower case, as in a key.
pub(super) fn read(text: &str, offset: usize) -> Read<Authority> {
    let wrong =
        |why: &str| Mistake::at_offset(offset, format!("wrong host `{text}`: {why}; {EXPECTED}"));
    if text.contains("://") {
        return Err(wrong("a scheme is no part of it"));
    }
    if let Some(c) = text
        .chars()
        .find(|c| c.is_whitespace() || "/?#@*\\%".contains(*c))
    {
        let why = match c {
            '*' => "subdomains are included without `*`".to_owned(),
            _ => format!("`{}` is no part of it", c.escape_default()),
        };
        return Err(wrong(&why));
    }
    let port_at = text.rfind(':').filter(|at| !text[*at..].contains(']'));
    let (host, port) = match port_at {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let port = match port {
        Some(digits) => match digits.parse::<u16>() {
            Ok(port) if port > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => Some(port),
            _ => return Err(wrong("the port is no number from 1 to 65535")),
        },
        None => None,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || (!host.starts_with('[') && host.split('.').any(str::is_empty)) {
        return Err(wrong("a label is empty"));
    }
    if host.len() > LEN_MAX {
        return Err(wrong("no name is longer than 253 characters"));
    }
    match url::Host::parse(host) {
        Ok(host) => Ok(Authority {
            host: host.to_string().into_bytes(),
            port,
        }),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hosts_as_keys_write_them() {
        for (text, host, port) in [
            ("Example.ORG", "example.org", None),
            ("bücher.example:8443", "xn--bcher-kva.example", Some(8443)),
            ("[::0:1]:80", "[::1]", Some(80)),
            ("127.1", "127.0.0.1", None),
            ("example.org.", "example.org", None),
        ] {
            let read = read(text, 0).unwrap();
            assert_eq!(
                (read.host.as_slice(), read.port),
                (host.as_bytes(), port),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_what_is_no_host() {
        for (text, why) in [
            ("http://example.org", "a scheme is no part of it"),
            ("*.example.org", "subdomains are included without `*`"),
            ("example.org/a", "`/` is no part of it"),
            ("example.org:99999", "the port is no number from 1 to 65535"),
            ("example.org:", "the port is no number from 1 to 65535"),
            ("example.org:+1", "the port is no number from 1 to 65535"),
            ("a..b", "a label is empty"),
            (".example.org", "a label is empty"),
            ("", "a label is empty"),
            ("a b", "` ` is no part of it"),
            (&"a.".repeat(128), "no name is longer than 253 characters"),
        ] {
            let message = format!("{:?}", read(text, 0).unwrap_err());
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
