//! Block triangular nonlinear systems, solved block by block.
//!
//! In: a square [`Nonlinear`] system and a guess. Out: the solution, or the first block without one ([`BlockFailure`])
//! with its equations and unknowns.
//!
//! The pattern is brought to block triangular form (Duff & Reid 1978). Each block is solved by the damped Newton
//! iteration with what the blocks before it gave, so a guess matters only to its own block: `m*m = 4; m*y = 1` from
//! m = 1, y = 0 never sees the singular Jacobian that the whole system has at m = 0. A block from which the iteration
//! does not converge is tried again with tearing (`torn`), then by least squares and by a Newton homotopy (`rescue`), and at
//! last alone, with brackets along the directions (`bracket`).
//!
//! Blocks that do not need each other form a *level* and advance in lock step: one evaluation of the whole model serves
//! all of them, while each has its own damping. Evaluations are thus proportional to the number of levels, not of blocks.
//!
//! Invariant: when level k starts, all equations of the levels before it are satisfied, and nothing that is done later
//! changes their unknowns. Complexity: (levels x iterations) evaluations of the model; analysis O(nnz) in practice.
//!
//! Worked example: `x0 = 1; x1 = 2; x0*x1*x2 = 8` has the levels {x0, x1}, {x2}.

use super::lock_step::LockStep;
use super::torn::Tearing;
use super::{NewtonError, NewtonOptions, Nonlinear};
use crate::linear::block_form;
use crate::pattern::Pattern;

/// A pattern in block triangular form, for systems that are solved again and again.
pub struct BlockNewton {
    pattern: Pattern,
    /// In order of solution.
    pub(super) blocks: Vec<Block>,
    /// First block of each level, and the number of blocks at the end.
    levels: Vec<usize>,
}

pub(super) struct Block {
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    pub pattern: Pattern,
    /// Positions of the block's entries among those of the whole pattern.
    pub entries: Vec<u32>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockStatistics {
    /// Residual evaluations of the whole model.
    pub residual_evaluations: u32,
    /// Jacobian evaluations of the whole model.
    pub jacobian_evaluations: u32,
    /// Blocks whose Jacobian is singular at the solution: it is one of many, or a double one.
    pub singular: Vec<usize>,
    /// Blocks that needed tearing.
    pub torn: Vec<usize>,
    /// Blocks that needed another fallback.
    pub rescued: Vec<usize>,
}

/// A block without a solution.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockFailure {
    /// Its number in order of solution.
    pub block: usize,
    /// Why.
    pub error: NewtonError,
}

