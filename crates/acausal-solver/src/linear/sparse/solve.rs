//! Triangular solves with the factors: the hot loop of an integration.
//!
//! `A = R^-1 P' (L U, block by block) Q'`: scale and permute the right-hand side, then per block from the last to the
//! first a forward and a backward substitution, and the block's solution times the entries above it is subtracted from
//! the rows of earlier blocks. Each value goes back to its place in the right-hand side as soon as it is final.
//!
//! Safety of the unchecked accesses: a successful factorisation (asserted) leaves `row` and `col` as permutations of
//! `0..n`, column pointers of length n + 1 that do not decrease and end at the lengths of the index and value arrays,
//! and row indices below n; [`SparseLu::check_structure`] verifies this once per analysis of pivots.

use std::ops::Range;

use super::panel::{Panels, UpperRows, eliminate, substitute};
use super::{SparseColumns, SparseLu};

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
                    if self.l_panels.in_use() {
                        forward_by_panels(&self.l, &self.l_panels, start..end, x);
                    } else {
                        for k in start..end {
                            let value = *x.get_unchecked(k);
                            subtract_column(&self.l, k, value, x);
                        }
                    }
                    if self.u_rows.panels.in_use() {
                        backward_by_panels(&self.u_rows, inverse, start..end, x);
                        for k in start..end {
                            *rhs.get_unchecked_mut(*col.get_unchecked(k) as usize) =
                                *x.get_unchecked(k);
                        }
                    } else {
                        for k in (start..end).rev() {
                            let value = *x.get_unchecked(k) * *inverse.get_unchecked(k);
                            *x.get_unchecked_mut(k) = value;
                            *rhs.get_unchecked_mut(*col.get_unchecked(k) as usize) = value;
                            subtract_column(&self.u, k, value, x);
                        }
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
        let mut all = vec![&self.l, &self.u, &self.above];
        if self.u_rows.panels.in_use() {
            all.push(&self.u_rows.rows);
        }
        for columns in all {
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

/// Forward substitution inside a block.
///
/// # Safety
/// The range lies in `0..n`, and `l` satisfies [`SparseLu::check_structure`] for `n = x.len()`.
unsafe fn forward_by_panels(
    l: &SparseColumns,
    panels: &Panels,
    range: Range<usize>,
    x: &mut [f64],
) {
    let mut k = range.start;
    while k < range.end {
        let width = panels.width(k);
        // SAFETY: by the contract; panels are those of `l`.
        unsafe {
            match width {
                4 => drop(eliminate::<4>(l, k, x)),
                2 => drop(eliminate::<2>(l, k, x)),
                _ => drop(eliminate::<1>(l, k, x)),
            }
        }
        k += width;
    }
}

/// Backward substitution inside a block.
///
/// # Safety
/// As for [`forward_by_panels`], with the rows of U.
unsafe fn backward_by_panels(u: &UpperRows, inverse: &[f64], range: Range<usize>, x: &mut [f64]) {
    let mut end = range.end;
    while end > range.start {
        let width = u.panels.width_before(end);
        // SAFETY: by the contract; panels are those of `u`.
        unsafe {
            match width {
                4 => substitute::<4>(&u.rows, inverse, end - 4, x),
                2 => substitute::<2>(&u.rows, inverse, end - 2, x),
                _ => substitute::<1>(&u.rows, inverse, end - 1, x),
            }
        }
        end -= width;
    }
}

/// `x -= column k times value`.
///
/// # Safety
/// `k < n`, and the columns satisfy [`SparseLu::check_structure`] for `n = x.len()`.
#[inline(always)]
unsafe fn subtract_column(columns: &SparseColumns, k: usize, value: f64, x: &mut [f64]) {
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
fn dot_column(columns: &SparseColumns, k: usize, x: &[f64]) -> f64 {
    let range = columns.ptr[k] as usize..columns.ptr[k + 1] as usize;
    columns.idx[range.clone()]
        .iter()
        .zip(&columns.val[range])
        .map(|(&i, &a)| a * x[i as usize])
        .sum()
}
