//! A team of threads: the caller and some that help it.
//!
//! [`Team::run`] calls a function for every part of some work and returns when all are done; [`split`] gives each member a part of a range. A helper waits
//! for work for a moment, because the next part usually follows soon, and sleeps after that. Which member does what is
//! fixed by the caller, so results cannot depend on how fast the threads are.
//!
//! Cost: less than a microsecond while the helpers are awake, ten to some hundred to wake them. Against `rayon` see ARCHITECTURE.md ("Threads").
//! All compute in the mode of the caller ([`crate::subnormal`]).

use std::any::Any;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, Thread, available_parallelism};

use crate::subnormal::Mode;

/// The caller and its helpers, which end when this is dropped.
pub struct Team {
    helpers: Vec<Helper>,
}

/// A thread that waits for work.
struct Helper {
    turn: Arc<Turn>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Team of {}", self.size())
    }
}

const IDLE: u32 = 0;
const WORK: u32 = 1;
const DONE: u32 = 2;
const QUIT: u32 = 3;

/// Looks at the state before a thread sleeps: about a millisecond. To wake it takes up to half of that on a virtual machine, and what lies
/// between two parts of a step is mostly shorter.
const SPINS: u32 = 50_000;

/// The same where there are more threads than cores, so that who waits takes the core from who works.
const SPINS_WHEN_CROWDED: u32 = 50;

struct Turn {
    state: AtomicU32,
    spins: u32,
    /// Written by the caller when the state is `IDLE`, read by the helper when it is `WORK`.
    work: UnsafeCell<Option<Work>>,
    /// Written by the helper before `DONE`.
    panic: UnsafeCell<Option<Box<dyn Any + Send>>>,
    caller: UnsafeCell<Option<Thread>>,
}

/// A function of the caller of [`Team::run`], which does not return before it has run, and the member that calls it.
#[derive(Clone, Copy)]
struct Work {
    function: *const (dyn Fn(usize) + Sync),
    member: usize,
    mode: Mode,
}

// SAFETY: the function is `Sync`, and the states say whose turn it is with the cells: only one thread touches them.
unsafe impl Send for Turn {}
// SAFETY: as above.
unsafe impl Sync for Turn {}

impl Team {
    /// A team of so many, with the caller; of fewer if the system gives no more threads, and nothing if there would be one only.
    pub fn new(size: usize) -> Option<Team> {
        let cores = available_parallelism().map_or(1, usize::from);
        let spins = match size <= cores {
            true => SPINS,
            false => SPINS_WHEN_CROWDED,
        };
        let helpers: Vec<Helper> = (1..size).map_while(|k| Helper::start(k, spins)).collect();
        (!helpers.is_empty()).then_some(Team { helpers })
    }

