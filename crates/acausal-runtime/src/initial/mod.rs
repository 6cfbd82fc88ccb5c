//! The start: which values hold and which follow (MLS 3.6 §8.6).
//!
//! Unknown at the start are `x`, `x'` and the parameters with `fixed = false`. Known are all residuals, the derivatives
//! that the index reduction found, the initial equations and the start values with `fixed = true`. What is still missing
//! is taken from start values that are not fixed, and what is too much must agree with the rest:
//!
//! 1. [`start`]: the values of the attributes.
//! 2. [`conditions`]: equations and conditions are matched with unknowns in the order of their rank; a condition that
//!    finds no unknown is redundant, an unknown that finds no condition takes its start value.
//! 3. [`choice`]: where several start values could be kept, those that determine the rest well.
//! 4. [`homotopy`]: where the model says how, the guesses are moved to the solution that is meant.
//! 5. [`crate::consistent`]: the square system that remains is solved, block by block.
//!    A large model whose states are all known needs none of this ([`explicit`]).
//! 6. [`undetermined`]: where the numbers show that it still leaves something open, conditions are exchanged for start
//!    values.
//!    Where there is nothing to exchange and the rest does not depend on it, the solution nearest to the guesses is taken.
//!    (After `reinit` at an event the same is done where constraints restrict the states: [`reinit`].)
//! 7. [`InitialSystem::redundant`]: conditions that were left out are looked at again: satisfied, or contradicting.

mod choice;
mod conditions;
mod elimination;
mod explicit;
mod failure;
mod homotopy;
mod parameters;
mod reinit;
mod start;
mod undetermined;

pub(crate) use failure::short;
pub use failure::{InitialFailure, InitialKind};
pub(crate) use homotopy::follow_homotopy;
pub(crate) use parameters::check_parameters;
pub(crate) use reinit::after_reinit;
pub(crate) use start::{StartData, roles, start_data};

use acausal_compiled::CompiledModel;
use acausal_expr::unknown::UnknownRole;

use crate::consistent::{ConsistentSystem, Point};
use crate::error::{derivative_text, unknown_text};
use crate::machine::Machine;
use crate::{Note, SimError};
use conditions::StartCondition;

/// The system of the start, and the conditions that are not part of it.
pub(crate) struct InitialSystem {
    /// The equations that are solved.
    pub system: ConsistentSystem,
    /// Conditions of the model that the others imply, or contradict.
    dropped: Vec<StartCondition>,
    /// Conditions that stand for the dropped ones, by their text.
    steady: bool,
    /// All states are known: fixed, given or kept at their start values.
    explicit: bool,
}

/// How often conditions are exchanged for start values.
const EXCHANGES: usize = 20;
/// Names in a note.
const SHOWN: usize = 6;
/// A condition that was left out holds when its error is below this fraction of its terms: start values are often written
/// with a few digits.
const AGREES: f64 = 1e-5;

/// The system of the start, and notes about start values that were chosen. With `steady` all derivatives of states are
/// zero as far as the equations allow it; this goes before fixed start values.
pub(crate) fn initial_system(
    machine: &mut Machine,
    data: &StartData,
    t: f64,
    steady: bool,
) -> Result<(InitialSystem, Vec<Note>), SimError> {
    if let Some(explicit) = explicit::explicit(machine, data, steady) {
        return Ok(explicit);
    }
    general(machine, data, t, steady)
}

/// The same by the equations and conditions themselves.
fn general(
    machine: &mut Machine,
    data: &StartData,
    t: f64,
    steady: bool,
) -> Result<(InitialSystem, Vec<Note>), SimError> {
    let mut kept = conditions::choose(machine, data, steady)?;
    if let Some(better) = choice::well_conditioned(machine, data, t, &kept) {
        kept = better;
    }
    let mut notes = Vec::new();
    notes.extend(held_note(machine, data, &kept.held));
    let system = ConsistentSystem::new(machine, kept.columns, kept.rows)?.at_start(data);
    Ok((
        InitialSystem {
            system,
            dropped: kept.dropped,
            steady,
            explicit: false,
        },
        notes,
    ))
}

impl InitialSystem {
    /// Solves with the conditions as they are; true if there is a solution near.
    fn attempt(&mut self, at: &mut Point) -> bool {
        if self.explicit {
            explicit::set_given(at);
        }
        self.system.solve(at).is_ok()
    }

