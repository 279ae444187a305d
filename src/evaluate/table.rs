//! The URLs under evaluation with their runs and captures: all that verdicts are made from.

use rayon::prelude::*;

use super::boilerplate;
use super::halves::Skeleton;
use super::noise::Noise;
use super::rows::{all_runs, captures, distinct_digests, own_runs};
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
    /// What no rule changes of it.
    pub skeleton: Skeleton,
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
#[derive(Clone, Copy, Debug, Default)]
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
        let (mut digests, tokens) = distinct_digests(sightings);
        let shown = || sightings.iter().zip(tokens.iter().copied());
        let runs = all_runs(shown(), &urls, (window, digests.len()));
        boilerplate::mark(&mut digests, &runs, &urls, boilerplate_max);
        let own = sightings
            .iter()
            .any(|sighting| sighting.leads_to.is_some())
            .then(|| own_runs(shown(), urls.len(), window));
        let (captures, starts) = captures(&shown(), &urls);
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
        let ids = table.ids().into_par_iter();
        table.witnesses = ids.map(|url| table.judge_witness(url)).collect();
        table
    }

    /// All URLs.
    pub fn ids(&self) -> std::ops::Range<UrlId> {
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

    /// URLs that were refetched and stayed the same.
    #[must_use]
    pub fn n_stable(&self) -> usize {
        let witnesses = self.witnesses.iter();
        witnesses
            .filter(|witness| witness.is_any(Witness::STABLE))
            .count()
    }

    /// URLs that are in no half and no sample.
    #[must_use]
    pub fn n_without_skeleton(&self) -> usize {
        let urls = self.urls.iter();
        urls.filter(|url| url.skeleton == Skeleton::default())
            .count()
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
