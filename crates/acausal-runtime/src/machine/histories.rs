//! Cells of delays and distributions, whose values depend on histories.

use super::{Machine, ProgramId};
use crate::delay::pieces::INDICATORS;

impl Machine {
    /// Writes the cells of delays and distributions. Where they depend on this point, so do local assignments that their arguments need, and these may need
    /// other cells: a chain of delays takes as many rounds as it is long.
    pub(super) fn write_delays(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        if self.delays.is_empty() && self.distributions.is_empty() {
            return;
        }
        self.delays.write(t, &mut self.mem);
        if !self.needs_point(t) {
            return;
        }
        let model = self.model.clone();
        for _ in 0..=self.delays.lines.len() + self.distributions.lines.len() {
            self.run(ProgramId::Locals, y, yp);
            self.run(ProgramId::OtherLocals, y, yp);
            let mut changed = false;
            let mut first = 0;
            for (k, code) in model.events.delays.iter().enumerate() {
                self.run(ProgramId::Delay(k), y, yp);
                let (lines, mem) = (&self.delays, &mut self.mem);
                changed |= lines.write_with(t, first, &self.out, code.len, mem);
                first += code.len;
            }
            let mut first = 0;
            for (k, code) in model.events.spatials.iter().enumerate() {
                self.run(ProgramId::Spatial(k), y, yp);
                let (lines, mem) = (&self.distributions, &mut self.mem);
                changed |= lines.write(t, first, &self.out, code.len, mem);
                first += code.len;
            }
            if !changed {
                return;
            }
        }
    }

    /// Event indicators of delays that change between events; local assignments are up to date.
    pub(super) fn delay_indicators(&mut self, t: f64, y: &[f64], yp: &[f64], mut g: &mut [f64]) {
        let model = self.model.clone();
        let mut first = 0;
        for (k, code) in model.events.delays.iter().enumerate() {
            if code.variable {
                self.run(ProgramId::Delay(k), y, yp);
                let own = g.split_off_mut(..INDICATORS * code.len).unwrap_or(&mut []);
                (self.delays).indicators(t, first, &self.out, code.len, own);
            }
            first += code.len;
        }
    }

    /// Forgets the histories of delays and distributions.
    pub(crate) fn forget_histories(&mut self) {
        self.delays.forget();
        self.distributions.forget();
    }

    /// Whether cells hold other values than the histories give at time `t`.
    pub(crate) fn histories_change(&mut self, t: f64, y: &[f64], yp: &[f64]) -> bool {
        if self.delays.change(t, &self.mem) {
            return true;
        }
        let before = self.distributions.outputs(&self.mem);
        self.write_delays(t, y, yp);
        let now = self.distributions.outputs(&self.mem);
        let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * b.abs().max(1e-300);
        before.iter().zip(&now).any(differ)
    }

    /// Whether cells of delays and distributions depend on the values at time `t`.
    pub(super) fn needs_point(&self, t: f64) -> bool {
        self.delays.needs_point(t) || !self.distributions.is_empty()
    }
}
