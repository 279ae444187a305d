//! Snapshots: whole outputs, byte for byte. `UPDATE_EXPECT=1` writes them anew, and the diff is read.

use std::fs;
use std::path::Path;

/// Holds `found` against `tests/it/expect/NAME`.
pub(crate) fn check(name: &str, found: &[u8]) {
    let path = Path::new("tests/it/expect").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, found).expect("the snapshot can be written");
    }
    let expected = fs::read(&path).expect("the snapshot is there; UPDATE_EXPECT=1 makes it");
    assert!(
        expected == found,
        "{name} differs; found:\n{}",
        found.escape_ascii().to_string().replace("\\n", "\n")
    );
}
