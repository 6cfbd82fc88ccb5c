//! What all targets share: the stack that the command has, and what an input may cost.
//!
//! A panic, more than [`MOST_BYTES`] of memory at a time and more processor time than the target allows are findings: each ends in an
//! abort, which AFL++ keeps together with the input. Processor time and not that on the wall, for the fuzzer runs in the idle cycles
//! of a busy machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acausal_expr::Limits;

/// As in the command.
const STACK_BYTES: usize = 256 << 20;
/// Four times what [`limits`] allows the passes to foresee; a pass may hold some copies of what it was allowed.
const MOST_BYTES: usize = 1 << 30;

/// Runs a target: every input may take `most` of processor time.
pub fn run(most: Duration, check: impl Fn(&[u8]) + RefUnwindSafe + Send + 'static) {
    let target = move || {
        afl::fuzz(true, |data: &[u8]| {
            let before = processor_time();
            check(data);
            let took = processor_time().saturating_sub(before);
            assert!(took <= most, "took {took:?} of processor time");
        });
        // The fork server has copied this thread only, there is no main thread that could be joined.
        std::process::exit(0);
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let joined = thread.spawn(target).map(std::thread::JoinHandle::join);
    panic!("the target ended: {joined:?}");
}

/// What a model may cost, far below the limits of the command, so that an input that is refused is refused soon.
pub fn limits() -> Limits {
    Limits {
        memory: 256 << 20,
        evaluation_steps: 200_000,
        instances: 20_000,
    }
}

/// Of all threads of this process.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place is valid and the clock exists on every system that AFL++ supports.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
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
