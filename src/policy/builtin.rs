//! Built-in policies by name.

use crate::policy::plan::{Base, Plan};

/// The plan of a built-in policy, written `name@version`.
pub(crate) fn plan(name: &str) -> Option<Plan> {
    match name {
        "safe@1" | "safe" => Some(Plan::new(Base::Browser)),
        "rfc3986@1" | "rfc3986" | "rfc3986-safe" => Some(Plan::new(Base::Grammar)),
        _ => None,
    }
}
