//! The iteration matrix `dF/dy + cj * dF/dy'`, and when it is renewed.
//!
//! The matrix is renewed only when `cj` has drifted too far or the iteration does not converge. After a step that needed many
//! iterations it is renewed before the next one where that is cheap; so it is for some steps after old matrices have failed
//! twice in a row (1,000 diode bridges: 6,709 residuals and 685 Jacobians without the three rules, 3,085 and 1,043 with
//! them).
//!
//! A matrix from one side of a kink (`smooth(0, noEvent(if u > top then top else gain*u))`) never leads to a solution on
//! the other side, however small the step. After [`PATIENCE`] failures in one step the matrix is therefore renewed in
//! every iteration, without a test of the rate: on piecewise linear equations this goes from piece to piece and ends
//! after a few of them.
//!
//! Nor need a kink be passed for that: where streams mix at rest, `max(m, 1e-8)`, a predicted flow is on the wrong side of it unless the step is so short that
//! the prediction is right to 1e-8. Such a step succeeds after one failure, the next ones are twice as long, and so on: one of two steps fails, for ever. So
//! failures are counted over steps, too ([`RenewalPolicy::begin_step`]).

use super::options::{CHEAP_RENEWAL, CJ_RATIO_MIN, OLD_FAILURES, RENEWAL_SHARE, RENEWALS_AHEAD};
use super::rate::Rate;
use crate::linear::{LinearSolver, Singular};
use crate::pattern::Pattern;
use acausal_cpu::Team;
use std::time::Instant;

/// Failures of the corrector in one step before the matrix is renewed in every iteration.
const PATIENCE: u32 = 2;

/// Most iterations with a new matrix each.
const MAX_PIECES: u32 = 20;

/// The same where only steps before this one have failed: the next piece and a correction that confirms it. More of them is no kink but curvature, which
/// shorter steps are for.
const NEXT_PIECE: u32 = 4;

/// After so many steps without a failure those before do not count any more. (A step that was made four times shorter is as long again after two.)
const CLEAN_STEPS: u32 = 8;

/// The matrix with its factors.
pub(super) struct IterationMatrix {
    pub solver: Box<dyn LinearSolver + Send>,
    pub pattern: Option<Pattern>,
    pub values: Vec<f64>,
    /// `cj` of the factorised matrix; without it a new one is needed.
    pub cj: Option<f64>,
    /// Seconds in factorisations and in solves, if they are measured.
    pub seconds: (f64, f64),
    profile: bool,
}

impl IterationMatrix {
    pub fn new(solver: Box<dyn LinearSolver + Send>, profile: bool) -> IterationMatrix {
        IterationMatrix {
            solver,
            pattern: None,
            values: Vec::new(),
            cj: None,
            seconds: (0.0, 0.0),
            profile,
        }
    }

    /// Prepares what does not depend on values, if the pattern is a new one.
    pub fn take_pattern(&mut self, pattern: &Pattern) -> Result<(), Singular> {
        if self.pattern.as_ref() == Some(pattern) {
            return Ok(());
        }
        self.values = vec![0.0; pattern.nnz()];
        self.pattern = Some(pattern.clone());
        self.solver.analyse(pattern)
    }

    /// Factorises the values, which are those for `cj`.
    pub fn factor(&mut self, team: Option<&mut Team>, cj: f64) -> Result<(), Singular> {
        let clock = self.profile.then(Instant::now);
        let factored = self.solver.factor_on(team, &self.values);
        self.seconds.0 += clock.map_or(0.0, |clock| clock.elapsed().as_secs_f64());
        self.cj = factored.is_ok().then_some(cj);
        factored
    }

    /// Replaces a residual by the solution.
    pub fn solve(&mut self, team: Option<&mut Team>, d: &mut [f64]) {
        let clock = self.profile.then(Instant::now);
        self.solver.solve_on(team, d);
        self.seconds.1 += clock.map_or(0.0, |clock| clock.elapsed().as_secs_f64());
    }

    /// `cj` in units of that of the factors.
    pub fn ratio(&self, cj: f64) -> Option<f64> {
        self.cj.map(|old| cj / old)
    }

    /// The factors serve for an iteration with this `cj`.
    fn serves(&self, cj: f64) -> bool {
        let usable = |ratio: f64| (CJ_RATIO_MIN..=1.0 / CJ_RATIO_MIN).contains(&ratio);
        self.ratio(cj).is_some_and(usable)
    }

