//! What all targets share: the stack that the command has, and what an input may cost.
//!
//! A panic, something wrong that the target returns, more than [`MOST_BYTES`] of memory at a time and more processor time than the target allows are
//! findings: each ends the process by a signal, which AFL++ keeps together with the input. Processor time and not that on the wall, for the fuzzer runs in the idle cycles
//! of a busy machine, and by a timer, for a loop without end does not come back to be measured.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acausal_expr::Limits;

#[path = "../../crates/acausal/tests/all/common/fuzzed.rs"]
pub mod fuzzed;
#[path = "../../crates/acausal-syntax/tests/common/mutate.rs"]
pub mod mutate;
#[path = "../../crates/acausal/tests/all/common/tables.rs"]
pub mod tables;
#[path = "../../crates/acausal/tests/all/common/whole.rs"]
pub mod whole;

/// As in the command.
const STACK_BYTES: usize = 256 << 20;
/// Four times what [`limits`] allows the passes to foresee; a pass may hold some copies of what it was allowed.
const MOST_BYTES: usize = 1 << 30;
/// Names are interned and stay, so a process that has seen many inputs is replaced before what stays counts against [`MOST_BYTES`].
const MOST_THAT_STAYS: usize = MOST_BYTES / 16;

/// Runs a target: every input may take `most` of processor time.
pub fn run(
    most: Duration,
    check: impl Fn(&[u8]) -> Result<(), String> + RefUnwindSafe + Send + 'static,
) {
    let target = move || {
        afl::fuzz(true, |data: &[u8]| {
            end_after(most);
            if let Err(reason) = check(data) {
                panic!("{reason}");
            }
            end_after(Duration::ZERO);
            if BYTES.load(Ordering::Relaxed) > MOST_THAT_STAYS {
                std::process::exit(0);
            }
        });
        // The fork server has copied this thread only, there is no main thread that could be joined.
        std::process::exit(0);
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let joined = thread.spawn(target).map(std::thread::JoinHandle::join);
    panic!("the target ended: {joined:?}");
}

/// Lets SIGPROF end this process after so much processor time of all its threads; never, if it is zero.
fn end_after(time: Duration) {
    let never = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let timer = libc::itimerval {
        it_interval: never,
        it_value: libc::timeval {
            tv_sec: time.as_secs() as libc::time_t,
            tv_usec: 0,
        },
    };
    // SAFETY: the timer is valid, the old one is not asked for, and the clock exists on every system that AFL++ supports.
    let set = unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
    assert_eq!(set, 0, "no timer");
}

/// What a model may cost, far below the limits of the command, so that an input that is refused is refused soon.
pub fn limits() -> Limits {
    Limits {
        memory: 256 << 20,
        evaluation_steps: 200_000,
        instances: 20_000,
    }
}

/// The system's allocator, which aborts beyond [`MOST_BYTES`].
struct Bounded;

static BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

// SAFETY: every call goes to the system's allocator unchanged, or does not return.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(place, layout, size) }
    }
}

fn take(size: usize) {
    if BYTES.fetch_add(size, Ordering::Relaxed).saturating_add(size) > MOST_BYTES {
        std::process::abort();
    }
}
