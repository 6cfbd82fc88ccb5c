//! Triangular solves with the factors: the hot loop of an integration.
//!
//! `A = R^-1 P' (L U, block by block) Q'`: scale and permute the right-hand side, then per block from the last to the
//! first a forward and a backward substitution, and the block's solution times the entries above it is subtracted from
//! the rows of earlier blocks. Bounds are checked once: [`SparseLu::factor_with_pivoting`] makes all indices smaller
//! than n.

use super::{Columns, SparseLu};

impl SparseLu {
    pub(super) fn solve_factored(&mut self, rhs: &mut [f64]) {
        assert!(
            self.factored && rhs.len() == self.n,
            "solve needs a factorisation of the same size"
        );
        let x = &mut self.x[..];
        if self.apply_scale {
            for ((v, &row), &s) in x.iter_mut().zip(&self.row).zip(&self.scale) {
                *v = rhs[row as usize] * s;
            }
        } else {
            for (v, &row) in x.iter_mut().zip(&self.row) {
                *v = rhs[row as usize];
            }
        }
        for bounds in self.block.windows(2).rev() {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            if end - start > 1 {
                for k in start..end {
                    subtract_column(&self.l, k, x[k], x);
                }
                for k in (start..end).rev() {
                    let value = x[k] * self.inverse[k];
                    x[k] = value;
                    subtract_column(&self.u, k, value, x);
                }
            } else {
                x[start] *= self.inverse[start];
            }
            if start > 0 {
                for k in start..end {
                    subtract_column(&self.above, k, x[k], x);
                }
            }
        }
        for (&v, &column) in x.iter().zip(&self.col) {
            rhs[column as usize] = v;
        }
        x.fill(0.0);
    }

    pub(super) fn solve_factored_transposed(&mut self, rhs: &mut [f64]) {
        assert!(
            self.factored && rhs.len() == self.n,
            "solve needs a factorisation of the same size"
        );
        let x = &mut self.x[..];
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
        x.fill(0.0);
    }
}

/// `x -= column k times value`.
#[inline(always)]
fn subtract_column(columns: &Columns, k: usize, value: f64, x: &mut [f64]) {
    let range = columns.ptr[k] as usize..columns.ptr[k + 1] as usize;
    for (&i, &a) in columns.idx[range.clone()].iter().zip(&columns.val[range]) {
        x[i as usize] -= a * value;
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
