//! What a step returns: the outcome, the typed errors, and the counters.

use crate::dae::EvalReason;
use std::fmt;

/// Where the integrator stands after [`super::Bdf::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// One internal step was made.
    Step,
    /// The stop time was reached exactly.
    StopReached,
    /// Event indicators changed sign; see [`super::Bdf::found_roots`]. The state stands just behind the crossing.
    Roots,
}

/// One event indicator that changed its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootCrossing {
    /// Index of the indicator.
    pub index: usize,
    /// From negative to positive.
    pub rising: bool,
}

/// What kept the step size from being larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepLimit {
    /// The local error; this variable contributes most.
    ErrorTest {
        /// Variable with the largest weighted error.
        variable: usize,
    },
    /// The corrector iteration does not converge.
    Convergence {
        /// Variable whose correction is largest.
        variable: usize,
        /// Equation with the largest (row-scaled) residual.
        row: usize,
    },
    /// The model cannot be evaluated ahead.
    Evaluation(EvalReason),
    /// The iteration matrix is singular.
    Singular {
        /// Equation left without a pivot.
        row: usize,
        /// Unknown left without a pivot.
        col: usize,
    },
}

/// Why the integration stopped. Every variant carries the time reached and the step that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverError {
    /// The step size fell below what the floating-point time resolves, or below the given minimum.
    StepTooSmall {
        /// Time of the last accepted step.
        t: f64,
        /// Step size tried.
        h: f64,
        /// What made it small.
        limit: StepLimit,
    },
    /// The same step failed too often.
    RepeatedFailure {
        /// Time of the last accepted step.
        t: f64,
        /// Step size tried.
        h: f64,
        /// The last failure.
        limit: StepLimit,
    },
    /// The iteration matrix has no inverse, whatever the step size.
    SingularMatrix {
        /// Time of the last accepted step.
        t: f64,
        /// Step size tried.
        h: f64,
        /// Equation left without a pivot.
        row: usize,
        /// Unknown left without a pivot.
        col: usize,
        /// Singular for every choice of values.
        structural: bool,
    },
    /// The model reported a fatal failure, or could not be evaluated where it must be.
    Evaluation {
        /// Time of the last accepted step.
        t: f64,
        /// Step size tried.
        h: f64,
        /// The model's reason.
        reason: EvalReason,
    },
    /// The bound on the number of steps was reached.
    TooManySteps {
        /// Time reached.
        t: f64,
        /// Current step size.
        h: f64,
        /// Steps made.
        steps: u64,
    },
    /// The tolerances ask for more digits than the numbers have.
    TooMuchAccuracy {
        /// Time reached.
        t: f64,
        /// Current step size.
        h: f64,
        /// Factor by which the tolerances must grow at least.
        factor: f64,
    },
    /// Wrong lengths or values of the options, or a stop time before the current time.
    InvalidInput {
        /// Time reached.
        t: f64,
        /// What is wrong.
        what: InvalidInput,
    },
}

impl SolverError {
    /// The time reached.
    pub fn t(&self) -> f64 {
        match self {
            SolverError::StepTooSmall { t, .. }
            | SolverError::RepeatedFailure { t, .. }
            | SolverError::SingularMatrix { t, .. }
            | SolverError::Evaluation { t, .. }
            | SolverError::TooManySteps { t, .. }
            | SolverError::TooMuchAccuracy { t, .. }
            | SolverError::InvalidInput { t, .. } => *t,
        }
    }
}

/// What is wrong with the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidInput {
    /// `rtol` is negative or not finite.
    RelativeTolerance,
    /// `atol` has neither one nor `len` entries, or one is negative, or both tolerances of a variable vanish.
    AbsoluteTolerance,
    /// `error_test` is neither empty nor of length `len`, or excludes everything.
    ErrorTestMask,
    /// The order is not in 1..=5.
    Order,
    /// A step size is not positive.
    StepSize,
    /// The start vectors or the pattern do not have the length of the model.
    Length,
    /// The stop time lies before the current time.
    StopTime,
}

impl fmt::Display for StepLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ErrorTest { variable } => write!(f, "local error of variable {variable}"),
            Self::Convergence { variable, row } => {
                write!(
                    f,
                    "corrector does not converge (variable {variable}, equation {row})"
                )
            }
            Self::Evaluation(reason) => write!(f, "{reason}"),
            Self::Singular { row, col } => {
                write!(f, "singular matrix (equation {row}, variable {col})")
            }
        }
    }
}

impl fmt::Display for SolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepTooSmall { t, h, limit } => {
                write!(f, "step size {h:e} too small at t = {t}: {limit}")
            }
            Self::RepeatedFailure { t, h, limit } => {
                write!(f, "step of size {h:e} at t = {t} failed too often: {limit}")
            }
            Self::SingularMatrix {
                t,
                row,
                col,
                structural,
                ..
            } => {
                let kind = if *structural {
                    "structurally"
                } else {
                    "numerically"
                };
                write!(
                    f,
                    "iteration matrix {kind} singular at t = {t} (equation {row}, variable {col})"
                )
            }
            Self::Evaluation { t, h, reason } => {
                write!(f, "evaluation failed at t = {t}, h = {h:e}: {reason}")
            }
            Self::TooManySteps { t, steps, .. } => {
                write!(f, "{steps} steps made, only t = {t} reached")
            }
            Self::TooMuchAccuracy { t, factor, .. } => {
                write!(
                    f,
                    "tolerances too small at t = {t}: multiply them by at least {factor:e}"
                )
            }
            Self::InvalidInput { t, what } => write!(f, "invalid input at t = {t}: {what:?}"),
        }
    }
}

impl std::error::Error for SolverError {}

/// Counters of one integrator since its creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Accepted steps by order; index 0 is unused.
    pub steps_by_order: [u64; 6],
    /// Residual evaluations.
    pub residual_evaluations: u64,
    /// Jacobian evaluations.
    pub jacobian_evaluations: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Iterations of the corrector (one linear solve each).
    pub newton_iterations: u64,
    /// Error test failures.
    pub error_test_failures: u64,
    /// Convergence failures of the corrector (with a current matrix).
    pub convergence_failures: u64,
    /// Recoverable evaluation failures.
    pub evaluation_failures: u64,
    /// Evaluations of the event indicators.
    pub root_evaluations: u64,
    /// Restarts after events.
    pub restarts: u64,
    /// Times the order was held at two because of an undamped oscillation.
    pub order_holds: u64,
}
