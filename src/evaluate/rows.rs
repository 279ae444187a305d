//! From sightings to the rows of a table: digests, runs, captures.

use super::run::{Run, Runs, Span, Token, Window};
use super::table::{CaptureRow, Content, Digest, Sighting, Url, UrlId};

/// One row a digest, by identity; its lanes are all as which it was seen.
pub(super) fn distinct_digests(sightings: &[Sighting]) -> Vec<Digest> {
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
pub(super) fn all_runs(
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

/// Digests of the captures that are no redirects.
pub(super) fn own_runs(
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
pub(super) fn captures(
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
