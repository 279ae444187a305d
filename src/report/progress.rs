//! How far reading is: a bar on a terminal, a plain line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{
    HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle,
};

use super::people::ProgressMode;
use crate::source::spill;

/// Often enough to look alive.
const TICK: Duration = Duration::from_millis(100);
/// Seldom enough for a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Counts what readers have done, and shows it.
#[derive(Debug)]
pub struct Progress {
    counts: Arc<Counts>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counts {
    bytes: AtomicU64,
    records: AtomicU64,
}

/// What is shown.
#[derive(Debug)]
enum Face {
    None,
    Bar(ProgressBar),
    Lines { next: Instant },
}

impl Progress {
    /// Starts to show how much of `n_bytes` has been read.
    #[must_use]
    pub fn start(n_bytes: u64, mode: ProgressMode) -> Self {
        let counts = Arc::new(Counts::default());
        let (stop, stopped) = mpsc::channel();
        let shown = Arc::clone(&counts);
        let thread = thread::Builder::new()
            .name("progress".into())
            .spawn(move || {
                let start = Instant::now();
                let mut face = Face::new(mode, n_bytes);
                while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    face.show(&shown, n_bytes, start);
                }
                face.clear();
            });
        Self {
            counts,
            stop: Some(stop),
            // A run without progress is a run all the same.
            thread: thread.ok(),
        }
    }

    /// Adds what a reader has done since its last call; cheap enough for each member.
    pub fn add(&self, n_bytes: u64, n_records: u64) {
        self.counts.bytes.fetch_add(n_bytes, Ordering::Relaxed);
        self.counts.records.fetch_add(n_records, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    /// Takes the bar away, so that what follows stands on a line of its own.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Face {
    fn new(mode: ProgressMode, n_bytes: u64) -> Self {
        match mode {
            ProgressMode::Hidden => Self::None,
            ProgressMode::Shown if io::stderr().is_terminal() => Self::Bar(bar(n_bytes)),
            ProgressMode::Shown => Self::Lines {
                next: Instant::now() + LINE_EVERY,
            },
        }
    }

    fn show(&mut self, counts: &Counts, n_bytes: u64, start: Instant) {
        let bytes = counts.bytes.load(Ordering::Relaxed);
        let records = counts.records.load(Ordering::Relaxed);
        match self {
            Self::None => {}
            Self::Bar(bar) => {
                bar.set_position(bytes.min(n_bytes));
                let speed = HumanCount(rate(records, start));
                bar.set_message(format!(
                    "{speed} records/s{}",
                    share(" · ", spill::spilled())
                ));
            }
            Self::Lines { next } if Instant::now() >= *next => {
                *next += LINE_EVERY;
                let line = line(bytes, n_bytes, records, start) + &share(", ", spill::spilled());
                writeln!(io::stderr(), "{line}").ok();
            }
            Self::Lines { .. } => {}
        }
    }

    fn clear(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar(n_bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{bar:20} {percent:>3} % of {total_bytes} · {bytes_per_sec} · {msg} · {eta} left",
    )
    .expect("the template is a constant");
    ProgressBar::with_draw_target(Some(n_bytes), ProgressDrawTarget::stderr()).with_style(style)
}

/// The same for a log.
fn line(bytes: u64, n_bytes: u64, records: u64, start: Instant) -> String {
    let left = n_bytes.saturating_sub(bytes) / rate(bytes, start).max(1);
    format!(
        "read {} of {}, {} records, {}/s, {} left",
        HumanBytes(bytes),
        HumanBytes(n_bytes),
        HumanCount(records),
        HumanBytes(rate(bytes, start)),
        HumanDuration(Duration::from_secs(left)),
    )
}

/// How much stands on disk for want of memory; nothing where nothing does.
fn share(separator: &str, spilled: u64) -> String {
    match spilled {
        0 => String::new(),
        bytes => format!("{separator}{} spilled", HumanBytes(bytes)),
    }
}

fn rate(count: u64, start: Instant) -> u64 {
    let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    count.saturating_mul(1000) / millis.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let start = Instant::now() - Duration::from_secs(100);
        let line = line(100 << 20, 300 << 20, 12_345, start);
        assert!(
            line.starts_with("read 100.00 MiB of 300.00 MiB, 12,345 records, 1.0"),
            "{line}"
        );
        assert!(line.ends_with("3 minutes left"), "{line}");
        assert!(!line.bytes().any(|byte| byte.is_ascii_control()));
    }

    #[test]
    fn says_what_is_spilled_only_if_something_is() {
        assert_eq!(share(", ", 0), "");
        assert_eq!(share(", ", 3 << 29), ", 1.50 GiB spilled");
    }

    #[test]
    fn stops_when_dropped() {
        let progress = Progress::start(10, ProgressMode::Hidden);
        progress.add(5, 1);
        drop(progress);
    }
}
