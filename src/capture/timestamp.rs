//! A point in time as archives state it: UTC, up to nanoseconds, or unknown.

/// Seconds and nanoseconds since 1970-01-01T00:00:00Z, or unknown.
///
/// Unknown sorts last. A coarser date (`2024`) stands for its first instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Timestamp {
    /// No date, or one that cannot be read.
    pub const UNKNOWN: Self = Self {
        seconds: i64::MAX,
        nanos: 0,
    };

    /// A known time. `nanos` is below 1,000,000,000.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Self {
        Self { seconds, nanos }
    }

    /// Whether the time is known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.seconds != i64::MAX
    }

    /// Seconds since the epoch; meaningless if unknown.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds of the second.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }
}
