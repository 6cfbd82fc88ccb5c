//! What happens at an event (MLS 3.6 §8.6, appendix B).
//!
//! In: the instant, the continuous values from the left, and the relations whose indicator changed sign. Out: consistent
//! values on the right. Two loops, one in the other:
//!
//! 1. [`EventState::settle`]: with the left limits `pre(v)` fixed, relations, discrete equations, assignments of `when`
//!    clauses and the continuous equations are solved together: evaluate what is discrete, solve what is continuous with
//!    the relations frozen, again, until the discrete part repeats. Where that goes in circles (friction, diodes and
//!    switches inside of algebraic loops), `search` looks for an assignment of the relations that agrees with its
//!    own solution.
//! 2. [`EventState::handle`]: `reinit`, `assert` and `terminate` of clauses that became active are carried out once,
//!    `pre(v) := v`, and settled again until nothing changes. Rounds are bounded; what keeps changing is reported.
//!
//! The start is one round of its own ([`EventState::initialise`]), followed by an event at the same instant.
//!
//! `sample` is true in the rounds at its instant and false in the last ones, as it is during integration. A relation
//! that stands exactly on its threshold and is about to leave its side changes at once (`threshold`).
//!
//! Example: a ball, `when h <= 0 then reinit(v, -0.7*pre(v))`. The integrator reports the relation at h = -1e-17, v =
//! -4. First round: the relation is true, the clause is active, v becomes 2.8. Second round: nothing changes. Then h
//! stands on its threshold and rises: `h <= 0` is false an instant later, so it becomes false now.
//!
//! | module | |
//! |---|---|
//! | `relations` | cells of relations, sides and hysteresis of indicators |
//! | `whens` | clauses |
//! | `asserts` | assertions |
//! | `samples` | instants known in advance |
//! | `settle` | discrete and continuous equations together |
//! | `fixed_point` | discrete Reals that feed back |
//! | `search` | mixed systems that go in circles |
//! | `threshold` | relations on their threshold, and the first step after an event |
//! | `watch` | chattering and accumulating events |

pub(crate) mod asserts;
mod fixed_point;
mod relations;
mod samples;
mod search;
mod settle;
pub(crate) mod threshold;
pub(crate) mod watch;
mod whens;

pub(crate) use relations::{numbered, relation};

use acausal_compiled::{ActionCode, Loc, fixed};
use acausal_expr::flat::{OriginId, VarType};
use acausal_expr::{LARGEST_INTEGER, ValueKind};
use acausal_jit::kernel::Bank;

use crate::SimError;
use crate::consistent::{ConsistentSystem, Point};
use crate::error::{InitialFailure, condition_text};
use crate::machine::{Machine, ProgramId};
use samples::SampleClock;

/// Bound on the rounds at one instant.
const MAX_ROUNDS: usize = 200;

/// The discrete side of a running model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EventState {
    /// Value and left-limit regions of discrete variables: `(value, pre, len)`.
    regions: Vec<(usize, usize, usize)>,
    /// Places of the values of Integers.
    integers: Vec<std::ops::Range<usize>>,
    /// Places of the values of discrete Reals, and where each stands among all discrete values.
    reals: Vec<(usize, usize)>,
    /// Value and left limit of everything that `when` clauses assign.
    assigned: Vec<(usize, usize)>,
    /// Conditions of `when` clauses before this evaluation, and in it.
    pub(crate) conditions: Vec<bool>,
    now: Vec<bool>,
    /// One clock per cell of `sample`.
    pub(crate) samples: Vec<SampleClock>,
    /// Per relation: the largest distance from its threshold so far.
    pub(crate) scales: Vec<f64>,
    /// Per relation: what may be rounding error.
    rounding: Vec<f64>,
    /// Per relation: the width of its hysteresis since the last event.
    pub(crate) bands: Vec<f64>,
    /// Per scalar assertion: it does not hold.
    failing: Vec<bool>,
    /// A discrete variable of the timetable has changed, and the round in which it did is not over.
    moved: bool,
}

/// What an event asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventOutcome {
    /// `terminate` was called with this message.
    pub terminate: Option<String>,
    /// Warnings of assertions.
    pub warnings: Vec<String>,
    /// Texts that the model prints.
    pub printed: Vec<String>,
    /// Rounds of the iteration.
    pub rounds: usize,
    /// Relations that changed, by number.
    pub changed: Vec<usize>,
    /// Relations of the timetable that changed, by their number in it.
    pub passed: Vec<usize>,
}

