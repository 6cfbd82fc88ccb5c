//! The simulation loop: start, integrate, stop at events, give out values.

use std::sync::Arc;
use std::time::Instant;

use acausal_codegen::{Compiled, Loc, fixed};
use acausal_jit::kernel::Bank;
use acausal_solver::{Bdf, BdfOptions, Integrator, RootCrossing, StepOutcome};

use crate::error::condition_text;
use crate::event::{EventContext, EventOutcome, EventState, check_asserts};
use crate::initial::{initial_system, restart_system, roles, start_data};
use crate::machine::{Machine, Which};
use crate::{Settings, SimError, Sink, Summary};

/// More events than this within [`ZENO_WINDOW`] of the time span count as a standstill.
const ZENO_EVENTS: u64 = 2_000;
/// See [`ZENO_EVENTS`].
const ZENO_WINDOW: f64 = 1e-9;
/// Step for slopes of algebraic unknowns, as a fraction of the time span: near the square root of the precision.
const SLOPE_STEP: f64 = 1e-8;

/// Models with more unknowns write interpolated derivatives.
const REFINE_LIMIT: usize = 500;

/// Simulates a compiled model and gives every output row to the sink.
pub fn simulate(
    model: Arc<Compiled>,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    settings.check()?;
    let mut summary = Summary {
        unknowns: model.n - stand_in(&model),
        ..Summary::default()
    };
    let clock = Instant::now();
    let backend = acausal_jit::default_backend();
    let mut machine = Machine::new(model.clone(), &*backend)?;
    summary.seconds.codegen = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    machine.set_parameters();
    let data = start_data(&machine)?;
    let failure = machine.function_failure();
    let mut run = Run::start(machine, data, settings, &mut summary)
        .map_err(|e| e.because(failure.reason()))?;
    summary.seconds.initialise = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    sink.begin(&run.machine, &run.y, &run.yp)
        .map_err(SimError::Output)?;
    let result = run
        .integrate(settings, sink, &mut summary)
        .map_err(|e| e.because(failure.reason()));
    summary.seconds.integrate = clock.elapsed().as_secs_f64();
    result.map(|()| summary)
}

/// Number of unknowns that stand in for those of a model without any.
fn stand_in(model: &Compiled) -> usize {
    let is = |u: &&acausal_index1::Unknown| {
        u.value
            .is_some_and(|q| model.flat.var(q.0).auxiliary && u.role == acausal_index1::Role::State)
    };
    model.unknowns.iter().filter(is).map(|u| u.len).sum()
}

