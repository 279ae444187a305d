//! Per-origin bets, found by host labels and path segments: what it takes does not grow with the
//! number of entries. Must never import `uri`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::policy::plan::Bets;

/// Bets of one origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whom it is about.
    pub authority: Authority,
    /// A prefix of whole segments, normalized, that starts with `/`; empty: every path. `/a` and
    /// `/a/` are about `/a` and `/a/b`, never `/ab`.
    pub path: Vec<u8>,
    /// What runs there.
    pub bets: Bets,
}

/// A host by whole labels from the right, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// In lower case and ASCII, without a dot in front: `example.org` is about `a.example.org` too.
    pub host: Vec<u8>,
    /// `None`: every port.
    pub port: Option<u16>,
}

/// Entries, the most specific first: more labels, then a port, then more segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origins {
    list: Vec<Origin>,
    /// Hosts, each with its ports.
    by_host: BTreeMap<Vec<u8>, BTreeMap<Option<u16>, Vec<Place>>>,
    /// Labels of the longest host.
    n_labels_max: usize,
}

/// An entry among those of its host and port, which stand in the order of their segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Its index in the list.
    origin: usize,
    /// The place of the next shorter path that covers this one.
    parent: Option<usize>,
}

impl Origins {
    /// These entries; of two about one host, port and path the first stands.
    #[must_use]
    pub fn new(mut list: Vec<Origin>) -> Self {
        for origin in &mut list {
            let len = origin.path.iter().rposition(|byte| *byte != b'/');
            origin.path.truncate(len.map_or(0, |last| last + 1));
        }
        list.sort_by_cached_key(|origin| Reverse(specificity(origin)));
        list.dedup_by(|second, first| {
            (&second.authority, &second.path) == (&first.authority, &first.path)
        });
        let mut by_host: BTreeMap<Vec<u8>, BTreeMap<Option<u16>, Vec<Place>>> = BTreeMap::new();
        for (index, Origin { authority, .. }) in list.iter().enumerate() {
            let ports = by_host.entry(authority.host.clone()).or_default();
            ports.entry(authority.port).or_default().push(Place {
                origin: index,
                parent: None,
            });
        }
        for places in by_host.values_mut().flat_map(BTreeMap::values_mut) {
            places.sort_by(|left, right| {
                let path = |place: &Place| segments(&list[place.origin].path);
                path(left).cmp(path(right))
            });
            link(places, &list);
        }
        Self {
            n_labels_max: by_host.keys().map(|host| labels(host)).max().unwrap_or(0),
            list,
            by_host,
        }
    }

    /// The bets of the most specific entry about a normalized URL: its host, the port in force, its path.
    #[must_use]
    pub fn find(&self, host: &[u8], port: u16, path: &[u8]) -> Option<&Bets> {
        let host = host.strip_suffix(b".").unwrap_or(host);
        let mut found = None;
        let mut end = host.len();
        // From the last label to as many as an entry has: what is found later is more specific.
        for _ in 0..self.n_labels_max {
            let start = memchr::memrchr(b'.', &host[..end]).map_or(0, |dot| dot + 1);
            if let Some(ports) = self.by_host.get(&host[start..]) {
                let own = ports.get(&Some(port));
                let own = own.and_then(|places| self.covering(places, path));
                let every = || ports.get(&None).and_then(|it| self.covering(it, path));
                found = own.or_else(every).or(found);
            }
            if start == 0 {
                break;
            }
            end = start - 1;
        }
        found.map(|index| &self.list[index].bets)
    }

    /// The index of the longest path that covers `path`.
    fn covering(&self, places: &[Place], path: &[u8]) -> Option<usize> {
        let own = |place: &Place| self.list[place.origin].path.as_slice();
        let end = places.partition_point(|place| segments(own(place)).le(segments(path)));
        let mut at = end.checked_sub(1)?;
        // Whatever covers `path` stands in front of it, and covers all that stands between.
        while !starts_path(path, own(&places[at])) {
            at = places[at].parent?;
        }
        Some(places[at].origin)
    }

