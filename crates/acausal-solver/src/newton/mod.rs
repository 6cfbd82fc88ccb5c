//! Damped Newton iteration for nonlinear systems `F(x) = 0`: initialisation and event iteration.
//!
//! In: a [`Nonlinear`] system with a sparse Jacobian, a first guess, optionally nominal values and bounds. Out: the
//! solution in place, or a typed failure that names the worst equation or the singular pivot.
//!
//! Method: the error-oriented, affine-invariant damping of Deuflhard, "Newton Methods for Nonlinear Problems" (2004),
//! sec. 3.3 (code NLEQ1). A trial step is judged by the *simplified* Newton correction `J(x)^-1 F(x + lambda dx)`, not by
//! the residual, so the scaling of equations does not matter; only the nominal values of the unknowns do. Trial points
//! where the model is not defined (error or NaN) shorten the step.
//!
//! A singular square Jacobian does not end the iteration: a regularised step is made instead. If that leads to a solution
//! the statistics tell where it was singular, otherwise [`NewtonError::Singular`] does.
//!
//! Systems with fewer equations than unknowns get the step of least (weighted) norm, systems with more equations the
//! least-squares step; the latter must be consistent at the solution (see the module `step`).
//!
//! Worked example: `x^2 = 2` from x = 1: corrections 0.5, -0.0833, -2.45e-3, -2.1e-6, quadratic convergence with full
//! steps. `atan(x) = 0` from x = 3: the full step goes to -9.49, the simplified correction is larger than the step, so
//! lambda is cut and the iteration converges.

mod options;
mod step;

pub use options::{NewtonError, NewtonOptions, NewtonStatistics};

use crate::dae::{EvalError, EvalReason, first_not_finite};
use crate::pattern::Pattern;
use step::StepSolver;

/// A nonlinear system `F(x) = 0`.
pub trait Nonlinear {
    /// Number of unknowns.
    fn len(&self) -> usize;

    /// Whether there is nothing to solve.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of equations, if it differs from that of the unknowns.
    fn equations(&self) -> usize {
        self.len()
    }

    /// Writes `F(x)` to `r`.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError>;

    /// Writes the values of `dF/dx` in the order of [`Nonlinear::pattern`].
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError>;

    /// Sparsity of the Jacobian: square, of the larger of both numbers, with empty rows or columns at the end if the
    /// system is rectangular.
    fn pattern(&self) -> &Pattern;
}

/// First contraction of the damping when nothing is known about the nonlinearity: a full step.
const FIRST_DAMPING: f64 = 1.0;

/// Solves the system, starting from and writing to `x`.
pub fn solve<S: Nonlinear + ?Sized>(
    system: &mut S,
    x: &mut [f64],
    options: &NewtonOptions,
) -> Result<NewtonStatistics, NewtonError> {
    options.check(system.len(), x.len())?;
    let mut iteration = Iteration::new(system, options)?;
    for (j, x) in x.iter_mut().enumerate() {
        *x = options.inside_bounds(j, *x);
    }
    iteration.run(system, x)
}

struct Iteration<'a> {
    options: &'a NewtonOptions,
    step: StepSolver,
    /// For singular Jacobians, made when the first one is met.
    regularised: Option<StepSolver>,
    values: Vec<f64>,
    r: Vec<f64>,
    dx: Vec<f64>,
    /// Simplified correction at the trial point.
    dx_bar: Vec<f64>,
    trial: Vec<f64>,
    statistics: NewtonStatistics,
}

/// What became of the line search.
enum Search {
    /// Accepted with this damping and norm of the simplified correction.
    Accepted(f64, f64),
    Failed(Option<EvalReason>),
}

impl<'a> Iteration<'a> {
    fn new<S: Nonlinear + ?Sized>(
        system: &S,
        options: &'a NewtonOptions,
    ) -> Result<Self, NewtonError> {
        let (n, m) = (system.len(), system.equations());
        Ok(Self {
            options,
            step: StepSolver::new(system.pattern(), n, m)?,
            regularised: None,
            values: vec![0.0; system.pattern().nnz()],
            r: vec![0.0; m],
            dx: vec![0.0; n],
            dx_bar: vec![0.0; n],
            trial: vec![0.0; n],
            statistics: NewtonStatistics::default(),
        })
    }

