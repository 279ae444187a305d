//! The `dedupe` command.

use std::process::ExitCode;

use crawl_dedupe::source::spill::Spilling;

/// Keeps the bound of `--memory`.
#[global_allocator]
static MEMORY: Spilling = Spilling;

fn main() -> ExitCode {
    crawl_dedupe::cli::main()
}
