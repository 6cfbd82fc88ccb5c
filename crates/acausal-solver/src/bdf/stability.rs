//! Holds the order at two while an undamped oscillation makes the higher orders unstable.
//!
//! BDF formulas of order 3 to 5 are unstable along part of the imaginary axis. On a lossless transmission line modes at
//! the level of the tolerance grow there, the error test pushes the step down until they are resolved, and the run takes
//! ten times the steps that order two would take. The control of order does not see it, because for such modes the
//! lower orders do not look better at the small step.
//!
//! Sign of it: in a smooth solution the norms of the differences fall quickly with their order, by the factor
//! `omega * h` of the fastest resolved motion; when grown noise dominates they are all about equal. When that lasts for
//! a while at order 3 or more, the order is held at two *on trial*: if the step then grows the hold was right and the
//! next one is longer, if it does not the patience before the next trial is doubled. False alarms therefore cost a
//! number of steps that grows with the logarithm of the length of the run only. (SUNDIALS' STALD estimates the
//! characteristic roots instead: Hindmarsh 1992.)
//!
//! Worked example: transmission line with 1,000 cells, rtol 1e-6: 10,711 steps without the guard; see
//! `tests/large_problems.rs` for the bound with it.

use super::MAX_ORDER;

/// Two consecutive differences count as equal when the higher one has at least this fraction of the lower one's norm.
const FLAT_RATIO: f64 = 0.5;

/// Flat steps in a row before a trial.
const PATIENCE: u32 = 12;

/// Steps of the first trial.
const TRIAL_STEPS: u32 = 40;

/// Growth of the step that makes a trial a success.
const SUCCESS_GROWTH: f64 = 1.5;

/// The order of a trial: the highest A-stable one.
const HELD_ORDER: usize = 2;

#[derive(Clone, Copy, Debug)]
enum State {
    Watching { flat: u32 },
    Holding { left: u32, h_before: f64 },
}

/// Watches the differences of consecutive orders and the fate of the step size.
#[derive(Debug)]
pub(crate) struct StabilityGuard {
    enabled: bool,
    state: State,
    patience: u32,
    hold: u32,
}

impl StabilityGuard {
    pub fn new(enabled: bool) -> Self {
        Self {
            enabled,
            state: State::Watching { flat: 0 },
            patience: PATIENCE,
            hold: TRIAL_STEPS,
        }
    }

    /// After an event everything may be different.
    pub fn reset(&mut self) {
        *self = Self::new(self.enabled);
    }

    /// Highest order allowed at present.
    pub fn order_limit(&self) -> usize {
        match self.state {
            State::Watching { .. } => MAX_ORDER,
            State::Holding { .. } => HELD_ORDER,
        }
    }

    /// Takes notice of an accepted step of order `k` and size `h` with norms of the differences of orders k+1, k, k-1;
    /// true when the order is held down from now on.
    pub fn observe(&mut self, k: usize, h: f64, differences: [f64; 3]) -> bool {
        if !self.enabled {
            return false;
        }
        match self.state {
            State::Watching { flat } => {
                let [highest, middle, lowest] = differences;
                let is_flat = k > HELD_ORDER
                    && highest >= FLAT_RATIO * middle
                    && middle >= FLAT_RATIO * lowest;
                let flat = if is_flat { flat + 1 } else { 0 };
                if flat < self.patience {
                    self.state = State::Watching { flat };
                    return false;
                }
                self.state = State::Holding {
                    left: self.hold,
                    h_before: h,
                };
                true
            }
            State::Holding { left, h_before } => {
                if left > 1 {
                    self.state = State::Holding {
                        left: left - 1,
                        h_before,
                    };
                    return false;
                }
                if h > SUCCESS_GROWTH * h_before {
                    self.hold = self.hold.saturating_mul(2);
                } else {
                    self.hold = TRIAL_STEPS;
                    self.patience = self.patience.saturating_mul(2);
                }
                self.state = State::Watching { flat: 0 };
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: [f64; 3] = [0.9, 1.0, 1.1];
    const SMOOTH: [f64; 3] = [0.01, 0.1, 1.0];

    #[test]
    fn flat_differences_start_a_trial_and_smooth_ones_do_not() {
        let mut guard = StabilityGuard::new(true);
        for _ in 0..1000 {
            assert!(!guard.observe(5, 1.0, SMOOTH));
            assert!(!guard.observe(2, 1.0, FLAT));
        }
        for _ in 1..PATIENCE {
            assert!(!guard.observe(5, 1.0, FLAT));
        }
        assert!(guard.observe(5, 1.0, FLAT));
        assert_eq!(guard.order_limit(), 2);
    }

    #[test]
    fn a_failed_trial_is_repeated_later_and_a_good_one_lasts_longer() {
        let start_trial = |guard: &mut StabilityGuard| {
            let mut steps = 1;
            while !guard.observe(4, 1.0, FLAT) {
                steps += 1;
            }
            steps
        };
        let hold = |guard: &mut StabilityGuard, h: f64| {
            let mut steps = 0;
            while guard.order_limit() == 2 {
                guard.observe(2, h, FLAT);
                steps += 1;
            }
            steps
        };
        let mut guard = StabilityGuard::new(true);
        assert_eq!(start_trial(&mut guard), PATIENCE);
        assert_eq!(hold(&mut guard, 1.0), TRIAL_STEPS);
        assert_eq!(start_trial(&mut guard), 2 * PATIENCE);
        assert_eq!(hold(&mut guard, 2.0), TRIAL_STEPS);
        assert_eq!(start_trial(&mut guard), 2 * PATIENCE);
        assert_eq!(hold(&mut guard, 2.0), 2 * TRIAL_STEPS);
    }
}
