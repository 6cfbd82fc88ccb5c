//! Fused vector loops of the integrator: each pass reads every vector it needs once.
//!
//! In a profile of a conventional implementation half of the time of a large problem goes into single-operation vector
//! passes (scale, add, norm). Here one pass takes the correction of the last step into the history, rescales it and predicts y
//! and y'; one takes the norm of a Newton correction and those of all error estimates. Only a correction that is followed by
//! another one is applied to y and y', in a pass of its own. Error weights are computed where they are used: a division costs less than
//! reading and writing one more vector.
//!
//! Everything works on groups of four numbers ([`Quad`]) and sums run in four partial sums that are added in a fixed
//! order. On x86-64 with AVX2 the same code runs with wider registers; without fused multiply-add, so the results are
//! the same bit for bit.
//!
//! In the body of a loop all loads come before all stores, and the vectors begin at different places of a page
//! ([`super::vector`]).
//!
//! Invariant for the `unsafe` blocks: every slice has length `n`, asserted at the top of each function.

use super::quad::{LANES, Quad, vectorised};
use super::vector::Vector;

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

/// Error weights `1 / (rtol * |y| + atol)` of a solution.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
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

    /// The weight of one variable.
    #[inline(always)]
    pub fn at(&self, i: usize) -> f64 {
        let atol = match self.atol {
            Tolerance::Uniform(a) => a,
            Tolerance::Each(a) => a[i],
        };
        1.0 / (self.rtol * self.y[i].abs() + atol)
    }

    /// # Safety
    /// `i + 4 <= self.len()`.
    #[inline(always)]
    unsafe fn load<Q: Quad>(&self, i: usize) -> Q {
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

/// Sum of squares of `v[i] * weight(i)`.
pub(crate) fn weighted_sum(v: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let square = |e: f64| e * e;
    let terms = v.iter().enumerate().map(|(i, v)| square(v * weight(i)));
    terms.sum()
}

/// How the history is rescaled and added up in a prediction.
#[derive(Clone, Copy)]
pub(crate) struct Prediction<'a> {
    /// Its order.
    pub k: usize,
    /// `phi[j] *= scale[j]` for `j >= first_scaled`.
    pub first_scaled: usize,
    pub scale: &'a [f64],
    pub gamma: &'a [f64],
}

impl Prediction<'_> {
    /// The factors of the first N1 rows, those of the history and of the slope.
    #[inline(always)]
    fn factors<const N1: usize>(&self) -> ([f64; N1], [f64; N1]) {
        let (mut c, mut g) = ([1.0; N1], [0.0; N1]);
        if self.first_scaled < N1 {
            c[self.first_scaled..].copy_from_slice(&self.scale[self.first_scaled..N1]);
        }
        g[1..].copy_from_slice(&self.gamma[1..N1]);
        (c, g)
    }
}

/// The first K rows of the history.
#[inline(always)]
fn rows<const K: usize>(phi: &mut [Vector]) -> [&mut [f64]; K] {
    let mut rows = phi.iter_mut();
    std::array::from_fn(|_| match rows.next() {
        Some(row) => &mut row[..],
        None => &mut [],
    })
}

/// Predicts `y = sum phi[j]`, `yp = sum gamma[j] phi[j]` (j = 0..=k) after rescaling the history.
pub(crate) fn predict(phi: &mut [Vector], how: Prediction<'_>, y: &mut [f64], yp: &mut [f64]) {
    match how.k {
        1 => predict_order::<2>(rows(phi), how, y, yp),
        2 => predict_order::<3>(rows(phi), how, y, yp),
        3 => predict_order::<4>(rows(phi), how, y, yp),
        4 => predict_order::<5>(rows(phi), how, y, yp),
        _ => predict_order::<6>(rows(phi), how, y, yp),
    }
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
    let (c, g) = how.factors::<K1>();
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Q; K1] = std::array::from_fn(|j| Q::load(p[j], i));
            let mut value = row[0];
            let mut slope = Q::all(0.0);
            for j in 1..K1 {
                if scaled {
                    row[j] = Q::all(c[j]) * row[j];
                }
                value = value + row[j];
                slope = slope + Q::all(g[j]) * row[j];
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
/// Applies the correction `c = scale * d`: `e (+)= c`, `y += c`, `yp += cj * c`.
pub(crate) fn correct(
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
pub(crate) struct Correction<'a> {
    /// What was applied before the last Newton iteration, if there were several.
    pub earlier: Option<&'a [f64]>,
    pub scale: f64,
    pub last: &'a [f64],
}

impl Correction<'_> {
    /// Of one variable.
    pub fn at(&self, i: usize) -> f64 {
        let last = self.scale * self.last[i];
        self.earlier.map_or(last, |e| e[i] + last)
    }
}

