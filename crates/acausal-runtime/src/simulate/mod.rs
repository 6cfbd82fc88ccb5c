//! The simulation loop: start, integrate, stop at events, give out values.
//!
//! [`simulate`] starts at consistent start values, [`resume`] at a [`Checkpoint`]. Both then alternate between the
//! integrator and the event iteration: step until a relation changes or an instant that is known in advance is reached
//! exactly, write the row from the left, handle the event, write the row from the right, start the integrator again (`advance`).

mod advance;

use std::sync::Arc;
use std::time::Instant;

use acausal_compiled::{CompiledModel, fixed};
use acausal_cpu::FlushSubnormals;

use crate::at_event::record_delays;
use crate::bordered::Bordered;
use crate::checkpoint::Checkpoint;
use crate::consistent::Point;
use crate::event::watch::Watch;
use crate::event::{EventContext, EventOutcome, EventState};
use crate::history::RecentSamples;
use crate::initial::{
    check_parameters, follow_homotopy, initial_system, restart_system, roles, start_data,
};
use crate::inputs::Inputs;
use crate::interior::Interior;
use crate::limits::check_samples;
use crate::machine::{Machine, Prepared, ProgramId};
use crate::parameters::check_assumptions;
use crate::selected::SelectedSignals;
use crate::trace::Tracer;
use crate::{Seconds, Settings, SimError, Sink, Summary};

/// Bound on the solutions of the start because of delays.
const MOST_DELAY_ROUNDS: usize = 20;

/// Simulates a compiled model and gives every output row to the sink.
pub fn simulate(
    model: Arc<CompiledModel>,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    settings.check()?;
    let clock = Instant::now();
    let prepared = prepare(model, settings)?;
    let codegen = clock.elapsed().as_secs_f64();
    let mut summary = simulate_prepared(&prepared, settings, sink)?;
    summary.seconds.codegen += codegen;
    Ok(summary)
}

/// Simulates a model that has been prepared ([`prepare`]). Of the settings, `threads` and `scale` were decided then.
pub fn simulate_prepared(
    prepared: &Arc<Prepared>,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    settings.check()?;
    let _flush = FlushSubnormals::begin();
    let clock = Instant::now();
    let (machine, mut summary) = ready(prepared, settings)?;
    let failure = machine.function_failure();
    // Where some are unknown before the start, others may depend on them.
    let given = !machine.model.initial.parameters_wait();
    if given {
        check_parameters(&machine).map_err(|e| e.because(failure.reason()))?;
    }
    let data = start_data(&machine)?;
    let run = Simulation::start(machine, data, settings, &mut summary)
        .map_err(|e| e.because(failure.reason()))?;
    if !given {
        check_parameters(&run.machine).map_err(|e| e.because(failure.reason()))?;
    }
    summary.seconds.initialise = clock.elapsed().as_secs_f64() - summary.seconds.codegen;
    run.complete(settings, sink, summary)
        .map_err(|e| e.because(failure.reason()))
}

