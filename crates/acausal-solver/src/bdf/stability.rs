//! Holds the order at two while an undamped oscillation makes the higher orders unstable.
//!
//! BDF formulas of order 3 to 5 are unstable along part of the imaginary axis. On a lossless transmission line modes at
//! the level of the tolerance grow there, the error test pushes the step down until they are resolved, and the run takes
//! ten times the steps that order two would take. The control of order does not see it, because for such modes the
//! lower orders do not look better at the small step.
//!
//! Sign of it: in a smooth solution the norms of the differences fall quickly with their order, by the factor
//! r = `omega * h` of the fastest motion that matters; when grown noise dominates they are about equal. A component that
//! is resolved with order 5 at relative tolerance tol has r <= (6 tol)^(1/6), which is 0.13 at 1e-6 and 0.43 at 1e-3; so
//! r >= 0.5 over several steps means that the error consists of a small fast oscillation. The order is then held at two
//! for a while, before the oscillation has grown (once it is large, a long time at small steps is needed to damp it).
//! If the same thing happens after the hold, the next one lasts twice as long.
//!
//! False alarms: if one frequency with r >= 0.5 limits the step for good reason, order two needs steps that are smaller
//! by up to (2 / r^3)^(1/3) = 2.5. A step that falls to half shows that the alarm was false: the hold ends, and the next
//! one needs twice as many flat steps in a row. The price therefore grows with the logarithm of the length of a run. (With
//! a quarter instead of a half, a thousand rectifiers that switch one after the other take 1,454 steps and not 1,232.)
//! (SUNDIALS' STALD estimates the characteristic roots instead: Hindmarsh 1992.)
//!
//! Worked example: transmission line with 1,000 cells, rtol 1e-6: 25,843 steps without the guard, 1,288 with it. Its error
//! against a run at 1e-10, over all cells and 20 instants: 9.6e-6 in the mean (9.0e-5 without the guard), at most 2.6e-4 at
//! the front of the wave (3.1e-4), at most 1.5e-9 at the end (1.8e-4).

use super::MAX_ORDER;

/// Two consecutive differences count as equal when the higher one has at least this fraction of the lower one's norm.
const FLAT_RATIO: f64 = 0.5;

/// Flat steps in a row that start a hold.
const PATIENCE: u32 = 4;

/// Differences with a smaller norm (in units of the tolerance) do not limit the step; they may well be what the corrector
/// leaves, up to a tenth of the tolerance per step. (With 0.02 a smooth stretch of the problem HIRES at 1e-6 began a hold,
/// 462 steps instead of some 390 and half a digit less. Holds on the line begin at 0.5 and more.)
const SIGNIFICANT: f64 = 0.4;

/// Steps of the first hold.
const HOLD_STEPS: u32 = 80;

/// A step that falls below this fraction of the one before the hold ends it ([`StabilityGuard::allow`] apart).
const FALSE_ALARM: f64 = 0.5;

/// The order of a hold: the highest A-stable one.
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
            hold: HOLD_STEPS,
        }
    }

    /// After an event everything may be different.
    pub fn reset(&mut self) {
        *self = Self::new(self.enabled);
    }

    /// Whether the order is held at present.
    pub fn holds(&self) -> bool {
        matches!(self.state, State::Holding { .. })
    }

    /// The next step of a hold is smaller by this factor for the sake of accuracy, which is no sign of a false alarm.
    pub fn allow(&mut self, factor: f64) {
        if let State::Holding { h_before, .. } = &mut self.state {
            *h_before *= factor;
        }
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
                    && highest >= SIGNIFICANT
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
                if h < FALSE_ALARM * h_before {
                    self.hold = HOLD_STEPS;
                    self.patience = self.patience.saturating_mul(2);
                } else if left > 1 {
                    self.state = State::Holding {
                        left: left - 1,
                        h_before,
                    };
                    return false;
                } else {
                    self.hold = self.hold.saturating_mul(2);
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
    fn flat_differences_start_a_hold_and_smooth_ones_do_not() {
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
    fn holds_get_longer_and_false_alarms_rarer() {
        let flat_steps = |guard: &mut StabilityGuard| {
            let mut steps = 1;
            while !guard.observe(4, 1.0, FLAT) {
                steps += 1;
            }
            steps
        };
        let held_steps = |guard: &mut StabilityGuard, h: f64| {
            let mut steps = 0;
            while guard.order_limit() == 2 {
                guard.observe(2, h, FLAT);
                steps += 1;
            }
            steps
        };
        let mut guard = StabilityGuard::new(true);
        assert_eq!(flat_steps(&mut guard), PATIENCE);
        assert_eq!(held_steps(&mut guard, 0.6), HOLD_STEPS);
        assert_eq!(flat_steps(&mut guard), PATIENCE);
        assert_eq!(held_steps(&mut guard, 2.0), 2 * HOLD_STEPS);
        assert_eq!(flat_steps(&mut guard), PATIENCE);
        assert_eq!(held_steps(&mut guard, 0.1), 1);
        assert_eq!(flat_steps(&mut guard), 2 * PATIENCE);
    }
}
