//! Work that is done by many threads and joined in the order in which it was given out. Must never know what the work is.
//!
//! ```text
//! each thread:  take the next task, if it is not too far ahead of the one whose turn it is to be joined; else wait
//!               do it; put its parts, one by one, into its place in the line
//!               if no one joins: join parts and places from the front of the line, as long as they are there
//! ```
//!
//! A place whose turn has not come holds a few parts, then its thread waits. No one waits for ever: the place at the
//! front belongs to a thread that is at work, and whoever puts a part there joins it, or has it joined.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Result;

/// Tasks that may be ahead of the one whose turn it is, for each thread.
const AHEAD_MAX: usize = 4;

/// Parts that a place holds.
const PARTS_MAX: usize = 4;

/// Does every task in the pool's threads, each of which works with a `worker` of its own; hands all parts to `join`, in the
/// order of tasks, and within one in the order in which they were put.
///
/// # Errors
/// The first one of `join`, which ends all work.
pub(super) fn in_order<W, T: Send, R: Send>(
    tasks: impl Iterator<Item = T> + Send,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, T, &Outlet<'_, R>) + Sync,
    join: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let tasks = Mutex::new(tasks);
    let join = Mutex::new(join);
    let line = Line {
        state: Mutex::new(State::default()),
        moved: Condvar::new(),
        join: &|part| join.lock().unwrap_or_else(PoisonError::into_inner)(part),
        places_max: AHEAD_MAX * rayon::current_num_threads(),
    };
    rayon::broadcast(|_| {
        let _end = EndOnPanic(&line);
        let mut worker = worker();
        while let Some((place, task)) = line.take(&tasks) {
            let outlet = Outlet { line: &line, place };
            work(&mut worker, task, &outlet);
            line.finish(place);
        }
    });
    let state = line.state.into_inner();
    state.unwrap_or_else(PoisonError::into_inner).outcome
}

/// Where the parts of a task go.
pub(super) struct Outlet<'a, R> {
    line: &'a Line<'a, R>,
    place: u64,
}

impl<R: Send> Outlet<'_, R> {
    /// Puts a part into the line; waits if too many wait there already.
    pub(super) fn put(&self, part: R) {
        self.line.put(self.place, part);
    }

    /// Whether all work has ended, and parts are of no more use.
    pub(super) fn is_over(&self) -> bool {
        self.line.state().is_over
    }
}

struct Line<'a, R> {
    state: Mutex<State<R>>,
    /// Told when the front of the line moves.
    moved: Condvar,
    /// Called by one thread at a time.
    join: &'a (dyn Fn(R) -> Result<()> + Sync),
    places_max: usize,
}

struct State<R> {
    /// Tasks that were joined.
    n_joined: u64,
    /// Those that were given out since.
    places: VecDeque<Place<R>>,
    is_joining: bool,
    is_over: bool,
    outcome: Result<()>,
}

struct Place<R> {
    parts: VecDeque<R>,
    is_finished: bool,
}

impl<R> Default for State<R> {
    fn default() -> Self {
        Self {
            n_joined: 0,
            places: VecDeque::new(),
            is_joining: false,
            is_over: false,
            outcome: Ok(()),
        }
    }
}

impl<R> State<R> {
    fn place(&mut self, place: u64) -> &mut Place<R> {
        let index = usize::try_from(place - self.n_joined).ok();
        index
            .and_then(|index| self.places.get_mut(index))
            .expect("a place stays in the line until its thread has finished it")
    }
}

impl<R: Send> Line<'_, R> {
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<R>>) -> MutexGuard<'s, State<R>> {
        let woken = self.moved.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task and its place. Finding it may take long, so others go on meanwhile.
    fn take<T>(&self, tasks: &Mutex<impl Iterator<Item = T>>) -> Option<(u64, T)> {
        let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.state();
        while state.places.len() >= self.places_max && !state.is_over {
            state = self.wait(state);
        }
        if state.is_over {
            return None;
        }
        drop(state);
        let task = tasks.next()?;
        let mut state = self.state();
        state.places.push_back(Place {
            parts: VecDeque::new(),
            is_finished: false,
        });
        Some((state.n_joined + state.places.len() as u64 - 1, task))
    }

    fn put(&self, place: u64, part: R) {
        let mut state = self.state();
        while !state.is_over && state.place(place).parts.len() >= PARTS_MAX {
            state = self.wait(state);
        }
        if !state.is_over {
            state.place(place).parts.push_back(part);
            self.join(state);
        }
    }

    fn finish(&self, place: u64) {
        let mut state = self.state();
        if !state.is_over {
            state.place(place).is_finished = true;
            self.join(state);
        }
    }

    /// Joins what stands at the front, unless another thread does.
    fn join<'s>(&'s self, mut state: MutexGuard<'s, State<R>>) {
        if state.is_joining {
            return;
        }
        state.is_joining = true;
        while let Some(front) = state.places.front_mut() {
            let Some(part) = front.parts.pop_front() else {
                if !front.is_finished {
                    break;
                }
                state.places.pop_front();
                state.n_joined += 1;
                self.moved.notify_all();
                continue;
            };
            drop(state);
            let outcome = (self.join)(part);
            state = self.state();
            if outcome.is_err() {
                state.outcome = outcome;
                self.end(&mut state);
            }
            self.moved.notify_all();
        }
        state.is_joining = false;
    }

    fn end(&self, state: &mut State<R>) {
        state.is_over = true;
        state.places.clear();
        self.moved.notify_all();
    }
}

/// Lets no thread wait for one that is gone.
struct EndOnPanic<'a, 'l, R: Send>(&'a Line<'l, R>);

impl<R: Send> Drop for EndOnPanic<'_, '_, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(&mut self.0.state());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn in_pool<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().unwrap().install(work)
    }

    #[test]
    fn joins_all_parts_in_the_order_of_tasks() {
        for n_threads in [1, 2, 8] {
            let mut joined = Vec::new();
            let outcome = in_pool(n_threads, || {
                in_order(
                    0..500_u64,
                    || 0_u64,
                    |seed, task, outlet| {
                        // Some tasks take long, some have many parts, some none.
                        *seed += task;
                        for _ in 0..(task * 7919) % 50 * 1000 {
                            *seed = seed.wrapping_mul(6_364_136_223_846_793_005) | 1;
                        }
                        for part in 0..task % 7 {
                            outlet.put((task, part, *seed));
                        }
                    },
                    |(task, part, _)| {
                        joined.push((task, part));
                        Ok(())
                    },
                )
            });
            assert!(outcome.is_ok());
            let parts = |task| (0..task % 7).map(move |part| (task, part));
            let expected: Vec<_> = (0..500).flat_map(parts).collect();
            assert_eq!(joined, expected, "{n_threads} threads");
        }
    }

    #[test]
    fn ends_at_the_first_error() {
        for n_threads in [1, 2, 8] {
            let mut n_joined = 0;
            let outcome = in_pool(n_threads, || {
                in_order(
                    0..,
                    || (),
                    |(), task: u64, outlet| {
                        while !outlet.is_over() {
                            outlet.put(task);
                            if task < 20 {
                                break;
                            }
                        }
                    },
                    |task| {
                        n_joined += 1;
                        match task {
                            20 => Err(Error::failed("twenty")),
                            _ => Ok(()),
                        }
                    },
                )
            });
            assert_eq!(outcome.unwrap_err().to_string(), "twenty");
            assert_eq!(n_joined, 21, "{n_threads} threads");
        }
    }
}
