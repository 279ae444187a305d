//! What an evaluation may be asked, as flags and policy files and as the twin reads them.

use std::path::Path;

use crawl_dedupe::policy::{Policy, Rule};

use crate::evaluate::Random;

/// A policy by the names of its bets.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    name: &'static str,
    base: &'static str,
    fragment: &'static str,
    /// In policy order.
    pub(crate) bets: Vec<&'static str>,
    /// Of the origin `a.test`; `query-drop=list` or nothing.
    of_origin: Vec<&'static str>,
    scope: &'static str,
}

/// A policy that makes keys.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    Bets(Spec),
    Parity(&'static str),
}

/// One row of the report to come.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) tier: &'static str,
    pub(crate) keys: Keys,
    pub(crate) except: Option<Keys>,
}

/// The flags, the policy files and the rows they ask for.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) flags: Vec<String>,
    pub(crate) files: Vec<(&'static str, String)>,
    /// What all of it stands on.
    pub(crate) base: Spec,
    pub(crate) rows: Vec<Asked>,
    /// Where the row of the whole policy stands.
    pub(crate) policy_row: Option<usize>,
}

/// Bets that tell the URLs of a small crawl apart.
const BETS: [&str; 25] = [
    "scheme=merge",
    "userinfo=drop",
    "host-trailing-dot=drop",
    "www=www",
    "www=www-numbered",
    "www=mobile",
    "path-session=drop",
    "slash-collapse=on",
    "index-file=default",
    "trailing-slash=drop",
    "path-case=lower",
    "leading-zeros=drop",
    "query-drop=list",
    "query-drop-list=tracking",
    "query-session=drop",
    "query-empty=mark",
    "query-empty=value",
    "query-plus=space",
    "query-order=sort-stable",
    "query-order=sort-full",
    "query-case=lower",
    "query-all=drop",
    "escapes=decode-reserved",
    "language-param=drop",
    "extension=drop",
];
const PARITY: [&str; 3] = ["surt@0.3.1", "w3lib@2.5", "urlcanon-semantic@0.3.1"];
const LEE: [&str; 5] = [
    "www=www",
    "index-file=default",
    "trailing-slash=drop",
    "path-case=lower",
    "query-case=lower",
];

impl Spec {
    fn safe() -> Self {
        Self {
            name: "safe",
            base: "safe@1",
            fragment: "drop",
            bets: Vec::new(),
            of_origin: Vec::new(),
            scope: "",
        }
    }

    fn random(name: &'static str, random: &mut Random) -> Self {
        let n_bets = random.below(6);
        let mut bets: Vec<&str> = (0..n_bets).map(|_| *random.pick(&BETS)).collect();
        bets.sort_by_key(|bet| place(bet));
        bets.dedup();
        Self {
            name,
            base: *random.pick(&["safe@1", "safe@1", "safe@1", "rfc3986@1"]),
            fragment: *random.pick(&["drop", "drop", "drop", "keep-routes"]),
            bets,
            of_origin: random
                .pick(&[vec![], vec![], vec!["query-drop=list"]])
                .clone(),
            scope: *random.pick(&[
                "",
                "",
                "",
                "hosts = [\"a.test\"]",
                "hosts = [\"www.a.test\", \"b.test\"]\nschemes = [\"http\"]",
            ]),
        }
    }

    /// The base of this policy.
    fn without_bets(&self) -> Self {
        Self {
            base: self.base,
            fragment: self.fragment,
            ..Self::safe()
        }
    }

    pub(crate) fn with_only(&self, bets: &[&str]) -> Self {
        let only = |own: &[&'static str]| {
            own.iter()
                .copied()
                .filter(|bet| bets.contains(bet))
                .collect()
        };
        Self {
            bets: only(&self.bets),
            of_origin: only(&self.of_origin),
            ..self.clone()
        }
    }

    /// The bets of any URL, in policy order.
    pub(crate) fn all_bets(&self) -> Vec<&'static str> {
        let mut bets = [&self.bets[..], &self.of_origin].concat();
        bets.sort_by_key(|bet| place(bet));
        bets.dedup();
        bets
    }

    fn file(&self, name: &str) -> String {
        let mut file = format!(
            "name = \"{}\"\nversion = 1\nbase = \"{}\"\n",
            name, self.base
        );
        if self.fragment != "drop" {
            file += &format!("fragment = \"{}\"\n", self.fragment);
        }
        file += "[bets]\n";
        let families: Vec<&str> = self
            .bets
            .iter()
            .filter_map(|bet| bet.split('=').next())
            .collect();
        for (index, family) in families.iter().enumerate() {
            if families[..index].contains(family) {
                continue;
            }
            let options: Vec<String> = self
                .bets
                .iter()
                .filter_map(|bet| bet.strip_prefix(family)?.strip_prefix('='))
                .map(|option| {
                    if option == "list" {
                        "\"id\"".to_owned()
                    } else {
                        format!("\"{option}\"")
                    }
                })
                .collect();
            file += &format!("{family} = [{}]\n", options.join(", "));
        }
        if !self.of_origin.is_empty() {
            file += "[[origin]]\nhost = \"a.test\"\nquery-drop = [{ name = \"a\", evidence = \"9 right, 2026-11-30\" }]\n";
        }
        if !self.scope.is_empty() {
            file += &format!("[scope]\n{}\n", self.scope);
        }
        file
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::parse(self.file("test").as_bytes(), Path::new("test.toml")).expect("a valid policy")
    }
}

