//! Consistent values close to known ones, with a matrix that was factorised before.
//!
//! Between two looks at the indicators or two output rows the values change little, and so does the matrix of the derivatives and algebraic unknowns: the
//! chord method (Ortega & Rheinboldt 1970, 7.1) goes on with its factors, one residual and one solve per iteration, for as long as every iteration at least halves the correction. A new
//! matrix is made at most once per solution. False, and the values as they were, if that is not enough; Newton's method with its safeguards then takes over.
//!
//! What is left after an iteration with the rate R is `R/(1-R)` of its correction.

use acausal_solver::linear::{LinearSolver, Lu};
use acausal_solver::newton::Nonlinear;
use acausal_solver::{NewtonOptions, Pattern};

/// Bound on the iterations with one matrix.
const MOST_ITERATIONS: usize = 10;
/// A slower rate asks for a new matrix.
const MAX_RATE: f64 = 0.5;

/// A factorised matrix of a system.
pub(super) struct Chord {
    solver: Lu,
    values: Vec<f64>,
    factored: bool,
}

impl Chord {
    /// For matrices of a pattern; nothing if they are all singular.
    pub fn new(pattern: &Pattern) -> Option<Chord> {
        let mut solver = Lu::new();
        solver.analyse(pattern).ok()?;
        Some(Chord {
            solver,
            values: vec![0.0; pattern.nnz()],
            factored: false,
        })
    }

    /// Solves from a guess close to the solution.
    pub fn solve(
        &mut self,
        system: &mut dyn Nonlinear,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> bool {
        let guess = x.to_vec();
        if self.factored && self.iterate(system, options, x) {
            return true;
        }
        x.copy_from_slice(&guess);
        self.factored = system.jacobian(x, &mut self.values).is_ok()
            && self.solver.factor(&self.values).is_ok();
        if self.factored && self.iterate(system, options, x) {
            return true;
        }
        self.factored = false;
        x.copy_from_slice(&guess);
        false
    }

    fn iterate(
        &mut self,
        system: &mut dyn Nonlinear,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> bool {
        let mut d = vec![0.0; x.len()];
        let mut last = f64::INFINITY;
        for m in 0..MOST_ITERATIONS {
            if system.residual(x, &mut d).is_err() {
                return false;
            }
            self.solver.solve(&mut d);
            let mut norm = 0.0f64;
            for ((x, d), nominal) in x.iter_mut().zip(&d).zip(&options.nominal) {
                let size = (d / x.abs().max(*nominal)).abs();
                // A step that is no number must not be overlooked.
                norm = if size <= norm { norm } else { size };
                *x -= d;
            }
            if norm <= options.tolerance {
                return true;
            }
            let rate = norm / last;
            if !norm.is_finite() || (m > 0 && rate > MAX_RATE) {
                return false;
            }
            if m > 0 && rate / (1.0 - rate) * norm <= options.tolerance {
                return true;
            }
            last = norm;
        }
        false
    }
}
