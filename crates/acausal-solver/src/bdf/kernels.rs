//! Fused vector loops of the integrator: each pass reads every vector it needs once.
//!
//! In a profile of a conventional implementation half of the time of a large problem goes into single-operation vector
//! passes (scale, add, norm). Here one pass predicts y and y', rescales the history and computes the weights; one
//! applies a Newton correction and takes its norm; one takes the norms of all error estimates; one updates the history.
//!
//! Sums run in [`LANES`] fixed partial sums that are added in a fixed order, so the result does not depend on the
//! instruction set, and the compiler may vectorise without reassociating.
//!
//! Invariant for the `unsafe` blocks: every slice has length `n`, asserted at the top of each function.

/// Number of partial sums.
const LANES: usize = 4;

/// Runs `body(index, lane)` for all indices with the lane of the partial sum.
#[inline(always)]
fn for_lanes(n: usize, mut body: impl FnMut(usize, usize)) {
    let whole = n - n % LANES;
    let mut i = 0;
    while i < whole {
        for lane in 0..LANES {
            body(i + lane, lane);
        }
        i += LANES;
    }
    while i < n {
        body(i, i - whole);
        i += 1;
    }
}

#[inline(always)]
fn total(sum: [f64; LANES]) -> f64 {
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

/// Absolute tolerances: one for all or one each.
#[derive(Clone, Copy)]
pub(crate) enum Tolerance<'a> {
    Uniform(f64),
    Each(&'a [f64]),
}

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

/// Sum of squares of `v[i] * w[i] * mask[i]`.
pub(crate) fn weighted_sum(v: &[f64], w: &[f64], mask: Option<&[f64]>) -> f64 {
    let n = v.len();
    assert!(w.len() == n && mask.is_none_or(|m| m.len() == n));
    let mut sum = [0.0; LANES];
    match mask {
        None => for_lanes(n, |i, lane| {
            let e = v[i] * w[i];
            sum[lane] += e * e;
        }),
        Some(m) => for_lanes(n, |i, lane| {
            let e = v[i] * w[i] * m[i];
            sum[lane] += e * e;
        }),
    }
    total(sum)
}

/// Predicts `y = sum phi[j]`, `yp = sum gamma[j] phi[j]` (j = 0..=k) after rescaling `phi[j] *= scale[j]` for
/// `j >= first_scaled`.
pub(crate) fn predict(
    phi: &mut [Vec<f64>],
    k: usize,
    first_scaled: usize,
    scale: &[f64],
    gamma: &[f64],
    y: &mut [f64],
    yp: &mut [f64],
) {
    match k {
        1 => predict_order::<2>(phi, first_scaled, scale, gamma, y, yp),
        2 => predict_order::<3>(phi, first_scaled, scale, gamma, y, yp),
        3 => predict_order::<4>(phi, first_scaled, scale, gamma, y, yp),
        4 => predict_order::<5>(phi, first_scaled, scale, gamma, y, yp),
        _ => predict_order::<6>(phi, first_scaled, scale, gamma, y, yp),
    }
}

fn predict_order<const K1: usize>(
    phi: &mut [Vec<f64>],
    first_scaled: usize,
    scale: &[f64],
    gamma: &[f64],
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    assert!(yp.len() == n && phi[..K1].iter().all(|p| p.len() == n));
    let mut c = [1.0; K1];
    let mut g = [0.0; K1];
    g[1..].copy_from_slice(&gamma[1..K1]);
    if first_scaled >= K1 {
        let p: [&[f64]; K1] = std::array::from_fn(|j| phi[j].as_slice());
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
        c[first_scaled..].copy_from_slice(&scale[first_scaled..K1]);
        let mut rows = phi.iter_mut();
        let p: [&mut [f64]; K1] = std::array::from_fn(|_| match rows.next() {
            Some(row) => row.as_mut_slice(),
            None => &mut [],
        });
        assert!(p.iter().all(|p| p.len() == n));
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

/// Applies the correction `d *= -factor`, `e (+)= d`, `y += d`, `yp += cj * d`; returns the weighted sum of squares of d.
#[allow(clippy::too_many_arguments)]
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
    let mut sum = [0.0; LANES];
    let negative = -factor;
    if first {
        for_lanes(n, |i, lane| unsafe {
            // SAFETY: i < n, the length of every slice (asserted above).
            let c = negative * *d.get_unchecked(i);
            *e.get_unchecked_mut(i) = c;
            *y.get_unchecked_mut(i) += c;
            *yp.get_unchecked_mut(i) += cj * c;
            let s = c * *w.get_unchecked(i);
            *sum.get_unchecked_mut(lane) += s * s;
        });
    } else {
        for_lanes(n, |i, lane| unsafe {
            // SAFETY: i < n, the length of every slice (asserted above).
            let c = negative * *d.get_unchecked(i);
            *e.get_unchecked_mut(i) += c;
            *y.get_unchecked_mut(i) += c;
            *yp.get_unchecked_mut(i) += cj * c;
            let s = c * *w.get_unchecked(i);
            *sum.get_unchecked_mut(lane) += s * s;
        });
    }
    total(sum)
}

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
    let mut sums = [[0.0; LANES]; 4];
    let mut add = |i: usize, lane: usize, w: f64| unsafe {
        // SAFETY: i < n, the length of every slice (asserted above); lane < LANES.
        let e0 = *e.get_unchecked(i);
        let e1 = e0 + *lower.get_unchecked(i);
        let e2 = e1 + *lowest.get_unchecked(i);
        let e3 = e0 - *higher.get_unchecked(i);
        for (sum, v) in sums.iter_mut().zip([e0, e1, e2, e3]) {
            let s = v * w;
            *sum.get_unchecked_mut(lane) += s * s;
        }
    };
    match mask {
        // SAFETY: i < n for both slices (asserted above).
        None => for_lanes(n, |i, lane| add(i, lane, unsafe { *w.get_unchecked(i) })),
        Some(m) => for_lanes(n, |i, lane| {
            add(i, lane, unsafe {
                *w.get_unchecked(i) * *m.get_unchecked(i)
            })
        }),
    }
    sums.map(total)
}

/// Takes the accepted correction into the history: `phi[k+1] = e` (if kept), `phi[j] += phi[j+1] + ..` down to 0.
pub(crate) fn update_history(phi: &mut [Vec<f64>], k: usize, e: &[f64], keep_next: bool) {
    match k {
        1 => update_order::<2>(phi, e, keep_next),
        2 => update_order::<3>(phi, e, keep_next),
        3 => update_order::<4>(phi, e, keep_next),
        4 => update_order::<5>(phi, e, keep_next),
        _ => update_order::<6>(phi, e, keep_next),
    }
}

fn update_order<const K1: usize>(phi: &mut [Vec<f64>], e: &[f64], keep_next: bool) {
    let n = e.len();
    if keep_next {
        phi[K1].copy_from_slice(e);
    }
    let mut rows = phi.iter_mut();
    let p: [&mut [f64]; K1] = std::array::from_fn(|_| match rows.next() {
        Some(row) => row.as_mut_slice(),
        None => &mut [],
    });
    assert!(p.iter().all(|p| p.len() == n));
    for i in 0..n {
        // SAFETY: i < n, the length of every slice (asserted above).
        unsafe {
            let mut v = *e.get_unchecked(i);
            for j in (0..K1).rev() {
                v += *p[j].get_unchecked(i);
                *p[j].get_unchecked_mut(i) = v;
            }
        }
    }
}

/// `out = sum weight[j] * phi[j]` for j = 0..=k.
pub(crate) fn combine(phi: &[Vec<f64>], k: usize, weight: &[f64], out: &mut [f64]) {
    let n = out.len();
    let c = weight[0];
    for (o, p) in out.iter_mut().zip(&phi[0]) {
        *o = c * p;
    }
    for j in 1..=k {
        let c = weight[j];
        for (o, p) in out.iter_mut().zip(&phi[j][..n]) {
            *o += c * p;
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