impl Keys {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Self::Bets(spec) => spec.policy(),
            Self::Parity(name) => Policy::load(name).expect("it is built in"),
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Bets(spec) => format!("{}@1", spec.name),
            Self::Parity(name) => (*name).to_owned(),
        }
    }

    /// What a flag names: a file in the working folder, or a built-in policy.
    fn flag(&self) -> String {
        match self {
            Self::Bets(spec) if spec.name == "lee2005" || spec.name == "safe" => self.label(),
            Self::Bets(spec) => format!("{}.toml", spec.name),
            Self::Parity(name) => (*name).to_owned(),
        }
    }

    fn random(name: &'static str, random: &mut Random) -> Self {
        match random.below(8) {
            0 | 1 => Self::Parity(random.pick::<&str>(&PARITY)),
            2 => Self::Bets(Spec {
                name: "lee2005",
                bets: LEE.to_vec(),
                ..Spec::safe()
            }),
            3 => Self::Bets(Spec::safe()),
            _ => Self::Bets(Spec::random(name, random)),
        }
    }
}

impl Asking {
    pub(crate) fn random(random: &mut Random) -> Self {
        let picked = random.below(3) == 0;
        let picked: Option<Vec<&str>> = picked.then(|| {
            let mut picked: Vec<&str> =
                (0..=random.below(3)).map(|_| *random.pick(&BETS)).collect();
            picked.retain(|bet| *bet != "query-drop=list");
            picked.push("trailing-slash=drop");
            picked.sort_by_key(|bet| place(bet));
            picked.dedup();
            picked
        });
        let mut asking = match random.below(4) {
            0 => Self::without_policy(picked.as_deref()),
            _ => {
                let policy = Keys::random("mine", random);
                let against = (random.below(3) == 0).then(|| Keys::random("other", random));
                let mut asking = Self::with_policy(&policy, against.as_ref(), picked.as_deref());
                asking.flags.extend(["--policy".to_owned(), policy.flag()]);
                asking.write(&policy);
                if let Some(other) = &against {
                    asking.flags.extend(["--against".to_owned(), other.flag()]);
                    asking.write(other);
                }
                asking
            }
        };
        if let Some(picked) = picked {
            asking
                .flags
                .extend(["--rules".to_owned(), picked.join(",")]);
        }
        asking
    }

    /// The bets of `lee2005@1`.
    pub(crate) fn lee() -> Self {
        let lee = Keys::Bets(Spec {
            name: "lee2005",
            bets: LEE.to_vec(),
            ..Spec::safe()
        });
        let mut asking = Self::with_policy(&lee, None, None);
        asking.flags.extend(["--policy".to_owned(), lee.flag()]);
        asking
    }

    fn write(&mut self, keys: &Keys) {
        if let Keys::Bets(spec) = keys {
            self.files.push((spec.name, spec.file(spec.name)));
        }
    }

    fn without_policy(picked: Option<&[&'static str]>) -> Self {
        let all: Vec<&str> = Rule::ALL
            .into_iter()
            .map(Rule::name)
            .filter(|name| name.contains('=') && !name.ends_with("=list"))
            .collect();
        let base = Spec::safe();
        Self {
            flags: Vec::new(),
            files: Vec::new(),
            rows: picked
                .unwrap_or(&all)
                .iter()
                .map(|bet| alone(&base, bet))
                .collect(),
            base,
            policy_row: None,
        }
    }

    fn with_policy(policy: &Keys, against: Option<&Keys>, picked: Option<&[&'static str]>) -> Self {
        let (spec, own) = match policy {
            Keys::Bets(spec) => (spec.clone(), spec.all_bets()),
            Keys::Parity(_) => (Spec::safe(), Vec::new()),
        };
        let picked = picked.unwrap_or(&own);
        let mut rows: Vec<Asked> = picked.iter().map(|bet| alone(&spec, bet)).collect();
        let policy_row = rows.len();
        let whole = |name: String, keys: Keys, except: Option<Keys>| Asked {
            name,
            tier: "policy",
            keys,
            except,
        };
        rows.push(whole(policy.label(), policy.clone(), None));
        if own.len() > 1 {
            for bet in own.iter().filter(|bet| picked.contains(bet)) {
                let others: Vec<&str> = own.iter().copied().filter(|other| other != bet).collect();
                let name = format!("{} without {bet}", policy.label());
                rows.push(whole(name, Keys::Bets(spec.with_only(&others)), None));
            }
        }
        if let Some(other) = against {
            for (one, other) in [(policy, other), (other, policy)] {
                let name = format!("{} against {}", one.label(), other.label());
                rows.push(whole(name, one.clone(), Some(other.clone())));
            }
        }
        Self {
            flags: Vec::new(),
            files: Vec::new(),
            base: spec.without_bets(),
            rows,
            policy_row: Some(policy_row),
        }
    }
}

/// A bet alone: as the policy has it, or else as it is everywhere.
fn alone(spec: &Spec, bet: &'static str) -> Asked {
    let keys = if spec.all_bets().contains(&bet) {
        spec.with_only(&[bet])
    } else {
        Spec {
            bets: vec![bet],
            scope: spec.scope,
            ..spec.without_bets()
        }
    };
    Asked {
        name: bet.to_owned(),
        tier: "bet",
        keys: Keys::Bets(keys),
        except: None,
    }
}

/// Its place in policy order.
fn place(bet: &str) -> usize {
    Rule::parse(bet).expect("it is in the catalogue").index()
}
