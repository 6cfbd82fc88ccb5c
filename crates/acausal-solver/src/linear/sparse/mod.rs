//! Sparse left-looking LU for circuit- and model-like matrices: block triangular form, minimum degree inside the
//! blocks, Gilbert-Peierls elimination with threshold pivoting, and refactorisation with kept pivots.
//!
//! The structure is that of KLU (Davis & Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37, 2010); the column
//! elimination is Gilbert & Peierls 1988, whose cost is proportional to the multiplications it makes.
//!
//! ```text
//! analyse:  pattern -> blocks (btf) -> order inside each block (ordering)
//! factor:   first time or after a bad pivot: elimination with pivoting (factor.rs), again with the largest pivots if the factors grow; otherwise with the pivots and the
//!           pattern of the last one (refactor.rs), 3-10 times cheaper
//!           columns of L with equal rows are worked on in panels of up to four (panel.rs)
//! solve:    per block from the last to the first: forward, backward, then the block's columns above it (solve.rs)
//! ```
//!
//! Invariants: positions (final row and column order) are what all index arrays hold; rows inside a column of L and U
//! are sorted, which for U is also a topological order of the elimination; diagonals are stored inverted.

mod determinant;
mod factor;
mod panel;
mod refactor;
mod solve;

use super::btf::block_form;
use super::ordering::{block_graph, minimum_degree};
use super::{LinearSolver, Singular, hager_condition};
use crate::pattern::Pattern;
use panel::{Panels, UpperRows};

/// The diagonal entry is taken as pivot if it has at least this fraction of the largest candidate. KLU's default of
/// 0.001 loses five digits on multibody matrices; 0.1 costs next to no fill.
pub(crate) const PIVOT_TOLERANCE: f64 = 0.1;

/// A kept pivot is given up when it falls below this fraction of its column: growth of the factors then costs digits.
pub(crate) const KEPT_PIVOT_TOLERANCE: f64 = 0.01;

/// Entries of U may be this many times as large as those of their column in the (row-equilibrated) matrix. With a threshold of 0.1 they may grow elevenfold in every step of the
/// elimination, and on chains (ladders, multiple shooting) they do: a matrix of 59 rows with a condition number of 500 was solved without a single right digit. The
/// residual of a solution is about growth times rounding (Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.5): this growth leaves 12 of 16 digits, one more than the tightest
/// tolerance of the integrator.
pub(crate) const MOST_GROWTH: f64 = 1e4;

/// Factors with more entries than this multiple of those of the matrix are worth a second look at the order.
const UNFORESEEN_FILL: usize = 2;

/// Orders that are tried at most, one in each factorisation.
const MOST_ORDERS: u64 = 6;

/// The first factorisation with a try: a matrix that is factorised once or twice, at the start of a simulation, is not
/// worth it.
const FIRST_TRY: u64 = 3;

/// Sparse LU factors.
#[derive(Clone, Debug, Default)]
pub struct SparseLu {
    n: usize,
    nnz: usize,
    /// First position of each diagonal block, then n.
    block: Vec<u32>,
    /// Original column at each position.
    col: Vec<u32>,
    /// Original row at each position before pivoting: the preferred diagonal.
    row_start: Vec<u32>,
    /// Original row at each position after pivoting.
    row: Vec<u32>,
    /// The pattern by original columns.
    pattern: Option<Pattern>,

    l: SparseColumns,
    u: SparseColumns,
    /// Entries above the diagonal blocks.
    above: SparseColumns,
    /// Columns of L that are worked on together.
    l_panels: Panels,
    /// Rows of U, where they are worked on together.
    u_rows: UpperRows,
    /// Reciprocal pivots.
    inverse: Vec<f64>,
    /// Scale factor of the row at each position.
    scale: Vec<f64>,

    /// Where the entries of A go in a refactorisation, by position of the column: inside the block ...
    inside: Scatter,
    /// ... and above it, parallel to `above`.
    outside_source: Vec<u32>,

    /// Column under elimination; zero in between.
    x: Vec<f64>,
    /// Right-hand side in the order of positions.
    work: Vec<f64>,
    factored: bool,
    norm: f64,
    apply_scale: bool,
    factorisations: FactorCounts,
    /// See [`LinearSolver::factor_work`].
    work_ratio: f64,
    /// No better order is looked for any more.
    order_settled: bool,
    /// The diagonal is no longer preferred, since that made the factors grow.
    partial: bool,
    /// Growth of the last elimination with pivoting, as far as it is above [`MOST_GROWTH`].
    growth: f64,
}

/// Compressed columns of a triangular factor.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseColumns {
    pub ptr: Vec<u32>,
    pub idx: Vec<u32>,
    pub val: Vec<f64>,
}

impl SparseColumns {
    /// Rows of one column.
    fn rows(&self, j: usize) -> &[u32] {
        &self.idx[self.ptr[j] as usize..self.ptr[j + 1] as usize]
    }
}

/// Source positions in the value array and target rows, by columns.
#[derive(Clone, Debug, Default)]
struct Scatter {
    ptr: Vec<u32>,
    source: Vec<u32>,
    target: Vec<u32>,
}

