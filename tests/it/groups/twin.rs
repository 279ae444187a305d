//! Grouping as its rules are worded: every capture against every other, and nothing remembered.

use super::made::{base_key_of, site_of};
use crawl_dedupe::capture::{Completeness, DigestStatus, RecordType};
use crawl_dedupe::catalog::{Catalog, Row, RowFlags, RowId, Target};
use crawl_dedupe::group::{
    Conflict, Counts, End, Ends, Evidence, Facts, Fate, Keep, Role, Sameness, Thresholds,
};
use std::collections::{BTreeMap, BTreeSet};

/// A catalog to be grouped slowly.
pub(super) struct Twin<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) ends: &'a Ends,
    pub(super) thresholds: &'a Thresholds,
}

/// A content: a digest, a forged one with its body, or that of one capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Digest(u128),
    Forged(u128, u128),
    Own(RowId),
}

/// Fates by row, counts, and rows in output order. Labels of groups are the first row in them.
pub(super) struct Outcome {
    pub(super) fates: Vec<Fate>,
    pub(super) counts: Counts,
    pub(super) order: Vec<RowId>,
}

/// The rows in output order; numbers their groups, and tells the size of each.
pub(super) fn arrange(catalog: &Catalog, fates: &mut [Fate]) -> Vec<RowId> {
    let mut order: Vec<RowId> = catalog.ids().collect();
    order.sort_by_key(|row| {
        let fate = &fates[row.index()];
        let keeper = catalog.locator(fate.keeper.unwrap_or(*row));
        let own = catalog.locator(*row);
        (
            (keeper.file, keeper.ordinal),
            fate.page_group.is_none(),
            fate.keeper.is_some_and(|keeper| keeper != *row),
            catalog.row(*row).date,
            (own.file, own.ordinal),
        )
    });
    let group = |fate: &Fate| Some((fate.keeper?, fate.page_group.is_some()));
    let mut ids = BTreeMap::new();
    for row in &order {
        if let Some(group) = group(&fates[row.index()]) {
            let next = ids.len() as u64 + 1;
            ids.entry(group).or_insert((next, 0)).1 += 1;
        }
    }
    for fate in fates {
        if let Some(group) = group(fate) {
            (fate.group_id, fate.group_size) = ids[&group];
        }
    }
    order
}

