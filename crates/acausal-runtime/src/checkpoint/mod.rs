//! The state of a simulation between two steps, to continue from it later.
//!
//! A [`Checkpoint`] holds everything that decides the future: time, unknowns and their derivatives, the whole memory of
//! the model (discrete variables, left limits, frozen relations, parameters), the conditions of `when` clauses, the counts of
//! sample clocks, the histories of delays and distributions and the sides of event indicators. It does not hold the history of the
//! integrator, which starts again at order one: a run that passes a checkpoint starts its integrator again there, so that
//! going on and continuing later give the same numbers, bit for bit.
//!
//! The file is text, one section per line; numbers are written so that they read back to the same bits. The fingerprint is that of the
//! equations and of the places of all values; the checksum at the end is that of all bytes before it. A file that was
//! changed, or of a model with other equations, is refused. So is one whose checksum is right and whose values no run could have written, since
//! histories are searched on the premise that their times ascend.
//!
//! ```text
//! acausal checkpoint 4
//! model Ball
//! fingerprint 8f31c2...
//! time 1 1
//! origin 3 0 0.01 5
//! y 2 0.3 -1.2
//! ...
//! end 0
//! checksum 09be11...
//! ```

mod histories;
mod text;

use std::hash::{Hash, Hasher};

use acausal_base::Fnv;
use acausal_compiled::CompiledModel;

use crate::event::EventState;
use crate::initial::{restart_system, start_data};
use crate::limits::check_samples;
use crate::machine::Machine;
use crate::simulate::{Simulation, absorb};
use crate::{Settings, SimError, Summary};

/// Beyond this many rows their instants are no longer different numbers.
const MOST_ROWS: f64 = 1.0 / f64::EPSILON;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Name of the model.
    pub model: String,
    /// Time.
    pub t: f64,
    /// Says which models this fits.
    fingerprint: u64,
    /// Origin of the output instants, their distance, and a time that is long for the model.
    origin: [f64; 3],
    y: Vec<f64>,
    yp: Vec<f64>,
    mem: Vec<f64>,
    conditions: Vec<f64>,
    samples: Vec<f64>,
    scales: Vec<f64>,
    sides: Vec<f64>,
    shifts: Vec<f64>,
    /// Per delay line: delay, longest delay, piece and its slack, number of samples, samples as pairs, jumps.
    delays: Vec<Vec<f64>>,
    /// Per distribution: number of samples, samples as triples, jumps.
    spatials: Vec<Vec<f64>>,
}

impl Simulation {
    /// The present state.
    pub(crate) fn checkpoint(&self, settings: &Settings) -> Checkpoint {
        let machine = &self.machine;
        Checkpoint {
            model: machine.model.symbols.name.to_string(),
            t: self.t,
            fingerprint: fingerprint(&machine.model),
            origin: [self.origin, settings.interval, self.reach.unwrap_or(0.0)],
            y: self.y.clone(),
            yp: self.yp.clone(),
            mem: machine.mem.clone(),
            conditions: numbers(self.events.conditions.iter().map(|c| *c as u8 as f64)),
            samples: numbers(self.events.samples.iter().map(|s| s.count as f64)),
            scales: self.events.scales.clone(),
            sides: machine.sides.clone(),
            shifts: machine.shifts.clone(),
            delays: machine.delays.lines.iter().map(|l| l.stored()).collect(),
            spatials: (machine.distributions.lines.iter())
                .map(|d| d.profile.stored())
                .collect(),
        }
    }

