//! Captures that were not asked for with GET: their keys cover method and request body, and are no keys of their URLs.

use super::{Catalog, RowFlags, RowId};
use crate::capture::Method;
use crate::key::ComparisonKey;

/// How a row was asked for, if not with GET.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Key of the target URI alone; the row's covers the method too.
    pub(super) url_key: ComparisonKey,
    /// `None` where the record itself says it.
    pub(super) method: Option<Vec<u8>>,
    pub(super) body_hash: u128,
}

impl Catalog {
    /// Key of the target URI alone, whatever the method.
    #[must_use]
    pub fn url_key(&self, id: RowId) -> ComparisonKey {
        let row = self.row(id);
        if !row.flags.contains(RowFlags::NOT_GET) {
            return row.key;
        }
        let asked = self.asked.get(&id);
        asked.map_or(row.key, |asked| asked.url_key)
    }

    /// Makes `key` (which covers method and request body) the key of a row; its URL key is kept.
    pub fn set_method_key(&mut self, id: RowId, key: ComparisonKey) {
        let url_key = self.row(id).key;
        self.asked.entry(id).or_insert(Asked {
            url_key,
            method: None,
            body_hash: 0,
        });
        self.set_key(id, key);
        self.set_flag(id, RowFlags::NOT_GET);
    }

    /// Keys a row by what it was asked for with, which is no GET.
    pub(super) fn set_method(&mut self, id: RowId, method: Method<'_>) {
        let key = self.url_key(id).with_method(method.name, method.body_hash);
        self.set_method_key(id, key);
        if let Some(asked) = self.asked.get_mut(&id) {
            asked.method = Some(method.name.to_vec());
            asked.body_hash = method.body_hash;
        }
        if method.name == b"HEAD" {
            self.set_flag(id, RowFlags::HEAD);
        }
    }
}
