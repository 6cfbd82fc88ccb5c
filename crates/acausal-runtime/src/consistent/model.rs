//! The model at a point, and as a nonlinear system of the unknowns that are solved for.

use acausal_compiled::Schedule;
use acausal_solver::newton::Nonlinear;
use acausal_solver::{DaeError, Pattern};

use super::ConsistentSystem;
use crate::machine::Machine;

/// A model with an instant and values, some of which are unknown.
pub(crate) struct Point<'a> {
    pub machine: &'a mut Machine,
    pub t: f64,
    pub y: &'a mut [f64],
    pub yp: &'a mut [f64],
    /// Nominal values, one per component of `x`.
    pub nominal: &'a [f64],
}

impl Point<'_> {
    /// Evaluates everything that depends on the values.
    pub fn update(&mut self) {
        self.machine.update_all(self.t, self.y, self.yp);
    }

    /// Value of a column of the initial Jacobian.
    pub fn column(&self, c: u32) -> f64 {
        self.machine.column_value(c as usize, self.y, self.yp)
    }

    /// Sets a column of the initial Jacobian.
    pub fn set_column(&mut self, c: u32, value: f64) {
        self.machine.set_column(c as usize, value, self.y, self.yp);
    }
}

/// A system with the point it is evaluated at.
pub(super) struct Unknowns<'a, 'p> {
    system: Shape<'a>,
    at: &'a mut Point<'p>,
    /// All rows of the initial system.
    full: Vec<f64>,
}

/// The parts of a [`ConsistentSystem`] that are read while it is solved.
struct Shape<'a> {
    columns: &'a [u32],
    rows: &'a [u32],
    pattern: &'a Pattern,
    entries: &'a [u32],
    /// Set where the values are those of an explicit system.
    schedule: Option<&'a Schedule>,
}

/// The entries of the matrix at a point.
fn fill(
    system: &Shape<'_>,
    machine: &mut Machine,
    (t, y, yp): (f64, &[f64], &[f64]),
    values: &mut [f64],
) {
    if let Some(schedule) = system.schedule {
        machine.consistent_jacobian(schedule, t, y, yp, values);
        return;
    }
    let all = machine.initial_jacobian(t, y, yp);
    for (v, &k) in values.iter_mut().zip(system.entries) {
        *v = all[k as usize];
    }
}

impl ConsistentSystem {
    fn shape(&self) -> Shape<'_> {
        Shape {
            columns: &self.columns,
            rows: &self.rows,
            pattern: &self.pattern,
            entries: &self.entries,
            schedule: self.schedule(),
        }
    }

    /// The entries of the matrix at a point, by the pattern.
    pub(super) fn matrix(&self, machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.pattern.nnz()];
        fill(&self.shape(), machine, (t, y, yp), &mut values);
        values
    }
}

impl<'a, 'p> Unknowns<'a, 'p> {
    pub fn new(system: &'a ConsistentSystem, at: &'a mut Point<'p>) -> Unknowns<'a, 'p> {
        let full = vec![0.0; at.machine.model.n + at.machine.model.initial.len];
        let system = system.shape();
        Unknowns { system, at, full }
    }

    fn place(&mut self, x: &[f64]) {
        for (&c, &v) in self.system.columns.iter().zip(x) {
            self.at.set_column(c, v);
        }
    }
}

impl Nonlinear for Unknowns<'_, '_> {
    fn len(&self) -> usize {
        self.system.columns.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        self.place(x);
        let at = &mut *self.at;
        (at.machine).initial_residual(at.t, at.y, at.yp, &mut self.full);
        for (r, &row) in r.iter_mut().zip(self.system.rows) {
            *r = self.full[row as usize];
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        self.place(x);
        let at = &mut *self.at;
        let point = (at.t, &*at.y, &*at.yp);
        fill(&self.system, at.machine, point, values);
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        self.system.pattern
    }
}
