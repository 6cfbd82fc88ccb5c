//! One accepted step: predict, correct, test the error, and try again with a smaller step where that fails.

use super::corrector::{Progress, Stage, Storage};
use super::iteration::AttemptFailure;
use super::options::factor;
use super::stepper::Estimates;
use super::{Bdf, InvalidInput, Move, SolverError, StepLimit, kernels};
use crate::dae::{Dae, team_of};
use acausal_cpu::Team;

/// Relative tolerance at which rounding errors of the corrector reach the error test.
const ROUNDOFF_LIMIT: f64 = 100.0 * f64::EPSILON;

/// Failed attempts at one step.
#[derive(Default)]
struct Failures {
    error_tests: u32,
    /// Of the first step, which are forgiven.
    first_error_tests: u32,
    others: u32,
}

impl Bdf {
    /// Before the first step: takes the pattern, weights and first step size.
    pub(super) fn prepare<D: Dae + ?Sized>(&mut self, dae: &mut D) -> Result<(), SolverError> {
        let t = self.stepper.tn;
        if dae.pattern().size() != self.len() {
            return Err(SolverError::InvalidInput {
                t,
                what: InvalidInput::Length,
            });
        }
        self.matrix
            .take_pattern(dae.pattern())
            .map_err(|s| SolverError::SingularMatrix {
                t,
                h: 0.0,
                row: s.row,
                col: s.col,
                structural: s.structural,
            })?;
        let evaluations = &mut self.record.statistics.root_evaluations;
        let (y, yp) = (&self.corrector.y, &self.corrector.yp);
        self.roots.start(dae, t, y, yp, evaluations)
    }

