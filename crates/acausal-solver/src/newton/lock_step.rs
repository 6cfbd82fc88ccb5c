//! The blocks of a level, solved in lock step: one evaluation of the whole model serves all of them.
//!
//! In: blocks that do not depend on each other ([`super::blocks`]) and the unknowns, of which those of earlier blocks
//! hold their solution. Out: the unknowns of these blocks. Three ways in this order: Newton's method for the block as a
//! whole ([`LockStep::whole`]), for its torn unknowns ([`LockStep::torn`]), and what [`super::rescue`] has for blocks from
//! whose guess neither converges.

use super::blocks::{Block, BlockFailure, BlockNewton, BlockStatistics};
use super::iteration::{Iteration, Request};
use super::one_block::OneBlock;
use super::rescue::Rescue;
use super::torn::{Tearing, Torn, UntornBlock};
use super::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
use crate::dae::DaeError;
use crate::pattern::Pattern;

pub(super) struct LockStep<'a> {
    newton: &'a BlockNewton,
    r: Vec<f64>,
    values: Vec<f64>,
    pub statistics: BlockStatistics,
}

/// A block without a solution so far.
pub(super) type Failed = (usize, NewtonError);

impl<'a> LockStep<'a> {
    pub fn new(newton: &'a BlockNewton, pattern: &Pattern) -> LockStep<'a> {
        LockStep {
            newton,
            r: vec![0.0; pattern.size()],
            values: vec![0.0; pattern.nnz()],
            statistics: BlockStatistics::default(),
        }
    }

    /// These blocks of a level together, each as a whole; gives those that failed. Their unknowns keep the guess.
    pub fn whole<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        blocks: impl Iterator<Item = usize>,
    ) -> Result<Vec<Failed>, BlockFailure> {
        let newton = self.newton;
        let mut running = Vec::new();
        let mut numbers = Vec::new();
        for k in blocks {
            let block = &newton.blocks[k];
            let options = block.options(options);
            let mut machine = Iteration::new(&block.pattern, block.cols.len(), block.rows.len())
                .map_err(|error| BlockFailure { block: k, error })?;
            let ask = machine.begin(block.cols.iter().map(|&c| x[c as usize]), &options);
            running.push(Running {
                block,
                options,
                machine,
                ask,
            });
            numbers.push(k);
        }
        self.in_lock_step(system, x, &mut running);
        let mut failed = Vec::new();
        for (run, &k) in running.iter().zip(&numbers) {
            match run.machine.result(&run.options) {
                Ok(statistics) => self.found(k, x, &run.machine.x, &statistics),
                Err(error) => failed.push((k, error)),
            }
        }
        Ok(failed)
    }

    /// Takes over the solution of a block.
    fn found(&mut self, k: usize, x: &mut [f64], solution: &[f64], statistics: &NewtonStatistics) {
        for (&c, v) in self.newton.blocks[k].cols.iter().zip(solution) {
            x[c as usize] = *v;
        }
        if statistics.singular.is_some() {
            self.statistics.singular.push(k);
        }
    }

