//! Digests that say nothing: shared by too many unrelated URLs of a host, or by too many domains.

use super::run::{Run, Runs};
use super::table::{Digest, Url};

/// More registrable domains than this share no page.
const DOMAINS_MAX: u64 = 50;

/// Marks each digest of more than `max` unrelated URLs of one host, or of more than [`DOMAINS_MAX`] registrable domains.
pub(super) fn mark(digests: &mut [Digest], runs: &Runs, urls: &[Url], max: u64) {
    let mut n_carriers = vec![0_u32; digests.len()];
    for run in runs.rows() {
        if let Some(n) = n_carriers.get_mut(run.token as usize) {
            *n += 1;
        }
    }
    let is_of_many_urls = |run: &&Run| {
        let n = n_carriers.get(run.token as usize);
        n.is_some_and(|n| u64::from(*n) > max.min(DOMAINS_MAX))
    };
    let carriers = runs.rows().iter().filter(is_of_many_urls);
    let mut carriers: Vec<(u32, u32)> = carriers.map(|run| (run.token, run.url)).collect();
    carriers.sort_unstable();
    for of_digest in carriers.chunk_by(|a, b| a.0 == b.0) {
        let urls: Vec<&Url> = of_digest
            .iter()
            .map(|(_, url)| &urls[*url as usize])
            .collect();
        digests[of_digest[0].0 as usize].is_boilerplate =
            n_distinct(urls.iter().map(|url| url.domain)) > DOMAINS_MAX || is_of_many(&urls, max);
    }
}

/// Whether a host has more than `max` unrelated ones.
fn is_of_many(urls: &[&Url], max: u64) -> bool {
    let mut resources: Vec<(u32, u64)> = urls.iter().map(|url| (url.host, url.resource)).collect();
    resources.sort_unstable();
    resources.dedup();
    resources
        .chunk_by(|a, b| a.0 == b.0)
        .any(|of_host| of_host.len() as u64 > max)
}

fn n_distinct(domains: impl Iterator<Item = u32>) -> u64 {
    let mut domains: Vec<u32> = domains.collect();
    domains.sort_unstable();
    domains.dedup();
    domains.len() as u64
}
