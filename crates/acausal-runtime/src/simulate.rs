//! The simulation loop: start, integrate, stop at events, give out values.
//!
//! [`simulate`] starts at consistent start values, [`resume`] at a [`Checkpoint`]. Both then alternate between the
//! integrator and the event iteration: step until a relation changes or an instant that is known in advance is reached
//! exactly, write the row from the left, handle the event, write the row from the right, start the integrator again.

use std::sync::Arc;
use std::time::Instant;

use acausal_compiled::{Compiled, fixed};
use acausal_cpu::FlushSubnormals;
use acausal_jit::kernel::Bank;
use acausal_solver::{Integrator, StepOutcome};

use crate::at_event::record_delays;
use crate::bordered::Bordered;
use crate::checkpoint::Checkpoint;
use crate::consistent::Point;
use crate::event::watch::Watch;
use crate::event::{EventContext, EventOutcome, EventState};
use crate::few::FewSignals;
use crate::history::Recent;
use crate::initial::{
    check_parameters, follow_homotopy, initial_system, restart_system, roles, start_data,
};
use crate::interior::Interior;
use crate::limits::check_samples;
use crate::machine::{Machine, Which};
use crate::trace::Tracer;
use crate::watched::Watched;
use crate::{Seconds, Settings, SimError, Sink, Summary};

/// Bound on the solutions of the start because of delays.
const MOST_DELAY_ROUNDS: usize = 20;

/// Simulates a compiled model and gives every output row to the sink.
pub fn simulate(
    model: Arc<Compiled>,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    settings.check()?;
    let _flush = FlushSubnormals::begin();
    let (mut machine, mut summary) = prepare(model, settings.threads)?;
    machine.set_span(settings.start, settings.stop);
    let clock = Instant::now();
    machine.set_parameters();
    machine.check_objects()?;
    let failure = machine.function_failure();
    // Where some are unknown before the start, others may depend on them.
    let given = !machine.model.initial.parameters_wait();
    if given {
        check_parameters(&machine).map_err(|e| e.because(failure.reason()))?;
    }
    let data = start_data(&machine)?;
    let run = Run::start(machine, data, settings, &mut summary)
        .map_err(|e| e.because(failure.reason()))?;
    if !given {
        check_parameters(&run.machine).map_err(|e| e.because(failure.reason()))?;
    }
    summary.seconds.initialise = clock.elapsed().as_secs_f64();
    run.complete(settings, sink, summary)
        .map_err(|e| e.because(failure.reason()))
}

/// Continues from a checkpoint of the same model until `settings.stop`; `settings.start` is not used.
pub fn resume(
    model: Arc<Compiled>,
    checkpoint: &Checkpoint,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    let settings = Settings {
        start: checkpoint.t,
        ..settings.clone()
    };
    settings.check()?;
    let _flush = FlushSubnormals::begin();
    let (mut machine, mut summary) = prepare(model, settings.threads)?;
    machine.set_span(settings.start, settings.stop);
    let clock = Instant::now();
    machine.set_parameters();
    machine.check_objects()?;
    let failure = machine.function_failure();
    let run = Run::resume(machine, checkpoint, &settings, &mut summary)
        .map_err(|e| e.because(failure.reason()))?;
    summary.seconds.initialise = clock.elapsed().as_secs_f64();
    run.complete(&settings, sink, summary)
        .map_err(|e| e.because(failure.reason()))
}

fn prepare(model: Arc<Compiled>, threads: Option<usize>) -> Result<(Machine, Summary), SimError> {
    let clock = Instant::now();
    let mut summary = Summary {
        unknowns: model.n - stand_in(&model),
        states: roles(&model)
            .iter()
            .filter(|r| **r == acausal_expr::unknown::Role::State)
            .count()
            - stand_in(&model),
        ..Summary::default()
    };
    let backend = acausal_jit::default_backend();
    // Two are what measurements speak for (docs/scale.md): more of them wait for the same memory.
    let some = || {
        std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(2)
    };
    let machine = Machine::with_threads(model, &*backend, threads.unwrap_or_else(some))?;
    summary.seconds.codegen = clock.elapsed().as_secs_f64();
    Ok((machine, summary))
}

