//! Groups of four numbers and a macro that compiles a loop over them for two instruction sets.
//!
//! A group is an array, or a register of AVX2 where the processor has it. The instructions are chosen by hand: left to itself the compiler
//! builds groups across the variables of a loop instead of along its vectors, with a shuffle for each number (the pass with
//! all norms took three times as long). The arithmetic is that of single numbers, no reassociation and no fused
//! multiply-add, so that the result does not depend on the processor.

use std::ops::{Add, Div, Mul, Sub};

/// Numbers per group.
pub(crate) const LANES: usize = 4;

/// Four numbers.
pub(crate) trait F64x4:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn all(v: f64) -> Self;

    /// # Safety
    /// `i + 4 <= v.len()`.
    unsafe fn load(v: &[f64], i: usize) -> Self;

    /// # Safety
    /// `i + 4 <= v.len()`.
    unsafe fn store(self, v: &mut [f64], i: usize);

    /// From numbers of half the size.
    ///
    /// # Safety
    /// `i + 4 <= v.len()`.
    unsafe fn load_narrow(v: &[f32], i: usize) -> Self;

    /// To numbers of half the size, rounded to nearest.
    ///
    /// # Safety
    /// `i + 4 <= v.len()`.
    unsafe fn store_narrow(self, v: &mut [f32], i: usize);

    /// What [`F64x4::store_narrow`] would store.
    fn rounded(self) -> Self;

    fn abs(self) -> Self;

    fn lanes(self) -> [f64; LANES];

    /// In the same order for all kinds of groups.
    #[inline(always)]
    fn sum(self) -> f64 {
        let v = self.lanes();
        (v[0] + v[2]) + (v[1] + v[3])
    }
}

/// Four numbers for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; LANES]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }
}

impl F64x4 for Portable {
    #[inline(always)]
    fn all(v: f64) -> Self {
        Self([v; LANES])
    }