/// Everything an event works on.
pub(crate) struct EventContext<'a> {
    pub machine: &'a mut Machine,
    pub system: &'a mut ConsistentSystem,
    pub t: f64,
    pub y: &'a mut Vec<f64>,
    pub yp: &'a mut Vec<f64>,
    pub nominal: &'a [f64],
    /// Relative tolerance of the integrator.
    pub tolerance: f64,
    /// A time that is long for the model.
    pub reach: f64,
}

impl EventContext<'_> {
    fn solve(&mut self) -> Result<(), Box<InitialFailure>> {
        let (system, mut at) = self.point();
        system.solve(&mut at).map(|_| ())
    }

    /// Solves again because discrete values have changed; values that are still a solution stay as they are.
    fn confirm(&mut self) -> Result<(), Box<InitialFailure>> {
        let (system, mut at) = self.point();
        system.confirm(&mut at).map(|_| ())
    }

    fn point(&mut self) -> (&mut ConsistentSystem, Point<'_>) {
        let at = Point {
            machine: self.machine,
            t: self.t,
            y: self.y,
            yp: self.yp,
            nominal: self.nominal,
        };
        (self.system, at)
    }
}

/// A relation that takes a given value because the integrator saw its indicator change sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forced {
    pub number: usize,
    pub value: f64,
}

impl EventState {
    /// Clocks whose instants may depend on parameters that are known after the start has been solved.
    pub fn start_clocks(&mut self, machine: &mut Machine, t0: f64) -> Result<(), SimError> {
        if machine.model.initial.parameters_wait() {
            self.samples = samples::clocks(machine, t0)?;
        }
        Ok(())
    }

    /// Discrete variables at their start values; conditions false; sample clocks at their start.
    pub fn new(machine: &mut Machine, t0: f64) -> Result<EventState, SimError> {
        let model = machine.model.clone();
        let (mut regions, mut reals, mut integers) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = model.events.cells;
        for (id, var) in model.symbols.var_ids() {
            if var.is_parameter()
                || !var.is_discrete()
                || var.ty == VarType::String
                || var.is_empty()
            {
                continue;
            }
            let (Some(value), Some(pre)) = (
                model.region(id, ValueKind::Value),
                model.region(id, ValueKind::Pre),
            ) else {
                continue;
            };
            if let Some(&start) = model.start_of.get(&id) {
                machine.mem.copy_within(start..start + var.len(), value);
            }
            machine.mem.copy_within(value..value + var.len(), pre);
            if machine.timetable.has_variable(value) {
                continue;
            }
            regions.push((value, pre, var.len()));
            if var.ty == VarType::Integer {
                integers.push(value..value + var.len());
            }
            if var.ty == VarType::Real {
                reals.extend((0..var.len()).map(|k| (value + k, first + k)));
            }
            first += var.len();
        }
        Ok(EventState {
            assigned: assigned(machine, &regions),
            regions,
            integers,
            reals,
            conditions: vec![false; model.events.conditions_len],
            now: Vec::new(),
            samples: if model.initial.parameters_wait() {
                Vec::new()
            } else {
                samples::clocks(machine, t0)?
            },
            scales: vec![0.0; model.events.cells],
            rounding: EventState::rounding(machine),
            bands: vec![0.0; model.events.cells],
            failing: vec![false; asserts::count(&model)],
            moved: false,
        })
    }

    /// True when events can change something: otherwise there is nothing to iterate.
    pub fn is_discrete(&self, machine: &Machine) -> bool {
        let e = &machine.model.events;
        !machine.timetable.is_empty()
            || e.cells > 0
            || !e.whens.is_empty()
            || !self.regions.is_empty()
            || !e.samples.is_empty()
    }

    /// The start (MLS 3.6 §8.6): all equations hold with the initial equations, `initial()` is true and only clauses with
    /// `initial()` are active. One round: `pre(v)` is what the initial equations say it is, and whatever differs from it is
    /// a matter of the event iteration that follows ([`EventState::handle`] at the same instant). Conditions that are true
    /// here have not become true.
    pub fn initialise(&mut self, ctx: &mut EventContext<'_>) -> Result<EventOutcome, SimError> {
        let mut outcome = EventOutcome::default();
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        self.refresh(ctx, &[], true);
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        ctx.machine.run(ProgramId::InitialDiscrete, ctx.y, ctx.yp);
        EventState::copy_left_limits(ctx.machine, ctx.y, ctx.yp);
        outcome.rounds = 1;
        self.settle(ctx, &[], true)?;
        self.act(ctx, true, &mut outcome)?;
        self.check_asserts(ctx.machine, (ctx.t, ctx.y, ctx.yp), true, &mut outcome)?;
        ctx.machine.mem[fixed::INITIAL] = 0.0;
        self.remember_conditions(ctx);
        self.take_sides(ctx);
        Ok(outcome)
    }

