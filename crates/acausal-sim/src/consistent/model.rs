//! The model as a nonlinear system of the unknowns that are solved for.

use acausal_solver::newton::Nonlinear;
use acausal_solver::{EvalError, Pattern};

use super::ConsistentSystem;
use crate::machine::Machine;

/// A system with the model and the point it is evaluated at.
pub(super) struct Unknowns<'a> {
    system: Shape<'a>,
    machine: &'a mut Machine,
    t: f64,
    y: &'a mut [f64],
    yp: &'a mut [f64],
    /// All rows of the initial system.
    full: Vec<f64>,
}

/// The parts of a [`ConsistentSystem`] that are read while it is solved.
struct Shape<'a> {
    columns: &'a [u32],
    rows: &'a [u32],
    pattern: &'a Pattern,
    entries: &'a [u32],
}

impl<'a> Unknowns<'a> {
    pub fn new(
        system: &'a ConsistentSystem,
        machine: &'a mut Machine,
        t: f64,
        y: &'a mut [f64],
        yp: &'a mut [f64],
    ) -> Unknowns<'a> {
        let full = vec![0.0; machine.model.n + machine.model.initial.len];
        Unknowns {
            system: Shape {
                columns: &system.columns,
                rows: &system.rows,
                pattern: &system.pattern,
                entries: &system.entries,
            },
            machine,
            t,
            y,
            yp,
            full,
        }
    }

    fn place(&mut self, x: &[f64]) {
        for (&c, &v) in self.system.columns.iter().zip(x) {
            self.machine.set_column(c as usize, v, self.y, self.yp);
        }
    }
}

impl Nonlinear for Unknowns<'_> {
    fn len(&self) -> usize {
        self.system.columns.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        self.machine
            .initial_residual(self.t, self.y, self.yp, &mut self.full);
        for (r, &row) in r.iter_mut().zip(self.system.rows) {
            *r = self.full[row as usize];
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        let all = self.machine.initial_jacobian(self.t, self.y, self.yp);
        for (v, &k) in values.iter_mut().zip(self.system.entries) {
            *v = all[k as usize];
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        self.system.pattern
    }
}
