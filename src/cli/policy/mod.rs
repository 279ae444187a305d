//! `dedupe policy`: list, show, compare and check policies.

mod diff;

use std::path::PathBuf;

use super::explain::printable;
use super::{load_policy, print};
use crate::Result;
use crate::engine::Outcome;
use crate::policy::BUILTINS;
use crate::report::{Target, refuse_overwriting};

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
            .collect::<String>()
            .into_bytes(),
        Command::Show { policy } => load_policy(&policy)?.describe().into_bytes(),
        Command::Validate { file } => {
            let policy = load_policy(&file)?;
            [
                printable(file.as_bytes()),
                format!(": valid, {}\n", policy.id()).into(),
            ]
            .concat()
        }
        Command::Diff {
            first,
            second,
            input,
        } => {
            let (first, second) = (load_policy(&first)?, load_policy(&second)?);
            let mut text = diff::policies(&first, &second);
            if let Some(path) = input {
                refuse_overwriting(&[&Target::Stdout], [path.as_path()])?;
                text.push_str(&diff::classes(&first, &second, &path)?);
            }
            text.into_bytes()
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}
