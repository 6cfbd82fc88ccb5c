//! The model as the integrator sees it: event indicators at values that satisfy the equations.
//!
//! Between the steps the integrator interpolates. The derivatives of its polynomial, and algebraic unknowns that are solved
//! for together with derivatives, are then wrong by the step size times the curvature, whatever the tolerance, and jump
//! from step to step: a relation of an acceleration would change to and fro without a reason. Where a model has such
//! relations (see `RelationCode::slopes`), derivatives and algebraic unknowns are corrected before the indicators are
//! evaluated ([`Interior`]), with the factors of the step; so are those that only depend on algebraic unknowns
//! (`RelationCode::algebraic`), but for the end of the step, where the corrector has done it. Where that does not converge, or the integrator
//! lends no factors, they are solved for from the interpolated states; where no solution is found, the interpolated values count.

use acausal_solver::{Dae, DaeError, Events, LargeDae, Pattern, Predicted, StepFactors};

use crate::bordered::Bordered;
use crate::consistent::{ConsistentSystem, Point};
use crate::interior::Interior;
use crate::machine::Machine;

/// A model together with the system for its derivatives and algebraic unknowns.
pub(crate) struct ConsistentIndicators<'a> {
    pub machine: &'a mut Machine,
    pub system: &'a mut ConsistentSystem,
    pub interior: &'a mut Interior,
    pub nominal: &'a [f64],
    /// What keeps open unknowns where they are.
    pub border: Option<&'a mut Bordered>,
}

impl Dae for ConsistentIndicators<'_> {
    fn pattern(&self) -> &Pattern {
        (self.border.as_ref()).map_or_else(|| self.machine.pattern(), |b| &b.pattern)
    }

    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        self.machine.residual(t, y, yp, r)?;
        if let Some(border) = &self.border {
            border.add(y, r);
        }
        Ok(())
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let machine = &mut *self.machine;
        match &mut self.border {
            None => machine.jacobian(t, y, yp, cj, values),
            Some(border) => border.matrix(values, |own| machine.jacobian(t, y, yp, cj, own)),
        }
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn large(&mut self) -> Option<&mut dyn LargeDae> {
        Some(self)
    }
}

impl LargeDae for ConsistentIndicators<'_> {
    fn predicted_residual(&mut self, t: f64, point: Predicted<'_>) -> Option<Result<(), DaeError>> {
        match self.border {
            None => self.machine.predicted_residual(t, point),
            Some(_) => None,
        }
    }

    fn jacobian_after_residual(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let machine = &mut *self.machine;
        match &mut self.border {
            None => machine.jacobian_after_residual(t, y, yp, cj, values),
            Some(border) => border.matrix(values, |own| {
                machine.jacobian_after_residual(t, y, yp, cj, own)
            }),
        }
    }

    fn jacobian_needs_point(&self) -> bool {
        self.machine.jacobian_needs_point()
    }

    fn team(&mut self) -> Option<&mut acausal_cpu::Team> {
        self.machine.team()
    }
}

impl Events for ConsistentIndicators<'_> {
    fn indicators_len(&self) -> usize {
        self.machine.indicators_len()
    }

    fn indicators(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) -> Result<(), DaeError> {
        self.machine.indicators(t, y, yp, g)
    }

    fn indicators_inside(
        &mut self,
        t: f64,
        y: &mut [f64],
        yp: &mut [f64],
        factors: Option<StepFactors<'_>>,
        g: &mut [f64],
    ) -> Result<(), DaeError> {
        let wanted = match &factors {
            Some(factors) if !factors.at_end() => self.machine.watches_algebraic,
            _ => self.machine.watches_slopes,
        };
        if wanted {
            let mut at = Point {
                machine: self.machine,
                t,
                y: &mut *y,
                yp: &mut *yp,
                nominal: self.nominal,
            };
            let border = self.border.as_deref();
            (self.interior).correct_for_relations(&mut at, self.system, border, factors);
        }
        self.machine.indicators(t, y, yp, g)
    }
}
