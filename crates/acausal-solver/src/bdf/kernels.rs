//! Fused vector loops of the integrator: each pass reads every vector it needs once.
//!
//! In a profile of a conventional implementation half of the time of a large problem goes into single-operation vector
//! passes (scale, add, norm). Here one pass predicts y and y' and rescales the history; one applies a Newton correction
//! and takes its norm; one takes the norms of all error estimates; one updates the history and computes the weights.
//!
//! Everything works on groups of four numbers ([`Quad`]) and sums run in four partial sums that are added in a fixed
//! order. On x86-64 with AVX2 the same code runs with wider registers; without fused multiply-add, so the results are
//! the same bit for bit.
//!
//! Invariant for the `unsafe` blocks: every slice has length `n`, asserted at the top of each function.

use super::quad::{LANES, Quad, vectorised};

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
    match k {
        1 => predict_order::<2>(phi, how, y, yp),
        2 => predict_order::<3>(phi, how, y, yp),
        3 => predict_order::<4>(phi, how, y, yp),
        4 => predict_order::<5>(phi, how, y, yp),
        _ => predict_order::<6>(phi, how, y, yp),
    }
}

/// The first K rows of the history as slices of equal length.
#[inline(always)]
fn rows<const K: usize>(phi: &mut [Vec<f64>], n: usize) -> [&mut [f64]; K] {
    let mut rows = phi.iter_mut();
    let p: [&mut [f64]; K] = std::array::from_fn(|_| match rows.next() {
        Some(row) => row.as_mut_slice(),
        None => &mut [],
    });
    assert!(p.iter().all(|p| p.len() == n));
    p
}

vectorised! {
fn predict_order<const K1: usize>(
    phi: &mut [Vec<f64>],
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    assert!(yp.len() == n);
    let p = rows::<K1>(phi, n);
    let first_scaled = how.first_scaled;
    let mut c = [1.0; K1];
    let mut g = [0.0; K1];
    g[1..].copy_from_slice(&how.gamma[1..K1]);
    if first_scaled >= K1 {
        for i in 0..n {
            // SAFETY: i < n, the length of every slice (asserted above).
            unsafe {
                let mut value = *p[0].get_unchecked(i);
                let mut slope = 0.0;
                for j in 1..K1 {
                    let v = *p[j].get_unchecked(i);
                    value += v;
                    slope += g[j] * v;
                }
                *y.get_unchecked_mut(i) = value;
                *yp.get_unchecked_mut(i) = slope;
            }
        }
    } else {
        c[first_scaled..].copy_from_slice(&how.scale[first_scaled..K1]);
        for i in 0..n {
            // SAFETY: i < n, the length of every slice (asserted above).
            unsafe {
                let mut value = *p[0].get_unchecked(i);
                let mut slope = 0.0;
                for j in 1..K1 {
                    let v = c[j] * *p[j].get_unchecked(i);
                    *p[j].get_unchecked_mut(i) = v;
                    value += v;
                    slope += g[j] * v;
                }
                *y.get_unchecked_mut(i) = value;
                *yp.get_unchecked_mut(i) = slope;
            }
        }
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
            let total = if first { c } else { Quad::load(e, i) + c };
            total.store(e, i);
            (Quad::load(y, i) + c).store(y, i);
            (Quad::load(yp, i) + cjs * c).store(yp, i);
            let s = c * Quad::load(w, i);
            sums = sums + s * s;
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

vectorised! {
/// Weighted sums of squares behind the error estimates of a step of order k, in one pass:
/// `e`, `e + phi[k]`, `e + phi[k] + phi[k-1]`, `e - phi[k+1]`.
pub(crate) fn error_sums(
    e: &[f64],
    w: &[f64],
    mask: Option<&[f64]>,
    phi: &[Vec<f64>],
    k: usize,
    raise: bool,
) -> [f64; 4] {
    let n = e.len();
    assert!(w.len() == n && mask.is_none_or(|m| m.len() == n));
    // A row that an order does not need is replaced by e itself; its sum is then not used.
    let lower = if k > 1 { phi[k].as_slice() } else { e };
    let lowest = if k > 2 { phi[k - 1].as_slice() } else { e };
    let higher = if raise { phi[k + 1].as_slice() } else { e };
    assert!(lower.len() == n && lowest.len() == n && higher.len() == n);
    let (mut s0, mut s1, mut s2, mut s3) = (Quad::ZERO, Quad::ZERO, Quad::ZERO, Quad::ZERO);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut w = Quad::load(w, i);
            if let Some(mask) = mask {
                w = w * Quad::load(mask, i);
            }
            let e0 = Quad::load(e, i);
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
    let mut sums = [s0.sum(), s1.sum(), s2.sum(), s3.sum()];
    for i in end..n {
        let w = w[i] * mask.map_or(1.0, |m| m[i]);
        let e1 = e[i] + lower[i];
        for (sum, v) in sums.iter_mut().zip([e[i], e1, e1 + lowest[i], e[i] - higher[i]]) {
            *sum += (v * w) * (v * w);
        }
    }
    sums
}
}

/// Takes the accepted correction into the history: `phi[j] += phi[j+1] + .. + e` from k down to 0; and computes the error
/// weights of the new solution. With `keep_next` the correction itself becomes `phi[k+1]`, by exchanging the two vectors:
/// what `e` then holds is of no use.
pub(crate) fn update_history(
    phi: &mut [Vec<f64>],
    k: usize,
    e: &mut Vec<f64>,
    keep_next: bool,
    rtol: f64,
    atol: Tolerance<'_>,
    w: &mut [f64],
) {
    match k {
        1 => update_order::<2>(phi, e, rtol, atol, w),
        2 => update_order::<3>(phi, e, rtol, atol, w),
        3 => update_order::<4>(phi, e, rtol, atol, w),
        4 => update_order::<5>(phi, e, rtol, atol, w),
        _ => update_order::<6>(phi, e, rtol, atol, w),
    }
    if keep_next {
        std::mem::swap(&mut phi[k + 1], e);
    }
}

vectorised! {
fn update_order<const K1: usize>(phi: &mut [Vec<f64>], e: &[f64], rtol: f64, atol: Tolerance<'_>, w: &mut [f64]) {
    let n = e.len();
    assert!(w.len() == n);
    let p = rows::<K1>(phi, n);
    let (each, uniform) = match atol {
        Tolerance::Uniform(a) => (None, a),
        Tolerance::Each(a) => (Some(&a[..n]), 0.0),
    };
    let (rtols, ones) = (Quad::all(rtol), Quad::all(1.0));
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut v = Quad::load(e, i);
            for j in (0..K1).rev() {
                v = v + Quad::load(p[j], i);
                v.store(p[j], i);
            }
            let a = match each {
                Some(a) => Quad::load(a, i),
                None => Quad::all(uniform),
            };
            (ones / (rtols * v.abs() + a)).store(w, i);
        }
        i += LANES;
    }
    for i in end..n {
        let mut v = e[i];
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