struct Run {
    machine: Machine,
    events: EventState,
    restart: crate::consistent::ConsistentSystem,
    nominal: Vec<f64>,
    t: f64,
    y: Vec<f64>,
    yp: Vec<f64>,
    /// Index of the next output instant.
    next_output: u64,
    /// Instant and number of recent events, to notice a standstill.
    zeno: (f64, u64),
    /// Output rows are made consistent with the equations.
    refines: bool,
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
        summary.states = roles(&machine.model)
            .iter()
            .filter(|r| **r == acausal_index1::Role::State)
            .count()
            - stand_in(&machine.model);
        record_delays(&mut machine, t, &y, &yp);
        // Relations first see the start values, so that the first solution uses the branches they select.
        machine.update(t, &y, &yp);
        events.refresh_cells(&mut machine, &y, &yp, &[], true);
        machine.run(Which::InitialDiscrete, &y, &yp);
        machine.run(Which::Discrete, &y, &yp);
        let (mut initial, notes) = initial_system(&mut machine, &data, t, settings.steady_state)?;
        summary.notes.extend(notes);
        initial
            .system
            .solve(&mut machine, t, &mut y, &mut yp, &data.nominal)
            .map_err(SimError::Initialisation)?;
        let mut ctx = EventContext {
            machine: &mut machine,
            system: &mut initial.system,
            t,
            y: &mut y,
            yp: &mut yp,
            nominal: &data.nominal,
        };
        let outcome = events.handle(&mut ctx, &[], true)?;
        absorb(summary, outcome);
        let redundant = initial.redundant(&mut machine, &data, t, &y, &yp)?;
        summary.notes.extend(redundant);
        let remarks = initial.system.remarks().iter().cloned();
        summary
            .notes
            .extend(remarks.map(|text| crate::Note { text }));
        record_delays(&mut machine, t, &y, &yp);
        let restart = restart_system(&machine)?;
        let refines = machine.model.n <= REFINE_LIMIT && machine.model.uses_slopes();
        let mut run = Run {
            refines,
            machine,
            events,
            restart,
            nominal: data.nominal,
            t,
            y,
            yp,
            next_output: 0,
            zeno: (t, 0),
        };
        run.first_samples(summary)?;
        run.machine.update(run.t, &run.y, &run.yp);
        run.check_finite(run.t)?;
        run.algebraic_slopes(settings);
        Ok(run)
    }

    /// `sample(start, ...)` with the start at the start of the simulation: an event right after initialisation.
    fn first_samples(&mut self, summary: &mut Summary) -> Result<(), SimError> {
        let changes =
            self.events
                .time_relation_is_due(&mut self.machine, self.t, &self.y, &self.yp);
        let asked = self.machine.model.initial.asks_initial;
        let due = changes || self.events.sample_is_due(self.t);
        if !due && !asked {
            return Ok(());
        }
        let mut ctx = EventContext {
            machine: &mut self.machine,
            system: &mut self.restart,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
        };
        let outcome = self.events.handle(&mut ctx, &[], false)?;
        summary.events += u64::from(due);
        absorb(summary, outcome);
        Ok(())
    }

    /// Estimates the derivatives of algebraic unknowns by a short step of the states; the integrator predicts with
    /// them, and a wrong slope would look like a large error in the first steps.
    fn algebraic_slopes(&mut self, settings: &Settings) {
        let roles = roles(&self.machine.model);
        if !roles.contains(&acausal_index1::Role::Algebraic) {
            return;
        }
        let h = SLOPE_STEP * (settings.stop - settings.start);
        let (mut y, mut yp) = (self.y.clone(), self.yp.clone());
        for (k, role) in roles.iter().enumerate() {
            if *role == acausal_index1::Role::State {
                y[k] += h * self.yp[k];
            }
        }
        // Without a solution nearby the slopes stay zero, which is safe but slow.
        let found = h > 0.0
            && self
                .restart
                .solve(
                    &mut self.machine,
                    self.t + h,
                    &mut y,
                    &mut yp,
                    &self.nominal,
                )
                .is_ok();
        for (k, role) in roles.iter().enumerate() {
            if *role == acausal_index1::Role::Algebraic {
                self.yp[k] = if found { (y[k] - self.y[k]) / h } else { 0.0 };
            }
        }
        self.machine.update(self.t, &self.y, &self.yp);
    }

    fn integrate(
        &mut self,
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        let mut bdf = self.integrator(settings)?;
        self.row(self.t, sink)?;
        self.next_output = 1;
        let mut buffers = (self.y.clone(), self.yp.clone());
        let result = self.advance(&mut *bdf, &mut buffers, settings, sink, summary);
        let s = bdf.statistics();
        summary.steps = s.steps;
        summary.residual_evaluations = s.residual_evaluations;
        summary.jacobian_evaluations = s.jacobian_evaluations;
        summary.factorisations = s.factorisations;
        summary.error_test_failures = s.error_test_failures;
        summary.convergence_failures = s.convergence_failures;
        summary.steps_by_order = s.steps_by_order;
        summary.reached = self.t;
        result
    }

    fn advance(
        &mut self,
        bdf: &mut dyn Integrator,
        buffers: &mut (Vec<f64>, Vec<f64>),
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        let stop = settings.stop;
        let mut next_event =
            self.events
                .next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
        while self.t < stop && summary.terminated.is_none() {
            let target = stop.min(next_event);
            let outcome = bdf
                .step(&mut self.machine, target)
                .map_err(|e| self.name(e))?;
            self.outputs_before(bdf, bdf.t(), buffers, settings, sink)?;
            self.t = bdf.t();
            self.y.copy_from_slice(bdf.y());
            self.yp.copy_from_slice(bdf.yp());
            let mut noted = EventOutcome::default();
            self.machine.update(self.t, &self.y, &self.yp);
            self.check_finite(self.t)?;
            check_asserts(&mut self.machine, self.t, &self.y, &self.yp, &mut noted)?;
            absorb(summary, noted);
            let crossings: Vec<RootCrossing> = match outcome {
                StepOutcome::Roots => bdf.found_roots().to_vec(),
                _ => Vec::new(),
            };
            let by_time = self.t >= next_event;
            if !crossings.is_empty() || by_time {
                self.event(bdf, &crossings, settings, sink, summary)?;
                next_event =
                    self.events
                        .next_time_event(&mut self.machine, self.t, &self.y, &self.yp);
            } else {
                record_delays(&mut self.machine, self.t, &self.y, &self.yp);
            }
            sink.progress(self.t);
            if sink.interrupted() {
                summary.interrupted = true;
                return Ok(());
            }
        }
        // The last point, unless an output or event row stands there already.
        self.machine.mem[fixed::TERMINAL] = 1.0;
        self.machine.update(self.t, &self.y, &self.yp);
        if self.output_time(settings, self.next_output - 1) < self.t {
            self.row(self.t, sink)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        bdf: &mut dyn Integrator,
        crossings: &[RootCrossing],
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        summary.events += 1;
        self.check_zeno(crossings, settings, summary)?;
        self.row(self.t, sink)?; // left limit
        record_delays(&mut self.machine, self.t, &self.y, &self.yp);
        let mut ctx = EventContext {
            machine: &mut self.machine,
            system: &mut self.restart,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
        };
        let outcome = self.events.handle(&mut ctx, crossings, false)?;
        absorb(summary, outcome);
        self.machine.update(self.t, &self.y, &self.yp);
        record_delays(&mut self.machine, self.t, &self.y, &self.yp);
        self.row(self.t, sink)?; // right limit
        // An output instant that coincides with the event has been written.
        while self.output_time(settings, self.next_output) <= self.t {
            self.next_output += 1;
        }
        self.algebraic_slopes(settings);
        bdf.restart(self.t, &self.y, &self.yp)
            .map_err(SimError::Integrator)
    }

    fn check_zeno(
        &mut self,
        crossings: &[RootCrossing],
        settings: &Settings,
        summary: &Summary,
    ) -> Result<(), SimError> {
        let window = ZENO_WINDOW * (settings.stop - settings.start);
        if self.t - self.zeno.0 > window {
            self.zeno = (self.t, 0);
        }
        self.zeno.1 += 1;
        if self.zeno.1 <= ZENO_EVENTS && summary.events <= settings.max_events {
            return Ok(());
        }
        let model = &self.machine.model;
        let relation = crossings.first().and_then(|c| {
            model
                .events
                .relations
                .iter()
                .find(|r| c.index >= r.first && c.index < r.first + r.len)
        });
        Err(SimError::TooManyEvents {
            t: self.t,
            events: summary.events,
            what: relation.map_or_else(
                || "a time event".to_string(),
                |r| condition_text(model, r.expr),
            ),
            origin: relation.map(|r| r.origin),
        })
    }

    /// Output rows between the last step and `t` (exclusive), by interpolation.
    fn outputs_before(
        &mut self,
        bdf: &dyn Integrator,
        t: f64,
        buffers: &mut (Vec<f64>, Vec<f64>),
        settings: &Settings,
        sink: &mut dyn Sink,
    ) -> Result<(), SimError> {
        loop {
            let at = self.output_time(settings, self.next_output);
            if at > t || at > settings.stop {
                return Ok(());
            }
            bdf.interpolate(at, &mut buffers.0, &mut buffers.1);
            self.refine(at, &mut buffers.0, &mut buffers.1);
            self.machine.update(at, &buffers.0, &buffers.1);
            // A step may be long; the first row that is not finite tells the time better than its end.
            self.check_finite(at)?;
            sink.row(at, &self.machine, &buffers.0, &buffers.1)
                .map_err(SimError::Output)?;
            self.next_output += 1;
        }
    }

    /// Residuals are watched by the integrator; variables that are assigned explicitly are watched here.
    fn check_finite(&self, t: f64) -> Result<(), SimError> {
        match self.machine.not_finite() {
            None => Ok(()),
            Some((place, origin)) => Err(SimError::NotFinite {
                t,
                name: self.machine.model.name_of(Loc::new(Bank::Mem, place)),
                value: self.machine.mem[place],
                origin,
            }),
        }
    }

    /// Derivatives from an interpolation polynomial are less accurate than the states. Where variables depend on them,
    /// they are computed from the equations instead; for large models that would cost too much.
    fn refine(&mut self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        if self.refines
            && self
                .restart
                .solve(&mut self.machine, t, y, yp, &self.nominal)
                .is_err()
        {
            // Near a singularity the interpolated values are the best there is.
            self.refines = false;
        }
    }

    fn output_time(&self, settings: &Settings, k: u64) -> f64 {
        let t = settings.start + k as f64 * settings.interval;
        // The last instant is the stop time itself, not a rounding error beside it.
        if (t - settings.stop).abs() < 1e-9 * settings.interval {
            settings.stop
        } else {
            t
        }
    }

    fn row(&mut self, t: f64, sink: &mut dyn Sink) -> Result<(), SimError> {
        sink.row(t, &self.machine, &self.y, &self.yp)
            .map_err(SimError::Output)
    }

    fn integrator(&self, settings: &Settings) -> Result<Box<dyn Integrator>, SimError> {
        let options = self.options(settings);
        match settings.solver {
            crate::Solver::Bdf => Bdf::new(options, self.t, &self.y, &self.yp)
                .map(|b| Box::new(b) as Box<dyn Integrator>)
                .map_err(SimError::Integrator),
            #[cfg(feature = "sundials")]
            crate::Solver::Ida => acausal_solver::Ida::new(options, self.t, &self.y, &self.yp)
                .map(|b| Box::new(b) as Box<dyn Integrator>)
                .map_err(SimError::Integrator),
            #[cfg(not(feature = "sundials"))]
            crate::Solver::Ida => Err(SimError::Settings(
                "this program was built without IDA; build it with `--features sundials`".into(),
            )),
        }
    }

    fn options(&self, settings: &Settings) -> BdfOptions {
        use acausal_index1::Role;
        let roles = roles(&self.machine.model);
        let excluded = roles.contains(&Role::Mu);
        let states = roles.contains(&Role::State);
        let mut max_step = self.machine.delays.shortest();
        if self.machine.model.unknowns.iter().all(|u| {
            u.value
                .is_none_or(|q| self.machine.model.flat.var(q.0).auxiliary)
        }) {
            // Nothing limits the step of a model without unknowns, and its relations must still be seen.
            max_step = max_step.min(settings.interval);
        }
        BdfOptions {
            rtol: settings.tolerance,
            atol: self
                .nominal
                .iter()
                .map(|n| settings.tolerance * ABSOLUTE_FRACTION * n)
                .collect(),
            // Multipliers stall the step size control; algebraic unknowns follow from the states, and a steep one would
            // cost steps without making the states better.
            error_test: roles
                .iter()
                .map(|r| match r {
                    Role::State | Role::Lambda => true,
                    Role::Algebraic => !states,
                    Role::Mu => false,
                })
                .collect(),
            max_step,
            max_steps: settings.max_steps,
            max_order: settings.max_order,
            newton_tolerance: if excluded {
                CONSTRAINED_NEWTON_TOLERANCE
            } else {
                BdfOptions::default().newton_tolerance
            },
            ..BdfOptions::default()
        }
    }

    /// An evaluation failure inside of a user function is named by the function.
    fn name(&mut self, e: acausal_solver::SolverError) -> SimError {
        SimError::Integrator(e)
    }
}

