//! What is said when no consistent values are found: which block, its equations and residuals, guesses and values of its
//! unknowns, and where the equations are singular the dependent set and the direction that nothing determines.

use acausal_base::Span;
use acausal_compiled::Loc;
use acausal_jit::kernel::Bank;
use acausal_solver::linear::{RankDeficiency, rank_deficiency};
use acausal_solver::newton::Nonlinear;
use acausal_solver::{EvalReason, NewtonError, Pattern};

use super::model::Unknowns;
use super::null_space::null_vectors;
use super::{ConsistentSystem, Point, Trouble};
use crate::error::{InitialFailure, InitialKind};

/// Equations and unknowns of a block that are named.
const SHOWN: usize = 8;

/// An equation with less than this fraction of the largest residual holds.
const HOLDS: f64 = 1e-9;
/// Entries of a null vector below this fraction of the largest do not take part.
const SUPPORT: f64 = 1e-8;

/// Which equations depend on each other, with the null vectors also where the matrix is too large for an elimination of all
/// of it.
fn dependency(pattern: &Pattern, values: &[f64]) -> Option<RankDeficiency> {
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut found = rank_deficiency(pattern, values)?;
    if found.structural || !found.right.is_empty() {
        return Some(found);
    }
    let border: Vec<(usize, usize)> = (found.left_over.0.iter().copied())
        .zip(found.left_over.1.iter().copied())
        .collect();
    let Some((space, _)) = null_vectors(pattern, values, &border) else {
        return Some(found);
    };
    let support = |v: &[f64]| -> (Vec<usize>, Vec<f64>) {
        let largest = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let taking_part = v.iter().copied().enumerate();
        taking_part
            .filter(|(_, v)| v.abs() > SUPPORT * largest)
            .unzip()
    };
    if let (Some(left), Some(right)) = (space.left.first(), space.right.first()) {
        (found.rows, found.left) = support(left);
        (found.cols, found.right) = support(right);
    }
    Some(found)
}

