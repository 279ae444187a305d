//! How much memory a run may take, and where it spills what is more.

use std::fs;
use std::path::{Path, PathBuf};

use super::job::Reading;
use crate::report;
use crate::source::spill;
use crate::{Error, Result};

/// Bytes that a run takes beside its large blocks: code, tables, buffers of the progress and of the outputs.
const BASE_BYTES: u64 = 8 << 20;
/// Bytes that one thread takes beside large blocks: what it inflates, and the lines it makes.
const THREAD_BYTES: u64 = 4 << 20;
/// The part of the bound that is left to what grows in small blocks: shards of sets, rows on their way to the catalog.
const SMALL_BLOCKS: u64 = 16;

/// `--memory` and `--temp-dir`.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Most bytes of anonymous memory; `None`: half of what there is.
    pub bytes_max: Option<u64>,
    /// Where to spill; `None`: the system's folder for temporary files.
    pub temp_dir: Option<PathBuf>,
    /// What to do with what an interrupted run saved there.
    pub on_saved: OnSaved,
}

/// `--resume`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSaved {
    /// All inputs are read, and what was saved is removed.
    #[default]
    Replace,
    /// What was saved is not read again.
    GoOn,
}

impl Memory {
    /// Bounds the memory of this process from now on.
    ///
    /// # Errors
    /// The folder to spill to does not take files.
    pub(super) fn bound(&self, reading: &Reading) -> Result<()> {
        report::Memory::watch();
        let Some(bytes_max) = self.bytes_max.or_else(|| Some(available()? / 2)) else {
            return Ok(());
        };
        let beside =
            BASE_BYTES + THREAD_BYTES * reading.threads.get() as u64 + bytes_max / SMALL_BLOCKS;
        let bytes = bytes_max.saturating_sub(beside).max(bytes_max / 4);
        match spill::bound(usize::try_from(bytes).unwrap_or(usize::MAX), &self.folder()) {
            // Nobody asked for it: a machine without a folder for temporary files has no bound.
            Err(_) if self.temp_dir.is_none() && self.bytes_max.is_none() => Ok(()),
            outcome => outcome,
        }
    }

    fn folder(&self) -> PathBuf {
        self.temp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Ends a run that will want more room than there is, before it has worked for hours: `bytes` are what it is yet to
    /// allocate.
    ///
    /// # Errors
    /// The disk of the folder to spill to has too little free.
    pub(super) fn check_room(&self, bytes: u64) -> Result<()> {
        let wanted = (bytes + bytes / 10).saturating_sub(spill::memory_left());
        let folder = self.folder();
        match spill::free_bytes(&folder) {
            Some(free) if wanted > free => Err(Error::failed(format!(
                "{} will be spilled, and {} are free: give --temp-dir a larger disk, or --memory more",
                of_bytes(wanted),
                of_bytes(free)
            ))
            .at(&folder)),
            _ => Ok(()),
        }
    }
}

fn of_bytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Bytes of memory that this process may have: of the machine, or of the smallest control group around it.
fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let machine = machine.as_deref().and_then(total_of);
    let limits = limit_files(&groups)
        .into_iter()
        .filter_map(|path| limit_of(&fs::read_to_string(path).ok()?));
    machine.into_iter().chain(limits).min()
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// `max`, or a number of bytes.
fn limit_of(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Files that limit the groups of `/proc/self/cgroup` and all groups around these; version 2, and version 1.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            of if of.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = Path::new(group.trim_start_matches('/'));
        // The last of them is the root itself, which is what a container sees of its own group.
        files.extend(
            group
                .ancestors()
                .map(|group| Path::new(root).join(group).join(name)),
        );
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_limits_of_all_groups_around_a_process() {
        let of = |groups| -> Vec<String> {
            let files = limit_files(groups).into_iter();
            files.map(|file| file.display().to_string()).collect()
        };
        assert_eq!(
            of("0::/a/b.scope\n"),
            [
                "/sys/fs/cgroup/a/b.scope/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            of("12:cpu,cpuacct:/x\n4:memory:/\n"),
            ["/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        );
        assert!(of("no line of it").is_empty());
    }

    #[test]
    fn reads_what_the_system_tells() {
        assert_eq!(
            total_of("MemFree: 1 kB\nMemTotal:   24105 kB\n"),
            Some(24105 * 1024)
        );
        assert_eq!(total_of("MemTotal: many\n"), None);
        assert_eq!(limit_of("max\n"), None);
        assert_eq!(limit_of("1073741824\n"), Some(1 << 30));
    }
}
