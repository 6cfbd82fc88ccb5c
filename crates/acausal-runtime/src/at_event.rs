//! What a run does at events: the rows from both sides, the event iteration, slopes for the integrator that starts again.
//!
//! In: the state at the instant and the relations that changed. Out: the state behind it, and how long the first step
//! may be. A run whose events no longer let time go on ends here, with the condition to blame ([`crate::event::watch`]).

use acausal_solver::Integrator;

use crate::consistent::Point;
use crate::error::condition_text;
use crate::event::threshold::look_ahead;
use crate::event::watch::{Change, Standstill};
use crate::impulse::BeforeEvent;
use crate::initial::roles;
use crate::machine::{Machine, ProgramId};
use crate::simulate::{Simulation, absorb};
use crate::{Settings, SimError, Sink, Summary};

/// What the integrator has found at an instant.
pub(crate) struct Crossed {
    /// Relations that are no longer as their cells say.
    pub relations: Vec<usize>,
    /// Of each of them: it has not left its threshold since the last event.
    pub confined: Vec<bool>,
    /// Indicators of delays at whose end something comes out.
    pub passed: Vec<usize>,
    /// How exactly the instant is known.
    pub error: f64,
}

impl Simulation {
    /// Right after initialisation `initial()` is false: an event, at which also the first `sample` may be due.
    pub(crate) fn first_events(
        &mut self,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        // Equations with `initial()` are others from now on.
        let asked = self.machine.model.initial.asks_initial;
        if !asked && !self.events.is_discrete(&self.machine) {
            return Ok(());
        }
        let due = self.machine.timetable_is_due(self.t)
            || self.events.sample_is_due(self.t)
            || self
                .events
                .time_relation_is_due(&mut self.machine, self.t, &self.y, &self.yp);
        let before = [self.machine.mem.clone(), self.y.clone(), self.yp.clone()];
        let (events, mut ctx) = self.context(settings);
        let outcome = events.handle(&mut ctx, &[])?;
        let changed = !outcome.changed.is_empty() || !outcome.passed.is_empty();
        if due || changed {
            summary.events += 1;
        }
        if changed {
            self.start_row = Some(Box::new(before));
        }
        absorb(summary, outcome);
        // What this event changes is a jump of the history, not a slope towards the end of the first step.
        self.machine.update(self.t, &self.y, &self.yp);
        record_delays(&mut self.machine, self.t, &self.y, &self.yp)
    }

    /// Where a relation changes right after the start (`time > 0`), the row before is the limit from the left.
    pub(crate) fn write_start_row(&mut self, sink: &mut dyn Sink) -> Result<(), SimError> {
        let Some(mut start) = self.start_row.take() else {
            return Ok(());
        };
        let mut exchange = |run: &mut Simulation| {
            let now = [&mut run.machine.mem, &mut run.y, &mut run.yp];
            for (now, other) in now.into_iter().zip(start.iter_mut()) {
                std::mem::swap(now, other);
            }
        };
        exchange(self);
        let written = self.row(self.t, sink);
        exchange(self);
        written
    }

    /// Handles the event at the present instant.
    pub(crate) fn event(
        &mut self,
        Crossed {
            relations: crossings,
            passed,
            confined,
            error,
        }: &Crossed,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        summary.events += 1;
        self.row(self.t, sink)?; // left limit
        self.check_standstill((crossings, confined), *error, settings, summary)?;
        let before = BeforeEvent::new(&self.events, &self.machine, &self.y);
        self.machine.inputs.pass(self.t);
        for &indicator in passed {
            self.machine.delays.pass(indicator);
        }
        self.machine.delays.from_left = false;
        record_delays(&mut self.machine, self.t, &self.y, &self.yp)?;
        let (events, mut ctx) = self.context(settings);
        let outcome = match events.handle(&mut ctx, crossings) {
            // A subscript out of range shows as equations without a finite value.
            Err(e @ SimError::Initialisation(_)) => {
                return Err(self.subscript_fault(self.t).unwrap_or(e));
            }
            other => other?,
        };
        self.tracer.event(self.t, &self.machine, &outcome, sink);
        absorb(summary, outcome);
        self.machine.update(self.t, &self.y, &self.yp);
        self.check_finite(self.t)?;
        if let Some(before) = before {
            let (machine, t) = (&mut self.machine, self.t);
            before.compare(machine, t, &self.y, &self.yp, settings.tolerance)?;
        }
        record_delays(&mut self.machine, self.t, &self.y, &self.yp)?;
        self.row(self.t, sink)?; // right limit
        self.recent.forget();
        self.machine.delays.from_left = true;
        self.pass_outputs(settings);
        Ok(())
    }

    /// Output instants up to now have been written.
    pub(crate) fn pass_outputs(&mut self, settings: &Settings) {
        while self.output_time(settings, self.next_output) <= self.t {
            self.next_output += 1;
        }
    }

    pub(crate) fn restart_integrator(
        &mut self,
        bdf: &mut dyn Integrator,
        crossings: &[usize],
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        let found = self.restart.underdetermined().cloned();
        let first_step = self.slopes(settings, crossings);
        self.keep_open(found, settings, summary)?;
        bdf.restart(self.t, &self.y, &self.yp)
            .map_err(SimError::Integrator)?;
        bdf.limit_first_step(first_step);
        Ok(())
    }

