//! Fused vector loops of the integrator: each pass reads every vector it needs once.
//!
//! In a profile of a conventional implementation half of the time of a large problem goes into single-operation vector
//! passes (scale, add, norm). Here one pass takes the correction of the last step into the history, computes the weights,
//! rescales the history and predicts y and y'; one takes the norm of a Newton correction and those of all error estimates.
//! A correction that has to be followed by another one is applied in a pass of its own.
//!
//! Two operations in one pass are two loops over the same [`TILE`] of all vectors, which stays in the cache between them.
//!
//! Everything works on groups of four numbers ([`Quad`]) and sums run in four partial sums that are added in a fixed
//! order. On x86-64 with AVX2 the same code runs with wider registers; without fused multiply-add, so the results are
//! the same bit for bit.
//!
//! In the body of a loop all loads come before all stores. The vectors are large allocations that begin at the same place of a page, so
//! that a load of element i from one of them after a store of element i to another one agrees with it in the twelve bits by which
//! processors look for a store to wait for. (A precaution: the gain was smaller than what could be measured.)
//!
//! Invariant for the `unsafe` blocks: every slice has length `n`, asserted at the top of each function.

use super::quad::{LANES, Quad, vectorised};
use std::ops::Range;

/// Numbers of each vector that go through the loops of a pass at a time: ten vectors take 80 kB. (With 256 they would fit into the first
/// cache, but the processor, which fetches ahead along each vector, begins anew too often: 23 instead of 20 ns per unknown and step at
/// 10^6 unknowns, as much as without tiles.)
const TILE: usize = 1024;

/// The pieces of `0..n`, the last one first: the pass before has just been at the end of the vectors, and the residual that
/// follows begins with what is touched last here.
fn tiles(n: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..n).step_by(TILE).rev();
    starts.map(move |start| start..n.min(start + TILE))
}

/// Start of the incomplete group at the end.
#[inline(always)]
fn whole(n: usize) -> usize {
    n - n % LANES
}

/// Absolute tolerances: one for all or one each.
#[derive(Clone, Copy)]
pub(crate) enum Tolerance<'a> {
    Uniform(f64),
    Each(&'a [f64]),
}

impl<'a> Tolerance<'a> {
    fn part(self, range: Range<usize>) -> Tolerance<'a> {
        match self {
            Tolerance::Each(a) => Tolerance::Each(&a[range]),
            uniform => uniform,
        }
    }
}

vectorised! {
/// Error weights `1 / (rtol * |y| + atol)`.
pub(crate) fn weights(y: &[f64], rtol: f64, atol: Tolerance<'_>, w: &mut [f64]) {
    match atol {
        Tolerance::Uniform(a) => {
            for (w, y) in w.iter_mut().zip(y) {
                *w = 1.0 / (rtol * y.abs() + a);
            }
        }
        Tolerance::Each(a) => {
            for ((w, y), a) in w.iter_mut().zip(y).zip(a) {
                *w = 1.0 / (rtol * y.abs() + a);
            }
        }
    }
}
}

/// Sum of squares of `v[i] * w[i] * mask[i]`.
pub(crate) fn weighted_sum(v: &[f64], w: &[f64], mask: Option<&[f64]>) -> f64 {
    assert!(w.len() == v.len() && mask.is_none_or(|m| m.len() == v.len()));
    let square = |e: f64| e * e;
    match mask {
        None => v.iter().zip(w).map(|(v, w)| square(v * w)).sum(),
        Some(m) => v
            .iter()
            .zip(w)
            .zip(m)
            .map(|((v, w), m)| square(v * w * m))
            .sum(),
    }
}

/// How the history is rescaled and added up in a prediction.
#[derive(Clone, Copy)]
pub(crate) struct Prediction<'a> {
    /// `phi[j] *= scale[j]` for `j >= first_scaled`.
    pub first_scaled: usize,
    pub scale: &'a [f64],
    pub gamma: &'a [f64],
}

