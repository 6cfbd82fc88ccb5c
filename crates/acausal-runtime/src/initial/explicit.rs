//! The start of a large model whose states are all known.
//!
//! In: the attributes, fixed starts of other names, and the initial equations that only give values ([`acausal_compiled::GivenStart`]). Out: a system in
//! which every state has its value, or nothing where a condition is of another kind or two of them are about the same
//! state; then the conditions are matched with unknowns ([`super::conditions`]). Linear in the number of unknowns, without
//! looking at the pattern.

use acausal_compiled::{GivenValues, InitialRow, Loc};
use acausal_expr::ValueKind;
use acausal_expr::unknown::UnknownRole;
use acausal_jit::kernel::Bank;

use super::conditions::{StartCondition, by_rank};
use super::{InitialSystem, StartData, held_note};
use crate::Note;
use crate::consistent::{ConsistentSystem, Point};
use crate::machine::{Machine, ProgramId};

/// The system of the start, and notes about start values that were used, if it is of this kind.
pub(super) fn explicit(
    machine: &mut Machine,
    data: &StartData,
    steady: bool,
) -> Option<(InitialSystem, Vec<Note>)> {
    let model = machine.model.clone();
    if steady || !data.free.is_empty() {
        return None;
    }
    let system = ConsistentSystem::explicit(machine)?;
    let equations = (model.initial.kinds.iter()).filter(|k| **k == InitialRow::Equation);
    if equations.count() != model.initial.given.len() {
        return None;
    }
    let mut known = data.fixed.clone();
    let mut twice = false;
    let starts = fixed_starts(machine, |k, _| {
        twice |= std::mem::replace(&mut known[k], true)
    });
    if !starts || twice {
        return None;
    }
    for given in &model.initial.given {
        for &(first, count, stride) in &given.places {
            for j in 0..count as isize {
                let k = first.wrapping_add_signed(stride * j);
                if std::mem::replace(&mut known[k], true) {
                    return None;
                }
            }
        }
    }
    let mut held = Vec::new();
    let mut first = 0;
    for u in &model.unknowns {
        let range = first..first + u.len;
        first = range.end;
        match u.role {
            UnknownRole::State => held.extend(range.filter(|&c| !known[c]).map(|c| c as u32)),
            // A condition on what the equations determine.
            _ if known[range].contains(&true) => return None,
            _ => {}
        }
    }
    by_rank(&mut held, data);
    let held: Vec<StartCondition> = held.into_iter().map(StartCondition::Start).collect();
    let notes = held_note(machine, data, &held).into_iter().collect();
    let system = InitialSystem {
        system: system.at_start(data),
        dropped: Vec::new(),
        steady,
        explicit: true,
    };
    Some((system, notes))
}

/// Calls `f` with component and value of every fixed start that is a row of the initial system; false if one of them is
/// about something else than an unknown. They count where the attribute of the element is true.
fn fixed_starts(machine: &Machine, mut f: impl FnMut(usize, f64)) -> bool {
    let model = &machine.model;
    for kind in &model.initial.kinds {
        let InitialRow::Start(var) = kind else {
            continue;
        };
        let len = model.symbols.var(*var).len();
        let Some(&base) = model.fixed_of.get(var) else {
            continue;
        };
        let Some(place) = model.layout.place((*var, ValueKind::Value)) else {
            return false;
        };
        let start = model.start_of.get(var);
        for k in (0..len).filter(|k| machine.mem[base + k] != 0.0) {
            let loc = place.at(k);
            if loc == Loc::NONE || loc.bank() != Bank::Y {
                return false;
            }
            f(loc.index(), start.map_or(0.0, |s| machine.mem[s + k]));
        }
    }
    true
}

/// Sets the states to the values of fixed starts that are rows, and to those that initial equations give.
pub(super) fn set_given(at: &mut Point) {
    fixed_starts(at.machine, |k, v| at.y[k] = v);
    at.machine.run(ProgramId::GivenValues, at.y, at.yp);
    let model = at.machine.model.clone();
    for given in &model.initial.given {
        let mut row = 0;
        for &(first, count, stride) in &given.places {
            for j in 0..count {
                at.y[first.wrapping_add_signed(stride * j as isize)] = match given.values {
                    GivenValues::Literal(v) => v,
                    GivenValues::Mem(base) => at.machine.mem[base + row + j],
                };
            }
            row += count;
        }
    }
}