impl Twin<'_> {
    pub(super) fn outcome(&self) -> Outcome {
        let rows: Vec<RowId> = self.catalog.ids().collect();
        let mut fates: Vec<Fate> = rows.iter().map(|row| self.fate(*row)).collect();
        for (row, fate) in rows.iter().zip(&mut fates) {
            if self.keeps_encoding(*row) {
                fate.conflicts.insert(Conflict::EncodingDiffers);
            }
        }
        let order = arrange(self.catalog, &mut fates);
        let counts = self.counts(&rows, &fates);
        Outcome {
            fates,
            counts,
            order,
        }
    }

    fn row(&self, row: RowId) -> Row {
        self.catalog.row(row)
    }

    fn facts(&self, row: RowId) -> Facts {
        self.ends.facts(row)
    }

    fn names(&self, evidence: Evidence) -> bool {
        self.thresholds.evidence.contains(&evidence)
    }

    fn has(&self, row: RowId, flag: RowFlags) -> bool {
        self.row(row).flags.contains(flag)
    }

    fn is_revisit(&self, row: RowId) -> bool {
        self.row(row).record_type == RecordType::Revisit
    }

    // Contents.

    fn is_nothing(&self, row: RowId) -> bool {
        self.facts(row).is_empty || self.facts(row).decodes_to_nothing
    }

    fn is_usable(&self, row: RowId) -> bool {
        self.facts(row).is_usable && self.facts(row).payload != 0 && !self.is_nothing(row)
    }

    /// The payload; another body with an equal digest is another one. Rows without a body are with the least.
    fn payload(&self, row: RowId) -> Content {
        let facts = self.facts(row);
        let least = self
            .catalog
            .ids()
            .filter(|other| self.is_usable(*other) && self.facts(*other).payload == facts.payload)
            .map(|other| self.body_hash(other))
            .filter(|hash| *hash != 0)
            .min();
        let own = self.body_hash(row);
        if own == 0 || Some(own) == least {
            Content::Digest(facts.payload)
        } else {
            Content::Forged(facts.payload, own)
        }
    }

    fn body_hash(&self, row: RowId) -> u128 {
        self.ends.body_hash(self.catalog, row)
    }

    fn decoded(&self, row: RowId) -> Content {
        match self.facts(row).decoded {
            0 => self.payload(row),
            decoded => Content::Digest(decoded),
        }
    }

    fn named_content(&self, row: RowId) -> Option<Content> {
        if !self.is_usable(row) {
            None
        } else if self.names(Evidence::Decoded) {
            Some(self.decoded(row))
        } else if self.names(Evidence::Digest) {
            Some(self.payload(row))
        } else {
            None
        }
    }

    fn content_evidence(&self, a: RowId, b: RowId) -> Option<Evidence> {
        if !self.is_usable(a) || !self.is_usable(b) {
            None
        } else if self.payload(a) == self.payload(b) {
            Some(Evidence::Digest)
        } else if self.decoded(a) == self.decoded(b) {
            Some(Evidence::Decoded)
        } else {
            None
        }
    }

    // Pointers.

    /// The hops that named evidence takes.
    fn way(&self, row: RowId) -> Vec<(Evidence, RowId)> {
        let mut way = Vec::new();
        let mut at = row;
        while let Some(hop) = self.ends.hop(at) {
            if hop.kind == Evidence::Revisit && !self.names(Evidence::Revisit) {
                break;
            }
            way.push((hop.kind, hop.to));
            at = hop.to;
        }
        way
    }

    fn is_redirected(&self, row: RowId) -> bool {
        let is_redirect = |(kind, _): &(Evidence, RowId)| *kind != Evidence::Revisit;
        self.way(row).iter().any(is_redirect)
    }

    fn leading_revisits(&self, row: RowId) -> Vec<RowId> {
        let mut way = Vec::new();
        let mut at = row;
        loop {
            let content = self.ends.content(at);
            match self.ends.hop(at) {
                Some(hop) if hop.kind == Evidence::Revisit => at = hop.to,
                _ if content != at && self.ends.end(at) != End::Itself => {
                    at = content;
                }
                _ => return way,
            }
            way.push(at);
        }
    }

    fn stand(&self, row: RowId) -> RowId {
        self.way(row).last().map_or(row, |(_, to)| *to)
    }

    /// Status of the first capture on the way that is no redirect.
    fn page_status(&self, row: RowId) -> u16 {
        let mut on_way = std::iter::once(row).chain(self.way(row).into_iter().map(|(_, to)| to));
        let first = on_way.find(|row| !self.is_redirect(*row));
        first.map_or(300, |row| self.facts(row).status)
    }

    /// Whether the capture whose status and Location count is a 3xx with a Location.
    fn is_redirect(&self, row: RowId) -> bool {
        let head = self.ends.head(row);
        let status = self.row(head).status;
        (300..400).contains(&status) && status != 304 && self.catalog.target(head) != Target::None
    }

    fn location(&self, row: RowId) -> &[u8] {
        self.catalog.redirect_to(self.ends.head(row))
    }

    // Groups.

    fn url_group(&self, row: RowId) -> Vec<RowId> {
        let in_scope = |row| !self.has(row, RowFlags::OUT_OF_SCOPE);
        self.catalog
            .ids()
            .filter(|other| in_scope(*other) && in_scope(row))
            .filter(|other| self.row(*other).key == self.row(row).key)
            .collect()
    }

    fn content_group(&self, row: RowId) -> Vec<RowId> {
        self.catalog
            .ids()
            .filter(|other| self.is_usable(*other) && self.is_usable(row))
            .filter(|other| self.payload(*other) == self.payload(row))
            .collect()
    }

    /// What the page of a capture carries, boilerplate or not.
    fn page_content(&self, row: RowId) -> Option<Content> {
        let has_redirect = self.is_redirected(row);
        let needed = if self.ends.is_temporary(row) {
            Evidence::RedirectTemporary
        } else {
            Evidence::Redirect
        };
        let leads_somewhere = matches!(self.ends.end(row), End::Itself | End::Row(_));
        let status = self.page_status(row);
        if self.has(row, RowFlags::OUT_OF_SCOPE)
            || !leads_somewhere
            || has_redirect && !(self.names(needed) && self.is_agreed(row))
            || status != 0 && !(200..300).contains(&status)
        {
            return None;
        }
        let stand = self.stand(row);
        Some(self.named_content(stand).unwrap_or(Content::Own(stand)))
    }

    /// No pointer on the way is contradicted; what a dangling revisit lacks is none of these.
    fn is_agreed(&self, row: RowId) -> bool {
        let mut conflicts = self.ends.conflicts(row).iter();
        conflicts.all(|conflict| conflict == Conflict::Dangling)
    }

    fn is_boilerplate(&self, content: Content) -> bool {
        let mut hosts: BTreeMap<(u64, u64), BTreeSet<u64>> = BTreeMap::new();
        for row in self.catalog.ids() {
            let is_3xx = (300..400).contains(&self.facts(row).status);
            if !is_3xx && self.named_content(row) == Some(content) {
                let site = site_of(self.catalog.target_uri(row));
                let forms = hosts.entry((site.domain, site.host)).or_default();
                forms.insert(site.form);
            }
        }
        let domains: BTreeSet<u64> = hosts.keys().map(|(domain, _)| *domain).collect();
        domains.len() > 50
            || hosts
                .values()
                .any(|forms| forms.len() as u64 > self.thresholds.boilerplate_max)
    }

    fn page_group(&self, row: RowId) -> Vec<RowId> {
        let content = self.page_content(row);
        if content.is_none_or(|content| self.is_boilerplate(content)) {
            return Vec::new();
        }
        self.catalog
            .ids()
            .filter(|other| self.page_content(*other) == content)
            .collect()
    }

    // Keepers.

    fn precedes(&self, a: RowId, b: RowId) -> bool {
        let merit = |id: RowId| {
            let row = self.row(id);
            let status = self.facts(id).status;
            let doubt = match row.digest_status {
                DigestStatus::Ok | DigestStatus::OkOverRawBody => 0,
                DigestStatus::Mismatch => 2,
                _ => 1,
            };
            (
                self.is_revisit(id),
                doubt,
                row.completeness != Completeness::Complete,
                status != 0 && !(200..300).contains(&status),
            )
        };
        let wish = |id: RowId| {
            let row = self.row(id);
            match self.thresholds.keep {
                Keep::Earliest => (!row.date.is_known(), row.date.seconds(), 0),
                Keep::Latest => (!row.date.is_known(), -row.date.seconds(), 0),
                Keep::ShortestUrl => (false, 0, self.catalog.target_uri(id).len()),
            }
        };
        let place = |id: RowId| {
            let at = self.catalog.locator(id);
            let name = self.catalog.file_name(at.file);
            let base = name.rsplit(|byte| *byte == b'/').next();
            (self.catalog.target_uri(id), base, at.ordinal, at.file)
        };
        (merit(a), wish(a), place(a)) < (merit(b), wish(b), place(b))
    }

    fn keeper(&self, rows: &[RowId]) -> RowId {
        let is_first = |row: &&RowId| rows.iter().all(|other| !self.precedes(*other, **row));
        *rows.iter().find(is_first).expect("an order has a first")
    }

    fn page_keeper(&self, rows: &[RowId]) -> RowId {
        let is_end = |row: &RowId| self.ends.end(*row) == End::Itself;
        let ends: Vec<RowId> = rows.iter().copied().filter(is_end).collect();
        let is_redirected = |row: &RowId| self.is_redirected(*row);
        let others: Vec<RowId> = rows
            .iter()
            .copied()
            .filter(|row| !is_redirected(row))
            .collect();
        let candidates = [&ends, &others].into_iter().find(|rows| !rows.is_empty());
        self.keeper(candidates.map_or(rows, |rows| rows))
    }

    // Roles.

    fn has_same_answer(&self, a: RowId, b: RowId) -> bool {
        self.facts(a).status == self.facts(b).status && self.location(a) == self.location(b)
    }

    /// The role in a URL group, and the evidence.
    fn by_key(&self, row: RowId, keeper: RowId) -> (Role, Vec<Evidence>, RowId) {
        let by_key = |role| (role, vec![Evidence::Key], keeper);
        if !self.has_same_answer(row, keeper) {
            return by_key(Role::Version);
        }
        let revisits = self.leading_revisits(row);
        let first = revisits.first().copied().unwrap_or(keeper);
        let kinds = |n: usize| vec![Evidence::Revisit; n];
        // It is led past what it refers to, to the original of both; but that is what it is a revisit of.
        if self.ends.referred(row) == Some(keeper) && !revisits.is_empty() {
            return (Role::Duplicate, kinds(1), keeper);
        }
        if let Some(at) = revisits.iter().position(|to| *to == keeper) {
            let is_proven = self.content_evidence(row, keeper).is_some();
            let are_both_nothing = self.is_nothing(row) && self.is_nothing(keeper);
            if is_proven || are_both_nothing || at == 0 || at + 1 == revisits.len() {
                return (Role::Duplicate, kinds(at + 1), first);
            }
        }
        if self.are_both_nothing(row, keeper) {
            return by_key(Role::Duplicate);
        }
        if let Some(kind) = self.content_evidence(row, keeper) {
            let evidence = kinds(revisits.len()).into_iter().chain([kind]).collect();
            return (Role::Duplicate, evidence, first);
        }
        by_key(if self.is_usable(row) && self.is_usable(keeper) {
            Role::Version
        } else {
            Role::Unjudged
        })
    }

    fn are_both_nothing(&self, a: RowId, b: RowId) -> bool {
        let is_head = |row| self.has(row, RowFlags::HEAD);
        self.is_nothing(a) && self.is_nothing(b) && !is_head(a) && !is_head(b)
    }

    fn by_page(&self, row: RowId, keeper: RowId) -> (Role, Vec<Evidence>, RowId) {
        let way = self.way(row);
        let is_digest = !matches!(self.page_content(row), Some(Content::Own(_)));
        let role = if self.is_redirected(row) {
            Role::Alias
        } else if is_digest || self.has_same_answer(row, keeper) {
            Role::Duplicate
        } else {
            Role::Version
        };
        if role == Role::Version && self.row(row).key == self.row(keeper).key {
            return (role, vec![Evidence::Key], keeper);
        }
        let n_pointers = match way.iter().position(|(_, to)| *to == keeper) {
            Some(at) => at + 1,
            None => way.len(),
        };
        let mut evidence: Vec<_> = way[..n_pointers].iter().map(|(kind, _)| *kind).collect();
        if !way.iter().any(|(_, to)| *to == keeper) {
            let content = self.content_evidence(self.stand(row), self.stand(keeper));
            evidence.extend(content.map(|kind| match kind {
                Evidence::Digest if !self.names(Evidence::Digest) => Evidence::Decoded,
                kind => kind,
            }));
        }
        (role, evidence, way.first().map_or(keeper, |(_, to)| *to))
    }

    fn sameness(&self, row: RowId, keeper: RowId) -> Sameness {
        let (a, b) = (self.row(row), self.row(keeper));
        let record_id = |row| self.catalog.capture(row).record_id;
        if !record_id(row).is_empty() && record_id(row) == record_id(keeper) {
            Sameness::SameRecord
        } else if self.catalog.target_uri(row) == self.catalog.target_uri(keeper) {
            Sameness::SameUrl
        } else if a.key == b.key {
            Sameness::SameKey
        } else {
            Sameness::SamePage
        }
    }

    /// All but encoding-differs and the numbers of groups.
    fn fate(&self, row: RowId) -> Fate {
        let label = |group: &[RowId]| (group.len() > 1).then(|| u64::from(group[0].0));
        let page = self.page_group(row);
        let url = self.url_group(row);
        let mut conflicts = self.ends.conflicts(row);
        if self.has(row, RowFlags::OUT_OF_SCOPE) {
            conflicts.insert(Conflict::OutOfScope);
        }
        let content = self.page_content(row);
        if content.is_some_and(|content| self.is_boilerplate(content)) {
            conflicts.insert(Conflict::Boilerplate);
        }
        let keeper = if page.len() > 1 {
            Some(self.page_keeper(&page))
        } else if url.len() > 1 {
            let rest: Vec<&RowId> = url
                .iter()
                .filter(|row| self.page_group(**row).len() < 2)
                .collect();
            Some(self.keeper(&url)).filter(|keeper| rest != [keeper])
        } else {
            None
        };
        let (role, evidence, joined_to) = match keeper {
            None => (Role::Unique, Vec::new(), None),
            Some(keeper) if keeper == row => (Role::Keeper, Vec::new(), None),
            Some(keeper) => {
                let (role, evidence, joined_to) = if page.len() > 1 {
                    self.by_page(row, keeper)
                } else {
                    self.by_key(row, keeper)
                };
                let base = |row| base_key_of(self.catalog.target_uri(row));
                let has_one_key = self.row(row).key == self.row(keeper).key;
                if role == Role::Version && has_one_key && base(row) != base(keeper) {
                    conflicts.insert(Conflict::ContentDiffers);
                }
                (role, evidence, Some(joined_to))
            }
        };
        Fate {
            group_id: 0,
            group_size: 1,
            role,
            sameness: joined_to
                .and(keeper)
                .map(|keeper| self.sameness(row, keeper)),
            evidence,
            joined_to,
            conflicts,
            keeper,
            end: self.ends.end(row),
            url_group: label(&url),
            content_group: label(&self.content_group(row)),
            page_group: label(&page),
        }
    }

    // Cost.

    /// The keeper of a duplicate that is no revisit and has content.
    fn keeper_of_copy(&self, row: RowId) -> Option<RowId> {
        let fate = self.fate(row);
        let keeper = fate.keeper?;
        let are_both_empty =
            fate.page_group.is_none() && self.is_nothing(row) && self.is_nothing(keeper);
        (fate.role == Role::Duplicate && !self.is_revisit(row) && !are_both_empty).then_some(keeper)
    }

    /// Whether a copy is the first of its payload and keeper, and the keeper has no such payload stored.
    fn is_left_out(&self, row: RowId) -> bool {
        let Some(keeper) = self.keeper_of_copy(row) else {
            return false;
        };
        let is_stored = self.payload(row) == self.payload(keeper) && !self.is_revisit(keeper);
        let is_first = self.catalog.ids().all(|other| {
            self.keeper_of_copy(other) != Some(keeper)
                || self.payload(other) != self.payload(row)
                || !self.precedes(other, row)
        });
        !is_stored && is_first
    }

    fn keeps_encoding(&self, row: RowId) -> bool {
        self.is_left_out(row)
            && self
                .keeper_of_copy(row)
                .is_some_and(|keeper| self.payload(row) != self.payload(keeper))
    }

    // Counts.

    fn counts(&self, rows: &[RowId], fates: &[Fate]) -> Counts {
        let distinct = |labels: Vec<u64>| labels.into_iter().collect::<BTreeSet<_>>().len() as u64;
        let labels =
            |label: fn(&Fate) -> Option<u64>| distinct(fates.iter().filter_map(label).collect());
        let mut counts = Counts {
            distinct_uris: rows
                .iter()
                .map(|row| self.catalog.target_uri(*row))
                .collect::<BTreeSet<_>>()
                .len() as u64,
            distinct_keys: rows
                .iter()
                .map(|row| self.row(*row).key)
                .collect::<BTreeSet<_>>()
                .len() as u64,
            url_groups: labels(|fate| fate.url_group),
            content_groups: labels(|fate| fate.content_group),
            page_groups: labels(|fate| fate.page_group),
            loops: self.ends.figures().loops,
            ..Counts::default()
        };
        let contents: BTreeSet<Content> = rows
            .iter()
            .filter_map(|row| self.named_content(*row))
            .filter(|content| self.is_boilerplate(*content))
            .collect();
        counts.boilerplate_contents = contents.len() as u64;
        counts.digest_collisions = rows
            .iter()
            .filter(|row| self.is_usable(**row))
            .map(|row| self.payload(*row))
            .filter(|payload| matches!(payload, Content::Forged(..)))
            .collect::<BTreeSet<_>>()
            .len() as u64;
        let changed = rows.iter().filter(|row| {
            let group = self.url_group(**row);
            let contents: BTreeSet<Content> = group
                .iter()
                .filter(|row| (200..300).contains(&self.facts(**row).status))
                .filter(|row| self.is_usable(**row))
                .map(|row| self.decoded(*row))
                .collect();
            group.first() == Some(row) && contents.len() > 1
        });
        counts.urls_changed = changed.count() as u64;
        for (row, fate) in rows.iter().zip(fates) {
            self.count_row(&mut counts, *row, fate);
        }
        counts
    }

    fn count_row(&self, counts: &mut Counts, row: RowId, fate: &Fate) {
        counts.by_role[fate.role as usize] += 1;
        if let Some(sameness) = fate.sameness {
            counts.by_sameness[sameness as usize] += 1;
        }
        for conflict in fate.conflicts.iter() {
            counts.by_conflict[conflict as usize] += 1;
        }
        counts.dangling += u64::from(fate.conflicts.contains(Conflict::Dangling));
        if !self.is_revisit(row) && self.is_nothing(row) {
            counts.empty_payloads += 1;
        }
        let mut at = Some(row);
        let mut redirects = false;
        while let Some(hop) = at.and_then(|at| self.ends.hop(at)) {
            redirects |= hop.kind != Evidence::Revisit;
            at = Some(hop.to);
        }
        if redirects && self.is_agreed(row) {
            counts.chains += 1;
            counts.chains_temporary += u64::from(self.ends.is_temporary(row));
        }
        if self.keeper_of_copy(row).is_some() && !self.is_left_out(row) {
            let is_shared = self.has(row, RowFlags::SHARES_MEMBER);
            match self.catalog.locator(row).length {
                Some(length) if !is_shared => counts.redundant_bytes += length,
                _ => counts.redundant_unknown += 1,
            }
        }
    }
}

/// Labels as twins write them: the first row with the same one.
pub(super) fn relabel(fates: &mut [Fate]) {
    for label in [
        (|fate| &mut fate.url_group) as fn(&mut Fate) -> &mut Option<u64>,
        |fate| &mut fate.content_group,
        |fate| &mut fate.page_group,
    ] {
        let mut firsts = BTreeMap::new();
        for (row, fate) in (0..).zip(fates.iter_mut()) {
            if let Some(known) = label(fate) {
                *known = *firsts.entry(*known).or_insert(row);
            }
        }
    }
}
