//! What is said on stderr.

/// `-q`, `-v`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// The first few of everything, and a summary at the end.
    #[default]
    Normal,
    /// Every piece of damage.
    Verbose,
}

/// `--no-progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressMode {
    /// A bar on a terminal, a line now and then elsewhere.
    #[default]
    Shown,
    /// None.
    Hidden,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
