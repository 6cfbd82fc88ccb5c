//! Cells of relations, and which side of its threshold each one is on.
//!
//! A relation `a > b` has a cell (its truth, frozen between events) and a difference `a - b`. The truth says on which *side* of
//! zero the difference belongs. The indicator that the integrator watches is `side * difference`: positive while the relation is as its
//! cell says, and an event is always a fall below zero. Whatever happens, the cell and the watched side agree, so that no
//! change is lost because an event ended on the wrong side of a threshold.
//!
//! Hysteresis: right after an event the difference may be zero, or near it by a rounding error or the error of the
//! interpolation. Then the indicator is `side * difference + shift` with a shift that makes it start at a small positive value;
//! the shift is dropped when the difference has left the threshold behind. The small value is [`BAND`] times the tolerance times
//! the largest difference seen so far, and not less than [`ROUNDING`] times the nominal value of its variables. (A clutch that is
//! not pressed together has `sa > tau0` with both sides zero up to rounding; without this least value every rounding
//! error would be an event.) It is also not less than what the last digits of the unknowns make of the difference. Where algebraic unknowns enter the difference, the error of the corrector counts too.
//!
//! Example: `h <= 0` is true at h = 0 after `reinit(h, 0)`; side = -1, difference = 0, so the indicator is `-h + 1e-10`. Should h
//! rise, the relation becomes false at h = 1e-10.

use acausal_compiled::{CompiledModel, RelationCode};
use acausal_expr::unknown::UnknownRole;

use super::{EventContext, EventState, Forced};
use crate::error::true_above;
use crate::initial::roles;
use crate::machine::{Machine, ProgramId};

/// Width of the hysteresis in units of tolerance times scale.
const BAND: f64 = 1e-4;
/// Where algebraic unknowns enter the difference: its change when they change by the tolerance of the corrector, times this.
const CORRECTOR_ERRORS: f64 = 3.0;
/// What the iteration for algebraic unknowns leaves, in units of rounding errors.
const SOLUTION_ERROR: f64 = 1e4;
/// Least width in units of the nominal value: rounding errors of a few terms.
const ROUNDING: f64 = 1e-13;
/// The same by the rounding errors of the unknowns themselves, in units of their last digits: a few operations each.
const ROUNDING_ERRORS: f64 = 8.0;
/// A difference that was never larger than this many rounding errors has no sign, also where no algebraic unknown enters it: the
/// speed of a shaft that several brakes hold from the start is zero up to 1e-30 or so. (What has moved may well come to
/// rest in ever smaller steps; there every sign counts.)
const NOISE: f64 = 1e-3;
/// A forced value holds while the difference is below this many tolerances: the error of an interpolated algebraic unknown.
const FORCED: f64 = 10.0;

/// The relation with a cell of this number.
pub(crate) fn relation(model: &CompiledModel, number: usize) -> Option<&RelationCode> {
    numbered(&model.events.relations, number)
}

/// The relation with a cell of this number among some whose cells are numbered through.
pub(crate) fn numbered(all: &[RelationCode], number: usize) -> Option<&RelationCode> {
    let k = all.partition_point(|r| r.first <= number).checked_sub(1)?;
    Some(&all[k]).filter(|r| number < r.first + r.len)
}

/// +1 when a relation with this value has a positive difference, -1 when it has a negative one.
fn side(relation: &RelationCode, value: f64) -> f64 {
    match relation.op {
        Some(op) if !relation.by_time => {
            if (value != 0.0) == true_above(op) {
                1.0
            } else {
                -1.0
            }
        }
        // The indicator of a step is positive inside of its interval; a time event has none.
        _ => 1.0,
    }
}

impl EventState {
    /// All cells of relations and steps, by number.
    pub(crate) fn cells(&self, machine: &Machine) -> Vec<f64> {
        let mut cells = Vec::with_capacity(machine.model.events.cells);
        for r in &machine.model.events.relations {
            cells.extend_from_slice(&machine.mem[r.base..r.base + r.len]);
        }
        cells
    }

    pub(super) fn set_cell(&self, machine: &mut Machine, number: usize, value: f64) {
        let place = relation(&machine.model, number).map(|r| r.base + number - r.first);
        if let Some(place) = place {
            machine.mem[place] = value;
        }
    }

    /// The values that crossed relations take. Steps are computed, not toggled. So is a relation whose difference has come to rest
    /// on zero: there the relation itself says what holds (`0 >= 0` is true, `0 > 0` is not).
    pub(super) fn toggled(&self, ctx: &mut EventContext<'_>, crossings: &[usize]) -> Vec<Forced> {
        if crossings.is_empty() {
            return Vec::new();
        }
        let differences = self.differences(ctx);
        let machine = &*ctx.machine;
        let toggle = |&number: &usize| {
            let r = relation(&machine.model, number)?;
            r.op.filter(|_| differences[number] != 0.0)?;
            let value = 1.0 - machine.mem[r.base + number - r.first];
            Some(Forced { number, value })
        };
        crossings.iter().filter_map(toggle).collect()
    }

