//! How fast the modified Newton iteration converges: what was measured, and what may be assumed before anything is.
//!
//! A step whose first correction δ is followed by others that shrink by the rate R has the error `R/(1-R) |δ|` after it. R is known only
//! after two iterations, so a step that shall be content with one needs an assumption.
//!
//! For linear equations there is a bound. With `M(cj) = cj A + B` and a matrix made for `cj0`, an eigenvalue μ of the pencil (B, A) makes the error
//! of the iteration shrink by `|1 - c z|`, where `z = (cj + μ)/(cj0 + μ)` and `c = 2/(1 + r)`, `r = cj/cj0`. For Re μ >= 0, that is for all modes that
//! do not grow by themselves, z lies in the disc with the diameter from r to 1, so `R <= |1 - r|/(1 + r)`: zero for a new matrix, a quarter where
//! it is given up. Two measurements in a row that keep this bound, with matrices that have served for some steps, make the equations count as
//! linear, for [`TRUSTED_STEPS`] steps; what the bound says is then assumed whenever the matrix or `cj` changes. Otherwise the pessimism of
//! DASSL and IDA stays: nearly no convergence after a change, which costs a second iteration.
//!
//! Example: a lossless line with steps of h = 0.31 and a matrix made for `r = 0.676` measures R = 0.193; the bound is 0.1933.

use super::options::{FRESH_RATE_FACTOR, LEAST_UNMEASURED, STALE_RATE_FACTOR};

/// Measurements within the bound that make equations count as linear.
const LINEAR_MEASUREMENTS: u32 = 2;

/// Steps after which a matrix would no longer fit equations that are not linear. (A new one fits all: van der Pol's equations at 1e-6 have
/// rates of 1e-6 with new matrices, a rod of 10^6 cells has rounding errors of that size.)
const TELLING_AGE: u32 = 4;

/// Steps after which linearity must be measured again.
const TRUSTED_STEPS: u32 = 20;

/// How far a measured rate may exceed the bound: by this share of it (modes that are not orthogonal) ...
const SHARE_BEYOND: f64 = 0.05;
/// ... and by so much (rounding).
const BEYOND: f64 = 1e-4;

/// The least factor that is assumed for linear equations, instead of [`LEAST_UNMEASURED`].
const LEAST_LINEAR: f64 = 0.02;

/// What is known about the rate.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    /// `R/(1-R)`.
    factor: f64,
    /// The ratio of `cj` to that of the matrix, at which the factor was measured or assumed.
    ratio: f64,
    cj: f64,
    /// Measurements in a row that kept the bound, and steps since the last one.
    linear: u32,
    steps: u32,
    /// Steps since the matrix was made.
    age: u32,
}

impl Default for Rate {
    fn default() -> Self {
        Rate {
            factor: FRESH_RATE_FACTOR,
            ratio: 1.0,
            cj: 0.0,
            linear: 0,
            steps: 0,
            age: 0,
        }
    }
}

impl Rate {
    /// A step begins, with a matrix of the given ratio if there is one.
    pub fn begin(&mut self, cj: f64, ratio: Option<f64>) {
        self.steps = self.steps.saturating_add(1);
        self.age = self.age.saturating_add(1);
        if self.cj != cj {
            self.cj = cj;
            self.assume(ratio.unwrap_or(1.0), STALE_RATE_FACTOR);
        }
    }

    /// The matrix is new.
    pub fn renew(&mut self) {
        self.age = 0;
        self.assume(1.0, FRESH_RATE_FACTOR);
    }

    /// Takes a measured rate.
    pub fn measure(&mut self, rate: f64) {
        let most = (1.0 + SHARE_BEYOND) * bound(self.ratio) + BEYOND;
        if rate > most {
            self.linear = 0;
        } else if self.age >= TELLING_AGE {
            self.linear += 1;
        }
        self.steps = 0;
        self.factor = rate / (1.0 - rate);
    }

    /// `R/(1-R)` as measured in this step.
    pub fn measured(&self) -> f64 {
        self.factor
    }

    /// `R/(1-R)` for a step that has not measured it.
    pub fn unmeasured(&self) -> f64 {
        let least = if self.is_linear() {
            LEAST_LINEAR
        } else {
            LEAST_UNMEASURED
        };
        self.factor.max(least)
    }

    /// The equations behave as if they were linear.
    pub fn is_linear(&self) -> bool {
        self.linear >= LINEAR_MEASUREMENTS && self.steps <= TRUSTED_STEPS
    }

    fn assume(&mut self, ratio: f64, pessimistic: f64) {
        self.ratio = ratio;
        let rate = bound(ratio);
        self.factor = if self.is_linear() {
            rate / (1.0 - rate)
        } else {
            pessimistic
        };
    }
}

/// The largest rate of linear equations.
fn bound(ratio: f64) -> f64 {
    (1.0 - ratio).abs() / (1.0 + ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iteration itself for one mode, for all damped and undamped ones: no rate exceeds the bound, and the worst reach it.
    #[test]
    fn no_stable_mode_is_slower_than_the_bound() {
        for ratio in [0.6, 0.676, 0.9, 1.0, 1.2, 1.0 / 0.6] {
            let c = 2.0 / (1.0 + ratio);
            let mut worst: f64 = 0.0;
            for decade in -40..=40 {
                let size = 10f64.powf(f64::from(decade) / 8.0);
                for angle in 0..=8 {
                    let (im, re) = (f64::from(angle) * std::f64::consts::FRAC_PI_2 / 8.0).sin_cos();
                    // cj0 = 1: 1 - c (ratio + μ)/(1 + μ), as (numerator) / (1 + μ).
                    let (re, im) = (size * re.max(0.0), size * im);
                    let numerator = f64::hypot(1.0 + re - c * (ratio + re), im - c * im);
                    worst = worst.max(numerator / f64::hypot(1.0 + re, im));
                }
            }
            assert!(worst <= bound(ratio) + 1e-12, "{ratio}: {worst}");
            assert!(worst >= 0.99 * bound(ratio), "{ratio}: {worst}");
        }
    }

    /// Pessimism until two measurements agree with linear equations, and again after one that does not or after many steps.
    #[test]
    fn linearity_is_earned_and_lost() {
        let mut rate = Rate::default();
        rate.renew();
        assert_eq!(rate.unmeasured(), FRESH_RATE_FACTOR);
        rate.measure(1e-15);
        rate.measure(1e-15);
        assert!(!rate.is_linear(), "a new matrix fits all equations");
        for _ in 0..TELLING_AGE {
            rate.begin(2.0, Some(1.0));
        }
        rate.measure(1e-15);
        rate.measure(1e-15);
        rate.begin(1.0, Some(0.75));
        assert!((rate.unmeasured() - 1.0 / 6.0).abs() < 1e-12);
        rate.renew();
        assert_eq!(rate.unmeasured(), LEAST_LINEAR);
        for _ in 0..TRUSTED_STEPS {
            rate.begin(1.0, Some(1.0));
        }
        assert_eq!(rate.unmeasured(), LEAST_UNMEASURED);
        rate.measure(1e-15);
        assert_eq!(rate.unmeasured(), LEAST_LINEAR);
        rate.measure(0.3);
        rate.begin(2.0, Some(0.75));
        assert_eq!(rate.unmeasured(), STALE_RATE_FACTOR);
    }
}
