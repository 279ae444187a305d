//! Page groups: captures whose ends carry one content, and contents that are too common to say so.

use super::content::{ContentId, is_usable};
use super::keeper::is_success_or_unknown;
use super::tags::{Alone, LookUp, Tag, for_each_group};
use super::way::Ways;
use super::{Basis, Carrier, RowFlags, Thresholds, Urls};
use crate::catalog::RowId;
use hashbrown::HashSet;
use rayon::prelude::*;

/// Registrable domains beyond which a content is boilerplate.
const BOILERPLATE_DOMAINS: usize = 50;

/// What an end carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageContent {
    /// A digest.
    Digest(ContentId),
    /// No usable digest: a content of its own, which only pointers share.
    Own(RowId),
}

impl Basis<'_> {
    /// What the page of `row` carries; `None` for a capture that joins no page.
    pub(super) fn page_content(&self, ways: &Ways, row: RowId) -> Option<PageContent> {
        if !self.ends.pointing().has(row) {
            let is_page = is_success_or_unknown(self.catalog.row(row).status);
            return is_page.then(|| self.own_content(row));
        }
        let answer = self.ends.facts(self.answer(ways, row));
        let is_admitted = !self.is_out_of_scope(row)
            && is_success_or_unknown(answer.status)
            && self.trusts(ways, row);
        is_admitted.then(|| self.own_content(self.stand(ways, row)))
    }

    fn own_content(&self, row: RowId) -> PageContent {
        let named = self.named_content(row);
        named.map_or(PageContent::Own(row), PageContent::Digest)
    }

    /// What a capture carries by the digests that are named as evidence.
    pub(super) fn named_content(&self, row: RowId) -> Option<ContentId> {
        let carried_by = self.carried_by?;
        let facts = self.ends.facts(row);
        is_usable(&facts).then(|| match carried_by {
            Carrier::Decoded => self.contents.decoded(row, &facts),
            Carrier::Payload => self.contents.payload(row, &facts),
        })
    }

    /// A content of one capture is no boilerplate, unless the user wants none at all on a page.
    pub(super) fn lone_carriers(&self) -> Alone {
        match self.thresholds.boilerplate_max {
            0 => Alone::Told,
            _ => Alone::Counted,
        }
    }

    pub(super) fn is_out_of_scope(&self, row: RowId) -> bool {
        self.catalog.row(row).flags.contains(RowFlags::OUT_OF_SCOPE)
    }

    /// An id for a content without digest, made from base name, ordinal and URL.
    pub(super) fn own_label(&self, end: RowId) -> u64 {
        let locator = self.catalog.locator(end);
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(self.catalog.base_name(locator.file));
        // No name of a file has a zero byte, so that the parts cannot be read in another way.
        hasher.update(&[0]);
        hasher.update(&locator.ordinal.to_le_bytes());
        hasher.update(self.catalog.target_uri(end));
        hasher.digest().max(1)
    }
}

/// How many captures may carry a content that is no boilerplate, whatever their URLs.
pub(super) fn carriers_max(thresholds: &Thresholds) -> usize {
    let urls_max = usize::try_from(thresholds.boilerplate_max).unwrap_or(usize::MAX);
    urls_max.min(BOILERPLATE_DOMAINS)
}

/// The contents, sorted, that more unrelated URLs share than one page can have.
pub(super) fn boilerplate(basis: Basis<'_>, urls: &Urls<'_>) -> Vec<ContentId> {
    let carriers_max = carriers_max(basis.thresholds);
    let common: HashSet<ContentId> = basis.contents.common.iter().copied().collect();
    // What decodes alike may be common, though no payload is.
    let is_any = basis.ends.has_decoded() || basis.lone_carriers() == Alone::Told;
    if common.is_empty() && !is_any {
        return Vec::new();
    }
    let carried = |row| {
        let content = basis.named_content(row)?;
        // What a redirect says of itself is no page.
        let is_page = || !(300..400).contains(&basis.ends.facts(row).status);
        ((is_any || common.contains(&content)) && is_page()).then_some(content)
    };
    let mut found = Vec::new();
    let look_up = LookUp {
        alone: basis.lone_carriers(),
        touch: |rows: &[RowId]| basis.catalog.touch_rows(rows),
        id_of: carried,
    };
    for_each_group(basis.catalog.par_ids(), &look_up, |content, carriers| {
        if carriers.len() > carriers_max && is_too_common(basis, urls, carriers) {
            found.push(content);
        }
    });
    found
}

fn is_too_common(basis: Basis<'_>, urls: &Urls<'_>, carriers: &[Tag]) -> bool {
    let mut distinct: Vec<_> = carriers
        .par_iter()
        .map(|tag| (basis.catalog.url_key(tag.row()), tag.row()))
        .collect();
    distinct.par_sort_unstable();
    distinct.dedup_by_key(|(key, _)| *key);
    let mut sites: Vec<_> = distinct
        .into_par_iter()
        .map(|(_, row)| (urls.site)(row))
        .collect();
    sites.par_sort_unstable();
    sites.dedup();
    let domains = sites.chunk_by(|a, b| a.domain == b.domain).count();
    domains > BOILERPLATE_DOMAINS
        || sites
            .chunk_by(|a, b| (a.domain, a.host) == (b.domain, b.host))
            .any(|host| host.len() as u64 > basis.thresholds.boilerplate_max)
}
