//! What is said when no consistent values are found: which block, its equations and residuals, guesses and values of its
//! unknowns, and where the equations are singular the dependent set and the direction that nothing determines.

use acausal_solver::linear::rank_deficiency;
use acausal_solver::newton::Nonlinear;
use acausal_solver::{EvalReason, NewtonError};

use super::model::Unknowns;
use super::{ConsistentSystem, Point, Trouble};
use crate::error::{InitialFailure, InitialKind};

/// Equations and unknowns of a block that are named.
const SHOWN: usize = 8;

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
        failure.block = block.map(|(k, blocks)| (k + 1, blocks.len(), rows.len()));
        let deficiency = match block {
            Some((k, blocks)) => {
                let (pattern, own) = blocks.matrix(k, &values);
                own.iter()
                    .all(|v| v.is_finite())
                    .then(|| rank_deficiency(pattern, &own))
                    .flatten()
            }
            None if values.iter().all(|v| v.is_finite()) => rank_deficiency(&self.pattern, &values),
            None => None,
        };
        let name = |j: usize| at.machine.column_text(self.columns[j] as usize);
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
            if d.right.len() == d.cols.len() {
                let first = d.right.first().copied().unwrap_or(1.0);
                let largest = d
                    .right
                    .iter()
                    .fold(0.0f64, |m, v| m.max(v.abs()))
                    .copysign(first);
                failure.direction = (d.cols.iter().zip(&d.right))
                    .map(|(&j, v)| (name(cols[j]), v / largest))
                    .collect();
            }
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
        let mut worst: Vec<(usize, f64)> = rows.iter().map(|&i| (i, r[i])).collect();
        worst.sort_by(|a, b| {
            let size = |v: f64| if v.is_nan() { f64::INFINITY } else { v.abs() };
            size(b.1).total_cmp(&size(a.1))
        });
        if let NewtonError::Evaluation {
            reason: EvalReason::NotFinite { row },
        } = trouble.error
        {
            failure.kind = InitialKind::NotFinite;
            let row = rows.get(row).copied().unwrap_or(row);
            worst.retain(|w| w.0 != row);
            worst.insert(0, (row, r[row]));
        }
        worst.truncate(SHOWN);
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
}
