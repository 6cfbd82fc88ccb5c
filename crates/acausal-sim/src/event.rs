//! What happens at an event (MLS 3.6 §8.6, appendix B).
//!
//! At one instant: relations take their new values, discrete equations and `when` clauses are evaluated, `reinit` sets
//! states, and the continuous equations are solved for consistent derivatives and algebraic unknowns; then again with
//! `pre(v) := v` until nothing changes. The number of iterations is bounded, and what keeps changing is reported.

use acausal_codegen::{ActionCode, Loc, fixed};
use acausal_expr::Kind;
use acausal_expr::flat::{OriginId, VarType};
use acausal_jit::kernel::Bank;
use acausal_solver::RootCrossing;

use crate::SimError;
use crate::consistent::ConsistentSystem;
use crate::error::{condition_text, true_above};
use crate::machine::{Machine, Which};

/// Bound on event iterations at one instant.
const MAX_ITERATIONS: usize = 200;

/// Instants that differ by less than this fraction are the same.
const NOW: f64 = 1e-13;
/// How much later relations of time are evaluated to see what holds after the present instant.
const LATER: f64 = 1e-6;

/// The discrete side of a running model.
pub(crate) struct EventState {
    /// Value and left-limit regions of discrete variables: `(value, pre, len)`.
    regions: Vec<(usize, usize, usize)>,
    /// Conditions of `when` clauses before the event.
    conditions: Vec<bool>,
    /// Next instant, interval and number of each sample cell.
    samples: Vec<SampleClock>,
}

struct SampleClock {
    cell: usize,
    start: f64,
    interval: f64,
    count: u64,
}

impl SampleClock {
    fn next(&self) -> f64 {
        self.start + self.count as f64 * self.interval
    }
}

/// What an event asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventOutcome {
    /// `terminate` was called with this message.
    pub terminate: Option<String>,
    /// Warnings of assertions.
    pub warnings: Vec<String>,
}

/// Everything an event works on.
pub(crate) struct EventContext<'a> {
    pub machine: &'a mut Machine,
    pub system: &'a mut ConsistentSystem,
    pub t: f64,
    pub y: &'a mut Vec<f64>,
    pub yp: &'a mut Vec<f64>,
    pub nominal: &'a [f64],
}

impl EventState {
    /// Discrete variables at their start values; conditions false; sample clocks at their start.
    pub fn new(machine: &mut Machine, t0: f64) -> Result<EventState, SimError> {
        let model = machine.model.clone();
        let mut regions = Vec::new();
        for (id, var) in model.flat.var_ids() {
            if var.is_parameter()
                || !var.is_discrete()
                || var.ty == VarType::String
                || var.is_empty()
            {
                continue;
            }
            let (Some(value), Some(pre)) =
                (model.region(id, Kind::Value), model.region(id, Kind::Pre))
            else {
                continue;
            };
            if let Some(&start) = model.start_of.get(&id) {
                machine.mem.copy_within(start..start + var.len(), value);
            }
            machine.mem.copy_within(value..value + var.len(), pre);
            regions.push((value, pre, var.len()));
        }
        let mut samples = Vec::new();
        for (k, code) in model.events.samples.iter().enumerate() {
            machine.run(Which::Sample(k), &[], &[]);
            for j in 0..code.len {
                let (start, interval) = (machine.out[j], machine.out[code.len + j]);
                if interval <= 0.0 || !interval.is_finite() || !start.is_finite() {
                    let span = model.flat.origin(code.origin).span;
                    return Err(SimError::Sample {
                        start,
                        interval,
                        span,
                    });
                }
                // Instants before the start of the simulation are over.
                let count = if start >= t0 {
                    0
                } else {
                    ((t0 - start) / interval - 1e-9).ceil().max(0.0) as u64
                };
                samples.push(SampleClock {
                    cell: code.base + j,
                    start,
                    interval,
                    count,
                });
            }
        }
        Ok(EventState {
            regions,
            conditions: vec![false; model.events.conditions_len],
            samples,
        })
    }

