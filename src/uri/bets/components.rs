//! An http URL taken apart, in buffers that are used again for the next one.

use crate::uri::parts::Parts;
use crate::uri::query;

/// The components of a text of the core, of kind http.
#[derive(Clone, Debug, Default)]
pub(crate) struct Components {
    pub(crate) scheme: Scheme,
    /// Without its `@`; empty if there is none.
    pub(crate) userinfo: Vec<u8>,
    pub(crate) host: Vec<u8>,
    /// Without its `:`; empty if there is none.
    pub(crate) port: Vec<u8>,
    /// Starts with `/`.
    pub(crate) path: Vec<u8>,
    /// Without its `?`.
    pub(crate) query: Vec<u8>,
    pub(crate) mark: Mark,
    /// With its `#`: a route that is kept, or nothing.
    pub(crate) fragment: Vec<u8>,
    /// Whether the query has a signature parameter. No bet may change that.
    pub(crate) is_signed: bool,
}

/// The two schemes of http.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scheme {
    #[default]
    Http,
    Https,
}

/// Whether there is a query: an empty one is not none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    /// There is no `?`.
    #[default]
    Absent,
    /// There is one.
    Present,
}

impl Components {
    /// Takes `text` apart.
    pub(crate) fn read(&mut self, text: &[u8]) {
        let parts = Parts::of(text);
        self.scheme = match parts.scheme {
            b"https" => Scheme::Https,
            _ => Scheme::Http,
        };
        let set = |buf: &mut Vec<u8>, component: Option<&[u8]>| {
            buf.clear();
            buf.extend_from_slice(component.unwrap_or_default());
        };
        set(&mut self.userinfo, parts.userinfo);
        set(&mut self.host, Some(parts.host));
        set(&mut self.port, parts.port);
        set(&mut self.path, Some(parts.path));
        set(&mut self.query, parts.query);
        self.mark = match parts.query {
            Some(_) => Mark::Present,
            None => Mark::Absent,
        };
        self.fragment.clear();
        if let Some(fragment) = parts.fragment {
            self.fragment.push(b'#');
            self.fragment.extend_from_slice(fragment);
        }
        self.is_signed = parts.query.is_some_and(query::is_signed);
    }

    /// Puts them together again.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(match self.scheme {
            Scheme::Http => b"http://",
            Scheme::Https => b"https://",
        });
        if !self.userinfo.is_empty() {
            out.extend_from_slice(&self.userinfo);
            out.push(b'@');
        }
        out.extend_from_slice(&self.host);
        if !self.port.is_empty() {
            out.push(b':');
            out.extend_from_slice(&self.port);
        }
        out.extend_from_slice(&self.path);
        if self.mark == Mark::Present {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        out.extend_from_slice(&self.fragment);
    }

    /// The port that stands there, or that of the scheme.
    pub(crate) fn port_in_force(&self) -> u16 {
        let digits = std::str::from_utf8(&self.port).unwrap_or_default();
        match self.scheme {
            _ if !digits.is_empty() => digits.parse().unwrap_or(0),
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}
