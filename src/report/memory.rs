//! How much anonymous memory this process takes; pages of mapped inputs do not count.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

static PEAK: AtomicU64 = AtomicU64::new(0);

/// Looks once; the highest figure is kept. The progress thread calls it now and then.
pub(super) fn sample_memory() {
    PEAK.fetch_max(anonymous(), Ordering::Relaxed);
}

/// The highest figure seen, in bytes; 0 where the system does not tell.
#[must_use]
pub fn peak_anonymous() -> u64 {
    sample_memory();
    PEAK.load(Ordering::Relaxed)
}

/// `RssAnon` of `/proc/self/status`, in bytes.
fn anonymous() -> u64 {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return 0;
    };
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))
        .and_then(|value| value.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_includes_memory_that_was_freed() {
        let block = vec![1_u8; 64 << 20];
        sample_memory();
        assert!(block.iter().all(|byte| *byte == 1));
        drop(block);
        assert!(peak_anonymous() >= 64 << 20);
    }
}