    /// Sets the cells of relations from the current values. Forced values hold while their difference stays small. Initial
    /// equations see relations of `time` as they are at the start time itself.
    pub(crate) fn refresh(&self, ctx: &mut EventContext<'_>, forced: &[Forced], initial: bool) {
        let due = if initial {
            Vec::new()
        } else {
            self.time_relations(ctx.machine, ctx.y, ctx.yp)
        };
        let differences = if forced.is_empty() {
            Vec::new()
        } else {
            self.differences(ctx)
        };
        let machine = &mut *ctx.machine;
        self.refresh_start(machine, ctx.y, ctx.yp);
        for f in forced {
            let near = FORCED * ctx.tolerance * self.scales[f.number];
            if differences[f.number].abs() <= near {
                self.set_cell(machine, f.number, f.value);
            }
        }
        for (number, later) in due {
            self.set_cell(machine, number, later);
        }
    }

    /// Whether there are relations that values of the model decide about, other than time.
    pub fn has_choices(&self, machine: &Machine) -> bool {
        let relations = &machine.model.events.relations;
        relations.iter().any(|r| r.op.is_some() && !r.by_time)
    }

    /// Sets the cells of relations from the current values as they are.
    pub fn refresh_start(&self, machine: &mut Machine, y: &[f64], yp: &[f64]) {
        machine.run(ProgramId::Values, y, yp);
        let model = machine.model.clone();
        for r in &model.events.relations {
            for k in 0..r.len {
                let new = machine.out[r.first + k];
                if !new.is_nan() {
                    machine.mem[r.base + k] = new;
                }
            }
        }
    }

    /// The differences of all relations at the current values.
    pub(super) fn differences(&self, ctx: &mut EventContext<'_>) -> Vec<f64> {
        let mut differences = vec![0.0; ctx.machine.model.events.cells];
        ctx.machine
            .differences(ctx.t, ctx.y, ctx.yp, &mut differences);
        differences
    }

    /// The sides that belong to the cells.
    pub(super) fn sides(&self, machine: &Machine) -> Vec<f64> {
        let mut sides = Vec::with_capacity(machine.model.events.cells);
        for r in &machine.model.events.relations {
            let cells = &machine.mem[r.base..r.base + r.len];
            sides.extend(cells.iter().map(|&c| side(r, c)));
        }
        sides
    }

    /// Lets the indicators follow the cells, with a shift where a difference is not on its side.
    pub(super) fn take_sides(&mut self, ctx: &mut EventContext<'_>) {
        let differences = self.differences(ctx);
        let sides = self.sides(ctx.machine);
        let errors = self.corrector_errors(ctx, &differences);
        let rounded = self.rounding_errors(ctx, &differences);
        self.note_scales(&differences);
        // The difference of a relation of `time` is one, on its side.
        ctx.machine.shifts.clear();
        ctx.machine.shifts.resize(differences.len(), 0.0);
        let model = ctx.machine.model.clone();
        let watched = model.events.relations.iter().filter(|r| !r.by_time);
        for (r, k) in watched.flat_map(|r| (r.first..r.first + r.len).map(move |k| (r, k))) {
            let (difference, side) = (differences[k], sides[k]);
            let rounded = ROUNDING_ERRORS * rounded[k];
            let band = self.band(k, ctx.tolerance).max(errors[k]).max(rounded);
            // What is near its threshold but on its side may fall back by the error of the difference only.
            let noise = NOISE * self.rounding[k];
            let near = match r.algebraic {
                true => band,
                false if self.scales[k] <= noise => noise.max(rounded),
                false => rounded,
            };
            // What is no number is not on its side.
            let on_its_side = side * difference > near;
            self.bands[k] = band;
            ctx.machine.shifts[k] = if on_its_side {
                0.0
            } else {
                band - side * difference
            };
        }
        ctx.machine.sides = sides;
    }

    /// Drops shifts of indicators that have reached their side. Called after a step. True if there are any.
    pub fn drop_shifts(&mut self, machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) -> bool {
        let mut differences = vec![0.0; machine.shifts.len()];
        machine.differences(t, y, yp, &mut differences);
        self.note_scales(&differences);
        let mut dropped = false;
        for (k, difference) in differences.iter().enumerate() {
            if machine.shifts[k] != 0.0 && machine.sides[k] * difference > machine.shifts[k] {
                machine.shifts[k] = 0.0;
                dropped = true;
            }
        }
        dropped
    }

