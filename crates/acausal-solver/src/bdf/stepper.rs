//! Where the integration stands, and order and size of its steps.
//!
//! Order control follows DASSL: the estimates `terr_j = (j + 1) * err_j` approximate the norm of `h^(j+1) y^(j+1)`; the
//! order goes down when these norms do not decrease with the order, and up after k + 1 steps of constant size when the
//! next one is smaller (Brenan, Campbell & Petzold, sec. 5.2.3-5.2.5). At the start, order and step grow together until
//! the first sign of trouble ([`Phase`]).

use super::options::{FIRST_STEP_FRACTION, SHORTEST_FIRST_STEP, factor};
use super::stability::StabilityGuard;
use super::{BdfOptions, Coefficients};

/// A last step that would stop short of `t_stop` by less than this fraction of h is stretched to reach it.
const STRETCH: f64 = 1e-4;

/// See [`BdfOptions::fine_allowance`].
const FINE: f64 = 1e-6;

/// How an integration gets going: `First -> Growing -> Regular`, with a restart back to `First`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No step since the start or restart; whether one was tried in vain.
    First { failed: bool },
    /// Order is raised and the step doubled every time.
    Growing,
    /// Order and step follow the estimates.
    Regular,
}

/// Weighted norms of the error estimates of orders k, k-1, k+1 (before their error constants).
pub(super) struct Estimates {
    /// Norm of the local error; one is allowed.
    pub norm: f64,
    err_k: f64,
    err_lower: f64,
    err_raise: Option<f64>,
    /// Order proposed after the step.
    k_next: usize,
    /// Norms of the differences of order k+1, k and k-1.
    differences: [f64; 3],
}

/// Position, order and step size.
pub(super) struct Stepper {
    /// Position of the caller: at most `tn`.
    pub t: f64,
    /// End of the last accepted step, and its start.
    pub tn: f64,
    pub t_previous: f64,
    /// Size and order of the next step.
    pub h: f64,
    pub k: usize,
    /// Those of the last one.
    pub h_used: f64,
    pub k_used: usize,
    /// A bound for the first step after a start that the caller knows and slopes do not show.
    pub first_step_limit: Option<f64>,
    /// The longest step since the creation.
    longest: f64,
    phase: Phase,
    stability: StabilityGuard,
    max_order: usize,
    max_step: f64,
}

impl Stepper {
    pub fn new(options: &BdfOptions) -> Stepper {
        Stepper {
            t: 0.0,
            tn: 0.0,
            t_previous: 0.0,
            h: 0.0,
            k: 1,
            h_used: 0.0,
            k_used: 0,
            first_step_limit: None,
            longest: 0.0,
            phase: Phase::First { failed: false },
            stability: StabilityGuard::new(options.stability_detection),
            max_order: options.max_order,
            max_step: options.max_step,
        }
    }

    /// Begins at a time. The size is chosen before the first step.
    pub fn restart(&mut self, t: f64) {
        (self.t, self.tn, self.t_previous) = (t, t, t);
        (self.k, self.k_used, self.h_used) = (1, 0, 0.0);
        self.first_step_limit = None;
        self.phase = Phase::First { failed: false };
        self.stability.reset();
    }

    /// Whether the next step is so short that something has to be passed that no step resolves.
    pub fn is_fine(&self) -> bool {
        self.h < FINE * self.longest
    }

    /// No step since the start or restart.
    pub fn is_first(&self) -> bool {
        matches!(self.phase, Phase::First { .. })
    }

    /// An attempt failed, or something else says that the step should not grow by itself any more.
    pub fn stop_growing(&mut self) {
        self.phase = match self.phase {
            Phase::First { .. } => Phase::First { failed: true },
            Phase::Growing | Phase::Regular => Phase::Regular,
        };
    }

    fn grows(&self) -> bool {
        matches!(self.phase, Phase::First { failed: false } | Phase::Growing)
    }

    /// Chooses the first size from the norm of the slope.
    pub fn choose_first(&mut self, options: &BdfOptions, t_stop: f64, slope: impl Fn() -> f64) {
        let distance = t_stop - self.tn;
        let mut h = match options.initial_step {
            Some(h) => h,
            None => {
                let reach = if distance.is_finite() {
                    distance
                } else {
                    self.tn.abs().max(1.0)
                };
                let (slope, h) = (slope(), FIRST_STEP_FRACTION * reach);
                if slope > 0.5 / h { 0.5 / slope } else { h }
            }
        };
        h = h.min(options.max_step).max(options.min_step);
        h = h.min(self.first_step_limit.unwrap_or(f64::INFINITY));
        // A fraction of a distance of a few units in the last place would not move the clock.
        h = h.max(SHORTEST_FIRST_STEP * f64::EPSILON * self.tn.abs());
        self.h = h.min(distance);
    }

    /// Fits the size to what is left.
    pub fn aim_at(&mut self, t_stop: f64) {
        if self.is_first() {
            return;
        }
        let left = t_stop - self.tn;
        if self.h * (1.0 + STRETCH) >= left {
            self.h = left;
        } else if self.h * 2.0 > left {
            // Two equal steps instead of a long one and a sliver that would upset the history.
            self.h = 0.5 * left;
        }
    }

