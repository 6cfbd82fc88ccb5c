//! The machine as the integrator sees it.

use std::ops::Range;
use std::time::Instant;

use acausal_compiled::fixed;
use acausal_cpu::Pair;
use acausal_jit::{Banks, Places};
use acausal_solver::{Dae, EvalError, Events, LargeDae, Pattern, Predicted};

use super::{Machine, Update, add_to};

impl Dae for Machine {
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let clock = self.profiles.then(Instant::now);
        self.prepare_residual(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: r,
        };
        let done = match (&self.halves.residuals, &mut self.pair) {
            (Some(long), Some(pair)) => {
                long.run(pair, banks, &self.functions, &mut self.halves.scratch)
            }
            _ => (self.programs.residuals).run(banks, &self.functions, &mut self.scratch),
        };
        add_to(&mut self.seconds.residual, clock);
        self.checked(done)
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.prepare_residual(t, y, yp);
        self.jacobian_after_residual(t, y, yp, cj, values)
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn large(&mut self) -> Option<&mut dyn LargeDae> {
        Some(self)
    }
}

impl LargeDae for Machine {
    fn predicted_residual(
        &mut self,
        t: f64,
        point: Predicted<'_>,
    ) -> Option<Result<(), EvalError>> {
        let tiles = self.halves.tiles.as_ref()?;
        if self.needs_point(t) {
            return None;
        }
        let clock = self.profiles.then(Instant::now);
        self.mem[fixed::TIME] = t;
        self.delays.write(t, &mut self.mem);
        let places = Places {
            y: point.y,
            yp: point.yp,
            mem: &mut self.mem,
            out: point.r,
        };
        // SAFETY: tiles predict each unknown once, before they use it; the vectors are theirs meanwhile.
        let done = unsafe {
            let predict =
                |range: Range<usize>, places: [&mut [f64]; 2]| point.predict(range, places);
            let (pair, own) = (self.pair.as_mut(), &mut self.halves.workspaces);
            tiles.run(pair, places, &self.functions, own, &predict)
        };
        add_to(&mut self.seconds.predicted, clock);
        Some(self.checked(done))
    }

    fn jacobian_after_residual(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let clock = self.profiles.then(Instant::now);
        if self.programs.residuals_update == Update::ForPartials {
            self.update_for_residual(t, y, yp);
        }
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut self.partials,
        };
        let done = match (&self.halves.partials, &mut self.pair) {
            (Some(long), Some(pair)) => {
                long.run(pair, banks, &self.functions, &mut self.halves.scratch)
            }
            _ => (self.programs.partials).run(banks, &self.functions, &mut self.scratch),
        };
        self.checked(done)?;
        let s = self.model.jacobian.schedule();
        let (pair, acc) = (self.pair.as_mut(), &mut self.acc);
        s.accumulate(pair, &self.partials, (1.0, cj), acc, values);
        add_to(&mut self.seconds.jacobian, clock);
        Ok(())
    }

    fn jacobian_needs_point(&self) -> bool {
        self.programs.partials_need_point
    }

    fn pair(&mut self) -> Option<&mut Pair> {
        self.pair.as_mut()
    }
}

impl Events for Machine {
    fn indicators_len(&self) -> usize {
        self.watched.len() + self.delays.indicators_len()
    }

    fn indicators(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        g: &mut [f64],
    ) -> Result<(), EvalError> {
        let clock = self.profiles.then(Instant::now);
        let mut gaps = std::mem::take(&mut self.gaps);
        self.gaps(t, y, yp, &mut gaps);
        // An indicator is positive while its relation is as the cell says.
        let (relations, delays) = g.split_at_mut(self.watched.len());
        for (g, &k) in relations.iter_mut().zip(&self.watched) {
            *g = self.sides[k] * gaps[k] + self.shifts[k];
        }
        self.gaps = gaps;
        if !delays.is_empty() {
            self.delay_indicators(t, y, yp, delays);
        }
        add_to(&mut self.seconds.indicators, clock);
        Ok(())
    }
}
