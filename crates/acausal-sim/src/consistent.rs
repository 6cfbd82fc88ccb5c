//! Consistent values: some of `x` and `x'` are known, the others follow from the equations.
//!
//! At the start the known ones are fixed start values; after an event they are the states. The equations are the
//! residuals (and, at the start, the initial equations), solved by a damped Newton iteration whose damping follows the
//! natural monotonicity test of Deuflhard (2004, §3.3): a step is accepted when the next simplified correction is
//! shorter. That test does not depend on the scaling of equations.

use acausal_solver::Pattern;
use acausal_solver::linear::{LinearSolver, Lu};

use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;

/// Largest number of Newton iterations.
const MAX_ITERATIONS: usize = 100;
/// Smallest damping factor before the iteration gives up.
const SMALLEST_DAMPING: f64 = 1e-8;
/// A correction below this fraction of the value counts as converged.
const RELATIVE: f64 = 1e-10;
/// The same for values near zero, relative to the nominal value.
const ABSOLUTE: f64 = 1e-12;

/// Which unknowns are solved for from which rows.
pub(crate) struct ConsistentSystem {
    /// Columns of the initial Jacobian: `j` is `x[j]`, `n + j` is `x'[j]`.
    columns: Vec<u32>,
    /// Rows in use, ascending: residuals, hidden rows, initial equations.
    rows: Vec<u32>,
    pattern: Pattern,
    /// Position of each entry of the pattern among the values of the initial Jacobian.
    entries: Vec<u32>,
    lu: Lu,
    analysed: bool,
}

impl ConsistentSystem {
    /// A square system; `columns` and `rows` must have the same size.
    pub fn new(
        machine: &Machine,
        columns: Vec<u32>,
        rows: Vec<u32>,
    ) -> Result<ConsistentSystem, crate::SimError> {
        let s = &machine.model.initial_jacobian.sparsity;
        let mut number = vec![u32::MAX; s.rows];
        for (k, &r) in rows.iter().enumerate() {
            number[r as usize] = k as u32;
        }
        let mut col_ptr = vec![0u32];
        let mut row_idx = Vec::new();
        let mut entries = Vec::new();
        for &c in &columns {
            for k in s.col_ptr[c as usize]..s.col_ptr[c as usize + 1] {
                let row = number[s.row_idx[k] as usize];
                if row != u32::MAX {
                    row_idx.push(row);
                    entries.push(k as u32);
                }
            }
            col_ptr.push(row_idx.len() as u32);
        }
        let pattern =
            Pattern::new(rows.len(), col_ptr, row_idx).map_err(crate::SimError::Pattern)?;
        Ok(ConsistentSystem {
            columns,
            rows,
            pattern,
            entries,
            lu: Lu::new(),
            analysed: false,
        })
    }

    fn residual(
        &self,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
        full: &mut [f64],
        r: &mut Vec<f64>,
    ) {
        machine.initial_residual(t, y, yp, full);
        r.clear();
        r.extend(self.rows.iter().map(|&k| full[k as usize]));
    }

