//! The corrector: a modified Newton iteration with a matrix that is kept as long as it serves.
//!
//! Solves `F(t, y, y') = 0` with `y = y_pred + e`, `y' = y'_pred + cj * e` for the correction e. The matrix
//! `dF/dy + cj * dF/dy'` is renewed only when `cj` has drifted too far or the iteration does not converge; while it is
//! stale by the ratio r = cj / cj_old, each correction is multiplied by 2 / (1 + r), which is the best single factor for
//! a matrix between purely differential and purely algebraic rows (Brenan, Campbell & Petzold, sec. 5.2.2). An iteration
//! whose rate shows that it will not arrive in time is given up at once, and after a step that needed many iterations the
//! matrix is renewed before the next one where that is cheap; so it is for some steps after old matrices have failed
//! twice in a row (1,000 diode bridges: 6,709 residuals and 685 Jacobians without the three rules, 3,085 and 1,043 with
//! them). All tests are on the weighted step, never on residuals, so they do not depend on the scaling of the equations.
//!
//! A matrix from one side of a kink (`smooth(0, noEvent(if u > top then top else gain*u))`) never leads to a solution on
//! the other side, however small the step. After [`PATIENCE`] failures in one step the matrix is therefore renewed in
//! every iteration, without a test of the rate: on piecewise linear equations this goes from piece to piece and ends
//! after a few of them.
//!
//! Nor need a kink be passed for that: where streams mix at rest, `max(m, 1e-8)`, a predicted flow is on the wrong side of it unless the step is so short that
//! the prediction is right to 1e-8. Such a step succeeds after one failure, the next ones are twice as long, and so on: one of two steps fails, for ever. So
//! failures are counted over steps, too ([`Bdf::note_failures`]).

use super::options::{
    CHEAP_RENEWAL, CJ_RATIO_MIN, HOPELESS, MAX_RATE, OLD_FAILURES, RENEWAL_SHARE, RENEWALS_AHEAD,
    STANDSTILL, TINY_CORRECTION,
};
use super::{Bdf, Move, SolverError, StepLimit, kernels};
use crate::dae::{Dae, EvalError, EvalReason, first_not_finite, jacobian_needs_point, pair_of};
use crate::two::{in_halves, second};
use acausal_cpu::Pair;
use std::ops::Range;

/// Vectors that the norms of a correction are made of: it, the weights, and three differences.
const VECTORS_OF_SUMS: usize = 5;

/// Unknowns whose norms are added up at a time.
const BLOCK: usize = 1 << 15;

/// Failures of the corrector in one step before the matrix is renewed in every iteration.
const PATIENCE: u32 = 2;

/// Most iterations with a new matrix each.
const MAX_PIECES: u32 = 20;

/// The same where only steps before this one have failed: the next piece and a correction that confirms it. More of them is no kink but curvature, which
/// shorter steps are for.
const FEW_PIECES: u32 = 4;

/// After so many steps without a failure those before do not count any more. (A step that was made four times shorter is as long again after two.)
const CLEAN_STEPS: u32 = 8;

/// A correction below this fraction of the tolerance ends the iteration with new matrices.
const LAST_PIECE: f64 = 0.1;

/// Why an attempt was given up.
pub(crate) enum Failure {
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

impl Bdf {
    /// Whether the matrix does not serve for the next iteration.
    pub(super) fn needs_new_matrix(&self) -> bool {
        let usable = |old: f64| {
            let ratio = self.c.cj / old;
            (CJ_RATIO_MIN..=1.0 / CJ_RATIO_MIN).contains(&ratio)
        };
        self.renew_next || self.renewals_ahead > 0 || !self.cj_factored.is_some_and(usable)
    }

