//! Which strings denote one resource: a versioned set of rules.
//!
//! A policy is a built-in one or a file; what hot code reads of it is its [`Plan`]. Must never know
//! threads, or import `uri`.

pub mod origins;
pub mod plan;
pub mod rule;

mod builtin;
mod describe;
mod file;
mod id;

use std::path::{Path, PathBuf};

pub use builtin::{BUILTINS, Builtin};
pub use id::PolicyId;
pub use plan::Plan;
pub use rule::{Rule, RuleSet, Tier};

use crate::{Error, Result};

/// A versioned set of rules, frozen once loaded.
#[derive(Clone, Debug)]
pub struct Policy {
    id: PolicyId,
    plan: Plan,
    sources: Sources,
}

/// What stands in a policy file for people and decides no key by itself.
#[derive(Clone, Debug, Default)]
struct Sources {
    /// The policy file; `None` for what is built in.
    file: Option<PathBuf>,
    lists: Vec<ListFile>,
    evidence: Vec<Evidence>,
}

/// A list file that was read.
#[derive(Clone, Debug)]
struct ListFile {
    /// As the policy file names it.
    name: String,
    /// Where it was found.
    path: PathBuf,
    /// XXH3-128 of its bytes.
    hash: u128,
    n_names: usize,
}

/// Why a parameter is dropped.
#[derive(Clone, Debug)]
struct Evidence {
    /// The origin, as the policy file names it; empty for the policy's own bets.
    origin: String,
    parameter: String,
    evidence: String,
}

impl Policy {
    /// A built-in policy by its name (`safe@1`), or one from a file.
    ///
    /// # Errors
    /// An unknown name, or a file that is no valid policy: exit code 2. Of a file the message has a
    /// line for each mistake: line and column, what was expected, and the nearest known name.
    ///
    /// ```
    /// # use crawl_dedupe::policy::Policy;
    /// assert_eq!(Policy::load("safe@1").unwrap().id().name, "safe");
    /// let error = Policy::load("saef@1").unwrap_err().to_string();
    /// assert!(error.contains("did you mean `safe@1`?"), "{error}");
    /// ```
    pub fn load(name_or_path: &str) -> Result<Self> {
        if let Some(builtin) = Builtin::named(name_or_path) {
            let (name, version) = name_or_path.split_once('@').unwrap_or((name_or_path, ""));
            return Ok(Self::of(name, version, builtin.plan()));
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            let names = BUILTINS.map(|builtin| builtin.name);
            return Err(Error::usage(format!(
                "no policy `{name_or_path}`, and no file of that name{}; expected a policy file or one of {}",
                file::did_you_mean(name_or_path, names),
                names.join(", "),
            )));
        }
        let bytes = file::read(path)
            .map_err(|source| Error::usage(format!("cannot read the policy: {source}")).at(path))?;
        Self::parse(&bytes, path)
    }

    /// A policy from the bytes of a file; `path` is for messages, and list files are found beside it.
    ///
    /// # Errors
    /// As [`Policy::load`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let loaded = file::parse(bytes, path.parent().unwrap_or(Path::new("")))
            .map_err(|mistakes| Error::usage(file::messages(&mistakes, bytes, path).join("\n")))?;
        let sources = Sources {
            file: Some(path.to_owned()),
            lists: loaded.lists,
            evidence: loaded.evidence,
        };
        Ok(Self {
            sources,
            ..Self::of(&loaded.name, &loaded.version, loaded.plan)
        })
    }

    /// A policy of this name and plan.
    #[must_use]
    pub fn of(name: &str, version: &str, plan: Plan) -> Self {
        Self {
            id: PolicyId::new(name, version, &plan),
            plan,
            sources: Sources::default(),
        }
    }

    /// The id that every key, report and key set carries.
    #[must_use]
    pub fn id(&self) -> &PolicyId {
        &self.id
    }

    /// The files it was read from: its own and its lists, which no output may overwrite.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let lists = self.sources.lists.iter().map(|list| &list.path);
        self.sources.file.iter().chain(lists).map(PathBuf::as_path)
    }

    /// What hot code reads.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
