//! Levenberg-Marquardt steps towards a solution, for guesses from which Newton's method does not converge.
//!
//! In: a square system and a guess. Out: a point near a solution, from which Newton's method then converges
//! quadratically; or an error where the sum of squares has a minimum that is no zero.
//!
//! Each step solves `min |S (J dx + F)|^2 + mu |D dx|^2` with equilibrated rows S and the sizes of the unknowns D, as the
//! augmented system of the module `step`. `mu` falls after a step that reduces the residual and grows otherwise, so that
//! the step turns from Newton's towards steepest descent (More 1978). Singular Jacobians on the way do no harm.
//!
//! Like the Newton iteration it is a state machine that asks for evaluations, so that many blocks advance in lock step.
//!
//! Worked example: `x^2 = 1` from x = 1e-3: Newton's step goes to 500; here the first steps are short and x = 1 is found.

use super::iteration::Request;
use super::step::StepSolver;
use super::{NewtonError, NewtonOptions};
use crate::dae::{DaeError, EvalReason, first_not_finite};
use crate::pattern::Pattern;

/// First weight of the step against the residual.
const FIRST_MU: f64 = 1e-2;
/// Largest and smallest weight.
const MU: (f64, f64) = (1e-12, 1e8);
/// Bound on Jacobian evaluations.
const MOST_STEPS: usize = 200;
/// The equilibrated residual may be this large when Newton's method takes over.
const NEAR: f64 = 1e-6;

#[derive(Clone, Copy)]
enum Phase {
    First,
    Jacobian,
    Trial,
    Over(Result<(), NewtonError>),
}

/// Steps from one guess, as a state machine.
pub(super) struct LeastSquares {
    solver: StepSolver,
    phase: Phase,
    /// The last accepted point.
    pub x: Vec<f64>,
    trial: Vec<f64>,
    dx: Vec<f64>,
    pub values: Vec<f64>,
    /// Residual at the point that was asked for.
    pub r: Vec<f64>,
    /// Residual at `x`.
    accepted: Vec<f64>,
    mu: f64,
    /// Norm of `accepted` with the row scales of the last factorisation.
    before: f64,
    steps: usize,
}

impl LeastSquares {
    /// For a square pattern, at a guess; the first question is for the residual there.
    pub fn new(pattern: &Pattern, guess: &[f64]) -> Result<Self, NewtonError> {
        let n = guess.len();
        Ok(Self {
            solver: StepSolver::regularised(pattern)?,
            phase: Phase::First,
            x: guess.to_vec(),
            trial: guess.to_vec(),
            dx: vec![0.0; n],
            values: vec![0.0; pattern.nnz()],
            r: vec![0.0; n],
            accepted: vec![0.0; n],
            mu: FIRST_MU,
            before: f64::INFINITY,
            steps: 0,
        })
    }

    /// Where the model is to be evaluated.
    pub fn point(&self) -> &[f64] {
        match self.phase {
            Phase::Trial => &self.trial,
            _ => &self.x,
        }
    }

    /// How it ended.
    pub fn result(&self) -> Result<(), NewtonError> {
        match self.phase {
            Phase::Over(result) => result,
            _ => Err(self.no_convergence()),
        }
    }

    /// The values in [`LeastSquares::r`] have been evaluated, or could not be.
    pub fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        let evaluated = evaluated.map_err(|e| e.reason()).and_then(|()| {
            let row = first_not_finite(&self.r);
            row.map_or(Ok(()), |row| Err(EvalReason::NotFinite { row }))
        });
        match self.phase {
            Phase::First => match evaluated {
                Ok(()) => self.accept(),
                Err(reason) => self.over(Err(NewtonError::Evaluation { reason })),
            },
            _ => {
                // An undefined point is no progress.
                let after = self.solver.residual_norm(&self.r);
                if evaluated.is_ok() && after < (1.0 - 1e-4) * self.before {
                    self.x.copy_from_slice(&self.trial);
                    self.mu = (self.mu * 0.2).max(MU.0);
                    return self.accept();
                }
                self.mu *= 8.0;
                if self.mu > MU.1 {
                    return self.over(Err(self.no_convergence()));
                }
                self.try_step(options)
            }
        }
    }

    /// The values in [`LeastSquares::values`] have been evaluated, or could not be.
    pub fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        self.steps += 1;
        let refused = |reason| Err(NewtonError::Evaluation { reason });
        if let Err(error) = evaluated {
            return self.over(refused(error.reason()));
        }
        if let Some(k) = first_not_finite(&self.values) {
            let row = self.solver.pattern().row_idx()[k] as usize;
            return self.over(refused(EvalReason::NotFinite { row }));
        }
        self.try_step(options)
    }

    fn accept(&mut self) -> Request {
        self.accepted.copy_from_slice(&self.r);
        if self.steps >= MOST_STEPS {
            // Newton's method judges whether this is near enough.
            return self.over(Ok(()));
        }
        self.phase = Phase::Jacobian;
        Request::Jacobian
    }

    /// The trial point for the present weight.
    fn try_step(&mut self, options: &NewtonOptions) -> Request {
        let factored = (self.solver).factor_with(&self.values, &self.x, options, self.mu);
        if let Err(s) = factored {
            let (row, col) = (s.row, s.col);
            return self.over(Err(NewtonError::Singular { row, col }));
        }
        self.before = self.solver.residual_norm(&self.accepted);
        if self.before <= NEAR {
            return self.over(Ok(()));
        }
        self.solver.solve(&self.accepted, &mut self.dx);
        for (j, ((t, x), d)) in (self.trial.iter_mut().zip(&self.x))
            .zip(&self.dx)
            .enumerate()
        {
            *t = options.inside_bounds(j, x + d);
        }
        self.phase = Phase::Trial;
        Request::Residual
    }

    fn over(&mut self, result: Result<(), NewtonError>) -> Request {
        self.phase = Phase::Over(result);
        Request::Done
    }

    fn no_convergence(&self) -> NewtonError {
        let size = |&k: &usize| self.accepted[k].abs();
        let row = (0..self.accepted.len())
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap_or(0);
        NewtonError::NoConvergence {
            iterations: self.steps as u32,
            row,
            residual: self.accepted.get(row).copied().unwrap_or(0.0),
            variable: 0,
            step: 0.0,
        }
    }
}