    /// Rounding errors of each difference, by the nominal values of the variables in its relation.
    pub(super) fn rounding(machine: &Machine) -> Vec<f64> {
        let model = &machine.model;
        let mut errors = vec![0.0; model.events.cells];
        for r in model.events.relations.iter().filter(|r| !r.by_time) {
            let (mut continuous, mut written) = (false, 0.0f64);
            for (_, access) in model.symbols.exprs.accesses(r.expr) {
                let var = model.symbols.var(access.var);
                if var.is_parameter() || var.is_discrete() || var.is_empty() {
                    continue;
                }
                continuous = true;
                if let Some(&base) = model.nominal_of.get(&access.var) {
                    let nominals = machine.mem[base..base + var.len()].iter();
                    written = nominals
                        .filter(|v| v.is_finite())
                        .fold(written, |a, v| a.max(v.abs()));
                }
            }
            let scale = match continuous {
                true if written > 0.0 => written,
                true => 1.0,
                false => 0.0,
            };
            errors[r.first..r.first + r.len].fill(ROUNDING * scale);
        }
        errors
    }

    fn note_scales(&mut self, differences: &[f64]) {
        for (scale, difference) in self.scales.iter_mut().zip(differences) {
            if difference.is_finite() {
                *scale = scale.max(difference.abs());
            }
        }
    }

    /// How far differences move when the unknowns move by their last digits: the pressure of a room is known to 1e-11 Pa, and what
    /// flows through a door is the difference of two such pressures.
    fn rounding_errors(&self, ctx: &mut EventContext<'_>, differences: &[f64]) -> Vec<f64> {
        let mut errors = vec![0.0; differences.len()];
        if ctx.machine.watched.is_empty() {
            return errors;
        }
        let mut moved = vec![0.0; differences.len()];
        // Two patterns of signs, so that opposite errors are seen as well.
        for pattern in 0..2 {
            let mut y = ctx.y.clone();
            for (k, y) in y.iter_mut().enumerate() {
                let sign = if pattern * k % 2 == 1 { -1.0 } else { 1.0 };
                *y += sign * f64::EPSILON * *y;
            }
            ctx.machine.differences(ctx.t, &y, ctx.yp, &mut moved);
            for (error, (a, b)) in errors.iter_mut().zip(moved.iter().zip(differences)) {
                let change = (a - b).abs();
                if change.is_finite() {
                    *error = change.max(*error);
                }
            }
        }
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        // A step or a watched value that changes by rounding has not the size of an error.
        for r in ctx.machine.model.events.relations.iter() {
            if r.by_value {
                errors[r.first..r.first + r.len].fill(0.0);
            }
        }
        errors
    }

    /// How far differences may be wrong between events because the corrector stops when algebraic unknowns are right to about
    /// the tolerance. Indicators that are evaluated at exact values are not.
    fn corrector_errors(&self, ctx: &mut EventContext<'_>, differences: &[f64]) -> Vec<f64> {
        let mut errors = vec![0.0; differences.len()];
        let model = ctx.machine.model.clone();
        let concerned = |r: &RelationCode| r.algebraic && !r.slopes;
        if !model.events.relations.iter().any(concerned) {
            return errors;
        }
        let roles = roles(&model);
        let mut changed = vec![0.0; differences.len()];
        // Two patterns of signs, so that opposite errors are seen as well.
        for pattern in 0..2 {
            let mut y = ctx.y.clone();
            for (k, y) in y.iter_mut().enumerate() {
                if roles[k] != UnknownRole::Algebraic {
                    continue;
                }
                let least = crate::integrator::ALGEBRAIC_FRACTION * ctx.nominal[k];
                let sign = if pattern == 1 && k % 2 == 1 {
                    -1.0
                } else {
                    1.0
                };
                *y += sign * ctx.tolerance * (y.abs() + least);
            }
            ctx.machine.differences(ctx.t, &y, ctx.yp, &mut changed);
            for r in model.events.relations.iter().filter(|r| concerned(r)) {
                for k in r.first..r.first + r.len {
                    let error = CORRECTOR_ERRORS * (changed[k] - differences[k]).abs();
                    if error.is_finite() {
                        errors[k] = error.max(errors[k]);
                    }
                }
            }
        }
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        errors
    }

    /// How far a difference may be wrong at the solution of equations that it takes part in: the hysteresis, and what the
    /// iteration leaves where algebraic unknowns enter.
    pub(super) fn solution_error(&self, ctx: &EventContext<'_>, number: usize) -> f64 {
        let band = self.band(number, ctx.tolerance);
        match relation(&ctx.machine.model, number) {
            Some(r) if r.algebraic => band.max(SOLUTION_ERROR * self.rounding[number]),
            _ => band,
        }
    }

    /// How far a difference may be wrong by rounding and interpolation; never zero.
    pub(super) fn band(&self, number: usize, tolerance: f64) -> f64 {
        let least = self.rounding[number].max(f64::MIN_POSITIVE);
        (BAND * tolerance * self.scales[number]).max(least)
    }
}
