//! Damped Newton iteration for nonlinear systems `F(x) = 0`: initialisation and event iteration.
//!
//! In: a [`Nonlinear`] system with a sparse Jacobian, a first guess, optionally nominal values and bounds. Out: the
//! solution in place, or a typed failure that names the worst equation or the singular pivot.
//!
//! Method: the error-oriented, affine-invariant damping of Deuflhard, "Newton Methods for Nonlinear Problems" (2004),
//! sec. 3.3 (code NLEQ1). A trial step is judged by the *simplified* Newton correction `J(x)^-1 F(x + lambda dx)`, not by
//! the residual, so the scaling of equations does not matter; only the nominal values of the unknowns do. Trial points
//! where the model is not defined (error or NaN) shorten the step.
//!
//! A singular square Jacobian does not end the iteration: a regularised step is made instead. If that leads to a solution
//! the statistics tell where it was singular, otherwise [`NewtonError::Singular`] does.
//!
//! Systems with fewer equations than unknowns get the step of least (weighted) norm, systems with more equations the
//! least-squares step; the latter must be consistent at the solution (see the module `step`).
//!
//! Worked example: `x^2 = 2` from x = 1: corrections 0.5, -0.0833, -2.45e-3, -2.1e-6, quadratic convergence with full
//! steps. `atan(x) = 0` from x = 3: the full step goes to -9.49, the simplified correction is larger than the step, so
//! lambda is cut and the iteration converges.
//!
//! | module | what |
//! |---|---|
//! | `iteration` | the iteration itself, as a state machine |
//! | `step` | the linear problem of one step |
//! | [`blocks`] | block triangular systems, block by block |
//! | `lock_step` | the blocks that do not wait for each other, with one evaluation for all of them |
//! | `torn` | tearing inside a block |
//! | `rescue` | what is tried where a block does not converge |
//! | `least_squares` | Levenberg-Marquardt steps, for guesses from which the above does not converge |
//! | [`continuation`] | a solution is followed while a parameter moves from 0 to 1 |

pub mod blocks;
mod bracket;
pub mod continuation;
mod iteration;
mod least_squares;
mod lock_step;
mod one_block;
mod options;
mod rescue;
mod step;
mod torn;

pub use blocks::{BlockFailure, BlockNewton, BlockStatistics};
pub use options::{NewtonError, NewtonOptions, NewtonStatistics};
pub use torn::{Tearing, UntornBlock};

use crate::dae::DaeError;
use crate::pattern::Pattern;
use iteration::{Iteration, Request};

/// A nonlinear system `F(x) = 0`.
pub trait Nonlinear {
    /// Number of unknowns.
    fn len(&self) -> usize;

    /// Whether there is nothing to solve.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of equations, if it differs from that of the unknowns.
    fn equations(&self) -> usize {
        self.len()
    }

    /// Writes `F(x)` to `r`.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError>;

    /// Writes the values of `dF/dx` in the order of [`Nonlinear::pattern`].
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError>;

    /// Sparsity of the Jacobian: square, of the larger of both numbers, with empty rows or columns at the end if the
    /// system is rectangular.
    fn pattern(&self) -> &Pattern;
}

/// Solves the system, starting from and writing to `x`.
pub fn solve<S: Nonlinear + ?Sized>(
    system: &mut S,
    x: &mut [f64],
    options: &NewtonOptions,
) -> Result<NewtonStatistics, NewtonError> {
    Newton::new(system)?.solve(system, x, options)
}

/// The iteration with its analysis of the pattern, for systems that are solved again and again.
pub struct Newton {
    iteration: Iteration,
}

impl Newton {
    /// Analyses the pattern of a system.
    pub fn new<S: Nonlinear + ?Sized>(system: &S) -> Result<Self, NewtonError> {
        let iteration = Iteration::new(system.pattern(), system.len(), system.equations())?;
        Ok(Self { iteration })
    }

    /// Solves a system with the pattern of the one given to [`Newton::new`], starting from and writing to `x`; after a
    /// failure `x` is the last point that was accepted.
    pub fn solve<S: Nonlinear + ?Sized>(
        &mut self,
        system: &mut S,
        x: &mut [f64],
        options: &NewtonOptions,
    ) -> Result<NewtonStatistics, NewtonError> {
        options.check(system.len(), x.len())?;
        let it = &mut self.iteration;
        let mut ask = it.begin(x.iter().copied(), options);
        loop {
            ask = match ask {
                Request::Residual => {
                    let mut r = std::mem::take(&mut it.r);
                    let evaluated = system.residual(it.point(), &mut r);
                    it.r = r;
                    it.got_residual(evaluated, options)
                }
                Request::Jacobian => {
                    let mut values = std::mem::take(&mut it.values);
                    let evaluated = system.jacobian(it.point(), &mut values);
                    it.values = values;
                    it.got_jacobian(evaluated, options)
                }
                Request::Done => break,
            }
        }
        x.copy_from_slice(&it.x);
        it.result(options)
    }
}
