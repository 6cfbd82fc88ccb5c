//! Numbers below the normal range, as zeros.
//!
//! What has not been reached yet by a wave or by heat is not zero in numbers: an elimination multiplies by a factor below one from
//! cell to cell, until values are subnormal (below 2.2e-308), and there rounding to nearest stops the decay: `0.7 * 4.9e-324` is
//! `4.9e-324` again. So all cells behind have the smallest number there is, and many processors are slow with them.
//! On one such machine the ladder of 100,000 cells took seven times as long as it does with zeros.
//!
//! [`FlushSubnormals`] sets the bits of the processor that make subnormal operands and results zeros (x86-64: DAZ and FTZ of MXCSR;
//! AArch64: FZ of FPCR) and takes them back when it is dropped. Elsewhere it does nothing.
//!
//! Rust's compiler takes the default mode for granted: where it computes something beforehand or moves an operation across the
//! switch, a subnormal number may stand where a zero is expected, or the other way round. Nothing that concerns memory depends on either.

use std::marker::PhantomData;

/// As long as this lives, subnormal numbers count as zeros on the thread that made it.
#[derive(Debug)]
pub struct FlushSubnormals {
    before: Mode,
    /// The mode belongs to a thread.
    thread: PhantomData<*const ()>,
}

impl FlushSubnormals {
    /// Begins now.
    #[must_use = "it ends when it is dropped"]
    pub fn begin() -> FlushSubnormals {
        let before = Mode::current();
        before.with_zeros().set();
        FlushSubnormals {
            before,
            thread: PhantomData,
        }
    }
}

impl Drop for FlushSubnormals {
    fn drop(&mut self) {
        self.before.set();
    }
}

/// How a thread computes with floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(Register);

#[cfg(target_arch = "x86_64")]
type Register = u32;
#[cfg(not(target_arch = "x86_64"))]
type Register = u64;

#[cfg(target_arch = "x86_64")]
impl Mode {
    pub fn current() -> Mode {
        let mut bits: u32 = 0;
        // SAFETY: every x86-64 processor has this register; four bytes are written to `bits`.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut bits, options(nostack)) };
        Mode(bits)
    }

    fn with_zeros(self) -> Mode {
        const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
        const FLUSH_TO_ZERO: u32 = 1 << 15;
        Mode(self.0 | DENORMALS_ARE_ZEROS | FLUSH_TO_ZERO)
    }

    pub fn set(self) {
        // SAFETY: the bits are those of the register, but for two that all x86-64 processors know. What the mode does is said above.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &self.0, options(nostack, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
impl Mode {
    pub fn current() -> Mode {
        let bits: u64;
        // SAFETY: every AArch64 processor has this register.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) bits, options(nomem, nostack)) };
        Mode(bits)
    }

    fn with_zeros(self) -> Mode {
        const FLUSH_TO_ZERO: u64 = 1 << 24;
        Mode(self.0 | FLUSH_TO_ZERO)
    }

    pub fn set(self) {
        // SAFETY: the bits are those of the register, but for one that all AArch64 processors know. What the mode does is said above.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Mode {
    pub fn current() -> Mode {
        Mode(0)
    }

    fn with_zeros(self) -> Mode {
        self
    }

    pub fn set(self) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::Team;
    use std::hint::black_box;

    /// Valgrind computes subnormal numbers whatever the processor is told, so these tests say nothing there. It is seen by the library that it loads into its programs.
    fn under_valgrind() -> bool {
        std::env::var("LD_PRELOAD").is_ok_and(|loaded| loaded.contains("vgpreload"))
    }

    fn half_of_the_smallest_normal() -> f64 {
        black_box(f64::MIN_POSITIVE) * black_box(0.5)
    }

    #[test]
    fn tiny_results_are_zero_until_it_is_dropped() {
        if under_valgrind() {
            return;
        }
        assert!(half_of_the_smallest_normal() > 0.0);
        {
            let _outer = FlushSubnormals::begin();
            assert_eq!(half_of_the_smallest_normal().to_bits(), 0);
            drop(FlushSubnormals::begin());
            assert_eq!(half_of_the_smallest_normal().to_bits(), 0);
        }
        assert!(half_of_the_smallest_normal() > 0.0);
    }

    /// The second thread computes as the one that asks it.
    #[test]
    fn the_second_thread_computes_as_the_first() {
        if under_valgrind() {
            return;
        }
        let mut team = Team::new(2).expect("a thread");
        let of = |team: &mut Team| {
            let (mut first, mut second) = (0.0, 0.0);
            team.both(
                || first = half_of_the_smallest_normal(),
                || second = half_of_the_smallest_normal(),
            );
            (first, second)
        };
        let with = {
            let _flush = FlushSubnormals::begin();
            of(&mut team)
        };
        assert_eq!((with.0.to_bits(), with.1.to_bits()), (0, 0));
        let without = of(&mut team);
        assert!(without.0 > 0.0 && without.1 > 0.0);
    }
}
