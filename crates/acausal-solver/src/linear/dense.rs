//! Dense LU with row equilibration and partial pivoting, for systems of a few dozen unknowns.
//!
//! Column-major storage, right-looking elimination, O(n^3/3) multiplications per factorisation and O(n^2) per solve
//! (Golub & Van Loan, Matrix Computations, alg. 3.4.1).

use super::{LinearSolver, Singular, ZERO_PIVOT, hager_condition, row_scales};
use crate::pattern::Pattern;

/// Dense LU factors of a small matrix.
#[derive(Clone, Debug)]
pub struct DenseLu {
    pattern: Pattern,
    /// Column-major `L` (unit, below the diagonal) and `U`.
    a: Vec<f64>,
    /// Row `pivot[k]` of the matrix stands at position `k`.
    pivot: Vec<usize>,
    scale: Vec<f64>,
    work: Vec<f64>,
    norm: f64,
    /// The condition estimate works on the equilibrated matrix, which takes right-hand sides unscaled.
    apply_scale: bool,
}

impl Default for DenseLu {
    fn default() -> Self {
        Self {
            pattern: Pattern::dense(0),
            a: Vec::new(),
            pivot: Vec::new(),
            scale: Vec::new(),
            work: Vec::new(),
            norm: 0.0,
            apply_scale: true,
        }
    }
}

impl DenseLu {
    /// Estimate of the 1-norm condition number of the row-equilibrated matrix.
    pub fn condition(&mut self) -> f64 {
        let (n, norm) = (self.pattern.size(), self.norm);
        self.apply_scale = false;
        let condition = hager_condition(self, n, norm);
        self.apply_scale = true;
        condition
    }
}

impl LinearSolver for DenseLu {
    fn factor_work(&self) -> f64 {
        2.0 + self.pivot.len() as f64 / 3.0
    }

    fn factor_entries(&self) -> Option<usize> {
        Some(self.a.len())
    }

    fn analyse(&mut self, pattern: &Pattern) -> Result<(), Singular> {
        let n = pattern.size();
        self.pattern = pattern.clone();
        self.a = vec![0.0; n * n];
        self.pivot = vec![0; n];
        self.scale = vec![1.0; n];
        self.work = vec![0.0; n];
        // The elimination would find a structural singularity too, but could not tell it from a numerical one.
        super::btf::block_form(pattern).map(|_| ())
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        let n = self.pattern.size();
        row_scales(&self.pattern, values, &mut self.scale);
        self.a.fill(0.0);
        self.norm = 0.0;
        for j in 0..n {
            let column = &mut self.a[j * n..(j + 1) * n];
            let mut sum = 0.0;
            for k in self.pattern.range(j) {
                let row = self.pattern.row_idx()[k] as usize;
                let v = values[k] * self.scale[row];
                column[row] = v;
                sum += v.abs();
            }
            // The column maximum before elimination decides later which pivots are rounding errors.
            self.work[j] = column.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
            self.norm = self.norm.max(sum);
        }
        for (k, p) in self.pivot.iter_mut().enumerate() {
            *p = k;
        }
        for k in 0..n {
            let column = &self.a[k * n..(k + 1) * n];
            let mut best = k;
            for i in k + 1..n {
                if column[i].abs() > column[best].abs() {
                    best = i;
                }
            }
            let pivot = column[best];
            let usable = pivot.is_finite() && pivot.abs() > ZERO_PIVOT * self.work[k];
            if !usable {
                return Err(Singular {
                    row: self.pivot[best],
                    col: k,
                    structural: false,
                });
            }
            if best != k {
                self.pivot.swap(k, best);
                for j in 0..n {
                    self.a.swap(j * n + k, j * n + best);
                }
            }
            let reciprocal = 1.0 / pivot;
            let (left, right) = self.a.split_at_mut((k + 1) * n);
            let multipliers = &mut left[k * n + k + 1..];
            for v in multipliers.iter_mut() {
                *v *= reciprocal;
            }
            for column in right.chunks_exact_mut(n) {
                let u = column[k];
                if u != 0.0 {
                    for (x, l) in column[k + 1..].iter_mut().zip(multipliers.iter()) {
                        *x -= l * u;
                    }
                }
            }
        }
        Ok(())
    }