    /// The entries, the most specific first.
    pub fn iter(&self) -> std::slice::Iter<'_, Origin> {
        self.list.iter()
    }

    /// The bets of each, in the order of [`Origins::iter`].
    pub fn bets_mut(&mut self) -> impl Iterator<Item = &mut Bets> {
        self.list.iter_mut().map(|origin| &mut origin.bets)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'a> IntoIterator for &'a Origins {
    type Item = &'a Origin;
    type IntoIter = std::slice::Iter<'a, Origin>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Authority {
    /// Whether `host` ends in these labels, and has this port. A dot at the end of `host` is overlooked.
    #[must_use]
    pub fn admits(&self, host: &[u8], port: u16) -> bool {
        let host = host.strip_suffix(b".").unwrap_or(host);
        let labels = host.strip_suffix(self.host.as_slice());
        labels.is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
            && self.port.is_none_or(|own| own == port)
    }
}

/// More labels first, then a port, then more segments; then by name, so that the order of the file
/// does not show.
fn specificity(origin: &Origin) -> (usize, bool, usize, Vec<u8>, Option<u16>, Vec<u8>) {
    let Authority { host, port } = &origin.authority;
    (
        labels(host),
        port.is_some(),
        segments(&origin.path).count(),
        host.clone(),
        *port,
        origin.path.clone(),
    )
}

fn labels(host: &[u8]) -> usize {
    host.split(|byte| *byte == b'.').count()
}

/// What a path is compared by, so that all that it covers follows it.
fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

/// Gives each place its parent: the last one before it that covers it.
fn link(places: &mut [Place], list: &[Origin]) {
    for at in 1..places.len() {
        let path = &list[places[at].origin].path;
        let mut parent = Some(at - 1);
        while let Some(it) = parent
            && !starts_path(path, &list[places[it].origin].path)
        {
            parent = places[it].parent;
        }
        places[at].parent = parent;
    }
}

/// Whether `path` starts with the whole segments of `prefix`.
fn starts_path(path: &[u8], prefix: &[u8]) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Rule, RuleSet};

    #[test]
    fn a_host_admits_whole_labels_and_its_port() {
        let own = Authority {
            host: b"example.org".to_vec(),
            port: Some(8443),
        };
        assert!(own.admits(b"a.example.org", 8443));
        assert!(own.admits(b"example.org.", 8443));
        assert!(!own.admits(b"badexample.org", 8443));
        assert!(!own.admits(b"example.org", 443));
    }

    #[test]
    fn a_path_is_a_prefix_of_whole_segments() {
        assert!(starts_path(b"/a/b", b"/a"));
        assert!(starts_path(b"/a", b"/a"));
        assert!(starts_path(b"/x", b""));
        assert!(!starts_path(b"/ab", b"/a"));
    }

    /// An entry that is known by its bets.
    fn origin(host: &str, port: Option<u16>, path: &str, index: usize) -> Origin {
        Origin {
            authority: Authority {
                host: host.as_bytes().to_vec(),
                port,
            },
            path: path.as_bytes().to_vec(),
            bets: Bets {
                rules: RuleSet(index as u64),
                ..Bets::default()
            },
        }
    }

    #[test]
    fn finds_what_a_walk_through_the_list_finds() {
        const HOSTS: [&str; 5] = ["a", "b.a", "c.b.a", "ab.a", "b"];
        const PORTS: [Option<u16>; 3] = [None, Some(80), Some(443)];
        const PATHS: [&str; 8] = ["", "/", "/x", "/x/y", "/x!y", "/x/y/z/", "/xy", "//x"];
        let mut list = Vec::new();
        for (number, host) in HOSTS.iter().enumerate() {
            for (at, path) in PATHS.iter().enumerate() {
                // Not every host has every path and port, or nothing wider would ever be found.
                if (number * 5 + at * 3) % 4 != 0 {
                    let port = PORTS[(number + at) % PORTS.len()];
                    list.push(origin(host, port, path, list.len()));
                }
            }
        }
        let origins = Origins::new(list);
        for host in [
            "a", "b.a", "x.c.b.a", "c.b.a.", "ab.a", "b", "bb", "", "x..b", "a..",
        ] {
            for port in [80, 443, 8080] {
                for path in [
                    "/", "/x", "/x/", "/x/y", "/x!y", "/x/y/z", "/x/yz", "/xy/", "//x/a",
                ] {
                    let walked = origins.iter().find(|origin| {
                        let path = starts_path(path.as_bytes(), &origin.path);
                        path && origin.authority.admits(host.as_bytes(), port)
                    });
                    let found = origins.find(host.as_bytes(), port, path.as_bytes());
                    assert_eq!(found, walked.map(|it| &it.bets), "{host}:{port}{path}");
                }
            }
        }
    }

    #[test]
    fn a_hundred_thousand_entries_are_not_walked_through() {
        const N: usize = 100_000;
        let mut list: Vec<Origin> = (0..N)
            .map(|index| origin(&format!("h{index}.example"), None, "", index))
            .collect();
        list.extend((0..N).map(|index| origin("example", None, &format!("/p{index}"), index)));
        let origins = Origins::new(list);
        for index in 0..N {
            let host = format!("www.h{index}.example");
            let by_host = origins.find(host.as_bytes(), 80, b"/");
            let by_path = origins.find(b"example", 80, format!("/p{index}/q").as_bytes());
            let rules = Some(RuleSet(index as u64));
            assert_eq!(by_host.map(|bets| bets.rules), rules);
            assert_eq!(by_path.map(|bets| bets.rules), rules);
        }
    }

    #[test]
    fn the_first_of_two_about_one_place_stands() {
        let list = vec![origin("a", None, "/x", 1), origin("a", None, "/x/", 2)];
        let origins = Origins::new(list);
        assert_eq!(origins.len(), 1);
        assert!(origins.iter().all(|it| it.bets.rules.contains(Rule::Trim)));
    }
}
