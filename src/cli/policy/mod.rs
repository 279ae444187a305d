//! `dedupe policy`: list, show, compare and check policies.

mod diff;

use std::path::PathBuf;

use super::print;
use crate::Result;
use crate::engine::Outcome;
use crate::policy::{BUILTINS, Policy};

/// Flags of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Name the built-in policies
    List,
    /// Print a policy as the policy file that says the same, with its id
    Show {
        /// A name or a policy file
        #[arg(value_name = "NAME|FILE")]
        policy: String,
    },
    /// Say what differs between two policies, and what that does to the URLs of a file
    Diff {
        /// A name or a policy file
        #[arg(value_name = "A")]
        first: String,
        /// Another one
        #[arg(value_name = "B")]
        second: String,
        /// Count the URLs of this file, one a line (- is stdin), whose classes change: whose key is shared
        /// with other URLs under B than under A
        #[arg(long = "in", value_name = "FILE")]
        input: Option<PathBuf>,
    },
    /// Check a policy file; a mistake is named with line and column
    Validate {
        /// A policy file
        #[arg(value_name = "FILE")]
        file: String,
    },
}

/// Runs the command.
pub(super) fn run(args: Args) -> Result<Outcome> {
    let text = match args.command {
        Command::List => BUILTINS
            .iter()
            .map(|builtin| format!("{:<26}{}\n", builtin.name, builtin.about))
            .collect(),
        Command::Show { policy } => Policy::load(&policy)?.describe(),
        Command::Validate { file } => format!("{file}: valid, {}\n", Policy::load(&file)?.id()),
        Command::Diff {
            first,
            second,
            input,
        } => {
            let (first, second) = (Policy::load(&first)?, Policy::load(&second)?);
            let mut text = diff::policies(&first, &second);
            if let Some(path) = input {
                text.push_str(&diff::classes(&first, &second, &path)?);
            }
            text
        }
    };
    print(text.as_bytes())?;
    Ok(Outcome::Done)
}
