//! Tolerances and steering constants of the integrator, all in one place.

use super::InvalidInput;

/// Settings of [`super::Bdf`]. `BdfOptions::default()` gives the usual values; tolerances are the part to think about.
///
/// The weighted norm of a vector v is `sqrt(mean((v[i] / (rtol * |y[i]| + atol[i]))^2))`; a step is accepted when the
/// estimated local error has norm at most one.
#[derive(Clone, Debug)]
pub struct BdfOptions {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance per variable; a single value holds for all.
    pub atol: Vec<f64>,
    /// Which variables take part in the error test; empty means all. Integrals of multipliers (`mu_int`) must stay out
    /// (they stall the step-size control); they still take part in the convergence test of the corrector.
    pub error_test: Vec<bool>,
    /// Highest order, 1 to 5.
    pub max_order: usize,
    /// Largest step.
    pub max_step: f64,
    /// First step after the start and after each restart; chosen from `y'` and the tolerances when `None`.
    pub initial_step: Option<f64>,
    /// Smallest step; below a few units in the last place of t the integration stops anyway.
    pub min_step: f64,
    /// Bound on the total number of accepted steps.
    pub max_steps: u64,
    /// Iterations of the corrector per attempt. Four as in DASSL and IDA: with a convergence rate that would need more,
    /// a new Jacobian or a smaller step is cheaper.
    pub max_newton_iterations: u32,
    /// Factor of the corrector tolerance against the local error tolerance. IDA takes 0.33. What the corrector leaves is
    /// noise in the error estimates of multipliers: the stabilised pendulum at rtol 1e-6 needs 1,519 steps and 2,497
    /// iterations with 0.33, 1,222 and 2,569 with 0.1, 877 and 2,177 with 0.03, 786 and 2,299 with 0.01, and violates its
    /// constraint by 0.75, 0.58, 0.14 and 0.03 rtol. The heat equation takes 10 % more iterations at 0.03 for nothing.
    /// Systems with multipliers: take 0.03, or 0.01 where constraints must hold tightly.
    pub newton_tolerance: f64,
    /// In steps that are far shorter than the longest one so far (a millionth), the error test allows this many times the tolerances; the corrector does not.
    pub fine_allowance: f64,
    /// Error test failures in one step before giving up (IDA: 10).
    pub max_error_test_failures: u32,
    /// Convergence failures in one step before giving up (IDA: 10).
    pub max_convergence_failures: u32,
    /// Journal every move for [`super::Bdf::take_trace`].
    pub trace: bool,
    /// Measure the time of factorisations and solves.
    pub profile: bool,
    /// Watch for undamped oscillations that make orders 3 to 5 unstable, and hold the order at two while they last.
    pub stability_detection: bool,
    /// Keep the differences of order three and more as `f32` (see `rows`). `None`: in systems that are larger than the
    /// caches, with relative tolerances from 1e-7 on.
    pub narrow_history: Option<bool>,
}

impl Default for BdfOptions {
    fn default() -> Self {
        Self {
            rtol: 1e-6,
            atol: vec![1e-9],
            error_test: Vec::new(),
            max_order: MAX_ORDER,
            max_step: f64::INFINITY,
            initial_step: None,
            min_step: 0.0,
            max_steps: 100_000_000,
            max_newton_iterations: 4,
            newton_tolerance: 0.1,
            fine_allowance: 1.0,
            max_error_test_failures: 10,
            max_convergence_failures: 10,
            trace: false,
            profile: false,
            stability_detection: true,
            narrow_history: None,
        }
    }
}

impl BdfOptions {
    /// What is wrong with them for so many values of y and y'.
    pub(crate) fn check(&self, n: usize, n_yp: usize) -> Result<(), InvalidInput> {
        if n != n_yp {
            return Err(InvalidInput::Length);
        }
        if !(self.rtol >= 0.0 && self.rtol.is_finite()) {
            return Err(InvalidInput::RelativeTolerance);
        }
        let count = self.atol.len();
        let valid = |a: &f64| a.is_finite() && (*a > 0.0 || (*a == 0.0 && self.rtol > 0.0));
        if (count != 1 && count != n) || !self.atol.iter().all(valid) {
            return Err(InvalidInput::AbsoluteTolerance);
        }
        let mask = &self.error_test;
        if !mask.is_empty() && (mask.len() != n || !mask.contains(&true)) {
            return Err(InvalidInput::ErrorTestMask);
        }
        if !(1..=MAX_ORDER).contains(&self.max_order) {
            return Err(InvalidInput::Order);
        }
        let steps_valid = self.max_step > 0.0
            && self.fine_allowance > 0.0
            && self.min_step >= 0.0
            && self.initial_step.is_none_or(|h| h > 0.0 && h.is_finite());
        if !steps_valid {
            return Err(InvalidInput::StepSize);
        }
        Ok(())
    }
}

