//! What a rule or policy merges: classes of two URLs or more.

use rayon::prelude::*;

use super::table::{Url, UrlId};
use crate::key::ComparisonKey;

/// A URL whose key a rule changed: the fired row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fired {
    /// Its key under the rule.
    pub key: ComparisonKey,
    /// Which URL.
    pub url: UrlId,
}

/// Classes of two URLs or more, by key; in a class the keeper comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    members: Vec<UrlId>,
    starts: Vec<u32>,
    keys: Vec<ComparisonKey>,
}

impl Classes {
    /// The classes of `fired` and the URLs of other keys. `by_key` is [`by_key`] of `urls`.
    #[must_use]
    pub fn of(mut fired: Vec<Fired>, urls: &[Url], by_key: &[UrlId]) -> Self {
        fired.sort_unstable();
        let mut is_fired = vec![false; urls.len()];
        for row in &fired {
            is_fired[row.url as usize] = true;
        }
        let mut classes = Self::default();
        for of_key in fired.chunk_by(|a, b| a.key == b.key) {
            let key = of_key[0].key;
            let start = classes.members.len();
            classes.members.extend(of_key.iter().map(|row| row.url));
            let base = by_key
                .binary_search_by_key(&key, |url| urls[*url as usize].key)
                .map(|index| by_key[index]);
            if let Ok(url) = base
                && !is_fired[url as usize]
            {
                classes.members.push(url);
            }
            classes.end_class(start, key);
        }
        classes
    }

    /// The parts of these classes that another partition holds together too.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let in_other = other.class_of_url();
        let mut classes = Self::default();
        for (key, members) in self.iter() {
            let mut rows: Vec<(u32, UrlId)> = members
                .iter()
                .filter_map(|url| Some((*in_other.get(url)?, *url)))
                .collect();
            rows.sort_unstable();
            for together in rows.chunk_by(|a, b| a.0 == b.0) {
                let start = classes.members.len();
                classes.members.extend(together.iter().map(|(_, url)| url));
                classes.end_class(start, key);
            }
        }
        classes
    }

    /// Keys and members, by key.
    pub fn iter(&self) -> impl Iterator<Item = (ComparisonKey, &[UrlId])> {
        let ends = self
            .starts
            .iter()
            .skip(1)
            .map(|end| *end as usize)
            .chain([self.members.len()]);
        self.starts
            .iter()
            .zip(ends)
            .zip(&self.keys)
            .map(|((start, end), key)| (*key, &self.members[*start as usize..end]))
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether nothing is merged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The place of each member's class.
    #[must_use]
    pub fn class_of_url(&self) -> hashbrown::HashMap<UrlId, u32> {
        (0..)
            .zip(self.iter())
            .flat_map(|(class, (_, members))| members.iter().map(move |url| (*url, class)))
            .collect()
    }

    /// Makes the members from `start` on a class, or drops a lone one.
    fn end_class(&mut self, start: usize, key: ComparisonKey) {
        if self.members.len() - start < 2 {
            self.members.truncate(start);
            return;
        }
        self.members[start..].sort_unstable();
        self.starts
            .push(u32::try_from(start).expect("fewer than 2^32 URLs"));
        self.keys.push(key);
    }
}

/// Those of `urls` that are picked, in the order of their keys.
#[must_use]
pub fn by_key(urls: &[Url], is_picked: impl Fn(&Url) -> bool + Sync) -> Vec<UrlId> {
    let mut order: Vec<(ComparisonKey, UrlId)> = urls
        .par_iter()
        .enumerate()
        .filter(|(_, url)| is_picked(url))
        .map(|(index, url)| {
            (
                url.key,
                UrlId::try_from(index).expect("fewer than 2^32 URLs"),
            )
        })
        .collect();
    order.par_sort_unstable();
    order.into_iter().map(|(_, url)| url).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Skeleton;

    fn key(key: u64) -> ComparisonKey {
        ComparisonKey { key, check: 0 }
    }

    fn urls(keys: &[u64]) -> Vec<Url> {
        keys.iter()
            .map(|of| Url {
                key: key(*of),
                domain: 0,
                host: 0,
                resource: 0,
                skeleton: Skeleton::default(),
            })
            .collect()
    }

    fn classes(urls: &[Url], fired: &[(UrlId, u64)]) -> Classes {
        let fired = fired
            .iter()
            .map(|&(url, of)| Fired { key: key(of), url })
            .collect();
        Classes::of(fired, urls, &by_key(urls, |_| true))
    }

    fn check(got: &Classes, expected: &[&[UrlId]]) {
        let members: Vec<&[UrlId]> = got.iter().map(|(_, members)| members).collect();
        assert_eq!(members, expected);
    }

    #[test]
    fn fired_urls_join_each_other_and_the_one_that_has_their_key() {
        let urls = urls(&[50, 10, 40, 30, 20]);
        check(
            &classes(&urls, &[(2, 10), (0, 10), (4, 99), (3, 99)]),
            &[&[0, 1, 2], &[3, 4]],
        );
    }

    #[test]
    fn a_fired_url_is_gone_from_its_old_key() {
        let urls = urls(&[1, 2]);
        check(&classes(&urls, &[(0, 2), (1, 7)]), &[]);
    }

    #[test]
    fn meet_keeps_what_both_hold_together() {
        let urls = urls(&[1, 2, 3, 4, 5]);
        let a = classes(&urls, &[(0, 9), (1, 9), (2, 9), (3, 9)]);
        let b = classes(&urls, &[(0, 8), (1, 7), (2, 8), (3, 7), (4, 7)]);
        check(&a.meet(&b), &[&[1, 3], &[0, 2]]);
        check(&a.meet(&classes(&urls, &[])), &[]);
    }
}
