//! Index lines of planned captures: 11-column CDX, and CDXJ as pywb writes it.

use std::fmt::Write as _;

use crawl_dedupe::capture::Timestamp;

use super::capture::{Capture, Kind};

/// The first line of a CDX.
pub(crate) const HEADER: &str = " CDX N b a m s k r M S V g\n";

/// Where a capture's record is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) digest: &'a str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) file: &'a str,
}

/// A CDX line with its line end.
pub(crate) fn cdx(capture: &Capture, stored: Stored<'_>) -> String {
    let (mime, status) = mime_and_status(capture);
    format!(
        "{} {} {} {mime} {} {} {} - {} {} {}\n",
        urlkey(capture),
        digits(capture.time),
        capture.url,
        status.as_deref().unwrap_or("-"),
        stored.digest,
        capture.location.as_deref().unwrap_or("-"),
        stored.length,
        stored.offset,
        stored.file
    )
}

/// A CDXJ line with its line end.
pub(crate) fn cdxj(capture: &Capture, stored: Stored<'_>) -> String {
    let (mime, status) = mime_and_status(capture);
    let mut line = format!(
        "{} {} {{\"url\": {}, \"mime\": \"{mime}\"",
        urlkey(capture),
        digits(capture.time),
        serde_json::Value::from(capture.url.as_str())
    );
    let mut field = |name: &str, value: &str| {
        let _ = write!(line, ", \"{name}\": {}", serde_json::Value::from(value));
    };
    if let Some(status) = status {
        field("status", &status);
    }
    field("digest", stored.digest);
    if let Some(location) = &capture.location {
        field("redirect", location);
    }
    field("length", &stored.length.to_string());
    field("offset", &stored.offset.to_string());
    field("filename", stored.file);
    if let Some(body) = &capture.posted {
        field("method", "POST");
        field("requestBody", body);
    }
    line.push_str("}\n");
    line
}

fn mime_and_status(capture: &Capture) -> (&'static str, Option<String>) {
    let status = (capture.status != 0).then(|| capture.status.to_string());
    match capture.kind {
        Kind::Revisit(_) => ("warc/revisit", None),
        _ if capture.url.starts_with("dns:") => ("text/dns", status),
        _ => ("text/html", status),
    }
}

fn digits(time: i64) -> String {
    let mut text = Vec::new();
    Timestamp::new(time, 0).write_rfc3339(&mut text);
    text.retain(u8::is_ascii_digit);
    String::from_utf8(text).expect("digits are ASCII")
}

/// A SURT as indexers write it: host reversed, all in lower case. Readers take nothing from it but the method.
fn urlkey(capture: &Capture) -> String {
    let url = capture.url.replace('\\', "/").to_ascii_lowercase();
    let url = url.split('#').next().unwrap_or("");
    let Some((_, rest)) = url.split_once("//") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let mut key = name.rsplit('.').collect::<Vec<_>>().join(",");
    if !matches!(port, "" | "80" | "443") {
        let _ = write!(key, ":{port}");
    }
    let _ = write!(key, ")/{path}");
    if let Some(body) = &capture.posted {
        let mark = if path.contains('?') { '&' } else { '?' };
        let _ = write!(key, "{mark}__wb_method=post&{body}");
    }
    key
}