    /// Estimates the derivatives of algebraic unknowns by a look ahead; the integrator predicts with them, and a wrong
    /// slope would look like a large error in the first steps. Also a bound for the first step, if a relation needs one.
    pub(crate) fn slopes(&mut self, settings: &Settings, crossings: &[usize]) -> Option<f64> {
        let roles = roles(&self.machine.model);
        let algebraic = roles.contains(&acausal_expr::unknown::UnknownRole::Algebraic);
        let relations = !crossings.is_empty() || self.machine.shifts.iter().any(|s| *s != 0.0);
        if !algebraic && !relations {
            return None;
        }
        let (events, mut ctx) = self.context(settings);
        let ahead = look_ahead(&mut ctx);
        let mut first_step = None;
        if relations && let Some(ahead) = &ahead {
            first_step = events.first_step(&mut ctx, ahead, crossings);
        }
        for (k, role) in roles.iter().enumerate() {
            if *role == acausal_expr::unknown::UnknownRole::Algebraic {
                // Without a solution nearby the slopes stay zero, which is safe but slow.
                self.yp[k] = ahead.as_ref().map_or(0.0, |a| a.slope[k]);
            }
        }
        self.machine.update(self.t, &self.y, &self.yp);
        first_step
    }

    /// Where a step ends at an instant that was known, the corrector has solved for algebraic unknowns only as exactly as the states need it.
    /// They are made as exact as those of other rows: this is the left limit of an event.
    pub(crate) fn correct_end(&mut self, bdf: &mut dyn Integrator) {
        let mut end = (std::mem::take(&mut self.y), std::mem::take(&mut self.yp));
        self.correct_row(bdf, self.t, &mut end);
        (self.y, self.yp) = end;
    }

    /// Where a relation has changed inside of a step, algebraic unknowns and derivatives are given the values they had when that was
    /// found: the left limit satisfies the equations.
    pub(crate) fn correct_crossing(&mut self, bdf: &mut dyn Integrator) {
        if !self.corrects_rows {
            return;
        }
        let mut at = Point {
            machine: &mut self.machine,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
        };
        let (border, system) = (self.border.as_ref(), &mut self.restart);
        (self.interior).correct_for_relations(&mut at, system, border, bdf.factors());
    }

    /// Ends the hysteresis of relations that have left their threshold behind. True if there are any.
    pub(crate) fn drop_shifts(&mut self, bdf: &mut dyn Integrator) -> bool {
        if self.machine.shifts.iter().all(|s| *s == 0.0) {
            return false;
        }
        let (mut y, mut yp) = (self.y.clone(), self.yp.clone());
        if self.machine.watches_slopes {
            let mut at = Point {
                machine: &mut self.machine,
                t: self.t,
                y: &mut y,
                yp: &mut yp,
                nominal: &self.nominal,
            };
            let (border, system) = (self.border.as_ref(), &mut self.restart);
            (self.interior).correct_for_relations(&mut at, system, border, bdf.factors());
        }
        let dropped = (self.events).drop_shifts(&mut self.machine, self.t, &y, &yp);
        self.machine.update(self.t, &self.y, &self.yp);
        dropped
    }

    fn check_standstill(
        &mut self,
        (crossings, confined): (&[usize], &[bool]),
        error: f64,
        settings: &Settings,
        summary: &Summary,
    ) -> Result<(), SimError> {
        let span = settings.stop - self.origin;
        let model = self.machine.model.clone();
        let of = |number: usize| crate::event::relation(&model, number);
        let mut verdict = None;
        for (&number, &confined) in crossings.iter().zip(confined) {
            let Some(r) = of(number) else { continue };
            let change = Change {
                number,
                value: self.machine.mem[r.base + number - r.first] == 0.0,
                t: self.t,
                error,
                confined,
            };
            if let Some(s) = self.watch.note(change, span) {
                verdict.get_or_insert((s, Some(number)));
            }
        }
        if summary.events > settings.max_events {
            let count = summary.events;
            verdict.get_or_insert((Standstill::Bound { count }, crossings.first().copied()));
        }
        let Some((why, number)) = verdict else {
            return Ok(());
        };
        let relation = number.and_then(of);
        Err(SimError::TooManyEvents {
            t: self.t,
            why,
            what: relation.map_or_else(
                || "a time event".to_string(),
                |r| condition_text(&model, r.expr),
            ),
            origin: relation.map(|r| r.origin),
        })
    }
}

/// Adds the current values of delayed and transported expressions to their histories.
pub(crate) fn record_delays(
    machine: &mut Machine,
    t: f64,
    y: &[f64],
    yp: &[f64],
) -> Result<(), SimError> {
    if machine.delays.is_empty() && machine.distributions.is_empty() {
        return Ok(());
    }
    let model = machine.model.clone();
    let mut first = 0;
    for (k, code) in model.events.delays.iter().enumerate() {
        machine.run(ProgramId::Delay(k), y, yp);
        let arguments = machine.out[..3 * code.len].to_vec();
        let recorded = machine.delays.record(t, first, &arguments, code.len);
        recorded.map_err(|(delay, longest)| SimError::Delay {
            t,
            delay,
            longest,
            origin: code.origin,
        })?;
        first += code.len;
    }
    let (mut first, event) = (0, !machine.delays.from_left);
    for (k, code) in model.events.spatials.iter().enumerate() {
        machine.run(ProgramId::Spatial(k), y, yp);
        let arguments = machine.out[..code.arguments_len()].to_vec();
        let lines = &mut machine.distributions;
        let recorded = lines.record(t, first, &arguments, code, event);
        recorded.map_err(|place| SimError::InitialPoints {
            place,
            origin: code.origin,
        })?;
        first += code.len;
    }
    Ok(())
}