    /// Solves for the unknown entries of `y` and `yp`. `nominal` has one value per component of `x`.
    pub fn solve(
        &mut self,
        machine: &mut Machine,
        t: f64,
        y: &mut [f64],
        yp: &mut [f64],
        nominal: &[f64],
    ) -> Result<usize, InitialFailure> {
        if self.rows.is_empty() {
            machine.update(t, y, yp);
            return Ok(0);
        }
        if !self.analysed {
            self.lu
                .analyse(&self.pattern)
                .map_err(|s| self.singular(machine, t, y, yp, s.row, s.col))?;
            self.analysed = true;
        }
        let mut full = vec![0.0; machine.model.n + machine.model.initial_len];
        let mut r = Vec::with_capacity(self.rows.len());
        let mut values = vec![0.0; self.entries.len()];
        self.residual(machine, t, y, yp, &mut full, &mut r);
        for iteration in 1..=MAX_ITERATIONS {
            if let Some(row) = r.iter().position(|v| !v.is_finite()) {
                return Err(self.failure(
                    machine,
                    InitialKind::NoConvergence,
                    t,
                    y,
                    yp,
                    &r,
                    Some(row),
                ));
            }
            let j = machine.initial_jacobian(t, y, yp);
            for (v, &k) in values.iter_mut().zip(&self.entries) {
                *v = j[k as usize];
            }
            self.lu
                .factor(&values)
                .map_err(|s| self.singular(machine, t, y, yp, s.row, s.col))?;
            let mut dx: Vec<f64> = r.iter().map(|v| -v).collect();
            self.lu.solve(&mut dx);
            let norm = self.norm(&dx, y, yp, nominal);
            if norm <= 1.0 {
                self.apply(&dx, 1.0, y, yp);
                machine.update(t, y, yp);
                return Ok(iteration);
            }
            let (y0, yp0) = (y.to_vec(), yp.to_vec());
            let mut damping = 1.0;
            loop {
                y.copy_from_slice(&y0);
                yp.copy_from_slice(&yp0);
                self.apply(&dx, damping, y, yp);
                self.residual(machine, t, y, yp, &mut full, &mut r);
                let mut next: Vec<f64> = r.iter().map(|v| -v).collect();
                if next.iter().all(|v| v.is_finite()) {
                    self.lu.solve(&mut next);
                    let next_norm = self.norm(&next, &y0, &yp0, nominal);
                    if next_norm <= (1.0 - damping / 4.0) * norm || next_norm <= 1.0 {
                        break;
                    }
                }
                damping *= 0.5;
                if damping < SMALLEST_DAMPING {
                    return Err(self.failure(
                        machine,
                        InitialKind::NoConvergence,
                        t,
                        &y0,
                        &yp0,
                        &r,
                        None,
                    ));
                }
            }
        }
        Err(self.failure(machine, InitialKind::NoConvergence, t, y, yp, &r, None))
    }

    fn apply(&self, dx: &[f64], factor: f64, y: &mut [f64], yp: &mut [f64]) {
        let n = y.len();
        for (&c, d) in self.columns.iter().zip(dx) {
            match (c as usize).checked_sub(n) {
                None => y[c as usize] += factor * d,
                Some(k) => yp[k] += factor * d,
            }
        }
    }

    fn norm(&self, dx: &[f64], y: &[f64], yp: &[f64], nominal: &[f64]) -> f64 {
        let n = y.len();
        let mut worst: f64 = 0.0;
        for (&c, d) in self.columns.iter().zip(dx) {
            let (value, scale) = match (c as usize).checked_sub(n) {
                None => (y[c as usize], nominal[c as usize]),
                Some(k) => (yp[k], nominal[k]),
            };
            worst = worst.max(d.abs() / (RELATIVE * value.abs() + ABSOLUTE * scale));
        }
        worst
    }

    fn singular(
        &self,
        machine: &Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
        row: usize,
        col: usize,
    ) -> InitialFailure {
        InitialFailure {
            kind: InitialKind::Singular,
            t,
            rows: vec![(self.rows[row] as usize, 0.0)],
            unknowns: vec![self.unknown(machine, col, y, yp)],
        }
    }

    fn unknown(&self, machine: &Machine, k: usize, y: &[f64], yp: &[f64]) -> (String, f64) {
        let n = y.len();
        let c = self.columns[k] as usize;
        match c.checked_sub(n) {
            None => (machine.model.unknown_name(c), y[c]),
            Some(j) => (machine.model.derivative_name(j), yp[j]),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn failure(
        &self,
        machine: &Machine,
        kind: InitialKind,
        t: f64,
        y: &[f64],
        yp: &[f64],
        r: &[f64],
        row: Option<usize>,
    ) -> InitialFailure {
        let mut rows: Vec<(usize, f64)> = r.iter().copied().enumerate().collect();
        rows.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        rows.truncate(3);
        if let Some(row) = row {
            rows.insert(0, (row, r[row]));
        }
        // The unknowns that occur in the worst row.
        let worst = rows.first().map_or(0, |x| x.0) as u32;
        let mut unknowns = Vec::new();
        for k in 0..self.columns.len() {
            let range = self.pattern.col_ptr()[k] as usize..self.pattern.col_ptr()[k + 1] as usize;
            if self.pattern.row_idx()[range].contains(&worst) {
                unknowns.push(self.unknown(machine, k, y, yp));
            }
        }
        for row in &mut rows {
            row.0 = self.rows[row.0] as usize;
        }
        InitialFailure {
            kind,
            t,
            rows,
            unknowns,
        }
    }
}
