//! What becomes of a capture: the vocabulary of the report, without its text.

use crate::catalog::RowId;

/// What a row is in its group (README: Report, `role`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The capture of a group to keep.
    Keeper,
    /// Content proven equal to the keeper's.
    Duplicate,
    /// Same key, other content.
    Version,
    /// Leads to the keeper by redirect.
    Alias,
    /// Same key, no usable digest to judge by.
    Unjudged,
    /// In no group with another capture.
    Unique,
}

/// How a row is the same as its keeper, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sameness {
    /// One record id stored twice.
    SameRecord,
    /// Identical target URI.
    SameUrl,
    /// Same comparison key.
    SameKey,
    /// Same content at the end.
    SamePage,
}

/// Why a capture stands with its keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Equal comparison keys.
    Key,
    /// Equal payload digests.
    Digest,
    /// Equal digests after content decoding.
    Decoded,
    /// A revisit's reference.
    Revisit,
    /// A permanent redirect.
    Redirect,
    /// A temporary redirect somewhere on the way.
    RedirectTemporary,
    /// A publisher's claim that agrees with the content.
    Canonical,
}

/// Pointers that were named and not followed, and other contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conflict {
    /// The chain comes round.
    RedirectLoop,
    /// More hops than `--max-redirects`.
    RedirectLimit,
    /// The target is not in the input.
    RedirectOutside,
    /// The target's nearest capture is too far in time.
    RedirectGap,
    /// The chain ends at a status that is not 2xx.
    EndNot2xx,
    /// The target is no http(s) URL.
    NotHttp,
    /// The capture or a target is outside the policy's scope.
    OutOfScope,
    /// User info in a `Location`.
    Credentials,
    /// Too many sources for one target: a soft 404.
    FanIn,
    /// Unrelated paths all sent to `/`.
    SuspectHome,
    /// Another language at the end.
    Language,
    /// The redirect varies by request headers.
    Variant,
    /// A revisit whose original is not in the input.
    Dangling,
    /// A content shared by too many unrelated URLs.
    Boilerplate,
    /// Only a bet made the keys equal, and the contents differ.
    ContentDiffers,
    /// A duplicate with another encoding of the same content: not redundant bytes.
    EncodingDiffers,
    /// The claim's target has other content.
    CanonicalContentDiffers,
    /// Too many sources claim one target.
    CanonicalHub,
    /// The claim leads to another host.
    CanonicalCrossHost,
    /// The claim leads to another language.
    CanonicalLanguage,
    /// Several different claims.
    CanonicalAmbiguous,
    /// The claim's target is not in the input.
    CanonicalNotCaptured,
    /// The claim's target is outside the scope.
    CanonicalOutOfScope,
}

impl Conflict {
    /// All of them, in the order in which a report lists them.
    pub const ALL: [Self; 23] = [
        Self::RedirectLoop,
        Self::RedirectLimit,
        Self::RedirectOutside,
        Self::RedirectGap,
        Self::EndNot2xx,
        Self::NotHttp,
        Self::OutOfScope,
        Self::Credentials,
        Self::FanIn,
        Self::SuspectHome,
        Self::Language,
        Self::Variant,
        Self::Dangling,
        Self::Boilerplate,
        Self::ContentDiffers,
        Self::EncodingDiffers,
        Self::CanonicalContentDiffers,
        Self::CanonicalHub,
        Self::CanonicalCrossHost,
        Self::CanonicalLanguage,
        Self::CanonicalAmbiguous,
        Self::CanonicalNotCaptured,
        Self::CanonicalOutOfScope,
    ];

    /// The code in report and summary.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::RedirectLoop => "redirect-loop",
            Self::RedirectLimit => "redirect-limit",
            Self::RedirectOutside => "redirect-outside",
            Self::RedirectGap => "redirect-gap",
            Self::EndNot2xx => "end-not-2xx",
            Self::NotHttp => "not-http",
            Self::OutOfScope => "out-of-scope",
            Self::Credentials => "credentials",
            Self::FanIn => "fan-in",
            Self::SuspectHome => "suspect-home",
            Self::Language => "language",
            Self::Variant => "variant",
            Self::Dangling => "dangling",
            Self::Boilerplate => "boilerplate",
            Self::ContentDiffers => "content-differs",
            Self::EncodingDiffers => "encoding-differs",
            Self::CanonicalContentDiffers => "canonical-content-differs",
            Self::CanonicalHub => "canonical-hub",
            Self::CanonicalCrossHost => "canonical-cross-host",
            Self::CanonicalLanguage => "canonical-language",
            Self::CanonicalAmbiguous => "canonical-ambiguous",
            Self::CanonicalNotCaptured => "canonical-not-captured",
            Self::CanonicalOutOfScope => "canonical-out-of-scope",
        }
    }
}

/// A set of conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conflicts(u32);

impl Conflicts {
    /// None.
    pub const NONE: Self = Self(0);

    /// Adds one.
    pub fn insert(&mut self, conflict: Conflict) {
        self.0 |= 1 << conflict as u32;
    }