    /// Handles the event at the current instant.
    pub fn handle(
        &mut self,
        ctx: &mut EventContext<'_>,
        crossings: &[usize],
    ) -> Result<EventOutcome, SimError> {
        let mut outcome = EventOutcome::default();
        let rings = self.ring_samples(ctx.machine, ctx.t);
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        self.copy_pre(ctx.machine);
        EventState::copy_left_limits(ctx.machine, ctx.y, ctx.yp);
        // What follows from time alone takes no part in the iteration.
        let advanced = ctx.machine.advance_timetable(ctx.t);
        (outcome.passed, self.moved) = (advanced.relations, advanced.discrete);
        let before = self.cells(ctx.machine);
        let mut forced = self.toggled(ctx, crossings);
        self.iterate(ctx, &mut forced, &mut outcome)?;
        if rings {
            for s in &self.samples {
                ctx.machine.mem[s.cell] = 0.0;
            }
            self.iterate(ctx, &mut forced, &mut outcome)?;
        }
        self.leave_thresholds(ctx, &mut outcome)?;
        self.check_asserts(ctx.machine, (ctx.t, ctx.y, ctx.yp), false, &mut outcome)?;
        let after = self.cells(ctx.machine);
        outcome.changed = (0..before.len())
            .filter(|&k| before[k] != after[k])
            .collect();
        self.take_sides(ctx);
        Ok(outcome)
    }

    /// Rounds of settling, acting and `pre(v) := v`, until nothing changes.
    fn iterate(
        &mut self,
        ctx: &mut EventContext<'_>,
        forced: &mut Vec<Forced>,
        outcome: &mut EventOutcome,
    ) -> Result<(), SimError> {
        for _ in 0..MAX_ROUNDS {
            outcome.rounds += 1;
            let cells = self.cells(ctx.machine);
            self.settle(ctx, forced, false)?;
            let reinit = self.act(ctx, false, outcome)?;
            let changed = self.changed(ctx.machine);
            let moved = std::mem::take(&mut self.moved);
            if !reinit && !moved && changed.is_empty() {
                return Ok(());
            }
            if outcome.rounds + 1 >= MAX_ROUNDS {
                let after = self.cells(ctx.machine);
                let cells: Vec<usize> =
                    (0..cells.len()).filter(|&k| cells[k] != after[k]).collect();
                return Err(self.chattering(ctx, &cells, &changed));
            }
            if reinit {
                // What the integrator saw belongs to the values before. In the next round `pre(x)` of a state is its value
                // after this one (MLS 3.6 §3.7.5).
                forced.clear();
                EventState::copy_left_limits(ctx.machine, ctx.y, ctx.yp);
            }
            self.copy_pre(ctx.machine);
        }
        Ok(())
    }

    /// The first discrete variable that is not a finite number, or no exact Integer: its place in `Mem`, and what determines it.
    pub(crate) fn not_finite(&self, machine: &Machine) -> Option<(usize, Option<OriginId>)> {
        let place = self.regions.iter().find_map(|&(value, _, len)| {
            let values = &machine.mem[value..value + len];
            values
                .iter()
                .position(|v| !v.is_finite())
                .map(|k| value + k)
        });
        let mut integers = self.integers.iter().cloned().flatten();
        let place = place.or_else(|| integers.find(|&k| machine.mem[k].abs() > LARGEST_INTEGER));
        let place = place.or_else(|| machine.timetable.invalid())?;
        let origin = machine.timetable_origin(place);
        Some((place, origin.or_else(|| definition(&machine.model, place))))
    }

    /// All places in `Mem` that change at events only: discrete variables with their left limits, relations and steps.
    pub(crate) fn discrete_places(&self, machine: &Machine) -> Vec<std::ops::Range<usize>> {
        let regions = (self.regions.iter())
            .flat_map(|&(value, pre, len)| [value..value + len, pre..pre + len]);
        let relations = &machine.model.events.relations;
        let cells = relations.iter().map(|r| r.base..r.base + r.len);
        regions.chain(cells).collect()
    }

