//! The block of a record: its HTTP head is read, its payload hashed, as the bytes come.

use super::super::chunked::{Chunked, Outcome};
use super::super::coding::{Coding, Start};
use super::super::http::Head;
use super::super::text::{Syntax, Text};
use super::plan::{Envelope, Plan, Purpose};
use super::{DigestMode, VisibleText};
use crate::capture::{Algorithm, Digest};
use crate::digest::{Begun, Sum, Wanted};

/// Where in the block the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// In its first bytes, which tell whether it is HTTP; or in those behind an interim head.
    Start,
    Head,
    Payload,
    /// Nothing that follows is of interest.
    Skip,
}

const HTTP: &[u8; 5] = b"HTTP/";

/// The block of one record after the other.
pub(super) struct Body {
    plan: Plan,
    stage: Stage,
    start: [u8; 5],
    n_start: usize,
    head: Head,
    has_head: bool,
    /// Bytes of the interim heads before it.
    n_interim: u64,
    chunked: Option<Chunked>,
    coding: Coding,
    coding_start: Start,
    /// Over the payload; over the body with its chunk marks; over what the payload decodes to.
    payload: Sum,
    raw: Sum,
    decoded: Sum,
    /// Over what the payload decodes to; over the body with its chunk marks.
    text: Text,
    raw_text: Text,
    n_block: u64,
    /// SHA-1 of a payload that starts behind so many bytes of the block.
    begun: Option<(u64, Begun)>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self {
            plan: Plan {
                envelope: Envelope::None,
                purpose: Purpose::Nothing,
                text: VisibleText::Skip,
                syntax: None,
            },
            stage: Stage::Skip,
            start: [0; 5],
            n_start: 0,
            head: Head::new(),
            has_head: false,
            n_interim: 0,
            chunked: None,
            coding: Coding::default(),
            coding_start: Start::Identity,
            payload: Sum::default(),
            raw: Sum::default(),
            decoded: Sum::default(),
            text: Text::new(),
            raw_text: Text::new(),
            n_block: 0,
            begun: None,
        }
    }

    /// Where content codings are undone.
    pub(super) fn coding_mut(&mut self) -> &mut Coding {
        &mut self.coding
    }

    /// Forgets the last block and starts another.
    pub(super) fn begin(&mut self, plan: Plan) {
        self.plan = plan;
        self.n_start = 0;
        self.n_block = 0;
        self.begun = None;
        self.has_head = false;
        self.n_interim = 0;
        self.chunked = None;
        self.coding_start = Start::Identity;
        self.head.begin();
        self.payload.begin(plan.purpose.wanted());
        self.text.begin(plan.syntax);
        self.stage = match plan.envelope {
            Envelope::Response => Stage::Start,
            Envelope::Request => self.start_head(),
            Envelope::None => self.start_payload(),
        };
    }

    /// If the payload starts behind so many bytes of the block, this is its SHA-1 as far as it was begun.
    pub(super) fn expect(&mut self, n_before: u64, begun: Begun) {
        self.begun = Some((n_before, begun));
    }

    /// Whether nothing that follows is of interest.
    pub(super) fn is_skipped(&self) -> bool {
        self.stage == Stage::Skip
    }

    /// Counts bytes that were not read.
    pub(super) fn pass_over(&mut self, n_bytes: u64) {
        self.n_block += n_bytes;
    }

    /// Takes bytes of the block.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.n_block += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.stage {
                Stage::Skip => return,
                Stage::Start => self.push_start(rest),
                Stage::Head => match self.head.push(rest) {
                    None => return,
                    Some(taken) => {
                        let is_response = self.plan.envelope == Envelope::Response;
                        self.stage = if is_response && self.head.is_interim() {
                            self.n_start = 0;
                            Stage::Start
                        } else {
                            self.end_head()
                        };
                        &rest[taken..]
                    }
                },
                Stage::Payload => {
                    self.take_begun(rest);
                    return self.push_payload(rest);
                }
            };
        }
    }

    /// The block ends here.
    pub(super) fn finish(&mut self) {
        match self.stage {
            Stage::Start => {
                let start = self.start;
                self.stage = self.end_start();
                self.push_payload(&start[..self.n_start]);
            }
            Stage::Head => self.head.finish(),
            _ => {}
        }
    }

    /// The HTTP head, if there is one.
    pub(super) fn head(&self) -> Option<&Head> {
        self.has_head.then_some(&self.head)
    }

    /// Bytes of the block.
    pub(super) fn n_block(&self) -> u64 {
        self.n_block
    }

    /// Bytes of the payload; `None` where they were passed over and chunk marks may stand among them.
    pub(super) fn n_payload(&self) -> Option<u64> {
        if self.stage != Stage::Skip {
            return Some(self.payload_sum().n_bytes());
        }
        let n_head = self.n_interim + self.head().map_or(0, Head::n_bytes);
        let is_chunked = self.head().is_some_and(Head::is_chunked);
        (!is_chunked).then(|| self.n_block.saturating_sub(n_head))
    }

    /// The payload's digest.
    pub(super) fn digest(&self, algorithm: Algorithm) -> Option<Digest> {
        self.payload_sum().digest(algorithm)
    }

    /// XXH3-128 of the payload.
    pub(super) fn body_hash(&self) -> Option<u128> {
        self.payload_sum().body_hash()
    }

    /// The digest of the body with its chunk marks, where it has any.
    pub(super) fn raw_digest(&self, algorithm: Algorithm) -> Option<Digest> {
        self.chunked.as_ref()?;
        self.raw.digest(algorithm)
    }

    /// Whether chunks were announced, and are wrong, cut or missing.
    pub(super) fn has_bad_chunks(&self) -> bool {
        self.chunked
            .as_ref()
            .is_some_and(|chunked| chunked.outcome() != Outcome::Whole)
            && self.raw.n_bytes() > 0
    }

    /// What the payload decodes to.
    pub(super) fn decoded(&self) -> Decoded {
        match self.coding_start {
            Start::Identity => Decoded::Identity,
            Start::Unknown => Decoded::Failed,
            Start::Encoded if self.is_taken_raw() || !self.coding.is_decoded() => Decoded::Failed,
            Start::Encoded => {
                let algorithm = match self.plan.purpose {
                    Purpose::Content(DigestMode::Content, _) => Algorithm::Blake3,
                    _ => Algorithm::Sha1,
                };
                Decoded::Whole(self.decoded.digest(algorithm), self.decoded.n_bytes())
            }
        }
    }

    /// The hash of the visible text of what the payload decodes to; `None` where there is none, or it was not asked for.
    pub(super) fn text(&self) -> Option<u64> {
        match self.decoded() {
            Decoded::Failed => None,
            _ if self.is_taken_raw() => self.raw_text.hash(),
            _ => self.text.hash(),
        }
    }

    /// Whether the body is taken as it stands, though chunks were announced.
    fn is_taken_raw(&self) -> bool {
        self.chunked
            .as_ref()
            .is_some_and(|chunked| chunked.outcome() == Outcome::NotChunked)
    }

    fn payload_sum(&self) -> &Sum {
        if self.is_taken_raw() {
            &self.raw
        } else {
            &self.payload
        }
    }

    /// Collects the first bytes until they tell whether an HTTP head follows; returns what is left.
    fn push_start<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let n = bytes.len().min(HTTP.len() - self.n_start);
        self.start[self.n_start..self.n_start + n].copy_from_slice(&bytes[..n]);
        self.n_start += n;
        if self.n_start == HTTP.len() {
            let start = self.start;
            if start.eq_ignore_ascii_case(HTTP) {
                if self.has_head {
                    self.n_interim += self.head.n_bytes();
                    self.head.begin();
                }
                self.stage = self.start_head();
                self.head.push(&start);
            } else {
                self.stage = self.end_start();
                self.push_payload(&start);
            }
        }
        &bytes[n..]
    }

    /// No head starts here. An interim one without successor is all there is.
    fn end_start(&mut self) -> Stage {
        if self.has_head {
            self.end_head()
        } else {
            self.start_payload()
        }
    }

    fn start_head(&mut self) -> Stage {
        self.has_head = true;
        Stage::Head
    }

    fn end_head(&mut self) -> Stage {
        let wanted = self.plan.purpose.wanted();
        if wanted != Wanted::NOTHING && self.head.is_chunked() {
            self.chunked = Some(Chunked::default());
            self.raw.begin(wanted);
        }
        if self.plan.text == VisibleText::Hash {
            let syntax = Syntax::of(self.head.mime());
            self.text.begin(syntax);
            self.raw_text.begin(syntax);
        }
        if let Purpose::Content(DigestMode::Verify | DigestMode::Content, _) = self.plan.purpose {
            self.coding_start = self.coding.begin(self.head.content_encoding());
            if self.coding_start == Start::Encoded {
                self.decoded.begin(match self.plan.purpose {
                    Purpose::Content(DigestMode::Content, _) => {
                        Wanted::NOTHING.with(Algorithm::Blake3)
                    }
                    _ => Wanted::NOTHING.with(Algorithm::Sha1),
                });
            }
        }
        self.start_payload()
    }

    fn start_payload(&self) -> Stage {
        if self.plan.purpose.wanted() == Wanted::NOTHING {
            Stage::Skip
        } else {
            Stage::Payload
        }
    }

    /// Takes what was begun of the body, if `bytes`, which come next, are its first ones and hold all of that.
    fn take_begun(&mut self, bytes: &[u8]) {
        let Some((n_before, begun)) = self.begun.take() else {
            return;
        };
        let sum = match self.chunked {
            None => &mut self.payload,
            Some(_) => &mut self.raw,
        };
        let is_there = n_before + bytes.len() as u64 == self.n_block && sum.n_bytes() == 0;
        if is_there && begun.n_bytes() <= bytes.len() {
            sum.resume_sha1(begun);
        }
    }

    fn push_payload(&mut self, bytes: &[u8]) {
        if self.stage == Stage::Skip {
            return;
        }
        let (payload, decoded) = (&mut self.payload, &mut self.decoded);
        let text = &mut self.text;
        let coding = match self.coding_start {
            Start::Encoded => Some(&mut self.coding),
            Start::Identity | Start::Unknown => None,
        };
        match (&mut self.chunked, coding) {
            (None, None) => {
                payload.update(bytes);
                text.push(bytes);
            }
            (None, Some(coding)) => {
                payload.update(bytes);
                coding.push(bytes, &mut |bytes| {
                    decoded.update(bytes);
                    text.push(bytes);
                });
            }
            (Some(chunked), coding) => {
                self.raw.update(bytes);
                self.raw_text.push(bytes);
                let mut coding = coding;
                chunked.push(bytes, &mut |bytes| {
                    payload.update(bytes);
                    match &mut coding {
                        None => text.push(bytes),
                        Some(coding) => coding.push(bytes, &mut |bytes| {
                            decoded.update(bytes);
                            text.push(bytes);
                        }),
                    }
                });
            }
        }
    }
}

/// What a payload decodes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// Itself: there is no content coding, or bodies were not read.
    Identity,
    /// So many bytes, with a digest.
    Whole(Option<Digest>, u64),
    /// It cannot be decoded, or only to a bomb.
    Failed,
}
