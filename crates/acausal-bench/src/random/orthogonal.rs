//! `A = Q R` by Householder's reflections: the direct solve of the answers.
//!
//! Elimination with partial pivoting will not do here. On rings, and on other matrices whose columns are filled at the end, its entries may grow by a
//! factor per row however well conditioned the matrix is, and nothing in the solution shows it (Wright, "A collection of problems for which Gaussian
//! elimination with partial pivoting is unstable", SIAM J. Sci. Comput. 14, 1993). Reflections leave the lengths of columns as they are, so the solution
//! is that of a matrix within rounding of the given one (Higham, Accuracy and Stability of Numerical Algorithms, theorem 19.5), for every matrix, and a
//! step of iterative refinement could not improve on it.
//!
//! Rows are scaled to one size before, since a reflection mixes them: a small row next to a large one would be known to the rounding errors of the large one only (Powell and Reid
//! 1969). The sizes of columns do not matter.
//!
//! A reflection takes only the rows that have an entry in its column, up to the last entry that any of them has: a band costs `n` times the square of its width, a
//! full matrix `4/3 n^3`.
//!
//! Example: `[3, 1; 4, 2]`. The first column has the length 5 and is reflected to `(-5, 0)`; with it the second becomes `(-2.2, 0.4)` up to the sign below.

use super::matrix::{DenseMatrix, norm1};

/// The factors.
#[derive(Clone, Debug)]
pub struct Qr {
    /// The triangle, row by row; what stands left of the diagonal is rubbish.
    r: DenseMatrix,
    /// One past the last entry of each row of the triangle.
    ends: Vec<usize>,
    reflections: Vec<Reflection>,
    /// Rows of the matrix have been multiplied by these powers of two.
    sizes: Vec<f64>,
    norm: f64,
    /// The determinant is negative.
    pub negative: bool,
}

/// `I - v v'` with `v` of the length `sqrt(2)`, by its entries.
#[derive(Clone, Debug)]
struct Reflection(Vec<(usize, f64)>);

impl Reflection {
    fn apply(&self, b: &mut [f64]) {
        let along: f64 = self.0.iter().map(|&(i, v)| v * b[i]).sum();
        for &(i, v) in &self.0 {
            b[i] -= along * v;
        }
    }
}

impl Qr {
    /// The factors, or nothing if a column depends on those before it to the last bit.
    pub fn new(mut a: DenseMatrix) -> Option<Qr> {
        let n = a.len();
        let norm = norm1(&a);
        let largest = |row: &Vec<f64>| row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // An empty row or one that is not finite shows below.
        let size = |row: &Vec<f64>| match largest(row) {
            m if m.is_normal() => 0.5f64.powi(m.log2().round() as i32),
            _ => 1.0,
        };
        let sizes: Vec<f64> = a.iter().map(size).collect();
        for (row, size) in a.iter_mut().zip(&sizes) {
            row.iter_mut().for_each(|v| *v *= size);
        }
        let end = |row: &Vec<f64>| row.iter().rposition(|v| *v != 0.0).map_or(0, |k| k + 1);
        let mut ends: Vec<usize> = a.iter().map(end).collect();
        let mut reflections = Vec::new();
        let mut negative = false;
        let mut along = vec![0.0; n];
        for k in 0..n {
            let rows: Vec<usize> = (k..n).filter(|&i| i == k || a[i][k] != 0.0).collect();
            if rows.len() > 1 {
                let largest = rows.iter().fold(0.0f64, |m, &i| m.max(a[i][k].abs()));
                let length = largest
                    * rows
                        .iter()
                        .map(|&i| (a[i][k] / largest).powi(2))
                        .sum::<f64>()
                        .sqrt();
                // Away from the entry that is there, so that nothing cancels.
                let to = if a[k][k] > 0.0 { -length } else { length };
                let size = (length * (length + a[k][k].abs())).sqrt();
                let of = |i: usize| a[i][k] - if i == k { to } else { 0.0 };
                let v: Vec<(usize, f64)> = rows.iter().map(|&i| (i, of(i) / size)).collect();
                let last = rows.iter().map(|&i| ends[i]).max().unwrap_or(k + 1);
                let along = &mut along[k..last];
                along.fill(0.0);
                for &(i, v) in &v {
                    let row = &a[i][k..last];
                    along.iter_mut().zip(row).for_each(|(s, a)| *s += v * a);
                }
                for &(i, v) in &v {
                    let row = &mut a[i][k..last];
                    row.iter_mut().zip(&*along).for_each(|(a, s)| *a -= v * s);
                    // Zero but for rounding.
                    a[i][k] = if i == k { to } else { 0.0 };
                    ends[i] = last;
                }
                reflections.push(Reflection(v));
                negative = !negative;
            }
            if a[k][k] == 0.0 || !a[k][k].is_finite() {
                return None;
            }
            negative ^= a[k][k] < 0.0;
        }
        Some(Qr {
            r: a,
            ends,
            reflections,
            sizes,
            norm,
            negative,
        })
    }

