//! One accepted step: predict, correct, test the error, and choose order and size of the next step.
//!
//! Order control follows DASSL: the estimates `terr_j = (j + 1) * err_j` approximate the norm of `h^(j+1) y^(j+1)`; the
//! order goes down when these norms do not decrease with the order, and up after k + 1 steps of constant size when the
//! next one is smaller (Brenan, Campbell & Petzold, sec. 5.2.3-5.2.5). At the start, order and step grow together until
//! the first sign of trouble.

use super::corrector::Failure;
use super::options::{FIRST_STEP_FRACTION, SHORTEST_FIRST_STEP, factor};
use super::{Bdf, InvalidInput, Move, SolverError, StepLimit, kernels};
use crate::dae::{Dae, pair_of};
use acausal_cpu::Pair;

/// A last step that would stop short of `t_stop` by less than this fraction of h is stretched to reach it.
const STRETCH: f64 = 1e-4;

/// Relative tolerance at which rounding errors of the corrector reach the error test.
const ROUNDOFF_LIMIT: f64 = 100.0 * f64::EPSILON;

/// Weighted norms of the error estimates of orders k, k-1, k-2, k+1 (before their error constants).
struct Estimates {
    err_k: f64,
    err_lower: f64,
    err_raise: Option<f64>,
    /// Order proposed after the step.
    k_next: usize,
    /// Norms of the differences of order k+1, k and k-1.
    differences: [f64; 3],
}

impl Bdf {
    /// Before the first step: takes the pattern, weights and first step size.
    pub(super) fn prepare<D: Dae + ?Sized>(&mut self, dae: &mut D) -> Result<(), SolverError> {
        if dae.pattern().size() != self.n {
            return Err(SolverError::InvalidInput {
                t: self.t,
                what: InvalidInput::Length,
            });
        }
        if self.pattern.as_ref() != Some(dae.pattern()) {
            self.values = vec![0.0; dae.pattern().nnz()];
            self.pattern = Some(dae.pattern().clone());
            self.solver
                .analyse(dae.pattern())
                .map_err(|s| SolverError::SingularMatrix {
                    t: self.t,
                    h: 0.0,
                    row: s.row,
                    col: s.col,
                    structural: s.structural,
                })?;
        }
        let evaluations = &mut self.statistics.root_evaluations;
        self.roots
            .start(dae, self.tn, &self.y, &self.yp, evaluations)
    }

    fn first_step_size(&mut self, t_stop: f64) -> f64 {
        let distance = t_stop - self.tn;
        let mut h = match self.options.initial_step {
            Some(h) => h,
            None => {
                let reach = if distance.is_finite() {
                    distance
                } else {
                    self.tn.abs().max(1.0)
                };
                let slope = self.tested_norm_of_slope();
                let h = FIRST_STEP_FRACTION * reach;
                if slope > 0.5 / h { 0.5 / slope } else { h }
            }
        };
        h = h.min(self.options.max_step).max(self.options.min_step);
        h = h.min(self.first_step_limit.unwrap_or(f64::INFINITY));
        // A fraction of a distance of a few units in the last place would not move the clock.
        h = h.max(SHORTEST_FIRST_STEP * f64::EPSILON * self.tn.abs());
        h.min(distance)
    }

    fn tested_norm_of_slope(&self) -> f64 {
        (kernels::weighted_sum(&self.phi[1], |i| self.tested_weight(i)) / self.tolerances.tested())
            .sqrt()
    }

