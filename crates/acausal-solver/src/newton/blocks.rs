//! Block triangular nonlinear systems, solved block by block.
//!
//! In: a square [`Nonlinear`] system and a guess. Out: the solution, or the first block without one ([`BlockFailure`])
//! with its equations and unknowns.
//!
//! The pattern is brought to block triangular form (Duff & Reid 1978). Each block is solved by the damped Newton
//! iteration with what the blocks before it gave, so a guess matters only to its own block: `m*m = 4; m*y = 1` from
//! m = 1, y = 0 never sees the singular Jacobian that the whole system has at m = 0. A block from which the iteration
//! does not converge is tried again by least squares and by a Newton homotopy (see the module `rescue`), and at last alone,
//! with brackets along the directions (`bracket`).
//!
//! Blocks that do not need each other form a *level* and advance in lock step: one evaluation of the whole model serves
//! all of them, while each has its own damping. Evaluations are thus proportional to the number of levels, not of blocks.
//!
//! Invariant: when level k starts, all equations of the levels before it are satisfied, and nothing that is done later
//! changes their unknowns. Complexity: (levels x iterations) evaluations of the model; analysis O(nnz) in practice.
//!
//! Worked example: `x0 = 1; x1 = 2; x0*x1*x2 = 8` has the levels {x0, x1}, {x2}.

use super::iteration::{Ask, Iteration};
use super::one_block::OneBlock;
use super::rescue::Rescue;
use super::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
use crate::dae::EvalError;
use crate::linear::block_form;
use crate::pattern::Pattern;

/// A pattern in block triangular form, for systems that are solved again and again.
pub struct BlockNewton {
    pattern: Pattern,
    /// In order of solution.
    blocks: Vec<Block>,
    /// First block of each level, and the number of blocks at the end.
    levels: Vec<usize>,
}

struct Block {
    rows: Vec<u32>,
    cols: Vec<u32>,
    pattern: Pattern,
    /// Positions of the block's entries among those of the whole pattern.
    entries: Vec<u32>,
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
    /// Blocks that needed a fallback.
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
        let failure = |block, error| BlockFailure { block, error };
        options
            .check(self.pattern.size(), x.len())
            .map_err(|e| failure(0, e))?;
        let mut run = LockStep {
            newton: self,
            r: vec![0.0; self.pattern.size()],
            values: vec![0.0; self.pattern.nnz()],
            statistics: BlockStatistics::default(),
        };
        for level in self.levels.windows(2) {
            let failed = run
                .level(system, x, options, level[0], level[1])
                .map_err(|e| failure(level[0], e))?;
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

    fn options(&self, all: &NewtonOptions) -> NewtonOptions {
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

struct LockStep<'a> {
    newton: &'a BlockNewton,
    r: Vec<f64>,
    values: Vec<f64>,
    statistics: BlockStatistics,
}

impl LockStep<'_> {
    /// All blocks of a level together; gives those that failed. Their unknowns keep the guess.
    fn level<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        first: usize,
        end: usize,
    ) -> Result<Vec<(usize, NewtonError)>, NewtonError> {
        let blocks = &self.newton.blocks[first..end];
        let mut running = Vec::with_capacity(blocks.len());
        for block in blocks {
            let options = block.options(options);
            let mut machine = Iteration::new(&block.pattern, block.cols.len(), block.rows.len())?;
            let ask = machine.begin(block.cols.iter().map(|&c| x[c as usize]), &options);
            running.push(Running {
                block,
                options,
                machine,
                ask,
            });
        }
        self.in_lock_step(system, x, &mut running);
        let mut failed = Vec::new();
        for (k, run) in running.iter().enumerate() {
            match run.machine.result(&run.options) {
                Ok(statistics) => {
                    for (&c, v) in run.block.cols.iter().zip(&run.machine.x) {
                        x[c as usize] = *v;
                    }
                    if statistics.singular.is_some() {
                        self.statistics.singular.push(first + k);
                    }
                }
                Err(error) => failed.push((first + k, error)),
            }
        }
        Ok(failed)
    }

