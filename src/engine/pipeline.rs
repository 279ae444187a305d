//! Decoding on one core, reading on another, for inputs in which nobody knows where to start in the midst: one gzip member,
//! a pipe, zstd. Must never know what a piece holds.
//!
//! ```text
//! decoder's thread:  copy pieces one behind the other into a batch; full: send it, take an empty one
//! reader's thread:   take a batch, hand its pieces to the sink, send it back empty
//! ```
//!
//! There are [`BATCHES`] batches and no more, so the faster of the two waits for the other. Pieces come out as they went in,
//! cut at the same places.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, SyncSender};

use crate::source::{Compression, Decoder, Input, Piece};

/// Batches that go round.
const BATCHES: usize = 4;

/// Bytes of a full batch; a single piece may be larger.
const BATCH_BYTES: usize = 1 << 18;

/// Pieces of a full batch: members without bytes are many.
const BATCH_PIECES: usize = 1 << 12;

/// Pieces that one batch holds.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    pieces: Vec<Stored>,
}

/// A piece without its bytes.
#[derive(Clone, Copy, Debug)]
enum Stored {
    /// So many of the batch's bytes.
    Bytes { len: usize, offset: u64 },
    /// A piece that has none.
    Other(Piece<'static>),
}

/// Hands `input` to `sink` as [`Decoder::pieces`] does, but decodes it in a thread of its own.
///
/// # Errors
///
/// Where the input cannot be read.
pub(super) fn pieces(
    mut input: impl Input + Send,
    compression: Compression,
    mut sink: impl FnMut(Piece<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let (full, batches) = mpsc::sync_channel(BATCHES);
    let (back, empty) = mpsc::sync_channel(BATCHES);
    for _ in 0..BATCHES {
        back.send(Batch::default()).ok();
    }
    std::thread::scope(|scope| {
        let decoding = scope.spawn(move || decode(&mut input, compression, &full, &empty));
        'batches: for mut batch in batches {
            let mut rest = batch.bytes.as_slice();
            for piece in batch.pieces.drain(..) {
                let piece = match piece {
                    Stored::Other(piece) => piece,
                    Stored::Bytes { len, offset } => {
                        let (bytes, behind) = rest.split_at(len);
                        rest = behind;
                        Piece::Bytes { bytes, offset }
                    }
                };
                if sink(piece).is_break() {
                    break 'batches;
                }
            }
            batch.bytes.clear();
            back.send(batch).ok();
        }
        // A decoder that waits for an empty batch waits no more.
        drop(back);
        match decoding.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn decode(
    input: &mut impl Input,
    compression: Compression,
    full: &SyncSender<Batch>,
    empty: &Receiver<Batch>,
) -> io::Result<()> {
    let Ok(mut batch) = empty.recv() else {
        return Ok(());
    };
    let outcome = Decoder::default().pieces(input, compression, |piece| {
        batch.push(piece);
        if batch.bytes.len() < BATCH_BYTES && batch.pieces.len() < BATCH_PIECES {
            return ControlFlow::Continue(());
        }
        let Ok(next) = empty.recv() else {
            return ControlFlow::Break(());
        };
        match full.send(std::mem::replace(&mut batch, next)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    full.send(batch).ok();
    outcome
}

impl Batch {
    fn push(&mut self, piece: Piece<'_>) {
        self.pieces.push(match piece {
            Piece::Bytes { bytes, offset } => {
                self.bytes.extend_from_slice(bytes);
                Stored::Bytes {
                    len: bytes.len(),
                    offset,
                }
            }
            Piece::MemberEnd { offset, length } => {
                Stored::Other(Piece::MemberEnd { offset, length })
            }
            Piece::Lost {
                offset,
                length,
                what,
            } => Stored::Other(Piece::Lost {
                offset,
                length,
                what,
            }),
            Piece::Padding { offset } => Stored::Other(Piece::Padding { offset }),
            Piece::First { .. } | Piece::Coming(_) | Piece::Passed => {
                unreachable!("whole inputs come without trials")
            }
        });
    }
}
