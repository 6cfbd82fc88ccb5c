//! Groups of four numbers and a macro that compiles a loop over them for two instruction sets.
//!
//! The arithmetic is written lane by lane, so that the result does not depend on the width of the registers: no
//! reassociation, no fused multiply-add.

/// Numbers per group.
pub(crate) const LANES: usize = 4;

/// Four numbers, for the compiler to put into vector registers.
#[derive(Clone, Copy)]
pub(crate) struct Quad([f64; LANES]);

impl Quad {
    pub const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub fn all(v: f64) -> Self {
        Self([v; LANES])
    }

    /// # Safety
    /// `i + 4 <= v.len()`.
    #[inline(always)]
    pub unsafe fn load(v: &[f64], i: usize) -> Self {
        // SAFETY: by the contract four numbers follow.
        Self(unsafe { v.as_ptr().add(i).cast::<[f64; LANES]>().read_unaligned() })
    }

    /// # Safety
    /// `i + 4 <= v.len()`.
    #[inline(always)]
    pub unsafe fn store(self, v: &mut [f64], i: usize) {
        // SAFETY: by the contract there is room for four numbers.
        unsafe {
            v.as_mut_ptr()
                .add(i)
                .cast::<[f64; LANES]>()
                .write_unaligned(self.0)
        }
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self([
            f(self.0[0], other.0[0]),
            f(self.0[1], other.0[1]),
            f(self.0[2], other.0[2]),
            f(self.0[3], other.0[3]),
        ])
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        self.zip(self, |a, _| a.abs())
    }

    #[inline(always)]
    pub fn sum(self) -> f64 {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }
}

impl std::ops::Add for Quad {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl std::ops::Sub for Quad {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl std::ops::Mul for Quad {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl std::ops::Div for Quad {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

/// Compiles a function twice, for the base instruction set and for AVX2, and chooses at run time.
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident $(<const $k:ident: usize>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name $(<const $k: usize>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body $(<const $k: usize>)? ($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn wide $(<const $k: usize>)? ($($arg: $ty),*) $(-> $ret)? {
                    body $(::<$k>)? ($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the feature.
                    return unsafe { wide $(::<$k>)? ($($arg),*) };
                }
            }
            body $(::<$k>)? ($($arg),*)
        }
    };
}

pub(crate) use vectorised;