impl ConsistentSystem {
    /// Describes a failure at the point in `y`, `yp`.
    pub(super) fn failure(
        &self,
        at: &mut Point,
        guess: &[f64],
        trouble: Trouble,
    ) -> Box<InitialFailure> {
        let count = self.rows.len();
        let x = self.gather(at);
        let (mut r, mut values) = (vec![0.0; count], vec![0.0; self.pattern.nnz()]);
        {
            let mut unknowns = Unknowns::new(self, at);
            // These evaluations write plain numbers; what is not finite is named below.
            let _ = unknowns.residual(&x, &mut r);
            let _ = unknowns.jacobian(&x, &mut values);
        }
        // The rows of the block, or of the whole system.
        let block = trouble.block.zip(self.blocks.as_ref());
        let (rows, cols): (Vec<usize>, Vec<usize>) = match block {
            Some((k, blocks)) => {
                let (rows, cols) = blocks.block(k);
                let wide = |list: &[u32]| list.iter().map(|&v| v as usize).collect();
                (wide(rows), wide(cols))
            }
            None => ((0..count).collect(), (0..count).collect()),
        };
        let mut failure = InitialFailure::new(InitialKind::NoConvergence, at.t);
        failure.start = self.start.is_some();
        failure.solved = trouble.solved;
        failure.homotopy = trouble.homotopy;
        failure.block = block.map(|(k, blocks)| (k + 1, blocks.len(), rows.len()));
        let deficiency = match block {
            Some((k, blocks)) => {
                let (pattern, own) = blocks.matrix(k, &values);
                dependency(pattern, &own)
            }
            None => dependency(&self.pattern, &values),
        };
        let name = |j: usize| at.machine.column_text(self.columns[j] as usize);
        let direction = |d: &RankDeficiency| direction(d, |j| name(cols[j]));
        if let (NewtonError::Singular { .. }, Some(d)) = (trouble.error, &deficiency) {
            failure.kind = InitialKind::Singular;
            failure.rows = (d.rows.iter())
                .map(|&i| (self.rows[rows[i]] as usize, r[rows[i]]))
                .collect();
            if rows.len() <= SHOWN {
                let others = (0..rows.len()).filter(|i| !d.rows.contains(i));
                failure.others = others.map(|i| self.rows[rows[i]] as usize).collect();
            }
            failure.unknowns = (d.cols.iter())
                .map(|&j| (name(cols[j]), x[cols[j]]))
                .collect();
            failure.guesses = d.cols.iter().map(|&j| guess[cols[j]]).collect();
            failure.direction = direction(d);
            return Box::new(failure);
        }
        if let NewtonError::Singular { row, col } = trouble.error {
            failure.kind = InitialKind::Singular;
            if block.is_none() {
                failure.rows = vec![(self.rows[row] as usize, r[row])];
                failure.unknowns = vec![(name(col), x[col])];
                failure.guesses = vec![guess[col]];
                return Box::new(failure);
            }
        }
        if let (NewtonError::NoConvergence { .. }, Some(d)) = (trouble.error, &deficiency) {
            failure.direction = direction(d);
        }
        let mut worst: Vec<(usize, f64)> = rows.iter().map(|&i| (i, r[i])).collect();
        worst.sort_by(|a, b| {
            let size = |v: f64| if v.is_nan() { f64::INFINITY } else { v.abs() };
            size(b.1).total_cmp(&size(a.1))
        });
        if let NewtonError::Evaluation {
            reason: EvalReason::NotFinite { row },
        } = trouble.error
        {
            let row = rows.get(row).copied().unwrap_or(row);
            failure.kind = match r[row].is_finite() {
                true => InitialKind::NoSlope,
                false => InitialKind::NotFinite,
            };
            failure.cause = self.cause(at, row);
            worst.retain(|w| w.0 != row);
            worst.insert(0, (row, r[row]));
        }
        keep_worst(&mut worst);
        // The unknowns of a small block, or those of its worst equation.
        let first = worst.first().map_or(0, |w| w.0) as u32;
        let named: Vec<usize> = if cols.len() <= SHOWN {
            cols
        } else {
            cols.into_iter()
                .filter(|&j| self.pattern.rows_of(j).contains(&first))
                .take(SHOWN)
                .collect()
        };
        failure.unknowns = named.iter().map(|&j| (name(j), x[j])).collect();
        failure.guesses = named.iter().map(|&j| guess[j]).collect();
        failure.rows = (worst.into_iter())
            .map(|(i, r)| (self.rows[i] as usize, r))
            .collect();
        Box::new(failure)
    }
    /// The assigned variable without a finite value that makes a row not finite, if it says more than the row.
    fn cause(&self, at: &Point, row: usize) -> Option<(String, f64, Span)> {
        let model = &at.machine.model;
        let (place, origin) = at.machine.not_finite()?;
        let name = model.name_of(Loc::new(Bank::Mem, place));
        let span = model.symbols.origin(origin).span;
        // Names of the compiler say nothing, and neither does an equation that is shown already.
        let shown = model.row_group(self.rows[row] as usize);
        let tells = !name.starts_with('$') && shown.is_none_or(|(g, _)| g.origin != origin);
        tells.then(|| (name, at.machine.mem[place], span))
    }
}

/// What nothing determines: the largest change is 1, the first one positive.
fn direction(d: &RankDeficiency, name: impl Fn(usize) -> String) -> Vec<(String, f64)> {
    let first = d.right.first().copied().unwrap_or(1.0);
    let largest = d.right.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let largest = largest.copysign(first);
    (d.cols.iter().zip(&d.right))
        .map(|(&j, v)| (name(j), v / largest))
        .collect()
}

/// Of rows with residuals, the worst first: equations that hold have nothing to say, besides the one that is to be named.
fn keep_worst(worst: &mut Vec<(usize, f64)>) {
    let sizes = worst.iter().map(|w| w.1.abs()).filter(|r| r.is_finite());
    let bound = HOLDS * sizes.fold(0.0, f64::max);
    let named = worst.first().map(|w| w.0);
    worst.retain(|w| Some(w.0) == named || w.1.is_nan() || w.1.abs() > bound);
    worst.truncate(SHOWN);
}