    #[inline(always)]
    unsafe fn load(v: &[f64], i: usize) -> Self {
        // SAFETY: by the contract four numbers follow.
        Self(unsafe { v.as_ptr().add(i).cast::<[f64; LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, v: &mut [f64], i: usize) {
        let place = v.as_mut_ptr();
        // SAFETY: by the contract there is room for four numbers.
        unsafe { place.add(i).cast::<[f64; LANES]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn load_narrow(v: &[f32], i: usize) -> Self {
        // SAFETY: by the contract four numbers follow.
        let narrow = unsafe { v.as_ptr().add(i).cast::<[f32; LANES]>().read_unaligned() };
        Self(narrow.map(f64::from))
    }

    #[inline(always)]
    unsafe fn store_narrow(self, v: &mut [f32], i: usize) {
        let (place, narrow) = (v.as_mut_ptr(), self.0.map(|v| v as f32));
        // SAFETY: by the contract there is room for four numbers.
        unsafe { place.add(i).cast::<[f32; LANES]>().write_unaligned(narrow) }
    }

    #[inline(always)]
    fn rounded(self) -> Self {
        Self(self.0.map(|v| f64::from(v as f32)))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.zip(self, |a, _| a.abs())
    }

    #[inline(always)]
    fn lanes(self) -> [f64; LANES] {
        self.0
    }
}

/// Four numbers in a register. To be made in functions with the feature AVX2 only ([`vectorised`]).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx(std::arch::x86_64::__m256d);

#[cfg(target_arch = "x86_64")]
impl F64x4 for Avx {
    #[inline(always)]
    fn all(v: f64) -> Self {
        // SAFETY: the processor has the feature.
        Self(unsafe { std::arch::x86_64::_mm256_set1_pd(v) })
    }

    #[inline(always)]
    unsafe fn load(v: &[f64], i: usize) -> Self {
        // SAFETY: by the contract four numbers follow.
        Self(unsafe { std::arch::x86_64::_mm256_loadu_pd(v.as_ptr().add(i)) })
    }

    #[inline(always)]
    unsafe fn store(self, v: &mut [f64], i: usize) {
        // SAFETY: by the contract there is room for four numbers.
        unsafe { std::arch::x86_64::_mm256_storeu_pd(v.as_mut_ptr().add(i), self.0) }
    }

    #[inline(always)]
    unsafe fn load_narrow(v: &[f32], i: usize) -> Self {
        use std::arch::x86_64::{_mm_loadu_ps, _mm256_cvtps_pd};
        // SAFETY: by the contract four numbers follow.
        Self(unsafe { _mm256_cvtps_pd(_mm_loadu_ps(v.as_ptr().add(i))) })
    }

    #[inline(always)]
    unsafe fn store_narrow(self, v: &mut [f32], i: usize) {
        use std::arch::x86_64::{_mm_storeu_ps, _mm256_cvtpd_ps};
        // SAFETY: by the contract there is room for four numbers.
        unsafe { _mm_storeu_ps(v.as_mut_ptr().add(i), _mm256_cvtpd_ps(self.0)) }
    }

    #[inline(always)]
    fn rounded(self) -> Self {
        use std::arch::x86_64::{_mm256_cvtpd_ps, _mm256_cvtps_pd};
        // SAFETY: the processor has the feature.
        Self(unsafe { _mm256_cvtps_pd(_mm256_cvtpd_ps(self.0)) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: the processor has the feature. The sign is the highest bit.
        Self(unsafe {
            let sign = std::arch::x86_64::_mm256_set1_pd(-0.0);
            std::arch::x86_64::_mm256_andnot_pd(sign, self.0)
        })
    }

    #[inline(always)]
    fn lanes(self) -> [f64; LANES] {
        let mut v = [0.0; LANES];
        // SAFETY: there is room for four numbers.
        unsafe { self.store(&mut v, 0) };
        v
    }
}

macro_rules! arithmetic {
    ($($op:ident $f:ident $wide:ident;)*) => {$(
        impl $op for Portable {
            type Output = Self;
            #[inline(always)]
            fn $f(self, other: Self) -> Self {
                self.zip(other, $op::$f)
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl $op for Avx {
            type Output = Self;
            #[inline(always)]
            fn $f(self, other: Self) -> Self {
                // SAFETY: the processor has the feature.
                Self(unsafe { std::arch::x86_64::$wide(self.0, other.0) })
            }
        }
    )*};
}

arithmetic! {
    Add add _mm256_add_pd;
    Sub sub _mm256_sub_pd;
    Mul mul _mm256_mul_pd;
    Div div _mm256_div_pd;
}

/// Compiles a function twice, for any processor and for AVX2, and chooses at run time. In its body `Q` is the kind of [`F64x4`].
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident $(<$(const $k:ident: usize),+>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name $(<$(const $k: usize),+>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<Q: $crate::bdf::simd::F64x4 $($(, const $k: usize)+)?> ($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                use $crate::bdf::simd::Avx;

                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn with_avx $(<$(const $k: usize),+>)? ($($arg: $ty),*) $(-> $ret)? {
                    body::<Avx $($(, $k)+)?> ($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the feature.
                    return unsafe { with_avx $(::<$($k),+>)? ($($arg),*) };
                }
            }
            body::<$crate::bdf::simd::Portable $($(, $k)+)?> ($($arg),*)
        }
    };
}

pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    vectorised! {
        fn mixed(a: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
            // SAFETY: four numbers each.
            unsafe {
                let (a, b) = (Q::load(a, 0), Q::load(b, 0));
                let v = (a + b) * (a - b).abs() / (Q::all(3.0) + b * b);
                v.store(out, 0);
                v.sum()
            }
        }
    }

    #[test]
    fn groups_compute_like_single_numbers() {
        // An infinite result, but no NaN: whether that has a sign is left to the compiler.
        let (a, b) = ([0.1, -7.0, 1e300, f64::INFINITY], [-0.7, 5.5, 1e-3, 3.3]);
        let mut out = [0.0; LANES];
        let sum = mixed(&a, &b, &mut out);
        let one = |k: usize| (a[k] + b[k]) * (a[k] - b[k]).abs() / (3.0 + b[k] * b[k]);
        let expected: [f64; LANES] = std::array::from_fn(one);
        assert_eq!(out.map(f64::to_bits), expected.map(f64::to_bits));
        let total = (expected[0] + expected[2]) + (expected[1] + expected[3]);
        assert_eq!(sum.to_bits(), total.to_bits());
        assert_eq!(Portable(out).sum().to_bits(), total.to_bits());
    }
}
