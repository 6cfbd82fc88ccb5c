//! Triangular solves with the factors: the hot loop of an integration.
//!
//! `A = R^-1 P' (L U, block by block) Q'`: scale and permute the right-hand side, then per block from the last to the
//! first a forward and a backward substitution, and the block's solution times the entries above it is subtracted from
//! the rows of earlier blocks. Each value goes back to its place in the right-hand side as soon as it is final.
//!
//! Safety of the unchecked accesses: a successful factorisation (asserted) leaves `row` and `col` as permutations of
//! `0..n`, column pointers of length n + 1 that do not decrease and end at the lengths of the index and value arrays,
//! and row indices below n; [`SparseLu::check_structure`] verifies this once per analysis of pivots.

use super::{Columns, SparseLu};

impl SparseLu {
    pub(super) fn solve_factored(&mut self, rhs: &mut [f64]) {
        assert!(
            self.factored && rhs.len() == self.n,
            "solve needs a factorisation of the same size"
        );
        let (inverse, col) = (&self.inverse[..self.n], &self.col[..self.n]);
        let x = &mut self.work[..self.n];
        if self.apply_scale {
            for ((v, &row), &s) in x.iter_mut().zip(&self.row).zip(&self.scale) {
                // SAFETY: rows are below n = rhs.len().
                *v = unsafe { *rhs.get_unchecked(row as usize) } * s;
            }
        } else {
            for (v, &row) in x.iter_mut().zip(&self.row) {
                *v = rhs[row as usize];
            }
        }
        for bounds in self.block.windows(2).rev() {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            // SAFETY: k < n, and the structure of the columns was checked (see the module text).
            unsafe {
                if end - start > 1 {
                    for k in start..end {
                        let value = *x.get_unchecked(k);
                        subtract_column(&self.l, k, value, x);
                    }
                    for k in (start..end).rev() {
                        let value = *x.get_unchecked(k) * *inverse.get_unchecked(k);
                        *x.get_unchecked_mut(k) = value;
                        *rhs.get_unchecked_mut(*col.get_unchecked(k) as usize) = value;
                        subtract_column(&self.u, k, value, x);
                    }
                } else {
                    let value = x[start] * inverse[start];
                    x[start] = value;
                    rhs[col[start] as usize] = value;
                }
                if start > 0 {
                    for k in start..end {
                        let value = *x.get_unchecked(k);
                        subtract_column(&self.above, k, value, x);
                    }
                }
            }
        }
    }

    pub(super) fn solve_factored_transposed(&mut self, rhs: &mut [f64]) {
        assert!(
            self.factored && rhs.len() == self.n,
            "solve needs a factorisation of the same size"
        );
        let x = &mut self.work[..];
        for (v, &column) in x.iter_mut().zip(&self.col) {
            *v = rhs[column as usize];
        }
        for bounds in self.block.windows(2) {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            for k in start..end {
                x[k] -= dot_column(&self.above, k, x);
            }
            for k in start..end {
                x[k] = (x[k] - dot_column(&self.u, k, x)) * self.inverse[k];
            }
            for k in (start..end).rev() {
                x[k] -= dot_column(&self.l, k, x);
            }
        }
        for ((&v, &row), &s) in x.iter().zip(&self.row).zip(&self.scale) {
            rhs[row as usize] = if self.apply_scale { v * s } else { v };
        }
    }

    /// What the unchecked accesses of the solves rely on.
    pub(super) fn check_structure(&self) {
        let n = self.n;
        let below = |indices: &[u32]| indices.iter().all(|&i| (i as usize) < n);
        for columns in [&self.l, &self.u, &self.above] {
            assert!(
                columns.ptr.len() == n + 1
                    && columns.ptr.is_sorted()
                    && columns.idx.len() == columns.val.len()
            );
            assert!(columns.ptr[n] as usize == columns.idx.len() && below(&columns.idx));
        }
        assert!(self.row.len() == n && self.col.len() == n && below(&self.row) && below(&self.col));
        assert!(
            self.block.first() == Some(&0)
                && self.block.is_sorted()
                && self.block.last() == Some(&(n as u32))
        );
    }
}

/// `x -= column k times value`.
///
/// # Safety
/// `k < n`, and the columns satisfy [`SparseLu::check_structure`] for `n = x.len()`.
#[inline(always)]
unsafe fn subtract_column(columns: &Columns, k: usize, value: f64, x: &mut [f64]) {
    // SAFETY: by the contract all positions lie inside the arrays and all rows inside x.
    unsafe {
        let start = *columns.ptr.get_unchecked(k) as usize;
        let end = *columns.ptr.get_unchecked(k + 1) as usize;
        for at in start..end {
            let i = *columns.idx.get_unchecked(at) as usize;
            *x.get_unchecked_mut(i) -= *columns.val.get_unchecked(at) * value;
        }
    }
}

/// Scalar product of column k with x.
#[inline(always)]
fn dot_column(columns: &Columns, k: usize, x: &[f64]) -> f64 {
    let range = columns.ptr[k] as usize..columns.ptr[k + 1] as usize;
    columns.idx[range.clone()]
        .iter()
        .zip(&columns.val[range])
        .map(|(&i, &a)| a * x[i as usize])
        .sum()
}
