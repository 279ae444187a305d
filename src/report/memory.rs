//! How much anonymous memory this process takes; pages of mapped inputs do not count.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::figures::Memory;
use crate::source::spill;

static PEAK: AtomicU64 = AtomicU64::new(0);

/// Often enough to see a sort.
const EVERY: Duration = Duration::from_millis(50);

/// Looks once; the highest figure is kept.
fn sample() {
    PEAK.fetch_max(anonymous(), Ordering::Relaxed);
}

impl Memory {
    /// Looks now and then from here on, as long as the process lives.
    pub fn watch() {
        let watching = thread::Builder::new().name("memory".into()).spawn(|| {
            loop {
                sample();
                thread::sleep(EVERY);
            }
        });
        // A run of which nobody knows what it took is a run all the same.
        drop(watching);
    }

    /// The highest figures seen.
    #[must_use]
    pub fn taken() -> Self {
        sample();
        Self {
            peak_anonymous: PEAK.load(Ordering::Relaxed),
            spilled: spill::spilled_max(),
        }
    }
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
        sample();
        assert!(block.iter().all(|byte| *byte == 1));
        drop(block);
        assert!(Memory::taken().peak_anonymous >= 64 << 20);
    }
}
