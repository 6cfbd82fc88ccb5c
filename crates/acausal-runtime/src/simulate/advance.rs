//! From the start to the end: steps, rows, events, checkpoints.

use std::time::Instant;

use acausal_compiled::fixed;
use acausal_jit::kernel::Bank;
use acausal_solver::{Integrator, SolverError, StepLimit, StepOutcome};

use super::{REACH_STEPS, Simulation, absorb};
use crate::at_event::{Crossed, record_delays};
use crate::consistent_indicators::ConsistentIndicators;
use crate::error::{InitialFailure, InitialKind};
use crate::event::EventOutcome;
use crate::history::RecentSamples;
use crate::initial::restart_system;
use crate::selected::SelectedSignals;
use crate::{Settings, SimError, Sink, Summary};

/// A relation whose sides have not differed by more than this many widths of its hysteresis has not left its threshold. In a sliding mode they differ by one or two.
const LEFT_BEHIND: f64 = 8.0;

impl Simulation {
    /// Integrates to the end.
    pub(super) fn complete(
        mut self,
        settings: &Settings,
        sink: &mut dyn Sink,
        mut summary: Summary,
    ) -> Result<Summary, SimError> {
        let clock = Instant::now();
        sink.begin(&self.machine, &self.y, &self.yp)
            .map_err(SimError::Output)?;
        let wanted = sink.wanted();
        let shown = wanted
            .as_ref()
            .is_some_and(|w| w.iter().any(|l| l.bank() == Bank::Yp));
        self.slopes |= shown;
        self.corrects_rows |= shown;
        if !self.watched()
            && let Some(wanted) = wanted
        {
            self.selected = SelectedSignals::new(&self.machine, wanted)?;
        }
        self.machine.profiles = settings.profile;
        let result = self.integrate(settings, sink, &mut summary);
        summary.notes.extend(self.uncorrected_note());
        let inner = self.interior.counts;
        summary.profile.inner_points = inner.points;
        summary.profile.inner_iterations = inner.iterations;
        summary.profile.inner_solutions = inner.failures;
        summary.profile.event_evaluations =
            self.machine.event_evaluations + self.machine.timetable.evaluations;
        self.seconds.integrate = clock.elapsed().as_secs_f64();
        self.seconds.codegen = summary.seconds.codegen;
        self.seconds.initialise = summary.seconds.initialise;
        let kept = self.machine.seconds;
        (self.seconds.residual, self.seconds.jacobian) = (kept.residual, kept.jacobian);
        (self.seconds.predicted, self.seconds.indicators) = (kept.predicted, kept.indicators);
        let parts = (summary.seconds.factor, summary.seconds.solve);
        summary.seconds = self.seconds;
        (summary.seconds.factor, summary.seconds.solve) = parts;
        result.map(|()| summary)
    }

    fn integrate(
        &mut self,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        self.note_function_warnings(summary);
        self.note_prints(summary);
        hand_over_prints(summary, sink);
        self.write_start_row(sink)?;
        self.row(self.t, sink)?;
        while self.output_time(settings, self.next_output) <= self.t {
            self.next_output += 1;
        }
        let mut buffers = (self.y.clone(), self.yp.clone());
        loop {
            // At a checkpoint everything that remembers is made anew, so that a run that begins there does the same.
            let found = self.restart.underdetermined().cloned();
            // A checkpoint does not say whether something was open.
            self.restart.set_lenient(true);
            let first_step = self.slopes(settings, &[]);
            self.restart.set_lenient(false);
            self.keep_open(found, settings, summary)?;
            let mut bdf = self.integrator(settings)?;
            bdf.limit_first_step(first_step);
            self.smooth = bdf.smooth_distance();
            let result = self.advance(&mut *bdf, &mut buffers, settings, sink, summary);
            self.tracer.finish(&mut *bdf, &self.machine.model, sink);
            summary.add(&*bdf, &self.machine.model);
            summary.reached = self.t;
            match result? {
                Pause::End => return Ok(()),
                Pause::Checkpoint => self.restart = restart_system(&self.machine)?,
            }
        }
    }

