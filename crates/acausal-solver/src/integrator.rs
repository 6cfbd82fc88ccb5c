//! The common face of the integrators, so that a simulation can choose one at run time.
//!
//! [`crate::Bdf`] is always there; `Ida` (SUNDIALS) exists with the cargo feature `sundials` and serves as the judge: the
//! same problems through both must give the same trajectories.

use crate::bdf::{
    Bdf, IntegratorProfile, Move, RootCrossing, SolverError, Statistics, StepOutcome,
};
use crate::dae::Dae;
use crate::factors::StepFactors;

/// An integrator of implicit DAEs that advances step by step. The methods are those of [`Bdf`].
pub trait Integrator {
    /// Advances by one internal step, at most to `t_stop`.
    fn step(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<StepOutcome, SolverError>;

    /// Starts again at `t` with new values.
    fn restart(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Result<(), SolverError>;

    /// Solution and derivative inside the last step.
    fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]);

    /// The same for some variables; the others may be changed too or stay as they are.
    fn interpolate_some(&self, t: f64, _which: &[usize], y: &mut [f64], yp: &mut [f64]) {
        self.interpolate(t, y, yp);
    }

    /// The factors of the last step's matrix, for points inside of it; nothing before the first step, or if the integrator does not lend them.
    fn factors(&mut self) -> Option<StepFactors<'_>> {
        None
    }

    /// Current time.
    fn t(&self) -> f64;

    /// Solution and derivative at the current time.
    fn solution(&mut self) -> (&[f64], &[f64]);

    /// Solution at the current time.
    fn y(&mut self) -> &[f64] {
        self.solution().0
    }

    /// Derivative at the current time.
    fn yp(&mut self) -> &[f64] {
        self.solution().1
    }

    /// Start of the last internal step.
    fn step_start(&self) -> f64;

    /// Order of the last step.
    fn last_order(&self) -> usize;

    /// Size of the last step.
    fn last_step(&self) -> f64;

    /// Crossings of the last [`StepOutcome::Roots`].
    fn found_roots(&self) -> &[RootCrossing];

    /// Indicators that are negative at the current time, whether or not a crossing was found.
    fn negative_roots(&self) -> Vec<usize>;

    /// Per event indicator: its largest value since the start or restart.
    fn largest_indicators(&self) -> &[f64];

    /// The distance in time on which the event indicators are smooth; infinite where it is not known.
    fn smooth_distance(&self) -> f64;

    /// The error of a located crossing in the last step.
    fn crossing_error(&self) -> f64;

    /// The indicators are others from now on, with the same signs: what was seen of them before says nothing about them.
    fn forget_roots(&mut self);

    /// Counters since creation.
    fn statistics(&self) -> &Statistics;

    /// Bounds the first step after a start or restart.
    fn limit_first_step(&mut self, _h: Option<f64>) {}

    /// The moves since the last call, where they are recorded.
    fn take_trace(&mut self) -> Vec<Move> {
        Vec::new()
    }

    /// Who limits the steps, and what the matrix costs; empty where the integrator does not tell.
    fn profile(&self) -> IntegratorProfile {
        IntegratorProfile::default()
    }
}

impl Integrator for Bdf {
    fn step(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<StepOutcome, SolverError> {
        Bdf::step(self, dae, t_stop)
    }

    fn restart(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Result<(), SolverError> {
        Bdf::restart(self, t, y, yp)
    }

    fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        Bdf::interpolate(self, t, y, yp);
    }

    fn interpolate_some(&self, t: f64, which: &[usize], y: &mut [f64], yp: &mut [f64]) {
        Bdf::interpolate_some(self, t, which, y, yp);
    }

    fn factors(&mut self) -> Option<StepFactors<'_>> {
        Bdf::factors(self)
    }

    fn t(&self) -> f64 {
        Bdf::t(self)
    }

    fn solution(&mut self) -> (&[f64], &[f64]) {
        Bdf::solution(self)
    }

    fn step_start(&self) -> f64 {
        Bdf::step_start(self)
    }

    fn last_order(&self) -> usize {
        Bdf::last_order(self)
    }

    fn last_step(&self) -> f64 {
        Bdf::last_step(self)
    }

    fn found_roots(&self) -> &[RootCrossing] {
        Bdf::found_roots(self)
    }

    fn negative_roots(&self) -> Vec<usize> {
        Bdf::negative_roots(self)
    }

    fn largest_indicators(&self) -> &[f64] {
        Bdf::largest_indicators(self)
    }

    fn smooth_distance(&self) -> f64 {
        Bdf::smooth_distance(self)
    }

    fn crossing_error(&self) -> f64 {
        Bdf::crossing_error(self)
    }

    fn forget_roots(&mut self) {
        Bdf::forget_roots(self);
    }

    fn statistics(&self) -> &Statistics {
        Bdf::statistics(self)
    }

    fn limit_first_step(&mut self, h: Option<f64>) {
        Bdf::limit_first_step(self, h);
    }

    fn take_trace(&mut self) -> Vec<Move> {
        Bdf::take_trace(self)
    }

    fn profile(&self) -> IntegratorProfile {
        Bdf::profile(self)
    }
}
