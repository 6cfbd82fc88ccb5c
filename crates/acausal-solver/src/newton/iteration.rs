//! One damped Newton iteration as a state machine: it asks for a residual or a Jacobian at a point and is told the answer.
//!
//! In: a first guess ([`Iteration::begin`]), then answers. Out: questions ([`Request`]), at last the solution or a typed
//! error. Because the iteration never calls the model, many of them (one per block of a triangular system) advance in
//! lock step and share each evaluation of the whole model; see [`super::blocks`].
//!
//! Phases: `First` residual - Jacobian - `Trial` residuals until one is accepted - Jacobian - ... - `Finish`, the residual
//! after the last correction. When no trial is accepted, `Recheck` looks whether the residual is rounding error already.

use super::step::StepSolver;
use super::{NewtonError, NewtonOptions, NewtonStatistics};
use crate::dae::{DaeError, EvalReason, first_not_finite};
use crate::pattern::Pattern;

/// What the iteration needs next, at [`Iteration::point`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Residual,
    Jacobian,
    /// [`Iteration::result`] is known.
    Done,
}

#[derive(Clone, Copy)]
enum Phase {
    First,
    Jacobian,
    Trial,
    Finish,
    /// No trial point was accepted; the last one could not be evaluated for this reason.
    Recheck(Option<EvalReason>),
    Over(Result<(), NewtonError>),
}

pub(super) struct Iteration {
    step: StepSolver,
    /// For singular Jacobians, made when the first one is met.
    regularised: Option<StepSolver>,
    phase: Phase,
    /// The last accepted point.
    pub x: Vec<f64>,
    trial: Vec<f64>,
    pub values: Vec<f64>,
    pub r: Vec<f64>,
    dx: Vec<f64>,
    /// Simplified correction at the trial point.
    dx_bar: Vec<f64>,
    norm: f64,
    damping: f64,
    /// (norm of dx, norm of dx_bar, damping) of the last iteration, for the prediction of the next damping.
    last: Option<(f64, f64, f64)>,
    /// Unknowns that the norms see; empty means all.
    counted: Vec<bool>,
    pub statistics: NewtonStatistics,
}

/// First damping when nothing is known about the nonlinearity: a full step.
const FIRST_DAMPING: f64 = 1.0;

impl Iteration {
    /// For `equations` rows and `unknowns` columns of a pattern.
    pub fn new(pattern: &Pattern, unknowns: usize, equations: usize) -> Result<Self, NewtonError> {
        Ok(Self {
            step: StepSolver::new(pattern, unknowns, equations)?,
            regularised: None,
            phase: Phase::First,
            x: vec![0.0; unknowns],
            trial: vec![0.0; unknowns],
            values: vec![0.0; pattern.nnz()],
            r: vec![0.0; equations],
            dx: vec![0.0; unknowns],
            dx_bar: vec![0.0; unknowns],
            norm: f64::INFINITY,
            damping: FIRST_DAMPING,
            last: None,
            counted: Vec::new(),
            statistics: NewtonStatistics::default(),
        })
    }

    /// Lets the norms see these unknowns only: the others follow from them ([`super::torn`]).
    pub fn count_only(&mut self, counted: Vec<bool>) {
        self.counted = counted;
    }

    /// The point that a residual was asked for, which may be moved before it is judged, and the residual.
    pub fn trial_and_residual(&mut self) -> (&mut [f64], &[f64]) {
        (&mut self.trial, &self.r)
    }

    /// Starts at a guess; the first question is for the residual there.
    pub fn begin(&mut self, guess: impl Iterator<Item = f64>, options: &NewtonOptions) -> Request {
        for (j, (x, g)) in self.x.iter_mut().zip(guess).enumerate() {
            *x = options.inside_bounds(j, g);
        }
        self.trial.copy_from_slice(&self.x);
        self.phase = Phase::First;
        self.norm = f64::INFINITY;
        self.damping = FIRST_DAMPING;
        self.last = None;
        self.statistics = NewtonStatistics::default();
        Request::Residual
    }

    /// Where the model is to be evaluated.
    pub fn point(&self) -> &[f64] {
        match self.phase {
            Phase::Jacobian | Phase::Over(_) => &self.x,
            _ => &self.trial,
        }
    }

