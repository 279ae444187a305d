//! From sightings to the rows of a table: digests, runs, captures.

use rayon::prelude::*;

use super::run::{Run, Runs, Span, Token, Window};
use super::table::{CaptureRow, Content, Digest, Sighting, Url};

/// A sighting with the digest that it shows.
pub(super) type Shown<'a> = (&'a Sighting, Option<Token>);

/// One row a digest, by identity, with all kinds as which it was seen; and which each sighting shows.
pub(super) fn distinct_digests(sightings: &[Sighting]) -> (Vec<Digest>, Vec<Option<Token>>) {
    let mut order: Vec<(u128, u32)> = sightings
        .par_iter()
        .enumerate()
        .filter_map(|(index, sighting)| {
            let index = u32::try_from(index).expect("fewer than 2^32 sightings");
            Some((sighting.content?.identity, index))
        })
        .collect();
    order.par_sort_unstable();
    let mut digests: Vec<Digest> = Vec::new();
    let mut tokens = vec![None; sightings.len()];
    for (identity, index) in order {
        let content = sightings[index as usize].content;
        let Content { lanes, text, .. } = content.expect("a sighting with a digest");
        match digests.last_mut() {
            Some(digest) if digest.identity == identity => {
                digest.lanes.0 |= lanes.0;
                digest.text = digest.text.max(text);
            }
            _ => digests.push(Digest {
                identity,
                lanes,
                text,
                is_boilerplate: false,
            }),
        }
        tokens[index as usize] = Token::try_from(digests.len() - 1).ok();
    }
    (digests, tokens)
}

/// Digests at the end of each capture, and final URLs: of a source from its redirects, of the target
/// itself from all its captures.
pub(super) fn all_runs<'a>(
    shown: impl Iterator<Item = Shown<'a>> + Clone,
    urls: &[Url],
    (window, n_digests): (Window, usize),
) -> Runs {
    let mut is_target = vec![false; urls.len()];
    for target in shown.clone().filter_map(|(sighting, _)| sighting.leads_to) {
        is_target[target as usize] = true;
    }
    let n_digests = Token::try_from(n_digests).expect("fewer than 2^32 digests");
    let mut sights = Vec::new();
    for (sighting, digest) in shown {
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

/// Digests of the captures that are no redirects.
pub(super) fn own_runs<'a>(
    shown: impl Iterator<Item = Shown<'a>>,
    n_urls: usize,
    window: Window,
) -> Runs {
    let sights = shown
        .filter(|(sighting, _)| sighting.leads_to.is_none())
        .filter_map(|(sighting, token)| {
            Some(Run {
                token: token?,
                url: sighting.url,
                span: Span::at(sighting.instant),
                is_refetched: false,
            })
        })
        .collect();
    Runs::of(sights, n_urls, window)
}

/// Rows by URL, and where each URL's start.
pub(super) fn captures<'a>(
    shown: &(impl Iterator<Item = Shown<'a>> + Clone),
    urls: &[Url],
) -> (Vec<CaptureRow>, Vec<u32>) {
    let with_digest = || {
        let rows = (0..).zip(shown.clone());
        rows.filter_map(|(index, (sighting, digest))| Some((index, sighting, digest?)))
    };
    let mut starts = vec![0; urls.len() + 1];
    for (_, sighting, _) in with_digest() {
        starts[sighting.url as usize + 1] += 1;
    }
    for index in 0..urls.len() {
        starts[index + 1] += starts[index];
    }
    let mut next = starts.clone();
    let mut rows = vec![CaptureRow::default(); starts[urls.len()] as usize];
    for (index, sighting, digest) in with_digest() {
        let at = &mut next[sighting.url as usize];
        rows[*at as usize] = CaptureRow {
            instant: sighting
                .instant
                .map(|instant| Span::at(Some(instant)).first),
            digest,
            sighting: index,
            is_in_trials: false,
        };
        *at += 1;
    }
    (rows, starts)
}