    fn advance(
        &mut self,
        bdf: &mut dyn Integrator,
        buffers: &mut (Vec<f64>, Vec<f64>),
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<Pause, SimError> {
        let mut next_event = self.next_event();
        self.machine.delays.from_left = true;
        let watched = self.watched();
        while self.t < settings.stop && summary.terminated.is_none() {
            let target = self.target(next_event, settings);
            let Some(stepped) = self.step(bdf, target)? else {
                continue;
            };
            self.tracer.step(bdf, &self.machine.model, sink);
            let outcome = match stepped {
                Ok(outcome) => outcome,
                Err(error) => {
                    self.jump_or_fail(error, target, bdf, settings, sink, summary)?;
                    next_event = self.next_event();
                    continue;
                }
            };
            if self.accept(bdf, buffers, target, settings, sink, summary)? {
                next_event = self.next_event();
                continue;
            }
            if outcome == StepOutcome::Roots {
                self.follow(bdf);
                self.correct_crossing(bdf);
            }
            if watched {
                self.look_at_all(bdf, summary)?;
            }
            if self.events_of_step(bdf, outcome, next_event, settings, sink, summary)? {
                next_event = self.next_event();
            }
            self.note_prints(summary);
            hand_over_prints(summary, sink);
            sink.progress(self.t);
            if let Some(pause) = self.pause(bdf, settings, sink, summary) {
                return Ok(pause);
            }
        }
        self.follow(bdf);
        if settings.checkpoint && settings.checkpoint_at.is_none() {
            summary.checkpoint = Some(self.checkpoint(settings));
        }
        self.end(settings, sink, summary)?;
        hand_over_prints(summary, sink);
        Ok(Pause::End)
    }

    /// The next instant that is known in advance.
    fn next_event(&mut self) -> f64 {
        let jump = self.machine.inputs.next_jump();
        let event = (self.events).next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
        event.min(jump)
    }

    /// As far as the next step may go.
    fn target(&self, next_event: f64, settings: &Settings) -> f64 {
        let bend = self.machine.inputs.next_bend(self.t);
        let target = settings.stop.min(next_event).min(bend);
        match settings.checkpoint_at {
            Some(t) if t > self.t => target.min(t),
            _ => target,
        }
    }

    /// One step of the integrator; nothing if it begins anew, because the equations determine what was kept open.
    fn step(
        &mut self,
        bdf: &mut dyn Integrator,
        target: f64,
    ) -> Result<Option<Result<StepOutcome, SolverError>>, SimError> {
        let before = (self.border.as_ref()).map(|_| (bdf.t(), bdf.y().to_vec(), bdf.yp().to_vec()));
        let mut model = ConsistentIndicators {
            machine: &mut self.machine,
            system: &mut self.restart,
            interior: &mut self.interior,
            nominal: &self.nominal,
            border: self.border.as_mut(),
        };
        let stepped = bdf.step(&mut model, target);
        if let Some((t, y, yp)) = before
            && let Some(border) = &self.border
            && (stepped.is_err() || !border.holds(bdf.y()))
        {
            self.border = None;
            bdf.restart(t, &y, &yp).map_err(SimError::Integrator)?;
            return Ok(None);
        }
        Ok(Some(stepped))
    }

    /// After a failed step: goes on with another solution, or fails.
    fn jump_or_fail(
        &mut self,
        error: SolverError,
        target: f64,
        bdf: &mut dyn Integrator,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        self.follow(bdf);
        if !self.jump(&error, target, settings, sink, summary)? {
            let ends = matches!(
                error,
                SolverError::StepTooSmall { .. }
                    | SolverError::RepeatedFailure { .. }
                    | SolverError::SingularMatrix { .. }
            );
            let error = match self.folds_back().filter(|_| ends) {
                Some(fold) => SimError::Initialisation(fold),
                None => self.explain(error),
            };
            self.last_row(settings, sink);
            return Err(error);
        }
        self.impasse.forget();
        self.restart_integrator(bdf, &[], settings, summary)
    }

    /// Takes a step over: rows up to its end, what delays keep. True if the solution ends inside of it and the run goes on with another one.
    fn accept(
        &mut self,
        bdf: &mut dyn Integrator,
        buffers: &mut (Vec<f64>, Vec<f64>),
        target: f64,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<bool, SimError> {
        let met = (self.impasse).look(
            &mut self.restart,
            &mut self.machine,
            bdf,
            self.t,
            &self.nominal,
        );
        match met {
            Err(failure) => {
                let until = failure.t.max(self.t);
                self.outputs_before(bdf, until, buffers, settings, sink, summary)?;
                return Err(SimError::Initialisation(failure));
            }
            Ok(Some(end)) => {
                let until = end.max(self.t);
                self.outputs_before(bdf, until, buffers, settings, sink, summary)?;
                bdf.interpolate(until, &mut self.y, &mut self.yp);
                (self.t, self.behind) = (until, false);
                self.correct_end(bdf);
                self.machine.update(self.t, &self.y, &self.yp);
                if !self.jump_from_here(target, settings, sink, summary)? {
                    self.last_row(settings, sink);
                    let at = self.folds_back();
                    return Err(SimError::Initialisation(at.unwrap_or_else(|| {
                        Box::new(InitialFailure::new(InitialKind::SolutionEnds, until))
                    })));
                }
                self.impasse.forget();
                self.restart_integrator(bdf, &[], settings, summary)?;
                return Ok(true);
            }
            Ok(None) => {}
        }
        let reached = bdf.t();
        self.outputs_before(bdf, reached, buffers, settings, sink, summary)?;
        self.refine_histories(bdf, reached, buffers, settings.tolerance)?;
        let long = REACH_STEPS * (reached - self.t);
        self.reach = Some(self.reach.map_or(long, |r| r.max(long)));
        self.t = reached;
        self.smooth = bdf.smooth_distance();
        self.behind = true;
        Ok(false)
    }

    /// Looks at all variables and assertions after a step.
    fn look_at_all(
        &mut self,
        bdf: &mut dyn Integrator,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        self.follow(bdf);
        let mut noted = EventOutcome::default();
        self.machine.update(self.t, &self.y, &self.yp);
        self.check_finite(self.t)?;
        let at = (self.t, &self.y[..], &self.yp[..]);
        (self.events).check_asserts(&mut self.machine, at, false, &mut noted)?;
        absorb(summary, noted);
        self.note_function_warnings(summary);
        Ok(())
    }

    /// Handles what happens at the end of a step; false if nothing does.
    fn events_of_step(
        &mut self,
        bdf: &mut dyn Integrator,
        outcome: StepOutcome,
        next_event: f64,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<bool, SimError> {
        // An indicator is positive while its relation is as its cell says. Whatever is negative after a step, found as a
        // crossing or not, belongs to a cell that no longer holds.
        let crossed = self.crossings(bdf, outcome);
        let by_time = self.t >= next_event;
        if crossed.relations.is_empty() && crossed.passed.is_empty() && !by_time {
            record_delays(&mut self.machine, self.t, &self.y, &self.yp)?;
            if self.drop_shifts(bdf) {
                bdf.forget_roots();
            }
            return Ok(false);
        }
        self.follow(bdf);
        if outcome != StepOutcome::Roots {
            self.correct_end(bdf);
        }
        let clock = Instant::now();
        self.event(&crossed, settings, sink, summary)?;
        self.impasse.forget();
        if settings.checkpoint_at != Some(self.t) {
            self.restart_integrator(bdf, &crossed.relations, settings, summary)?;
        }
        self.seconds.events += clock.elapsed().as_secs_f64();
        Ok(true)
    }

    /// Whether the run stops here: interrupted from outside, or at a checkpoint.
    fn pause(
        &mut self,
        bdf: &mut dyn Integrator,
        settings: &Settings,
        sink: &dyn Sink,
        summary: &mut Summary,
    ) -> Option<Pause> {
        if sink.interrupted() {
            self.follow(bdf);
            summary.interrupted = true;
            if settings.checkpoint {
                summary.checkpoint = Some(self.checkpoint(settings));
            }
            return Some(Pause::End);
        }
        if settings.checkpoint_at == Some(self.t) {
            self.follow(bdf);
            // A continuation does not have them.
            self.recent = RecentSamples::default();
            summary.checkpoint = Some(self.checkpoint(settings));
            if self.t < settings.stop {
                return Some(Pause::Checkpoint);
            }
        }
        None
    }

    /// Relations that are no longer as their cells say, and indicators of delays at whose end something comes out.
    fn crossings(&self, bdf: &dyn Integrator, outcome: StepOutcome) -> Crossed {
        let mut crossings = bdf.negative_roots();
        if outcome == StepOutcome::Roots {
            let falling = bdf.found_roots().iter().filter(|c| !c.rising);
            crossings.extend(falling.map(|c| c.index));
        }
        crossings.sort_unstable();
        crossings.dedup();
        let watched = &self.machine.watched;
        let passed = crossings.split_off(crossings.partition_point(|k| *k < watched.len()));
        let largest = bdf.largest_indicators();
        let confined = |k: &usize| largest[*k] <= LEFT_BEHIND * self.events.bands[watched[*k]];
        Crossed {
            confined: crossings.iter().map(confined).collect(),
            relations: crossings.into_iter().map(|k| watched[k]).collect(),
            passed: passed.into_iter().map(|k| k - watched.len()).collect(),
            error: bdf.crossing_error(),
        }
    }

    /// Whether somebody looks at all variables after each step. In a model without anything discrete nobody does between two rows;
    /// those that the residuals need are watched by the integrator.
    fn watched(&self) -> bool {
        let model = &self.machine.model;
        self.events.is_discrete(&self.machine)
            || !model.events.asserts.is_empty()
            || !model.events.delays.is_empty()
            || !model.events.spatials.is_empty()
            || model.initial.branching
            || self.functions_warn
            || self.machine.functions_assert()
            || !model.events.prints.is_empty()
    }

    /// Takes the state of the integrator over. In a large model without anything discrete nobody looks at it after each
    /// step, and the copies would cost as much as the residuals.
    fn follow(&mut self, bdf: &mut dyn Integrator) {
        if std::mem::take(&mut self.behind) {
            let (y, yp) = bdf.solution();
            self.y.copy_from_slice(y);
            self.yp.copy_from_slice(yp);
        }
    }

    /// After a failed step: the last accepted state, unless a row stands there already. The failure of the step is what
    /// the user is told; one of the writer would only hide it.
    pub(crate) fn last_row(&mut self, settings: &Settings, sink: &mut dyn Sink) {
        if self.output_time(settings, self.next_output.saturating_sub(1)) < self.t {
            self.machine.update(self.t, &self.y, &self.yp);
            let _ = self.row(self.t, sink);
        }
    }

    /// The last row, unless an output or event row stands there already, and what happens `when terminal()`.
    fn end(
        &mut self,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        if self.output_time(settings, self.next_output.saturating_sub(1)) < self.t {
            self.machine.update(self.t, &self.y, &self.yp);
            self.check_finite(self.t)?;
            self.row(self.t, sink)?;
        }
        self.machine.mem[fixed::TERMINAL] = 1.0;
        if self.machine.model.events.uses_terminal {
            let (events, mut ctx) = self.context(settings);
            let outcome = events.handle(&mut ctx, &[])?;
            absorb(summary, outcome);
            self.machine.update(self.t, &self.y, &self.yp);
            self.row(self.t, sink)?;
        } else {
            self.machine.update(self.t, &self.y, &self.yp);
        }
        Ok(())
    }

    /// A failure of the integrator; where the model itself knows more, that is said instead.
    fn explain(&mut self, e: SolverError) -> SimError {
        let evaluation = matches!(
            e,
            SolverError::Evaluation { .. }
                | SolverError::StepTooSmall {
                    limit: StepLimit::Evaluation(_),
                    ..
                }
                | SolverError::RepeatedFailure {
                    limit: StepLimit::Evaluation(_),
                    ..
                }
        );
        let t = self.machine.mem[fixed::TIME];
        match self.subscript_fault(t).filter(|_| evaluation) {
            Some(fault) => fault,
            None => SimError::Integrator(e),
        }
    }
}

/// What the model has printed since the last time.
fn hand_over_prints(summary: &mut Summary, sink: &mut dyn Sink) {
    if !summary.printed.is_empty() {
        summary.printed.retain(|text| !sink.print(text));
    }
}

/// Why [`Simulation::advance`] returns.
enum Pause {
    /// The simulation is over.
    End,
    /// A checkpoint was taken on the way.
    Checkpoint,
}
