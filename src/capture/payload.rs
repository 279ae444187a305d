//! What is known of a capture's payload: digests, and whether it is whole.

/// Whether the stored payload is the whole payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Completeness {
    /// All of it.
    Complete,
    /// `WARC-Truncated`: the crawler stopped, or (of a revisit) left the body off.
    Truncated,
    /// The record ends before its Content-Length says so, or its bytes are damaged.
    Cut,
    /// Status 206 with a part of the resource.
    Partial,
    /// One of several segments, not all of which are in the input.
    Segment,
}

/// How a declared payload digest stands to the computed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestStatus {
    /// Equal to the computed digest of the payload.
    Ok,
    /// Equal only if the transfer coding (chunk marks) is hashed too.
    OkOverRawBody,
    /// Not compared: bodies were not read.
    Unchecked,
    /// None declared.
    Absent,
    /// Cannot be compared: unknown algorithm, impossible value, cut payload, foreign protocol.
    Uncheckable,
    /// A revisit's: it names the payload of another record.
    ByReference,
    /// Another payload's.
    Mismatch,
}

impl DigestStatus {
    /// How much it counts against a capture where one is to be kept: agreeing 0, unknown 1, disagreeing 2.
    #[must_use]
    pub fn doubt(self) -> u8 {
        match self {
            Self::Ok | Self::OkOverRawBody => 0,
            Self::Unchecked | Self::Absent | Self::Uncheckable | Self::ByReference => 1,
            Self::Mismatch => 2,
        }
    }
}

/// A payload digest: algorithm and bytes, compared as bytes whatever the text was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The hash function.
    pub algorithm: Algorithm,
    len: u8,
    bytes: [u8; 64],
}

/// Hash functions seen in `WARC-Payload-Digest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// 20 bytes; the field's own.
    Sha1,
    /// 32 bytes.
    Sha256,
    /// 64 bytes.
    Sha512,
    /// 16 bytes.
    Md5,
    /// 32 bytes; `--digests content`.
    Blake3,
}

impl Algorithm {
    /// Length of a digest in bytes.
    #[must_use]
    pub fn digest_len(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha512 => 64,
        }
    }

    /// The label, without dash, as reports print it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Md5 => "md5",
            Self::Blake3 => "blake3",
        }
    }
}

impl Digest {
    /// A digest of `bytes`, which must have the algorithm's length (else `None`).
    #[must_use]
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        let mut own = [0; 64];
        if bytes.len() != algorithm.digest_len() {
            return None;
        }
        own[..bytes.len()].copy_from_slice(bytes);
        Some(Self {
            algorithm,
            len: u8::try_from(bytes.len()).ok()?,
            bytes: own,
        })
    }

    /// A SHA-1, as nearly all are.
    #[must_use]
    pub fn sha1(bytes: [u8; 20]) -> Self {
        let mut own = [0; 64];
        own[..20].copy_from_slice(&bytes);
        Self {
            algorithm: Algorithm::Sha1,
            len: 20,
            bytes: own,
        }
    }

    /// The digest's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.algorithm.label())?;
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What is known of a capture's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    /// Length in bytes, after transfer decoding; `None` where no body was read and none is stated.
    pub bytes: Option<u64>,
    /// Computed where bodies are read, else declared. SHA-1 in `verify`, BLAKE3 in `content`.
    /// `None` for an unreadable or absent digest.
    pub digest: Option<Digest>,
    /// XXH3-128 of the payload where it was read; SHA-1 can be forged.
    pub body_hash: Option<u128>,
    /// XXH3-64 of the visible text without digits, after content decoding: of HTML and plain text that is all there, where it
    /// was asked for and shows any.
    pub text: Option<u64>,
    /// Digest after content decoding, where there was a content coding and it could be decoded.
    pub decoded: Option<Digest>,
    /// Whether the payload decodes to nothing.
    pub decodes_to_nothing: bool,
    /// There is a content coding that could not be undone, or only to a bomb.
    pub is_undecodable: bool,
    /// The declared digest as written (label included), empty for none.
    pub declared_text: &'a [u8],
    /// The declared digest, where its text can be read.
    pub declared: Option<Digest>,
    /// The one against the other.
    pub status: DigestStatus,
    /// Whether all of it is there.
    pub completeness: Completeness,
}