/// Number of unknowns that stand in for those of a model without any.
fn stand_in(model: &Compiled) -> usize {
    let is = |u: &&acausal_expr::unknown::Unknown| {
        u.value.is_some_and(|q| {
            model.symbols.var(q.0).auxiliary && u.role == acausal_expr::unknown::Role::State
        })
    };
    model.unknowns.iter().filter(is).map(|u| u.len).sum()
}

/// A simulation under way.
pub(crate) struct Run {
    pub machine: Machine,
    pub events: EventState,
    pub restart: crate::consistent::ConsistentSystem,
    pub nominal: Vec<f64>,
    pub t: f64,
    pub y: Vec<f64>,
    pub yp: Vec<f64>,
    /// The integrator is at `t`, `y` and `yp` are not.
    behind: bool,
    /// Where the grid of output instants begins.
    pub origin: f64,
    /// A time that is long for the model: [`REACH_STEPS`] times the longest step so far, at first what the slopes say ([`reach`]). What is looked at a short time ahead is
    /// a fraction of it. (Neither the distance of output rows nor the stop time says anything about a model.)
    pub reach: Option<f64>,
    /// Index of the next output instant.
    pub next_output: u64,
    /// Recent events, to notice a standstill.
    pub(crate) watch: Watch,
    /// Whether solutions meet.
    meeting: crate::consistent::Meeting,
    /// What keeps unknowns where they are that the equations leave open.
    pub(crate) border: Option<Bordered>,
    /// Sets of open unknowns that have been reported.
    pub(crate) reported: Vec<Vec<u32>>,
    /// Functions have assertions that only warn.
    pub(crate) functions_warn: bool,
    /// The last text of everything that is printed outside of `when`.
    pub(crate) printed: Vec<String>,
    /// What delays and distributions keep, at the last steps.
    pub(crate) recent: Recent,
    /// A jump to another solution has been reported.
    pub(crate) jumped: bool,
    /// Output rows are made consistent with the equations: there are unknowns that the error test does not control between steps.
    pub corrects_rows: bool,
    /// Rows show derivatives, or variables that depend on them: these are made exact, too.
    pub slopes: bool,
    pub interior: Interior,
    /// Rows that could not be made consistent: their number, and the time of the first.
    pub(crate) astray: Option<(u64, f64)>,
    /// What output rows need, where that is little.
    pub(crate) few: Option<FewSignals>,
    /// `Mem`, `y` and `y'` of the start, if a relation changes right after it: then there are two rows.
    pub(crate) start_row: Option<Box<[Vec<f64>; 3]>>,
    pub seconds: Seconds,
    pub(crate) tracer: Tracer,
}

