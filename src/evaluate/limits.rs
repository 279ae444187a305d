//! From where on counts are made without listing pairs, and from where on they are estimates.

/// Sizes at which counting changes its method.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pairs of a class of at most so many URLs are listed: for small ones that is fastest.
    pub class_listed_max: usize,
    /// Two tokens that more URLs carry together are counted as an estimate.
    pub together_max: usize,
    /// A URL with more shared tokens than this is counted as an estimate.
    pub tokens_max: usize,
    /// Of more URLs with several runs in one class the comparable pairs are an estimate.
    pub several_runs_max: usize,
    /// More pairs than this of irregular URLs are not looked at one by one.
    pub irregular_pairs_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            class_listed_max: 32,
            together_max: 1000,
            tokens_max: 64,
            several_runs_max: 1000,
            irregular_pairs_max: 4_000_000,
        }
    }
}
