//! The skeleton of a URL: what no bet and no parity policy tells apart.
//!
//! Samples and halves of an archive are drawn by its hash, so that two URLs that any policy merges are
//! drawn together. It is registrable domain and path, less all that some rule changes. A few URLs have
//! none, because rules read them in ways that would make all paths of a host one; ARCHITECTURE.md says why.

use std::net::Ipv6Addr;

use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::Xxh3;

use super::host::{ends_in_number, is_dotted_decimal};
use super::{host_of, path_of, registrable_domain};

/// Stems of the files that stand for their directory, whatever a policy says.
const INDEX_STEMS: [&[u8]; 3] = [b"index", b"default", b"home"];

/// Makes skeletons.
#[derive(Clone, Debug, Default)]
pub struct Skeletons {
    /// What becomes of the index files that policies name: segments, each as letters and digits.
    index_files: Vec<Vec<Vec<u8>>>,
}

impl Skeletons {
    /// For policies that name these index files.
    pub fn new<'a>(index_files: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let own = Self::default();
        let mut index_files: Vec<_> = index_files
            .into_iter()
            .map(|name| own.path(&[b"/", name].concat()))
            .filter(|segments| !segments.is_empty())
            .collect();
        index_files.sort_unstable();
        index_files.dedup();
        Self { index_files }
    }

    /// XXH3-64 of the skeleton of a URL of kind http, from what was captured and from its key text under a base
    /// policy; `None` if it has none.
    ///
    /// ```
    /// # use crawl_dedupe::uri::Skeletons;
    /// let hash = |url: &str| Skeletons::default().hash(url.as_bytes(), url.as_bytes());
    /// assert_eq!(hash("http://example.org/a/"), hash("https://www.example.org/A.html?b=1"));
    /// assert_ne!(hash("http://example.org/a"), hash("http://example.org/b"));
    /// assert_eq!(hash("http://example.org/a%2F.."), None);
    /// ```
    #[must_use]
    pub fn hash(&self, target_uri: &[u8], key_text: &[u8]) -> Option<u64> {
        let path = path_of(key_text);
        if hides_delimiters(path) || hides_dots(target_uri, key_text) || hides_host(target_uri) {
            return None;
        }
        let mut hash = Xxh3::new();
        hash.update(&domain(host_of(key_text), target_uri)?);
        for segment in self.path(path) {
            hash.update(b"/");
            hash.update(&segment);
        }
        Some(hash.digest())
    }

    /// The segments of a path that remain, each as letters and digits.
    fn path(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let path = letters_apart(&decoded(path));
        let end = path.iter().position(|byte| matches!(byte, b'?' | b'#'));
        let mut segments: Vec<&[u8]> = path[..end.unwrap_or(path.len())]
            .split(|byte| matches!(byte, b'/' | b'\\'))
            .map(without_params)
            .filter(|segment| !segment.starts_with(b"(") && !letters(segment).is_empty())
            .collect();
        let mut out: Vec<Vec<u8>> = Vec::with_capacity(segments.len());
        while let Some(last) = segments.pop() {
            let stem = letters(stem(last));
            if stem.is_empty() || INDEX_STEMS.contains(&stem.as_slice()) {
                continue;
            }
            out = segments.iter().map(|segment| letters(segment)).collect();
            out.push(stem);
            let listed = self.index_files.iter().find(|file| out.ends_with(file));
            match listed {
                Some(file) => segments.truncate(out.len() - file.len()),
                None => return out,
            }
            out.clear();
        }
        out
    }
}

/// Whether a bet that runs before another would see other segments: an escape hides a delimiter next to what
/// bets take out, or a dot-segment.
///
/// `/a//..%2Fb` is `/a/b` to `escapes=decode-reserved`; behind `slash-collapse` it is `/b`. So `/a/b` and `/b`
/// would have one skeleton, and with them any two paths.
fn hides_delimiters(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|segment| {
        if !segment
            .iter()
            .any(|byte| matches!(byte, b'%' | b'\\' | b'.'))
        {
            return false;
        }
        let text = decoded(segment);
        let mut parts = text.split(|byte| matches!(byte, b'/' | b'\\' | b'?' | b'#'));
        let is_removed = text.starts_with(b"(") || text.contains(&b';');
        parts.clone().any(|part| is_dots(without_params(part)))
            || (is_removed && parts.nth(1).is_some())
    })
}