impl Run {
    fn start(
        mut machine: Machine,
        data: crate::initial::StartData,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<Run, SimError> {
        let t = settings.start;
        let mut y = data.y.clone();
        let mut yp = data.yp.clone();
        machine.mem[fixed::TIME] = t;
        machine.mem[fixed::INITIAL] = 1.0;
        let mut events = EventState::new(&mut machine, t)?;
        machine.start_timetable(t);
        // Relations first see the start values, so that the first solution uses the branches they select.
        machine.update(t, &y, &yp);
        record_delays(&mut machine, t, &y, &yp)?;
        machine.update(t, &y, &yp);
        events.refresh_start(&mut machine, &y, &yp);
        EventState::copy_left_limits(&mut machine, &y, &yp);
        machine.run(Which::InitialDiscrete, &y, &yp);
        machine.run(Which::Discrete, &y, &yp);
        let (mut initial, notes) = initial_system(&mut machine, &data, t, settings.steady_state)?;
        summary.notes.extend(notes);
        if machine.model.initial.homotopy {
            let guess = (&mut y, &mut yp);
            follow_homotopy(&mut machine, &events, &mut initial, &data, t, guess);
        }
        // Before the start a delayed expression has the value it has at the start, which the solution may change.
        let mut failure = None;
        for _ in 0..MOST_DELAY_ROUNDS {
            let mut at = Point {
                machine: &mut machine,
                t,
                y: &mut y,
                yp: &mut yp,
                nominal: &data.nominal,
            };
            let solved = initial.solve(&mut at, &data, &mut summary.notes);
            if let Err(error) = solved {
                // The start values may choose branches that have no solution. The event iteration below looks for others.
                if !events.has_choices(&machine) {
                    return Err(error);
                }
                (y, yp) = (data.y.clone(), data.yp.clone());
                failure = Some(error);
                break;
            }
            machine.forget_histories();
            record_delays(&mut machine, t, &y, &yp)?;
            if !machine.histories_change(t, &y, &yp) {
                break;
            }
        }
        machine.update(t, &y, &yp);
        events.start_clocks(&mut machine, t)?;
        check_samples(&events, &machine.model, settings)?;
        let now = reach(&machine, &data.nominal, &y, &yp);
        let mut ctx = EventContext {
            machine: &mut machine,
            system: &mut initial.system,
            t,
            y: &mut y,
            yp: &mut yp,
            nominal: &data.nominal,
            tolerance: settings.tolerance,
            reach: now.unwrap_or(UNKNOWN_REACH),
        };
        let outcome = match (events.initialise(&mut ctx), failure) {
            (Err(SimError::Initialisation(_) | SimError::Chattering { .. }), Some(first)) => {
                return Err(first);
            }
            (outcome, _) => outcome?,
        };
        absorb(summary, outcome);
        let redundant = initial.redundant(&mut machine, &data, t, &y, &yp)?;
        summary.notes.extend(redundant);
        let remarks = initial.system.remarks().iter().cloned();
        summary
            .notes
            .extend(remarks.map(|text| crate::Note { text }));
        machine.forget_histories();
        record_delays(&mut machine, t, &y, &yp)?;
        // Only events ask for the Jacobian of the start again; it is made anew then.
        machine.initial = Default::default();
        let open = initial.system.loose().cloned();
        drop(initial);
        let restart = restart_system(&machine)?;
        let mut run = Run::new(machine, events, restart, data.nominal, settings);
        run.reach = reach(&run.machine, &run.nominal, &y, &yp);
        (run.y, run.yp) = (y, yp);
        run.first_events(settings, summary)?;
        run.machine.update(run.t, &run.y, &run.yp);
        run.check_finite(run.t)?;
        if open.is_some() {
            run.restart.set_lenient(true);
            run.slopes(settings, &[]);
            run.restart.set_lenient(false);
            run.keep_open(open, settings, summary)?;
        }
        Ok(run)
    }

    /// A run at the start time without values yet.
    pub(crate) fn new(
        mut machine: Machine,
        events: EventState,
        restart: crate::consistent::ConsistentSystem,
        nominal: Vec<f64>,
        settings: &Settings,
    ) -> Run {
        machine.delays.tolerance = settings.tolerance;
        machine.distributions.tolerance = settings.tolerance;
        let roles = roles(&machine.model);
        let slopes = machine.model.uses_slopes();
        Run {
            functions_warn: machine.functions_warn(),
            printed: Vec::new(),
            recent: Recent::default(),
            corrects_rows: roles
                .iter()
                .any(|r| *r != acausal_expr::unknown::Role::State)
                || slopes,
            slopes,
            interior: Interior::new(crate::integrator::accuracy(settings, &roles)),
            astray: None,
            machine,
            events,
            restart,
            nominal,
            t: settings.start,
            y: Vec::new(),
            yp: Vec::new(),
            behind: false,
            origin: settings.start,
            reach: None,
            next_output: 0,
            watch: Watch::default(),
            meeting: crate::consistent::Meeting::default(),
            border: None,
            reported: Vec::new(),
            jumped: false,
            start_row: None,
            seconds: Seconds::default(),
            few: None,
            tracer: Tracer::new(settings.trace),
        }
    }

    pub(crate) fn context<'a>(
        &'a mut self,
        settings: &Settings,
    ) -> (&'a mut EventState, EventContext<'a>) {
        let ctx = EventContext {
            machine: &mut self.machine,
            system: &mut self.restart,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
            tolerance: settings.tolerance,
            reach: self.reach.unwrap_or(UNKNOWN_REACH),
        };
        (&mut self.events, ctx)
    }

