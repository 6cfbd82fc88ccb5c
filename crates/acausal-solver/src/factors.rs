//! The factors of the last step, lent to whoever wants a point inside of it to satisfy the equations.
//!
//! Between the ends of a step the integrator has a polynomial through its history. States on it are as exact as the error test asks;
//! algebraic unknowns, which the test may leave out, and derivatives are not, and together they do not satisfy `F(t, y, y') = 0`. What does is
//! a point `(y + e, y' + cj e)`: the corrector's own problem with the polynomial as its prediction. For the matrix `M = dF/dy + cj dF/dy'` that was
//! factorised for `cj`, one iteration is `M e = -F(t, y, y')`, a residual and a solve, and it converges as the corrector does, with stiff equations
//! too. (With the states held fixed a mode of eigenvalue `-mu` would converge by `mu/(cj + mu)` only.) States move by `(x' - f)/cj`, which is at most of the size
//! of the local error.
//!
//! Example: `x' = -x + z; 0 = z - sin(50 t)` with long steps, as x changes slowly. The polynomial of z is off by its size; one iteration gives
//! `e_z = sin(50 t) - z`, whatever the polynomial said.

use crate::dae::Dae;
use crate::linear::LinearSolver;
use crate::parallel::team_for;

/// The factorised iteration matrix of the last step.
pub struct StepFactors<'a> {
    solver: &'a mut (dyn LinearSolver + Send),
    cj: f64,
    at_end: bool,
}

impl<'a> StepFactors<'a> {
    pub(crate) fn new(
        solver: &'a mut (dyn LinearSolver + Send),
        cj: f64,
        at_end: bool,
    ) -> StepFactors<'a> {
        StepFactors { solver, cj, at_end }
    }

    /// The factor of `dF/dy'` in the matrix: where y changes by e, y' changes by `cj e`.
    pub fn cj(&self) -> f64 {
        self.cj
    }

    /// The point is the end of the step, where y satisfies the equations as the corrector left it.
    pub fn at_end(&self) -> bool {
        self.at_end
    }

    /// Replaces a residual by the step that has to be *subtracted* from y.
    pub fn solve<D: Dae + ?Sized>(&mut self, dae: &mut D, residual: &mut [f64]) {
        let team = team_for(dae, residual.len());
        self.solver.solve_on(team, residual);
    }
}
