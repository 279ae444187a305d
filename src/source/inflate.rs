//! Inflating one gzip member: whole where it fits the buffer, else step by step.
#![expect(
    unsafe_code,
    reason = "libdeflate is C, and its safe wrapper hides how much input a member took"
)]

use super::ahead::AHEAD;
use super::members::{State, Step};

use std::ops::Range;
use std::ptr::NonNull;

use flate2::{Decompress, FlushDecompress, Status};
use libdeflate_sys as sys;

/// Bytes of the largest member that is inflated in one call.
const WHOLE: usize = 1 << 20;

/// The two inflaters and their output buffer.
pub(super) struct Inflater {
    whole: Option<Whole>,
    steps: Decompress,
    /// Without header and checksum: to start it anew costs nothing, where one for gzip is made again.
    heads: Decompress,
    out: Vec<u8>,
    filled: usize,
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Self {
            whole: Whole::new(),
            steps: Decompress::new_gzip(15),
            heads: Decompress::new(false),
            out: vec![0; AHEAD + WHOLE],
            filled: 0,
        }
    }
}

impl Inflater {
    /// Inflates the member at the start of `stored`, behind the first `filled` bytes of the buffer, if it is sound and no
    /// larger than [`WHOLE`]: bytes taken and given.
    pub(super) fn inflate_whole(&mut self, stored: &[u8], filled: usize) -> Option<(usize, usize)> {
        let room = &mut self.out[filled..filled + WHOLE];
        self.whole.as_mut()?.gzip(stored, room)
    }

    /// Some of the last whole members.
    pub(super) fn inflated(&self, range: Range<usize>) -> &[u8] {
        &self.out[range]
    }

    /// Starts a member of which only the first bytes are wanted.
    pub(super) fn reset_head(&mut self) {
        self.heads.reset(false);
        self.filled = 0;
    }

    /// Inflates what was not yet taken of `deflated`, which follows a member's header, until the buffer holds `room` bytes;
    /// whether it is sound, and goes on.
    ///
    /// Where the input ends first, the inflater runs at full speed; near the end of its room it looks at every byte twice.
    pub(super) fn inflate_head(&mut self, deflated: &[u8], room: usize) -> bool {
        let taken = usize::try_from(self.heads.total_in()).unwrap_or(usize::MAX);
        let left = deflated.get(taken..).unwrap_or_default();
        let room = &mut self.out[self.filled..room];
        let outcome = self.heads.decompress(left, room, FlushDecompress::None);
        self.filled =
            usize::try_from(self.heads.total_out()).expect("no more than the room that was given");
        matches!(outcome, Ok(Status::Ok | Status::BufError)) && self.filled > 0
    }

    /// Starts a member, to be inflated step by step.
    pub(super) fn reset(&mut self) {
        self.steps.reset(true);
        self.filled = 0;
    }

    /// Inflates until the buffer holds `limit` bytes.
    pub(super) fn inflate_up_to(&mut self, stored: &[u8], limit: usize) -> Step {
        let (taken, given) = (self.steps.total_in(), self.steps.total_out());
        let room = &mut self.out[self.filled..limit];
        let outcome = self.steps.decompress(stored, room, FlushDecompress::None);
        self.filled += usize::try_from(self.steps.total_out() - given)
            .expect("no more than the room that was given");
        Step {
            taken: usize::try_from(self.steps.total_in() - taken)
                .expect("no more than the input that was given"),
            state: match outcome {
                Ok(Status::StreamEnd) => State::Ended,
                Ok(Status::Ok | Status::BufError) => State::Open,
                Err(_) => State::Bad,
            },
        }
    }

    /// What was inflated since the last `empty`.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.out[..self.filled]
    }

    /// Empties the buffer.
    pub(super) fn empty(&mut self) {
        self.filled = 0;
    }
}

/// libdeflate's state.
struct Whole(NonNull<sys::libdeflate_decompressor>);

// SAFETY: the state is memory of its own without ties to a thread; it is used through `&mut` only.
unsafe impl Send for Whole {}

impl Whole {
    /// `None` where there is no memory for it.
    fn new() -> Option<Self> {
        // SAFETY: takes nothing, returns null or a valid state.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Inflates the member at the start of `stored` into `out`: bytes taken and given; `None` if it is damaged or
    /// does not fit.
    fn gzip(&mut self, stored: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
        let (mut taken, mut given) = (0, 0);
        // SAFETY: the state is valid until `drop`; both slices are valid for their lengths, and do not overlap.
        let result = unsafe {
            sys::libdeflate_gzip_decompress_ex(
                self.0.as_ptr(),
                stored.as_ptr().cast(),
                stored.len(),
                out.as_mut_ptr().cast(),
                out.len(),
                &raw mut taken,
                &raw mut given,
            )
        };
        (result == sys::libdeflate_result_LIBDEFLATE_SUCCESS).then_some((taken, given))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // SAFETY: it came from `libdeflate_alloc_decompressor` and is freed once.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}
