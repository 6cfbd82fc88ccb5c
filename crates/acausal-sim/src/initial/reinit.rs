//! Values after `reinit` where constraints restrict the states.
//!
//! `reinit(vx, 0)` of a pendulum in Cartesian coordinates leaves `x*vx + y*vy = 0` violated: the velocity vy has to follow. What follows and what stays is ranked as at the
//! start ([`super::conditions`]): the equations with their constraints first, then the new values, then the values before the event; among these first the states of
//! constraints that still hold, so that new velocities leave the positions alone.
//!
//! In: values with new states. Out: values that satisfy all constraints, or an error that names the new value which contradicts them.
//!
//! Example: pendulum, x = 0.6, y = -0.8, `reinit(vx, 1)`. The constraint `x^2 + y^2 = 1` holds, so x and y are kept first; two conditions
//! (vx = 1 and x = 0.6, y following from its constraint) leave no room for the old vy, which becomes 0.75.

use acausal_index1::{Role, RowKind};

use super::conditions::{self, Condition};
use super::{StartData, choice, roles};
use crate::SimError;
use crate::consistent::{ConsistentSystem, Point};
use crate::error::{InitialFailure, InitialKind};

/// A constraint holds when its error is below this fraction of its terms.
const HOLDS: f64 = 1e-9;

/// Makes the states satisfy the constraints, some of which `reinit` has given new values.
pub(crate) fn after_reinit(
    system: &ConsistentSystem,
    at: &mut Point,
    given: &[usize],
) -> Result<(), SimError> {
    let model = at.machine.model.clone();
    let n = model.n;
    let constraints: Vec<usize> = (0..n)
        .filter(|&r| model.row_kinds[r] == RowKind::Constraint)
        .collect();
    if constraints.is_empty() {
        return Ok(());
    }
    let mut r = vec![0.0; n + model.initial.len];
    at.machine.initial_residual(at.t, at.y, at.yp, &mut r);
    let sizes = system.row_sizes(at.machine, at.t, at.y, at.yp, at.nominal);
    let mut holds = vec![false; model.initial.jacobian.sparsity().rows];
    for &row in &constraints {
        holds[row] = r[row].abs() <= HOLDS * sizes[row].max(f64::MIN_POSITIVE);
    }
    if constraints.iter().all(|&row| holds[row]) {
        return Ok(());
    }
    let data = data(at, given, &holds);
    let role = roles(&model);
    let state = |c: &u32| role[*c as usize] == Role::State;
    let mut kept = conditions::choose_after_event(at.machine, &data, state)?;
    if let Some(better) = choice::well_conditioned(at.machine, &data, at.t, &kept) {
        kept = better;
    }
    let dropped = kept.dropped.clone();
    let mut solved = ConsistentSystem::new(at.machine, kept.columns, kept.rows)?;
    if let Err(mut failure) = solved.solve(at) {
        failure.start = false;
        return Err(SimError::Initialisation(failure));
    }
    for condition in dropped {
        let Condition::Start(c) = condition else {
            continue;
        };
        let c = c as usize;
        let size = at.y[c].abs().max(data.y[c].abs()).max(at.nominal[c]);
        if (at.y[c] - data.y[c]).abs() > super::AGREES * size {
            let mut failure = InitialFailure::new(InitialKind::Inconsistent, at.t);
            failure.start = false;
            failure.span = model.unknown_span(c);
            failure.condition = Some(condition.text(at.machine, &data));
            let name = crate::error::unknown_text(&model, c);
            failure.unknowns.push((name, at.y[c]));
            return Err(SimError::Initialisation(Box::new(failure)));
        }
    }
    Ok(())
}

/// What is known: all values, of which those given now are fixed, and those in constraints that hold are preferred.
fn data(at: &Point, given: &[usize], holds: &[bool]) -> StartData {
    let model = &at.machine.model;
    let n = model.n;
    let s = model.initial.jacobian.sparsity();
    let in_one_that_holds = |c: usize| s.entries(c).any(|k| holds[s.row_idx[k] as usize]);
    let free = model.initial.free.iter();
    let free: Vec<usize> = free.flat_map(|f| f.base..f.base + f.len).collect();
    StartData {
        y: at.y.to_vec(),
        yp: at.yp.to_vec(),
        nominal: at.nominal.to_vec(),
        fixed: (0..n).map(|c| given.contains(&c)).collect(),
        given: vec![true; n],
        preference: (0..n).map(|c| u8::from(in_one_that_holds(c))).collect(),
        unknown: vec![false; free.len()],
        free,
    }
}
