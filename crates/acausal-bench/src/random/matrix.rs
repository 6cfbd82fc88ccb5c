//! The numerics of the answers, which share nothing with the simulator: LU with partial pivoting, an estimate of the
//! condition number, the matrix exponential, and Radau IIA for linear differential-algebraic equations.

/// A dense matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

/// The zero matrix.
pub fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![0.0; columns]; rows]
}

/// The identity.
pub fn identity(n: usize) -> Matrix {
    let mut m = zeros(n, n);
    for (k, row) in m.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    m
}

/// `a * x`.
pub fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter()
        .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}

/// `a * b`.
pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
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
pub fn norm1(a: &Matrix) -> f64 {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns)
        .map(|j| a.iter().map(|row| row[j].abs()).sum())
        .fold(0.0, f64::max)
}

/// Factors `P A = L U`, rows with the zeros right of their last entry left out, so that a band costs what a band should.
#[derive(Clone, Debug)]
pub struct Lu {
    rows: Matrix,
    /// Row `k` of the factors is row `order[k]` of the matrix.
    order: Vec<usize>,
    norm: f64,
    /// The determinant is negative.
    pub negative: bool,
}

impl Lu {
    /// The factors, or nothing if a pivot vanishes.
    pub fn new(mut a: Matrix) -> Option<Lu> {
        let n = a.len();
        let norm = norm1(&a);
        let last = |row: &Vec<f64>| row.iter().rposition(|v| *v != 0.0).unwrap_or(0);
        let mut ends: Vec<usize> = a.iter().map(last).collect();
        let mut order: Vec<usize> = (0..n).collect();
        let mut negative = false;
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
            a.swap(k, pivot);
            ends.swap(k, pivot);
            order.swap(k, pivot);
            let (above, below) = a.split_at_mut(k + 1);
            let (row, end) = (&above[k], ends[k]);
            let p = row[k];
            if p == 0.0 || !p.is_finite() {
                return None;
            }
            negative ^= (p < 0.0) ^ (pivot != k);
            for (other, e) in below.iter_mut().zip(&mut ends[k + 1..]) {
                if other[k] == 0.0 {
                    continue;
                }
                let f = other[k] / p;
                other[k] = f;
                for j in k + 1..=end {
                    other[j] -= f * row[j];
                }
                *e = (*e).max(end);
            }
        }
        Some(Lu {
            rows: a,
            order,
            norm,
            negative,
        })
    }

    /// The solution of `A x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let mut x: Vec<f64> = self.order.iter().map(|&k| b[k]).collect();
        for k in 0..n {
            let sum: f64 = (0..k).map(|j| self.rows[k][j] * x[j]).sum();
            x[k] -= sum;
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| self.rows[k][j] * x[j]).sum();
            x[k] = (x[k] - sum) / self.rows[k][k];
        }
        x
    }

    /// The solution of `A' x = b`.
    fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let mut y = b.to_vec();
        for k in 0..n {
            y[k] /= self.rows[k][k];
            for j in k + 1..n {
                y[j] -= self.rows[k][j] * y[k];
            }
        }
        for k in (0..n).rev() {
            for j in 0..k {
                y[j] -= self.rows[k][j] * y[k];
            }
        }
        let mut x = vec![0.0; n];
        for (k, &row) in self.order.iter().enumerate() {
            x[row] = y[k];
        }
        x
    }

    /// An estimate of the condition number in the 1-norm, from below and rarely by more than a factor of three (Hager
    /// 1984).
    pub fn condition(&self) -> f64 {
        let n = self.rows.len();
        let mut x = vec![1.0 / n as f64; n];
        let mut estimate = 0.0f64;
        for _ in 0..5 {
            let y = self.solve(&x);
            let norm: f64 = y.iter().map(|v| v.abs()).sum();
            if norm <= estimate {
                break;
            }
            estimate = norm;
            let signs: Vec<f64> = y.iter().map(|v| v.signum()).collect();
            let z = self.solve_transposed(&signs);
            let Some(k) = (0..n).max_by(|&i, &j| z[i].abs().total_cmp(&z[j].abs())) else {
                break;
            };
            x = vec![0.0; n];
            x[k] = 1.0;
        }
        estimate * self.norm
    }
}

/// `exp(a)` by scaling and squaring of the Taylor series: with a norm below 1/4 the 14th term is below rounding.
pub fn exponential(a: &Matrix) -> Matrix {
    let n = a.len();
    let squarings = (norm1(a) * 4.0).log2().ceil().max(0.0) as i32;
    let factor = 0.5f64.powi(squarings);
    let scaled: Matrix = a
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
    e: Matrix,
    step: f64,
    lu: Lu,
    now: Vec<f64>,
    time: f64,
}

impl Radau {
    /// Prepares steps of a length; nothing if `E/h c + A` is singular.
    pub fn new(e: Matrix, a: &Matrix, start: Vec<f64>, step: f64) -> Option<Radau> {
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
            lu: Lu::new(big)?,
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
        if let Some(lu) = Lu::new(a) {
            for j in 0..3 {
                let mut unit = [0.0; 3];
                unit[j] = 1.0;
                for (i, v) in lu.solve(&unit).into_iter().enumerate() {
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
        let stages = self.lu.solve(&right);
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
    fn factors_solve_both_ways() {
        let a = vec![
            vec![0.0, 2.0, 1.0],
            vec![1.0, 1.0, 0.0],
            vec![3.0, 0.0, -1.0],
        ];
        let lu = Lu::new(a.clone()).unwrap();
        for (r, b) in times(&a, &lu.solve(&[1.0, 2.0, 3.0]))
            .iter()
            .zip([1.0, 2.0, 3.0])
        {
            assert!((r - b).abs() < 1e-14);
        }
        let x = lu.solve_transposed(&[1.0, 2.0, 3.0]);
        let back: Vec<f64> = (0..3)
            .map(|j| (0..3).map(|i| a[i][j] * x[i]).sum())
            .collect();
        assert!((back[0] - 1.0).abs() < 1e-14 && (back[2] - 3.0).abs() < 1e-14);
        // Inverse of [[1, 1], [0, 0.001]]: [[1, -1000], [0, 1000]]; 1-norms 1.001 and 2000.
        let bad = Lu::new(vec![vec![1.0, 1.0], vec![0.0, 0.001]]).unwrap();
        assert!((bad.condition() / 2002.0 - 1.0).abs() < 1e-12);
        assert!(Lu::new(vec![vec![1.0, 2.0], vec![2.0, 4.0]]).is_none());
    }

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
        assert!((x[0] - (-1.0f64).exp()).abs() < 1e-13);
        assert!((x[1] - 1.0f64.sin()).abs() < 1e-13);
        assert!((x[2] - 1.0f64.cos()).abs() < 1e-9);
    }
}