    /// Finds the correction of the predicted `y`, `yp` at time `t`, where the residual may have been evaluated.
    pub(super) fn correct<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        mut evaluated: Option<Result<(), EvalError>>,
    ) -> Result<(), Failure> {
        let cj = self.c.cj;
        self.rate.begin(cj, self.cj_factored.map(|old| cj / old));
        let mut renew = self.needs_new_matrix();
        self.renew_next = false;
        self.renewals_ahead = self.renewals_ahead.saturating_sub(1);
        let mut careful = false;
        loop {
            match evaluated.take() {
                Some(result) => self.take_residual(result)?,
                None => self.evaluate_residual(dae, t)?,
            }
            if renew {
                self.renew_matrix(dae, t)?;
            }
            match self.iterate(dae, t, careful, renew)? {
                Iteration::Converged { iterations } => {
                    self.plan_renewal(renew, iterations);
                    return Ok(());
                }
                Iteration::Diverged if !renew => {
                    renew = true;
                    self.old_matrix_failed();
                }
                // Repeat with a check after each evaluation, to find out which row is to blame.
                Iteration::NotFinite if !careful => careful = true,
                _ => {
                    let pieces = match (self.corrector_failures, self.failing_steps) {
                        (PATIENCE.., _) => MAX_PIECES,
                        (_, PATIENCE..) => FEW_PIECES,
                        _ => 0,
                    };
                    if pieces > 0 {
                        self.predict_again(pair_of(dae));
                        if self.iterate_anew(dae, t, pieces)? {
                            self.clean_steps = 0;
                            return Ok(());
                        }
                    }
                    let variable = self.largest_correction(pair_of(dae));
                    let row = self.worst_row(dae, t);
                    return Err(Failure::Retry(StepLimit::Convergence { variable, row }));
                }
            }
            self.predict_again(pair_of(dae));
        }
    }