/// Predicts `y = sum phi[j]`, `yp = sum gamma[j] phi[j]` (j = 0..=k) after rescaling the history.
pub(crate) fn predict(
    phi: &mut [Vec<f64>],
    k: usize,
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    predict_part(phi, 0..y.len(), k, how, y, yp);
}

fn predict_part(
    phi: &mut [Vec<f64>],
    range: Range<usize>,
    k: usize,
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let (y, yp) = (&mut y[range.clone()], &mut yp[range.clone()]);
    match k {
        1 => predict_order::<2>(rows(phi, range), how, y, yp),
        2 => predict_order::<3>(rows(phi, range), how, y, yp),
        3 => predict_order::<4>(rows(phi, range), how, y, yp),
        4 => predict_order::<5>(rows(phi, range), how, y, yp),
        _ => predict_order::<6>(rows(phi, range), how, y, yp),
    }
}

/// A part of the first K rows of the history.
#[inline(always)]
fn rows<const K: usize>(phi: &mut [Vec<f64>], range: Range<usize>) -> [&mut [f64]; K] {
    let mut rows = phi.iter_mut();
    std::array::from_fn(|_| match rows.next() {
        Some(row) => &mut row[range.clone()],
        None => &mut [],
    })
}

vectorised! {
fn predict_order<const K1: usize>(
    p: [&mut [f64]; K1],
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    assert!(yp.len() == n && p.iter().all(|p| p.len() == n));
    let scaled = how.first_scaled < K1;
    let (mut c, mut g) = ([1.0; K1], [0.0; K1]);
    if scaled {
        c[how.first_scaled..].copy_from_slice(&how.scale[how.first_scaled..K1]);
    }
    g[1..].copy_from_slice(&how.gamma[1..K1]);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Quad; K1] = std::array::from_fn(|j| Quad::load(p[j], i));
            let mut value = row[0];
            let mut slope = Quad::ZERO;
            for j in 1..K1 {
                if scaled {
                    row[j] = Quad::all(c[j]) * row[j];
                }
                value = value + row[j];
                slope = slope + Quad::all(g[j]) * row[j];
            }
            if scaled {
                for j in 1..K1 {
                    row[j].store(p[j], i);
                }
            }
            value.store(y, i);
            slope.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let mut value = p[0][i];
        let mut slope = 0.0;
        for j in 1..K1 {
            p[j][i] *= c[j];
            value += p[j][i];
            slope += g[j] * p[j][i];
        }
        y[i] = value;
        yp[i] = slope;
    }
}
}

vectorised! {
/// Applies the correction `c = -factor * d`: `e (+)= c`, `y += c`, `yp += cj * c`; returns the weighted sum of squares
/// of c.
pub(crate) fn correct(
    first: bool,
    factor: f64,
    cj: f64,
    d: &[f64],
    w: &[f64],
    e: &mut [f64],
    y: &mut [f64],
    yp: &mut [f64],
) -> f64 {
    let n = d.len();
    assert!(w.len() == n && e.len() == n && y.len() == n && yp.len() == n);
    let negative = -factor;
    let (negatives, cjs) = (Quad::all(negative), Quad::all(cj));
    let mut sums = Quad::ZERO;
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let c = negatives * Quad::load(d, i);
            let s = c * Quad::load(w, i);
            sums = sums + s * s;
            let total = if first { c } else { Quad::load(e, i) + c };
            let value = Quad::load(y, i) + c;
            let slope = Quad::load(yp, i) + cjs * c;
            total.store(e, i);
            value.store(y, i);
            slope.store(yp, i);
        }
        i += LANES;
    }
    let mut sum = sums.sum();
    for i in end..n {
        let c = negative * d[i];
        e[i] = if first { c } else { e[i] + c };
        y[i] += c;
        yp[i] += cj * c;
        let s = c * w[i];
        sum += s * s;
    }
    sum
}
}

/// Weighted sums of squares of a correction.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums {
    /// Behind the error estimates of a step of order k, over the tested variables: `e`, `e + phi[k]`,
    /// `e + phi[k] + phi[k-1]`, `e - phi[k+1]`.
    pub errors: [f64; 4],
    /// Of `e` over all variables.
    pub all: f64,
}