/// Weighted sums of squares.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums {
    /// Behind the error estimates of a step of order k with correction e, over the tested variables: `e`, `e + phi[k]`,
    /// `e + phi[k] + phi[k-1]`, `e - phi[k+1]`.
    pub errors: [f64; 4],
    /// Of the last part of the correction over all variables.
    pub last: f64,
}

vectorised! {
/// All sums of a correction in one pass; the last error only with `raise`.
pub(crate) fn sums(
    correction: Correction<'_>,
    w: Weights<'_>,
    mask: Option<&[f64]>,
    phi: &[Vector],
    k: usize,
    raise: bool,
) -> Sums {
    let Correction { earlier, scale, last: d } = correction;
    let n = d.len();
    assert!(w.len() == n && mask.is_none_or(|m| m.len() == n));
    assert!(earlier.is_none_or(|e| e.len() == n));
    // A row that an order does not need is replaced by d itself; its sum is then not used.
    let lower = if k > 1 { &phi[k][..] } else { d };
    let lowest = if k > 2 { &phi[k - 1][..] } else { d };
    let higher = if raise { &phi[k + 1][..] } else { d };
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
            let e1 = e0 + Q::load(lower, i);
            let e2 = e1 + Q::load(lowest, i);
            let e3 = e0 - Q::load(higher, i);
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
        let e1 = e0 + lower[i];
        let w = w.at(i);
        let tested = w * mask.map_or(1.0, |m| m[i]);
        for (sum, v) in errors.iter_mut().zip([e0, e1, e1 + lowest[i], e0 - higher[i]]) {
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

/// How an accepted correction e is taken into the history: `phi[j] += phi[j+1] + .. + e` from k down to 0.
#[derive(Clone, Copy)]
pub(crate) struct Update<'a> {
    /// Order of the step.
    pub k: usize,
    /// The parts of the correction, as in [`Correction`]; the last vector is given apart.
    pub earlier: Option<&'a [f64]>,
    pub scale: f64,
    /// The correction itself becomes `phi[k+1]`, by exchanging the two vectors: what was given is then of no use.
    pub keep: bool,
}

impl Update<'_> {
    /// The rows of the order of the step, and the last part of the correction.
    fn parts<'a>(
        self,
        phi: &'a mut [Vector],
        correction: &'a mut Vector,
    ) -> (&'a mut [Vector], &'a mut [f64]) {
        if self.keep {
            std::mem::swap(&mut phi[self.k + 1], correction);
        }
        let (old, newest) = phi.split_at_mut(self.k + 1);
        match newest.first_mut() {
            Some(kept) if self.keep => (old, kept),
            _ => (old, correction),
        }
    }
}

/// Takes the accepted correction into the history.
pub(crate) fn update(phi: &mut [Vector], last: &mut Vector, update: Update<'_>) {
    let (p, e) = update.parts(phi, last);
    match update.k {
        1 => update_order::<2>(rows(p), e, update),
        2 => update_order::<3>(rows(p), e, update),
        3 => update_order::<4>(rows(p), e, update),
        4 => update_order::<5>(rows(p), e, update),
        _ => update_order::<6>(rows(p), e, update),
    }
}

vectorised! {
fn update_order<const K1: usize>(p: [&mut [f64]; K1], e: &mut [f64], update: Update<'_>) {
    let n = e.len();
    let Update { earlier, scale, keep, .. } = update;
    assert!(p.iter().all(|p| p.len() == n) && earlier.is_none_or(|e| e.len() == n));
    let scales = Q::all(scale);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Q; K1] = std::array::from_fn(|j| Q::load(p[j], i));
            let mut correction = scales * Q::load(e, i);
            if let Some(earlier) = earlier {
                correction = Q::load(earlier, i) + correction;
            }
            let mut v = correction;
            for j in (0..K1).rev() {
                v = v + row[j];
                row[j] = v;
            }
            for j in 0..K1 {
                row[j].store(p[j], i);
            }
            if keep {
                correction.store(e, i);
            }
        }
        i += LANES;
    }
    for i in end..n {
        let last = scale * e[i];
        e[i] = earlier.map_or(last, |e| e[i] + last);
        let mut v = e[i];
        for j in (0..K1).rev() {
            v += p[j][i];
            p[j][i] = v;
        }
    }
}
}

