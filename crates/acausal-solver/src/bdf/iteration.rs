//! The corrector: a modified Newton iteration with a matrix that is kept as long as it serves ([`super::matrix`]).
//!
//! Solves `F(t, y, y') = 0` with `y = y_pred + e`, `y' = y'_pred + cj * e` for the correction e. While the matrix
//! `dF/dy + cj * dF/dy'` is stale by the ratio r = cj / cj_old, each correction is multiplied by 2 / (1 + r), which is the best single factor for
//! a matrix between purely differential and purely algebraic rows (Brenan, Campbell & Petzold, sec. 5.2.2). An iteration
//! whose rate shows that it will not arrive in time is given up at once. All tests are on the weighted step, never on residuals, so they do not depend
//! on the scaling of the equations.

use super::options::{HOPELESS, MAX_RATE, STANDSTILL, TINY_CORRECTION};
use super::{Bdf, Move, SolverError, StepLimit, kernels};
use crate::dae::{Dae, DaeError, EvalReason, first_not_finite, jacobian_needs_point, team_of};
use crate::parallel::team_for;
use acausal_cpu::Team;

/// A correction below this fraction of the tolerance ends the iteration with new matrices.
const LAST_PIECE: f64 = 0.1;

/// Why an attempt was given up.
pub(crate) enum AttemptFailure {
    /// Try a smaller step.
    Retry(StepLimit),
    /// Stop.
    Fatal(SolverError),
}

/// How one run of the iteration ended.
enum Iteration {
    Converged { iterations: u32 },
    Diverged,
    NotFinite,
}

/// What is known of one run of the iteration.
struct Attempt {
    /// Its matrix was made for it.
    is_new: bool,
    /// Residuals are looked at, to find out which row is to blame.
    careful: bool,
}

impl Bdf {
    /// Whether the matrix does not serve for the next iteration.
    pub(super) fn needs_new_matrix(&self) -> bool {
        self.renewal.needs_new(&self.matrix, self.history.c.cj)
    }

