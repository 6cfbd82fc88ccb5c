//! Inputs of the model: what they are over time.
//!
//! In: for some top-level inputs a table of instants and values ([`InputSignal`]). Out: their places in `Mem` follow them whenever time is set. Between two instants the value is linear, or held
//! ([`InputSignal::hold`]); before the first and after the last one it stays. Two rows with one instant are a jump.
//!
//! A jump is an event: the integrator comes to it exactly, sees the limit from the left up to there, and starts again after it. So a table is cut at its jumps into pieces, and only the piece of
//! the present time is looked at: `passed` says which jumps are behind. A bend of a linear table is an instant that no step goes over, so that no pulse is lost between two steps, however long
//! they have become; the error test sees the rest. Finding a value costs the logarithm of the rows.
//!
//! Example: `times = [0, 1, 1, 2]`, `values = [0, 1, 5, 5]` rises to 1, jumps to 5 at 1 and stays there. At time 1 it is 1 while `passed < 1`, then 5.

use std::sync::Arc;

use acausal_compiled::CompiledModel;
use acausal_expr::ValueKind;

use crate::machine::Prepared;
use crate::{SettingError, SimError};

/// A top-level input over time.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSignal {
    /// Its name; of an array the name of an element.
    pub name: String,
    /// Instants, ascending; two may be equal.
    pub times: Arc<[f64]>,
    /// As many values.
    pub values: Arc<[f64]>,
    /// Each value stays until the next instant.
    pub hold: bool,
}

/// The inputs of a simulation, with their places.
#[derive(Default)]
pub(crate) struct Inputs {
    courses: Vec<Course>,
    /// Jumps up to this time are behind.
    passed: f64,
}

struct Course {
    place: usize,
    times: Arc<[f64]>,
    values: Arc<[f64]>,
    hold: bool,
}

impl Inputs {
    /// The inputs that settings give.
    pub fn new(prepared: &Prepared, given: &[InputSignal], start: f64) -> Result<Inputs, SimError> {
        let mut courses: Vec<Course> = Vec::with_capacity(given.len());
        for input in given {
            input.check()?;
            let (place, discrete) = prepared.input(&input.name)?;
            if discrete && !input.hold {
                return Err(SimError::Settings(format!(
                    "the input `{}` is discrete: its values are held, not interpolated",
                    input.name
                )));
            }
            if courses.iter().any(|c| c.place == place) {
                let name = input.name.clone();
                return Err(SimError::Setting(SettingError::Twice { name }));
            }
            courses.push(Course {
                place,
                times: input.times.clone(),
                values: input.values.clone(),
                hold: input.hold,
            });
        }
        Ok(Inputs {
            courses,
            passed: start,
        })
    }

    /// Writes the values at a time. True if one is another than before.
    pub fn write(&self, t: f64, mem: &mut [f64]) -> bool {
        let mut changed = false;
        for course in &self.courses {
            let value = course.value(t, self.passed);
            changed |= mem[course.place].to_bits() != value.to_bits();
            mem[course.place] = value;
        }
        changed
    }

    /// Jumps up to this time are taken.
    pub fn pass(&mut self, t: f64) {
        self.passed = t;
    }

    /// The next jump.
    pub fn next_jump(&self) -> f64 {
        let jumps = self.courses.iter().map(|c| c.next_jump(self.passed));
        jumps.fold(f64::INFINITY, f64::min)
    }

    /// The next instant that no step may go over.
    pub fn next_bend(&self, t: f64) -> f64 {
        let bend = |c: &Course| {
            let k = c.times.partition_point(|&at| at <= t);
            c.times.get(k).copied().unwrap_or(f64::INFINITY)
        };
        self.courses.iter().map(bend).fold(f64::INFINITY, f64::min)
    }
}

impl Course {
    fn value(&self, t: f64, passed: f64) -> f64 {
        let (times, values) = (&self.times, &self.values);
        if self.hold {
            let k = times.partition_point(|&at| at <= passed);
            return values[k.saturating_sub(1)];
        }
        // Of the rows after the last jump that is behind, those up to the next one.
        let ahead = self.next_jump(passed);
        let end = times.partition_point(|&at| at < ahead) + usize::from(ahead.is_finite());
        let k = times[..end].partition_point(|&at| at <= t.max(times[0]));
        if k == end {
            return values[end - 1];
        }
        let (from, to) = (times[k - 1], times[k]);
        values[k - 1] + (values[k] - values[k - 1]) * ((t.max(from) - from) / (to - from))
    }