vectorised! {
/// All sums of the correction `e = scale * d` in one pass; the last error only with `raise`.
pub(crate) fn sums(
    scale: f64,
    d: &[f64],
    w: &[f64],
    mask: Option<&[f64]>,
    phi: &[Vec<f64>],
    k: usize,
    raise: bool,
) -> Sums {
    let n = d.len();
    assert!(w.len() == n && mask.is_none_or(|m| m.len() == n));
    // A row that an order does not need is replaced by d itself; its sum is then not used.
    let lower = if k > 1 { phi[k].as_slice() } else { d };
    let lowest = if k > 2 { phi[k - 1].as_slice() } else { d };
    let higher = if raise { phi[k + 1].as_slice() } else { d };
    assert!(lower.len() == n && lowest.len() == n && higher.len() == n);
    let scales = Quad::all(scale);
    let (mut s0, mut s1, mut s2, mut s3) = (Quad::ZERO, Quad::ZERO, Quad::ZERO, Quad::ZERO);
    let mut untested = Quad::ZERO;
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let e0 = scales * Quad::load(d, i);
            let mut w = Quad::load(w, i);
            if let Some(mask) = mask {
                let e = e0 * w;
                untested = untested + e * e;
                w = w * Quad::load(mask, i);
            }
            let e1 = e0 + Quad::load(lower, i);
            let e2 = e1 + Quad::load(lowest, i);
            let e3 = e0 - Quad::load(higher, i);
            let (e0, e1, e2, e3) = (e0 * w, e1 * w, e2 * w, e3 * w);
            s0 = s0 + e0 * e0;
            s1 = s1 + e1 * e1;
            s2 = s2 + e2 * e2;
            s3 = s3 + e3 * e3;
        }
        i += LANES;
    }
    let mut errors = [s0.sum(), s1.sum(), s2.sum(), s3.sum()];
    let mut all = untested.sum();
    for i in end..n {
        let e0 = scale * d[i];
        let e1 = e0 + lower[i];
        let tested = w[i] * mask.map_or(1.0, |m| m[i]);
        for (sum, v) in errors.iter_mut().zip([e0, e1, e1 + lowest[i], e0 - higher[i]]) {
            *sum += (v * tested) * (v * tested);
        }
        all += (e0 * w[i]) * (e0 * w[i]);
    }
    if mask.is_none() {
        all = errors[0];
    }
    Sums { errors, all }
}
}

/// How an accepted correction is taken into the history.
#[derive(Clone, Copy)]
pub(crate) struct Update<'a> {
    /// Order of the step.
    pub k: usize,
    /// The correction is this multiple of the vector that is given.
    pub scale: f64,
    /// The correction itself becomes `phi[k+1]`, by exchanging the two vectors: what was given is then of no use.
    pub keep: bool,
    pub rtol: f64,
    pub atol: Tolerance<'a>,
}

