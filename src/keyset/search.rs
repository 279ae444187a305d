//! Search in ascending keys as they stand in a file.
//!
//! Keys are hashes and so evenly spread: a guess by proportion lands within a few keys of the place, where
//! bisection of a billion keys would take thirty page faults. Guesses are counted, and bisection follows.

use super::{KEY_LEN, key_of};
use crate::key::ComparisonKey;

/// After these the keys are not as evenly spread as hashes are.
const GUESSES_MAX: usize = 8;

/// Whether `key` is among `keys`.
pub(super) fn contains(keys: &[u8], key: ComparisonKey) -> bool {
    let at = |index: usize| key_of(&keys[index * KEY_LEN..(index + 1) * KEY_LEN]);
    // The key is in [low, high) or nowhere; every key of it is within [from, to].
    let (mut low, mut high) = (0, keys.len() / KEY_LEN);
    let (mut from, mut to) = (0, u64::MAX);
    let mut guesses = 0;
    while low < high {
        let middle = if guesses < GUESSES_MAX {
            guesses += 1;
            low + proportion(key.key.clamp(from, to) - from, to - from, high - low - 1)
        } else {
            low + (high - low) / 2
        };
        let found = at(middle);
        match found.cmp(&key) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => (low, from) = (middle + 1, found.key),
            std::cmp::Ordering::Greater => (high, to) = (middle, found.key),
        }
    }
    false
}

/// `n * part / whole`, at most `n`.
fn proportion(part: u64, whole: u64, n: usize) -> usize {
    let share = (n as u128 * u128::from(part)) / u128::from(whole.max(1));
    usize::try_from(share).unwrap_or(n).min(n)
}
