//! The `dedupe` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    crawl_dedupe::cli::main()
}