    fn run<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
    ) -> Result<NewtonStatistics, NewtonError> {
        self.evaluate(system, x)
            .map_err(|error| NewtonError::Evaluation {
                reason: error.reason(),
            })?;
        let mut damping = FIRST_DAMPING;
        // (norm of dx, norm of dx_bar, damping) of the last iteration, for the prediction of the next damping.
        let mut last: Option<(f64, f64, f64)> = None;
        for _ in 0..self.options.max_iterations {
            self.statistics.iterations += 1;
            self.statistics.jacobian_evaluations += 1;
            system
                .jacobian(x, &mut self.values)
                .map_err(|error| NewtonError::Evaluation {
                    reason: error.reason(),
                })?;
            if let Some(position) = first_not_finite(&self.values) {
                let row = system.pattern().row_idx()[position] as usize;
                return Err(NewtonError::Evaluation {
                    reason: EvalReason::NotFinite { row },
                });
            }
            if let Err((row, col)) = self.factor(system, x)? {
                if self.at_roundoff(x) {
                    return Ok(self.statistics);
                }
                return Err(NewtonError::Singular { row, col });
            }
            self.solve_step(false);
            let norm = self.norm(&self.dx, x);
            if norm <= self.options.tolerance {
                self.finish(system, x)?;
                return Ok(self.statistics);
            }
            if let Some((old_norm, old_bar, old_damping)) = last {
                // Deuflhard (3.45): the last simplified correction against the new one measures the nonlinearity.
                let difference = self.difference_norm(&self.dx_bar, &self.dx, 1.0, x);
                let predicted =
                    old_norm * old_bar / (difference * norm).max(f64::MIN_POSITIVE) * old_damping;
                damping = predicted.min(1.0).max(self.options.min_damping);
            }
            match self.search(system, x, norm, damping)? {
                Search::Accepted(accepted, bar) => {
                    x.copy_from_slice(&self.trial);
                    last = Some((norm, bar, accepted));
                    damping = accepted;
                    if accepted == 1.0 && bar <= self.options.tolerance {
                        // The simplified correction has one more digit for free.
                        std::mem::swap(&mut self.dx, &mut self.dx_bar);
                        self.finish(system, x)?;
                        return Ok(self.statistics);
                    }
                }
                Search::Failed(_) if self.at_roundoff_again(system, x) => {
                    return Ok(self.statistics);
                }
                Search::Failed(Some(reason)) => return Err(NewtonError::Evaluation { reason }),
                Search::Failed(None) => return Err(self.no_convergence(norm, x)),
            }
        }
        let norm = self.norm(&self.dx, x);
        Err(self.no_convergence(norm, x))
    }

    /// Shortens the step until the simplified correction is smaller than the ordinary one.
    fn search<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &[f64],
        norm: f64,
        mut damping: f64,
    ) -> Result<Search, NewtonError> {
        loop {
            let mut reason = None;
            self.move_trial(x, damping);
            let trial = std::mem::take(&mut self.trial);
            let evaluated = self.evaluate(system, &trial);
            self.trial = trial;
            match evaluated {
                Err(EvalError::Fatal(reason)) => return Err(NewtonError::Evaluation { reason }),
                Err(EvalError::Recoverable(why)) => {
                    reason = Some(why);
                    damping *= 0.5;
                }
                Ok(()) => {
                    self.solve_step(true);
                    let bar = self.norm(&self.dx_bar, x);
                    // Restricted natural monotonicity test, Deuflhard (3.46).
                    if bar <= (1.0 - 0.25 * damping) * norm {
                        return Ok(Search::Accepted(damping, bar));
                    }
                    let deviation = self.difference_norm(&self.dx_bar, &self.dx, 1.0 - damping, x);
                    let corrected = 0.5 * norm * damping * damping / deviation;
                    damping = if corrected.is_finite() {
                        corrected.min(0.5 * damping)
                    } else {
                        0.5 * damping
                    };
                }
            }
            self.statistics.damped_trials += 1;
            if damping < self.options.min_damping {
                return Ok(Search::Failed(reason));
            }
        }
    }

    /// Factorises the Jacobian; a singular square one with regularisation. The inner error is row and column.
    fn factor<S: Nonlinear + ?Sized>(
        &mut self,
        system: &S,
        x: &[f64],
    ) -> Result<Result<(), (usize, usize)>, NewtonError> {
        self.statistics.singular = None;
        let Err(singular) = self.step.factor(&self.values, x, self.options) else {
            return Ok(Ok(()));
        };
        let place = (singular.row, singular.col);
        self.statistics.singular = Some(place);
        if system.len() != system.equations() {
            return Ok(Err(place));
        }
        let solver = match &mut self.regularised {
            Some(solver) => solver,
            empty => empty.insert(StepSolver::regularised(system.pattern())?),
        };
        Ok(solver
            .factor(&self.values, x, self.options)
            .map_err(|_| place))
    }

    /// Solves for the correction (`dx`) or the simplified one (`dx_bar`) with the last factorisation.
    fn solve_step(&mut self, simplified: bool) {
        let dx = if simplified {
            &mut self.dx_bar
        } else {
            &mut self.dx
        };
        match (&mut self.regularised, self.statistics.singular) {
            (Some(solver), Some(_)) => solver.solve(&self.r, dx),
            _ => self.step.solve(&self.r, dx),
        }
    }

    /// Sets the trial point to `x + damping * dx`, inside the bounds.
    fn move_trial(&mut self, x: &[f64], damping: f64) {
        for (j, ((trial, x), dx)) in self.trial.iter_mut().zip(x).zip(&self.dx).enumerate() {
            *trial = self.options.inside_bounds(j, x + damping * dx);
        }
    }

    /// Applies the last correction if the residual can be evaluated there.
    fn finish<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
    ) -> Result<(), NewtonError> {
        self.move_trial(x, 1.0);
        let trial = std::mem::take(&mut self.trial);
        match self.evaluate(system, &trial) {
            Ok(()) => x.copy_from_slice(&trial),
            Err(EvalError::Fatal(reason)) => return Err(NewtonError::Evaluation { reason }),
            // The point before the last correction is as good.
            Err(EvalError::Recoverable(_)) => {}
        }
        self.trial = trial;
        if self.r.len() > x.len() || self.statistics.singular.is_some() {
            self.check_consistent(x)?;
        }
        Ok(())
    }

    fn evaluate<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &[f64],
    ) -> Result<(), EvalError> {
        self.statistics.residual_evaluations += 1;
        system.residual(x, &mut self.r)?;
        match first_not_finite(&self.r) {
            Some(row) => Err(EvalError::Recoverable(EvalReason::NotFinite { row })),
            None => Ok(()),
        }
    }

    /// Largest weighted component.
    fn norm(&self, dx: &[f64], x: &[f64]) -> f64 {
        dx.iter()
            .enumerate()
            .map(|(j, d)| (d / self.options.scale(j, x[j])).abs())
            .fold(0.0, f64::max)
    }

    /// Norm of `a - factor * b`.
    fn difference_norm(&self, a: &[f64], b: &[f64], factor: f64, x: &[f64]) -> f64 {
        (0..a.len())
            .map(|j| ((a[j] - factor * b[j]) / self.options.scale(j, x[j])).abs())
            .fold(0.0, f64::max)
    }

    /// Residuals relative to the size of the terms that make them up, by the Jacobian at hand.
    fn relative_residual(&self, x: &[f64]) -> (usize, f64) {
        let sizes = self.step.row_sizes(&self.values, x, self.options);
        let mut worst = (0, 0.0);
        for (i, (r, size)) in self.r.iter().zip(&sizes).enumerate() {
            let relative = if *r == 0.0 {
                0.0
            } else {
                r.abs() / size.max(f64::MIN_POSITIVE)
            };
            if relative > worst.1 || relative.is_nan() {
                worst = (i, relative);
            }
        }
        worst
    }

    fn at_roundoff(&self, x: &[f64]) -> bool {
        self.relative_residual(x).1 <= self.options.roundoff
    }

    fn at_roundoff_again<S: Nonlinear + ?Sized>(&mut self, system: &mut S, x: &[f64]) -> bool {
        self.evaluate(system, x).is_ok() && self.at_roundoff(x)
    }

    fn check_consistent(&self, x: &[f64]) -> Result<(), NewtonError> {
        let (row, relative) = self.relative_residual(x);
        if relative > self.options.tolerance.sqrt() {
            if let Some((row, col)) = self.statistics.singular {
                return Err(NewtonError::Singular { row, col });
            }
            return Err(NewtonError::Inconsistent {
                row,
                residual: self.r[row],
            });
        }
        Ok(())
    }

    fn no_convergence(&self, step: f64, x: &[f64]) -> NewtonError {
        if let Some((row, col)) = self.statistics.singular {
            return NewtonError::Singular { row, col };
        }
        let (row, _) = self.relative_residual(x);
        let variable = self
            .dx
            .iter()
            .enumerate()
            .max_by(|a, b| {
                let size = |(j, d): (usize, &f64)| (d / self.options.scale(j, self.trial[j])).abs();
                size(*a).total_cmp(&size(*b))
            })
            .map_or(0, |(j, _)| j);
        NewtonError::NoConvergence {
            iterations: self.statistics.iterations,
            row,
            residual: self.r.get(row).copied().unwrap_or(0.0),
            variable,
            step,
        }
    }
}
