//! Products that are subtracted with one rounding, where the processor has an instruction for it.
//!
//! Each row of a substitution waits for the one before it: `y[i] = b[i]/d[i] - l[i]*y[i-1]`. A product and a difference take twice the time of
//! one instruction that does both, and that time is all there is to the loop. On processors without it results may differ in their last bits.

/// A way to compute `y - a*b`.
pub(super) trait SubtractProduct {
    fn subtract(y: f64, a: f64, b: f64) -> f64;
}

/// With two roundings.
pub(super) struct TwoRoundings;

impl SubtractProduct for TwoRoundings {
    #[inline(always)]
    fn subtract(y: f64, a: f64, b: f64) -> f64 {
        y - a * b
    }
}

/// With one, by one instruction.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) struct OneRounding;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl SubtractProduct for OneRounding {
    #[inline(always)]
    fn subtract(y: f64, a: f64, b: f64) -> f64 {
        (-a).mul_add(b, y)
    }
}

/// Compiles a function for processors with and without the instruction, and chooses at run time. In its body `F` is the way to [`SubtractProduct`].
macro_rules! fused {
    ($(#[$doc:meta])* $vis:vis fn $name:ident <$(const $k:ident: usize),+> ($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block) => {
        $(#[$doc])*
        $vis fn $name <$(const $k: usize),+> ($($arg: $ty),*) -> $ret {
            #[inline(always)]
            fn body<F: $crate::linear::band::fused::SubtractProduct, $(const $k: usize),+> ($($arg: $ty),*) -> $ret $body

            #[cfg(target_arch = "aarch64")]
            return body::<$crate::linear::band::fused::OneRounding, $($k),+>($($arg),*);
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx,fma")]
                fn once<$(const $k: usize),+> ($($arg: $ty),*) -> $ret {
                    body::<$crate::linear::band::fused::OneRounding, $($k),+>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the features.
                    return unsafe { once::<$($k),+>($($arg),*) };
                }
            }
            #[cfg(not(target_arch = "aarch64"))]
            body::<$crate::linear::band::fused::TwoRoundings, $($k),+>($($arg),*)
        }
    };
}

pub(super) use fused;