/// Constraints with multipliers hold only as well as the corrector converges (measured: 0.03 of the tolerance).
const CONSTRAINED_NEWTON_TOLERANCE: f64 = 0.01;

/// Absolute tolerance as a fraction of the relative one times the nominal value (as the seed's successor uses it).
const ABSOLUTE_FRACTION: f64 = 0.1;

fn absorb(summary: &mut Summary, outcome: EventOutcome) {
    for w in outcome.warnings {
        if summary.warnings.last() != Some(&w) && summary.warnings.len() < 100 {
            summary.warnings.push(w);
        }
    }
    if let Some(message) = outcome.terminate {
        summary.terminated.get_or_insert(message);
    }
}

/// Adds the current values of delayed expressions to their histories.
fn record_delays(machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) {
    if machine.delays.is_empty() {
        return;
    }
    let model = machine.model.clone();
    let mut first = 0;
    for (k, code) in model.events.delays.iter().enumerate() {
        machine.run(Which::Delay(k), y, yp);
        let arguments = machine.out[..3 * code.len].to_vec();
        machine.delays.record(t, first, &arguments, code.len);
        first += code.len;
    }
}

/// The values of all signals, for sinks.
pub fn gather(machine: &Machine, y: &[f64], yp: &[f64], places: &[Loc], values: &mut Vec<f64>) {
    values.clear();
    values.extend(places.iter().map(|&p| match p.bank() {
        Bank::Y => y[p.index()],
        Bank::Yp => yp[p.index()],
        Bank::Mem => machine.mem[p.index()],
        Bank::Out => f64::NAN,
    }));
}
