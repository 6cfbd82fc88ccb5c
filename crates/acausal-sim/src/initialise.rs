//! Which start values hold and which follow (MLS 3.6 §8.6).
//!
//! Equations at the start: all residuals and all initial equations. Known: start values with `fixed = true`. States
//! without a fixed start are free as far as initial equations need them to be; the others are held at their start
//! value, with a note that says so. Which ones are free is a matching problem: first every row is matched with
//! derivatives and algebraic unknowns; rows that are left take a free state, those without a start value first.

use acausal_codegen::Compiled;
use acausal_expr::Kind;
use acausal_index1::{Role, RowKind};
use acausal_structure::{Rows, VarId, matching::maximum_matching};

use crate::consistent::ConsistentSystem;
use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;
use crate::{Note, SimError};

/// What is known about each component of `x` before the start.
pub(crate) struct StartData {
    /// Start values.
    pub y: Vec<f64>,
    /// Guesses of the derivatives.
    pub yp: Vec<f64>,
    /// Nominal values, not zero.
    pub nominal: Vec<f64>,
    /// `fixed = true`.
    fixed: Vec<bool>,
    /// A start value is written in the model.
    given: Vec<bool>,
}

/// Collects start, nominal and fixed attributes by component of `x`.
pub(crate) fn start_data(machine: &Machine) -> Result<StartData, SimError> {
    let model = &machine.model;
    let n = model.n;
    let mut data = StartData {
        y: vec![0.0; n],
        yp: vec![0.0; n],
        nominal: vec![1.0; n],
        fixed: vec![false; n],
        given: vec![false; n],
    };
    let mut i = 0;
    for u in &model.unknowns {
        if let Some((var, Kind::Value)) = u.value {
            let pick = |base: Option<&usize>, k: usize| base.map(|b| machine.mem[b + k]);
            for j in 0..u.len {
                let k = u.elements.as_ref().map_or(j, |e| e[j] as usize);
                if let Some(v) = pick(model.start_of.get(&var), k) {
                    if !v.is_finite() {
                        let span = model.flat.var(var).span;
                        return Err(SimError::StartNotFinite {
                            name: model.unknown_name(i + j),
                            span,
                        });
                    }
                    data.y[i + j] = v;
                    data.given[i + j] = true;
                }
                if let Some(v) = pick(model.nominal_of.get(&var), k)
                    && v.is_finite()
                    && v != 0.0
                {
                    data.nominal[i + j] = v.abs();
                }
                data.fixed[i + j] = pick(model.fixed_of.get(&var), k).is_some_and(|v| v != 0.0);
            }
        }
        // A multiplier is the derivative of its integral: its start value is a guess there.
        if let Some((var, Kind::Value)) = u.derivative
            && let Some(&base) = model.start_of.get(&var)
        {
            for j in 0..u.len {
                let k = u.elements.as_ref().map_or(j, |e| e[j] as usize);
                let guess = machine.mem[base + k];
                if guess.is_finite() {
                    data.yp[i + j] = guess;
                }
            }
        }
        i += u.len;
    }
    Ok(data)
}

/// The unknowns of the initial system, and notes about start values that were chosen.
pub(crate) fn initial_system(
    machine: &Machine,
    data: &StartData,
) -> Result<(ConsistentSystem, Vec<Note>), SimError> {
    let model = &machine.model;
    let n = model.n;
    let rows = n + model.initial_len;
    let state = roles(model);
    let always = |c: usize| -> bool {
        // Derivatives of states, multipliers, and algebraic unknowns that are not fixed.
        if c >= n {
            has_slope(state[c - n])
        } else {
            state[c] == Role::Algebraic && !data.fixed[c]
        }
    };
    let basic: Vec<u32> = (0..2 * n)
        .filter(|&c| always(c))
        .map(|c| c as u32)
        .collect();
    if basic.len() == rows
        && model.initial_len == 0
        && !data
            .fixed
            .iter()
            .zip(&state)
            .any(|(f, r)| *f && *r == Role::Algebraic)
    {
        let notes = held_states(model, data, &state, &[]);
        return Ok((
            ConsistentSystem::new(machine, basic, (0..rows as u32).collect())?,
            notes,
        ));
    }
    let s = &model.initial_jacobian.sparsity;
    let mut incidence: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for c in 0..2 * n {
        for k in s.col_ptr[c]..s.col_ptr[c + 1] {
            incidence[s.row_idx[k] as usize].push(c);
        }
    }
    let rows_of: Vec<&[usize]> = incidence.iter().map(|r| &r[..]).collect();
    let graph: Rows<VarId> = Rows::of(&rows_of);
    let matching = maximum_matching(&graph, 2 * n, |v| always(v.index()));
    let mut assignment = Assignment {
        row_of: matching
            .eq_of_var
            .iter()
            .map(|e| e.map(|e| e.index()))
            .collect(),
        col_of: matching
            .var_of_eq
            .iter()
            .map(|v| v.map(|v| v.index()))
            .collect(),
    };
    let candidate = |c: usize| c < n && state[c] == Role::State && !data.fixed[c];
    let visible = |c: usize| always(c) || candidate(c);
    let mut over = Vec::new();
    for row in 0..rows {
        // States without a written start value first: the user cares least about those.
        if assignment.col_of[row].is_none()
            && !assignment.augment(&incidence, row, visible, |c| candidate(c) && !data.given[c])
            && !assignment.augment(&incidence, row, visible, candidate)
        {
            over.push(row);
        }
    }
    let row_of = assignment.row_of;
    if !over.is_empty() {
        let kind = InitialKind::Overdetermined;
        let rows = over.into_iter().rev().map(|r| (r, 0.0)).collect();
        return Err(SimError::Initialisation(InitialFailure {
            kind,
            t: 0.0,
            rows,
            unknowns: Vec::new(),
        }));
    }
    let missing: Vec<usize> = basic
        .iter()
        .map(|&c| c as usize)
        .filter(|&c| row_of[c].is_none())
        .collect();
    if !missing.is_empty() {
        let name = |c: usize| {
            if c < n {
                model.unknown_name(c)
            } else {
                model.derivative_name(c - n)
            }
        };
        let unknowns = missing.iter().map(|&c| (name(c), 0.0)).collect();
        return Err(SimError::Initialisation(InitialFailure {
            kind: InitialKind::Underdetermined,
            t: 0.0,
            rows: Vec::new(),
            unknowns,
        }));
    }
    let columns: Vec<u32> = (0..2 * n)
        .filter(|&c| row_of[c].is_some())
        .map(|c| c as u32)
        .collect();
    let freed: Vec<usize> = columns
        .iter()
        .map(|&c| c as usize)
        .filter(|&c| c < n && state[c] == Role::State)
        .collect();
    let notes = held_states(model, data, &state, &freed);
    Ok((
        ConsistentSystem::new(machine, columns, (0..rows as u32).collect())?,
        notes,
    ))
}

