//! Newton corrections: error weights, norms, and what a correction does to y and y'.

use super::whole;
use crate::bdf::difference_rows::{DifferenceRow, DifferenceRows};
use crate::bdf::simd::{F64x4, LANES, vectorised};
use crate::parallel::in_parts;
use acausal_cpu::{Shared, Team};
use std::ops::Range;

/// Absolute tolerances: one for all or one each.
#[derive(Clone, Copy)]
pub enum Tolerance<'a> {
    Uniform(f64),
    Each(&'a [f64]),
}

/// Error weights `1 / (rtol * |y| + atol)` of a solution.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    pub y: &'a [f64],
    pub rtol: f64,
    pub atol: Tolerance<'a>,
}

impl Weights<'_> {
    fn len(&self) -> usize {
        match self.atol {
            Tolerance::Uniform(_) => self.y.len(),
            Tolerance::Each(a) => self.y.len().min(a.len()),
        }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> f64 {
        let atol = match self.atol {
            Tolerance::Uniform(a) => a,
            Tolerance::Each(a) => a[i],
        };
        1.0 / (self.rtol * self.y[i].abs() + atol)
    }

    /// # Safety
    /// `i + 4 <= self.len()`.
    #[inline(always)]
    unsafe fn load<Q: F64x4>(&self, i: usize) -> Q {
        // SAFETY: by the contract four numbers follow in both vectors.
        let (y, atol) = unsafe {
            let atol = match self.atol {
                Tolerance::Uniform(a) => Q::all(a),
                Tolerance::Each(a) => Q::load(a, i),
            };
            (Q::load(self.y, i), atol)
        };
        Q::all(1.0) / (Q::all(self.rtol) * y.abs() + atol)
    }
}

/// Applies the correction `c = scale * d`: `e (+)= c`, `y += c`, `yp += cj * c`.
pub fn correct(
    team: Option<&mut Team>,
    first: bool,
    (scale, cj): (f64, f64),
    d: &[f64],
    [e, y, yp]: [&mut [f64]; 3],
) {
    let corrected = [e, y, yp].map(Shared::new);
    in_parts(team, (d.len(), 7), |range| {
        // SAFETY: ranges are apart.
        let [e, y, yp] = corrected.map(|v| unsafe { v.part(range.clone()) });
        correct_part(first, scale, cj, &d[range], e, y, yp)
    });
}

vectorised! {
/// [`correct`] for a part of the unknowns.
pub fn correct_part(
    first: bool,
    scale: f64,
    cj: f64,
    d: &[f64],
    e: &mut [f64],
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = d.len();
    assert!(e.len() == n && y.len() == n && yp.len() == n);
    let (scales, cjs) = (Q::all(scale), Q::all(cj));
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let c = scales * Q::load(d, i);
            let total = if first { c } else { Q::load(e, i) + c };
            let value = Q::load(y, i) + c;
            let slope = Q::load(yp, i) + cjs * c;
            total.store(e, i);
            value.store(y, i);
            slope.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let c = scale * d[i];
        e[i] = if first { c } else { e[i] + c };
        y[i] += c;
        yp[i] += cj * c;
    }
}
}

/// The correction of a step, `earlier + scale * last`.
#[derive(Clone, Copy)]
pub struct Correction<'a> {
    /// What was applied before the last Newton iteration, if there were several.
    pub earlier: Option<&'a [f64]>,
    pub scale: f64,
    pub last: &'a [f64],
}

impl<'a> Correction<'a> {
    fn part(self, range: Range<usize>) -> Correction<'a> {
        Correction {
            earlier: self.earlier.map(|e| &e[range.clone()]),
            last: &self.last[range],
            ..self
        }
    }

    /// # Safety
    /// `i + 4` is at most the length of both vectors.
    #[inline(always)]
    pub(super) unsafe fn load<Q: F64x4>(&self, i: usize) -> Q {
        // SAFETY: by the contract four numbers follow in both vectors.
        unsafe {
            let last = Q::all(self.scale) * Q::load(self.last, i);
            match self.earlier {
                Some(e) => Q::load(e, i) + last,
                None => last,
            }
        }
    }

    /// Of one variable.
    pub fn at(&self, i: usize) -> f64 {
        let last = self.scale * self.last[i];
        self.earlier.map_or(last, |e| e[i] + last)
    }
}

