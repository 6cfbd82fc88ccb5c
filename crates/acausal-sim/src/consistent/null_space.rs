//! What the equations of a solved system leave open: directions in which the unknowns may move, and the combinations of
//! equations that say nothing.
//!
//! In: a system whose Jacobian J is singular at the values at hand. Out ([`NullSpace`]): vectors x with `J x = 0` and y with
//! `y' J = 0`, one of each per defect that was seen. J is bordered by a column for a dependent equation and a row for an
//! undetermined unknown of each defect; the bordered matrix is regular, and the solutions for unit vectors in the
//! border are the null vectors (Govaerts, *Numerical Methods for Bifurcations of Dynamical Equilibria*, 2000, sec. 3.2).
//! The cost is that of one sparse factorisation.
//!
//! Example: `x + y = 1; 2*x + 2*y = 2`: bordered by (0, 1)' and (1, 0), x is a multiple of (1, -1), y of (2, -1).

use acausal_solver::Pattern;
use acausal_solver::linear::{LinearSolver, Lu, RankDeficiency, rank_deficiency};

use super::{ConsistentSystem, Point};

/// Null vectors of the Jacobian of a [`ConsistentSystem`].
pub(crate) struct NullSpace {
    /// Per defect: a direction of the unknowns, by position among the columns.
    pub right: Vec<Vec<f64>>,
    /// Per defect: coefficients of the equations, by position among the rows.
    pub left: Vec<Vec<f64>>,
}

impl ConsistentSystem {
    /// Unknown columns of the initial Jacobian.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Rows in use.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The null vectors at values that satisfy the equations; nothing if the Jacobian is regular there.
    pub fn null_space(&self, at: &mut Point) -> Option<NullSpace> {
        let n = self.rows.len();
        let all = at.machine.initial_jacobian(at.t, at.y, at.yp);
        let values: Vec<f64> = self.entries.iter().map(|&k| all[k as usize]).collect();
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let border = self.defects(&values);
        if border.is_empty() {
            return None;
        }
        let mut sizes = vec![0.0f64; n];
        for (&row, v) in self.pattern.row_idx().iter().zip(&values) {
            sizes[row as usize] = sizes[row as usize].max(v.abs());
        }
        let (mut col_ptr, mut row_idx, mut bordered) = (vec![0u32], Vec::new(), Vec::new());
        for j in 0..n {
            for k in self.pattern.range(j) {
                row_idx.push(self.pattern.row_idx()[k]);
                bordered.push(values[k]);
            }
            for (d, _) in border.iter().enumerate().filter(|(_, b)| b.1 == j) {
                row_idx.push((n + d) as u32);
                bordered.push(1.0);
            }
            col_ptr.push(row_idx.len() as u32);
        }
        for &(row, _) in &border {
            row_idx.push(row as u32);
            bordered.push(if sizes[row] > 0.0 { sizes[row] } else { 1.0 });
            col_ptr.push(row_idx.len() as u32);
        }
        let pattern = Pattern::new(n + border.len(), col_ptr, row_idx).ok()?;
        let mut lu = Lu::new();
        lu.analyse(&pattern).ok()?;
        lu.factor(&bordered).ok()?;
        let mut space = NullSpace {
            right: Vec::new(),
            left: Vec::new(),
        };
        for d in 0..border.len() {
            for (vectors, transposed) in [(&mut space.right, false), (&mut space.left, true)] {
                let mut v = vec![0.0; n + border.len()];
                v[n + d] = 1.0;
                match transposed {
                    false => lu.solve(&mut v),
                    true => lu.solve_transposed(&mut v),
                }
                v.truncate(n);
                vectors.push(v);
            }
        }
        Some(space)
    }

    /// A dependent equation and an undetermined unknown per defect of the singular blocks.
    fn defects(&self, values: &[f64]) -> Vec<(usize, usize)> {
        let pairs = |d: &RankDeficiency| -> Vec<(usize, usize)> {
            let (rows, cols) = &d.left_over;
            rows.iter().copied().zip(cols.iter().copied()).collect()
        };
        let Some(blocks) = &self.blocks else {
            let whole = rank_deficiency(&self.pattern, values);
            return whole.iter().flat_map(pairs).collect();
        };
        let mut found = Vec::new();
        for &k in &self.singular {
            let (rows, cols) = blocks.block(k);
            let (pattern, own) = blocks.matrix(k, values);
            for (i, j) in rank_deficiency(pattern, &own).iter().flat_map(pairs) {
                found.push((rows[i] as usize, cols[j] as usize));
            }
        }
        found
    }
}
