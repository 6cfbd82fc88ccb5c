//! Large systems in which every equation has its own unknown: the derivative of a state, or an algebraic one.
//!
//! All of them have as many equations as components of `x`, and column `k` of their matrix is that of `x'[k]` or `x[k]`
//! ([`acausal_compiled::CompiledModel::consistent`]); nothing about them has to be listed. Where the matrix is diagonal up to the order of rows, as that of explicit
//! differential equations is, the solution is a division: two corrections by the same matrix, the second of which tells
//! that the first was good, as in [`acausal_solver::newton`] and with the same bits. Where it is not, or where that does not
//! converge, the lists are made and the general solution takes over.

use acausal_compiled::{CompiledModel, Schedule, Sparsity};
use acausal_expr::unknown::{RowKind, UnknownRole};
use acausal_solver::{NewtonOptions, Pattern, PatternError};

use super::{ConsistentSystem, Point};
use crate::initial::roles;
use crate::machine::Machine;

/// A system of which nothing is listed.
#[derive(Default)]
pub(super) struct Explicit {
    /// How its matrix is filled; made when it is first needed.
    schedule: Option<Schedule>,
    diagonal: bool,
    /// Columns, rows and pattern have been made.
    listed: bool,
}

impl ConsistentSystem {
    /// The system of a large model whose states are known and independent; nothing for other models.
    pub fn explicit(machine: &Machine) -> Option<ConsistentSystem> {
        let model = &*machine.model;
        let ordinary = |r: UnknownRole| matches!(r, UnknownRole::State | UnknownRole::Algebraic);
        let constraint = |k: &RowKind| k.constraint_level().is_some();
        let explicit = model.n > machine.scale.blocks_to
            && model.initial.hidden_len == 0
            && model.unknowns.iter().all(|u| ordinary(u.role))
            && !model.row_kinds.iter().any(constraint);
        explicit.then(|| ConsistentSystem {
            explicit: Some(Explicit::default()),
            ..ConsistentSystem::default()
        })
    }

    /// How the matrix is filled, if the values are those of [`CompiledModel::consistent`].
    pub(super) fn schedule(&self) -> Option<&Schedule> {
        self.explicit.as_ref()?.schedule.as_ref()
    }

    /// Solves by division. False and unchanged where the matrix is not diagonal or the solution is not found that way.
    pub(super) fn divide(&mut self, at: &mut Point) -> bool {
        let Some(explicit) = &mut self.explicit else {
            return false;
        };
        let n = at.machine.model.n;
        if explicit.schedule.is_none() {
            let schedule = at.machine.model.consistent();
            explicit.diagonal = is_diagonal(&schedule.sparsity);
            explicit.schedule = Some(schedule);
        }
        let Some(schedule) = explicit.schedule.as_ref().filter(|_| explicit.diagonal) else {
            return false;
        };
        let options = NewtonOptions::default();
        let rows = &schedule.sparsity.row_idx;
        let mut matrix = vec![0.0; n];
        (at.machine).consistent_jacobian(schedule, at.t, at.y, at.yp, &mut matrix);
        if matrix.iter().any(|v| *v == 0.0 || !v.is_finite()) {
            return false;
        }
        let model = at.machine.model.clone();
        let guess = explicit_values(&model, at.y, at.yp);
        let stays = self.stays;
        let mut last = f64::INFINITY;
        for round in 0..2 {
            (at.machine).residual_to_out(at.t, at.y, at.yp);
            let mut norm = 0.0f64;
            let mut first = 0;
            for u in &model.unknowns {
                let range = first..first + u.len;
                first = range.end;
                let x = match u.role {
                    UnknownRole::State => &mut at.yp[range.clone()],
                    _ => &mut at.y[range.clone()],
                };
                // Column k is that of unknown k; its one entry is in whatever row gives it.
                let equations = rows[range.clone()].iter().zip(&matrix[range.clone()]);
                for ((x, (r, m)), nominal) in x.iter_mut().zip(equations).zip(&at.nominal[range]) {
                    let r = at.machine.out[*r as usize];
                    let d = -r / m;
                    let size = (d / x.abs().max(*nominal)).abs();
                    // A step that is no number must not be overlooked.
                    norm = if size <= norm { norm } else { size };
                    *x += d;
                }
            }
            if stays && round == 0 && norm <= options.tolerance {
                set_explicit_values(&model, &guess, at);
                return true;
            }
            if norm <= options.tolerance && norm <= last {
                return true;
            }
            if !norm.is_finite() {
                break;
            }
            last = norm;
        }
        set_explicit_values(&model, &guess, at);
        false
    }

    /// Makes the lists of an explicit system.
    pub(super) fn list(&mut self, model: &CompiledModel) -> Result<(), PatternError> {
        let Some(explicit) = self.explicit.as_mut().filter(|e| !e.listed) else {
            return Ok(());
        };
        let schedule = (explicit.schedule.take()).unwrap_or_else(|| model.consistent());
        let (n, s) = (model.n, &schedule.sparsity);
        self.pattern = Pattern::new(n, s.col_ptr.clone(), s.row_idx.clone())?;
        explicit.schedule = Some(schedule);
        explicit.listed = true;
        self.rows = (0..n as u32).collect();
        self.columns = (roles(model).iter().zip(0u32..))
            .map(|(role, k)| match role {
                UnknownRole::State => n as u32 + k,
                _ => k,
            })
            .collect();
        Ok(())
    }
}

/// Whether a square matrix has one entry in each column and one in each row: diagonal up to the order of rows.
fn is_diagonal(s: &Sparsity) -> bool {
    let one_each = |(k, p): (usize, &u32)| k == *p as usize;
    if s.row_idx.len() != s.rows || !s.col_ptr.iter().enumerate().all(one_each) {
        return false;
    }
    let mut seen = vec![false; s.rows];
    let new = |r: &u32| !std::mem::replace(&mut seen[*r as usize], true);
    s.row_idx.iter().all(new)
}

/// The unknowns of an explicit system.
fn explicit_values(model: &CompiledModel, y: &[f64], yp: &[f64]) -> Vec<f64> {
    let mut values = Vec::with_capacity(model.n);
    for u in &model.unknowns {
        let range = values.len()..values.len() + u.len;
        values.extend_from_slice(match u.role {
            UnknownRole::State => &yp[range],
            _ => &y[range],
        });
    }
    values
}

fn set_explicit_values(model: &CompiledModel, values: &[f64], at: &mut Point) {
    let mut first = 0;
    for u in &model.unknowns {
        let range = first..first + u.len;
        first = range.end;
        match u.role {
            UnknownRole::State => at.yp[range.clone()].copy_from_slice(&values[range]),
            _ => at.y[range.clone()].copy_from_slice(&values[range]),
        }
    }
}