    /// Integrates to the end.
    fn complete(
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
            self.few = FewSignals::new(&self.machine, wanted)?;
        }
        self.machine.profiles = settings.profile;
        let result = self.integrate(settings, sink, &mut summary);
        summary.notes.extend(self.astray_note());
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
            let found = self.restart.loose().cloned();
            // A checkpoint does not say whether something was open.
            self.restart.set_lenient(true);
            let first_step = self.slopes(settings, &[]);
            self.restart.set_lenient(false);
            self.keep_open(found, settings, summary)?;
            let mut bdf = self.integrator(settings)?;
            bdf.limit_first_step(first_step);
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
        let stop = settings.stop;
        let checkpoint_at = settings.checkpoint_at.unwrap_or(f64::INFINITY);
        let mut next_event =
            self.events
                .next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
        self.machine.delays.from_left = true;
        let watched = self.watched();
        while self.t < stop && summary.terminated.is_none() {
            let mut target = stop.min(next_event);
            if checkpoint_at > self.t {
                target = target.min(checkpoint_at);
            }
            let before =
                (self.border.as_ref()).map(|_| (bdf.t(), bdf.y().to_vec(), bdf.yp().to_vec()));
            let mut model = Watched {
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
                // The equations determine it now.
                self.border = None;
                bdf.restart(t, &y, &yp).map_err(SimError::Integrator)?;
                continue;
            }
            self.tracer.step(bdf, &self.machine.model, sink);
            let outcome = match stepped {
                Ok(outcome) => outcome,
                Err(error) => {
                    self.follow(bdf);
                    if !self.jump(&error, target, settings, sink, summary)? {
                        let error = self.explain(error);
                        self.last_row(settings, sink);
                        return Err(error);
                    }
                    self.meeting.forget();
                    self.restart_integrator(bdf, &[], settings, summary)?;
                    next_event =
                        self.events
                            .next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
                    continue;
                }
            };
            let met = (self.meeting).look(
                &mut self.restart,
                &mut self.machine,
                bdf,
                self.t,
                &self.nominal,
            );
            if let Err(failure) = met {
                let until = failure.t.max(self.t);
                self.outputs_before(bdf, until, buffers, settings, sink, summary)?;
                return Err(SimError::Initialisation(failure));
            }
            let reached = bdf.t();
            self.outputs_before(bdf, reached, buffers, settings, sink, summary)?;
            self.refine_histories(bdf, reached, buffers, settings.tolerance)?;
            let long = REACH_STEPS * (reached - self.t);
            self.reach = Some(self.reach.map_or(long, |r| r.max(long)));
            self.t = reached;
            self.behind = true;
            if outcome == StepOutcome::Roots {
                self.follow(bdf);
                self.correct_crossing(bdf);
            }
            if watched {
                self.follow(bdf);
                let mut noted = EventOutcome::default();
                self.machine.update(self.t, &self.y, &self.yp);
                self.check_finite(self.t)?;
                let at = (self.t, &self.y[..], &self.yp[..]);
                (self.events).check_asserts(&mut self.machine, at, false, &mut noted)?;
                absorb(summary, noted);
                self.note_function_warnings(summary);
            }
            // An indicator is positive while its relation is as its cell says. Whatever is negative after a step, found as a
            // crossing or not, belongs to a cell that no longer holds.
            let (crossings, passed) = self.crossings(bdf, outcome);
            let by_time = self.t >= next_event;
            let pauses = self.t == checkpoint_at;
            if !crossings.is_empty() || !passed.is_empty() || by_time {
                self.follow(bdf);
                if outcome != StepOutcome::Roots {
                    self.correct_end(bdf);
                }
                let clock = Instant::now();
                self.event(&crossings, &passed, settings, sink, summary)?;
                self.meeting.forget();
                if !pauses {
                    self.restart_integrator(bdf, &crossings, settings, summary)?;
                }
                self.seconds.events += clock.elapsed().as_secs_f64();
                next_event =
                    self.events
                        .next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
            } else {
                record_delays(&mut self.machine, self.t, &self.y, &self.yp)?;
                if self.drop_shifts(bdf) {
                    bdf.forget_roots();
                }
            }
            self.note_prints(summary);
            hand_over_prints(summary, sink);
            sink.progress(self.t);
            if sink.interrupted() {
                self.follow(bdf);
                summary.interrupted = true;
                if settings.checkpoint {
                    summary.checkpoint = Some(self.checkpoint(settings));
                }
                return Ok(Pause::End);
            }
            if pauses {
                self.follow(bdf);
                // A continuation does not have them.
                self.recent = Recent::default();
                summary.checkpoint = Some(self.checkpoint(settings));
                if self.t < stop {
                    return Ok(Pause::Checkpoint);
                }
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

    /// Relations that are no longer as their cells say, and indicators of delays at whose end something comes out.
    fn crossings(&self, bdf: &dyn Integrator, outcome: StepOutcome) -> (Vec<usize>, Vec<usize>) {
        let mut crossings = bdf.negative_roots();
        if outcome == StepOutcome::Roots {
            let falling = bdf.found_roots().iter().filter(|c| !c.rising);
            crossings.extend(falling.map(|c| c.index));
        }
        crossings.sort_unstable();
        crossings.dedup();
        let watched = &self.machine.watched;
        let passed = crossings.split_off(crossings.partition_point(|k| *k < watched.len()));
        (
            crossings.into_iter().map(|k| watched[k]).collect(),
            passed.into_iter().map(|k| k - watched.len()).collect(),
        )
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
    fn last_row(&mut self, settings: &Settings, sink: &mut dyn Sink) {
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
    fn explain(&mut self, e: acausal_solver::SolverError) -> SimError {
        use acausal_solver::{SolverError, StepLimit};
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

/// Steps that are a long time for a model: a run of few of them.
const REACH_STEPS: f64 = 100.0;

/// The same in seconds before anything has moved.
pub(crate) const UNKNOWN_REACH: f64 = 1.0;

/// A time that is long for the model before it has made a step: in which its fastest state would change by its own size.
fn reach(machine: &Machine, nominal: &[f64], y: &[f64], yp: &[f64]) -> Option<f64> {
    let roles = roles(&machine.model);
    let states = (0..y.len()).filter(|&k| roles[k] == acausal_expr::unknown::Role::State);
    let times = states.map(|k| (y[k].abs() + nominal[k]) / yp[k].abs());
    let shortest = times.fold(f64::INFINITY, f64::min);
    // Or nothing moves, or what moves is no number.
    (shortest > 0.0 && shortest.is_finite()).then_some(shortest)
}

/// What the model has printed since the last time.
fn hand_over_prints(summary: &mut Summary, sink: &mut dyn Sink) {
    if !summary.printed.is_empty() {
        summary.printed.retain(|text| !sink.print(text));
    }
}

/// Why [`Run::advance`] returns.
enum Pause {
    /// The simulation is over.
    End,
    /// A checkpoint was taken on the way.
    Checkpoint,
}

pub(crate) fn absorb(summary: &mut Summary, outcome: EventOutcome) {
    for w in outcome.warnings {
        if summary.warnings.last() != Some(&w) && summary.warnings.len() < 100 {
            summary.warnings.push(w);
        }
    }
    summary.printed.extend(outcome.printed);
    if let Some(message) = outcome.terminate {
        summary.terminated.get_or_insert(message);
    }
}