/// Whether dot-segments of the captured text stood beside escapes or `\`: SURT decodes before it removes them.
fn hides_dots(target_uri: &[u8], key_text: &[u8]) -> bool {
    if target_uri == key_text {
        return false;
    }
    let end = memchr::memchr2(b'?', b'#', target_uri).unwrap_or(target_uri.len());
    let text = &target_uri[..end];
    text.iter().any(|byte| matches!(byte, b'%' | b'\\'))
        && decoded(text)
            .split(|byte| matches!(byte, b'/' | b'\\'))
            .any(|part| is_dots(without_params(part)))
}

/// Whether other libraries see another host than a browser: more or fewer slashes than two in front of it, which is
/// then a part of the path to W3lib, or a `\` at its start or end, which is a part of the name to SURT.
fn hides_host(target_uri: &[u8]) -> bool {
    let scheme_end = memchr::memchr(b':', target_uri).map_or(0, |at| at + 1);
    let Some(rest) = target_uri[scheme_end..].strip_prefix(b"//") else {
        return true;
    };
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let authority = &rest[..end.unwrap_or(rest.len())];
    authority.is_empty() || authority.contains(&b'\\')
}

/// `.`, `..`, and what an extension leaves of others.
fn is_dots(segment: &[u8]) -> bool {
    !segment.is_empty() && segment.iter().all(|byte| *byte == b'.')
}

/// The registrable domain, as letters and digits; `None` for an address that is not written in its one form, and
/// for `http://https://example.org/`, in which SURT sees another host.
///
/// `www.com` is `com`, since SURT cuts off `www` in front of a public suffix too.
fn domain(host: &[u8], target_uri: &[u8]) -> Option<Vec<u8>> {
    if let [b'[', address @ .., b']'] = host {
        let address: Ipv6Addr = std::str::from_utf8(address).ok()?.parse().ok()?;
        return Some(address.octets().to_vec());
    }
    let mut labels: Vec<&[u8]> = host
        .split(|byte| *byte == b'.')
        .filter(|label| !label.is_empty())
        .collect();
    let name = labels.join(&b'.');
    let is_number = |label: &&[u8]| matches!(label[0], b'0'..=b'9' | b'+' | b'-' | b'_');
    if ends_in_number(&name) || labels.iter().all(is_number) {
        let is_plain =
            is_dotted_decimal(&name) && memchr::memmem::find(target_uri, &name).is_some();
        return is_plain.then_some(name);
    }
    if name == b"http" || name == b"https" {
        return None;
    }
    loop {
        while labels.len() > 1 && is_www(labels[0]) {
            labels.remove(0);
        }
        let name = labels.join(&b'.');
        let n_kept = registrable_domain(&name)
            .split(|byte| *byte == b'.')
            .count();
        if n_kept >= labels.len() {
            break;
        }
        labels.drain(..labels.len() - n_kept);
    }
    let labels: Vec<Vec<u8>> = labels.into_iter().map(label_letters).collect();
    Some(labels.join(&b'.'))
}

