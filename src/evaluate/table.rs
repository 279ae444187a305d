//! The URLs under evaluation with their runs and captures: all that verdicts are made from.

use hashbrown::HashMap;

use super::boilerplate;
use super::noise::Noise;
use super::run::{Instant, Run, Runs, Span, Token, Window};
use crate::key::ComparisonKey;

/// A URL class of the base policy, by its place in the order of keepers (0 is kept first).
pub type UrlId = u32;

/// One URL class of the base policy.
#[derive(Clone, Copy, Debug)]
pub struct Url {
    /// Its key under the base policy.
    pub key: ComparisonKey,
    /// Registrable domain, by the order of names.
    pub domain: u32,
    /// Host.
    pub host: u32,
    /// Equal for URLs of a host that are related: path and query without tracking and session names.
    pub resource: u64,
    /// In the half of the URLs (by path skeleton) that learned rules are measured on.
    pub is_in_half_b: bool,
}

/// Kinds of digest that can be compared: one bit for each algorithm, over the payload and over the decoded payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lanes(pub u16);

impl Lanes {
    /// Whether digests of these kinds are either equal or different.
    #[must_use]
    pub fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Each single kind.
    pub fn each(self) -> impl Iterator<Item = Self> {
        (0..16)
            .map(|bit| Self(1 << bit))
            .filter(move |lane| self.meet(*lane))
    }
}

/// The digest of a capture, decoded where that is known.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Algorithm and bytes, hashed.
    pub identity: u128,
    /// What it can be compared with.
    pub lanes: Lanes,
    /// Hash of the visible text without digits, where the body was read; else 0.
    pub text: u64,
}

/// One usable capture, or one with a complete permanent chain.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// Of which URL.
    pub url: UrlId,
    /// When; `None` for unknown.
    pub instant: Option<Instant>,
    /// The digest at its end; `None` only for a redirect whose end has none.
    pub content: Option<Content>,
    /// Of a redirect: the URL at its end.
    pub leads_to: Option<UrlId>,
}

/// One distinct digest.
#[derive(Clone, Copy, Debug)]
pub struct Digest {
    /// Algorithm and bytes, hashed.
    pub identity: u128,
    /// All kinds as which it was seen.
    pub lanes: Lanes,
    /// Hash of the visible text without digits, else 0.
    pub text: u64,
    /// Shared by too many unrelated URLs to say anything.
    pub is_boilerplate: bool,
}

/// A sighting with a digest, in the rows by URL and time.
#[derive(Clone, Copy, Debug)]
pub struct CaptureRow {
    /// When; `None` for unknown.
    pub instant: Option<Instant>,
    /// Index of the digest.
    pub digest: Token,
    /// Which of the sightings.
    pub sighting: u32,
    /// Whether noise trials may use it: dated, of a dated run, no boilerplate.
    pub is_in_trials: bool,
}

/// What is known of a URL as a witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Witness(u8);

impl Witness {
    /// Two of its digests have runs that meet.
    pub const UNSTABLE: Self = Self(1);
    /// Not unstable, and refetched within the window.
    pub const STABLE: Self = Self(2);
    /// On a noisy host.
    pub const NOISY: Self = Self(4);
    /// All its digests are boilerplate.
    pub const BOILERPLATE_ONLY: Self = Self(8);

    /// Whether any of `other` holds.
    #[must_use]
    pub fn is_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Neither unstable nor on a noisy host.
    #[must_use]
    pub fn is_sound(self) -> bool {
        !self.is_any(Self(Self::UNSTABLE.0 | Self::NOISY.0))
    }
}

/// Everything that verdicts are made from.
#[derive(Debug)]
pub struct Table {
    /// In the order of keepers.
    pub urls: Vec<Url>,
    /// By identity.
    pub digests: Vec<Digest>,
    /// D(u), boilerplate included, and final URLs.
    pub runs: Runs,
    /// Digests of the captures that are no redirects; `None` where there are only such.
    pub own: Option<Runs>,
    /// The window.
    pub window: Window,
    /// How often one URL differs from itself.
    pub noise: Noise,
    captures: Vec<CaptureRow>,
    starts: Vec<u32>,
    witnesses: Vec<Witness>,
}

