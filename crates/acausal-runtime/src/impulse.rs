//! Equations that were differentiated must not jump at an event: the derivative would be an impulse.
//!
//! In: the discrete values before an event, and the model after it. Out: an error if the sides of such an equation ([`acausal_compiled::ContinuityCode`]) move against each other when its
//! conditions and discrete variables change while everything continuous stays. Both evaluations are made at the values after the event, so that nothing
//! but the change of branches (and what comes out of delays) is seen, whatever the errors of the integrator are. What is assigned moves with the conditions: `mod(time, 2)` jumps, a triangle
//! that is computed from it does not, and only what the model itself differentiates must not.
//!
//! Where a state was given a new value by `reinit` the branches belong to other places, and nothing is compared.
//!
//! Example: `w = if time < 0.5 then 0 else a` with a = 1: at t = 0.5 the sides are (1, 1) with the condition after and (1, 0) with the condition
//! before the event; the difference jumps by 1. `y = if x > 0 then x^2 else 0` at x = 1e-16: (1e-32, 1e-32) and (1e-32, 0).

use acausal_expr::unknown::UnknownRole;

use crate::SimError;
use crate::delay::pieces::DelayPiece;
use crate::event::EventState;
use crate::initial::roles;
use crate::machine::{Machine, ProgramId};

/// What changes at events only, and the states, before an event.
pub(crate) struct BeforeEvent {
    places: Vec<std::ops::Range<usize>>,
    values: Vec<f64>,
    states: Vec<f64>,
    /// What delays read.
    pieces: Vec<DelayPiece>,
}

impl BeforeEvent {
    /// Nothing for models without equations to be looked at.
    pub fn new(events: &EventState, machine: &Machine, y: &[f64]) -> Option<BeforeEvent> {
        if machine.model.events.continuous.is_empty() {
            return None;
        }
        let places = events.discrete_places(machine);
        let values = places.iter().flat_map(|r| &machine.mem[r.clone()]);
        Some(BeforeEvent {
            values: values.copied().collect(),
            places,
            states: states(machine, y),
            pieces: machine.delays.pieces(),
        })
    }

    /// Compares the sides of the equations after the event with the conditions before and after it. What is small is measured by the nominal value of what an
    /// equation says, as in the integrator; without one that is 1.
    pub fn compare(
        &self,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
        tolerance: f64,
    ) -> Result<(), SimError> {
        if states(machine, y) != self.states {
            return Ok(());
        }
        let model = machine.model.clone();
        let sides = |machine: &mut Machine| -> Vec<Vec<f64>> {
            // What is assigned may depend on the conditions, too: `mod(time, 2)` and what is computed from it jump together.
            machine.update(t, y, yp);
            let mut all = Vec::with_capacity(model.events.continuous.len());
            for (k, code) in model.events.continuous.iter().enumerate() {
                machine.run(ProgramId::Sides(k), y, yp);
                all.push(machine.out[..2 * code.len].to_vec());
            }
            all
        };
        let after = sides(machine);
        let kept = self.exchange(machine, &self.values);
        let known = exchange_timetable(machine, None);
        // A jump that comes out of a delay now.
        let (from_left, pieces) = machine.delays.look_from(true, &self.pieces);
        let before = sides(machine);
        machine.delays.look_from(from_left, &pieces);
        exchange_timetable(machine, Some(&known));
        self.exchange(machine, &kept);
        machine.update(t, y, yp);
        for (k, code) in model.events.continuous.iter().enumerate() {
            for i in 0..code.len {
                let side = |v: &[f64]| (v[i], v[i + code.len]);
                let ((l, r), (left, right)) = (side(&after[k]), side(&before[k]));
                let jump = (r - l) - (right - left);
                let nominal = code.nominal.map(|place| machine.mem[place].abs());
                let nominal = nominal.filter(|v| v.is_finite() && *v > 0.0).unwrap_or(1.0);
                let sizes = [l, r, left, right];
                let size = sizes.iter().fold(nominal, |m, v| m.max(v.abs()));
                if jump.abs() > tolerance * size {
                    return Err(SimError::Impulse {
                        t,
                        jump,
                        origin: code.origin,
                    });
                }
            }
        }
        Ok(())
    }

    /// Puts values in the discrete places; what was there.
    fn exchange(&self, machine: &mut Machine, values: &[f64]) -> Vec<f64> {
        let mut kept = Vec::with_capacity(values.len());
        let mut first = 0;
        for r in &self.places {
            let place = &mut machine.mem[r.clone()];
            kept.extend_from_slice(place);
            place.copy_from_slice(&values[first..first + r.len()]);
            first += r.len();
        }
        kept
    }
}

/// Puts back what the timetable has changed at this event, or other values; what was there.
fn exchange_timetable(machine: &mut Machine, values: Option<&[f64]>) -> Vec<f64> {
    let changes = machine.timetable.changes().to_vec();
    let exchange = |(k, (place, before)): (usize, (usize, f64))| {
        let value = values.map_or(before, |v| v[k]);
        std::mem::replace(&mut machine.mem[place], value)
    };
    changes.into_iter().enumerate().map(exchange).collect()
}

fn states(machine: &Machine, y: &[f64]) -> Vec<f64> {
    let roles = roles(&machine.model);
    let state = |&k: &usize| roles[k] == UnknownRole::State;
    (0..y.len()).filter(state).map(|k| y[k]).collect()
}
