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
use acausal_solver::newton::Nonlinear;

use super::model::Unknowns;
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
        self.bordered_null_space(at).map(|(space, _)| space)
    }

    /// The same, with a dependent row per direction (by position) and the size of its entries.
    pub(super) fn bordered_null_space(
        &self,
        at: &mut Point,
    ) -> Option<(NullSpace, Vec<(usize, f64)>)> {
        let x = self.gather(at);
        let mut values = vec![0.0; self.pattern.nnz()];
        Unknowns::new(self, at).jacobian(&x, &mut values).ok()?;
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let border = self.defects(&values);
        if border.is_empty() {
            return None;
        }
        null_vectors(&self.pattern, &values, &border)
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

/// Null vectors of a square matrix that is regular when bordered by these rows and columns; with the border rows and the
/// sizes of their entries.
pub(super) fn null_vectors(
    pattern: &Pattern,
    values: &[f64],
    border: &[(usize, usize)],
) -> Option<(NullSpace, Vec<(usize, f64)>)> {
    let n = pattern.size();
    let mut sizes = vec![0.0f64; n];
    for (&row, v) in pattern.row_idx().iter().zip(values) {
        sizes[row as usize] = sizes[row as usize].max(v.abs());
    }
    sizes
        .iter_mut()
        .filter(|s| **s == 0.0)
        .for_each(|s| *s = 1.0);
    let mut of_column: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (d, &(_, j)) in border.iter().enumerate() {
        of_column[j].push((n + d) as u32);
    }
    let (mut col_ptr, mut row_idx, mut bordered) = (vec![0u32], Vec::new(), Vec::new());
    for (j, below) in of_column.iter().enumerate() {
        for k in pattern.range(j) {
            row_idx.push(pattern.row_idx()[k]);
            bordered.push(values[k]);
        }
        row_idx.extend_from_slice(below);
        bordered.extend(below.iter().map(|_| 1.0));
        col_ptr.push(row_idx.len() as u32);
    }
    for &(row, _) in border {
        row_idx.push(row as u32);
        bordered.push(sizes[row]);
        col_ptr.push(row_idx.len() as u32);
    }
    let bordered_pattern = Pattern::new(n + border.len(), col_ptr, row_idx).ok()?;
    let mut lu = Lu::new();
    lu.analyse(&bordered_pattern).ok()?;
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
    let rows = border.iter().map(|&(row, _)| (row, sizes[row]));
    Some((space, rows.collect()))
}