/// The system for consistent values after an event: states are known, constraints between them are replaced by their
/// highest derivatives, multipliers μ are zero.
pub(crate) fn restart_system(machine: &Machine) -> Result<ConsistentSystem, SimError> {
    let model = &machine.model;
    let n = model.n;
    let role = roles(model);
    let columns = (0..2 * n)
        .filter(|&c| {
            if c >= n {
                has_slope(role[c - n])
            } else {
                role[c] == Role::Algebraic
            }
        })
        .map(|c| c as u32)
        .collect();
    let rows = (0..n)
        .filter(|&r| model.row_kinds[r] != RowKind::Constraint)
        .chain(n..n + model.hidden_len)
        .map(|r| r as u32)
        .collect();
    ConsistentSystem::new(machine, columns, rows)
}

/// Components of `x` whose derivative follows from the equations. Multipliers μ are known: zero.
fn has_slope(role: Role) -> bool {
    matches!(role, Role::State | Role::Lambda)
}

pub(crate) fn roles(model: &Compiled) -> Vec<Role> {
    let mut roles = Vec::with_capacity(model.n);
    for u in &model.unknowns {
        roles.extend(std::iter::repeat_n(u.role, u.len));
    }
    roles
}

/// A note on the states that are held at a start value the user did not fix.
fn held_states(model: &Compiled, data: &StartData, state: &[Role], freed: &[usize]) -> Vec<Note> {
    let held: Vec<usize> = (0..model.n)
        .filter(|&c| state[c] == Role::State && !data.fixed[c] && !freed.contains(&c))
        .filter(|&c| !model.is_auxiliary(c))
        .collect();
    if held.is_empty() {
        return Vec::new();
    }
    const SHOWN: usize = 6;
    let mut names: Vec<String> = held
        .iter()
        .take(SHOWN)
        .map(|&c| format!("{} = {}", model.unknown_name(c), data.y[c]))
        .collect();
    if held.len() > SHOWN {
        names.push(format!("and {} more", held.len() - SHOWN));
    }
    vec![Note {
        text: format!(
            "start values that are not fixed were used: {}",
            names.join(", ")
        ),
    }]
}

/// A matching of rows with columns that grows row by row.
struct Assignment {
    row_of: Vec<Option<usize>>,
    col_of: Vec<Option<usize>>,
}

impl Assignment {
    /// Looks for an alternating path from an unmatched row to an unmatched column that `goal` accepts.
    fn augment(
        &mut self,
        incidence: &[Vec<usize>],
        row: usize,
        visible: impl Fn(usize) -> bool,
        goal: impl Fn(usize) -> bool,
    ) -> bool {
        let mut from: Vec<Option<usize>> = vec![None; self.row_of.len()];
        let mut queue = std::collections::VecDeque::from([row]);
        while let Some(r) = queue.pop_front() {
            for &c in &incidence[r] {
                if !visible(c) || from[c].is_some() {
                    continue;
                }
                match self.row_of[c] {
                    None if goal(c) => {
                        from[c] = Some(r);
                        self.flip(c, row, &from);
                        return true;
                    }
                    None => {}
                    Some(other) => {
                        from[c] = Some(r);
                        queue.push_back(other);
                    }
                }
            }
        }
        false
    }

    /// Reassigns along the path that ends in column `end`.
    fn flip(&mut self, end: usize, start: usize, from: &[Option<usize>]) {
        let mut column = end;
        while let Some(r) = from[column] {
            let previous = self.col_of[r];
            self.col_of[r] = Some(column);
            self.row_of[column] = Some(r);
            match previous {
                Some(p) if r != start => column = p,
                _ => return,
            }
        }
    }
}
