//! A solution that is not near the values at hand.
//!
//! The output of a comparator with positive feedback jumps without an event when its input reaches the threshold: the
//! solution that the integrator follows ends there (a fold), and the next one is far away. Near the fold the iteration
//! goes to and fro along one line, the direction in which the solution runs away. So guesses are laid out along this line,
//! in both directions and ever further, until one leads to a solution.
//!
//! In: values that nearly satisfy the equations. Out: values that do, or none. A few tens of attempts at most; this is
//! called only when the integrator has given up.

use acausal_solver::linear::{LinearSolver, Lu};
use acausal_solver::{NewtonOptions, Nonlinear};

use super::model::Unknowns;
use super::{ConsistentSystem, Point};

/// Distances of the guesses, in sizes of the unknowns: their nominal values or what they are at the guess.
const DISTANCES: [f64; 8] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// Residuals of a solution, as a part of their terms.
const ROUNDING: f64 = 1e-12;

impl ConsistentSystem {
    /// Solves for the unknown entries of `y` and `yp`, also far away from them; false and unchanged without a solution.
    pub fn solve_from_distant_guesses(&mut self, at: &mut Point) -> bool {
        if self.list(&at.machine.model).is_err() || self.rows.is_empty() {
            return false;
        }
        let options = self.options(at);
        let guess = self.gather(at);
        let mut x = guess.clone();
        let mut solved = self.solve_firmly(at, &options, &mut x);
        if !solved && let Some(line) = self.line(at, &options, &guess) {
            for distance in DISTANCES.iter().flat_map(|d| [-*d, *d]) {
                for ((x, g), d) in x.iter_mut().zip(&guess).zip(&line) {
                    *x = g + distance * d;
                }
                solved = self.solve_firmly(at, &options, &mut x);
                if solved {
                    break;
                }
            }
        }
        let x = if solved { &x } else { &guess };
        self.scatter(at, x);
        at.update();
        solved
    }

    /// A solution that the ordinary iteration finds again from itself. At a fold there may be a point whose error is
    /// just below the tolerance, but no solution.
    fn solve_firmly(&mut self, at: &mut Point, options: &NewtonOptions, x: &mut [f64]) -> bool {
        self.solve_near(at, options, x).is_ok()
            && self.at_once(at, options, x).is_ok()
            && self.holds(at, x)
    }

    /// Whether the equations hold up to rounding errors. An iteration for something large stops earlier: `sin(y) = 1 + 1e-9` looks solved at a top of the sine at y = 7e5.
    fn holds(&self, at: &mut Point, x: &[f64]) -> bool {
        self.scatter(at, x);
        let sizes = self.row_sizes(at.machine, at.t, at.y, at.yp, at.nominal);
        let mut r = vec![0.0; x.len()];
        let evaluated = Unknowns::new(self, at).residual(x, &mut r).is_ok();
        let mut rows = self.rows.iter().zip(&r);
        evaluated && rows.all(|(&row, r)| r.abs() <= ROUNDING * sizes[row as usize])
    }

    /// The direction of a Newton step from the guess, of length one in sizes of the unknowns.
    fn line(&self, at: &mut Point, options: &NewtonOptions, guess: &[f64]) -> Option<Vec<f64>> {
        let mut unknowns = Unknowns::new(self, at);
        let mut values = vec![0.0; self.pattern.nnz()];
        let mut dx = vec![0.0; guess.len()];
        unknowns.residual(guess, &mut dx).ok()?;
        unknowns.jacobian(guess, &mut values).ok()?;
        let mut lu = Lu::new();
        lu.analyse(&self.pattern).ok()?;
        lu.factor(&values).ok()?;
        lu.solve(&mut dx);
        // Rounding errors of something large are no direction: a derivative of 1e13 per second beside an unknown of one.
        let sizes = (dx.iter().zip(guess).zip(&options.nominal))
            .map(|((d, x), nominal)| (d / x.abs().max(*nominal)).abs());
        let length = sizes.fold(0.0, f64::max);
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        dx.iter_mut().for_each(|d| *d /= length);
        Some(dx)
    }
}