/// [`update`] and [`predict`], in one pass if the orders differ by at most one, as they do but for an order that is held down.
pub(crate) fn update_and_predict(
    phi: &mut [Vector],
    last: &mut Vector,
    update: Update<'_>,
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    macro_rules! in_one_pass {
        ($k:literal, $next:literal) => {{
            let (p, e) = update.parts(phi, last);
            advance_order::<{ $k + 1 }, { $next + 1 }>(rows(p), e, update, how, y, yp)
        }};
    }
    match (update.k, how.k) {
        (1, 1) => in_one_pass!(1, 1),
        (1, 2) if update.keep => in_one_pass!(1, 2),
        (2, 1) => in_one_pass!(2, 1),
        (2, 2) => in_one_pass!(2, 2),
        (2, 3) if update.keep => in_one_pass!(2, 3),
        (3, 2) => in_one_pass!(3, 2),
        (3, 3) => in_one_pass!(3, 3),
        (3, 4) if update.keep => in_one_pass!(3, 4),
        (4, 3) => in_one_pass!(4, 3),
        (4, 4) => in_one_pass!(4, 4),
        (4, 5) if update.keep => in_one_pass!(4, 5),
        (5, 4) => in_one_pass!(5, 4),
        (5, 5) => in_one_pass!(5, 5),
        _ => {
            self::update(phi, last, update);
            predict(phi, how, y, yp);
        }
    }
}

vectorised! {
fn advance_order<const K1: usize, const N1: usize>(
    p: [&mut [f64]; K1],
    e: &mut [f64],
    update: Update<'_>,
    how: Prediction<'_>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = e.len();
    let Update { earlier, scale, keep, .. } = update;
    assert!(y.len() == n && yp.len() == n && p.iter().all(|p| p.len() == n));
    assert!(earlier.is_none_or(|e| e.len() == n));
    let scales = Q::all(scale);
    let (c, g) = how.factors::<N1>();
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Q; K1] = std::array::from_fn(|j| Q::load(p[j], i));
            let mut kept = scales * Q::load(e, i);
            if let Some(earlier) = earlier {
                kept = Q::load(earlier, i) + kept;
            }
            let mut v = kept;
            for j in (0..K1).rev() {
                v = v + row[j];
                row[j] = v;
            }
            let mut value = row[0];
            let mut slope = Q::all(0.0);
            for j in 1..N1 {
                let row = if j < K1 { &mut row[j] } else { &mut kept };
                *row = Q::all(c[j]) * *row;
                value = value + *row;
                slope = slope + Q::all(g[j]) * *row;
            }
            for j in 0..K1 {
                row[j].store(p[j], i);
            }
            if keep {
                kept.store(e, i);
            }
            value.store(y, i);
            slope.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let last = scale * e[i];
        e[i] = earlier.map_or(last, |e| e[i] + last);
        let mut v = e[i];
        for j in (0..K1).rev() {
            v += p[j][i];
            p[j][i] = v;
        }
        let mut value = v;
        let mut slope = 0.0;
        for j in 1..N1 {
            let row = if j < K1 { &mut p[j][i] } else { &mut e[i] };
            *row *= c[j];
            value += *row;
            slope += g[j] * *row;
        }
        y[i] = value;
        yp[i] = slope;
    }
}
}

/// The interpolant and its slope: `y = sum value[j] phi[j]`, `yp = sum slope[j] phi[j]` for j = 0..=k.
pub(crate) fn interpolate(
    phi: &[Vector],
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
fn interpolate_order<const K1: usize>(phi: &[Vector], value: &[f64], slope: &[f64], y: &mut [f64], yp: &mut [f64]) {
    let n = y.len();
    let p: [&[f64]; K1] = std::array::from_fn(|j| &phi[j][..]);
    assert!(yp.len() == n && p.iter().all(|p| p.len() == n));
    let (mut c, mut g) = ([0.0; K1], [0.0; K1]);
    c.copy_from_slice(&value[..K1]);
    g.copy_from_slice(&slope[..K1]);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let first = Q::load(p[0], i);
            let (mut sum, mut slopes) = (Q::all(c[0]) * first, Q::all(g[0]) * first);
            for j in 1..K1 {
                let v = Q::load(p[j], i);
                sum = sum + Q::all(c[j]) * v;
                slopes = slopes + Q::all(g[j]) * v;
            }
            sum.store(y, i);
            slopes.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let (mut sum, mut slopes) = (c[0] * p[0][i], g[0] * p[0][i]);
        for j in 1..K1 {
            sum += c[j] * p[j][i];
            slopes += g[j] * p[j][i];
        }
        y[i] = sum;
        yp[i] = slopes;
    }
}
}

/// Index of the largest of n numbers by their absolute values, first one if several.
pub(crate) fn largest(n: usize, number: impl Fn(usize) -> f64) -> usize {
    let mut best = (0, -1.0);
    for i in 0..n {
        let size = number(i).abs();
        if size > best.1 || (size.is_nan() && !f64::is_nan(best.1)) {
            best = (i, size);
        }
    }
    best.0
}