fn is_www(label: &[u8]) -> bool {
    match label {
        b"m" | b"mobile" => true,
        [b'w', b'w', b'w', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// A label without what IDNA 2003 and UTS 46 read in two ways: `ß` is `ss` to the one.
fn label_letters(label: &[u8]) -> Vec<u8> {
    let unicode = label
        .strip_prefix(b"xn--")
        .and_then(|code| std::str::from_utf8(code).ok())
        .and_then(idna::punycode::decode_to_string);
    match unicode {
        Some(text) => letters(&letters_apart(text.replace('ß', "ss").as_bytes())),
        None => label.to_vec(),
    }
}

/// Lower case, with accents apart from their letters: composed and decomposed text have the same letters.
fn letters_apart(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        let mut bytes = [0; 4];
        for letter in chunk.valid().nfd() {
            out.extend_from_slice(
                letter
                    .to_ascii_lowercase()
                    .encode_utf8(&mut bytes)
                    .as_bytes(),
            );
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}

/// Letters and digits, without zeros in front.
fn letters(segment: &[u8]) -> Vec<u8> {
    let letters = segment.iter().copied().filter(u8::is_ascii_alphanumeric);
    letters.skip_while(|byte| *byte == b'0').collect()
}

/// A segment up to its first `;`.
fn without_params(segment: &[u8]) -> &[u8] {
    &segment[..memchr::memchr(b';', segment).unwrap_or(segment.len())]
}

/// A segment up to its first dot: without its extensions.
fn stem(segment: &[u8]) -> &[u8] {
    &segment[..memchr::memchr(b'.', segment).unwrap_or(segment.len())]
}

/// Escapes decoded until none is left. Each byte is looked at once; what was decoded may complete an escape that
/// was begun before it.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::with_capacity(path.len());
    for byte in path {
        text.push(*byte);
        while let [.., b'%', high, low] = text.as_slice()
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            text.truncate(text.len() - 3);
            text.push(high << 4 | low);
        }
    }
    text
}

fn digit(byte: u8) -> Option<u8> {
    (byte as char)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &[u8]) -> Option<u64> {
        Skeletons::default().hash(text, text)
    }

    #[test]
    fn what_bets_merge_has_one_skeleton() {
        for (a, b) in [
            (
                &b"http://example.org/a/b?x=1"[..],
                &b"https://www.example.org/A//b/"[..],
            ),
            (b"http://example.org/", b"http://example.org/index.html"),
            (b"http://example.org/a/index.php", b"http://example.org/a"),
            (b"http://example.org/a.html", b"http://example.org/a"),
            (
                b"http://example.org/a;jsessionid=1/b",
                b"http://example.org/a/b",
            ),
            (b"http://example.org/(S(abc))/b", b"http://example.org/b"),
            (b"http://example.org/007", b"http://example.org/7"),
            (b"http://example.org/%2561", b"http://example.org/a"),
            (b"http://example.org/a%2Fb", b"http://example.org/a/b"),
            (b"http://example.org./a", b"http://example.org/a"),
            (b"http://www.com/a", b"http://com/a"),
            (b"http://m.www.com/a", b"http://www.com/a"),
            (b"http://xn--fa-hia.de/", b"http://fass.de/"),
            (b"http://example.org/I%CC%87", b"http://example.org/%C4%B0"),
        ] {
            assert!(hash(a).is_some(), "{}", a.escape_ascii());
            assert_eq!(
                hash(a),
                hash(b),
                "{} {}",
                a.escape_ascii(),
                b.escape_ascii()
            );
        }
    }

    #[test]
    fn other_paths_and_domains_have_another_skeleton() {
        let of = hash(b"http://example.org/a");
        assert_ne!(of, hash(b"http://example.org/b"));
        assert_ne!(of, hash(b"http://example.net/a"));
        assert_ne!(of, hash(b"http://example.org/a/b"));
        assert_ne!(hash(b"http://1.2.3.4/"), hash(b"http://1.2.3.5/"));
    }

    #[test]
    fn an_index_file_of_a_policy_stands_for_its_directory() {
        let skeletons = Skeletons::new([&b"Main.html"[..], b"in/dex.php"]);
        let hash = |text: &[u8]| skeletons.hash(text, text);
        let directory = hash(b"http://example.org/a.b/");
        assert_eq!(hash(b"http://example.org/a.b/Main.html"), directory);
        assert_eq!(hash(b"http://example.org/a.b/in%2Fdex.php"), directory);
        assert_ne!(hash(b"http://example.org/a.b/other.html"), directory);
    }

    #[test]
    fn where_rules_see_other_segments_there_is_no_skeleton() {
        for text in [
            &b"http://example.org/a//..%2Fb"[..],
            b"http://example.org/a/..;jsessionid=1/b",
            b"http://example.org/a;jsessionid=1%2Fb",
            b"http://example.org/(S(a%2Fb))/c",
            b"http://https//example.org/",
            b"http://0x7f.1/",
            b"http://0.0.1.-1/",
        ] {
            assert_eq!(hash(text), None, "{}", text.escape_ascii());
        }
        let hash = |raw: &[u8], text: &[u8]| Skeletons::default().hash(raw, text);
        assert_eq!(hash(b"http://a.org/b%2Fc/../d", b"http://a.org/d"), None);
        assert_eq!(hash(b"http://010/", b"http://0.0.0.8/"), None);
        assert_eq!(hash(b"http://\\m.a.org?b", b"http://m.a.org/?b"), None);
        assert_eq!(hash(b"http://www.\\m.a.org", b"http://www./m.a.org"), None);
        assert_eq!(hash(b"http:////x/../a.org/", b"http://x/a.org/"), None);
        assert_eq!(hash(b"http:a.org/", b"http://a.org/"), None);
        assert!(hash(b"http://a.org/b\\c", b"http://a.org/b/c").is_some());
        assert!(hash(b"http://a.org/b/../d", b"http://a.org/d").is_some());
    }
}
