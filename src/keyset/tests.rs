use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;
use crate::policy::Policy;

/// What `write` writes, at `path`.
fn save(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<u64>) -> Result<u64> {
    write(&mut std::io::BufWriter::new(
        std::fs::File::create(path).unwrap(),
    ))
}

fn id(name: &str) -> PolicyId {
    Policy::load(name).unwrap().id().clone()
}

/// Keys as hashes are: spread evenly, `n` of them from `seed` on.
fn keys(seed: u64, n: u64) -> impl Iterator<Item = ComparisonKey> {
    (seed..seed + n).map(|number| ComparisonKey::of(&number.to_le_bytes()))
}

fn write(path: &Path, id: &PolicyId, keys: impl Iterator<Item = ComparisonKey>) -> u64 {
    let mut sorter = Sorter::new(0, path.parent().unwrap());
    for key in keys {
        sorter.push(key).unwrap();
    }
    save(path, |sink| sorter.write_to(id, sink)).unwrap()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.keys");
    (folder, path)
}

#[test]
fn what_was_written_is_found_and_nothing_else() {
    let (_folder, path) = folder();
    let id = id("safe@1");
    // More than RUNS_MAX buffers of 1024 keys, and every third key twice.
    let n = write(&path, &id, keys(0, 90_000).chain(keys(0, 30_000)));
    assert_eq!(n, 90_000);
    let set = KeySet::open(&path, &id).unwrap();
    assert_eq!((set.len(), set.is_empty()), (90_000, false));
    assert!(keys(0, 90_000).all(|key| set.contains(key)));
    assert!(!keys(90_000, 90_000).any(|key| set.contains(key)));
    let sorted: BTreeSet<_> = keys(0, 90_000).collect();
    assert!(set.iter().eq(sorted));
    let n_files = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(n_files, 1, "nothing is left beside it");
}

#[test]
fn uneven_keys_are_found_too() {
    let (_folder, path) = folder();
    let id = id("safe@1");
    let uneven = |key: u64| ComparisonKey {
        key,
        check: key / 3,
    };
    let own: Vec<_> = (0..2000).chain([1 << 40, u64::MAX]).map(uneven).collect();
    write(&path, &id, own.iter().copied());
    let set = KeySet::open(&path, &id).unwrap();
    assert!(own.iter().all(|key| set.contains(*key)));
    for key in [2000, (1 << 40) - 1, u64::MAX - 1] {
        assert!(!set.contains(uneven(key)), "{key}");
    }
    let other_check = ComparisonKey { key: 5, check: 7 };
    assert!(!set.contains(other_check), "the check half counts");
}

#[test]
fn an_empty_set_is_a_set() {
    let (_folder, path) = folder();
    let id = id("safe@1");
    assert_eq!(write(&path, &id, keys(0, 0)), 0);
    let set = KeySet::open(&path, &id).unwrap();
    assert!(set.is_empty() && !set.contains(ComparisonKey::default()));
}

#[test]
fn merging_is_union() {
    let (folder, path) = folder();
    let (other, union) = (folder.path().join("b"), folder.path().join("u"));
    let id = id("safe@1");
    write(&path, &id, keys(0, 3000));
    write(&other, &id, keys(2000, 3000));
    let sets = [
        KeySet::open(&path, &id).unwrap(),
        KeySet::open(&other, &id).unwrap(),
    ];
    assert_eq!(save(&union, |sink| merge(&sets, sink)).unwrap(), 5000);
    let merged = KeySet::open(&union, &id).unwrap();
    assert!(merged.iter().eq(keys(0, 5000).collect::<BTreeSet<_>>()));
    assert!(merge(&[], &mut Vec::new()).is_err());
}

#[test]
fn keys_of_two_policies_never_meet() {
    let (folder, path) = folder();
    let other = folder.path().join("b");
    let (safe, rfc) = (id("safe@1"), id("rfc3986@1"));
    write(&path, &safe, keys(0, 10));
    write(&other, &rfc, keys(0, 10));
    let error = KeySet::open(&path, &rfc).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let message = error.to_string();
    for part in [
        &safe.to_string(),
        &rfc.to_string(),
        "dedupe policy diff safe@1 rfc3986@1",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let sets = [
        KeySet::open_any(&path).unwrap(),
        KeySet::open_any(&other).unwrap(),
    ];
    assert_eq!(merge(&sets, &mut Vec::new()).unwrap_err().exit_code(), 2);
}

#[test]
fn a_set_that_was_cut_or_changed_is_refused() {
    let (_folder, path) = folder();
    let id = id("safe@1");
    write(&path, &id, keys(0, 4));
    let whole = std::fs::read(&path).unwrap();
    assert!(super::check(&whole).is_ok());
    for len in 0..whole.len() {
        assert!(super::check(&whole[..len]).is_err(), "cut to {len} bytes");
    }
    for bit in 0..whole.len() * 8 {
        let mut changed = whole.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(super::check(&changed).is_err(), "bit {bit} flipped");
    }
    for bytes in [
        &whole[1..],
        &whole[..whole.len() - 16],
        b"http://example.org/\n",
        b"",
    ] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(KeySet::open(&path, &id).unwrap_err().exit_code(), 2);
    }
}
