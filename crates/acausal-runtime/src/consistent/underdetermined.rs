//! Unknowns that the equations leave open without harm: of all solutions the nearest one is taken.
//!
//! Two brakes that both hold a shaft share its torque in a way that no equation tells; so do two locked clutches in
//! parallel, or two limits that a controller has reached at once. The equations are consistent, their matrix is singular, and
//! what is open enters nothing else. Newton's method with the step of least norm has then found the solution nearest to the
//! guess; here it is judged whether it may be taken. It may where relations select the equations, so that they are singular
//! in this combination; equations that are singular without any relation are refused.
//!
//! In: a system that is solved and whose matrix J is singular. Out ([`Underdetermined`]): the directions u with `J u = 0`, if they
//! consist of algebraic unknowns only. A direction with a derivative or a state in it is not harmless: the trajectory
//! would depend on the choice. For each direction there is a row that depends on the others; with a multiple of
//! `u' D^2 (y - y0)` added to it (D: one over the sizes of the unknowns) the system is regular and has the solution that is
//! nearest to y0: with w' the dependency of the rows, `w' F = 0` leaves `u' D^2 (y - y0) = 0`, and the row itself is as it
//! was. This is what the integrator sees ([`crate::bordered`]).
//!
//! Cost: one sparse factorisation ([`super::null_space`]), only where the matrix is singular.
//!
//! Example: `tau1 + tau2 = 4` and nothing else about them, from 0 and 0: tau1 = tau2 = 2, u = (1, -1).

use acausal_expr::unknown::UnknownRole;

use super::{ConsistentSystem, Point};
use crate::error::InitialFailure;
use crate::initial::roles;

/// What is below this fraction of the largest entry does not take part in a direction.
const SUPPORT: f64 = 1e-7;
/// Names in a warning.
const NAMED: usize = 6;

/// Directions that are open.
#[derive(Clone, Debug)]
pub(crate) struct Underdetermined {
    pub directions: Vec<FreeDirection>,
    /// What would be said if the solution were not taken.
    pub failure: Box<InitialFailure>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct FreeDirection {
    /// A row of the model that depends on the others.
    pub row: u32,
    /// The size of its entries.
    pub size: f64,
    /// Components of `x` with their weights `u D^2`; a move by the size of an unknown counts about one.
    pub weights: Vec<(u32, f64)>,
}

impl Underdetermined {
    /// Components of `x` that are open.
    pub fn columns(&self) -> Vec<u32> {
        let all = self.directions.iter().flat_map(|d| &d.weights);
        let mut columns: Vec<u32> = all.map(|w| w.0).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// What the user is told; `how` says which solution was taken.
    pub fn text(&self, at: &Point, how: &str) -> String {
        let columns = self.columns();
        let name = |&c: &u32| at.machine.column_text(c as usize);
        let value = |c: &u32| format!("{} = {}", name(c), crate::error::short(at.column(*c)));
        let listed = |mut texts: Vec<String>| {
            if columns.len() > NAMED {
                texts.push(format!("and {} more", columns.len() - NAMED));
            }
            texts.join(", ")
        };
        format!(
            "the equations do not determine {} at time = {}, and no state depends on it; the solution {how} was taken: {}",
            listed(columns.iter().take(NAMED).map(name).collect()),
            at.t,
            listed(columns.iter().take(NAMED).map(value).collect()),
        )
    }
}

impl ConsistentSystem {
    /// Takes solutions with harmless open directions from now on, or no longer. Gives what was the case.
    pub fn set_lenient(&mut self, lenient: bool) -> bool {
        std::mem::replace(&mut self.lenient, lenient)
    }

    /// The directions that the last solution left open.
    pub fn underdetermined(&self) -> Option<&Underdetermined> {
        self.underdetermined.as_ref()
    }

    /// Solves in the way of the last solution: if that left something open, this one may as well.
    pub fn solve_again(&mut self, at: &mut Point) -> Result<usize, Box<InitialFailure>> {
        let lenient = self.lenient || self.underdetermined.is_some();
        let before = self.set_lenient(lenient);
        let solved = self.solve(at);
        self.set_lenient(before);
        solved
    }

    /// The open directions at values that satisfy the equations, if they do no harm.
    pub(super) fn harmless(
        &self,
        at: &mut Point,
        failure: Box<InitialFailure>,
    ) -> Option<Underdetermined> {
        let n = at.machine.model.n;
        // Without relations the equations are always the same, and a model that never determines an unknown is a mistake.
        let events = &at.machine.model.events;
        if events.cells + events.timetable.cells == 0 {
            return None;
        }
        let role = roles(&at.machine.model);
        let (space, border) = self.bordered_null_space(at)?;
        let mut directions = Vec::new();
        for (u, &(row, size)) in space.right.iter().zip(&border) {
            let row = self.rows[row];
            // Derivatives of constraints are no rows of the integrator.
            if row as usize >= n {
                return None;
            }
            let scale = |c: u32| at.column(c).abs().max(at.nominal[c as usize % n]);
            let sized: Vec<f64> = (u.iter().zip(&self.columns))
                .map(|(u, &c)| {
                    if c as usize >= 2 * n {
                        *u
                    } else {
                        u / scale(c)
                    }
                })
                .collect();
            let largest = sized.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let norm = sized.iter().map(|v| v * v).sum::<f64>().sqrt();
            if !(largest > 0.0 && norm.is_finite()) {
                return None;
            }
            let mut weights = Vec::new();
            for (&v, &c) in sized.iter().zip(&self.columns) {
                if v.abs() <= SUPPORT * largest {
                    continue;
                }
                if c as usize >= n || role[c as usize] != UnknownRole::Algebraic {
                    return None;
                }
                weights.push((c, v / norm / scale(c)));
            }
            directions.push(FreeDirection { row, size, weights });
        }
        Some(Underdetermined {
            directions,
            failure,
        })
    }
}
