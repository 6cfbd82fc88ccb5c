//! The history of the solution: an accepted correction goes in, the next prediction and interpolated values come out.

use super::{Correction, whole};
use crate::bdf::quad::{LANES, vectorised};
use crate::bdf::vector::Vector;

/// How the history is rescaled and added up in a prediction.
#[derive(Clone, Copy)]
pub struct Prediction<'a> {
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
pub fn predict(phi: &mut [Vector], how: Prediction<'_>, y: &mut [f64], yp: &mut [f64]) {
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

/// How an accepted correction e is taken into the history: `phi[j] += phi[j+1] + .. + e` from k down to 0.
#[derive(Clone, Copy)]
pub struct Update<'a> {
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
pub fn update(phi: &mut [Vector], last: &mut Vector, update: Update<'_>) {
    let (p, e) = update.parts(phi, last);
    match update.k {
        1 => advance_order::<2, 1>(rows(p), e, update, None),
        2 => advance_order::<3, 1>(rows(p), e, update, None),
        3 => advance_order::<4, 1>(rows(p), e, update, None),
        4 => advance_order::<5, 1>(rows(p), e, update, None),
        _ => advance_order::<6, 1>(rows(p), e, update, None),
    }
}

/// [`update`] and [`predict`], in one pass if the orders differ by at most one, as they do but for an order that is held down.
pub fn update_and_predict(
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
            let next = Some((how, y, yp));
            advance_order::<{ $k + 1 }, { $next + 1 }>(rows(p), e, update, next)
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

/// How to predict, and where y and y' go.
type Next<'a> = (Prediction<'a>, &'a mut [f64], &'a mut [f64]);

vectorised! {
/// Updates K1 rows, and with `next` predicts from N1 of the new ones.
fn advance_order<const K1: usize, const N1: usize>(
    p: [&mut [f64]; K1],
    e: &mut [f64],
    update: Update<'_>,
    next: Option<Next<'_>>,
) {
    let n = e.len();
    let Update { earlier, scale, keep, .. } = update;
    assert!(p.iter().all(|p| p.len() == n) && earlier.is_none_or(|e| e.len() == n));
    let (c, g) = next.as_ref().map_or(([1.0; N1], [0.0; N1]), |next| next.0.factors());
    let mut predicted = next.map(|(_, y, yp)| (y, yp));
    assert!(predicted.as_ref().is_none_or(|(y, yp)| y.len() == n && yp.len() == n));
    let scales = Q::all(scale);
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
            if let Some((y, yp)) = &mut predicted {
                value.store(y, i);
                slope.store(yp, i);
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
        let mut value = v;
        let mut slope = 0.0;
        for j in 1..N1 {
            let row = if j < K1 { &mut p[j][i] } else { &mut e[i] };
            *row *= c[j];
            value += *row;
            slope += g[j] * *row;
        }
        if let Some((y, yp)) = &mut predicted {
            (y[i], yp[i]) = (value, slope);
        }
    }
}
}

/// The interpolant and its slope: `y = sum value[j] phi[j]`, `yp = sum slope[j] phi[j]` for j = 0..=k, with a correction counting
/// like the last row.
pub fn interpolate(
    phi: &[Vector],
    k: usize,
    factors: (&[f64], &[f64]),
    correction: Option<Correction<'_>>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    match k {
        1 => interpolate_order::<2>(phi, factors, correction, y, yp),
        2 => interpolate_order::<3>(phi, factors, correction, y, yp),
        3 => interpolate_order::<4>(phi, factors, correction, y, yp),
        4 => interpolate_order::<5>(phi, factors, correction, y, yp),
        _ => interpolate_order::<6>(phi, factors, correction, y, yp),
    }
}

vectorised! {
fn interpolate_order<const K1: usize>(
    phi: &[Vector],
    factors: (&[f64], &[f64]),
    correction: Option<Correction<'_>>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    let p: [&[f64]; K1] = std::array::from_fn(|j| &phi[j][..]);
    assert!(yp.len() == n && p.iter().all(|p| p.len() == n));
    assert!(correction.is_none_or(|c| c.last.len() == n && c.earlier.is_none_or(|e| e.len() == n)));
    let (mut c, mut g) = ([0.0; K1], [0.0; K1]);
    c.copy_from_slice(&factors.0[..K1]);
    g.copy_from_slice(&factors.1[..K1]);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let first = Q::load(p[0], i);
            let (mut sum, mut slopes) = (Q::all(c[0]) * first, Q::all(g[0]) * first);
            for j in 1..K1 {
                let mut v = Q::load(p[j], i);
                if let Some(e) = correction && j == K1 - 1 {
                    v = v + e.load(i);
                }
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
            let mut v = p[j][i];
            if let Some(e) = correction && j == K1 - 1 {
                v += e.at(i);
            }
            sum += c[j] * v;
            slopes += g[j] * v;
        }
        y[i] = sum;
        yp[i] = slopes;
    }
}
}