    /// Other ways for blocks of a level that failed, in lock step; gives the first one without a solution.
    fn rescue<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        failed: &[(usize, NewtonError)],
    ) -> Result<(), BlockFailure> {
        let mut running = Vec::with_capacity(failed.len());
        for &(k, error) in failed {
            let block = &self.newton.blocks[k];
            let guess = block.cols.iter().map(|&c| x[c as usize]).collect();
            let rescue =
                Rescue::new(&block.pattern, guess).map_err(|_| BlockFailure { block: k, error })?;
            running.push(Running {
                block,
                options: block.options(options),
                machine: rescue,
                ask: Ask::Residual,
            });
        }
        self.in_lock_step(system, x, &mut running);
        for (run, &(k, error)) in running.iter().zip(failed) {
            let rescued = match run.machine.result() {
                Ok((solution, statistics)) => Some((solution.to_vec(), statistics)),
                Err(_) => self.alone(system, x, run.block, &run.options),
            };
            let Some((solution, statistics)) = rescued else {
                return Err(BlockFailure { block: k, error });
            };
            for (&c, v) in run.block.cols.iter().zip(&solution) {
                x[c as usize] = *v;
            }
            if statistics.singular.is_some() {
                self.statistics.singular.push(k);
            }
            self.statistics.rescued.push(k);
        }
        Ok(())
    }

    /// The last resort for one block.
    fn alone<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &[f64],
        block: &Block,
        options: &NewtonOptions,
    ) -> Option<(Vec<f64>, NewtonStatistics)> {
        let guess: Vec<f64> = block.cols.iter().map(|&c| x[c as usize]).collect();
        let mut one = OneBlock {
            system,
            rows: &block.rows,
            cols: &block.cols,
            pattern: &block.pattern,
            entries: &block.entries,
            point: x.to_vec(),
            r: &mut self.r,
            values: &mut self.values,
            evaluations: 0,
        };
        let solved = one.solve(&guess, options).ok();
        self.statistics.residual_evaluations += one.evaluations;
        solved
    }

    /// Evaluates the model until no block asks for anything any more.
    fn in_lock_step<S: Nonlinear + ?Sized, M: Asks>(
        &mut self,
        system: &mut S,
        x: &[f64],
        running: &mut [Running<'_, M>],
    ) {
        let mut point = x.to_vec();
        loop {
            let (mut residual, mut jacobian) = (false, false);
            for run in running.iter() {
                residual |= run.ask == Ask::Residual;
                jacobian |= run.ask == Ask::Jacobian;
                for (&c, v) in run.block.cols.iter().zip(run.machine.point()) {
                    point[c as usize] = *v;
                }
            }
            if !residual && !jacobian {
                break;
            }
            let (mut r_ok, mut j_ok): (Result<(), EvalError>, Result<(), EvalError>) =
                (Ok(()), Ok(()));
            if residual {
                self.statistics.residual_evaluations += 1;
                r_ok = system.residual(&point, &mut self.r);
            }
            if jacobian {
                self.statistics.jacobian_evaluations += 1;
                j_ok = system.jacobian(&point, &mut self.values);
            }
            for run in running.iter_mut() {
                let (machine, block) = (&mut run.machine, run.block);
                run.ask = match run.ask {
                    Ask::Residual => {
                        for (own, &row) in machine.r().iter_mut().zip(&block.rows) {
                            *own = self.r[row as usize];
                        }
                        machine.got_residual(r_ok, &run.options)
                    }
                    Ask::Jacobian => {
                        for (own, &e) in machine.values().iter_mut().zip(&block.entries) {
                            *own = self.values[e as usize];
                        }
                        machine.got_jacobian(j_ok, &run.options)
                    }
                    Ask::Done => Ask::Done,
                }
            }
        }
    }
}

/// A block under solution.
struct Running<'a, M> {
    block: &'a Block,
    options: NewtonOptions,
    machine: M,
    ask: Ask,
}

/// What asks for evaluations of its block and is told the answers.
trait Asks {
    fn point(&self) -> &[f64];
    fn r(&mut self) -> &mut [f64];
    fn values(&mut self) -> &mut [f64];
    fn got_residual(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask;
    fn got_jacobian(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask;
}

impl Asks for Iteration {
    fn point(&self) -> &[f64] {
        Iteration::point(self)
    }
    fn r(&mut self) -> &mut [f64] {
        &mut self.r
    }
    fn values(&mut self) -> &mut [f64] {
        &mut self.values
    }
    fn got_residual(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask {
        Iteration::got_residual(self, evaluated, options)
    }
    fn got_jacobian(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask {
        Iteration::got_jacobian(self, evaluated, options)
    }
}

impl Asks for Rescue {
    fn point(&self) -> &[f64] {
        Rescue::point(self)
    }
    fn r(&mut self) -> &mut [f64] {
        Rescue::r(self)
    }
    fn values(&mut self) -> &mut [f64] {
        Rescue::values(self)
    }
    fn got_residual(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask {
        Rescue::got_residual(self, evaluated, options)
    }
    fn got_jacobian(&mut self, evaluated: Result<(), EvalError>, options: &NewtonOptions) -> Ask {
        Rescue::got_jacobian(self, evaluated, options)
    }
}
