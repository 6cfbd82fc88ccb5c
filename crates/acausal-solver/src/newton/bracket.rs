//! Newton directions with an exact search along each of them, for equations with kinks.
//!
//! An amplifier with limits, `y = if g*u > top then top else if g*u < bottom then bottom else g*u`, has a large slope in a
//! narrow range and none outside of it. From outside, a full step leads to the other side of the range, and a damped one
//! must hit the range by chance. So the step length is bracketed: along the direction dx the projection of the simplified
//! correction `-J^-1 F(x + s dx)` on dx is positive at s = 0; if it is negative at the end, its zero is enclosed by
//! bisection. With one nonlinear equation this is the solution itself.
//!
//! In: a square [`Nonlinear`] system and a guess. Out: the solution, or why there is none. At most [`MOST_STEPS`]
//! directions with [`HALVINGS`] evaluations each.
//!
//! Worked example: `y - min(max(-15, 15000*(5 - y/2)), 15) = 0` from y = 15: the direction is -30, the correction at its
//! end is +30, and 30 halvings find y = 9.9987.

use super::step::StepSolver;
use super::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
use crate::dae::first_not_finite;

/// Bound on the number of directions.
const MOST_STEPS: u32 = 60;
/// Halvings of a bracket.
const HALVINGS: u32 = 45;
/// A full step is taken when the simplified correction is at most this fraction of the correction.
const GOOD: f64 = 0.5;

/// Solves a square system.
pub(super) fn bracketing<S: Nonlinear + ?Sized>(
    system: &mut S,
    x: &mut [f64],
    options: &NewtonOptions,
) -> Result<NewtonStatistics, NewtonError> {
    let n = x.len();
    let pattern = system.pattern().clone();
    let mut step = StepSolver::new(&pattern, n, n)?;
    let mut values = vec![0.0; pattern.nnz()];
    let (mut r, mut dx, mut bar, mut trial) =
        (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut statistics = NewtonStatistics::default();
    let scaled = |d: &[f64], x: &[f64]| -> f64 {
        (d.iter().zip(x).enumerate())
            .map(|(j, (d, x))| (d / options.scale(j, *x)).abs())
            .fold(0.0, f64::max)
    };
    let evaluation = |reason| NewtonError::Evaluation { reason };
    system
        .residual(x, &mut r)
        .map_err(|e| evaluation(e.reason()))?;
    let mut norm = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        statistics.iterations += 1;
        statistics.jacobian_evaluations += 1;
        system
            .jacobian(x, &mut values)
            .map_err(|e| evaluation(e.reason()))?;
        if first_not_finite(&values).is_some() || first_not_finite(&r).is_some() {
            break;
        }
        step.factor(&values, x, options)
            .map_err(|s| NewtonError::Singular {
                row: s.row,
                col: s.col,
            })?;
        step.solve(&r, &mut dx);
        norm = scaled(&dx, x);
        if norm <= options.tolerance {
            for (x, d) in x.iter_mut().zip(&dx) {
                *x += d;
            }
            return Ok(statistics);
        }
        let (mut low, mut high, mut at) = (0.0, 1.0, 1.0);
        for halving in 0..=HALVINGS {
            for ((t, x), d) in trial.iter_mut().zip(x.iter()).zip(&dx) {
                *t = x + at * d;
            }
            statistics.residual_evaluations += 1;
            let evaluated = system.residual(&trial, &mut r).is_ok();
            let finite = evaluated && first_not_finite(&r).is_none();
            if finite {
                step.solve(&r, &mut bar);
            }
            let projection: f64 = (dx.iter().zip(&bar).zip(x.iter()).enumerate())
                .map(|(j, ((d, b), x))| d * b / options.scale(j, *x).powi(2))
                .sum();
            if finite && halving == 0 && (projection >= 0.0 || scaled(&bar, x) <= GOOD * norm) {
                break;
            }
            if finite && projection >= 0.0 {
                low = at;
                if projection == 0.0 {
                    break;
                }
            } else {
                high = at;
            }
            if halving == HALVINGS {
                break;
            }
            at = 0.5 * (low + high);
            if at == low || at == high {
                break;
            }
        }
        if first_not_finite(&r).is_some() {
            break;
        }
        x.copy_from_slice(&trial);
    }
    let variable = (0..n)
        .max_by(|&a, &b| dx[a].abs().total_cmp(&dx[b].abs()))
        .unwrap_or(0);
    let row = (0..n)
        .max_by(|&a, &b| r[a].abs().total_cmp(&r[b].abs()))
        .unwrap_or(0);
    Err(NewtonError::NoConvergence {
        iterations: statistics.iterations,
        row,
        residual: r.get(row).copied().unwrap_or(0.0),
        variable,
        step: norm,
    })
}
