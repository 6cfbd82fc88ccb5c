//! CPU time of the calling thread: the clock of the C programs, and one that other programs on the machine disturb
//! little. And that of all threads, for what is not done by one alone.

/// Seconds of CPU time that this thread has used.
pub(crate) fn seconds() -> f64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    time(CLOCK_THREAD_CPUTIME_ID)
}

/// Seconds of CPU time that all threads of this process have used.
pub(crate) fn all_seconds() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    time(CLOCK_PROCESS_CPUTIME_ID)
}

fn time(clock: i32) -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the structure has the layout of `struct timespec` on 64-bit Linux and lives through the call.
    unsafe { clock_gettime(clock, &mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}