    /// Solves for the start. Where the solution is one of many, start values that are not fixed select it.
    pub fn solve(
        &mut self,
        at: &mut Point,
        data: &StartData,
        notes: &mut Vec<Note>,
    ) -> Result<(), SimError> {
        if self.explicit {
            explicit::set_given(at);
            if self.system.solve(at).is_ok() {
                return Ok(());
            }
            // What is wrong, the general system can tell.
            *self = general(at.machine, data, at.t, self.steady)?.0;
            at.y.copy_from_slice(&data.y);
            at.yp.copy_from_slice(&data.yp);
        }
        for _ in 0..EXCHANGES {
            let failure = match self.system.solve(at) {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            let found = (failure.solved)
                .then(|| undetermined::exchange(&self.system, at, data, self.steady))
                .flatten();
            let Some(found) = found else {
                if failure.solved {
                    return self.solve_leniently(at);
                }
                return Err(SimError::Initialisation(failure));
            };
            notes.push(open_note(at.machine, data, &found));
            self.apply(at.machine, found, data)?;
            at.y.copy_from_slice(&data.y);
            at.yp.copy_from_slice(&data.yp);
        }
        self.system
            .solve(at)
            .map(|_| ())
            .map_err(SimError::Initialisation)
    }

    /// Solves for the start where no start value selects one of many solutions: the nearest to the guesses, if the rest
    /// does not depend on which.
    fn solve_leniently(&mut self, at: &mut Point) -> Result<(), SimError> {
        let before = self.system.set_lenient(true);
        let solved = self.system.solve(at);
        self.system.set_lenient(before);
        solved.map(|_| ()).map_err(SimError::Initialisation)
    }

    /// The system after an exchange of conditions.
    fn apply(
        &mut self,
        machine: &Machine,
        found: undetermined::Exchange,
        data: &StartData,
    ) -> Result<(), SimError> {
        let n = machine.model.n;
        let known: Vec<usize> = found.held.iter().filter_map(|c| c.column(n)).collect();
        let mut columns = self.system.columns().to_vec();
        let mut rows = self.system.rows().to_vec();
        columns.retain(|&c| !known.contains(&(c as usize)));
        for &condition in &found.dropped {
            match condition {
                StartCondition::Row(row) => rows.retain(|&r| r != row),
                other => columns.extend(other.column(n).map(|c| c as u32)),
            }
        }
        columns.sort_unstable();
        self.system = ConsistentSystem::new(machine, columns, rows)?.at_start(data);
        self.dropped.extend(found.dropped);
        Ok(())
    }

    /// Checks the conditions that were left out, at the solution.
    pub fn redundant(
        &self,
        machine: &mut Machine,
        data: &StartData,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> Result<Option<Note>, SimError> {
        if self.dropped.is_empty() {
            return Ok(None);
        }
        let mut r = vec![0.0; machine.model.n + machine.model.initial.len];
        machine.initial_residual(t, y, yp, &mut r);
        let sizes = self.system.row_sizes(machine, t, y, yp, &data.nominal);
        let (mut agree, mut replaced) = (Vec::new(), Vec::new());
        let (mut against, mut unsteady) = (Vec::new(), Vec::new());
        for &condition in &self.dropped {
            let (error, size) = match condition {
                StartCondition::Row(row) => (r[row as usize], sizes[row as usize]),
                StartCondition::Start(c) => {
                    let (now, start) = (y[c as usize], data.y[c as usize]);
                    let size = now.abs().max(start.abs()).max(data.nominal[c as usize]);
                    (now - start, size)
                }
                StartCondition::Slope(c) => (yp[c as usize], data.nominal[c as usize]),
                StartCondition::Guess(_) => continue,
            };
            let text = condition.text(machine, data);
            if let (true, StartCondition::Slope(c)) = (self.steady, condition)
                && error.abs() > AGREES * size
            {
                let name = derivative_text(&machine.model, c as usize);
                unsteady.push(format!("{name} = {}", short(error)));
                continue;
            }
            if error.abs() <= AGREES * size.max(f64::MIN_POSITIVE) {
                agree.push(text);
            } else if self.steady
                && !matches!(condition, StartCondition::Row(row) if machine.model.is_initial_equation(row as usize))
            {
                replaced.push(text);
            } else {
                against.push((condition, error));
            }
        }
        if let Some(&(first, error)) = against.first() {
            return Err(SimError::Initialisation(Box::new(
                self.contradiction(machine, data, first, error, y, yp, t),
            )));
        }
        let mut parts = Vec::new();
        if !agree.is_empty() {
            parts.push(format!(
                "conditions of the start that the others imply: {}",
                listed(&agree)
            ));
        }
        if !unsteady.is_empty() {
            parts.push(format!(
                "the equations do not allow a steady state of these: {}",
                listed(&unsteady)
            ));
        }
        if !replaced.is_empty() {
            parts.push(format!(
                "start values that the steady state replaces: {}",
                listed(&replaced)
            ));
        }
        Ok((!parts.is_empty()).then(|| Note {
            text: parts.join("; "),
        }))
    }

    #[allow(clippy::too_many_arguments)]
    fn contradiction(
        &self,
        machine: &Machine,
        data: &StartData,
        condition: StartCondition,
        error: f64,
        y: &[f64],
        yp: &[f64],
        t: f64,
    ) -> InitialFailure {
        let mut failure = InitialFailure::new(InitialKind::Inconsistent, t);
        failure.condition = Some(condition.text(machine, data));
        match condition {
            StartCondition::Row(row) => failure.rows.push((row as usize, error)),
            StartCondition::Start(c) | StartCondition::Slope(c) => {
                failure.span = machine.model.unknown_span(c as usize);
                let (name, value) = match condition {
                    StartCondition::Slope(_) => {
                        (derivative_text(&machine.model, c as usize), yp[c as usize])
                    }
                    _ => (unknown_text(&machine.model, c as usize), y[c as usize]),
                };
                failure.unknowns.push((name, value));
            }
            StartCondition::Guess(_) => {}
        }
        failure
    }
}

/// The system for consistent values after an event: states are known, constraints between them are replaced by their
/// highest derivatives, multipliers μ are zero.
pub(crate) fn restart_system(machine: &Machine) -> Result<ConsistentSystem, SimError> {
    let model = &machine.model;
    if let Some(system) = ConsistentSystem::explicit(machine) {
        return Ok(system);
    }
    let n = model.n;
    let role = roles(model);
    let columns = (0..2 * n)
        .filter(|&c| {
            if c >= n {
                has_slope(role[c - n])
            } else {
                role[c] == UnknownRole::Algebraic
            }
        })
        .map(|c| c as u32)
        .collect();
    let rows = (0..n)
        .filter(|&r| model.row_kinds[r].constraint_level().is_none())
        .chain(n..n + model.initial.hidden_len)
        .map(|r| r as u32)
        .collect();
    ConsistentSystem::new(machine, columns, rows)
}

/// Components of `x` whose derivative follows from the equations. Multipliers μ are known: zero.
fn has_slope(role: UnknownRole) -> bool {
    matches!(role, UnknownRole::State | UnknownRole::Lambda)
}

/// A note on what is held at a start value the user did not fix.
fn held_note(machine: &Machine, data: &StartData, held: &[StartCondition]) -> Option<Note> {
    let model: &CompiledModel = &machine.model;
    let auxiliary = model.auxiliaries();
    let held: Vec<&StartCondition> = held
        .iter()
        .filter(|c| !matches!(c, StartCondition::Start(c) if auxiliary[*c as usize]))
        .collect();
    // Names are made for those that are shown only: there may be a million.
    let shown = held.iter().take(SHOWN).map(|c| c.text(machine, data));
    let mut shown: Vec<String> = shown.collect();
    if held.len() > SHOWN {
        shown.push(format!("and {} more", held.len() - SHOWN));
    }
    (!held.is_empty()).then(|| Note {
        text: format!(
            "start values that are not fixed were used: {}",
            shown.join(", ")
        ),
    })
}

/// A note on start values that select one of many solutions.
fn open_note(machine: &Machine, data: &StartData, found: &undetermined::Exchange) -> Note {
    let mut open: Vec<String> = (found.open.iter().take(SHOWN))
        .map(|&c| machine.column_text(c as usize))
        .collect();
    if found.open.len() > SHOWN {
        open.push(format!("and {} more", found.open.len() - SHOWN));
    }
    let held: Vec<String> = (found.held.iter()).map(|c| c.text(machine, data)).collect();
    Note {
        text: format!(
            "the conditions of the start do not determine {}; start values that are not fixed were used: {}",
            open.join(", "),
            listed(&held)
        ),
    }
}

/// The first few of a list.
fn listed(texts: &[String]) -> String {
    let mut shown: Vec<String> = texts.iter().take(SHOWN).cloned().collect();
    if texts.len() > SHOWN {
        shown.push(format!("and {} more", texts.len() - SHOWN));
    }
    shown.join(", ")
}
