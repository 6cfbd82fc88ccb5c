//! Values after `reinit` where constraints restrict the states.
//!
//! `reinit(vx, 0)` of a pendulum in Cartesian coordinates leaves `x*vx + y*vy = 0` violated: the velocity vy has to follow. What follows and what stays is decided level by level
//! ([`acausal_expr::unknown::RowKind`]): first the positions with the constraints between them, then, the positions being known, the velocities with the derivatives of these constraints.
//! In each level the constraints come first, then the new values, then the values before the event, each if it is independent of those before it
//! ([`super::elimination`]). So a new velocity never moves a position, whatever it is; nobody asked for that, and a position is continuous. What is then not
//! determined follows from the equations.
//!
//! In: values with new states. Out: values that satisfy all constraints, or an error that names the new value which contradicts them.
//!
//! Example: pendulum, x = 0.6, y = -0.8. `reinit(vx, 1)`: of the positions x is kept and y follows (where it was), then vx = 1 is kept and vy becomes 0.75. With `reinit(vy, 1)`
//! beside it there is no room for the second one: vy = 0.75 is not 1, an error.

use acausal_expr::unknown::UnknownRole;

use super::conditions::StartCondition;
use super::elimination::{Elimination, INDEPENDENT, PIVOT, Row, scale_row};
use super::{StartData, has_slope, roles};
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
        .filter(|&r| model.row_kinds[r].constraint_level().is_some())
        .collect();
    if constraints.is_empty() {
        return Ok(());
    }
    let mut r = vec![0.0; n + model.initial.len];
    at.machine.initial_residual(at.t, at.y, at.yp, &mut r);
    let sizes = system.row_sizes(at.machine, at.t, at.y, at.yp, at.nominal);
    let holds = |row: &usize| r[*row].abs() <= HOLDS * sizes[*row].max(f64::MIN_POSITIVE);
    if constraints.iter().all(holds) {
        return Ok(());
    }
    let data = data(at, given);
    let (known, dropped) = unrestricted_states(at, &data, &constraints).map_err(|row| {
        let mut failure = InitialFailure::new(InitialKind::Singular, at.t);
        failure.start = false;
        failure.rows.push((row, r[row]));
        SimError::Initialisation(Box::new(failure))
    })?;
    let role = roles(&model);
    let unknown = |c: usize| match c < n {
        true => role[c] == UnknownRole::Algebraic || role[c] == UnknownRole::State && !known[c],
        false => has_slope(role[c - n]),
    };
    let columns = (0..2 * n).filter(|&c| unknown(c)).map(|c| c as u32);
    let rows = 0..(n + model.initial.hidden_len) as u32;
    let mut solved = ConsistentSystem::new(at.machine, columns.collect(), rows.collect())?;
    if let Err(mut failure) = solved.solve(at) {
        failure.start = false;
        return Err(SimError::Initialisation(failure));
    }
    for c in dropped {
        let size = at.y[c].abs().max(data.y[c].abs()).max(at.nominal[c]);
        if (at.y[c] - data.y[c]).abs() > super::AGREES * size {
            let mut failure = InitialFailure::new(InitialKind::Inconsistent, at.t);
            failure.start = false;
            failure.span = model.unknown_span(c);
            let condition = StartCondition::Start(c as u32);
            failure.condition = Some(condition.text(at.machine, &data));
            let name = crate::error::unknown_text(&model, c);
            failure.unknowns.push((name, at.y[c]));
            return Err(SimError::Initialisation(Box::new(failure)));
        }
    }
    Ok(())
}

/// Per unknown whether it is a state that stays as it is, and the new values that the others and the constraints determine. An error is a constraint that does not restrict
/// the states at these values.
fn unrestricted_states(
    at: &mut Point,
    data: &StartData,
    constraints: &[usize],
) -> Result<(Vec<bool>, Vec<usize>), usize> {
    let model = at.machine.model.clone();
    let role = roles(&model);
    let levels: Vec<u8> = (model.unknowns.iter())
        .flat_map(|u| std::iter::repeat_n(u.level, u.len))
        .collect();
    let s = model.initial.jacobian.sparsity();
    let mut rows = vec![Row::new(); model.n];
    let values = at.machine.initial_jacobian(at.t, at.y, at.yp);
    for c in (0..model.n).filter(|&c| role[c] == UnknownRole::State) {
        let scale = at.y[c].abs().max(at.nominal[c]);
        for k in s.entries(c) {
            let row = s.row_idx[k] as usize;
            if row < model.n && model.row_kinds[row].constraint_level().is_some() {
                rows[row].insert(c, values[k] * scale);
            }
        }
    }
    let mut known: Vec<bool> = role.iter().map(|r| *r == UnknownRole::State).collect();
    let mut restricted = vec![false; model.n];
    for &row in constraints {
        rows[row].keys().for_each(|&c| restricted[c] = true);
    }
    let mut elimination = Elimination::new(model.n);
    let mut dropped = Vec::new();
    let highest = levels.iter().copied().max().unwrap_or(0);
    for level in (0..=highest).rev() {
        let of_level = |c: usize| restricted[c] && levels[c] == level;
        for &row in constraints {
            if model.row_kinds[row].constraint_level() != Some(level) {
                continue;
            }
            let mut entries = std::mem::take(&mut rows[row]);
            if !scale_row(&mut entries) || !elimination.take(entries, PIVOT, of_level) {
                return Err(row);
            }
        }
        let states = (0..model.n).filter(|&c| of_level(c));
        let (new, mut old): (Vec<usize>, Vec<usize>) = states.partition(|&c| data.fixed[c]);
        let mut take =
            |c: usize, limit: f64| elimination.take(Row::from([(c, 1.0)]), limit, of_level);
        for c in new {
            if !take(c, INDEPENDENT[1]) {
                known[c] = false;
                dropped.push(c);
            }
        }
        for limit in INDEPENDENT {
            old.retain(|&c| !take(c, limit));
        }
        old.into_iter().for_each(|c| known[c] = false);
    }
    Ok((known, dropped))
}

/// What is known: all values, of which those given now are fixed.
fn data(at: &Point, given: &[usize]) -> StartData {
    let model = &at.machine.model;
    let n = model.n;
    let free = model.initial.free.iter();
    let free: Vec<usize> = free.flat_map(|f| f.base..f.base + f.len).collect();
    let mut fixed = vec![false; n];
    given.iter().for_each(|&c| fixed[c] = true);
    StartData {
        y: at.y.to_vec(),
        yp: at.yp.to_vec(),
        nominal: at.nominal.to_vec(),
        fixed,
        given: vec![true; n],
        preference: vec![0; n],
        unknown: vec![false; free.len()],
        free,
    }
}
