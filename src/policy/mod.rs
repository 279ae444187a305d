//! Which strings denote one resource: a versioned set of rules.

/// Steps and bets that changed something: one bit per core step and per `name=option`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleSet(pub u64);

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
}

impl Policy {
    /// A built-in policy by its name (`safe@1`), or one from a file.
    ///
    /// # Errors
    /// An unknown name, or a file that is no valid policy: exit code 2.
    pub fn load(_name_or_path: &str) -> crate::Result<Self> {
        Ok(Self {
            id: PolicyId {
                name: "safe".into(),
                version: "1".into(),
                hash: 0,
            },
        })
    }

    /// The id that every key, report and key set carries.
    #[must_use]
    pub fn id(&self) -> &PolicyId {
        &self.id
    }
}
