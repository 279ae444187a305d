//! "The end of a capture", word by word and by looking at every pair: the slow twin of `group::Ends`.

use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::Target;
use crawl_dedupe::group::{Conflict, Thresholds};
use crawl_dedupe::key::ComparisonKey;

use crate::given::{FILES, Given, key};

pub(crate) struct Naive<'a> {
    pub(crate) given: &'a [Given],
    pub(crate) thresholds: &'a Thresholds,
}

/// Where a capture finally leads, by place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NaiveEnd {
    Itself,
    Capture(usize),
    NotFrom(usize),
    Loop,
}

/// A way hop by hop.
#[derive(Debug)]
struct Walk {
    /// The captures on it, the first included.
    captures: Vec<usize>,
    end: NaiveEnd,
    conflicts: Vec<Conflict>,
}

type Hop = Result<usize, Vec<Conflict>>;

impl Naive<'_> {
    /// Hop, end, conflicts and whether a hop is temporary.
    pub(crate) fn outcome(&self, me: usize) -> (Option<usize>, NaiveEnd, Vec<Conflict>, bool) {
        let walk = self.walk(me);
        let mut conflicts = walk.conflicts.clone();
        if self.given[me].record_type == RecordType::Revisit && self.original(me).is_none() {
            conflicts.push(Conflict::Dangling);
        }
        if let NaiveEnd::Capture(end) = walk.end {
            let hops = &walk.captures[..walk.captures.len() - 1];
            let differs = |hop: &usize| {
                let (one, other) = (self.given[*hop].language, self.given[end].language);
                self.is_redirect(*hop) && !one.is_empty() && !other.is_empty() && one != other
            };
            if hops.iter().any(differs) {
                conflicts.push(Conflict::Language);
            }
            let status = self.status(self.page(me));
            if self.stands_for_redirect(me) && status != 0 && !(200..300).contains(&status) {
                conflicts.push(Conflict::EndNot2xx);
            }
        }
        conflicts.sort_unstable();
        conflicts.dedup();
        let is_temporary = walk.captures[..walk.captures.len() - 1]
            .iter()
            .any(|hop| self.is_redirect(*hop) && !self.is_permanent(*hop));
        (self.hop(me).ok(), walk.end, conflicts, is_temporary)
    }

    /// The first capture on the way that is no redirect.
    pub(crate) fn page(&self, me: usize) -> usize {
        let captures = self.walk(me).captures;
        let answers = |one: &&usize| !self.stands_for_redirect(**one);
        let last = captures.last().expect("never empty");
        *captures.iter().find(answers).unwrap_or(last)
    }

    /// Follows hops until there is none, the limit, or a loop.
    fn walk(&self, me: usize) -> Walk {
        let mut captures = vec![me];
        let mut n_redirects = 0;
        loop {
            let at = *captures.last().expect("never empty");
            match self.hop(at) {
                Err(conflicts) if conflicts.contains(&Conflict::RedirectLoop) => {
                    return Walk {
                        captures,
                        end: NaiveEnd::Loop,
                        conflicts,
                    };
                }
                Err(conflicts) => {
                    let end = if self.is_redirect(at) {
                        NaiveEnd::NotFrom(at)
                    } else if at == me {
                        NaiveEnd::Itself
                    } else {
                        NaiveEnd::Capture(at)
                    };
                    return Walk {
                        captures,
                        end,
                        conflicts,
                    };
                }
                Ok(_) if self.is_redirect(at) && n_redirects == self.thresholds.redirects_max => {
                    let conflicts = vec![Conflict::RedirectLimit];
                    return Walk {
                        captures,
                        end: NaiveEnd::NotFrom(at),
                        conflicts,
                    };
                }
                Ok(to) => {
                    n_redirects += u32::from(self.is_redirect(at));
                    captures.push(to);
                }
            }
        }
    }

    /// The hop of a capture, cycles broken.
    fn hop(&self, me: usize) -> Hop {
        let cycle = self.cycle(me);
        if !cycle.contains(&me) {
            return self.first_hop(me);
        }
        let ways_out: Vec<Option<usize>> = cycle.iter().map(|one| self.way_out(*one)).collect();
        if ways_out.iter().all(Option::is_none) {
            return Err(vec![Conflict::RedirectLoop]);
        }
        self.way_out(me).map_or_else(|| self.first_hop(me), Ok)
    }

    /// The captures that come round when first hops are followed from `me`; empty if none do.
    fn cycle(&self, me: usize) -> Vec<usize> {
        let mut path = vec![me];
        while let Ok(to) = self.first_hop(path[path.len() - 1]) {
            if let Some(from) = path.iter().position(|one| *one == to) {
                return path[from..].to_vec();
            }
            path.push(to);
        }
        Vec::new()
    }

    fn way_out(&self, me: usize) -> Option<usize> {
        let Target::Key(target) = self.given[me].to else {
            return None;
        };
        let candidates = self.candidates(target);
        self.nearest(
            me,
            candidates.into_iter().filter(|one| !self.leads_on(*one)),
        )
        .filter(|_| self.is_redirect(me))
    }

    /// Where a capture leads by itself.
    fn first_hop(&self, me: usize) -> Hop {
        let own = &self.given[me];
        if own.is_out_of_scope {
            return Err(vec![Conflict::OutOfScope]);
        }
        if !self.is_redirect(me) {
            return match self.led_to(me) {
                Some(original) if self.given[original].is_out_of_scope => {
                    Err(vec![Conflict::OutOfScope])
                }
                original => original.ok_or(Vec::new()),
            };
        }
        let target = match own.to {
            Target::Key(target) => target,
            Target::Credentials => return Err(vec![Conflict::Credentials]),
            Target::OutOfScope => return Err(vec![Conflict::OutOfScope]),
            Target::NotHttp | Target::None => return Err(vec![Conflict::NotHttp]),
        };
        let mut conflicts = Vec::new();
        if self.is_crowded(target) {
            conflicts.push(Conflict::FanIn);
        }
        if is_astray(own) && self.is_suspect_home(target) {
            conflicts.push(Conflict::SuspectHome);
        }
        let candidates = self.candidates(target);
        let is_captured = !candidates.is_empty();
        match self.nearest(me, candidates.into_iter()) {
            Some(to) if conflicts.is_empty() => return Ok(to),
            Some(_) => {}
            None if is_captured => conflicts.push(Conflict::RedirectGap),
            None => conflicts.push(Conflict::RedirectOutside),
        }
        Err(conflicts)
    }

    /// Captures that a redirect to `target` may mean.
    fn candidates(&self, target: ComparisonKey) -> Vec<usize> {
        (0..self.given.len())
            .filter(|one| key(&self.given[*one].url) == target)
            .filter(|one| self.given[*one].method == "GET" && !self.given[*one].is_out_of_scope)
            .collect()
    }

    /// Of `candidates` the nearest in time within the window.
    fn nearest(&self, me: usize, candidates: impl Iterator<Item = usize>) -> Option<usize> {
        let limit = i128::from(self.thresholds.redirect_within) * 1_000_000_000;
        candidates
            .filter(|one| {
                self.distance(me, *one)
                    .is_none_or(|distance| distance <= limit)
            })
            .min_by(|one, other| {
                let rank = |place: usize| {
                    let distance = self.distance(me, place);
                    // Unknown is farthest; of undated ones the latest that is dated.
                    let date = self.given[place].date;
                    (
                        distance.is_none(),
                        distance,
                        self.leads_on(place),
                        date.is_none(),
                        date.map(|(seconds, nanos)| (-seconds, -i64::from(nanos))),
                    )
                };
                rank(*one)
                    .cmp(&rank(*other))
                    .then_with(|| self.tie(*one).cmp(&self.tie(*other)))
            })
    }

    fn distance(&self, one: usize, other: usize) -> Option<i128> {
        let nanos = |place: usize| {
            let (seconds, nanos) = self.given[place].date?;
            Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))
        };
        Some((nanos(one)? - nanos(other)?).abs())
    }

    /// Whether a capture is a redirect, or a revisit that leads on to one.
    fn leads_on(&self, me: usize) -> bool {
        let mut at = me;
        loop {
            if self.is_redirect(at) {
                return true;
            }
            match self.first_hop(at) {
                Ok(to) => at = to,
                Err(_) => return false,
            }
        }
    }

    pub(crate) fn tie(&self, one: usize) -> (&str, &str, usize) {
        let own = &self.given[one];
        let file = FILES[own.file as usize].rsplit('/').next().unwrap_or("");
        let url = if own.spelled.is_empty() {
            &own.url
        } else {
            &own.spelled
        };
        (url, file, own.ordinal.unwrap_or(one))
    }

    fn is_redirect(&self, me: usize) -> bool {
        let own = &self.given[me];
        let is_own = own.record_type != RecordType::Revisit || self.has_own_head(me);
        (300..400).contains(&own.status) && own.status != 304 && own.to != Target::None && is_own
    }

    fn is_permanent(&self, me: usize) -> bool {
        let own = &self.given[me];
        matches!(own.status, 301 | 308) || own.status == 307 && own.is_hsts
    }

    /// Whether a revisit's status and Location are its own.
    fn has_own_head(&self, me: usize) -> bool {
        let own = &self.given[me];
        own.status != 304 && (own.has_head || own.is_index_line && own.status != 0)
    }

    fn stands_for_redirect(&self, me: usize) -> bool {
        self.is_redirect(self.head(me))
    }

    /// The capture whose status and Location are the capture's.
    pub(crate) fn head(&self, me: usize) -> usize {
        let is_revisit = self.given[me].record_type == RecordType::Revisit;
        match self.original(me) {
            Some(original) if is_revisit && !self.has_own_head(me) => self.head(original),
            _ => me,
        }
    }

    /// The capture whose payload is the capture's.
    pub(crate) fn content(&self, me: usize) -> usize {
        self.original(me)
            .map_or(me, |original| self.content(original))
    }

    pub(crate) fn status(&self, me: usize) -> u16 {
        self.given[self.head(me)].status
    }

    fn sources(&self, target: ComparisonKey) -> impl Iterator<Item = usize> + '_ {
        (0..self.given.len())
            .filter(move |one| self.is_redirect(*one) && self.given[*one].to == Target::Key(target))
    }

    fn is_crowded(&self, target: ComparisonKey) -> bool {
        let mut keys: Vec<(&str, &str)> = self
            .sources(target)
            .map(|one| (self.given[one].method, self.given[one].url.as_str()))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len() as u64 > self.thresholds.fan_in_max
    }

    fn is_suspect_home(&self, target: ComparisonKey) -> bool {
        let mut paths: Vec<&str> = self
            .sources(target)
            .filter(|one| is_astray(&self.given[*one]))
            .map(|one| path(&self.given[one].url))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        paths.len() >= 3
    }

    /// Where a revisit leads: past revisits, unless one has a Location or a scope of its own.
    fn led_to(&self, me: usize) -> Option<usize> {
        let mut at = self.original(me)?;
        loop {
            let is_passed = |one: usize| !self.is_redirect(one) && !self.given[one].is_out_of_scope;
            match self.original(at).map(|_| self.led_to(at)) {
                Some(Some(on)) if is_passed(at) && !self.given[on].is_out_of_scope => at = on,
                _ => return Some(at),
            }
        }
    }

    /// What a revisit refers to; none for one whose references come round.
    fn original(&self, me: usize) -> Option<usize> {
        let mut path = vec![me];
        while let Some(to) = self.referred_to(path[path.len() - 1]) {
            if to == me {
                return None;
            }
            if path.contains(&to) {
                break;
            }
            path.push(to);
        }
        path.get(1).copied()
    }

    fn referred_to(&self, me: usize) -> Option<usize> {
        let own = &self.given[me];
        if own.record_type != RecordType::Revisit {
            return None;
        }
        let others = || (0..self.given.len()).filter(|one| *one != me);
        let by_id: Vec<usize> = others()
            .filter(|one| !own.refers_id.is_empty() && self.given[*one].id == own.refers_id)
            .collect();
        let by_date: Vec<usize> = others()
            .filter(|one| !own.refers_url.is_empty() && self.given[*one].url == own.refers_url)
            .filter(|one| self.is_same_moment(own.refers_date, self.given[*one].date))
            .collect();
        for found in [by_id, by_date] {
            let best = found.into_iter().min_by_key(|one| {
                let is_exact = self.given[*one].date == own.refers_date;
                let has_digest = self
                    .digest(me)
                    .is_some_and(|digest| self.has(*one, &digest));
                let by_date = own.refers_id.is_empty() || self.given[*one].id != own.refers_id;
                (!has_digest, by_date && !is_exact, self.tie(*one))
            });
            if best.is_some() {
                return best;
            }
        }
        let digest = self.digest(me)?;
        let url = if own.refers_url.is_empty() {
            &own.url
        } else {
            &own.refers_url
        };
        let holders = || {
            others()
                .filter(|one| self.given[*one].record_type != RecordType::Revisit)
                .filter(|one| self.given[*one].method != "HEAD")
                .filter(|one| self.given[*one].payload != "empty")
                .filter(|one| self.given[*one].is_out_of_scope == own.is_out_of_scope)
                .filter(|one| self.has(*one, &digest))
        };
        self.latest(me, holders().filter(|one| self.given[*one].url == *url))
            .or_else(|| {
                let complete =
                    |one: &usize| self.given[*one].completeness == Completeness::Complete;
                self.latest(me, holders().filter(complete))
            })
    }

    /// The nearest that is not later.
    fn latest(&self, me: usize, holders: impl Iterator<Item = usize>) -> Option<usize> {
        let date = self.given[me].date;
        holders
            .filter(|one| {
                date.is_none()
                    || self.given[*one]
                        .date
                        .is_none_or(|other| Some(other) <= date)
            })
            .min_by_key(|one| {
                let date = self.given[*one].date;
                (
                    date.is_none(),
                    date.map(|(seconds, nanos)| (-seconds, -i64::from(nanos))),
                    self.tie(*one),
                )
            })
    }

    /// Equal, or one of them has whole seconds only.
    fn is_same_moment(&self, one: Option<(i64, u32)>, other: Option<(i64, u32)>) -> bool {
        matches!((one, other), (Some(one), Some(other))
            if one.0 == other.0 && (one.1 == other.1 || one.1 == 0 || other.1 == 0))
    }

    /// The digest a revisit is found by.
    fn digest(&self, me: usize) -> Option<String> {
        let digest = self.named(own_digest(&self.given[me]));
        let is_usable = !digest.is_empty()
            && own_digest(&self.given[me]) != "empty"
            && !self.is_empty_payload(&digest);
        is_usable.then_some(digest)
    }

    /// Whether a capture is known by `digest`.
    fn has(&self, one: usize, digest: &str) -> bool {
        let other = &self.given[one];
        let is_judged = matches!(
            other.digest_status,
            DigestStatus::Ok | DigestStatus::OkOverRawBody | DigestStatus::Mismatch
        );
        // Read, and not checked: it names its own payload, or none.
        let is_stated = other.digest_status == DigestStatus::Unchecked
            && other.completeness == Completeness::Complete
            && other.record_type != RecordType::Revisit
            && !other.is_index_line
            && !other.payload.is_empty();
        let declared = match is_stated {
            true => other.declared.clone(),
            false => self.named(&other.declared),
        };
        let says_more = other.declared != other.payload && !is_judged;
        self.payload(one) == digest || says_more && declared == digest
    }

    /// The payload digest by the capture's own account.
    fn payload(&self, one: usize) -> String {
        let own = &self.given[one];
        if own.record_type == RecordType::Revisit || own.is_index_line {
            self.named(own_digest(own))
        } else {
            own.payload.clone()
        }
    }

    /// The payload that a declared digest names.
    fn named(&self, declared: &str) -> String {
        let holders = |status: DigestStatus| {
            let mut payloads: Vec<&str> = self
                .given
                .iter()
                .filter(|one| one.record_type != RecordType::Revisit && !one.is_index_line)
                .filter(|one| one.declared == declared && one.digest_status == status)
                .filter(|one| {
                    status != DigestStatus::Unchecked || one.completeness == Completeness::Complete
                })
                .map(|one| one.payload.as_str())
                .filter(|payload| !payload.is_empty())
                .collect();
            payloads.sort_by_key(|payload| crate::given::identity(payload));
            payloads.dedup();
            payloads
        };
        if declared.is_empty() {
            return String::new();
        }
        for status in [DigestStatus::Ok, DigestStatus::OkOverRawBody] {
            if let Some(payload) = holders(status).first() {
                return (*payload).to_owned();
            }
        }
        match holders(DigestStatus::Unchecked)[..] {
            [payload] => payload.to_owned(),
            _ => declared.to_owned(),
        }
    }

    fn is_empty_payload(&self, payload: &str) -> bool {
        self.given.iter().any(|one| {
            one.record_type != RecordType::Revisit && one.payload == "empty" && payload == "empty"
        })
    }

    /// Payload, decoded, is empty, is usable.
    pub(crate) fn facts(&self, me: usize) -> (String, String, bool, bool) {
        let content = self.content(me);
        let own = &self.given[content];
        let is_revisit = own.record_type == RecordType::Revisit;
        let payload = self.payload(content);
        let is_complete = is_revisit || own.completeness == Completeness::Complete;
        let is_empty = self.is_empty_payload(&payload)
            || (is_revisit && own_digest(own) == "empty")
            || (!is_revisit && own.payload == "empty");
        let mut decoded: Vec<&str> = self
            .given
            .iter()
            .filter(|one| one.record_type != RecordType::Revisit)
            .filter(|one| one.payload == payload && !payload.is_empty())
            .filter(|one| one.completeness == Completeness::Complete)
            .map(|one| one.decoded.as_str())
            .filter(|decoded| !decoded.is_empty())
            .collect();
        decoded.sort_by_key(|decoded| crate::given::identity(decoded));
        let decoded = match decoded.first() {
            Some(decoded) if is_complete => (*decoded).to_owned(),
            _ => String::new(),
        };
        let is_head = [me, content]
            .iter()
            .any(|one| self.given[*one].method == "HEAD");
        let is_usable = is_complete && !payload.is_empty() && !is_empty && !is_head;
        (payload, decoded, is_empty, is_usable)
    }
}

fn own_digest(given: &Given) -> &str {
    if given.declared.is_empty() {
        &given.payload
    } else {
        &given.declared
    }
}

fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or("");
    rest.find('/').map_or("/", |at| &rest[at..])
}

/// Whether a redirect leads from a page to the root of a host.
fn is_astray(given: &Given) -> bool {
    path(&given.url) != "/"
        && !given.redirect_to.is_empty()
        && path(&given.redirect_to) == "/"
        && !given.redirect_to.contains('?')
}