    /// A run at a checkpoint. Parameters and inputs are those of the model as it is loaded now; if they differ from the stored ones,
    /// the continuation begins with an event that makes everything consistent.
    pub(crate) fn resume(
        mut machine: Machine,
        c: &Checkpoint,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<Simulation, SimError> {
        let nominal = start_data(&machine)?.nominal;
        let mut events = EventState::new(&mut machine, c.t)?;
        let fits = c.fingerprint == fingerprint(&machine.model)
            && c.y.len() == machine.model.n
            && c.yp.len() == machine.model.n
            && c.mem.len() == machine.mem.len()
            && c.conditions.len() == events.conditions.len()
            && c.scales.len() == events.scales.len()
            && c.sides.len() == events.scales.len()
            && c.shifts.len() == events.scales.len()
            && c.delays.len() == machine.delays.lines.len()
            && c.spatials.len() == machine.distributions.lines.len();
        if !fits {
            return Err(SimError::Settings(format!(
                "the checkpoint is of `{}` with other variables or equations and does not fit `{}`",
                c.model, machine.model.symbols.name
            )));
        }
        let parameters = parameter_values(&machine);
        machine.mem.copy_from_slice(&c.mem);
        let mut changed = machine.set_time(c.t);
        for (place, value) in parameters {
            changed |= machine.mem[place].to_bits() != value.to_bits();
            machine.mem[place] = value;
        }
        for (value, stored) in events.conditions.iter_mut().zip(&c.conditions) {
            *value = *stored != 0.0;
        }
        match changed {
            true => machine.start_timetable(c.t),
            false => machine.pass_timetable(c.t),
        }
        // Now that free parameters have their values, clocks that depend on them are known.
        events.start_clocks(&mut machine, c.t)?;
        check_samples(&events, &machine.model, settings)?;
        if c.samples.len() != events.samples.len() {
            return Err(c.impossible());
        }
        for (clock, stored) in events.samples.iter_mut().zip(&c.samples) {
            clock.resume(*stored, c.t);
        }
        events.scales.clone_from(&c.scales);
        machine.sides.clone_from(&c.sides);
        machine.shifts.clone_from(&c.shifts);
        for (line, stored) in machine.delays.lines.iter_mut().zip(&c.delays) {
            line.restore(stored, c.t).ok_or_else(|| c.impossible())?;
        }
        for (line, stored) in machine.distributions.lines.iter_mut().zip(&c.spatials) {
            let restored = line.profile.restore(stored);
            restored.ok_or_else(|| c.impossible())?;
        }
        let restart = restart_system(&machine)?;
        let mut run = Simulation::new(machine, events, restart, nominal, settings);
        (run.y, run.yp) = (c.y.clone(), c.yp.clone());
        let [origin, interval, reach] = c.origin;
        run.reach = (reach > 0.0).then_some(reach);
        if interval == settings.interval {
            run.origin = origin;
            let passed = ((c.t - run.origin) / settings.interval).floor();
            if !(0.0..MOST_ROWS).contains(&passed) {
                return Err(c.impossible());
            }
            run.next_output = passed as u64;
        }
        if changed {
            let (events, mut ctx) = run.context(settings);
            let outcome = events.handle(&mut ctx, &[])?;
            summary.events += 1;
            absorb(summary, outcome);
        }
        run.machine.update(run.t, &run.y, &run.yp);
        run.check_finite(run.t)?;
        Ok(run)
    }
}

impl Checkpoint {
    /// Distance of the output instants of the run that it is from.
    pub fn interval(&self) -> f64 {
        self.origin[1]
    }

    fn impossible(&self) -> SimError {
        SimError::Settings(format!(
            "the checkpoint of `{}` has a past that no run can have",
            self.model
        ))
    }
}

fn numbers(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.collect()
}

/// Places and values of the parameters that the model itself determines.
fn parameter_values(machine: &Machine) -> Vec<(usize, f64)> {
    let model = &machine.model;
    let mut values = Vec::new();
    for (id, var) in model.symbols.var_ids().filter(|(_, v)| v.is_parameter()) {
        let Some(base) = model.region(id, acausal_expr::ValueKind::Value) else {
            continue;
        };
        // A parameter with `fixed = false` was computed at the start of the first run.
        let computed = |k: usize| {
            let fixed = model.fixed_of.get(&id).map(|f| machine.mem[f + k]);
            fixed == Some(0.0)
        };
        values.extend(
            (0..var.len())
                .filter(|&k| !computed(k))
                .map(|k| (base + k, machine.mem[base + k])),
        );
    }
    values
}

/// The equations, and names and sizes of everything that has a place in memory.
fn fingerprint(model: &CompiledModel) -> u64 {
    let mut hash = Fnv::default();
    model.symbols.fingerprint.hash(&mut hash);
    let relations = [model.events.cells, model.events.timetable.cells];
    let sizes = [model.n, model.mem_len, relations[0], relations[1]];
    (sizes, model.events.conditions_len).hash(&mut hash);
    for u in &model.unknowns {
        if let Some((var, _)) = u.value {
            (model.symbols.var(var).name.element(&[]), u.len).hash(&mut hash);
        }
    }
    for o in &model.outputs {
        let v = model.symbols.var(o.var);
        (v.name.element(&[]), &v.dims).hash(&mut hash);
    }
    hash.finish()
}