    /// Where a step of the present size ends.
    pub fn end_of_step(&self, t_stop: f64) -> f64 {
        // Compared by the distance: `t + (t_stop - t)` may be a unit in the last place short of `t_stop`.
        if self.h * (1.0 + 4.0 * f64::EPSILON) >= t_stop - self.tn {
            t_stop
        } else {
            self.tn + self.h
        }
    }

    /// The difference of order k+1 of the last step exists after k+1 steps of constant size and order.
    pub fn may_raise(&self, c: &Coefficients) -> bool {
        let k = self.k;
        !self.grows() && k < self.order_limit() && k + 1 < c.steps_constant && k == self.k_used
    }

    fn order_limit(&self) -> usize {
        self.max_order.min(self.stability.order_limit())
    }

    /// The estimates from the norms of `e`, `e + phi[k]`, `e + phi[k] + phi[k-1]` and `e - phi[k+1]`.
    pub fn estimate(&self, c: &Coefficients, norm: [f64; 4]) -> Estimates {
        let (k, sigma) = (self.k, &c.sigma);
        let err_k = sigma[k] * norm[0];
        let term_k = (k + 1) as f64 * err_k;
        let mut estimates = Estimates {
            norm: c.error_factor * err_k / sigma[k],
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
        if self.may_raise(c) {
            estimates.err_raise = Some(norm[3] / (k + 2) as f64);
        }
        estimates
    }

    /// The factor of the size after a failed error test: first by the estimate, then a quarter, then that at order one.
    pub fn after_error_failure(&mut self, failures: u32, estimates: &Estimates) -> f64 {
        self.stop_growing();
        if failures == 1 {
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
        }
    }

    /// Takes a step as made, and chooses order and size of the next one; true if the order is held down from now on.
    pub fn accept(&mut self, t_new: f64, estimates: &Estimates) -> bool {
        let k = self.k;
        let raised = k == self.k_used + 1;
        self.t_previous = self.tn;
        self.tn = t_new;
        self.k_used = k;
        self.h_used = self.h;
        self.longest = self.longest.max(self.h);
        let held = self.stability.observe(k, self.h, estimates.differences);
        let limit = self.order_limit();
        if held || estimates.k_next < k || k >= limit {
            self.stop_growing();
        }
        match self.phase {
            // The size of the first step is a guess: another step of its order and size.
            Phase::First { failed: false } => self.phase = Phase::Growing,
            Phase::Growing => {
                self.k += 1;
                self.h = (factor::GROW * self.h).min(self.max_step);
            }
            Phase::First { failed: true } | Phase::Regular => {
                self.phase = Phase::Regular;
                self.choose_order(estimates, raised, limit);
            }
        }
        held
    }

    fn choose_order(&mut self, estimates: &Estimates, raised: bool, limit: usize) {
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
            && !raised
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
            ratio.min(factor::GROW).min(self.max_step / self.h)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Norms of a solution that is much smoother than the order needs.
    const SMOOTH: [f64; 4] = [1e-3, 1.0, 1.0, 1e-6];

    fn accepted(stepper: &mut Stepper, c: &mut Coefficients) {
        c.advance(stepper.h, stepper.k, stepper.h_used, stepper.k_used);
        let estimates = stepper.estimate(c, SMOOTH);
        let end = stepper.tn + stepper.h;
        assert!(!stepper.accept(end, &estimates));
    }

    fn started() -> (Stepper, Coefficients) {
        let mut stepper = Stepper::new(&BdfOptions::default());
        stepper.choose_first(&BdfOptions::default(), 1e6, || 0.5e3);
        let mut c = Coefficients::default();
        c.psi[0] = stepper.h;
        (stepper, c)
    }

    /// After the first step, which keeps its size, order and step grow together up to the highest order.
    #[test]
    fn order_and_step_grow_together_at_the_start() {
        let (mut stepper, mut c) = started();
        let first = stepper.h;
        assert_eq!(first, 1e-3);
        let mut seen = Vec::new();
        for _ in 0..5 {
            accepted(&mut stepper, &mut c);
            seen.push((stepper.k, stepper.h / first));
        }
        assert_eq!(
            seen[..],
            [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 16.0)]
        );
    }

    /// A failure before the first step ends that growth, also after the step has succeeded; a restart begins again.
    #[test]
    fn a_failed_attempt_ends_the_growth() {
        let (mut stepper, mut c) = started();
        stepper.stop_growing();
        assert!(stepper.is_first());
        accepted(&mut stepper, &mut c);
        assert_eq!(stepper.phase, Phase::Regular);
        stepper.restart(7.0);
        assert_eq!(stepper.phase, Phase::First { failed: false });
        assert_eq!((stepper.t, stepper.k), (7.0, 1));
    }

    /// The last steps meet the end without a sliver.
    #[test]
    fn steps_are_fitted_to_the_end() {
        let (mut stepper, mut c) = started();
        accepted(&mut stepper, &mut c);
        for (h, left, fitted) in [(1.0, 1.00001, 1.00001), (1.0, 1.5, 0.75), (1.0, 2.5, 1.0)] {
            stepper.h = h;
            stepper.tn = 0.0;
            stepper.aim_at(left);
            assert_eq!(stepper.h, fitted);
        }
        stepper.h = 3.0;
        assert_eq!(stepper.end_of_step(3.0), 3.0);
    }
}