    /// The solution of `A x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = b.iter().zip(&self.sizes).map(|(b, s)| b * s).collect();
        for reflection in &self.reflections {
            reflection.apply(&mut x);
        }
        for k in (0..x.len()).rev() {
            let entries = self.r[k][k + 1..self.ends[k]].iter().zip(&x[k + 1..]);
            let sum: f64 = entries.map(|(r, x)| r * x).sum();
            x[k] = (x[k] - sum) / self.r[k][k];
        }
        x
    }

    /// The solution of `A' x = b`.
    fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for k in 0..x.len() {
            x[k] /= self.r[k][k];
            let (known, rest) = x.split_at_mut(k + 1);
            let entries = &self.r[k][k + 1..self.ends[k].max(k + 1)];
            rest.iter_mut()
                .zip(entries)
                .for_each(|(x, r)| *x -= r * known[k]);
        }
        for reflection in self.reflections.iter().rev() {
            reflection.apply(&mut x);
        }
        x.iter_mut().zip(&self.sizes).for_each(|(x, s)| *x *= s);
        x
    }

    /// An estimate of the condition number in the 1-norm, from below and rarely by more than a factor of three (Hager
    /// 1984).
    pub fn condition(&self) -> f64 {
        let n = self.r.len();
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::matrix::{identity, times};
    use super::*;

    #[test]
    fn factors_solve_both_ways() {
        let a = vec![
            vec![0.0, 2.0, 1.0],
            vec![1.0, 1.0, 0.0],
            vec![3.0, 0.0, -1.0],
        ];
        let qr = Qr::new(a.clone()).unwrap();
        // By the first row: -2*(-1 - 0) + 1*(0 - 3) = -1.
        assert!(qr.negative);
        let back = times(&a, &qr.solve(&[1.0, 2.0, 3.0]));
        for (r, b) in back.iter().zip([1.0, 2.0, 3.0]) {
            assert!((r - b).abs() < 1e-14);
        }
        let x = qr.solve_transposed(&[1.0, 2.0, 3.0]);
        let back: Vec<f64> = (0..3)
            .map(|j| (0..3).map(|i| a[i][j] * x[i]).sum())
            .collect();
        for (r, b) in back.iter().zip([1.0, 2.0, 3.0]) {
            assert!((r - b).abs() < 1e-14);
        }
        // Inverse of [[1, 1], [0, 0.001]]: [[1, -1000], [0, 1000]]; 1-norms 1.001 and 2000.
        let bad = Qr::new(vec![vec![1.0, 1.0], vec![0.0, 0.001]]).unwrap();
        assert!((bad.condition() / 2002.0 - 1.0).abs() < 1e-12);
        // Singular: exactly, or to rounding.
        assert!(Qr::new(vec![vec![1.0, 0.0], vec![2.0, 0.0]]).is_none());
        let flat = Qr::new(vec![vec![1.0, 2.0], vec![2.0, 4.0]]);
        assert!(flat.is_none_or(|qr| qr.condition() > 1e15));
        assert!(!Qr::new(identity(3)).unwrap().negative);
    }

    /// Wright's matrices: ones on the diagonal and in the last column, -1 below the diagonal. With partial pivots no rows are exchanged and the last column
    /// doubles in every row, to 2^99 here; the solution for `b = A (1, ..., 1)` loses all digits. The condition number is below 100.
    #[test]
    fn no_growth_where_partial_pivots_grow() {
        let n = 100;
        let mut a = identity(n);
        for (i, row) in a.iter_mut().enumerate() {
            row[..i].fill(-1.0);
            row[n - 1] = 1.0;
        }
        // Ones would be exact in any arithmetic of integers.
        let expected: Vec<f64> = (0..n).map(|k| (0.7 * k as f64).sin()).collect();
        let qr = Qr::new(a.clone()).unwrap();
        let found = qr.solve(&times(&a, &expected));
        for (x, e) in found.iter().zip(&expected) {
            assert!((x - e).abs() < 1e-12, "{x} {e}");
        }
        assert!(qr.condition() < 200.0, "{}", qr.condition());
    }
}