    fn iterate<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        careful: bool,
        fresh: bool,
    ) -> Result<Iteration, Failure> {
        let cj = self.c.cj;
        let ratio = self.cj_factored.map_or(1.0, |old| cj / old);
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
                match self.evaluate_corrected(dae, t) {
                    Some(result) => self.take_residual(result)?,
                    None => {
                        self.apply_held(pair_of(dae));
                        self.evaluate_residual(dae, t)?;
                    }
                }
            }
            if careful && let Some(row) = first_not_finite(&self.d) {
                self.statistics.evaluation_failures += 1;
                return Err(Failure::Retry(StepLimit::Evaluation(
                    EvalReason::NotFinite { row },
                )));
            }
            if self.options.profile {
                let clock = std::time::Instant::now();
                self.solver.solve_on(second(dae, self.n), &mut self.d);
                self.linear_seconds.1 += clock.elapsed().as_secs_f64();
            } else {
                self.solver.solve_on(second(dae, self.n), &mut self.d);
            }
            self.statistics.newton_iterations += 1;
            norm = self.hold(pair_of(dae), factor);
            if self.options.trace {
                let variable = self.largest_correction(pair_of(dae));
                self.record(Move::Iteration {
                    number: m + 1,
                    norm,
                    variable,
                });
            }
            if !norm.is_finite() {
                return Ok(Iteration::NotFinite);
            }
            if m == 0 {
                first_norm = norm;
                if norm <= TINY_CORRECTION * tolerance {
                    return Ok(Iteration::Converged { iterations: 1 });
                }
            } else {
                let rate = (norm / first_norm).powf(1.0 / f64::from(m));
                if rate > MAX_RATE {
                    return Ok(self.stagnated(tolerance, norm, m + 1));
                }
                self.rate.measure(rate);
                let left = (limit - 1 - m) as i32;
                let at_the_limit = self.rate.measured() * norm * rate.powi(left);
                if !fresh && left > 0 && at_the_limit > HOPELESS * tolerance {
                    return Ok(Iteration::Diverged);
                }
            }
            let factor = match m {
                0 => self.rate.unmeasured(),
                _ => self.rate.measured(),
            };
            if factor * norm <= tolerance {
                return Ok(Iteration::Converged { iterations: m + 1 });
            }
        }
        Ok(self.stagnated(tolerance, norm, limit))
    }

    /// Holds the correction `-factor * d` back until it is known whether another one follows; its norm.
    fn hold(&mut self, pair: Option<&mut Pair>, factor: f64) -> f64 {
        self.held = Some(factor);
        let differences = kernels::Differences {
            phi: &self.phi,
            k: self.k,
            raise: self.may_raise(),
        };
        let (tolerances, y, correction) = (&self.tolerances, &self.phi[0], self.correction());
        let add = |sums: kernels::Sums, block: Range<usize>| {
            tolerances.pieces(block).fold(sums, |sums, piece| {
                let w = tolerances.weights(&piece, y);
                let mut part = kernels::sums(piece.range, correction, w, piece.mask, differences);
                if !piece.tested {
                    part.errors = [0.0; 4];
                }
                sums + part
            })
        };
        // From the ends of long vectors to their middle: what was solved for last is still in a cache, and the next prediction begins there.
        let sums = |range: Range<usize>| {
            let (first, end) = (range.start, range.end);
            let blocks = (0..range.len().div_ceil(BLOCK)).map(|k| first + k * BLOCK);
            let block = |start: usize| start..(start + BLOCK).min(end);
            let none = kernels::Sums::default();
            match first {
                0 => blocks.map(block).fold(none, add),
                _ => blocks.rev().map(block).fold(none, add),
            }
        };
        let (front, back) = in_halves(pair, (self.n, VECTORS_OF_SUMS), sums);
        self.sums = back.map_or(front, |back| front + back);
        (self.sums.last / self.n.max(1) as f64).sqrt()
    }

    /// Applies the correction that was held back to y and y'.
    pub(super) fn apply_held(&mut self, mut pair: Option<&mut Pair>) {
        self.complete(pair.as_deref_mut());
        if let Some(factor) = self.held.take() {
            let corrected: [&mut [f64]; 3] = [&mut self.e, &mut self.y, &mut self.yp];
            let factors = (-factor, self.c.cj);
            kernels::correct(pair, !self.applied, factors, &self.d, corrected);
            self.applied = true;
        }
    }

    /// Begins with the predicted y and y' again.
    pub(super) fn forget_correction(&mut self) {
        self.held = None;
        self.applied = false;
    }

    /// The correction of the step so far.
    pub(super) fn correction(&self) -> kernels::Correction<'_> {
        match self.held {
            Some(factor) => kernels::Correction {
                earlier: self.applied.then_some(&self.e[..]),
                scale: -factor,
                last: &self.d,
            },
            None => kernels::Correction {
                earlier: None,
                scale: 1.0,
                last: &self.e,
            },
        }
    }

    /// After a step that converged slowly with an old matrix: a new one for the next step, if the iterations it saves
    /// are likely to be worth it, or if the old one has cost as many by now. (Who does not know how many steps will follow pays at most
    /// twice of what the best choice would have cost, as with skis that are rented until the rent has reached their price.)
    /// A Jacobian costs about two residuals, and a residual about as much as a solve.
    fn plan_renewal(&mut self, fresh: bool, iterations: u32) {
        if fresh {
            self.iterations_fresh = iterations;
            self.iterations_lost = 0.0;
            return;
        }
        self.old_failures = 0;
        // The first step with a new matrix has two iterations, to measure the rate.
        let needed = match self.rate.is_linear() {
            true => 1,
            false => self.iterations_fresh,
        };
        let saved = f64::from(iterations) - f64::from(needed);
        self.iterations_lost = (self.iterations_lost + saved).max(0.0);
        let cost = self.renewal_cost();
        self.renew_next = saved > RENEWAL_SHARE * cost || self.iterations_lost > cost;
    }

    /// Cost of a Jacobian and its factors in iterations.
    fn renewal_cost(&self) -> f64 {
        1.0 + 0.5 * self.solver.factor_work()
    }

    /// An old matrix did not lead to a solution, and its iterations were in vain. When that happens again and again, as
    /// with diodes that switch all the time, the next steps begin with a new one.
    fn old_matrix_failed(&mut self) {
        self.old_failures += 1;
        if self.old_failures >= OLD_FAILURES && self.renewal_cost() <= CHEAP_RENEWAL {
            self.renewals_ahead = RENEWALS_AHEAD;
        }
    }

    /// Counts steps in which the corrector fails, at the beginning of another one.
    pub(super) fn note_failures(&mut self) {
        if self.corrector_failures > 0 {
            self.failing_steps += 1;
            self.clean_steps = 0;
        } else {
            self.clean_steps += 1;
            if self.clean_steps > CLEAN_STEPS {
                self.failing_steps = 0;
            }
        }
        self.corrector_failures = 0;
    }

    /// The iteration with a new matrix in every turn; true if it converges.
    fn iterate_anew<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        pieces: u32,
    ) -> Result<bool, Failure> {
        for _ in 0..pieces {
            self.apply_held(pair_of(dae));
            self.evaluate_residual(dae, t)?;
            self.renew_matrix(dae, t)?;
            self.solver.solve_on(second(dae, self.n), &mut self.d);
            self.statistics.newton_iterations += 1;
            let norm = self.hold(pair_of(dae), 1.0);
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
        let sum = kernels::weighted_sum(&self.d, |i| self.tested_weight(i));
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
    ) -> Result<(), Failure> {
        let result = dae.residual(t, &self.y, &self.yp, &mut self.d);
        self.take_residual(result)
    }

    fn take_residual(&mut self, result: Result<(), EvalError>) -> Result<(), Failure> {
        self.statistics.residual_evaluations += 1;
        result.map_err(|error| self.evaluation_failure(error))
    }

    fn evaluation_failure(&mut self, error: EvalError) -> Failure {
        self.statistics.evaluation_failures += 1;
        match error {
            EvalError::Recoverable(reason) => Failure::Retry(StepLimit::Evaluation(reason)),
            EvalError::Fatal(reason) => Failure::Fatal(SolverError::Evaluation {
                t: self.tn,
                h: self.h,
                reason,
            }),
        }
    }

    fn renew_matrix<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> Result<(), Failure> {
        if jacobian_needs_point(dae) {
            self.complete(pair_of(dae));
        }
        self.statistics.jacobian_evaluations += 1;
        self.cj_factored = None;
        let cj = self.c.cj;
        let (y, yp, values) = (&self.y, &self.yp, &mut self.values);
        let evaluated = match dae.large() {
            Some(large) => large.jacobian_after_residual(t, y, yp, cj, values),
            None => dae.jacobian(t, y, yp, cj, values),
        };
        evaluated.map_err(|error| self.evaluation_failure(error))?;
        self.statistics.factorisations += 1;
        self.record(Move::Matrix { cj });
        let clock = self.options.profile.then(std::time::Instant::now);
        let factored = self.solver.factor_on(second(dae, self.n), &self.values);
        if let Some(clock) = clock {
            self.linear_seconds.0 += clock.elapsed().as_secs_f64();
        }
        if let Err(singular) = factored {
            if let Some(position) = first_not_finite(&self.values) {
                let row = self
                    .pattern
                    .as_ref()
                    .map_or(0, |p| p.row_idx()[position] as usize);
                self.statistics.evaluation_failures += 1;
                return Err(Failure::Retry(StepLimit::Evaluation(
                    EvalReason::NotFinite { row },
                )));
            }
            return Err(Failure::Retry(StepLimit::Singular {
                row: singular.row,
                col: singular.col,
            }));
        }
        self.cj_factored = Some(cj);
        self.rate.renew();
        Ok(())
    }

    /// The variable that the last iteration moves most.
    fn largest_correction(&self, pair: Option<&mut Pair>) -> usize {
        let (d, y, tolerances) = (&self.d, &self.phi[0], &self.tolerances);
        kernels::largest(pair, self.n, |i| d[i] * tolerances.weight(i, y[i]))
    }

    /// Equation that is furthest from being satisfied, measured against the size of its entries in the matrix.
    fn worst_row<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> usize {
        self.predict_again(pair_of(dae));
        if self.evaluate_residual(dae, t).is_err() {
            return 0;
        }
        self.e.fill(f64::MIN_POSITIVE);
        if let Some(pattern) = &self.pattern {
            for column in 0..self.n {
                let weight = self.tolerances.weight(column, self.phi[0][column]);
                for k in pattern.range(column) {
                    let size = &mut self.e[pattern.row_idx()[k] as usize];
                    *size = size.max(self.values[k].abs() / weight);
                }
            }
        }
        for size in self.e.iter_mut() {
            *size = 1.0 / *size;
        }
        let (d, e) = (&self.d, &self.e);
        kernels::largest(pair_of(dae), self.n, |i| d[i] * e[i])
    }
}
