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
//! changed, or of a model with other equations, is refused.
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

use std::collections::VecDeque;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

use acausal_base::Fnv;
use acausal_compiled::Compiled;

use crate::delay::Line;
use crate::delay::pieces::Piece;
use crate::distribution::{Distribution, Sample};
use crate::event::EventState;
use crate::initial::{restart_system, start_data};
use crate::limits::check_samples;
use crate::machine::Machine;
use crate::simulate::{Run, absorb};
use crate::{Settings, SimError, Summary};

/// First line of a file.
const MAGIC: &str = "acausal checkpoint 4";
/// Begins the last line.
const CHECKSUM: &str = "checksum ";

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

impl Run {
    /// The present state.
    pub(crate) fn checkpoint(&self, settings: &Settings) -> Checkpoint {
        let machine = &self.machine;
        let delay = |l: &Line| {
            let Piece { after, slack } = l.piece;
            let mut numbers = vec![l.delay, l.longest, after, slack[0], slack[1]];
            numbers.push(l.samples.len() as f64);
            numbers.extend(l.samples.iter().flat_map(|s| [s.0, s.1]));
            numbers.extend(&l.jumps);
            numbers
        };
        let distribution = |d: &Distribution| {
            let profile = &d.profile;
            let mut numbers = vec![profile.samples.len() as f64];
            let triples = profile.samples.iter();
            numbers.extend(triples.flat_map(|s| [s.entry, s.label, s.value]));
            numbers.extend(&profile.jumps);
            numbers
        };
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
            delays: machine.delays.lines.iter().map(delay).collect(),
            spatials: (machine.distributions.lines.iter())
                .map(distribution)
                .collect(),
        }
    }

    /// A run at a checkpoint. Parameters are those of the model as it is loaded now; if they differ from the stored ones,
    /// the continuation begins with an event that makes everything consistent.
    pub(crate) fn resume(
        mut machine: Machine,
        c: &Checkpoint,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<Run, SimError> {
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
        let mut changed = false;
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
        for (clock, stored) in events.samples.iter_mut().zip(&c.samples) {
            clock.count = *stored as u64;
        }
        events.scales.clone_from(&c.scales);
        machine.sides.clone_from(&c.sides);
        machine.shifts.clone_from(&c.shifts);
        for (line, stored) in machine.delays.lines.iter_mut().zip(&c.delays) {
            restore_delay(line, stored);
        }
        for (line, stored) in machine.distributions.lines.iter_mut().zip(&c.spatials) {
            restore_distribution(line, stored);
        }
        let restart = restart_system(&machine)?;
        let mut run = Run::new(machine, events, restart, nominal, settings);
        (run.y, run.yp) = (c.y.clone(), c.yp.clone());
        let [origin, interval, reach] = c.origin;
        run.reach = (reach > 0.0).then_some(reach);
        if interval == settings.interval {
            run.origin = origin;
            let passed = ((c.t - run.origin) / settings.interval).floor();
            run.next_output = passed.max(0.0) as u64;
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

fn numbers(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.collect()
}

/// Places and values of the parameters that the model itself determines.
fn parameter_values(machine: &Machine) -> Vec<(usize, f64)> {
    let model = &machine.model;
    let mut values = Vec::new();
    for (id, var) in model.symbols.var_ids().filter(|(_, v)| v.is_parameter()) {
        let Some(base) = model.region(id, acausal_expr::Kind::Value) else {
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

/// All sections of a name, in order.
fn all(sections: &mut [(&str, Vec<f64>)], name: &str) -> Vec<Vec<f64>> {
    let named = sections.iter_mut().filter(|s| s.0 == name);
    named.map(|s| std::mem::take(&mut s.1)).collect()
}

fn restore_delay(line: &mut Line, stored: &[f64]) {
    let [delay, longest, after, before, behind, count, rest @ ..] = stored else {
        return;
    };
    line.piece = Piece {
        after: *after,
        slack: [*before, *behind],
    };
    let pairs = 2 * (*count as usize);
    (line.delay, line.longest) = (*delay, *longest);
    let samples = rest.get(..pairs).unwrap_or(rest);
    line.samples = samples.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    line.jumps = rest
        .get(pairs..)
        .map_or_else(VecDeque::new, |j| j.iter().copied().collect());
}

fn restore_distribution(line: &mut Distribution, stored: &[f64]) {
    let [count, rest @ ..] = stored else {
        return;
    };
    let triples = 3 * (*count as usize);
    let samples = rest.get(..triples).unwrap_or(rest).chunks_exact(3);
    let sample = |s: &[f64]| Sample {
        entry: s[0],
        label: s[1],
        value: s[2],
    };
    line.profile.samples = samples.map(sample).collect();
    let jumps = rest.get(triples..).unwrap_or(&[]);
    line.profile.jumps = jumps.iter().copied().collect();
}

/// The equations, and names and sizes of everything that has a place in memory.
fn fingerprint(model: &Compiled) -> u64 {
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

/// The last line of a file that begins with this text.
fn checksum(text: &str) -> String {
    let mut hash = Fnv::default();
    hash.write(text.as_bytes());
    format!("{CHECKSUM}{:016x}\n", hash.finish())
}

impl Checkpoint {
    /// Distance of the output instants of the run that it is from.
    pub fn interval(&self) -> f64 {
        self.origin[1]
    }

    /// As text, see the module.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, values: &[f64]| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name} {}", values.len());
            for v in values {
                let _ = write!(text, " {v:?}");
            }
            text.push('\n');
        };
        line("time", &[self.t]);
        line("origin", &self.origin);
        line("y", &self.y);
        line("yp", &self.yp);
        line("mem", &self.mem);
        line("conditions", &self.conditions);
        line("samples", &self.samples);
        line("scales", &self.scales);
        line("sides", &self.sides);
        line("shifts", &self.shifts);
        for d in &self.delays {
            line("delay", d);
        }
        for s in &self.spatials {
            line("distribution", s);
        }
        line("end", &[]);
        let mut text = format!(
            "{MAGIC}\nmodel {}\nfingerprint {:016x}\n{text}",
            self.model, self.fingerprint
        );
        let sum = checksum(&text);
        text.push_str(&sum);
        text
    }

    /// Reads the text back; a sentence says what is wrong with it.
    pub fn from_text(text: &str) -> Result<Checkpoint, String> {
        if text.lines().next() != Some(MAGIC) {
            return Err("it is no checkpoint of this version of acausal".into());
        }
        let damaged = || "it is not complete".to_string();
        let end = text.rfind(CHECKSUM).ok_or_else(damaged)?;
        let (text, sum) = text.split_at(end);
        if sum != checksum(text) {
            return Err("it was changed after it was written, its checksum is wrong".into());
        }
        let mut lines = text.lines();
        lines.next();
        let mut word = |name: &str| -> Result<String, String> {
            let line = lines.next().ok_or_else(damaged)?;
            let value = line.strip_prefix(name).and_then(|l| l.strip_prefix(' '));
            value.map(str::to_string).ok_or_else(damaged)
        };
        let model = word("model")?;
        let fingerprint = u64::from_str_radix(&word("fingerprint")?, 16).map_err(|_| damaged())?;
        let mut sections: Vec<(&str, Vec<f64>)> = Vec::new();
        for line in lines {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let count: usize = words
                .next()
                .and_then(|w| w.parse().ok())
                .ok_or_else(damaged)?;
            let values: Option<Vec<f64>> = words.map(|w| w.parse().ok()).collect();
            let values = values.filter(|v| v.len() == count).ok_or_else(damaged)?;
            sections.push((name, values));
        }
        if sections.last().map(|s| s.0) != Some("end") {
            return Err(damaged());
        }
        let mut take = |name: &str| -> Result<Vec<f64>, String> {
            let k = sections.iter().position(|s| s.0 == name);
            k.map(|k| std::mem::take(&mut sections[k].1))
                .ok_or_else(damaged)
        };
        let time = take("time")?;
        let origin = take("origin")?;
        let (&[t], Ok(origin)) = (&time[..], origin.try_into()) else {
            return Err(damaged());
        };
        Ok(Checkpoint {
            model,
            fingerprint,
            t,
            origin,
            y: take("y")?,
            yp: take("yp")?,
            mem: take("mem")?,
            conditions: take("conditions")?,
            samples: take("samples")?,
            scales: take("scales")?,
            sides: take("sides")?,
            shifts: take("shifts")?,
            delays: all(&mut sections, "delay"),
            spatials: all(&mut sections, "distribution"),
        })
    }
}