    /// Makes one accepted step from `tn`, not beyond `t_stop`.
    pub(super) fn advance<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_stop: f64,
    ) -> Result<(), SolverError> {
        self.check_limits()?;
        if !self.stepper.is_first() {
            return self.attempts(dae, t_stop);
        }
        let (history, tolerances) = (&self.history, &self.tolerances);
        self.stepper.choose_first(&self.options, t_stop, || {
            let y = &history.phi[0];
            let weight = |i: usize| tolerances.tested_weight(i, y[i]);
            (kernels::weighted_sum(&history.phi[1], weight) / tolerances.tested()).sqrt()
        });
        self.history.begin(self.stepper.h);
        let result = self.attempts(dae, t_stop);
        if result.is_err() {
            // The caller may look at y'.
            self.history.give_up(self.stepper.h);
        }
        result
    }

    /// Whether another step is allowed and of use.
    fn check_limits(&mut self) -> Result<(), SolverError> {
        let (t, h) = (self.stepper.tn, self.stepper.h);
        let steps = self.record.statistics.steps;
        if steps >= self.options.max_steps {
            return Err(SolverError::TooManySteps { t, h, steps });
        }
        // |y| times its weight is at most 1 / rtol, so larger relative tolerances need no look.
        if self.options.rtol < ROUNDOFF_LIMIT {
            self.settle();
            let sum = kernels::weighted_sum(&self.history.phi[0], |i| self.weight(i));
            let factor = ROUNDOFF_LIMIT * (sum / self.len().max(1) as f64).sqrt();
            if factor > 1.0 {
                return Err(SolverError::TooMuchAccuracy { t, h, factor });
            }
        }
        Ok(())
    }

    fn attempts<D: Dae + ?Sized>(&mut self, dae: &mut D, t_stop: f64) -> Result<(), SolverError> {
        let mut failures = Failures::default();
        self.renewal.begin_step();
        self.stepper.aim_at(t_stop);
        loop {
            let (t, h) = (self.stepper.tn, self.stepper.h);
            let t_new = self.stepper.end_of_step(t_stop);
            let limit = match self.attempt(dae, t_new) {
                Ok(estimates) if estimates.norm <= 1.0 => {
                    self.accept(dae, t_new, &estimates);
                    return Ok(());
                }
                Ok(estimates) => self.refuse(dae, &estimates, &mut failures),
                Err(AttemptFailure::Fatal(error)) => {
                    self.undo(team_of(dae));
                    return Err(error);
                }
                Err(AttemptFailure::Retry(limit)) => {
                    self.retreat(dae, limit, &mut failures);
                    limit
                }
            };
            if failures.error_tests >= self.options.max_error_test_failures
                || failures.others >= self.options.max_convergence_failures
            {
                return Err(give_up(t, h, limit));
            }
            let smallest = (4.0 * f64::EPSILON * t.abs()).max(self.options.min_step);
            if self.stepper.h < smallest || t + self.stepper.h == t {
                return Err(SolverError::StepTooSmall { t, h, limit });
            }
        }
    }

    /// Predicts, corrects and estimates the error.
    fn attempt<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_new: f64,
    ) -> Result<Estimates, AttemptFailure> {
        let s = &self.stepper;
        self.history.c.advance(s.h, s.k, s.h_used, s.k_used);
        let (t, h, order) = (s.tn, s.h, s.k);
        self.record.note(Move::Attempt { t, h, order });
        let evaluated = self.predict_and_evaluate(dae, t_new);
        self.correct(dae, t_new, evaluated)?;
        let tested = self.tolerances.tested();
        let allowed = match self.stepper.is_fine() {
            true => self.options.fine_allowance,
            false => 1.0,
        };
        let norms = (self.corrector.sums.errors).map(|sum| (sum / tested).sqrt() / allowed);
        Ok(self.stepper.estimate(&self.history.c, norms))
    }

    /// Commits the step.
    fn accept<D: Dae + ?Sized>(&mut self, dae: &mut D, t_new: f64, estimates: &Estimates) {
        if self.options.trace {
            let variable = self.most_in_error(team_of(dae));
            self.record.note(Move::Accepted {
                t: t_new,
                norm: estimates.norm,
                variable,
            });
        }
        let statistics = &mut self.record.statistics;
        statistics.steps += 1;
        statistics.steps_by_order[self.stepper.k] += 1;
        if self.stepper.accept(t_new, estimates) {
            statistics.order_holds += 1;
        }
        self.corrector.stage = Stage::Accepted;
    }

    /// After a failed error test: a smaller step.
    fn refuse<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        estimates: &Estimates,
        failures: &mut Failures,
    ) -> StepLimit {
        let variable = self.most_in_error(team_of(dae));
        self.record.limiting[variable] += 1;
        self.record.note(Move::ErrorTest {
            norm: estimates.norm,
            variable,
        });
        self.record.statistics.error_test_failures += 1;
        self.undo(team_of(dae));
        // The first step is a guess from the slope alone; a solution that bends much more than it rises
        // needs one many orders of magnitude smaller.
        if self.stepper.is_first() && failures.first_error_tests < factor::FIRST_STEP_FAILURES {
            failures.first_error_tests += 1;
        } else {
            failures.error_tests += 1;
        }
        let count = failures.first_error_tests + failures.error_tests;
        let ratio = self.stepper.after_error_failure(count, estimates);
        self.change_step(ratio);
        StepLimit::ErrorTest { variable }
    }

    /// After the corrector has failed: a smaller step.
    fn retreat<D: Dae + ?Sized>(&mut self, dae: &mut D, limit: StepLimit, failures: &mut Failures) {
        match limit {
            StepLimit::Convergence { variable, row } => {
                self.record.statistics.convergence_failures += 1;
                self.record.diverging[variable] += 1;
                self.record.note(Move::Convergence { variable, row });
            }
            StepLimit::Evaluation(reason) => self.record.note(Move::Evaluation(reason)),
            StepLimit::Singular { row, col } => self.record.note(Move::Singular { row, col }),
            StepLimit::ErrorTest { .. } => {}
        }
        failures.others += 1;
        self.renewal.corrector_failed();
        self.undo(team_of(dae));
        self.stepper.stop_growing();
        self.change_step(factor::CONVERGENCE_FAILURE);
    }

    /// Takes back what the attempt did to coefficients and history.
    fn undo(&mut self, team: Option<&mut Team>) {
        self.corrector.progress = Progress::Predicted;
        self.corrector.storage = Storage::Stored;
        self.history.retreat(team, self.stepper.h, self.stepper.k);
    }

    /// The variable with the largest error.
    fn most_in_error(&self, team: Option<&mut Team>) -> usize {
        let (y, tolerances) = (&self.history.phi[0], &self.tolerances);
        let correction = self.corrector.correction();
        let error = |i: usize| correction.at(i) * tolerances.tested_weight(i, y[i]);
        kernels::largest(team, self.len(), error)
    }

    fn change_step(&mut self, ratio: f64) {
        self.stepper.h *= ratio;
        if self.stepper.is_first() {
            self.history.begin_again(self.stepper.h, ratio);
        }
    }
}

fn give_up(t: f64, h: f64, limit: StepLimit) -> SolverError {
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