    /// The row of the first value that is not finite.
    pub fn row_not_finite(&self) -> Option<usize> {
        let position = crate::dae::first_not_finite(&self.values)?;
        let row = |p: &Pattern| p.row_idx()[position] as usize;
        Some(self.pattern.as_ref().map_or(0, row))
    }

    /// Cost of a Jacobian and its factors in iterations: a Jacobian costs about two residuals, and a residual about as much as a solve.
    fn cost(&self) -> f64 {
        1.0 + 0.5 * self.solver.factor_work()
    }
}

/// What is known of the corrector, for the decision when the matrix is renewed.
#[derive(Debug, Default)]
pub(super) struct RenewalPolicy {
    pub rate: Rate,
    /// So many steps will begin with a new matrix.
    renewals_ahead: u32,
    /// Steps in a row in which an old matrix failed.
    old_failures: u32,
    /// Iterations of the last step with a new matrix.
    iterations_fresh: u32,
    /// Iterations that the present matrix has cost more than a new one would have.
    iterations_lost: f64,
    failures: CorrectorFailures,
}

/// Failures of the corrector.
#[derive(Debug, Default)]
struct CorrectorFailures {
    /// In the present step.
    present: u32,
    /// Steps of late that had some, and how many in a row since then that had none.
    failing_steps: u32,
    clean_steps: u32,
}

impl RenewalPolicy {
    /// After a start nothing is known; that steps have failed of late stays true.
    pub fn restart(&mut self) {
        *self = RenewalPolicy {
            iterations_fresh: 2,
            failures: std::mem::take(&mut self.failures),
            ..RenewalPolicy::default()
        };
    }

    /// Counts steps in which the corrector fails, at the beginning of another one.
    pub fn begin_step(&mut self) {
        let f = &mut self.failures;
        if f.present > 0 {
            f.failing_steps += 1;
            f.clean_steps = 0;
        } else {
            f.clean_steps += 1;
            if f.clean_steps > CLEAN_STEPS {
                f.failing_steps = 0;
            }
        }
        f.present = 0;
    }

    /// Whether the next iteration needs another matrix.
    pub fn needs_new(&self, matrix: &IterationMatrix, cj: f64) -> bool {
        self.renewals_ahead > 0 || !matrix.serves(cj)
    }

    /// An attempt begins; whether with a new matrix.
    pub fn begin_attempt(&mut self, matrix: &IterationMatrix, cj: f64) -> bool {
        self.rate.begin(cj, matrix.ratio(cj));
        let renew = self.needs_new(matrix, cj);
        self.renewals_ahead = self.renewals_ahead.saturating_sub(1);
        renew
    }

    /// After a step that converged slowly with an old matrix: a new one for the next step, if the iterations it saves
    /// are likely to be worth it, or if the old one has cost as many by now. (Who does not know how many steps will follow pays at most
    /// twice of what the best choice would have cost, as with skis that are rented until the rent has reached their price.)
    pub fn converged(&mut self, matrix: &IterationMatrix, is_new: bool, iterations: u32) {
        if is_new {
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
        let cost = matrix.cost();
        if saved > RENEWAL_SHARE * cost || self.iterations_lost > cost {
            self.renewals_ahead = self.renewals_ahead.max(1);
        }
    }

    /// An old matrix did not lead to a solution, and its iterations were in vain. When that happens again and again, as
    /// with diodes that switch all the time, the next steps begin with a new one.
    pub fn old_matrix_failed(&mut self, matrix: &IterationMatrix) {
        self.old_failures += 1;
        if self.old_failures >= OLD_FAILURES && matrix.cost() <= CHEAP_RENEWAL {
            self.renewals_ahead = RENEWALS_AHEAD;
        }
    }

    /// The corrector failed in the present step.
    pub fn corrector_failed(&mut self) {
        self.failures.present += 1;
    }

    /// How many iterations with a new matrix each are worth a try after a new matrix has failed.
    pub fn pieces(&self) -> u32 {
        match (self.failures.present, self.failures.failing_steps) {
            (PATIENCE.., _) => MAX_PIECES,
            (_, PATIENCE..) => NEXT_PIECE,
            _ => 0,
        }
    }

    /// Such iterations have led to a solution: the steps around are no clean ones.
    pub fn pieces_succeeded(&mut self) {
        self.failures.clean_steps = 0;
    }
}