    /// Makes one accepted step from `tn`, not beyond `t_stop`.
    pub(super) fn advance<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_stop: f64,
    ) -> Result<(), SolverError> {
        if self.statistics.steps >= self.options.max_steps {
            return Err(SolverError::TooManySteps {
                t: self.tn,
                h: self.h,
                steps: self.statistics.steps,
            });
        }
        // |y| times its weight is at most 1 / rtol, so larger relative tolerances need no look.
        if self.options.rtol < ROUNDOFF_LIMIT {
            self.settle();
            let factor = ROUNDOFF_LIMIT
                * (kernels::weighted_sum(&self.phi[0], |i| self.weight(i)) / self.n.max(1) as f64)
                    .sqrt();
            if factor > 1.0 {
                return Err(SolverError::TooMuchAccuracy {
                    t: self.tn,
                    h: self.h,
                    factor,
                });
            }
        }
        if self.fresh {
            self.h = self.first_step_size(t_stop);
            self.c.psi[0] = self.h;
            let h = self.h;
            self.phi[1].iter_mut().for_each(|v| *v *= h);
            // Until the first step is accepted the history is (y, h y'); restore y' on the way out of an error.
            let result = self.attempts(dae, t_stop);
            if result.is_err() {
                let h = self.h;
                self.phi[1].iter_mut().for_each(|v| *v /= h);
            }
            return result;
        }
        self.attempts(dae, t_stop)
    }

    fn attempts<D: Dae + ?Sized>(&mut self, dae: &mut D, t_stop: f64) -> Result<(), SolverError> {
        let mut error_failures = 0;
        let mut first_failures = 0;
        let mut other_failures = 0;
        self.note_failures();
        if !self.fresh {
            let left = t_stop - self.tn;
            if self.h * (1.0 + STRETCH) >= left {
                self.h = left;
            } else if self.h * 2.0 > left {
                // Two equal steps instead of a long one and a sliver that would upset the history.
                self.h = 0.5 * left;
            }
        }
        loop {
            let (t, h) = (self.tn, self.h);
            // Compared by the distance: `t + (t_stop - t)` may be a unit in the last place short of `t_stop`.
            let t_new = if h * (1.0 + 4.0 * f64::EPSILON) >= t_stop - t {
                t_stop
            } else {
                t + h
            };
            self.record(Move::Attempt {
                t,
                h,
                order: self.k,
            });
            self.c.advance(h, self.k, self.h_used, self.k_used);
            let evaluated = self.predict_and_evaluate(dae, t_new);
            let failure = match self.correct(dae, t_new, evaluated) {
                Ok(()) => {
                    let estimates = self.estimate();
                    let norm = self.c.error_factor * estimates.err_k / self.c.sigma[self.k];
                    if norm <= 1.0 {
                        if self.options.trace {
                            let variable = self.most_in_error(pair_of(dae));
                            self.record(Move::Accepted {
                                t: t_new,
                                norm,
                                variable,
                            });
                        }
                        self.accept(t_new, &estimates);
                        return Ok(());
                    }
                    let variable = self.most_in_error(pair_of(dae));
                    self.limited[variable] += 1;
                    self.record(Move::ErrorTest { norm, variable });
                    self.statistics.error_test_failures += 1;
                    self.undo(pair_of(dae));
                    // The first step is a guess from the slope alone; a solution that bends much more than it rises
                    // needs one many orders of magnitude smaller.
                    if self.fresh && first_failures < factor::FIRST_STEP_FAILURES {
                        first_failures += 1;
                    } else {
                        error_failures += 1;
                    }
                    self.shrink_after_error(first_failures + error_failures, &estimates);
                    StepLimit::ErrorTest { variable }
                }
                Err(Failure::Fatal(error)) => {
                    self.undo(pair_of(dae));
                    return Err(error);
                }
                Err(Failure::Retry(limit)) => {
                    match limit {
                        StepLimit::Convergence { variable, row } => {
                            self.statistics.convergence_failures += 1;
                            self.diverged[variable] += 1;
                            self.record(Move::Convergence { variable, row });
                        }
                        StepLimit::Evaluation(reason) => self.record(Move::Evaluation(reason)),
                        StepLimit::Singular { row, col } => {
                            self.record(Move::Singular { row, col });
                        }
                        StepLimit::ErrorTest { .. } => {}
                    }
                    other_failures += 1;
                    self.corrector_failures += 1;
                    self.undo(pair_of(dae));
                    self.starting = false;
                    self.change_step(factor::CONVERGENCE_FAILURE);
                    limit
                }
            };
            if error_failures >= self.options.max_error_test_failures
                || other_failures >= self.options.max_convergence_failures
            {
                return Err(self.give_up(t, h, failure));
            }
            let smallest = (4.0 * f64::EPSILON * t.abs()).max(self.options.min_step);
            if self.h < smallest || t + self.h == t {
                return Err(SolverError::StepTooSmall {
                    t,
                    h,
                    limit: failure,
                });
            }
        }
    }

    fn give_up(&self, t: f64, h: f64, limit: StepLimit) -> SolverError {
        match limit {
            StepLimit::Singular { row, col } => SolverError::SingularMatrix {
                t,
                h,
                row,
                col,
                structural: false,
            },
            StepLimit::Evaluation(reason) => SolverError::Evaluation { t, h, reason },
            _ => SolverError::RepeatedFailure { t, h, limit },
        }
    }

    /// Takes back what the attempt did to coefficients and history.
    fn undo(&mut self, mut pair: Option<&mut Pair>) {
        self.forget_correction();
        self.absent = false;
        self.c.retreat(self.h, self.k);
        for j in self.c.steps_constant..=self.k {
            let factor = 1.0 / self.c.beta[j];
            self.phi.scale(pair.as_deref_mut(), j, factor);
        }
    }

    /// The variable with the largest error.
    fn most_in_error(&self, pair: Option<&mut Pair>) -> usize {
        let (correction, y, tolerances) = (self.correction(), &self.phi[0], &self.tolerances);
        let error = |i: usize| correction.at(i) * tolerances.tested_weight(i, y[i]);
        kernels::largest(pair, self.n, error)
    }

    fn change_step(&mut self, ratio: f64) {
        self.h *= ratio;
        if self.fresh {
            self.c.psi[0] = self.h;
            self.phi[1].iter_mut().for_each(|v| *v *= ratio);
        }
    }

    /// Smaller step after a failed error test: first by the estimate, then by a quarter, then at order one.
    fn shrink_after_error(&mut self, failures: u32, estimates: &Estimates) {
        self.starting = false;
        let ratio = if failures == 1 {
            let error = if estimates.k_next == self.k {
                estimates.err_k
            } else {
                estimates.err_lower
            };
            self.k = estimates.k_next;
            let ratio = factor::REDUCE_LEAST * growth(error, self.k);
            ratio.clamp(factor::ERROR_FAILURE, factor::REDUCE_LEAST)
        } else {
            self.k = if failures == 2 { estimates.k_next } else { 1 };
            factor::ERROR_FAILURE
        };
        self.change_step(ratio);
    }

    fn estimate(&mut self) -> Estimates {
        let k = self.k;
        let norm = self
            .sums
            .errors
            .map(|s| (s / self.tolerances.tested()).sqrt());
        let sigma = &self.c.sigma;
        let err_k = sigma[k] * norm[0];
        let term_k = (k + 1) as f64 * err_k;
        let mut estimates = Estimates {
            err_k,
            err_lower: 0.0,
            err_raise: None,
            k_next: k,
            differences: [norm[0], norm[1], norm[2]],
        };
        if k > 1 {
            estimates.err_lower = sigma[k - 1] * norm[1];
            let term_lower = k as f64 * estimates.err_lower;
            let lower = if k > 2 {
                let term_lowest = (k - 1) as f64 * sigma[k - 2] * norm[2];
                term_lower.max(term_lowest) <= term_k
            } else {
                term_lower <= 0.5 * term_k
            };
            if lower {
                estimates.k_next = k - 1;
            }
        }
        if self.may_raise() {
            estimates.err_raise = Some(norm[3] / (k + 2) as f64);
        }
        estimates
    }

    /// The difference of order k+1 of the last step exists after k+1 steps of constant size and order.
    pub(super) fn may_raise(&self) -> bool {
        let k = self.k;
        !self.starting
            && k < self.order_limit()
            && k + 1 < self.c.steps_constant
            && k == self.k_used
    }

    fn order_limit(&self) -> usize {
        self.options.max_order.min(self.stability.order_limit())
    }

    /// Commits the step and chooses order and size of the next one.
    fn accept(&mut self, t_new: f64, estimates: &Estimates) {
        let k = self.k;
        let order_changed = k as i64 - self.k_used as i64;
        self.t_previous = self.tn;
        self.tn = t_new;
        self.corrected = true;
        self.k_used = k;
        self.h_used = self.h;
        self.statistics.steps += 1;
        self.statistics.steps_by_order[k] += 1;
        let first = self.fresh;
        self.fresh = false;

        let held = self.stability.observe(k, self.h, estimates.differences);
        if held {
            self.statistics.order_holds += 1;
            self.starting = false;
        }
        let limit = self.order_limit();
        if estimates.k_next < k || k >= limit {
            self.starting = false;
        }
        if self.starting {
            if !first {
                self.k += 1;
                self.h = (factor::GROW * self.h).min(self.options.max_step);
            }
        } else {
            self.choose_order(estimates, order_changed, limit);
        }
        self.pending = true;
    }

    fn choose_order(&mut self, estimates: &Estimates, order_changed: i64, limit: usize) {
        let k = self.k;
        let mut error = estimates.err_k;
        if k > limit {
            // The order was held down: continue there with the same step and let the error test decide.
            self.k = limit;
            return;
        }
        if estimates.k_next < k {
            self.k = k - 1;
            error = estimates.err_lower;
        } else if let Some(err_raise) = estimates.err_raise
            && order_changed != 1
            && k < limit
        {
            let term_k = (k + 1) as f64 * estimates.err_k;
            let term_raise = (k + 2) as f64 * err_raise;
            let term_lower = k as f64 * estimates.err_lower;
            if k == 1 {
                if term_raise < 0.5 * term_k {
                    self.k = 2;
                    error = err_raise;
                }
            } else if term_lower <= term_k.min(term_raise) {
                self.k = k - 1;
                error = estimates.err_lower;
            } else if term_raise < term_k {
                self.k = k + 1;
                error = err_raise;
            }
        }
        let change = if self.stability.holds() {
            let careful = self.step_change(factor::HELD_CAUTION * error, factor::HELD_GROW);
            let change = self.step_change(error, factor::HELD_GROW);
            self.stability.allow(careful.min(1.0) / change.min(1.0));
            careful
        } else {
            self.step_change(error, factor::GROW)
        };
        self.h *= change;
    }

    /// The factor of the next step: up by at least `least`, some way down, or none.
    fn step_change(&self, error: f64, least: f64) -> f64 {
        let ratio = growth(error, self.k);
        if ratio >= least {
            ratio.min(factor::GROW).min(self.options.max_step / self.h)
        } else if ratio <= 1.0 {
            ratio.clamp(factor::REDUCE_MOST, factor::REDUCE_LEAST)
        } else {
            1.0
        }
    }
}

/// Step-size factor that brings an error norm to half the tolerance at order k.
fn growth(error: f64, k: usize) -> f64 {
    (factor::ERROR_BIAS * error + factor::ERROR_FLOOR).powf(-1.0 / (k + 1) as f64)
}
