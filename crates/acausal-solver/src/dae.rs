//! What the integrators need from a model: the implicit residual `F(t, y, y') = 0`, its iteration matrix and its event
//! indicators.
//!
//! The caller implements [`Dae`]; the integrators call it and never look inside. Evaluation may fail: a *recoverable*
//! failure (a logarithm of a negative trial value) makes the integrator retry with a smaller step, a *fatal* one stops
//! it. Failures carry a row or a code of the caller, so that the caller can name the equation.

use acausal_cpu::{Pair, Shared};

use crate::bdf::Part;
use crate::factors::StepFactors;
use crate::pattern::Pattern;
use std::fmt;
use std::ops::Range;

/// An implicit system of differential-algebraic equations `F(t, y, y') = 0` of index one.
pub trait Dae {
    /// Number of equations and unknowns.
    fn len(&self) -> usize;

    /// Whether there is nothing to integrate.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes `F(t, y, yp)` to `r`.
    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), EvalError>;

    /// [`Dae::residual`] at a point that is predicted on the way, and whose values are forgotten as soon as they were used: where vectors
    /// do not stay in a cache they would be fetched and sent for nothing. Nothing, and nothing done, for models that do not do this.
    fn predicted_residual(
        &mut self,
        _t: f64,
        _point: Predicted<'_>,
    ) -> Option<Result<(), EvalError>> {
        None
    }

    /// Writes the values of `dF/dy + cj * dF/dy'` in the order of [`Dae::pattern`].
    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), EvalError>;

    /// The same, right after [`Dae::residual`] at the same point: what the residual has computed on its way can be used.
    fn jacobian_after_residual(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.jacobian(t, y, yp, cj, values)
    }

    /// Whether the iteration matrix depends on y or y'. If not, those of [`Dae::jacobian_after_residual`] may be others than the residual's.
    fn jacobian_needs_point(&self) -> bool {
        true
    }

    /// A second thread, for the loops of the integrator over long vectors.
    fn pair(&mut self) -> Option<&mut Pair> {
        None
    }

    /// Sparsity of the iteration matrix. May change only between [`crate::Bdf::restart`] calls.
    fn pattern(&self) -> &Pattern;

    /// Number of event indicators.
    fn roots_len(&self) -> usize {
        0
    }

    /// Writes the event indicators; their sign changes are located.
    fn roots(&mut self, _t: f64, _y: &[f64], _yp: &[f64], _g: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    /// The same at a point of the integrator's polynomial, inside of the last step, where algebraic unknowns and derivatives need not satisfy the
    /// equations. A model whose indicators depend on them may correct y and y' first; the factors are missing where the integrator has none.
    fn roots_inside(
        &mut self,
        t: f64,
        y: &mut [f64],
        yp: &mut [f64],
        _factors: Option<StepFactors<'_>>,
        g: &mut [f64],
    ) -> Result<(), EvalError> {
        self.roots(t, y, yp, g)
    }
}

/// A point that is predicted in parts.
#[derive(Clone, Copy)]
pub struct Predicted<'a> {
    /// Places for unknowns and derivatives, which need not be used.
    pub y: Shared<'a>,
    /// See [`Predicted::y`].
    pub yp: Shared<'a>,
    /// Where the residual goes. Rows may be written after the unknowns of the same numbers were predicted.
    pub r: Shared<'a>,
    pub(crate) predict: &'a Part<'a>,
}

impl Predicted<'_> {
    /// Predicts some unknowns and their derivatives, to the places given. In the end all must have been.
    ///
    /// # Safety
    /// No unknown is predicted twice, and while this runs nobody else uses a row of the residual in the range.
    pub unsafe fn predict(&self, range: Range<usize>, places: [&mut [f64]; 2]) {
        (self.predict)(range, places);
    }
}

/// An evaluation of the model that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvalError {
    /// The model is not defined at these values; a smaller step may avoid them.
    Recoverable(EvalReason),
    /// The integration cannot go on.
    Fatal(EvalReason),
}

/// Why an evaluation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalReason {
    /// The residual (or Jacobian, or indicator) of this row became infinite or not a number.
    NotFinite {
        /// Row of the residual, or index of the indicator.
        row: usize,
    },
    /// A reason that only the caller can explain, e.g. the index of an assertion in its own table.
    Caller {
        /// The caller's number for it.
        code: u64,
    },
}

impl EvalError {
    /// The reason, recoverable or not.
    pub fn reason(&self) -> EvalReason {
        match *self {
            Self::Recoverable(reason) | Self::Fatal(reason) => reason,
        }
    }
}

impl fmt::Display for EvalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { row } => write!(f, "row {row} is not a finite number"),
            Self::Caller { code } => write!(f, "the model refused these values (code {code})"),
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

impl std::error::Error for EvalError {}

/// Index of the first value that is not finite.
pub(crate) fn first_not_finite(values: &[f64]) -> Option<usize> {
    values.iter().position(|v| !v.is_finite())
}
