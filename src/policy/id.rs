//! `name@version` and a hash of everything that decides a key.

use std::fmt;

use xxhash_rust::xxh3::Xxh3Default;

use crate::policy::builtin::base_name;
use crate::policy::origins::Authority;
use crate::policy::plan::{Bets, Fragment, Names, Plan};

/// The bytes that the core escapes: `PATH` and `QUERY` of `uri`, the latter without and with the browser tier.
/// A test holds them against what `uri` does; whoever changes them there gives every policy another id.
const TABLES: [&str; 3] = [
    r##"path 00-20 7F-FF "#<>?^`{}"##,
    r##"query 00-20 7F-FF "#<>"##,
    r##"query browser 00-20 7F-FF "#<>'"##,
];

/// Names that several rules use: another list is another policy.
const NAME_LISTS: [&str; 3] = [
    "tracking utm_* gclid dclid gclsrc gbraid wbraid fbclid msclkid yclid mc_cid mc_eid igshid ttclid twclid _ga \
     _gl _hsenc _hsmi mkt_tok vero_id oly_anon_id oly_enc_id wickedid s_cid",
    "session 8 [A-Za-z0-9_-] jsessionid phpsessid aspsessionid* asp.net_sessionid cfid cftoken sid sessid \
     session_id sessionid oscsid zenid",
    "signature signature sig hmac x-amz-signature x-goog-signature x-oss-signature key-pair-id",
];

/// The Unicode and public-suffix data that keys depend on, as Cargo.lock pins it (a test compares).
pub(super) const DATA: [(&str, &str); 6] = [
    ("icu_normalizer_data", "2.4.0"),
    ("icu_properties_data", "2.4.0"),
    ("idna", "1.1.0"),
    ("psl", "2.1.247"),
    ("stringprep", "0.1.5"),
    ("unicode-normalization", "0.1.26"),
];

/// `name@version` and the hash of everything that decides a key.
///
/// The hash covers the base, the fragment choice, the bets in policy order with their lists, the
/// origins and the scope, the byte tables, and the versions of the Unicode and public-suffix data. It
/// does not cover what decides nothing: the name, evidence, comments, the order of names in a list.
/// Two ids that differ never meet in one run, report or key set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolicyId {
    /// As in `safe@1`: the name.
    pub name: String,
    /// As in `safe@1`: the version.
    pub version: String,
    /// Hash of rules, byte tables, Unicode version and lists.
    pub hash: u128,
}

impl PolicyId {
    /// The id of `plan` under this name.
    pub(super) fn new(name: &str, version: &str, plan: &Plan) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            hash: hash(plan),
        }
    }

    /// `name@version`, for people.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}+{:032x}", self.name, self.version, self.hash)
    }
}

fn hash(plan: &Plan) -> u128 {
    let mut hasher = Hasher(Xxh3Default::new());
    for text in TABLES.into_iter().chain(NAME_LISTS) {
        hasher.field(text.as_bytes());
    }
    for (name, version) in DATA {
        hasher.field(name.as_bytes());
        hasher.field(version.as_bytes());
    }
    hasher.field(base_name(plan.base).as_bytes());
    hasher.field(fragment_name(plan.fragment).as_bytes());
    hasher.bets(&plan.bets);
    hasher.count(plan.origins.len());
    for origin in &plan.origins {
        hasher.authority(&origin.authority);
        hasher.field(&origin.path);
        hasher.bets(&origin.bets);
    }
    match &plan.scope {
        None => hasher.field(b"everywhere"),
        Some(scope) => {
            hasher.field(b"scope");
            hasher.count(scope.hosts.len());
            for authority in &scope.hosts {
                hasher.authority(authority);
            }
            hasher.count(scope.schemes.len());
            for scheme in &scope.schemes {
                hasher.field(scheme);
            }
        }
    }
    hasher.0.digest128()
}

/// As policy files and `policy show` write it.
pub(super) fn fragment_name(fragment: Fragment) -> &'static str {
    match fragment {
        Fragment::Drop => "drop",
        Fragment::KeepRoutes => "keep-routes",
    }
}

/// Fields with their lengths in front, so that no two policies read alike.
struct Hasher(Xxh3Default);

impl Hasher {
    fn count(&mut self, n_fields: usize) {
        self.0.update(&(n_fields as u64).to_le_bytes());
    }

    fn field(&mut self, text: &[u8]) {
        self.count(text.len());
        self.0.update(text);
    }

    fn bets(&mut self, bets: &Bets) {
        self.count(bets.rules.len());
        for rule in bets.rules.iter() {
            self.field(rule.name().as_bytes());
        }
        self.names(&bets.query_drop);
        self.names(&bets.query_drop_file);
        self.names(&bets.index_files);
    }

    fn names(&mut self, names: &Names) {
        self.count(names.iter().count());
        for name in names.iter() {
            self.field(&name);
        }
    }

    fn authority(&mut self, authority: &Authority) {
        self.field(&authority.host);
        self.count(authority.port.map_or(0, usize::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::plan::Base;
    use crate::policy::{BUILTINS, Policy, Rule};
    use crate::uri::Normalizer;

    #[test]
    fn tables_are_those_of_the_core() {
        let listed = |table: &str, byte: u8| {
            let marks = table.rsplit(' ').next().unwrap();
            byte <= b' ' || byte >= 0x7F || marks.as_bytes().contains(&byte)
        };
        let mut normalizer = Normalizer::default();
        for (base, query) in [(Base::Grammar, TABLES[1]), (Base::Browser, TABLES[2])] {
            // What trimming, delimiters and dots do to a byte is another rule's business.
            for byte in (0..=255).filter(|byte| !b"\t\n\r#%\\?".contains(byte)) {
                for (prefix, table) in [("http://h/a", TABLES[0]), ("http://h/?a", query)] {
                    let url = [prefix.as_bytes(), &[byte], b"b"].concat();
                    let text = normalizer.normalize(&Plan::new(base), &url).text;
                    let is_escaped = text.contains(&b'%');
                    assert_eq!(is_escaped, listed(table, byte), "{base:?} {byte:#x}");
                }
            }
        }
    }

    #[test]
    fn data_versions_are_those_that_are_built_in() {
        let lock =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).unwrap();
        for (name, version) in DATA {
            let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(
                lock.contains(&package),
                "{name} is not {version}: keys may change"
            );
        }
    }

    #[test]
    fn every_difference_that_decides_a_key_is_another_hash() {
        let mut plans: Vec<Plan> = BUILTINS.iter().map(|builtin| builtin.plan()).collect();
        let variant = |change: fn(&mut Plan)| {
            let mut plan = Plan::new(Base::Browser);
            change(&mut plan);
            plan
        };
        plans.push(variant(|plan| plan.fragment = Fragment::KeepRoutes));
        plans.push(variant(|plan| plan.bets.rules.insert(Rule::WwwWww)));
        plans.push(variant(|plan| {
            plan.bets.query_drop = Names::new([&b"a"[..], b"b"]);
        }));
        plans.push(variant(|plan| {
            plan.bets.query_drop = Names::new([&b"ab"[..]]);
        }));
        plans.push(variant(|plan| {
            plan.bets.index_files = Names::new([&b"ab"[..]]);
        }));
        plans.push(variant(|plan| plan.scope = Some(Default::default())));
        let mut hashes: Vec<u128> = plans.iter().map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), plans.len());
    }

    #[test]
    fn is_written_as_name_version_and_hash() {
        let id = Policy::load("safe@1").unwrap().id().to_string();
        let hash = id.strip_prefix("safe@1+").unwrap();
        assert_eq!(hash.len(), 32);
        assert!(hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
