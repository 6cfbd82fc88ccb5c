//! The history of the solution: modified divided differences, and what they say about times inside of the last step.

use super::coefficients::LEN;
use super::difference_rows::DifferenceRows;
use super::{Coefficients, kernels};
use acausal_cpu::Team;

/// Factors of the differences for a value and for a slope.
pub(super) type Factors = ([f64; LEN], [f64; LEN]);

/// Differences with the coefficients that belong to them.
pub(super) struct History {
    /// Modified divided differences of the solution. Until the first step is tried, y and y'; until it is accepted, y and h y'.
    pub phi: DifferenceRows,
    pub c: Coefficients,
}

impl History {
    pub fn new(phi: DifferenceRows) -> History {
        History {
            phi,
            c: Coefficients::default(),
        }
    }

    /// Forgets what was before these values.
    pub fn restart(&mut self, y: &[f64], yp: &[f64]) {
        self.phi[0].copy_from_slice(y);
        self.phi[1].copy_from_slice(yp);
        self.c = Coefficients::default();
    }

    /// Prepares the first step.
    pub fn begin(&mut self, h: f64) {
        self.c.psi[0] = h;
        self.phi[1].iter_mut().for_each(|v| *v *= h);
    }

    /// The first step has another size `h`, by `ratio`.
    pub fn begin_again(&mut self, h: f64, ratio: f64) {
        self.c.psi[0] = h;
        self.phi[1].iter_mut().for_each(|v| *v *= ratio);
    }

    /// Takes back [`History::begin`].
    pub fn give_up(&mut self, h: f64) {
        self.phi[1].iter_mut().for_each(|v| *v /= h);
    }

    /// Takes back what an attempt of size h and order k did.
    pub fn retreat(&mut self, mut team: Option<&mut Team>, h: f64, k: usize) {
        self.c.retreat(h, k);
        for j in self.c.steps_constant..=k {
            let factor = 1.0 / self.c.beta[j];
            self.phi.scale(team.as_deref_mut(), j, factor);
        }
    }

    /// The factors of the differences at a distance from the end of a step of order k (not above zero). Where the correction of that step is not yet
    /// in the history, it counts like the last difference.
    pub fn factors(&self, distance: f64, k: usize, correction_is_missing: bool) -> Factors {
        let (mut value, mut slope) = self.c.interpolation(distance, k);
        if correction_is_missing {
            // The history is that before the update `phi[j] += phi[j+1] + .. + e`: row i counts for all rows up to i, e for all.
            for c in [&mut value, &mut slope] {
                for i in 1..=k {
                    c[i] += c[i - 1];
                }
            }
        }
        (value, slope)
    }

    /// Value and slope with these factors.
    pub fn interpolate(
        &self,
        k: usize,
        factors: &Factors,
        correction: Option<kernels::Correction<'_>>,
        y: &mut [f64],
        yp: &mut [f64],
    ) {
        let factors = (&factors.0[..], &factors.1[..]);
        kernels::interpolate(&self.phi, k, factors, correction, y, yp);
    }

    /// The same for one variable.
    pub fn interpolate_one(
        &self,
        k: usize,
        factors: &Factors,
        correction: Option<kernels::Correction<'_>>,
        i: usize,
    ) -> (f64, f64) {
        let e = correction.map_or(0.0, |c| c.at(i));
        let row = |j: usize| self.phi.row(j).at(i) + if j == k { e } else { 0.0 };
        let sum = |factors: &[f64]| {
            let first = factors[0] * row(0);
            (1..=k).fold(first, |sum, j| sum + factors[j] * row(j))
        };
        (sum(&factors.0), sum(&factors.1))
    }
}
