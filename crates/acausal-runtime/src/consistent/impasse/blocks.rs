//! The part of the matrix in which a solution can end: its diagonal blocks, side by side.
//!
//! The determinant of a block triangular matrix is the product of those of its blocks, and each block says by itself whether it is singular, whatever else the model
//! contains: two poles at the same instant leave the sign of the whole as it is, and what is far from singular in one block says nothing about another.
//! Blocks without algebraic unknowns are left out where derivatives are linear: they are divided by what stands before `der(x)`, and the integrator itself stops where
//! that becomes zero.
//!
//! Rows are divided by their largest size so far; the pivots of sparse factors then show on which side of a singular matrix each block is, and how far. A matrix with
//! the same bits as before (as where the equations are linear) says what it said. Linear in the entries, but for the factors.

use acausal_compiled::CompiledModel;
use acausal_solver::Pattern;
use acausal_solver::linear::{LinearSolver, SparseLu};
use acausal_solver::newton::BlockNewton;

use super::super::ConsistentSystem;

/// What the factors say about one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BlockState {
    /// Sign of the determinant; zero where it is not known.
    pub sign: i8,
    /// The smallest pivot, and its row and column in the system.
    pub smallest: f64,
    pub row: u32,
    pub col: u32,
}

/// The blocks as one block diagonal matrix: rows and columns of block b are `starts[b]..starts[b + 1]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    starts: Vec<u32>,
    /// Row and column of the system, and the block, of each row and column here.
    rows: Vec<u32>,
    cols: Vec<u32>,
    block_of: Vec<u32>,
    /// Per entry: its place among those of the system, and its row here.
    entries: Vec<u32>,
    row_of: Vec<u32>,
    /// Largest entry of each row so far.
    largest: Vec<f64>,
    lu: SparseLu,
    /// Entries that were looked at last, and what they said.
    values: Vec<f64>,
    states: Vec<BlockState>,
}

impl Blocks {
    /// The blocks with at most so many unknowns. None where no solution can end, or the system is singular by its pattern.
    pub fn new(
        system: &mut ConsistentSystem,
        model: &CompiledModel,
        most: usize,
    ) -> Option<Blocks> {
        system.list(model).ok()?;
        if system.blocks.is_none() {
            system.blocks = BlockNewton::new(&system.pattern).ok();
        }
        let all = system.blocks.as_ref()?;
        let is_algebraic = |c: &u32| (system.columns[*c as usize] as usize) < model.n;
        let mut found = Blocks {
            starts: vec![0],
            ..Blocks::default()
        };
        const OUTSIDE: u32 = u32::MAX;
        let mut place = vec![OUTSIDE; system.rows.len()];
        for k in 0..all.len() {
            let (rows, cols) = all.block(k);
            if rows.len() > most || !(model.initial.branching || cols.iter().any(is_algebraic)) {
                continue;
            }
            let number = found.starts.len() as u32 - 1;
            for (own, block) in [(&mut found.rows, rows), (&mut found.cols, cols)] {
                let first = own.len();
                own.extend_from_slice(block);
                own[first..].sort_unstable();
            }
            found.block_of.resize(found.rows.len(), number);
            found.starts.push(found.rows.len() as u32);
        }
        for (k, row) in found.rows.iter().enumerate() {
            place[*row as usize] = k as u32;
        }
        let mut col_ptr = vec![0u32];
        for (col, block) in found.cols.iter().zip(&found.block_of) {
            for k in system.pattern.range(*col as usize) {
                let row = place[system.pattern.row_idx()[k] as usize];
                if row != OUTSIDE && found.block_of[row as usize] == *block {
                    found.row_of.push(row);
                    found.entries.push(k as u32);
                }
            }
            col_ptr.push(found.row_of.len() as u32);
        }
        if found.rows.is_empty() {
            return None;
        }
        let pattern = Pattern::new(found.rows.len(), col_ptr, found.row_of.clone()).ok()?;
        found.lu.analyse(&pattern).ok()?;
        found.largest = vec![0.0; found.rows.len()];
        Some(found)
    }

    /// What each block of the matrix with these entries says.
    pub fn look(&mut self, matrix: &[f64]) -> &[BlockState] {
        let values = self.entries.iter().map(|k| matrix[*k as usize]);
        let bits = |v: f64| v.to_bits();
        let known = self.values.iter().copied().map(bits);
        if !values.clone().map(bits).eq(known) {
            self.values.clear();
            self.values.extend(values);
            self.factorise();
        }
        &self.states
    }

    fn factorise(&mut self) {
        let unknown = BlockState {
            sign: 0,
            smallest: f64::INFINITY,
            row: 0,
            col: 0,
        };
        self.states.clear();
        self.states.resize(self.starts.len() - 1, unknown);
        for (v, row) in self.values.iter().zip(&self.row_of) {
            let largest = &mut self.largest[*row as usize];
            *largest = largest.max(v.abs());
        }
        let scaled = |(v, row): (&f64, &u32)| match self.largest[*row as usize] {
            0.0 => 0.0,
            largest => v / largest,
        };
        let values: Vec<f64> = (self.values.iter().zip(&self.row_of)).map(scaled).collect();
        if let Err(s) = self.lu.factor(&values) {
            // The others are looked at the next time.
            let state = &mut self.states[self.block_of[s.row] as usize];
            state.smallest = 0.0;
            (state.row, state.col) = (self.rows[s.row], self.cols[s.col]);
            return;
        }
        let mut row_of_col = vec![0u32; self.rows.len()];
        for (row, col, pivot) in self.lu.pivots() {
            row_of_col[col] = row as u32;
            let state = &mut self.states[self.block_of[row] as usize];
            if state.sign == 0 {
                state.sign = 1;
            }
            if pivot < 0.0 {
                state.sign = -state.sign;
            }
            if pivot.abs() < state.smallest {
                state.smallest = pivot.abs();
                (state.row, state.col) = (self.rows[row], self.cols[col]);
            }
        }
        // A permutation is a product of as many exchanges as there are elements without one of each cycle; no cycle leaves its block.
        for first in 0..row_of_col.len() {
            while row_of_col[first] as usize != first {
                let other = row_of_col[first] as usize;
                row_of_col.swap(first, other);
                let sign = &mut self.states[self.block_of[first] as usize].sign;
                *sign = -*sign;
            }
        }
    }
}
