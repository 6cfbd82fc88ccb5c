//! Settings, counters and errors of the Newton iteration.

use crate::dae::EvalReason;
use std::fmt;

/// Settings of [`super::solve`].
#[derive(Clone, Debug)]
pub struct NewtonOptions {
    /// Largest last correction, relative to `max(|x|, nominal)`. Convergence is quadratic, so the error is far smaller.
    pub tolerance: f64,
    /// Iterations (Jacobian evaluations) before giving up.
    pub max_iterations: u32,
    /// Smallest damping factor before giving up. Deuflhard's recommendation for highly nonlinear problems is 1e-4; a few
    /// more cuts help to get back from where the model is not defined.
    pub min_damping: f64,
    /// Nominal sizes of the unknowns; empty means one.
    pub nominal: Vec<f64>,
    /// Lower bounds; empty means none.
    pub lower: Vec<f64>,
    /// Upper bounds; empty means none.
    pub upper: Vec<f64>,
    /// Residuals below this fraction of their terms count as rounding errors.
    pub roundoff: f64,
    /// A guess that the first correction would move by no more than the tolerance is the solution and stays as it is, to the
    /// last digit. Whoever alternates between this system and another one comes to rest only that way.
    pub stay: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_iterations: 100,
            min_damping: 1e-6,
            nominal: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            roundoff: 1e-13,
            stay: false,
        }
    }
}

impl NewtonOptions {
    pub(crate) fn check(&self, n: usize, x: usize) -> Result<(), NewtonError> {
        let fits = |list: &[f64]| list.is_empty() || list.len() == n;
        let positive = self.nominal.iter().all(|v| *v > 0.0 && v.is_finite());
        if x == n && fits(&self.nominal) && fits(&self.lower) && fits(&self.upper) && positive {
            Ok(())
        } else {
            Err(NewtonError::InvalidOptions)
        }
    }

    pub(crate) fn scale(&self, j: usize, x: f64) -> f64 {
        x.abs().max(self.nominal.get(j).copied().unwrap_or(1.0))
    }

    pub(crate) fn inside_bounds(&self, j: usize, x: f64) -> f64 {
        let low = self.lower.get(j).copied().unwrap_or(f64::NEG_INFINITY);
        let high = self.upper.get(j).copied().unwrap_or(f64::INFINITY);
        if x < low {
            low
        } else if x > high {
            high
        } else {
            x
        }
    }
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonStatistics {
    /// Iterations.
    pub iterations: u32,
    /// Residual evaluations.
    pub residual_evaluations: u32,
    /// Jacobian evaluations and factorisations.
    pub jacobian_evaluations: u32,
    /// Trial points that were refused.
    pub damped_trials: u32,
    /// Row and column of the pivot that vanished in the last Jacobian, if it was singular: the solution is then one of
    /// many.
    pub singular: Option<(usize, usize)>,
}

/// Why no solution was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewtonError {
    /// The iteration came to rest away from a solution, or took too long.
    NoConvergence {
        /// Iterations made.
        iterations: u32,
        /// Equation with the largest residual relative to its terms.
        row: usize,
        /// Its residual.
        residual: f64,
        /// Unknown with the largest (relative) last correction.
        variable: usize,
        /// That correction.
        step: f64,
    },
    /// The Jacobian has no inverse.
    Singular {
        /// Equation left without a pivot.
        row: usize,
        /// Unknown left without a pivot.
        col: usize,
    },
    /// More equations than unknowns, and they contradict each other.
    Inconsistent {
        /// Equation that is satisfied worst.
        row: usize,
        /// Its residual.
        residual: f64,
    },
    /// The model could not be evaluated at the start, or nowhere along the step.
    Evaluation {
        /// The model's reason.
        reason: EvalReason,
    },
    /// Lengths of the options and the system differ, or a nominal value is not positive.
    InvalidOptions,
}

impl fmt::Display for NewtonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConvergence {
                iterations,
                row,
                residual,
                ..
            } => {
                write!(
                    f,
                    "no convergence after {iterations} iterations: residual {residual:e} in equation {row}"
                )
            }
            Self::Singular { row, col } => {
                write!(f, "singular Jacobian (equation {row}, variable {col})")
            }
            Self::Inconsistent { row, residual } => {
                write!(
                    f,
                    "contradicting equations: residual {residual:e} in equation {row}"
                )
            }
            Self::Evaluation { reason } => write!(f, "evaluation failed: {reason}"),
            Self::InvalidOptions => write!(f, "options do not fit the system"),
        }
    }
}

impl std::error::Error for NewtonError {}