    fn solve(&mut self, rhs: &mut [f64]) {
        let n = self.pattern.size();
        let x = &mut self.work;
        for (k, v) in x.iter_mut().enumerate() {
            let row = self.pivot[k];
            *v = rhs[row]
                * if self.apply_scale {
                    self.scale[row]
                } else {
                    1.0
                };
        }
        for k in 0..n {
            let (head, tail) = x.split_at_mut(k + 1);
            let pivot = head[k];
            for (v, l) in tail.iter_mut().zip(&self.a[k * n + k + 1..(k + 1) * n]) {
                *v -= l * pivot;
            }
        }
        for k in (0..n).rev() {
            let column = &self.a[k * n..(k + 1) * n];
            let (head, tail) = x.split_at_mut(k);
            let value = tail[0] / column[k];
            tail[0] = value;
            for (v, u) in head.iter_mut().zip(column) {
                *v -= u * value;
            }
        }
        rhs.copy_from_slice(x);
    }

    fn solve_transposed(&mut self, rhs: &mut [f64]) {
        let n = self.pattern.size();
        let x = &mut self.work;
        x.copy_from_slice(rhs);
        for k in 0..n {
            let column = &self.a[k * n..(k + 1) * n];
            let dot: f64 = x[..k].iter().zip(column).map(|(v, u)| v * u).sum();
            x[k] = (x[k] - dot) / column[k];
        }
        for k in (0..n).rev() {
            let column = &self.a[k * n + k + 1..(k + 1) * n];
            let dot: f64 = x[k + 1..].iter().zip(column).map(|(v, l)| v * l).sum();
            x[k] -= dot;
        }
        for (k, &v) in x.iter().enumerate() {
            let row = self.pivot[k];
            rhs[row] = v * if self.apply_scale {
                self.scale[row]
            } else {
                1.0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_and_its_transpose() {
        // [1e-8 2e-8; 3 4] x = [5e-8; 11] has the solution [1, 2].
        let mut lu = DenseLu::default();
        lu.analyse(&Pattern::dense(2)).unwrap();
        lu.factor(&[1e-8, 3.0, 2e-8, 4.0]).unwrap();
        let mut x = [5e-8, 11.0];
        lu.solve(&mut x);
        assert!(
            (x[0] - 1.0).abs() < 1e-13 && (x[1] - 2.0).abs() < 1e-13,
            "{x:?}"
        );
        // Transposed: [1e-8 3; 2e-8 4] x = [6, 8] has the solution [0, 2].
        let mut x = [6.0, 8.0];
        lu.solve_transposed(&mut x);
        assert!(x[0].abs() < 1e-5 && (x[1] - 2.0).abs() < 1e-13, "{x:?}");
    }

    #[test]
    fn dependent_rows_are_named() {
        let mut lu = DenseLu::default();
        lu.analyse(&Pattern::dense(3)).unwrap();
        // Third row = first + second.
        let error = lu
            .factor(&[1.0, 0.1, 1.1, 0.3, 2.0, 2.3, 0.7, 0.9, 1.6])
            .unwrap_err();
        assert_eq!(error.col, 2);
        assert!(!error.structural);
    }

    #[test]
    fn condition_of_a_diagonal_matrix_ignores_row_scaling() {
        let mut lu = DenseLu::default();
        lu.analyse(&Pattern::from_entries(3, [(0, 0), (1, 1), (2, 2)]).unwrap())
            .unwrap();
        lu.factor(&[1e-12, 1.0, 1e12]).unwrap();
        assert!(lu.condition() < 4.0);
    }
}