/// Takes the accepted correction into the history, `phi[j] += phi[j+1] + .. + e` from k down to 0, and computes the error
/// weights of the new solution. With `next` the new history is rescaled and added up for the next step in the same pass:
/// its order, how, and where y and y' go.
pub(crate) fn update_history(
    phi: &mut [Vec<f64>],
    correction: &mut Vec<f64>,
    update: Update<'_>,
    w: &mut [f64],
    mut next: Option<(usize, Prediction<'_>, &mut [f64], &mut [f64])>,
) {
    if update.keep {
        std::mem::swap(&mut phi[update.k + 1], correction);
    }
    for range in tiles(w.len()) {
        let (old, newest) = phi.split_at_mut(update.k + 1);
        let e = match update.keep {
            true => &mut newest[0][range.clone()],
            false => &mut correction[range.clone()],
        };
        let w = &mut w[range.clone()];
        let part = Update {
            atol: update.atol.part(range.clone()),
            ..update
        };
        let r = range.clone();
        match update.k {
            1 => update_order::<2>(rows(old, r), e, part, w),
            2 => update_order::<3>(rows(old, r), e, part, w),
            3 => update_order::<4>(rows(old, r), e, part, w),
            4 => update_order::<5>(rows(old, r), e, part, w),
            _ => update_order::<6>(rows(old, r), e, part, w),
        }
        if let Some((k, how, y, yp)) = &mut next {
            predict_part(phi, range, *k, *how, y, yp);
        }
    }
}

vectorised! {
fn update_order<const K1: usize>(p: [&mut [f64]; K1], e: &mut [f64], update: Update<'_>, w: &mut [f64]) {
    let n = e.len();
    assert!(w.len() == n && p.iter().all(|p| p.len() == n));
    let (each, uniform) = match update.atol {
        Tolerance::Uniform(a) => (None, a),
        Tolerance::Each(a) => (Some(&a[..n]), 0.0),
    };
    let (scale, rtol) = (update.scale, update.rtol);
    let (scales, rtols, ones) = (Quad::all(scale), Quad::all(rtol), Quad::all(1.0));
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Quad; K1] = std::array::from_fn(|j| Quad::load(p[j], i));
            let correction = scales * Quad::load(e, i);
            let mut v = correction;
            for j in (0..K1).rev() {
                v = v + row[j];
                row[j] = v;
            }
            let a = match each {
                Some(a) => Quad::load(a, i),
                None => Quad::all(uniform),
            };
            let weight = ones / (rtols * v.abs() + a);
            correction.store(e, i);
            for j in 0..K1 {
                row[j].store(p[j], i);
            }
            weight.store(w, i);
        }
        i += LANES;
    }
    for i in end..n {
        let mut v = scale * e[i];
        e[i] = v;
        for j in (0..K1).rev() {
            v += p[j][i];
            p[j][i] = v;
        }
        w[i] = 1.0 / (rtol * v.abs() + each.map_or(uniform, |a| a[i]));
    }
}
}

/// The interpolant and its slope: `y = sum value[j] phi[j]`, `yp = sum slope[j] phi[j]` for j = 0..=k.
pub(crate) fn interpolate(
    phi: &[Vec<f64>],
    k: usize,
    (value, slope): (&[f64], &[f64]),
    y: &mut [f64],
    yp: &mut [f64],
) {
    match k {
        1 => interpolate_order::<2>(phi, value, slope, y, yp),
        2 => interpolate_order::<3>(phi, value, slope, y, yp),
        3 => interpolate_order::<4>(phi, value, slope, y, yp),
        4 => interpolate_order::<5>(phi, value, slope, y, yp),
        _ => interpolate_order::<6>(phi, value, slope, y, yp),
    }
}

vectorised! {
fn interpolate_order<const K1: usize>(phi: &[Vec<f64>], value: &[f64], slope: &[f64], y: &mut [f64], yp: &mut [f64]) {
    let n = y.len();
    let p: [&[f64]; K1] = std::array::from_fn(|j| phi[j].as_slice());
    assert!(yp.len() == n && p.iter().all(|p| p.len() == n));
    let (mut c, mut g) = ([0.0; K1], [0.0; K1]);
    c.copy_from_slice(&value[..K1]);
    g.copy_from_slice(&slope[..K1]);
    for i in 0..n {
        // SAFETY: i < n, the length of every slice (asserted above).
        unsafe {
            let first = *p[0].get_unchecked(i);
            let (mut sum, mut slopes) = (c[0] * first, g[0] * first);
            for j in 1..K1 {
                let v = *p[j].get_unchecked(i);
                sum += c[j] * v;
                slopes += g[j] * v;
            }
            *y.get_unchecked_mut(i) = sum;
            *yp.get_unchecked_mut(i) = slopes;
        }
    }
}
}

/// Index of the largest `|v[i] * w[i] * mask[i]|`, first one if several.
pub(crate) fn largest(v: &[f64], w: &[f64], mask: Option<&[f64]>) -> usize {
    let mut best = (0, -1.0);
    for (i, (v, w)) in v.iter().zip(w).enumerate() {
        let size = (v * w).abs() * mask.map_or(1.0, |m| m[i]);
        if size > best.1 || (size.is_nan() && !f64::is_nan(best.1)) {
            best = (i, size);
        }
    }
    best.0
}