    pub(crate) fn copy_pre(&self, machine: &mut Machine) {
        for &(value, pre, len) in &self.regions {
            machine.mem.copy_within(value..value + len, pre);
        }
    }

    /// Left limits of continuous variables: they hold until a `reinit`.
    pub(crate) fn copy_left_limits(machine: &mut Machine, y: &[f64], yp: &[f64]) {
        let model = machine.model.clone();
        for &(var, base) in &model.left_limits {
            if let Some(place) = model.layout.place((var, ValueKind::Value)) {
                for k in 0..model.symbols.var(var).len() {
                    machine.mem[base + k] = machine.value(place.at(k), y, yp);
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

    fn region_values(&self, machine: &Machine) -> Vec<f64> {
        let mut values = Vec::new();
        for &(value, _, len) in &self.regions {
            values.extend_from_slice(&machine.mem[value..value + len]);
        }
        values
    }

    fn region_places(&self) -> Vec<usize> {
        self.regions
            .iter()
            .flat_map(|&(value, _, len)| value..value + len)
            .collect()
    }

    /// Everything discrete that the continuous equations can read.
    fn discrete_values(&self, machine: &Machine) -> Vec<f64> {
        let mut values = self.cells(machine);
        values.extend(self.region_values(machine));
        // Not-a-number differs from itself and would never settle.
        values
            .iter_mut()
            .filter(|v| v.is_nan())
            .for_each(|v| *v = f64::MAX);
        values
    }

    /// The error for relations and discrete values that do not settle at one instant.
    fn chattering(&self, ctx: &EventContext<'_>, cells: &[usize], values: &[usize]) -> SimError {
        let model = &ctx.machine.model;
        let mut what = Vec::new();
        let mut origin = None;
        for &number in cells.iter().take(3) {
            if let Some(r) = relations::relation(model, number) {
                what.push(format!("`{}`", condition_text(model, r.expr)));
                origin = origin.or(Some(r.origin));
            }
        }
        for &place in values.iter().take(3) {
            origin = origin.or_else(|| definition(model, place));
            let name = model.name_of(Loc::new(Bank::Mem, place));
            what.push(format!("`{name}`"));
        }
        SimError::Chattering {
            t: ctx.t,
            what,
            origin,
        }
    }
}

/// The clause or equation that determines what lies at a place of `Mem`, for the place of a message.
fn definition(model: &acausal_compiled::CompiledModel, place: usize) -> Option<OriginId> {
    let at = Loc::new(Bank::Mem, place);
    let sets = |a: &ActionCode| match a {
        ActionCode::Set { targets, .. } => targets.contains(&at),
        _ => false,
    };
    let clause =
        |w: &&acausal_compiled::WhenCode| w.branches.iter().flat_map(|b| &b.actions).any(sets);
    if let Some(when) = model.events.whens.iter().find(clause) {
        return Some(when.origin);
    }
    let determined = model.events.determined.iter();
    let lies = |&&(var, _): &&(acausal_expr::VarId, OriginId)| {
        let first = model.region(var, ValueKind::Value);
        first.is_some_and(|f| (f..f + model.symbols.var(var).len()).contains(&place))
    };
    determined.clone().find(lies).map(|d| d.1)
}

/// Value and left limit of everything that clauses assign.
fn assigned(machine: &Machine, regions: &[(usize, usize, usize)]) -> Vec<(usize, usize)> {
    let mut places: Vec<usize> = Vec::new();
    let whens = &machine.model.events.whens;
    for action in whens
        .iter()
        .flat_map(|w| &w.branches)
        .flat_map(|b| &b.actions)
    {
        if let ActionCode::Set {
            targets,
            reinit: false,
            ..
        } = action
        {
            let mem = targets.iter().filter(|t| t.bank() == Bank::Mem);
            places.extend(mem.map(|t| t.index()));
        }
    }
    places.sort_unstable();
    places.dedup();
    let mut sorted = regions.to_vec();
    sorted.sort_unstable();
    places
        .into_iter()
        .filter_map(|place| {
            let k = sorted.partition_point(|r| r.0 <= place).checked_sub(1)?;
            let (value, pre, len) = sorted[k];
            (place < value + len).then_some((place, pre + (place - value)))
        })
        .collect()
}

/// Equal, where not-a-number equals itself.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}
