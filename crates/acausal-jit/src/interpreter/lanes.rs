//! The inner loops: one operation on many numbers.
//!
//! The operation is chosen outside the loop, so that each loop is a straight line which the compiler vectorises.

use crate::kernel::{Binary, Store, Unary};
use crate::math;
use crate::place::{AddressRecord, Motion};

/// `to[k] = f(a[k])`
pub fn unary(f: Unary, a: &[f64], to: &mut [f64]) {
    macro_rules! choose {
        ($($name:ident)*) => {
            match f { $(Unary::$name => map(a, to, |x| math::unary(Unary::$name, x)),)* }
        };
    }
    choose!(Neg Not Abs Sign Sqrt Floor Ceil Trunc Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Ln Log10);
}

/// `to[k] = f(a[k], b[k])`
pub fn binary(f: Binary, a: &[f64], b: &[f64], to: &mut [f64]) {
    macro_rules! choose {
        ($($name:ident)*) => {
            match f { $(Binary::$name => zip(a, b, to, |x, y| math::binary(Binary::$name, x, y)),)* }
        };
    }
    choose!(Add Sub Mul Div Pow Min Max Atan2 Mod Rem Lt Le Gt Ge Eq Ne And Or);
}

/// `to[k] = if c[k] <> 0 then a[k] else b[k]`
pub fn select(c: &[f64], a: &[f64], b: &[f64], to: &mut [f64]) {
    for (((to, c), a), b) in to.iter_mut().zip(c).zip(a).zip(b) {
        *to = math::select(*c, *a, *b);
    }
}

/// Stores one value after the other in the same element, which held `old`; gives what it holds at the end.
pub fn accumulate(store: Store, old: f64, values: &[f64]) -> f64 {
    macro_rules! choose {
        ($($name:ident)*) => {
            match store {
                $(Store::$name => values.iter().fold(old, |old, new| math::combine(Store::$name, old, *new)),)*
            }
        };
    }
    choose!(Set Add Mul Min Max)
}

/// The values of a counter from repetition `start`.
pub fn count(record: &AddressRecord, start: usize, to: &mut [f64]) {
    let (first, step) = (f64::from_bits(record.offset), f64::from_bits(record.stride));
    for (lane, to) in to.iter_mut().enumerate() {
        *to = math::counter(first, step, start + lane);
    }
}

/// The elements of a slot from repetition `start`.
///
/// # Safety
/// The record must have been placed in the bank at `base` for all these repetitions, and `to` must not be in a bank.
pub unsafe fn gather(
    base: *const f64,
    record: &AddressRecord,
    motion: Motion,
    start: usize,
    to: &mut [f64],
) {
    // SAFETY: required of the caller.
    unsafe {
        if motion == Motion::Table {
            let table = std::slice::from_raw_parts(record.table.add(start), to.len());
            for (to, element) in to.iter_mut().zip(table) {
                *to = *base.add(*element as usize);
            }
        } else {
            let stride = record.stride as isize;
            let first = base.byte_offset(
                (record.offset as isize).wrapping_add(stride.wrapping_mul(start as isize)),
            );
            for (lane, to) in to.iter_mut().enumerate() {
                *to = *first.byte_offset(stride * lane as isize);
            }
        }
    }
}

#[inline(always)]
fn map(a: &[f64], to: &mut [f64], f: impl Fn(f64) -> f64) {
    for (to, a) in to.iter_mut().zip(a) {
        *to = f(*a);
    }
}

#[inline(always)]
fn zip(a: &[f64], b: &[f64], to: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = f(*a, *b);
    }
}