    /// Blocks with tearing; gives those that have none or fail. Errors are those of another attempt, or unknown.
    pub fn torn<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        failed: &[Failed],
        tearing: &dyn Tearing,
    ) -> Vec<Failed> {
        let (worth, mut left): (Vec<Failed>, Vec<Failed>) =
            (failed.iter()).partition(|(k, _)| self.newton.blocks[*k].cols.len() > 1);
        let Some(constant) = self.constant(system, x, options, &worth) else {
            return failed.to_vec();
        };
        let (mut running, mut numbers) = (Vec::new(), Vec::new());
        for (k, error) in worth {
            let block = &self.newton.blocks[k];
            let options = block.options(options);
            let own: Vec<f64> = (block.entries.iter())
                .map(|&e| self.values[e as usize])
                .collect();
            let fixed: Vec<bool> = (block.entries.iter())
                .map(|&e| constant[e as usize])
                .collect();
            let guess: Vec<f64> = block.cols.iter().map(|&c| x[c as usize]).collect();
            // A linear block gains nothing.
            let probed = UntornBlock {
                pattern: &block.pattern,
                cols: &block.cols,
                values: &own,
                constant: &fixed,
            };
            let pairs = match fixed.contains(&false) {
                true => tearing.pairs(&probed),
                false => Vec::new(),
            };
            match Torn::new(&probed, &pairs, &guess, &options) {
                Ok(Some(machine)) => {
                    running.push(Running {
                        block,
                        options,
                        machine,
                        ask: Request::Residual,
                    });
                    numbers.push((k, error));
                }
                _ => left.push((k, error)),
            }
        }
        self.in_lock_step(system, x, &mut running);
        for (run, (k, error)) in running.iter().zip(numbers) {
            let Ok((solution, statistics)) = run.machine.result(&run.options) else {
                left.push((k, error));
                continue;
            };
            self.found(k, x, solution, &statistics);
            self.statistics.torn.push(k);
        }
        left.sort_by_key(|f| f.0);
        left
    }

    /// Which entries of the Jacobian do not change when the unknowns of these blocks move; the Jacobian at `x` is in
    /// `values` afterwards. Nothing if the model cannot be evaluated.
    ///
    /// This is seen from numbers, at two other points. An entry that only seems to be constant does no harm: the sweeps of
    /// the torn iteration do not settle then, and another way is taken.
    fn constant<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &[f64],
        options: &NewtonOptions,
        blocks: &[Failed],
    ) -> Option<Vec<bool>> {
        if blocks.is_empty() {
            return None;
        }
        let mut first = vec![0.0; self.values.len()];
        system.jacobian(x, &mut first).ok()?;
        let mut constant: Vec<bool> = first.iter().map(|v| v.is_finite()).collect();
        let mut point = x.to_vec();
        for way in [1.0, -1.0] {
            for (k, _) in blocks {
                for &c in &self.newton.blocks[*k].cols {
                    let j = c as usize;
                    // Distances that differ from unknown to unknown, between a half and one.
                    let part = (0.618_033_988_749_895 * (j + 1) as f64).fract();
                    let side = if j.is_multiple_of(2) { way } else { -way };
                    let distance = side * (0.5 + 0.5 * part) * options.scale(j, x[j]);
                    point[j] = options.inside_bounds(j, x[j] + distance);
                }
            }
            system.jacobian(&point, &mut self.values).ok()?;
            for (c, (a, b)) in constant.iter_mut().zip(first.iter().zip(&self.values)) {
                *c &= a == b;
            }
        }
        self.statistics.jacobian_evaluations += 3;
        self.values = first;
        Some(constant)
    }

    /// Other ways for blocks of a level that failed, in lock step; gives the first one without a solution.
    pub fn rescue<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
        failed: &[Failed],
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
                ask: Request::Residual,
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
            self.found(k, x, &solution, &statistics);
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
                residual |= run.ask == Request::Residual;
                jacobian |= run.ask == Request::Jacobian;
                for (&c, v) in run.block.cols.iter().zip(run.machine.point()) {
                    point[c as usize] = *v;
                }
            }
            if !residual && !jacobian {
                break;
            }
            let (mut r_ok, mut j_ok): (Result<(), DaeError>, Result<(), DaeError>) =
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
                    Request::Residual => {
                        for (own, &row) in machine.r().iter_mut().zip(&block.rows) {
                            *own = self.r[row as usize];
                        }
                        machine.got_residual(r_ok, &run.options)
                    }
                    Request::Jacobian => {
                        for (own, &e) in machine.values().iter_mut().zip(&block.entries) {
                            *own = self.values[e as usize];
                        }
                        machine.got_jacobian(j_ok, &run.options)
                    }
                    Request::Done => Request::Done,
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
    ask: Request,
}

/// What asks for evaluations of its block and is told the answers.
trait Asks {
    fn point(&self) -> &[f64];
    fn r(&mut self) -> &mut [f64];
    fn values(&mut self) -> &mut [f64];
    fn got_residual(&mut self, evaluated: Result<(), DaeError>, options: &NewtonOptions)
    -> Request;
    fn got_jacobian(&mut self, evaluated: Result<(), DaeError>, options: &NewtonOptions)
    -> Request;
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
    fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Iteration::got_residual(self, evaluated, options)
    }
    fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Iteration::got_jacobian(self, evaluated, options)
    }
}

impl Asks for Torn {
    fn point(&self) -> &[f64] {
        Torn::point(self)
    }
    fn r(&mut self) -> &mut [f64] {
        Torn::r(self)
    }
    fn values(&mut self) -> &mut [f64] {
        Torn::values(self)
    }
    fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Torn::got_residual(self, evaluated, options)
    }
    fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Torn::got_jacobian(self, evaluated, options)
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
    fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Rescue::got_residual(self, evaluated, options)
    }
    fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        Rescue::got_jacobian(self, evaluated, options)
    }
}