impl Table {
    /// Makes the table. Sightings come by time (unknown last), URL bytes, file base name, ordinal; a
    /// record id once; every URL has one.
    #[must_use]
    pub fn new(
        urls: Vec<Url>,
        sightings: &[Sighting],
        window: Window,
        boilerplate_max: u64,
    ) -> Self {
        let mut digests = distinct_digests(sightings);
        let index: HashMap<u128, Token> = (0..)
            .zip(&digests)
            .map(|(index, digest)| (digest.identity, index))
            .collect();
        let token = |content: &Content| index[&content.identity];
        let runs = all_runs(sightings, &urls, (window, digests.len()), token);
        boilerplate::mark(&mut digests, &runs, &urls, boilerplate_max);
        let own = sightings
            .iter()
            .any(|sighting| sighting.leads_to.is_some())
            .then(|| own_runs(sightings, urls.len(), window, token));
        let (captures, starts) = captures(sightings, &urls, token);
        let mut table = Self {
            witnesses: vec![Witness::default(); urls.len()],
            noise: Noise::default(),
            urls,
            digests,
            runs,
            own,
            window,
            captures,
            starts,
        };
        table.mark_trials();
        table.noise = Noise::of(&table);
        table.witnesses = table.ids().map(|url| table.judge_witness(url)).collect();
        table
    }

    /// All URLs.
    pub fn ids(&self) -> impl Iterator<Item = UrlId> + use<> {
        0..u32::try_from(self.urls.len()).expect("fewer than 2^32 URLs")
    }

    /// One URL.
    #[must_use]
    pub fn url(&self, url: UrlId) -> &Url {
        &self.urls[url as usize]
    }

    /// The captures with a digest of one URL, by time, unknown last.
    #[must_use]
    pub fn captures(&self, url: UrlId) -> &[CaptureRow] {
        let url = url as usize;
        &self.captures[self.starts[url] as usize..self.starts[url + 1] as usize]
    }

    /// What is known of it as a witness.
    #[must_use]
    pub fn witness(&self, url: UrlId) -> Witness {
        self.witnesses[url as usize]
    }

    /// The digest of a token; `None` for a final URL.
    #[must_use]
    pub fn digest(&self, token: Token) -> Option<&Digest> {
        self.digests.get(token as usize)
    }

    /// The digest runs of a URL, boilerplate included.
    pub fn digest_runs(&self, url: UrlId) -> impl Iterator<Item = (&Run, &Digest)> {
        self.runs
            .of_url(url)
            .iter()
            .filter_map(|run| Some((run, self.digest(run.token)?)))
    }

    fn mark_trials(&mut self) {
        for url in 0..self.urls.len() {
            let rows = self.starts[url] as usize..self.starts[url + 1] as usize;
            let runs = self
                .runs
                .of_url(UrlId::try_from(url).expect("a URL's index"));
            for capture in &mut self.captures[rows] {
                let run = runs
                    .binary_search_by_key(&capture.digest, |run| run.token)
                    .map(|index| &runs[index])
                    .expect("a capture with a digest is in a run of it");
                capture.is_in_trials =
                    !run.span.is_undated() && !self.digests[capture.digest as usize].is_boilerplate;
            }
        }
    }

    fn judge_witness(&self, url: UrlId) -> Witness {
        let mut witness = Witness::default();
        if self.is_unstable(url) {
            witness.insert(Witness::UNSTABLE);
        } else if self.digest_runs(url).any(|(run, _)| run.is_refetched) {
            witness.insert(Witness::STABLE);
        }
        if self.noise.is_noisy(self.url(url).domain) {
            witness.insert(Witness::NOISY);
        }
        if self
            .digest_runs(url)
            .all(|(_, digest)| digest.is_boilerplate)
        {
            witness.insert(Witness::BOILERPLATE_ONLY);
        }
        witness
    }