    /// As the lowest bits of a number.
    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// The set that has these bits.
    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether it has `conflict`.
    #[must_use]
    pub fn contains(self, conflict: Conflict) -> bool {
        self.0 & (1 << conflict as u32) != 0
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those it has, in report order.
    pub fn iter(self) -> impl Iterator<Item = Conflict> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = Conflict::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(*first)
        })
    }
}

impl From<Conflict> for Conflicts {
    fn from(conflict: Conflict) -> Self {
        let mut conflicts = Self::default();
        conflicts.insert(conflict);
        conflicts
    }
}

/// Where a capture finally leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is its own end.
    Itself,
    /// Another capture.
    Row(RowId),
    /// Nowhere in the input: the hop that was not followed is this row's.
    Unfollowed(RowId),
    /// Round in a loop.
    Loop,
}

/// All that a report row says beyond the capture itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// From 1, in output order; 0 for a capture in no group.
    pub group_id: u64,
    /// Captures with this `group_id`; 1 for a unique one.
    pub group_size: u64,
    /// What it is in its group.
    pub role: Role,
    /// How it is the same as the keeper; `None` for keeper and unique.
    pub sameness: Option<Sameness>,
    /// Pointers first, content last; empty for keeper and unique.
    pub evidence: Vec<Evidence>,
    /// The capture at the first hop.
    pub joined_to: Option<RowId>,
    /// What was named and not followed.
    pub conflicts: Conflicts,
    /// The keeper's row; `None` for a unique one, itself for a keeper.
    pub keeper: Option<RowId>,
    /// Where it leads.
    pub end: End,
    /// Content-made ids of the groups in which it is not alone.
    pub url_group: Option<u64>,
    /// As `url_group`.
    pub content_group: Option<u64>,
    /// As `url_group`.
    pub page_group: Option<u64>,
}

/// Which evidence joins pages, and the limits beyond which pointers are not believed.
#[derive(Clone, Debug)]
pub struct Thresholds {
    /// `--evidence`; default digest, decoded, revisit, redirect.
    pub evidence: Vec<Evidence>,
    /// `--keep`.
    pub keep: Keep,
    /// `--redirect-within`, in seconds; default 30 days.
    pub redirect_within: i64,
    /// `--max-redirects`; default 20.
    pub redirects_max: u32,
    /// `--redirect-fan-in`; default 50 source keys.
    pub fan_in_max: u64,
    /// `--boilerplate`; default 50 unrelated URLs of a host.
    pub boilerplate_max: u64,
}

/// `--keep`: which of equally good captures is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first captured.
    #[default]
    Earliest,
    /// The last captured.
    Latest,
    /// The one with the shortest target URI.
    ShortestUrl,
}

impl Thresholds {
    /// Whether `evidence` joins pages.
    #[must_use]
    pub fn names(&self, evidence: Evidence) -> bool {
        self.evidence.contains(&evidence)
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            evidence: vec![
                Evidence::Digest,
                Evidence::Decoded,
                Evidence::Revisit,
                Evidence::Redirect,
            ],
            keep: Keep::Earliest,
            redirect_within: 30 * 24 * 60 * 60,
            redirects_max: 20,
            fan_in_max: 50,
            boilerplate_max: 50,
        }
    }
}

/// Figures of the summary that grouping knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct target URIs, as bytes.
    pub distinct_uris: u64,
    /// Distinct keys.
    pub distinct_keys: u64,
    /// URL groups of two captures or more.
    pub url_groups: u64,
    /// Content groups of two captures or more.
    pub content_groups: u64,
    /// Page groups of two captures or more.
    pub page_groups: u64,
    /// Rows by role, indexed by `Role as usize`.
    pub by_role: [u64; 6],
    /// Rows by sameness, indexed by `Sameness as usize`.
    pub by_sameness: [u64; 4],
    /// URL groups whose 2xx captures show two contents or more.
    pub urls_changed: u64,
    /// Captures (not revisits) with an empty payload.
    pub empty_payloads: u64,
    /// Revisits whose original is not in the input.
    pub dangling: u64,
    /// Contents shared by too many unrelated URLs.
    pub boilerplate_contents: u64,
    /// Equal keys with different checks.
    pub key_collisions: u64,
    /// Equal digests of different bytes.
    pub digest_collisions: u64,
    /// Bytes of duplicates that are no revisits.
    pub redundant_bytes: u64,
    /// Such rows of unknown cost.
    pub redundant_unknown: u64,
    /// Redirects whose chain leads to an end.
    pub chains: u64,
    /// Of these, with a temporary hop.
    pub chains_temporary: u64,
    /// Distinct sets of keys that go round.
    pub loops: u64,
    /// Captures per conflict, indexed by `Conflict as usize`.
    pub by_conflict: [u64; Conflict::ALL.len()],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_names_its_conflicts_in_report_order() {
        for (place, conflict) in Conflict::ALL.into_iter().enumerate() {
            assert_eq!(conflict as usize, place);
            assert!(Conflicts::from(conflict).iter().eq([conflict]));
        }
        let every = Conflicts::from_bits((1 << Conflict::ALL.len()) - 1);
        assert!(every.iter().eq(Conflict::ALL));
        assert!(Conflicts::NONE.iter().next().is_none());
    }
}
