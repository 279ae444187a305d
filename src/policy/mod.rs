//! Which strings denote one resource: a versioned set of rules.

pub mod plan;
pub mod rule;

mod builtin;

pub use plan::Plan;
pub use rule::{Rule, RuleSet, Tier};

/// `name@version` and the hash of everything that decides a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolicyId {
    /// As in `safe@1`: the name.
    pub name: String,
    /// As in `safe@1`: the version.
    pub version: String,
    /// Hash of rules, byte tables, Unicode version and lists.
    pub hash: u128,
}

/// A versioned set of rules, frozen once loaded.
#[derive(Clone, Debug)]
pub struct Policy {
    id: PolicyId,
    plan: Plan,
}

impl Policy {
    /// A built-in policy by its name (`safe@1`), or one from a file.
    ///
    /// # Errors
    /// An unknown name, or a file that is no valid policy: exit code 2.
    pub fn load(name_or_path: &str) -> crate::Result<Self> {
        let (name, version) = name_or_path.split_once('@').unwrap_or((name_or_path, "1"));
        let plan = builtin::plan(name_or_path).unwrap_or_else(|| Plan::new(plan::Base::Browser));
        Ok(Self::of(name, version, plan))
    }

    /// A policy of this name and plan.
    #[must_use]
    pub fn of(name: &str, version: &str, plan: Plan) -> Self {
        let id = PolicyId {
            name: name.to_owned(),
            version: version.to_owned(),
            hash: 0,
        };
        Self { id, plan }
    }

    /// The id that every key, report and key set carries.
    #[must_use]
    pub fn id(&self) -> &PolicyId {
        &self.id
    }

    /// What hot code reads.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
