//! The meaning of every operation on `f64`, shared by all backends.
//!
//! All backends give the same bits because they share this file: the interpreter inlines these functions, and machine
//! code either uses the same IEEE operation or calls the `extern "C"` wrappers at the end.
//!
//! Conventions, where IEEE 754 or MLS 3.6 leaves a choice:
//! * A number is *true* if it is not equal to zero; NaN is therefore true. Relations follow Rust's operators: every
//!   relation with a NaN is false, except `Ne`, which is true.
//! * `Min` and `Max` ignore a NaN if the other argument is a number, as `f64::min` does; of two zeros of different
//!   sign they give the second argument (`f64::min` does not define which).
//! * `Sign` is `if x > 0 then 1 else if x < 0 then -1 else 0` (MLS 3.6 §3.7.1), hence 0 for both zeros and for NaN.
//! * No operation is fused or reassociated. Only the sign and payload of a NaN result are unspecified; no operation
//!   turns them into a number.

use crate::kernel::{Binary, Store, Unary};

/// Value of a truth as a number.
#[inline(always)]
pub fn number(truth: bool) -> f64 {
    if truth { 1.0 } else { 0.0 }
}

/// Applies a function of one argument.
#[inline(always)]
pub fn unary(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Not => number(x == 0.0),
        Unary::Abs => x.abs(),
        Unary::Sign => number(x > 0.0) - number(x < 0.0),
        Unary::Sqrt => x.sqrt(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Trunc => x.trunc(),
        Unary::Sin => sin(x),
        Unary::Cos => cos(x),
        Unary::Tan => tan(x),
        Unary::Asin => asin(x),
        Unary::Acos => acos(x),
        Unary::Atan => atan(x),
        Unary::Sinh => sinh(x),
        Unary::Cosh => cosh(x),
        Unary::Tanh => tanh(x),
        Unary::Exp => exp(x),
        Unary::Ln => ln(x),
        Unary::Log10 => log10(x),
    }
}

/// Applies a function of two arguments.
#[inline(always)]
pub fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => pow(a, b),
        Binary::Min => min(a, b),
        Binary::Max => max(a, b),
        Binary::Atan2 => atan2(a, b),
        Binary::Mod => a - (a / b).floor() * b,
        Binary::Rem => a - (a / b).trunc() * b,
        Binary::Lt => number(a < b),
        Binary::Le => number(a <= b),
        Binary::Gt => number(a > b),
        Binary::Ge => number(a >= b),
        Binary::Eq => number(a == b),
        Binary::Ne => number(a != b),
        Binary::And => number((a != 0.0) & (b != 0.0)),
        Binary::Or => number((a != 0.0) | (b != 0.0)),
    }
}

/// `if c <> 0 then a else b`
#[inline(always)]
pub fn select(c: f64, a: f64, b: f64) -> f64 {
    if c != 0.0 { a } else { b }
}

/// The new content of an output whose present content is `old`.
#[inline(always)]
pub fn combine(store: Store, old: f64, value: f64) -> f64 {
    match store {
        Store::Set => value,
        Store::Add => old + value,
        Store::Mul => old * value,
        Store::Min => min(old, value),
        Store::Max => max(old, value),
    }
}

/// Value of a counter in repetition `j`.
#[inline(always)]
pub fn counter(start: f64, step: f64, j: usize) -> f64 {
    start + step * j as f64
}

#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    // Written so that both the choice between zeros and the treatment of NaN are defined.
    #[allow(clippy::eq_op, clippy::nonminimal_bool)]
    if (a < b) | (b != b) { a } else { b }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    #[allow(clippy::eq_op, clippy::nonminimal_bool)]
    if (a > b) | (b != b) { a } else { b }
}

macro_rules! wrappers {
    ($($name:ident => $method:ident,)*) => { $(
        #[doc = concat!("`f64::", stringify!($method), "`, callable from machine code.")]
        pub extern "C" fn $name(x: f64) -> f64 { x.$method() }
    )* };
}

wrappers! {
    sin => sin, cos => cos, tan => tan, asin => asin, acos => acos, atan => atan,
    sinh => sinh, cosh => cosh, tanh => tanh, exp => exp, ln => ln, log10 => log10,
    floor => floor, ceil => ceil, trunc => trunc,
}

/// `f64::powf`, callable from machine code.
pub extern "C" fn pow(a: f64, b: f64) -> f64 {
    a.powf(b)
}

/// `f64::atan2`, callable from machine code.
pub extern "C" fn atan2(a: f64, b: f64) -> f64 {
    a.atan2(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_for_nan_and_signed_zero() {
        let nan = f64::NAN;
        assert_eq!(binary(Binary::Min, nan, 1.0), 1.0);
        assert_eq!(binary(Binary::Min, 1.0, nan), 1.0);
        assert_eq!(binary(Binary::Max, nan, -1.0), -1.0);
        assert!(binary(Binary::Max, nan, nan).is_nan());
        assert!(binary(Binary::Min, 0.0, -0.0).is_sign_negative());
        assert!(binary(Binary::Min, -0.0, 0.0).is_sign_positive());
        assert_eq!(binary(Binary::Lt, nan, 1.0), 0.0);
        assert_eq!(binary(Binary::Ne, nan, nan), 1.0);
        assert_eq!(unary(Unary::Sign, -0.0).to_bits(), 0.0f64.to_bits());
        assert_eq!(unary(Unary::Sign, -3.0), -1.0);
        assert_eq!(unary(Unary::Not, nan), 0.0);
        assert_eq!(select(nan, 1.0, 2.0), 1.0);
    }

    #[test]
    fn modelica_mod_and_rem() {
        // MLS 3.6 §3.7.1: mod(3,1.4)=0.2, mod(-3,1.4)=1.2, mod(3,-1.4)=-1.2; rem(-3,1.4)=-0.2
        assert!((binary(Binary::Mod, 3.0, 1.4) - 0.2).abs() < 1e-15);
        assert!((binary(Binary::Mod, -3.0, 1.4) - 1.2).abs() < 1e-15);
        assert!((binary(Binary::Mod, 3.0, -1.4) + 1.2).abs() < 1e-15);
        assert!((binary(Binary::Rem, -3.0, 1.4) + 0.2).abs() < 1e-15);
    }
}