    /// The next instant that is known in advance, after `t`.
    pub fn next_time_event(&self, machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) -> f64 {
        let mut next = self
            .samples
            .iter()
            .map(|s| s.next())
            .fold(f64::INFINITY, f64::min);
        let model = machine.model.clone();
        if !model.events.time_events.is_empty() {
            machine.run(Which::Times, y, yp);
            for code in &model.events.time_events {
                for &instant in &machine.out[code.out..code.out + code.len] {
                    if instant > t && instant < next {
                        next = instant;
                    }
                }
            }
        }
        next
    }

    /// True when a relation of `time` changes at `t`.
    pub fn time_relation_is_due(
        &self,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> bool {
        let model = machine.model.clone();
        if model.events.time_events.is_empty() {
            return false;
        }
        machine.run(Which::Times, y, yp);
        let instants = |c: &acausal_codegen::TimeEventCode| c.out..c.out + c.len;
        let events = &model.events.time_events;
        events
            .iter()
            .any(|c| machine.out[instants(c)].iter().any(|&i| is_now(i, t)))
    }

    /// The values that relations of `time` take at this very instant, by number. At `t = 1` the relation `time > 1` is
    /// not true yet and `time <= 1` is still true; what holds after the event is found a little later.
    fn time_relations(&self, machine: &mut Machine, y: &[f64], yp: &[f64]) -> Vec<(usize, f64)> {
        let t = machine.mem[fixed::TIME];
        if !self.time_relation_is_due(machine, t, y, yp) {
            return Vec::new();
        }
        let model = machine.model.clone();
        let mut due = Vec::new();
        let by_time = model.events.relations.iter().filter(|r| r.by_time);
        for (code, relation) in model.events.time_events.iter().zip(by_time) {
            let now = (0..code.len).filter(|k| is_now(machine.out[code.out + k], t));
            due.extend(now.map(|k| relation.first + k));
        }
        // Such relations are linear in time, so any later instant will do.
        machine.mem[fixed::TIME] = t + LATER * t.abs().max(1.0);
        machine.run(Which::Values, y, yp);
        machine.mem[fixed::TIME] = t;
        due.into_iter()
            .map(|number| (number, machine.out[number]))
            .collect()
    }

    /// Sets the cells of relations from the current values, without iteration. Initial equations see relations of
    /// `time` as they are at the start time itself.
    pub fn refresh_cells(
        &self,
        machine: &mut Machine,
        y: &[f64],
        yp: &[f64],
        skip: &[RootCrossing],
        initial: bool,
    ) -> Vec<usize> {
        let due = if initial {
            Vec::new()
        } else {
            self.time_relations(machine, y, yp)
        };
        machine.run(Which::Values, y, yp);
        let model = machine.model.clone();
        let mut changed = Vec::new();
        for relation in &model.events.relations {
            for k in 0..relation.len {
                let number = relation.first + k;
                let mut new = machine.out[number];
                if let (Some(crossing), Some(op)) =
                    (skip.iter().find(|c| c.index == number), relation.op)
                {
                    // The integrator saw the crossing; rounding must not undo it.
                    new = (crossing.rising == true_above(op)) as u8 as f64;
                }
                if let Some((_, later)) = due.iter().find(|d| d.0 == number) {
                    new = *later;
                }
                let cell = &mut machine.mem[relation.base + k];
                if *cell != new && !new.is_nan() {
                    *cell = new;
                    changed.push(number);
                }
            }
        }
        changed
    }

    /// Handles the event at the current instant. At the start, `initial` is true and only clauses with `initial()`
    /// are active.
    pub fn handle(
        &mut self,
        ctx: &mut EventContext<'_>,
        crossings: &[RootCrossing],
        initial: bool,
    ) -> Result<EventOutcome, SimError> {
        let mut outcome = EventOutcome::default();
        if !initial {
            self.ring_samples(ctx.machine, ctx.t);
        }
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        if !initial {
            self.copy_pre(ctx.machine);
        }
        self.copy_left_limits(ctx);
        // False while the continuous equations have not been solved with the latest left limits.
        let mut settled = true;
        for iteration in 0.. {
            let skip = if iteration == 0 { crossings } else { &[] };
            let changed_cells = self.refresh_cells(ctx.machine, ctx.y, ctx.yp, skip, initial);
            ctx.machine.update(ctx.t, ctx.y, ctx.yp);
            if initial && iteration == 0 {
                ctx.machine.run(Which::InitialDiscrete, ctx.y, ctx.yp);
            }
            ctx.machine.run(Which::Discrete, ctx.y, ctx.yp);
            let reinit = self.run_whens(ctx, initial, &mut outcome)?;
            let changed_values = self.changed(ctx.machine);
            let unchanged = changed_cells.is_empty() && changed_values.is_empty() && !reinit;
            if unchanged && settled && iteration > 0 {
                break;
            }
            settled = changed_values.is_empty();
            if iteration >= MAX_ITERATIONS {
                return Err(self.chattering(ctx, &changed_cells, &changed_values));
            }
            ctx.system
                .solve(ctx.machine, ctx.t, ctx.y, ctx.yp, ctx.nominal)
                .map_err(SimError::Initialisation)?;
            self.copy_pre(ctx.machine);
        }
        // The instants of sample() are over; what depends on them is false again.
        for s in &self.samples {
            ctx.machine.mem[s.cell] = 0.0;
        }
        ctx.machine.mem[fixed::INITIAL] = 0.0;
        ctx.machine.run(Which::Conditions, ctx.y, ctx.yp);
        for (c, v) in self.conditions.iter_mut().zip(&ctx.machine.out) {
            *c = *v != 0.0;
        }
        Ok(outcome)
    }

    /// True when an instant of `sample` has come.
    pub fn sample_is_due(&self, t: f64) -> bool {
        self.samples.iter().any(|s| s.next() <= t)
    }

    fn ring_samples(&mut self, machine: &mut Machine, t: f64) {
        for s in &mut self.samples {
            let due = s.next() <= t;
            machine.mem[s.cell] = due as u8 as f64;
            if due {
                s.count += 1;
            }
        }
    }

    fn copy_pre(&self, machine: &mut Machine) {
        for &(value, pre, len) in &self.regions {
            machine.mem.copy_within(value..value + len, pre);
        }
    }

    /// Left limits of continuous variables: they hold for the whole event.
    fn copy_left_limits(&self, ctx: &mut EventContext<'_>) {
        let model = ctx.machine.model.clone();
        for &(var, base) in &model.left_limits {
            if let Some(place) = model.layout.place((var, Kind::Value)) {
                for k in 0..model.flat.var(var).len() {
                    ctx.machine.mem[base + k] = ctx.machine.value(place.at(k), ctx.y, ctx.yp);
                }
            }
        }
    }

    /// Places of discrete values that differ from their left limits.
    fn changed(&self, machine: &Machine) -> Vec<usize> {
        let mut places = Vec::new();
        for &(value, pre, len) in &self.regions {
            for k in 0..len {
                let (a, b) = (machine.mem[value + k], machine.mem[pre + k]);
                if a != b && !(a.is_nan() && b.is_nan()) {
                    places.push(value + k);
                }
            }
        }
        places
    }

    /// Runs the `when` clauses whose condition became true. True if a state was set.
    fn run_whens(
        &mut self,
        ctx: &mut EventContext<'_>,
        initial: bool,
        outcome: &mut EventOutcome,
    ) -> Result<bool, SimError> {
        let model = ctx.machine.model.clone();
        if model.events.whens.is_empty() {
            return Ok(false);
        }
        ctx.machine.run(Which::Conditions, ctx.y, ctx.yp);
        let now: Vec<bool> = ctx.machine.out[..model.events.conditions_len]
            .iter()
            .map(|v| *v != 0.0)
            .collect();
        let mut reinit = false;
        for (w, when) in model.events.whens.iter().enumerate() {
            for p in 0..when.points {
                let branch = when.branches.iter().position(|b| {
                    let edge = b
                        .conditions
                        .iter()
                        .any(|&c| now[c + p] && !self.conditions[c + p]);
                    edge && (!initial || b.at_start)
                });
                if let Some(b) = branch {
                    reinit |= run_branch(ctx, w, b, p, outcome)?;
                }
            }
        }
        self.conditions = now;
        Ok(reinit)
    }

    fn chattering(&self, ctx: &EventContext<'_>, cells: &[usize], values: &[usize]) -> SimError {
        let model = &ctx.machine.model;
        let mut what = Vec::new();
        let mut origin = None;
        for &number in cells.iter().take(3) {
            if let Some(r) = model
                .events
                .relations
                .iter()
                .find(|r| number >= r.first && number < r.first + r.len)
            {
                what.push(format!("`{}`", condition_text(model, r.expr)));
                origin = Some(r.origin);
            }
        }
        for &place in values.iter().take(3) {
            what.push(format!("`{}`", model.name_of(Loc::new(Bank::Mem, place))));
        }
        SimError::Chattering {
            t: ctx.t,
            what,
            origin,
        }
    }
}

/// Whether a computed instant is the present one, up to the rounding of its computation.
fn is_now(instant: f64, t: f64) -> bool {
    (instant - t).abs() <= NOW * t.abs().max(1.0)
}

fn run_branch(
    ctx: &mut EventContext<'_>,
    w: usize,
    b: usize,
    point: usize,
    outcome: &mut EventOutcome,
) -> Result<bool, SimError> {
    let model = ctx.machine.model.clone();
    let mut reinit = false;
    for (a, action) in model.events.whens[w].branches[b].actions.iter().enumerate() {
        match action {
            ActionCode::Set {
                targets,
                inner,
                reinit: sets_state,
                ..
            } => {
                ctx.machine.run(Which::Action(w, b, a), ctx.y, ctx.yp);
                let part = point * inner..(point + 1) * inner;
                for (k, target) in part.clone().zip(&targets[part]) {
                    let value = ctx.machine.out[k];
                    match target.bank() {
                        Bank::Y => ctx.y[target.index()] = value,
                        Bank::Mem => ctx.machine.mem[target.index()] = value,
                        _ => {}
                    }
                }
                reinit |= *sets_state;
                if *sets_state {
                    ctx.machine.update(ctx.t, ctx.y, ctx.yp);
                }
            }
            ActionCode::Assert(code) => {
                ctx.machine.run(Which::Action(w, b, a), ctx.y, ctx.yp);
                let inner = code.len / model.events.whens[w].points.max(1);
                let failed = ctx.machine.out[point * inner..(point + 1) * inner].contains(&0.0);
                report(
                    failed,
                    code.warning,
                    &code.message,
                    code.origin,
                    ctx.t,
                    outcome,
                )?;
            }
            ActionCode::Terminate { message, .. } => {
                outcome.terminate.get_or_insert_with(|| message.clone());
            }
        }
    }
    Ok(reinit)
}

/// A failed assertion is an error, or a warning if the model says so.
pub(crate) fn report(
    failed: bool,
    warning: bool,
    message: &str,
    origin: OriginId,
    t: f64,
    outcome: &mut EventOutcome,
) -> Result<(), SimError> {
    if !failed {
        return Ok(());
    }
    if warning {
        outcome.warnings.push(format!("at time = {t}: {message}"));
        return Ok(());
    }
    Err(SimError::Assertion {
        t,
        message: message.to_string(),
        origin,
    })
}

/// Checks the assertions that hold always.
pub(crate) fn check_asserts(
    machine: &mut Machine,
    t: f64,
    y: &[f64],
    yp: &[f64],
    outcome: &mut EventOutcome,
) -> Result<(), SimError> {
    let model = machine.model.clone();
    for (k, code) in model.events.asserts.iter().enumerate() {
        machine.run(Which::Assert(k), y, yp);
        let failed = machine.out[..code.len].contains(&0.0);
        report(failed, code.warning, &code.message, code.origin, t, outcome)?;
    }
    Ok(())
}
