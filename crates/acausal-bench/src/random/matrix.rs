//! The numerics of the answers, which share nothing with the simulator: products, the matrix exponential, and Radau IIA for linear
//! differential-algebraic equations. Direct solves are in [`orthogonal`](super::orthogonal).

use super::orthogonal::Qr;

/// A dense matrix, row by row.
pub type DenseMatrix = Vec<Vec<f64>>;

/// The zero matrix.
pub fn zeros(rows: usize, columns: usize) -> DenseMatrix {
    vec![vec![0.0; columns]; rows]
}

/// The identity.
pub fn identity(n: usize) -> DenseMatrix {
    let mut m = zeros(n, n);
    for (k, row) in m.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    m
}

/// `a * x`.
pub fn times(a: &DenseMatrix, x: &[f64]) -> Vec<f64> {
    a.iter()
        .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}

/// `a * b`.
pub fn product(a: &DenseMatrix, b: &DenseMatrix) -> DenseMatrix {
    let columns = b.first().map_or(0, Vec::len);
    let mut c = zeros(a.len(), columns);
    for (row, out) in a.iter().zip(&mut c) {
        for (f, other) in row.iter().zip(b) {
            if *f != 0.0 {
                out.iter_mut().zip(other).for_each(|(o, v)| *o += f * v);
            }
        }
    }
    c
}

/// The largest sum of absolute values of a column.
pub fn norm1(a: &DenseMatrix) -> f64 {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns)
        .map(|j| a.iter().map(|row| row[j].abs()).sum())
        .fold(0.0, f64::max)
}

/// `exp(a)` by scaling and squaring of the Taylor series: with a norm below 1/4 the 14th term is below rounding.
pub fn exponential(a: &DenseMatrix) -> DenseMatrix {
    let n = a.len();
    let squarings = (norm1(a) * 4.0).log2().ceil().max(0.0) as i32;
    let factor = 0.5f64.powi(squarings);
    let scaled: DenseMatrix = a
        .iter()
        .map(|row| row.iter().map(|v| v * factor).collect())
        .collect();
    let mut sum = identity(n);
    let mut term = identity(n);
    for k in 1..=14 {
        term = product(&term, &scaled);
        for (s, t) in sum.iter_mut().zip(&mut term) {
            for (s, t) in s.iter_mut().zip(t) {
                *t /= k as f64;
                *s += *t;
            }
        }
    }
    for _ in 0..squarings {
        sum = product(&sum, &sum);
    }
    sum
}

/// Three-stage Radau IIA (order 5) with a constant step for `E x' + A x = b(t)`: a method for every index, since for linear
/// equations only `E x` of the start enters. Errors of parts of index two fall with the third power of the step, so the
/// caller compares two steps where it needs to know.
pub struct Radau {
    e: DenseMatrix,
    step: f64,
    factors: Qr,
    now: Vec<f64>,
    time: f64,
}

impl Radau {
    /// Prepares steps of a length; nothing if `E/h c + A` is singular.
    pub fn new(e: DenseMatrix, a: &DenseMatrix, start: Vec<f64>, step: f64) -> Option<Radau> {
        let n = e.len();
        let weights = Radau::inverse();
        let mut big = zeros(3 * n, 3 * n);
        for (i, w) in weights.iter().enumerate() {
            for (j, w) in w.iter().enumerate() {
                for r in 0..n {
                    for c in 0..n {
                        let stiff = if i == j { a[r][c] } else { 0.0 };
                        big[i * n + r][j * n + c] = w / step * e[r][c] + stiff;
                    }
                }
            }
        }
        Some(Radau {
            e,
            step,
            factors: Qr::new(big)?,
            now: start,
            time: 0.0,
        })
    }

    /// The inverse of the coefficient matrix of the method (Hairer, Wanner: Solving ODEs II, IV.8).
    fn inverse() -> [[f64; 3]; 3] {
        let s = 6.0f64.sqrt();
        let a = vec![
            vec![
                (88.0 - 7.0 * s) / 360.0,
                (296.0 - 169.0 * s) / 1800.0,
                (-2.0 + 3.0 * s) / 225.0,
            ],
            vec![
                (296.0 + 169.0 * s) / 1800.0,
                (88.0 + 7.0 * s) / 360.0,
                (-2.0 - 3.0 * s) / 225.0,
            ],
            vec![(16.0 - s) / 36.0, (16.0 + s) / 36.0, 1.0 / 9.0],
        ];
        let mut inverse = [[0.0; 3]; 3];
        // The matrix of the method is regular.
        if let Some(qr) = Qr::new(a) {
            for j in 0..3 {
                let mut unit = [0.0; 3];
                unit[j] = 1.0;
                for (i, v) in qr.solve(&unit).into_iter().enumerate() {
                    inverse[i][j] = v;
                }
            }
        }
        inverse
    }

    /// One step; the values at its end.
    pub fn advance(&mut self, b: impl Fn(f64) -> Vec<f64>) -> &[f64] {
        let n = self.now.len();
        let s = 6.0f64.sqrt();
        let nodes = [(4.0 - s) / 10.0, (4.0 + s) / 10.0, 1.0];
        let ex = times(&self.e, &self.now);
        let mut right = Vec::with_capacity(3 * n);
        for (node, weights) in nodes.iter().zip(Radau::inverse()) {
            let total: f64 = weights.iter().sum::<f64>() / self.step;
            let source = b(self.time + node * self.step);
            right.extend(source.iter().zip(&ex).map(|(b, ex)| b + total * ex));
        }
        let stages = self.factors.solve(&right);
        self.now.copy_from_slice(&stages[2 * n..]);
        self.time += self.step;
        &self.now
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn exponential_of_a_rotation() {
        let e = exponential(&vec![vec![0.0, 3.0], vec![-3.0, 0.0]]);
        assert!((e[0][0] - 3.0f64.cos()).abs() < 1e-14);
        assert!((e[0][1] - 3.0f64.sin()).abs() < 1e-14);
    }

    /// `x' = -x`, and of index two: `y = sin t`, `z = y'`.
    #[test]
    fn radau_has_its_order() {
        let mut e = zeros(3, 3);
        (e[0][0], e[2][1]) = (1.0, -1.0);
        let a = identity(3);
        let a = vec![a[0].clone(), a[1].clone(), a[2].clone()];
        let mut radau = Radau::new(e, &a, vec![1.0, 0.0, 0.0], 1e-3).unwrap();
        for _ in 0..999 {
            radau.advance(|t| vec![0.0, t.sin(), 0.0]);
        }
        let x = radau.advance(|t| vec![0.0, t.sin(), 0.0]);
        // Rounding errors of a thousand steps.
        assert!((x[0] - (-1.0f64).exp()).abs() < 1e-12);
        assert!((x[1] - 1.0f64.sin()).abs() < 1e-12);
        assert!((x[2] - 1.0f64.cos()).abs() < 1e-9);
    }
}