    /// Two dated runs of comparable digests meet: of a lane's runs by start, one starts in reach of the latest end.
    fn is_unstable(&self, url: UrlId) -> bool {
        let mut runs: Vec<(Span, Lanes)> = self
            .digest_runs(url)
            .filter(|(run, _)| !run.span.is_undated())
            .map(|(run, digest)| (run.span, digest.lanes))
            .collect();
        if runs.len() < 2 {
            return false;
        }
        runs.sort_unstable_by_key(|(span, _)| span.first);
        let mut ends: [Option<Instant>; 16] = [None; 16];
        for (span, lanes) in runs {
            for lane in lanes.each() {
                let end = &mut ends[lane.0.trailing_zeros() as usize];
                if end
                    .is_some_and(|end| span.first <= end.saturating_add(self.window.microseconds()))
                {
                    return true;
                }
                *end = Some(end.map_or(span.last, |end| end.max(span.last)));
            }
        }
        false
    }
}

/// One row a digest, by identity; its lanes are all as which it was seen.
fn distinct_digests(sightings: &[Sighting]) -> Vec<Digest> {
    let mut contents: Vec<Content> = sightings
        .iter()
        .filter_map(|sighting| sighting.content)
        .collect();
    contents.sort_unstable_by_key(|content| (content.identity, content.lanes, content.text));
    let mut digests: Vec<Digest> = Vec::new();
    for content in contents {
        match digests.last_mut() {
            Some(digest) if digest.identity == content.identity => {
                digest.lanes.0 |= content.lanes.0;
                digest.text = digest.text.max(content.text);
            }
            _ => digests.push(Digest {
                identity: content.identity,
                lanes: content.lanes,
                text: content.text,
                is_boilerplate: false,
            }),
        }
    }
    digests
}

/// Digests at the end of each capture, and final URLs: of a source from its redirects, of the target
/// itself from all its captures.
fn all_runs(
    sightings: &[Sighting],
    urls: &[Url],
    (window, n_digests): (Window, usize),
    token: impl Fn(&Content) -> Token,
) -> Runs {
    let mut is_target = vec![false; urls.len()];
    for target in sightings.iter().filter_map(|sighting| sighting.leads_to) {
        is_target[target as usize] = true;
    }
    let n_digests = Token::try_from(n_digests).expect("fewer than 2^32 digests");
    let mut sights = Vec::new();
    for sighting in sightings {
        let digest = sighting.content.as_ref().map(&token);
        let target = match sighting.leads_to {
            Some(target) => Some(target),
            None => Some(sighting.url).filter(|url| is_target[*url as usize]),
        };
        let target = target.map(|url| n_digests + url);
        sights.extend([digest, target].into_iter().flatten().map(|token| Run {
            token,
            url: sighting.url,
            span: Span::at(sighting.instant),
            is_refetched: false,
        }));
    }
    Runs::of(sights, urls.len(), window)
}

fn own_runs(
    sightings: &[Sighting],
    n_urls: usize,
    window: Window,
    token: impl Fn(&Content) -> Token,
) -> Runs {
    let sights = sightings
        .iter()
        .filter(|sighting| sighting.leads_to.is_none())
        .filter_map(|sighting| {
            Some(Run {
                token: token(sighting.content.as_ref()?),
                url: sighting.url,
                span: Span::at(sighting.instant),
                is_refetched: false,
            })
        })
        .collect();
    Runs::of(sights, n_urls, window)
}

/// Rows by URL, and where each URL's start.
fn captures(
    sightings: &[Sighting],
    urls: &[Url],
    token: impl Fn(&Content) -> Token,
) -> (Vec<CaptureRow>, Vec<u32>) {
    let mut rows: Vec<(UrlId, CaptureRow)> = (0..)
        .zip(sightings)
        .filter_map(|(index, sighting)| {
            let row = CaptureRow {
                instant: sighting
                    .instant
                    .map(|instant| Span::at(Some(instant)).first),
                digest: token(sighting.content.as_ref()?),
                sighting: index,
                is_in_trials: false,
            };
            Some((sighting.url, row))
        })
        .collect();
    rows.sort_by_key(|(url, _)| *url);
    let mut starts = vec![0; urls.len() + 1];
    for (url, _) in &rows {
        starts[*url as usize + 1] += 1;
    }
    for index in 0..urls.len() {
        starts[index + 1] += starts[index];
    }
    (rows.into_iter().map(|(_, row)| row).collect(), starts)
}
