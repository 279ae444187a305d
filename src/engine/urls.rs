//! Answers what grouping asks of target URIs, whose text it does not see.

use xxhash_rust::xxh3::xxh3_64;

use crate::catalog::{Catalog, RowId};
use crate::group::Site;
use crate::key::{ComparisonKey, Keyer};
use crate::policy::Policy;
use crate::uri;

/// Keys URLs of a catalog again, for the few rows that grouping asks about.
#[derive(Debug)]
pub(super) struct UrlFacts<'a> {
    catalog: &'a Catalog,
    base: Policy,
    /// Whether `base` made the keys of the catalog.
    is_catalog_base: bool,
}

impl<'a> UrlFacts<'a> {
    /// Facts about the URLs of `catalog`, whose keys `policy` made.
    #[must_use]
    pub(super) fn new(catalog: &'a Catalog, policy: &Policy) -> Self {
        let plan = policy.plan().without_bets();
        Self {
            catalog,
            is_catalog_base: plan == *policy.plan(),
            base: Policy::of("base", "1", plan),
        }
    }

    /// Where the URL of a row stands among others.
    #[must_use]
    pub(super) fn site(&self, row: RowId) -> Site {
        let mut keyer = Keyer::new(&self.base);
        let keyed = keyer.key(self.catalog.target_uri(row));
        let host = uri::host_of(keyed.text);
        let mut form = Vec::new();
        uri::unrelated_form(keyed.text, &mut form);
        Site {
            domain: xxh3_64(uri::registrable_domain(host)),
            host: xxh3_64(host),
            form: xxh3_64(&form),
        }
    }

    /// The key of a row under the policy without its bets.
    #[must_use]
    pub(super) fn base_key(&self, row: RowId) -> ComparisonKey {
        if self.is_catalog_base {
            return self.catalog.url_key(row);
        }
        Keyer::new(&self.base).key(self.catalog.target_uri(row)).key
    }
}