/// The differences of a history that the error estimates of a step need.
#[derive(Clone, Copy)]
pub struct Differences<'a> {
    pub phi: &'a DifferenceRows,
    pub k: usize,
    /// With the one of order k + 2.
    pub raise: bool,
}

/// Weighted sums of squares.
#[derive(Clone, Copy, Default)]
pub struct Sums {
    /// Behind the error estimates of a step of order k with correction e, over the tested variables: `e`, `e + phi[k]`,
    /// `e + phi[k] + phi[k-1]`, `e - phi[k+1]`.
    pub errors: [f64; 4],
    /// Of the last part of the correction over all variables.
    pub last: f64,
}

impl std::ops::Add for Sums {
    type Output = Sums;

    fn add(self, other: Sums) -> Sums {
        Sums {
            errors: std::array::from_fn(|k| self.errors[k] + other.errors[k]),
            last: self.last + other.last,
        }
    }
}

vectorised! {
/// All sums of a piece of a correction in one pass.
pub fn sums(
    range: Range<usize>,
    correction: Correction<'_>,
    w: Weights<'_>,
    mask: Option<&[f64]>,
    differences: Differences<'_>,
) -> Sums {
    let correction = correction.part(range.clone());
    let Correction { earlier, scale, last: d } = correction;
    let n = d.len();
    assert!(w.len() == n && mask.is_none_or(|m| m.len() == n));
    assert!(earlier.is_none_or(|e| e.len() == n));
    let Differences { phi, k, raise } = differences;
    // A row that an order does not need is replaced by d itself; its sum is then not used.
    let row = |needed: bool, j: usize| match needed {
        true => phi.row(j).part(range.clone()),
        false => DifferenceRow::Wide(d),
    };
    let (lower, lowest, higher) = (row(k > 1, k), row(k > 2, k - 1), row(raise, k + 1));
    assert!(lower.len() == n && lowest.len() == n && higher.len() == n);
    // Otherwise the last part is the whole and the first error.
    let apart = earlier.is_some() || mask.is_some();
    let scales = Q::all(scale);
    let zero = Q::all(0.0);
    let (mut s0, mut s1, mut s2, mut s3, mut sl) = (zero, zero, zero, zero, zero);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut e0 = scales * Q::load(d, i);
            let mut w = w.load::<Q>(i);
            if apart {
                let e = e0 * w;
                sl = sl + e * e;
            }
            if let Some(earlier) = earlier {
                e0 = Q::load(earlier, i) + e0;
            }
            if let Some(mask) = mask {
                w = w * Q::load(mask, i);
            }
            let e1 = e0 + lower.load::<Q>(i);
            let e2 = e1 + lowest.load::<Q>(i);
            let e3 = e0 - higher.load::<Q>(i);
            let (e0, e1, e2, e3) = (e0 * w, e1 * w, e2 * w, e3 * w);
            s0 = s0 + e0 * e0;
            s1 = s1 + e1 * e1;
            s2 = s2 + e2 * e2;
            s3 = s3 + e3 * e3;
        }
        i += LANES;
    }
    let mut errors = [s0.sum(), s1.sum(), s2.sum(), s3.sum()];
    let mut last = sl.sum();
    for i in end..n {
        let e0 = correction.at(i);
        let e1 = e0 + lower.at(i);
        let w = w.at(i);
        let tested = w * mask.map_or(1.0, |m| m[i]);
        for (sum, v) in errors.iter_mut().zip([e0, e1, e1 + lowest.at(i), e0 - higher.at(i)]) {
            *sum += (v * tested) * (v * tested);
        }
        let part = scale * d[i] * w;
        last += part * part;
    }
    if !apart {
        last = errors[0];
    }
    Sums { errors, last }
}
}