    /// How it ended; an iteration that has not ended has not converged.
    pub fn result(&self, options: &NewtonOptions) -> Result<NewtonStatistics, NewtonError> {
        match self.phase {
            Phase::Over(result) => result.map(|()| self.statistics),
            _ => Err(self.no_convergence(options)),
        }
    }

    /// The values in [`Iteration::r`] have been evaluated, or could not be.
    pub fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        self.statistics.residual_evaluations += 1;
        let evaluated = evaluated.and_then(|()| match first_not_finite(&self.r) {
            Some(row) => Err(DaeError::Recoverable(EvalReason::NotFinite { row })),
            None => Ok(()),
        });
        match (self.phase, evaluated) {
            (Phase::First, Err(error)) => self.over(Err(NewtonError::Evaluation {
                reason: error.reason(),
            })),
            (_, Err(DaeError::Fatal(reason))) => self.over(Err(NewtonError::Evaluation { reason })),
            (Phase::Trial, Err(DaeError::Recoverable(reason))) => {
                self.damping *= 0.5;
                self.shorten(Some(reason), options)
            }
            (Phase::Trial, Ok(())) => self.judge(options),
            (Phase::Finish, evaluated) => {
                // The point before the last correction is as good.
                if evaluated.is_ok() {
                    self.x.copy_from_slice(&self.trial);
                }
                let checked = if self.r.len() > self.x.len() || self.statistics.singular.is_some() {
                    self.check_consistent(options)
                } else {
                    Ok(())
                };
                self.over(checked)
            }
            (Phase::Recheck(reason), evaluated) => {
                let result = if evaluated.is_ok() && self.at_roundoff(options) {
                    Ok(())
                } else if let Some(reason) = reason {
                    Err(NewtonError::Evaluation { reason })
                } else {
                    Err(self.no_convergence(options))
                };
                self.over(result)
            }
            (_, _) => {
                // The first point.
                self.x.copy_from_slice(&self.trial);
                self.jacobian_next(options)
            }
        }
    }

    /// The values in [`Iteration::values`] have been evaluated, or could not be.
    pub fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        self.statistics.iterations += 1;
        self.statistics.jacobian_evaluations += 1;
        if let Err(error) = evaluated {
            return self.over(Err(NewtonError::Evaluation {
                reason: error.reason(),
            }));
        }
        if let Some(position) = first_not_finite(&self.values) {
            let row = self.step.pattern().row_idx()[position] as usize;
            return self.over(Err(NewtonError::Evaluation {
                reason: EvalReason::NotFinite { row },
            }));
        }
        if let Err(error) = self.factor(options) {
            let result = if self.at_roundoff(options) {
                Ok(())
            } else {
                Err(error)
            };
            return self.over(result);
        }
        self.solve_step(false);
        self.norm = self.norm_of(&self.dx, options);
        if self.norm <= options.tolerance {
            if options.stay && self.statistics.iterations == 1 {
                self.dx.fill(0.0);
            }
            return self.finish(options);
        }
        if let Some((old_norm, old_bar, old_damping)) = self.last {
            // Deuflhard (3.45): the last simplified correction against the new one measures the nonlinearity.
            let difference = self.difference_norm(&self.dx_bar, &self.dx, 1.0, options);
            let predicted =
                old_norm * old_bar / (difference * self.norm).max(f64::MIN_POSITIVE) * old_damping;
            self.damping = predicted.min(1.0).max(options.min_damping);
        }
        self.phase = Phase::Trial;
        self.move_trial(self.damping, options);
        Request::Residual
    }

    /// Restricted natural monotonicity test, Deuflhard (3.46): the simplified correction is smaller than the ordinary one.
    fn judge(&mut self, options: &NewtonOptions) -> Request {
        self.solve_step(true);
        let bar = self.norm_of(&self.dx_bar, options);
        let damping = self.damping;
        if bar <= (1.0 - 0.25 * damping) * self.norm {
            self.x.copy_from_slice(&self.trial);
            self.last = Some((self.norm, bar, damping));
            if damping == 1.0 && bar <= options.tolerance {
                // The simplified correction has one more digit for free.
                std::mem::swap(&mut self.dx, &mut self.dx_bar);
                return self.finish(options);
            }
            return self.jacobian_next(options);
        }
        let deviation = self.difference_norm(&self.dx_bar, &self.dx, 1.0 - damping, options);
        let corrected = 0.5 * self.norm * damping * damping / deviation;
        self.damping = if corrected.is_finite() {
            corrected.min(0.5 * damping)
        } else {
            0.5 * damping
        };
        self.shorten(None, options)
    }

    fn shorten(&mut self, reason: Option<EvalReason>, options: &NewtonOptions) -> Request {
        self.statistics.damped_trials += 1;
        if self.damping < options.min_damping {
            self.phase = Phase::Recheck(reason);
            self.trial.copy_from_slice(&self.x);
        } else {
            self.move_trial(self.damping, options);
        }
        Request::Residual
    }

    fn jacobian_next(&mut self, options: &NewtonOptions) -> Request {
        if self.statistics.iterations >= options.max_iterations {
            let error = self.no_convergence(options);
            return self.over(Err(error));
        }
        self.phase = Phase::Jacobian;
        Request::Jacobian
    }

    fn finish(&mut self, options: &NewtonOptions) -> Request {
        self.phase = Phase::Finish;
        self.move_trial(1.0, options);
        Request::Residual
    }

    fn over(&mut self, result: Result<(), NewtonError>) -> Request {
        self.phase = Phase::Over(result);
        Request::Done
    }

    /// Factorises the Jacobian; a singular square one with regularisation.
    fn factor(&mut self, options: &NewtonOptions) -> Result<(), NewtonError> {
        self.statistics.singular = None;
        let Err(singular) = self.step.factor(&self.values, &self.x, options) else {
            return Ok(());
        };
        let (row, col) = (singular.row, singular.col);
        self.statistics.singular = Some((row, col));
        let error = NewtonError::Singular { row, col };
        if self.x.len() != self.r.len() {
            return Err(error);
        }
        let solver = match &mut self.regularised {
            Some(solver) => solver,
            empty => empty.insert(StepSolver::regularised(self.step.pattern())?),
        };
        solver
            .factor(&self.values, &self.x, options)
            .map_err(|_| error)
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
    fn move_trial(&mut self, damping: f64, options: &NewtonOptions) {
        for (j, ((trial, x), dx)) in (self.trial.iter_mut().zip(&self.x))
            .zip(&self.dx)
            .enumerate()
        {
            *trial = options.inside_bounds(j, x + damping * dx);
        }
    }

    /// Largest weighted component.
    fn norm_of(&self, dx: &[f64], options: &NewtonOptions) -> f64 {
        dx.iter()
            .enumerate()
            .filter(|(j, _)| self.counts(*j))
            .map(|(j, d)| (d / options.scale(j, self.x[j])).abs())
            .fold(0.0, f64::max)
    }

    fn counts(&self, j: usize) -> bool {
        self.counted.get(j).copied().unwrap_or(true)
    }

    /// Norm of `a - factor * b`.
    fn difference_norm(&self, a: &[f64], b: &[f64], factor: f64, options: &NewtonOptions) -> f64 {
        (0..a.len())
            .filter(|j| self.counts(*j))
            .map(|j| ((a[j] - factor * b[j]) / options.scale(j, self.x[j])).abs())
            .fold(0.0, f64::max)
    }

    /// Residuals relative to the size of the terms that make them up, by the Jacobian at hand.
    fn relative_residual(&self, options: &NewtonOptions) -> (usize, f64) {
        let sizes = self.step.row_sizes(&self.values, &self.x, options);
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

    fn at_roundoff(&self, options: &NewtonOptions) -> bool {
        self.relative_residual(options).1 <= options.roundoff
    }

    fn check_consistent(&self, options: &NewtonOptions) -> Result<(), NewtonError> {
        let (row, relative) = self.relative_residual(options);
        if relative > options.tolerance.sqrt() {
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

    fn no_convergence(&self, options: &NewtonOptions) -> NewtonError {
        if let Some((row, col)) = self.statistics.singular {
            return NewtonError::Singular { row, col };
        }
        let (row, _) = self.relative_residual(options);
        let size = |j: usize| (self.dx[j] / options.scale(j, self.trial[j])).abs();
        let variable = (0..self.dx.len())
            .max_by(|&a, &b| size(a).total_cmp(&size(b)))
            .unwrap_or(0);
        NewtonError::NoConvergence {
            iterations: self.statistics.iterations,
            row,
            residual: self.r.get(row).copied().unwrap_or(0.0),
            variable,
            step: self.norm,
        }
    }
}
