//! Where the solution that the integrator follows ends although no relation changes.
//!
//! Equations inside of `noEvent` can have several solutions, and the one that was followed can cease to exist: a Schmitt
//! trigger without an event switches its output when the input reaches the threshold. The integrator then finds no step,
//! however small. A short time later the equations are solved for the same states but other derivatives and algebraic
//! unknowns, and the run continues there as after an event. Where there is no solution, or where such jumps follow each
//! other without end, the integrator's error stands.

use acausal_expr::unknown::UnknownRole;
use acausal_solver::{SolverError, StepLimit};

use crate::consistent::Point;
use crate::error::InitialFailure;
use crate::event::watch::Change;
use crate::initial::roles;
use crate::simulate::{Simulation, UNKNOWN_REACH, absorb};
use crate::{Settings, SimError, Sink, Summary};

/// How far behind the end the next solution is looked for, as fractions of a time that is long for the model.
const BEYOND: [f64; 3] = [1e-10, 1e-8, 1e-6];
/// Part of its size by which some algebraic unknown of another solution differs. At a distance of 1e-8 behind a fold the last point before it differs by 1e-4.
const LEAST_JUMP: f64 = 1e-2;
/// Least distance in units of the rounding error of time.
const LEAST: f64 = 64.0;
/// The number that jumps have among the conditions that are watched for chattering.
const WATCHED: usize = usize::MAX;

impl Simulation {
    /// Continues behind the end of a solution; false when the error of the integrator stands.
    pub(crate) fn jump(
        &mut self,
        error: &SolverError,
        limit: f64,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<bool, SimError> {
        let roles = roles(&self.machine.model);
        let ends = match error {
            SolverError::StepTooSmall { limit, .. }
            | SolverError::RepeatedFailure { limit, .. } => match *limit {
                StepLimit::Convergence { .. } | StepLimit::Singular { .. } => true,
                StepLimit::ErrorTest { variable } => roles[variable] == UnknownRole::Algebraic,
                StepLimit::Evaluation(_) => false,
            },
            SolverError::SingularMatrix { structural, .. } => !structural,
            _ => false,
        };
        if !ends || !roles.contains(&UnknownRole::Algebraic) {
            return Ok(false);
        }
        self.jump_from_here(limit, settings, sink, summary)
    }

    /// The same where the solution is known to end.
    pub(crate) fn jump_from_here(
        &mut self,
        limit: f64,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<bool, SimError> {
        let roles = roles(&self.machine.model);
        let reach = self.reach.unwrap_or(UNKNOWN_REACH);
        let span = settings.stop - self.origin;
        let change = Change {
            number: WATCHED,
            value: true,
            t: self.t,
            error: LEAST * f64::EPSILON * self.t.abs(),
            // Nobody knows how far a solution was from its end.
            confined: true,
        };
        if self.watch.note(change, span).is_some() {
            return Ok(false);
        }
        for beyond in BEYOND {
            let least = LEAST * f64::EPSILON * self.t.abs();
            let dt = (beyond * reach).max(least);
            let t = self.t + dt;
            if t >= limit {
                return Ok(false);
            }
            let (mut y, mut yp) = (self.y.clone(), self.yp.clone());
            for (k, _) in roles
                .iter()
                .enumerate()
                .filter(|r| *r.1 == UnknownRole::State)
            {
                y[k] += dt * self.yp[k];
            }
            let found = self.restart.solve_from_distant_guesses(&mut Point {
                machine: &mut self.machine,
                t,
                y: &mut y,
                yp: &mut yp,
                nominal: &self.nominal,
            });
            // What is still at the fold, with an error below the tolerance, is no solution.
            let moves = |k: usize| {
                let size = y[k].abs().max(self.y[k].abs());
                roles[k] == UnknownRole::Algebraic && (y[k] - self.y[k]).abs() > LEAST_JUMP * size
            };
            if !found || !(0..y.len()).any(moves) {
                continue;
            }
            self.machine.update(self.t, &self.y, &self.yp);
            self.row(self.t, sink)?;
            (self.t, self.y, self.yp) = (t, y, yp);
            self.machine.update(self.t, &self.y, &self.yp);
            let (events, mut ctx) = self.context(settings);
            let outcome = events.handle(&mut ctx, &[])?;
            absorb(summary, outcome);
            summary.events += 1;
            if !self.jumped {
                // Once is enough: a comparator without events jumps at every cycle.
                self.jumped = true;
                summary.warnings.push(format!(
                    "at time = {}: the solution ends here although no relation changes (it folds back, or equations inside of noEvent jump); the run goes on with another one",
                    self.t
                ));
            }
            self.machine.update(self.t, &self.y, &self.yp);
            self.row(self.t, sink)?;
            self.pass_outputs(settings);
            return Ok(true);
        }
        self.machine.update(self.t, &self.y, &self.yp);
        Ok(false)
    }

    /// How to say that the solution folds back at the present point, if it does.
    pub(crate) fn folds_back(&mut self) -> Option<Box<InitialFailure>> {
        let mut here = Point {
            machine: &mut self.machine,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
        };
        self.impasse.fold(&mut self.restart, &mut here)
    }
}
