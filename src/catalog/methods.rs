//! Which captures were not asked for with GET: by their own account, or by the request record beside them.

use std::io::{self, ErrorKind, Read, Write};

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::row::hash_or_zero;
use super::saved::{Reader, Writer};
use super::{Catalog, RowFlags, RowId};
use crate::capture::{Method, Request};

/// The requests other than GET of some inputs, and the ids that captures name as concurrent.
#[derive(Debug, Default)]
pub struct Requests {
    requests: Vec<Stored>,
    /// Rows and the hash of an id that each names.
    concurrent: Vec<(u32, u128)>,
}

/// Where the requests of an input begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    request: usize,
    concurrent: usize,
}

/// Bytes of the least request that is saved.
const REQUEST_BYTES_MIN: usize = 2 * size_of::<u64>() + 2 * size_of::<u128>();

/// A request, without its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stored {
    method: Vec<u8>,
    body_hash: u128,
    record_id: u128,
    concurrent_to: Vec<u128>,
}

impl Requests {
    /// Adds a request; one by GET is left out.
    pub fn push(&mut self, request: &Request<'_>) {
        if !request.method.is_get() {
            self.requests.push(Stored {
                method: request.method.name.to_vec(),
                body_hash: request.method.body_hash,
                record_id: hash_or_zero(request.record_id),
                concurrent_to: ids(request.concurrent_to).collect(),
            });
        }
    }

    /// Adds the ids, separated by blanks, that the capture at `index` of a batch (or of a catalog) names.
    pub fn push_concurrent(&mut self, index: usize, concurrent_to: &[u8]) {
        let row = RowId::from_index(index).0;
        self.concurrent
            .extend(ids(concurrent_to).map(|id| (row, id)));
    }

    /// Where the next ones will be.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            request: self.requests.len(),
            concurrent: self.concurrent.len(),
        }
    }

    /// Saves all from `mark` on; the rows are those from `first` on.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, mark: Mark, first: usize, to: &mut Writer<impl Write>) -> io::Result<()> {
        let requests = &self.requests[mark.request..];
        to.number(requests.len() as u64)?;
        for request in requests {
            to.text(&request.method)?;
            to.hash(request.body_hash)?;
            to.hash(request.record_id)?;
            to.number(request.concurrent_to.len() as u64)?;
            for id in &request.concurrent_to {
                to.hash(*id)?;
            }
        }
        let concurrent = &self.concurrent[mark.concurrent..];
        to.number(concurrent.len() as u64)?;
        for (row, id) in concurrent {
            to.number(u64::from(row - RowId::from_index(first).0))?;
            to.hash(*id)?;
        }
        Ok(())
    }

    /// Those that were saved.
    ///
    /// # Errors
    /// They cannot be read, or are not whole.
    pub fn load(from: &mut Reader<impl Read>) -> io::Result<Self> {
        let mut loaded = Self::default();
        for _ in 0..from.count(REQUEST_BYTES_MIN)? {
            let method = from.text()?;
            let (body_hash, record_id) = (from.hash()?, from.hash()?);
            let n_ids = from.count(size_of::<u128>())?;
            let concurrent_to: io::Result<_> = (0..n_ids).map(|_| from.hash()).collect();
            loaded.requests.push(Stored {
                method,
                body_hash,
                record_id,
                concurrent_to: concurrent_to?,
            });
        }
        for _ in 0..from.count(size_of::<u64>() + size_of::<u128>())? {
            let row = u32::try_from(from.number()?).map_err(|_| ErrorKind::InvalidData)?;
            loaded.concurrent.push((row, from.hash()?));
        }
        Ok(loaded)
    }

    /// Adds those of a later batch, whose first row is at `first` of what it is appended to.
    pub fn append(&mut self, later: Self, first: usize) {
        let first = RowId::from_index(first).0;
        self.requests.extend(later.requests);
        self.concurrent.extend(
            later
                .concurrent
                .into_iter()
                .map(|(row, id)| (first + row, id)),
        );
    }
}

/// Keys every capture that was not asked for with GET by method and request body too. Must come before anything
/// that changes row ids ([`super::index::resolve`]).
pub fn resolve(catalog: &mut Catalog, requests: Requests) {
    let not_get = |row: &RowId| catalog.row(*row).flags.contains(RowFlags::NOT_GET);
    let not_get: Vec<RowId> = catalog.par_ids().filter(not_get).collect();
    for row in not_get {
        let capture = catalog.capture(row);
        let name = capture.method.name.to_vec();
        let body_hash = capture.method.body_hash;
        catalog.set_method(
            row,
            Method {
                name: &name,
                body_hash,
            },
        );
    }
    // To ask every row that has a record id for it is to read its text, which may stand on disk.
    if requests.requests.is_empty() {
        return;
    }
    for (row, request) in answered(catalog, requests) {
        let method = Method {
            name: &request.method,
            body_hash: request.body_hash,
        };
        catalog.set_method(row, method);
    }
}

/// Captures that answer one of `requests`: one of the two names the other as concurrent.
fn answered(catalog: &Catalog, requests: Requests) -> Vec<(RowId, Stored)> {
    let Requests {
        mut requests,
        concurrent,
    } = requests;
    // Of several requests for one capture the first in this order counts, whatever the order of inputs.
    requests.sort_unstable();
    let mut by_own_id = HashMap::new();
    let mut by_response = HashMap::new();
    for (index, request) in requests.iter().enumerate() {
        by_own_id.entry(request.record_id).or_insert(index);
        for id in &request.concurrent_to {
            by_response.entry(*id).or_insert(index);
        }
    }
    by_own_id.remove(&0);
    let from_responses = concurrent
        .iter()
        .filter_map(|(row, id)| Some((RowId(*row), *by_own_id.get(id)?)));
    let from_requests = catalog.ids().filter_map(|row| {
        let id = catalog.record_id(row);
        Some((row, *by_response.get(&id)?))
    });
    let mut found: Vec<(RowId, usize)> = from_responses.chain(from_requests).collect();
    found.sort_unstable();
    let mut seen = HashSet::new();
    found
        .into_iter()
        .filter(|(row, _)| !catalog.row(*row).flags.contains(RowFlags::NOT_GET))
        .filter(|(row, _)| seen.insert(*row))
        .map(|(row, index)| (row, requests[index].clone()))
        .collect()
}

/// Hashes of ids separated by blanks.
fn ids(text: &[u8]) -> impl Iterator<Item = u128> + '_ {
    text.split(u8::is_ascii_whitespace)
        .filter(|id| !id.is_empty())
        .map(hash_or_zero)
}
