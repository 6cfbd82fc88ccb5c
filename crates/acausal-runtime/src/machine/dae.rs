//! The machine as the integrator sees it.

use std::ops::Range;
use std::time::Instant;

use acausal_cpu::Team;
use acausal_jit::TileMemory;
use acausal_solver::{Dae, DaeError, Events, LargeDae, Pattern, Predicted};

use super::{Machine, ProgramId, Update, add_to};

impl Dae for Machine {
    fn pattern(&self) -> &Pattern {
        &self.prepared.pattern
    }

    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        let clock = self.profiles.then(Instant::now);
        self.prepare_residual(t, y, yp);
        let done = self.execute(ProgramId::Residuals, y, yp, r);
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
    ) -> Result<(), DaeError> {
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

impl Machine {
    /// `a dF/dy + b dF/dy'`.
    pub(crate) fn weighted_jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        factors: (f64, f64),
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        self.prepare_residual(t, y, yp);
        self.weighted(t, (y, yp), factors, values)
    }

    /// The same right after a residual at the same point.
    fn weighted(
        &mut self,
        t: f64,
        (y, yp): (&[f64], &[f64]),
        factors: (f64, f64),
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let clock = self.profiles.then(Instant::now);
        if self.prepared.programs.residuals_update == Update::ForPartials {
            self.update_for_residual(t, y, yp);
        }
        let mut partials = std::mem::take(&mut self.partials);
        let done = self.execute(ProgramId::Partials, y, yp, &mut partials);
        self.partials = partials;
        self.checked(done)?;
        let s = self.model.jacobian.schedule();
        let (team, acc) = (self.team.as_mut(), &mut self.acc);
        s.accumulate(team, &self.partials, factors, acc, values);
        add_to(&mut self.seconds.jacobian, clock);
        Ok(())
    }
}

impl LargeDae for Machine {
    fn predicted_residual(&mut self, t: f64, point: Predicted<'_>) -> Option<Result<(), DaeError>> {
        if !self.prepared.programs.have_tiles() || self.needs_point(t) {
            return None;
        }
        let clock = self.profiles.then(Instant::now);
        self.set_time(t);
        self.delays.write(t, &mut self.mem);
        let places = TileMemory {
            y: point.y,
            yp: point.yp,
            mem: &mut self.mem,
            out: point.r,
        };
        // SAFETY: tiles predict each unknown once, before they use it; the vectors are theirs meanwhile.
        let done = unsafe {
            let predict =
                |range: Range<usize>, places: [&mut [f64]; 2]| point.predict(range, places);
            let team = (self.team.as_mut(), &self.workspaces);
            (self.prepared.programs).run_tiles(team, places, &self.functions, &predict)
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
    ) -> Result<(), DaeError> {
        self.weighted(t, (y, yp), (1.0, cj), values)
    }

    fn jacobian_needs_point(&self) -> bool {
        self.prepared.programs.partials_need_point
    }

    fn team(&mut self) -> Option<&mut Team> {
        self.team.as_mut()
    }
}

impl Events for Machine {
    fn indicators_len(&self) -> usize {
        self.watched.len() + self.delays.indicators_len()
    }

    fn indicators(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) -> Result<(), DaeError> {
        let clock = self.profiles.then(Instant::now);
        let mut differences = std::mem::take(&mut self.differences);
        self.differences(t, y, yp, &mut differences);
        // An indicator is positive while its relation is as the cell says.
        let (relations, delays) = g.split_at_mut(self.watched.len());
        for (g, &k) in relations.iter_mut().zip(&self.watched) {
            *g = self.sides[k] * differences[k] + self.shifts[k];
        }
        self.differences = differences;
        if !delays.is_empty() {
            self.delay_indicators(t, y, yp, delays);
        }
        add_to(&mut self.seconds.indicators, clock);
        Ok(())
    }
}