    /// Finds the correction of the predicted `y`, `yp` at time `t`, where the residual may have been evaluated.
    pub(super) fn correct<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        mut evaluated: Option<Result<(), DaeError>>,
    ) -> Result<(), AttemptFailure> {
        let cj = self.history.c.cj;
        let mut run = Attempt {
            is_new: self.renewal.begin_attempt(&self.matrix, cj),
            careful: false,
        };
        loop {
            match evaluated.take() {
                Some(result) => self.take_residual(result)?,
                None => self.evaluate_residual(dae, t)?,
            }
            if run.is_new {
                self.renew_matrix(dae, t)?;
            }
            match self.iterate(dae, t, &run)? {
                Iteration::Converged { iterations } => {
                    self.renewal.converged(&self.matrix, run.is_new, iterations);
                    return Ok(());
                }
                Iteration::Diverged if !run.is_new => {
                    run.is_new = true;
                    self.renewal.old_matrix_failed(&self.matrix);
                }
                // Repeat with a check after each evaluation.
                Iteration::NotFinite if !run.careful => run.careful = true,
                _ => return self.correct_in_pieces(dae, t),
            }
            self.predict_again(team_of(dae));
        }
    }

    /// After an iteration that did not converge with a new matrix: a new one in every turn where that may help.
    fn correct_in_pieces<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
    ) -> Result<(), AttemptFailure> {
        let pieces = self.renewal.pieces();
        if pieces > 0 {
            self.predict_again(team_of(dae));
            if self.iterate_anew(dae, t, pieces)? {
                self.renewal.pieces_succeeded();
                return Ok(());
            }
        }
        let variable = self.largest_correction(team_of(dae));
        let row = self.worst_row(dae, t);
        Err(AttemptFailure::Retry(StepLimit::Convergence {
            variable,
            row,
        }))
    }

    /// The iteration with the present matrix.
    fn iterate<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        run: &Attempt,
    ) -> Result<Iteration, AttemptFailure> {
        let ratio = self.matrix.ratio(self.history.c.cj).unwrap_or(1.0);
        let factor = if ratio == 1.0 {
            1.0
        } else {
            2.0 / (1.0 + ratio)
        };
        let tolerance = self.options.newton_tolerance;
        let mut first_norm = 0.0;
        let mut norm = f64::INFINITY;
        let limit = self.options.max_newton_iterations.max(1);
        for m in 0..limit {
            if m > 0 {
                self.next_residual(dae, t)?;
            }
            if run.careful
                && let Some(row) = first_not_finite(&self.corrector.d)
            {
                self.record.statistics.evaluation_failures += 1;
                let reason = EvalReason::NotFinite { row };
                return Err(AttemptFailure::Retry(StepLimit::Evaluation(reason)));
            }
            norm = self.newton_correction(dae, factor, m + 1);
            if !norm.is_finite() {
                return Ok(Iteration::NotFinite);
            }
            let known = if m == 0 {
                first_norm = norm;
                if norm <= TINY_CORRECTION * tolerance {
                    return Ok(Iteration::Converged { iterations: 1 });
                }
                self.renewal.rate.unmeasured()
            } else {
                let rate = (norm / first_norm).powf(1.0 / f64::from(m));
                if rate > MAX_RATE {
                    return Ok(self.stagnated(tolerance, norm, m + 1));
                }
                self.renewal.rate.measure(rate);
                let measured = self.renewal.rate.measured();
                let left = (limit - 1 - m) as i32;
                let at_the_limit = measured * norm * rate.powi(left);
                if !run.is_new && left > 0 && at_the_limit > HOPELESS * tolerance {
                    return Ok(Iteration::Diverged);
                }
                measured
            };
            if known * norm <= tolerance {
                return Ok(Iteration::Converged { iterations: m + 1 });
            }
        }
        Ok(self.stagnated(tolerance, norm, limit))
    }

    /// The residual with the corrections so far.
    fn next_residual<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
    ) -> Result<(), AttemptFailure> {
        match self.evaluate_corrected(dae, t) {
            Some(result) => self.take_residual(result),
            None => {
                self.apply_held(team_of(dae));
                self.evaluate_residual(dae, t)
            }
        }
    }

    /// Solves for another correction and holds it back; its norm.
    fn newton_correction<D: Dae + ?Sized>(&mut self, dae: &mut D, factor: f64, number: u32) -> f64 {
        let n = self.len();
        self.matrix.solve(team_for(dae, n), &mut self.corrector.d);
        self.record.statistics.newton_iterations += 1;
        let norm = self.hold(team_of(dae), factor);
        if self.options.trace {
            let variable = self.largest_correction(team_of(dae));
            self.record.note(Move::Iteration {
                number,
                norm,
                variable,
            });
        }
        norm
    }

    /// Holds the correction `-factor * d` back until it is known whether another one follows; its norm.
    fn hold(&mut self, team: Option<&mut Team>, factor: f64) -> f64 {
        self.corrector.hold(factor);
        let phi = &self.history.phi;
        let differences = kernels::Differences {
            phi,
            k: self.stepper.k,
            raise: self.stepper.may_raise(&self.history.c),
        };
        let correction = self.corrector.correction();
        let piece = |range, weights: kernels::Weights<'_>, mask: Option<&[f64]>| {
            kernels::sums(range, correction, weights, mask, differences)
        };
        self.corrector.sums = (self.norms).add_up(team, &self.tolerances, &phi[0], piece);
        (self.corrector.sums.last / self.len().max(1) as f64).sqrt()
    }

    /// The iteration with a new matrix in every turn; true if it converges.
    fn iterate_anew<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        pieces: u32,
    ) -> Result<bool, AttemptFailure> {
        for _ in 0..pieces {
            self.apply_held(team_of(dae));
            self.evaluate_residual(dae, t)?;
            self.renew_matrix(dae, t)?;
            self.matrix
                .solve(team_for(dae, self.len()), &mut self.corrector.d);
            self.record.statistics.newton_iterations += 1;
            let norm = self.hold(team_of(dae), 1.0);
            if !norm.is_finite() {
                return Ok(false);
            }
            if norm <= LAST_PIECE * self.options.newton_tolerance {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The iteration no longer gets better. Multipliers may have reached their rounding errors, which are large where the
    /// gradients of the constraints are small; what counts is then that the tested variables stand still and that no
    /// other one moves by more than the tolerance of the integration.
    fn stagnated(&self, tolerance: f64, norm: f64, iterations: u32) -> Iteration {
        if self.tolerances.all_tested() || norm > 1.0 || norm.is_nan() {
            return Iteration::Diverged;
        }
        let sum = kernels::weighted_sum(&self.corrector.d, |i| self.tested_weight(i));
        if (sum / self.tolerances.tested()).sqrt() <= STANDSTILL * tolerance {
            Iteration::Converged { iterations }
        } else {
            Iteration::Diverged
        }
    }

    pub(super) fn evaluate_residual<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
    ) -> Result<(), AttemptFailure> {
        let c = &mut self.corrector;
        let result = dae.residual(t, &c.y, &c.yp, &mut c.d);
        self.take_residual(result)
    }

    fn take_residual(&mut self, result: Result<(), DaeError>) -> Result<(), AttemptFailure> {
        self.record.statistics.residual_evaluations += 1;
        result.map_err(|error| self.evaluation_failure(error))
    }

    fn evaluation_failure(&mut self, error: DaeError) -> AttemptFailure {
        self.record.statistics.evaluation_failures += 1;
        match error {
            DaeError::Recoverable(reason) => AttemptFailure::Retry(StepLimit::Evaluation(reason)),
            DaeError::Fatal(reason) => AttemptFailure::Fatal(SolverError::Evaluation {
                t: self.stepper.tn,
                h: self.stepper.h,
                reason,
            }),
        }
    }

    fn renew_matrix<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> Result<(), AttemptFailure> {
        if jacobian_needs_point(dae) {
            self.complete(team_of(dae));
        }
        self.record.statistics.jacobian_evaluations += 1;
        self.matrix.cj = None;
        let (cj, values) = (self.history.c.cj, &mut self.matrix.values);
        let (y, yp) = (&self.corrector.y, &self.corrector.yp);
        let evaluated = match dae.large() {
            Some(large) => large.jacobian_after_residual(t, y, yp, cj, values),
            None => dae.jacobian(t, y, yp, cj, values),
        };
        evaluated.map_err(|error| self.evaluation_failure(error))?;
        self.record.statistics.factorisations += 1;
        self.record.note(Move::Matrix { cj });
        let n = self.len();
        if let Err(singular) = self.matrix.factor(team_for(dae, n), cj) {
            let Some(row) = self.matrix.row_not_finite() else {
                return Err(AttemptFailure::Retry(StepLimit::Singular {
                    row: singular.row,
                    col: singular.col,
                }));
            };
            self.record.statistics.evaluation_failures += 1;
            let reason = EvalReason::NotFinite { row };
            return Err(AttemptFailure::Retry(StepLimit::Evaluation(reason)));
        }
        self.renewal.rate.renew();
        Ok(())
    }

    /// The variable that the last iteration moves most.
    fn largest_correction(&self, team: Option<&mut Team>) -> usize {
        let (d, y) = (&self.corrector.d, &self.history.phi[0]);
        let tolerances = &self.tolerances;
        kernels::largest(team, self.len(), |i| d[i] * tolerances.weight(i, y[i]))
    }

    /// Equation that is furthest from being satisfied, measured against the size of its entries in the matrix.
    fn worst_row<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> usize {
        self.predict_again(team_of(dae));
        if self.evaluate_residual(dae, t).is_err() {
            return 0;
        }
        let n = self.len();
        let (sizes, residual) = (&mut self.corrector.e, &self.corrector.d);
        sizes.fill(f64::MIN_POSITIVE);
        if let Some(pattern) = &self.matrix.pattern {
            for column in 0..n {
                let weight = self.tolerances.weight(column, self.history.phi[0][column]);
                for k in pattern.range(column) {
                    let size = &mut sizes[pattern.row_idx()[k] as usize];
                    *size = size.max(self.matrix.values[k].abs() / weight);
                }
            }
        }
        for size in sizes.iter_mut() {
            *size = 1.0 / *size;
        }
        kernels::largest(team_of(dae), n, |i| residual[i] * sizes[i])
    }
}
