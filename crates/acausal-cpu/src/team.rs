//! A second thread that works on half of what the first one does.
//!
//! [`Pair::both`] runs two closures, one on the second thread, and returns when both are done. The second thread waits
//! for work for a moment, because the next half usually follows soon, and sleeps after that. Which half runs where is
//! fixed by the caller, so results cannot depend on how fast the threads are.
//!
//! Cost: less than a microsecond while the second thread is awake, ten to some hundred to wake it.
//! Both compute in the mode of the first one ([`crate::subnormal`]).

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{JoinHandle, Thread};

use crate::subnormal::Mode;

/// A second thread; it ends when this is dropped.
pub struct Pair {
    turn: Arc<Turn>,
    other: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pair")
    }
}

const IDLE: u32 = 0;
const WORK: u32 = 1;
const DONE: u32 = 2;
const QUIT: u32 = 3;

/// Looks at the state before a thread sleeps: about a millisecond. To wake it takes up to half of that on a virtual machine, and what lies
/// between two halves of a step is mostly shorter.
const LOOKS: u32 = 50_000;

struct Turn {
    state: AtomicU32,
    /// Written by the first thread when the state is `IDLE`, read by the second when it is `WORK`.
    work: UnsafeCell<Option<Work>>,
    /// Written by the second thread before `DONE`.
    panic: UnsafeCell<Option<Box<dyn Any + Send>>>,
    first: UnsafeCell<Option<Thread>>,
}

/// A closure of the caller of [`Pair::both`], which does not return before it has run.
#[derive(Clone, Copy)]
struct Work(*mut (dyn FnMut() + Send));

// SAFETY: the closure is `Send`, and the states say whose turn it is with the cells: only one thread touches them.
unsafe impl Send for Turn {}
// SAFETY: as above.
unsafe impl Sync for Turn {}

impl Pair {
    /// Starts the second thread; nothing if the system gives none.
    pub fn new() -> Option<Pair> {
        let turn = Arc::new(Turn {
            state: AtomicU32::new(IDLE),
            work: UnsafeCell::new(None),
            panic: UnsafeCell::new(None),
            first: UnsafeCell::new(None),
        });
        let theirs = turn.clone();
        let other = std::thread::Builder::new()
            .name("second half".into())
            .spawn(move || theirs.serve())
            .ok()?;
        Some(Pair {
            turn,
            other: Some(other),
        })
    }

    /// Runs both, the second one on the second thread, and gives their results. A panic of either is one here, when both are done.
    pub fn both<A, B: Send>(
        &mut self,
        first: impl FnOnce() -> A,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        let mut second = Some(second);
        let mut result = None;
        let mode = Mode::current();
        let mut run = || {
            mode.set();
            result = second.take().map(|f| f());
        };
        let work: *mut (dyn FnMut() + Send + '_) = &mut run;
        // SAFETY: only the lifetime changes; the closure is not used after this function, see `wait` below.
        let work = unsafe {
            std::mem::transmute::<*mut (dyn FnMut() + Send + '_), *mut (dyn FnMut() + Send)>(work)
        };
        // SAFETY: the state is `IDLE`, so the second thread does not touch the cells.
        unsafe {
            *self.turn.work.get() = Some(Work(work));
            *self.turn.first.get() = Some(std::thread::current());
        }
        self.turn.state.store(WORK, Ordering::Release);
        if let Some(other) = &self.other {
            other.thread().unpark();
        }
        let mine = catch_unwind(AssertUnwindSafe(first));
        self.turn.wait(DONE);
        // SAFETY: the second thread has nothing to do until the state changes again.
        let theirs = unsafe { (*self.turn.panic.get()).take() };
        self.turn.state.store(IDLE, Ordering::Release);
        match (mine, theirs) {
            (Err(panic), _) | (_, Some(panic)) => resume_unwind(panic),
            (Ok(first), None) => (first, result.expect("the second thread has run its half")),
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.turn.state.store(QUIT, Ordering::Release);
        if let Some(other) = self.other.take() {
            other.thread().unpark();
            // It catches the panics of its work and cannot panic itself.
            let _ = other.join();
        }
    }
}

impl Turn {
    /// Returns when the state is as wanted.
    fn wait(&self, wanted: u32) {
        let mut looks = 0;
        while self.state.load(Ordering::Acquire) != wanted {
            looks += 1;
            match looks < LOOKS {
                true => std::hint::spin_loop(),
                false => std::thread::park(),
            }
        }
    }

    /// What the second thread does.
    fn serve(&self) {
        let mut looks = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                QUIT => return,
                WORK => {
                    looks = 0;
                    // SAFETY: the first thread waits for `DONE` and leaves the cells alone until then; the closure lives as long.
                    let first = unsafe {
                        if let Some(work) = (*self.work.get()).take()
                            && let Err(p) = catch_unwind(AssertUnwindSafe(|| (*work.0)()))
                        {
                            *self.panic.get() = Some(p);
                        }
                        (*self.first.get()).take()
                    };
                    self.state.store(DONE, Ordering::Release);
                    if let Some(first) = first {
                        first.unpark();
                    }
                }
                _ if looks < LOOKS => {
                    looks += 1;
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

    /// Both halves are done when the call returns, again and again, also after the second thread has slept.
    #[test]
    fn both_halves_are_done() {
        let mut pair = Pair::new().expect("a thread");
        for round in 0..2000u64 {
            if round % 500 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            let mut values = vec![0u64; 100];
            let (a, b) = values.split_at_mut(50);
            pair.both(
                || a.iter_mut().for_each(|v| *v = round),
                || b.iter_mut().for_each(|v| *v = 2 * round),
            );
            assert!(values[..50].iter().all(|v| *v == round));
            assert!(values[50..].iter().all(|v| *v == 2 * round));
        }
    }

    /// A panic of the second half is one of the caller, and the pair goes on working.
    #[test]
    fn panics_come_back() {
        let mut pair = Pair::new().expect("a thread");
        let caught = catch_unwind(AssertUnwindSafe(|| pair.both(|| {}, || panic!("half"))));
        assert!(caught.is_err());
        let mut done = false;
        pair.both(|| {}, || done = true);
        assert!(done);
    }
}