/// Continues from a checkpoint of the same model until `settings.stop`; `settings.start` is not used.
pub fn resume(
    model: Arc<CompiledModel>,
    checkpoint: &Checkpoint,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<Summary, SimError> {
    let clock = Instant::now();
    let prepared = prepare(model, settings)?;
    let codegen = clock.elapsed().as_secs_f64();
    let mut summary = resume_prepared(&prepared, checkpoint, settings, sink)?;
    summary.seconds.codegen += codegen;
    Ok(summary)
}

/// The same for a model that has been prepared ([`prepare`]).
pub fn resume_prepared(
    prepared: &Arc<Prepared>,
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
    let clock = Instant::now();
    let (machine, mut summary) = ready(prepared, &settings)?;
    let failure = machine.function_failure();
    let run = Simulation::resume(machine, checkpoint, &settings, &mut summary)
        .map_err(|e| e.because(failure.reason()))?;
    summary.seconds.initialise = clock.elapsed().as_secs_f64() - summary.seconds.codegen;
    run.complete(&settings, sink, summary)
        .map_err(|e| e.because(failure.reason()))
}

/// Makes a model ready to run with these settings (`threads` and `scale`), once for all simulations of it.
pub fn prepare(model: Arc<CompiledModel>, settings: &Settings) -> Result<Arc<Prepared>, SimError> {
    let backend = acausal_jit::default_backend();
    // Two are what measurements speak for (docs/scale.md): more of them wait for the same memory.
    let some = || {
        std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(2)
    };
    let threads = settings.threads.unwrap_or_else(some);
    Prepared::new(model, &*backend, threads, settings.scale).map(Arc::new)
}

/// A machine with the parameters and inputs of one simulation.
pub(crate) fn ready(
    prepared: &Arc<Prepared>,
    settings: &Settings,
) -> Result<(Machine, Summary), SimError> {
    let (mut machine, summary) = machine(prepared)?;
    machine.set_span(settings.start, settings.stop);
    machine.inputs = Inputs::new(prepared, &settings.inputs, settings.start)?;
    set_parameters(prepared, &mut machine, settings)?;
    machine.check_objects()?;
    Ok((machine, summary))
}

/// A machine for one simulation.
fn machine(prepared: &Arc<Prepared>) -> Result<(Machine, Summary), SimError> {
    let clock = Instant::now();
    let model = prepared.model();
    let mut summary = Summary {
        unknowns: model.n - stand_in(model),
        states: roles(model)
            .iter()
            .filter(|r| **r == acausal_expr::unknown::UnknownRole::State)
            .count()
            - stand_in(model),
        ..Summary::default()
    };
    let machine = prepared.machine()?;
    summary.seconds.codegen = clock.elapsed().as_secs_f64();
    Ok((machine, summary))
}

/// Computes parameters and attributes, those that the settings give apart.
fn set_parameters(
    prepared: &Prepared,
    machine: &mut Machine,
    settings: &Settings,
) -> Result<(), SimError> {
    let given = match settings.parameters.is_empty() {
        true => Vec::new(),
        false => prepared.resolve(&settings.parameters)?,
    };
    machine.set_parameters_to(&given)?;
    crate::inputs::at_start_values(prepared.model(), &mut machine.mem);
    match given.is_empty() {
        true => Ok(()),
        false => check_assumptions(machine).map_err(SimError::Assumption),
    }
}

/// Number of unknowns that stand in for those of a model without any.
fn stand_in(model: &CompiledModel) -> usize {
    let is = |u: &&acausal_expr::unknown::Unknown| {
        u.value.is_some_and(|q| {
            model.symbols.var(q.0).auxiliary && u.role == acausal_expr::unknown::UnknownRole::State
        })
    };
    model.unknowns.iter().filter(is).map(|u| u.len).sum()
}

/// A simulation under way.
pub(crate) struct Simulation {
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
    /// The distance in time on which the event indicators are smooth; infinite where it is not known.
    pub(crate) smooth: f64,
    /// Index of the next output instant.
    pub next_output: u64,
    /// Recent events, to notice a standstill.
    pub(crate) watch: Watch,
    /// Whether solutions meet.
    pub(crate) impasse: crate::consistent::ImpasseMonitor,
    /// What keeps unknowns where they are that the equations leave open.
    pub(crate) border: Option<Bordered>,
    /// Sets of open unknowns that have been reported.
    pub(crate) reported: Vec<Vec<u32>>,
    /// Functions have assertions that only warn.
    pub(crate) functions_warn: bool,
    /// The last text of everything that is printed outside of `when`.
    pub(crate) printed: Vec<String>,
    /// What delays and distributions keep, at the last steps.
    pub(crate) recent: RecentSamples,
    /// A jump to another solution has been reported.
    pub(crate) jumped: bool,
    /// Output rows are made consistent with the equations: there are unknowns that the error test does not control between steps.
    pub corrects_rows: bool,
    /// Rows show derivatives, or variables that depend on them: these are made exact, too.
    pub slopes: bool,
    pub interior: Interior,
    /// Rows that could not be made consistent: their number, and the time of the first.
    pub(crate) uncorrected: Option<(u64, f64)>,
    /// What output rows need, where that is little.
    pub(crate) selected: Option<SelectedSignals>,
    /// `Mem`, `y` and `y'` of the start, if a relation changes right after it: then there are two rows.
    pub(crate) start_row: Option<Box<[Vec<f64>; 3]>>,
    pub seconds: Seconds,
    pub(crate) tracer: Tracer,
}

impl Simulation {
    fn start(
        mut machine: Machine,
        data: crate::initial::StartData,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<Simulation, SimError> {
        let t = settings.start;
        let mut y = data.y.clone();
        let mut yp = data.yp.clone();
        machine.set_time(t);
        machine.mem[fixed::INITIAL] = 1.0;
        let mut events = EventState::new(&mut machine, t)?;
        machine.start_timetable(t);
        // Relations first see the start values, so that the first solution uses the branches they select.
        machine.update(t, &y, &yp);
        record_delays(&mut machine, t, &y, &yp)?;
        machine.update(t, &y, &yp);
        events.refresh_start(&mut machine, &y, &yp);
        EventState::copy_left_limits(&mut machine, &y, &yp);
        machine.run(ProgramId::InitialDiscrete, &y, &yp);
        machine.run(ProgramId::Discrete, &y, &yp);
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
        let open = initial.system.underdetermined().cloned();
        drop(initial);
        let restart = restart_system(&machine)?;
        let mut run = Simulation::new(machine, events, restart, data.nominal, settings);
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
    ) -> Simulation {
        machine.delays.tolerance = settings.tolerance;
        machine.distributions.tolerance = settings.tolerance;
        let roles = roles(&machine.model);
        let slopes = machine.model.uses_slopes();
        Simulation {
            functions_warn: machine.functions_warn(),
            printed: Vec::new(),
            recent: RecentSamples::default(),
            corrects_rows: roles
                .iter()
                .any(|r| *r != acausal_expr::unknown::UnknownRole::State)
                || slopes,
            slopes,
            interior: Interior::new(crate::integrator::accuracy(settings, &roles)),
            uncorrected: None,
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
            smooth: f64::INFINITY,
            next_output: 0,
            watch: Watch::default(),
            impasse: crate::consistent::ImpasseMonitor::default(),
            border: None,
            reported: Vec::new(),
            jumped: false,
            start_row: None,
            seconds: Seconds::default(),
            selected: None,
            tracer: Tracer::new(settings.trace),
        }
    }

    pub(crate) fn context<'a>(
        &'a mut self,
        settings: &Settings,
    ) -> (&'a mut EventState, EventContext<'a>) {
        let reach = self.reach.unwrap_or(UNKNOWN_REACH);
        let ctx = EventContext {
            machine: &mut self.machine,
            system: &mut self.restart,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
            tolerance: settings.tolerance,
            reach: reach.min(REACH_SMOOTH * self.smooth),
        };
        (&mut self.events, ctx)
    }
}

/// Steps that are a long time for a model: a run of few of them.
const REACH_STEPS: f64 = 100.0;

/// The same by the distance on which relations are smooth: what looks ahead by 1e-8 of the reach ([`crate::event::threshold`]) then looks a hundredth of it ahead.
const REACH_SMOOTH: f64 = 1e6;

/// The same in seconds before anything has moved.
pub(crate) const UNKNOWN_REACH: f64 = 1.0;

/// A time that is long for the model before it has made a step: in which its fastest state would change by its own size.
fn reach(machine: &Machine, nominal: &[f64], y: &[f64], yp: &[f64]) -> Option<f64> {
    let roles = roles(&machine.model);
    let states = (0..y.len()).filter(|&k| roles[k] == acausal_expr::unknown::UnknownRole::State);
    let times = states.map(|k| (y[k].abs() + nominal[k]) / yp[k].abs());
    let shortest = times.fold(f64::INFINITY, f64::min);
    // Or nothing moves, or what moves is no number.
    (shortest > 0.0 && shortest.is_finite()).then_some(shortest)
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
