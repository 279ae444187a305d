//! Page loss: contents that no kept URL shows.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::classes::Classes;
use super::interval::{DOMAIN_GROUPS, GroupLoss};
use super::run::Token;
use super::table::{Table, UrlId, Witness};

/// What can be lost, whatever the rule.
#[derive(Debug)]
pub struct Contents {
    /// URLs that show each digest, in keeper order, where it is a content.
    carriers: Vec<UrlId>,
    starts: Vec<u32>,
    /// Digests that are contents.
    pub n: u64,
    /// Digests that only unstable URLs show.
    pub n_unstable: u64,
    /// Contents by group of domains; each is charged to the domain of its first carrier.
    by_group: Vec<u64>,
    domain_groups: Vec<u16>,
}

/// Contents lost by one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// No keeper shows them.
    pub first: u64,
    /// Lower bound over all choices of keepers.
    pub best: u64,
    /// Upper bound over all choices of keepers.
    pub worst: u64,
    /// Over a random keeper in each class.
    pub expected: f64,
    /// `first` by group of domains.
    by_group: Vec<u64>,
    /// The keeper of the class where each was shown first, and -1 for one that does not count.
    pub(super) homes: Vec<(UrlId, i128)>,
}

impl Contents {
    /// Of all URLs. `domain_groups` has the group of each domain, below [`DOMAIN_GROUPS`].
    #[must_use]
    pub fn of(table: &Table, domain_groups: &[u16]) -> Self {
        let mut rows: Vec<(Token, UrlId)> = table
            .ids()
            .into_par_iter()
            .flat_map_iter(|url| {
                table
                    .digest_runs(url)
                    .filter(|(_, digest)| !digest.is_boilerplate)
                    .map(move |(run, _)| (run.token, url))
            })
            .collect();
        rows.par_sort_unstable();
        let mut contents = Self {
            carriers: Vec::new(),
            starts: vec![0; table.digests.len() + 1],
            n: 0,
            n_unstable: 0,
            by_group: vec![0; DOMAIN_GROUPS],
            domain_groups: domain_groups.to_vec(),
        };
        for of_digest in rows.chunk_by(|a, b| a.0 == b.0) {
            let (token, first) = of_digest[0];
            let is_stable = |url| !table.witness(url).is_any(Witness::UNSTABLE);
            if !of_digest.iter().any(|(_, url)| is_stable(*url)) {
                contents.n_unstable += 1;
                continue;
            }
            contents.n += 1;
            let group = contents.group(table, first);
            contents.by_group[group] += 1;
            contents.carriers.extend(of_digest.iter().map(|row| row.1));
            contents.starts[token as usize + 1] =
                u32::try_from(of_digest.len()).expect("fewer than 2^32 URLs");
        }
        for index in 0..table.digests.len() {
            contents.starts[index + 1] += contents.starts[index];
        }
        contents
    }

    /// Who shows a digest, in keeper order; nobody if it is no content.
    fn carriers(&self, token: Token) -> &[UrlId] {
        let token = token as usize;
        self.starts.get(token + 1).map_or(&[], |end| {
            &self.carriers[self.starts[token] as usize..*end as usize]
        })
    }

    fn group(&self, table: &Table, url: UrlId) -> usize {
        usize::from(self.domain_groups[table.url(url).domain as usize]) % DOMAIN_GROUPS
    }

    /// For the bootstrap: contents and losses by group.
    #[must_use]
    pub fn group_losses(&self, loss: &Loss) -> Vec<GroupLoss> {
        self.by_group
            .iter()
            .enumerate()
            .map(|(group, contents)| GroupLoss {
                contents: *contents,
                lost: loss.by_group.get(group).copied().unwrap_or(0),
            })
            .collect()
    }

    /// What a rule with these classes loses.
    #[must_use]
    pub fn loss(&self, table: &Table, classes: &Classes) -> Loss {
        self.loss_among(table, classes, |_| true)
    }

    /// As if only the URLs that `is_known` admits showed anything.
    pub(super) fn loss_among(
        &self,
        table: &Table,
        classes: &Classes,
        is_known: impl Fn(UrlId) -> bool,
    ) -> Loss {
        let class_of = classes.class_of_url();
        let members: Vec<&[UrlId]> = classes.iter().map(|(_, members)| members).collect();
        let mut loss = Loss {
            by_group: vec![0; DOMAIN_GROUPS],
            ..Loss::default()
        };
        let mut homes: HashMap<Token, u32> = HashMap::new();
        let mut n_home = vec![0_u64; members.len()];
        for token in self.touched(table, classes) {
            let carriers = self.carriers(token).iter();
            let carriers: Vec<UrlId> = carriers.copied().filter(|url| is_known(*url)).collect();
            let of_classes: Option<Vec<u32>> = carriers
                .iter()
                .map(|url| class_of.get(url).copied())
                .collect();
            // Else a URL alone in its class shows it.
            let Some(mut of_classes) = of_classes else {
                continue;
            };
            let home = of_classes[0];
            homes.insert(token, home);
            n_home[home as usize] += 1;
            let is_keeper = |(url, class): (&UrlId, &u32)| members[*class as usize][0] == *url;
            if !carriers.iter().zip(&of_classes).any(is_keeper) {
                loss.first += 1;
                loss.homes.push((members[home as usize][0], 1));
                loss.by_group[self.group(table, carriers[0])] += 1;
            }
            of_classes.sort_unstable();
            loss.expected += of_classes
                .chunk_by(|a, b| a == b)
                .map(|same| 1.0 - same.len() as f64 / members[same[0] as usize].len() as f64)
                .product::<f64>();
        }
        let mut kept_at_most = 0;
        for (class, urls) in (0..).zip(&members) {
            let of_url = |url: &UrlId, is_counted: &dyn Fn(u32) -> bool| {
                let runs = table.runs.of_url(*url).iter();
                runs.filter(|run| homes.get(&run.token).is_some_and(|home| is_counted(*home)))
                    .count() as u64
            };
            kept_at_most += urls
                .iter()
                .map(|url| of_url(url, &|_| true))
                .max()
                .unwrap_or(0);
            let kept_at_least = urls
                .iter()
                .map(|url| of_url(url, &|home| home == class))
                .min();
            loss.worst += n_home[class as usize] - kept_at_least.unwrap_or(0);
        }
        loss.best = (homes.len() as u64).saturating_sub(kept_at_most);
        loss
    }

    /// The contents of all merged URLs, by digest.
    fn touched(&self, table: &Table, classes: &Classes) -> Vec<Token> {
        let mut tokens: Vec<Token> = classes
            .iter()
            .flat_map(|(_, members)| members)
            .flat_map(|url| table.runs.of_url(*url))
            .map(|run| run.token)
            .filter(|token| !self.carriers(*token).is_empty())
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

impl Loss {
    /// What is lost beyond a part of the same merges; bounds stay bounds.
    #[must_use]
    pub fn beyond(&self, part: &Self) -> Self {
        Self {
            first: self.first - part.first,
            best: self.best.saturating_sub(part.worst),
            worst: self.worst.saturating_sub(part.best),
            expected: self.expected - part.expected,
            homes: self
                .homes
                .iter()
                .copied()
                .chain(part.homes.iter().map(|(home, n)| (*home, -n)))
                .collect(),
            by_group: self
                .by_group
                .iter()
                .zip(&part.by_group)
                .map(|(all, part)| all - part)
                .collect(),
        }
    }
}
