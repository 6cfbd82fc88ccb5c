//! Dense output: the solution inside of the last step, and what a step has left to be done until somebody looks.

use super::corrector::Stage;
use super::history::Factors;
use super::{Bdf, kernels};

impl Bdf {
    /// Solution and derivative at `t` inside the last step (between `t() - last_step()` and its end).
    pub fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        if self.stepper.is_first() {
            y.copy_from_slice(&self.corrector.y);
            yp.copy_from_slice(&self.corrector.yp);
            return;
        }
        let (factors, correction) = self.interpolation(t);
        let k = self.stepper.k_used;
        self.history.interpolate(k, &factors, correction, y, yp);
    }

    /// The same for some variables only.
    pub fn interpolate_some(&self, t: f64, which: &[usize], y: &mut [f64], yp: &mut [f64]) {
        let (factors, correction) = self.interpolation(t);
        let k = self.stepper.k_used;
        for &i in which {
            (y[i], yp[i]) = match self.stepper.is_first() {
                true => (self.corrector.y[i], self.corrector.yp[i]),
                false => self.history.interpolate_one(k, &factors, correction, i),
            };
        }
    }

    /// The factors of the differences at `t`, and the correction that counts like the last of them.
    fn interpolation(&self, t: f64) -> (Factors, Option<kernels::Correction<'_>>) {
        let pending = self.corrector.stage == Stage::Accepted;
        let (distance, k) = (t - self.stepper.tn, self.stepper.k_used);
        let factors = self.history.factors(distance, k, pending);
        (factors, pending.then(|| self.corrector.correction()))
    }

    /// Solution and derivative at [`Bdf::t`]. A step leaves the last work on them to whoever asks.
    pub fn solution(&mut self) -> (&[f64], &[f64]) {
        self.settle();
        (&self.corrector.y, &self.corrector.yp)
    }

    /// Takes the correction of the last step into y, y' and the history, where that was left to whoever asks.
    pub(super) fn settle(&mut self) {
        self.apply_held(None);
        if self.corrector.stage == Stage::Accepted {
            self.corrector.stage = Stage::Settled;
            let update = kernels::Update {
                k: self.stepper.k_used,
                earlier: None,
                scale: 1.0,
                keep: self.stepper.k_used < self.options.max_order,
            };
            kernels::update(&mut self.history.phi, &mut self.corrector.e, update);
        }
    }

    /// Makes y and y' those of the interpolant at `t`.
    pub(super) fn evaluate_interpolant(&mut self, t: f64) {
        self.settle();
        let (history, corrector) = (&self.history, &mut self.corrector);
        corrector.stage = Stage::Interpolated;
        if self.stepper.is_first() {
            corrector.y.copy_from_slice(&history.phi[0]);
            corrector.yp.copy_from_slice(&history.phi[1]);
            return;
        }
        let k = self.stepper.k_used;
        let factors = history.factors(t - self.stepper.tn, k, false);
        let (y, yp) = (&mut corrector.y, &mut corrector.yp);
        history.interpolate(k, &factors, None, y, yp);
    }
}