    /// Number of members, the caller included.
    pub fn size(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Calls `f` with every number below `parts`, the first ones here and the others on helpers: each member takes some in succession, in order. A
    /// panic of any is one here, when all are done.
    pub fn run(&mut self, parts: usize, f: impl Fn(usize) + Sync) {
        let mode = Mode::current();
        let members = parts.clamp(1, self.size());
        let f = |member: usize| part(parts, members, 1, member).for_each(&f);
        let function: *const (dyn Fn(usize) + Sync + '_) = &f;
        // SAFETY: only the lifetime changes; helpers do not use the function after this one, which waits for them below.
        let function = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(
                function,
            )
        };
        let helpers = &self.helpers[..members - 1];
        for (k, helper) in helpers.iter().enumerate() {
            helper.give(Work {
                function,
                member: k + 1,
                mode,
            });
        }
        let mut panic = catch_unwind(AssertUnwindSafe(|| f(0))).err();
        for helper in helpers {
            let theirs = helper.take_back();
            panic = panic.or(theirs);
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Calls both, the second one on a helper, and gives their results.
    pub fn both<A: Send, B: Send>(
        &mut self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        let (first, second) = (Once::new(first), Once::new(second));
        self.run(2, |member| match member {
            0 => first.call(),
            _ => second.call(),
        });
        (first.result(), second.result())
    }
}

/// Calls `f` with parts of `0..n` that begin at multiples of `grain`, one for each member of a team, but none shorter than `least`; with the whole
/// range without a team.
pub fn split(
    team: Option<&mut Team>,
    n: usize,
    (grain, least): (usize, usize),
    f: impl Fn(Range<usize>) + Sync,
) {
    let parts = team.as_ref().map_or(1, |t| t.size().min(n / least.max(1)));
    match team {
        Some(team) if parts > 1 => team.run(parts, |k| f(part(n, parts, grain, k))),
        _ => f(0..n),
    }
}

/// Calls `f` with every number below `parts`, on the members of a team if there is one.
pub fn each(team: Option<&mut Team>, parts: usize, f: impl Fn(usize) + Sync) {
    match team {
        Some(team) => team.run(parts, f),
        None => (0..parts).for_each(f),
    }
}

/// The k-th of so many parts of `0..n`, which begin at multiples of `grain`.
pub fn part(n: usize, parts: usize, grain: usize, k: usize) -> Range<usize> {
    let start = |k: usize| match k == parts {
        true => n,
        false => (n * k / parts).next_multiple_of(grain).min(n),
    };
    start(k)..start(k + 1)
}

/// A function that is called once by some thread, and its result.
struct Once<F, R>(Mutex<(Option<F>, Option<R>)>);

impl<F: FnOnce() -> R, R> Once<F, R> {
    fn new(f: F) -> Once<F, R> {
        Once(Mutex::new((Some(f), None)))
    }

    fn call(&self) {
        if let Ok(mut cell) = self.0.lock() {
            cell.1 = cell.0.take().map(|f| f());
        }
    }

    fn result(self) -> R {
        let cell = self.0.into_inner().ok().and_then(|cell| cell.1);
        cell.expect("a panic would have been passed on")
    }
}

impl Helper {
    fn start(number: usize, spins: u32) -> Option<Helper> {
        let turn = Arc::new(Turn {
            state: AtomicU32::new(IDLE),
            spins,
            work: UnsafeCell::new(None),
            panic: UnsafeCell::new(None),
            caller: UnsafeCell::new(None),
        });
        let theirs = turn.clone();
        let thread = std::thread::Builder::new()
            .name(format!("part {number}"))
            .spawn(move || theirs.serve())
            .ok()?;
        Some(Helper {
            turn,
            thread: Some(thread),
        })
    }

    /// Hands work over; [`Helper::take_back`] must follow.
    fn give(&self, work: Work) {
        // SAFETY: the state is `IDLE`, so the helper does not touch the cells.
        unsafe {
            *self.turn.work.get() = Some(work);
            *self.turn.caller.get() = Some(std::thread::current());
        }
        self.turn.state.store(WORK, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Waits until the work is done; gives its panic.
    fn take_back(&self) -> Option<Box<dyn Any + Send>> {
        self.turn.wait(DONE);
        // SAFETY: the helper has nothing to do until the state changes again.
        let panic = unsafe { (*self.turn.panic.get()).take() };
        self.turn.state.store(IDLE, Ordering::Release);
        panic
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.turn.state.store(QUIT, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It catches the panics of its work and cannot panic itself.
            let _ = thread.join();
        }
    }
}

impl Turn {
    /// Returns when the state is as wanted.
    fn wait(&self, wanted: u32) {
        let mut spins = 0;
        while self.state.load(Ordering::Acquire) != wanted {
            spins += 1;
            match spins < self.spins {
                true => std::hint::spin_loop(),
                false => std::thread::park(),
            }
        }
    }

    /// What a helper does.
    fn serve(&self) {
        let mut spins = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                QUIT => return,
                WORK => {
                    spins = 0;
                    // SAFETY: the caller waits for `DONE` and leaves the cells alone until then; the function lives as long.
                    let caller = unsafe {
                        if let Some(work) = (*self.work.get()).take() {
                            work.mode.set();
                            let run = AssertUnwindSafe(|| (*work.function)(work.member));
                            *self.panic.get() = catch_unwind(run).err();
                        }
                        (*self.caller.get()).take()
                    };
                    self.state.store(DONE, Ordering::Release);
                    if let Some(caller) = caller {
                        caller.unpark();
                    }
                }
                _ if spins < self.spins => {
                    spins += 1;
                    std::hint::spin_loop();
                }
                _ => std::thread::park(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shared;

    /// All parts are done when the call returns, again and again, also after the helpers have slept, and with more threads than cores.
    #[test]
    fn all_parts_are_done() {
        for size in 2..=5 {
            let mut team = Team::new(size).expect("threads");
            assert_eq!(team.size(), size);
            for round in 0..500u64 {
                if round % 250 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                let mut values = vec![0u64; 1000];
                let shared = Shared::new(&mut values);
                split(Some(&mut team), 1000, (8, 1), |range| {
                    // SAFETY: parts are apart.
                    let part = unsafe { shared.part(range.clone()) };
                    part.iter_mut()
                        .zip(range)
                        .for_each(|(v, i)| *v += round * i as u64);
                });
                assert!(
                    values
                        .iter()
                        .enumerate()
                        .all(|(i, v)| *v == round * i as u64)
                );
            }
        }
    }

    /// Parts cover a range once and in order, whatever their number.
    #[test]
    fn parts_cover_a_range() {
        for n in [0, 1, 7, 8, 63, 64, 1000] {
            for parts in 1..10 {
                let ranges: Vec<_> = (0..parts).map(|k| part(n, parts, 8, k)).collect();
                assert_eq!(ranges[0].start, 0);
                assert_eq!(ranges[parts - 1].end, n);
                assert!(ranges.windows(2).all(|w| w[0].end == w[1].start));
                let starts = ranges.iter().map(|r| r.start);
                assert!(starts.into_iter().all(|s| s % 8 == 0 || s == n));
            }
        }
    }

    /// A panic of any member is one of the caller, and the team goes on working.
    #[test]
    fn panics_come_back() {
        let mut team = Team::new(3).expect("threads");
        for member in 0..3 {
            let run = AssertUnwindSafe(|| team.run(3, |k| assert_ne!(k, member)));
            assert!(catch_unwind(run).is_err());
        }
        assert_eq!(team.both(|| 1, || 2), (1, 2));
    }
}
