//! Runs: from when to when a URL showed a digest, or led to a final URL.

use rayon::prelude::*;

use super::UrlId;

/// An instant in microseconds since 1970.
pub type Instant = i64;

/// Instants beyond this are held to it, so that a window added to one cannot overflow.
const INSTANT_MAX: Instant = i64::MAX / 8;

/// From the first to the last sight of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First seen.
    pub first: Instant,
    /// Last seen.
    pub last: Instant,
}

impl Span {
    /// Of a run with an undated capture: it meets every run.
    pub const UNDATED: Self = Self {
        first: -INSTANT_MAX - 1,
        last: INSTANT_MAX + 1,
    };

    /// One instant; `None` is an unknown one.
    #[must_use]
    pub fn at(instant: Option<Instant>) -> Self {
        instant.map_or(Self::UNDATED, |instant| {
            let instant = instant.clamp(-INSTANT_MAX, INSTANT_MAX);
            Self {
                first: instant,
                last: instant,
            }
        })
    }

    /// Whether a capture in it has no date.
    #[must_use]
    pub fn is_undated(self) -> bool {
        self == Self::UNDATED
    }

    /// From the earlier first to the later last.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

/// `--within`: how far apart runs (and captures) may be and still say something of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(i64);

impl Window {
    /// A window of microseconds.
    #[must_use]
    pub fn new(microseconds: i64) -> Self {
        Self(microseconds.clamp(0, INSTANT_MAX))
    }

    /// Its length in microseconds.
    #[must_use]
    pub fn microseconds(self) -> i64 {
        self.0
    }

    /// Whether the gap between the two is at most the window.
    #[must_use]
    pub fn meet(self, a: Span, b: Span) -> bool {
        a.first <= b.last.saturating_add(self.0) && b.first <= a.last.saturating_add(self.0)
    }

    /// The span of all instants that something must touch to meet `span`.
    #[must_use]
    pub fn reach(self, span: Span) -> Span {
        Span {
            first: span.first.saturating_sub(self.0),
            last: span.last.saturating_add(self.0),
        }
    }
}

/// What a run is of: a digest by its index, or after all digests a final URL.
pub(super) type Token = u32;

/// A row: one token of one URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// What was seen.
    pub token: Token,
    /// Where.
    pub url: UrlId,
    /// When.
    pub span: Span,
    /// Two captures in it are at most the window apart.
    pub is_refetched: bool,
}

/// Runs by URL, and of a URL by token.
#[derive(Debug, Default)]
pub struct Runs {
    rows: Vec<Run>,
    starts: Vec<u32>,
}

impl Runs {
    /// Joins sights into runs. Sights of one URL and token must come in order of time.
    #[must_use]
    pub fn of(mut sights: Vec<Run>, n_urls: usize, window: Window) -> Self {
        sights.par_sort_by_key(|sight| (sight.url, sight.token));
        let mut rows: Vec<Run> = Vec::new();
        let mut previous = Span::UNDATED;
        for sight in sights {
            match rows.last_mut() {
                Some(run) if (run.url, run.token) == (sight.url, sight.token) => {
                    run.is_refetched |= !sight.span.is_undated()
                        && !previous.is_undated()
                        && window.meet(previous, sight.span);
                    run.span = run.span.join(sight.span);
                }
                _ => rows.push(sight),
            }
            previous = sight.span;
        }
        for run in rows.iter_mut().filter(|run| run.span.is_undated()) {
            run.is_refetched = false;
        }
        let mut starts = vec![0; n_urls + 1];
        for run in &rows {
            starts[run.url as usize + 1] += 1;
        }
        for index in 0..n_urls {
            starts[index + 1] += starts[index];
        }
        Self { rows, starts }
    }

    /// All runs.
    #[must_use]
    pub fn rows(&self) -> &[Run] {
        &self.rows
    }

    /// The runs of one URL, by token.
    #[must_use]
    pub fn of_url(&self, url: UrlId) -> &[Run] {
        &self.rows[self.starts[url as usize] as usize..self.starts[url as usize + 1] as usize]
    }
}
