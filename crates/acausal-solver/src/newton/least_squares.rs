//! Levenberg-Marquardt steps towards a solution, for guesses from which Newton's method does not converge.
//!
//! In: a square [`Nonlinear`] system and a guess. Out: a point near a solution, from which Newton's method then converges
//! quadratically; or an error where the sum of squares has a minimum that is no zero.
//!
//! Each step solves `min |S (J dx + F)|^2 + mu |D dx|^2` with equilibrated rows S and the sizes of the unknowns D, as the
//! augmented system of the module `step`. `mu` falls after a step that reduces the residual and grows otherwise, so that
//! the step turns from Newton's towards steepest descent (More 1978). Singular Jacobians on the way do no harm.
//!
//! Worked example: `x^2 = 1` from x = 1e-3: Newton's step goes to 500; here the first steps are short and x = 1 is found.

use super::step::StepSolver;
use super::{NewtonError, NewtonOptions, Nonlinear};
use crate::dae::{EvalReason, first_not_finite};

/// First weight of the step against the residual.
const FIRST_MU: f64 = 1e-2;
/// Largest and smallest weight.
const MU: (f64, f64) = (1e-12, 1e8);
/// Bound on Jacobian evaluations.
const MOST_STEPS: usize = 200;
/// The equilibrated residual may be this large when Newton's method takes over.
const NEAR: f64 = 1e-6;

/// Moves `x` near to a solution.
pub fn least_squares<S: Nonlinear + ?Sized>(
    system: &mut S,
    x: &mut [f64],
    options: &NewtonOptions,
) -> Result<(), NewtonError> {
    let n = system.len();
    let mut solver = StepSolver::regularised(system.pattern())?;
    let mut values = vec![0.0; system.pattern().nnz()];
    let (mut r, mut next) = (vec![0.0; n], vec![0.0; n]);
    let (mut dx, mut trial) = (vec![0.0; n], vec![0.0; n]);
    let mut mu = FIRST_MU;
    let not_finite = |list: &[f64]| first_not_finite(list).map(|row| EvalReason::NotFinite { row });
    let refused = |reason| NewtonError::Evaluation { reason };
    system
        .residual(x, &mut r)
        .map_err(|e| refused(e.reason()))?;
    if let Some(reason) = not_finite(&r) {
        return Err(refused(reason));
    }
    for _ in 0..MOST_STEPS {
        system
            .jacobian(x, &mut values)
            .map_err(|e| refused(e.reason()))?;
        if let Some(k) = first_not_finite(&values) {
            let row = system.pattern().row_idx()[k] as usize;
            return Err(refused(EvalReason::NotFinite { row }));
        }
        loop {
            solver
                .factor_with(&values, x, options, mu)
                .map_err(|s| NewtonError::Singular {
                    row: s.row,
                    col: s.col,
                })?;
            let before = solver.residual_norm(&r);
            if before <= NEAR {
                return Ok(());
            }
            solver.solve(&r, &mut dx);
            for (j, ((t, x), d)) in trial.iter_mut().zip(x.iter()).zip(&dx).enumerate() {
                *t = options.inside_bounds(j, x + d);
            }
            let evaluated = system.residual(&trial, &mut next).is_ok();
            let after = solver.residual_norm(&next);
            // NaN compares false: an undefined point is no progress.
            if evaluated && after < (1.0 - 1e-4) * before {
                x.copy_from_slice(&trial);
                std::mem::swap(&mut r, &mut next);
                mu = (mu * 0.2).max(MU.0);
                break;
            }
            mu *= 8.0;
            if mu > MU.1 {
                let worst = (0..n).max_by(|&a, &b| r[a].abs().total_cmp(&r[b].abs()));
                let row = worst.unwrap_or(0);
                return Err(NewtonError::NoConvergence {
                    iterations: MOST_STEPS as u32,
                    row,
                    residual: r.get(row).copied().unwrap_or(0.0),
                    variable: 0,
                    step: 0.0,
                });
            }
        }
    }
    // Newton's method judges whether this is near enough.
    Ok(())
}