    fn next_jump(&self, passed: f64) -> f64 {
        let times = &self.times;
        let first = times.partition_point(|&at| at <= passed);
        if self.hold {
            // Before the first instant its value holds as well.
            return times.get(first.max(1)).copied().unwrap_or(f64::INFINITY);
        }
        let rest = &times[first..];
        let pair = rest.windows(2).find(|pair| pair[0] == pair[1]);
        pair.map_or(f64::INFINITY, |pair| pair[0])
    }
}

impl InputSignal {
    fn check(&self) -> Result<(), SimError> {
        let wrong = |what: &str| {
            let text = format!("the input `{}` {what}", self.name);
            Err(SimError::Settings(text))
        };
        if self.times.is_empty() || self.times.len() != self.values.len() {
            return wrong("needs as many values as instants, at least one");
        }
        if !self
            .times
            .iter()
            .chain(&*self.values)
            .all(|v| v.is_finite())
        {
            return wrong("has instants or values that are not finite");
        }
        if !self.times.is_sorted() {
            return wrong("has instants that do not ascend");
        }
        if self.times.windows(3).any(|w| w[0] == w[2]) {
            return wrong("has three rows with the same instant");
        }
        Ok(())
    }
}

/// Inputs that nobody gives have their start values all the time.
pub(crate) fn at_start_values(model: &CompiledModel, mem: &mut [f64]) {
    for (id, var) in model.symbols.var_ids().filter(|(_, v)| v.is_free_input()) {
        if let Some(&start) = model.start_of.get(&id)
            && let Some(value) = model.region(id, ValueKind::Value)
        {
            mem.copy_within(start..start + var.len(), value);
        }
    }
}

/// The top-level inputs that can be given: name of the element, place, whether it is discrete.
pub(crate) fn places(model: &CompiledModel) -> Vec<(String, usize, bool)> {
    let assigned = |place: usize| {
        let values = model.local_values.iter();
        values.clone().any(|v| (v.0..v.0 + v.1).contains(&place))
    };
    let mut found = Vec::new();
    for (id, v) in model.symbols.var_ids().filter(|(_, v)| v.is_free_input()) {
        if let Some(base) = model.region(id, ValueKind::Value) {
            let free = (0..v.len()).filter(|&k| !assigned(base + k));
            found.extend(free.map(|k| {
                let name = model.element_name(id, ValueKind::Value, k);
                (name, base + k, v.is_discrete())
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(times: &[f64], values: &[f64], hold: bool) -> Course {
        Course {
            place: 0,
            times: times.into(),
            values: values.into(),
            hold,
        }
    }

    #[test]
    fn limits_from_both_sides_of_a_jump() {
        let c = course(&[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0], false);
        // t, passed, value
        for (t, passed, value) in [
            (-1.0, -1.0, 0.0),
            (0.5, 0.0, 0.5),
            (1.0, 0.0, 1.0),
            (1.0, 1.0, 5.0),
            (1.5, 1.0, 5.5),
            (9.0, 1.0, 6.0),
        ] {
            assert_eq!(c.value(t, passed), value, "at {t}");
        }
        assert_eq!((c.next_jump(0.0), c.next_jump(1.0)), (1.0, f64::INFINITY));
    }

    #[test]
    fn held_values_change_when_their_instant_has_passed() {
        let c = course(&[0.0, 1.0, 2.0], &[3.0, 4.0, 5.0], true);
        for (passed, value, next) in [
            (-1.0, 3.0, 1.0),
            (0.0, 3.0, 1.0),
            (1.0, 4.0, 2.0),
            (2.5, 5.0, f64::INFINITY),
        ] {
            assert_eq!((c.value(9.0, passed), c.next_jump(passed)), (value, next));
        }
        assert_eq!(course(&[0.0], &[3.0], true).next_jump(0.0), f64::INFINITY);
    }
}