/// Highest order of a BDF formula that is of use: order 6 is stable only in a thin wedge, 7 nowhere.
pub const MAX_ORDER: usize = 5;

/// The factorised matrix is kept while `cj` stays within this factor of the one it was made for: (1 - r) / (1 + r)
/// with r = 0.25 (Brenan, Campbell & Petzold 1996, sec. 5.2.2; IDA's XRATE).
pub(crate) const CJ_RATIO_MIN: f64 = 0.6;

/// Convergence factor `rate / (1 - rate)` assumed with a fresh matrix, and after `cj` has changed without one.
pub(crate) const FRESH_RATE_FACTOR: f64 = 20.0;
/// See [`FRESH_RATE_FACTOR`].
pub(crate) const STALE_RATE_FACTOR: f64 = 100.0;

/// Least factor assumed when a step converges in its first iteration, where the rate is remembered from earlier steps and
/// not measured. Without it (as in DASSL and IDA) a run of such steps goes on with a matrix that no longer fits: on the
/// stabilised pendulum the constraint was then violated by three times the tolerance, with it by less than a tenth. The
/// price on the heat equation is 3 % more iterations.
pub(crate) const LEAST_UNMEASURED: f64 = 0.1;

/// A slower rate of the corrector than this counts as divergence (DASSL, IDA).
pub(crate) const MAX_RATE: f64 = 0.9;

/// An iteration with an old matrix is given up when at its rate it would end above this multiple of the tolerance.
pub(crate) const HOPELESS: f64 = 2.0;

/// After a step with an old matrix a new one is made if the iterations saved in one step exceed this share of its cost:
/// it will serve about two steps.
pub(crate) const RENEWAL_SHARE: f64 = 0.5;

/// After so many steps in a row in which an old matrix failed ...
pub(crate) const OLD_FAILURES: u32 = 2;
/// ... so many steps begin with a new one ...
pub(crate) const RENEWALS_AHEAD: u32 = 8;
/// ... if that costs no more than so many iterations.
pub(crate) const CHEAP_RENEWAL: f64 = 4.0;

/// A first correction below this fraction of the corrector tolerance is accepted without a rate (IDA: 1e-4).
pub(crate) const TINY_CORRECTION: f64 = 1e-4;

/// Tested variables that move by less than this fraction of the corrector tolerance stand still.
pub(crate) const STANDSTILL: f64 = 0.1;

/// The first step covers at most this fraction of the way to the stop time (DASSL, IDA).
pub(crate) const FIRST_STEP_FRACTION: f64 = 1e-3;

/// Least first step in units of `eps * |t|`.
pub(crate) const SHORTEST_FIRST_STEP: f64 = 16.0;

/// Step-size factors (DASSL, IDA): safety in the exponent formula, bounds after an error test failure, factor after a
/// convergence failure, and when to change h after success.
pub(crate) mod factor {
    /// Error of the new step aimed at: half of the tolerance.
    pub const ERROR_BIAS: f64 = 2.0;
    /// Keeps the factor finite for zero error.
    pub const ERROR_FLOOR: f64 = 1e-4;
    /// Largest growth in one step; smaller growth than this is not made (it would cost a factorisation).
    pub const GROW: f64 = 2.0;
    /// Upper bound of a reduction.
    pub const REDUCE_LEAST: f64 = 0.9;
    /// Lower bound of a reduction after success.
    pub const REDUCE_MOST: f64 = 0.5;
    /// While the order is held at two, errors count so many times in the choice of the step, not in its test. The solution is a
    /// wave then, along which the errors of all steps add up; at order five, steps that are small for the sake of stability
    /// leave smaller ones. (Largest error on the lossless line with 1,000 cells: 1.9e-4 with this and 1,360 steps, 2.0e-4 at order five and 15,650.)
    pub const HELD_CAUTION: f64 = 7.0;
    /// Smaller growth than this is not made while the order is held: between 1 and 2 the error per length of the wave would vary by four.
    pub const HELD_GROW: f64 = 1.1;
    /// Lower bound after an error test failure, and the factor from the second failure on.
    pub const ERROR_FAILURE: f64 = 0.25;
    /// So many failures of the first step are forgiven.
    pub const FIRST_STEP_FAILURES: u32 = 20;
    /// Factor after a convergence or evaluation failure.
    pub const CONVERGENCE_FAILURE: f64 = 0.25;
}