impl BlockNewton {
    /// Decomposes the pattern of a square system.
    pub fn new(pattern: &Pattern) -> Result<Self, NewtonError> {
        let form = block_form(pattern).map_err(|s| NewtonError::Singular {
            row: s.row,
            col: s.col,
        })?;
        let count = form.block.len() - 1;
        let mut block_of_row = vec![0usize; pattern.size()];
        for b in 0..count {
            for k in form.block[b]..form.block[b + 1] {
                block_of_row[form.row[k as usize] as usize] = b;
            }
        }
        // Upper triangular: a block depends on later ones, whose levels are known when they are counted backwards.
        let mut level = vec![0usize; count];
        for b in (0..count).rev() {
            for k in form.block[b]..form.block[b + 1] {
                for &row in pattern.rows_of(form.col[k as usize] as usize) {
                    let a = block_of_row[row as usize];
                    if a != b {
                        level[a] = level[a].max(level[b] + 1);
                    }
                }
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&b| (level[b], std::cmp::Reverse(b)));
        let mut place = vec![u32::MAX; pattern.size()];
        let mut blocks = Vec::with_capacity(count);
        let mut levels = Vec::new();
        for (k, &b) in order.iter().enumerate() {
            if k == 0 || level[order[k - 1]] != level[b] {
                levels.push(k);
            }
            let range = form.block[b] as usize..form.block[b + 1] as usize;
            blocks.push(Block::new(
                pattern,
                form.row[range.clone()].to_vec(),
                form.col[range].to_vec(),
                &mut place,
            )?);
        }
        levels.push(count);
        Ok(Self {
            pattern: pattern.clone(),
            blocks,
            levels,
        })
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is nothing to solve.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Number of levels: how often the model is evaluated at least.
    pub fn levels(&self) -> usize {
        self.levels.len() - 1
    }

    /// Equations and unknowns of a block.
    pub fn block(&self, k: usize) -> (&[u32], &[u32]) {
        (&self.blocks[k].rows, &self.blocks[k].cols)
    }

    /// The block of an equation, in order of solution.
    pub fn block_of_row(&self, row: usize) -> Option<usize> {
        self.blocks
            .iter()
            .position(|b| b.rows.contains(&(row as u32)))
    }

    /// The Jacobian of one block: its pattern and its values among those of the whole system.
    pub fn matrix(&self, k: usize, values: &[f64]) -> (&Pattern, Vec<f64>) {
        let block = &self.blocks[k];
        let own = block.entries.iter().map(|&e| values[e as usize]).collect();
        (&block.pattern, own)
    }

    /// Solves the system, starting from and writing to `x`; after a failure `x` holds the solution of the blocks before.
    pub fn solve<S: Nonlinear + ?Sized>(
        &self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
    ) -> Result<BlockStatistics, BlockFailure> {
        self.solve_with(system, x, options, None)
    }

    /// The same with tearing of blocks that are not solved as a whole.
    pub fn solve_with<S: Nonlinear + ?Sized>(
        &self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        tearing: Option<&dyn Tearing>,
    ) -> Result<BlockStatistics, BlockFailure> {
        let failure = |block, error| BlockFailure { block, error };
        options
            .check(self.pattern.size(), x.len())
            .map_err(|e| failure(0, e))?;
        let mut run = LockStep::new(self, &self.pattern);
        for level in self.levels.windows(2) {
            let blocks = level[0]..level[1];
            let first = tearing.filter(|t| t.first());
            let failed = match first {
                Some(tearing) => {
                    let all: Vec<_> = blocks.map(|k| (k, NewtonError::InvalidOptions)).collect();
                    let left = run.torn(system, x, options, &all, tearing);
                    run.whole(system, x, options, left.into_iter().map(|f| f.0))?
                }
                None => {
                    let failed = run.whole(system, x, options, blocks)?;
                    match tearing.filter(|_| !failed.is_empty()) {
                        Some(tearing) => run.torn(system, x, options, &failed, tearing),
                        None => failed,
                    }
                }
            };
            if !failed.is_empty() {
                run.rescue(system, x, options, &failed)?;
            }
        }
        Ok(run.statistics)
    }
}

impl Block {
    /// `place` is scratch: `u32::MAX` everywhere, before and after.
    fn new(
        pattern: &Pattern,
        rows: Vec<u32>,
        cols: Vec<u32>,
        place: &mut [u32],
    ) -> Result<Self, NewtonError> {
        let mut rows = rows;
        rows.sort_unstable();
        for (k, &row) in rows.iter().enumerate() {
            place[row as usize] = k as u32;
        }
        let (mut col_ptr, mut row_idx, mut entries) = (vec![0u32], Vec::new(), Vec::new());
        for &col in &cols {
            for k in pattern.range(col as usize) {
                let row = place[pattern.row_idx()[k] as usize];
                if row != u32::MAX {
                    row_idx.push(row);
                    entries.push(k as u32);
                }
            }
            col_ptr.push(row_idx.len() as u32);
        }
        for &row in &rows {
            place[row as usize] = u32::MAX;
        }
        let pattern =
            Pattern::new(rows.len(), col_ptr, row_idx).map_err(|_| NewtonError::InvalidOptions)?;
        Ok(Self {
            rows,
            cols,
            pattern,
            entries,
        })
    }

    pub fn options(&self, all: &NewtonOptions) -> NewtonOptions {
        let pick = |list: &[f64]| -> Vec<f64> {
            let own = self.cols.iter().filter_map(|&c| list.get(c as usize));
            own.copied().collect()
        };
        NewtonOptions {
            nominal: pick(&all.nominal),
            lower: pick(&all.lower),
            upper: pick(&all.upper),
            ..*all
        }
    }
}