/// How often each way of factorising was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactorCounts {
    /// With pivoting.
    pub full: u64,
    /// With kept pivots.
    pub kept: u64,
    /// Kept pivots that turned out too small, so that a full one followed.
    pub rejected: u64,
    /// Eliminations that were done again with the largest pivots, because the factors grew.
    pub grown: u64,
}

impl SparseLu {
    /// Entries in L, U (with diagonal) and above the blocks, after a factorisation.
    pub fn factor_nnz(&self) -> usize {
        self.l.idx.len() + self.u.idx.len() + self.n + self.above.idx.len()
    }

    /// Number of diagonal blocks.
    pub fn block_count(&self) -> usize {
        self.block.len().saturating_sub(1)
    }

    /// How often each way of factorising was taken.
    pub fn counts(&self) -> FactorCounts {
        self.factorisations
    }

    /// Takes the pivots of the first factorisation as the diagonal for which fill is kept small.
    ///
    /// The order was made for a diagonal that is known to be structurally nonzero; where pivots had to leave it, much of
    /// the fill was not foreseen. If a new order for the diagonal that was found has less, it is taken; false otherwise.
    fn improve_order(&mut self, values: &[f64]) -> bool {
        let moved = self.row.iter().zip(&self.row_start).any(|(a, b)| a != b);
        if !moved || self.factor_nnz() < UNFORESEEN_FILL * self.nnz {
            return false;
        }
        let Some(pattern) = self.pattern.take() else {
            return false;
        };
        let mut other = SparseLu {
            n: self.n,
            nnz: self.nnz,
            block: self.block.clone(),
            x: vec![0.0; self.n],
            work: vec![0.0; self.n],
            inverse: vec![0.0; self.n],
            scale: vec![1.0; self.n],
            apply_scale: true,
            ..SparseLu::default()
        };
        other.order_blocks(&pattern, &self.row, &self.col);
        other.pattern = Some(pattern);
        let better = other.factor_with_pivoting(values).is_ok()
            && other.factor_nnz() < self.factor_nnz()
            && other.growth <= self.growth.max(MOST_GROWTH);
        if better {
            let grown = other.factorisations.grown;
            other.factorisations = self.factorisations;
            other.factorisations.grown += grown;
            *self = other;
        } else {
            self.pattern = other.pattern.take();
        }
        better
    }

    /// Orders rows and columns, matched in pairs, inside of each block.
    fn order_blocks(&mut self, pattern: &Pattern, rows: &[u32], cols: &[u32]) {
        let n = self.n;
        let mut position_of_row = vec![0u32; n];
        for (k, &row) in rows.iter().enumerate() {
            position_of_row[row as usize] = k as u32;
        }
        self.col = Vec::with_capacity(n);
        self.row_start = Vec::with_capacity(n);
        for bounds in self.block.windows(2) {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            if end - start <= 2 {
                self.col.extend_from_slice(&cols[start..end]);
                self.row_start.extend_from_slice(&rows[start..end]);
                continue;
            }
            let own = &cols[start..end];
            let graph = block_graph(pattern, own, &position_of_row, start, end);
            for &v in &minimum_degree(graph) {
                self.col.push(cols[start + v as usize]);
                self.row_start.push(rows[start + v as usize]);
            }
        }
    }

    /// Forgets the pivots, so that the next factorisation chooses them anew.
    pub fn forget_pivots(&mut self) {
        self.factored = false;
    }
}

impl SparseLu {
    /// Estimate of the 1-norm condition number of the row-equilibrated matrix.
    pub fn condition(&mut self) -> f64 {
        self.apply_scale = false;
        let (n, norm) = (self.n, self.norm);
        let condition = hager_condition(self, n, norm);
        self.apply_scale = true;
        condition
    }
}

impl LinearSolver for SparseLu {
    fn analyse(&mut self, pattern: &Pattern) -> Result<(), Singular> {
        let n = pattern.size();
        self.n = n;
        self.nnz = pattern.nnz();
        self.factored = false;
        self.order_settled = false;
        self.partial = false;
        self.apply_scale = true;
        let form = block_form(pattern)?;
        self.block = form.block;
        self.order_blocks(pattern, &form.row, &form.col);
        self.pattern = Some(pattern.clone());
        self.x = vec![0.0; n];
        self.work = vec![0.0; n];
        self.inverse = vec![0.0; n];
        self.scale = vec![1.0; n];
        Ok(())
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        if self.factored && self.refactor(values) {
            self.factorisations.kept += 1;
        } else {
            self.factorisations.rejected += u64::from(self.factored);
            self.factorisations.full += 1;
            self.factor_with_pivoting(values)?;
        }
        let count = self.factorisations.full + self.factorisations.kept;
        if !self.order_settled && count >= FIRST_TRY {
            let last = count + 1 >= FIRST_TRY + MOST_ORDERS;
            self.order_settled = !self.improve_order(values) || last;
        }
        Ok(())
    }

    fn solve(&mut self, rhs: &mut [f64]) {
        self.solve_factored(rhs);
    }

    fn solve_transposed(&mut self, rhs: &mut [f64]) {
        self.solve_factored_transposed(rhs);
    }

    fn factor_work(&self) -> f64 {
        self.work_ratio
    }
}
