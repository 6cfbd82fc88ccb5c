//! What the integrators need from a model `F(t, y, y') = 0`.
//!
//! | trait | who implements it |
//! |---|---|
//! | [`Dae`] | every model: pattern, residual, Jacobian |
//! | [`Events`] | models with event indicators; [`Dae::events`] hands them out |
//! | [`LargeDae`] | models whose vectors do not stay in a cache; [`Dae::large`] hands out what takes less time with the same results |
//!
//! The caller implements them; the integrators call them and never look inside. Evaluation may fail: a *recoverable*
//! failure (a logarithm of a negative trial value) makes the integrator retry with a smaller step, a *fatal* one stops
//! it. Failures carry a row or a code of the caller, so that the caller can name the equation.

use acausal_cpu::{Shared, Team};

use crate::bdf::PredictPart;
use crate::factors::StepFactors;
use crate::pattern::Pattern;
use std::fmt;
use std::ops::Range;

/// An implicit system of differential-algebraic equations `F(t, y, y') = 0` of index one.
///
/// # Example
/// The reaction of Robertson, two differential equations and a conserved sum (Hairer & Wanner, "Solving ODEs II", sec. IV.1):
/// ```
/// use acausal_solver::{Bdf, BdfOptions, Dae, DaeError, Pattern, StepOutcome};
///
/// struct Robertson(Pattern);
///
/// impl Dae for Robertson {
///     fn pattern(&self) -> &Pattern {
///         &self.0
///     }
///     fn residual(&mut self, _t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
///         r[0] = yp[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
///         r[1] = yp[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
///         r[2] = y[0] + y[1] + y[2] - 1.0;
///         Ok(())
///     }
///     fn jacobian(&mut self, _t: f64, y: &[f64], _yp: &[f64], cj: f64, m: &mut [f64]) -> Result<(), DaeError> {
///         m.copy_from_slice(&[
///             // Column by column: dF/dy[0] + cj dF/dy'[0], and so on.
///             cj + 0.04, -0.04, 1.0,
///             -1e4 * y[2], cj + 1e4 * y[2] + 6e7 * y[1], 1.0,
///             -1e4 * y[1], 1e4 * y[1], 1.0,
///         ]);
///         Ok(())
///     }
/// }
///
/// let options = BdfOptions { rtol: 1e-8, atol: vec![1e-12], ..BdfOptions::default() };
/// let mut dae = Robertson(Pattern::dense(3));
/// let mut bdf = Bdf::new(options, 0.0, &[1.0, 0.0, 0.0], &[-0.04, 0.04, 0.0])?;
/// while bdf.step(&mut dae, 40.0)? != StepOutcome::StopReached {}
/// let y = bdf.y();
/// assert!((y[0] - 0.7158270688).abs() < 1e-7 && (y[1] - 9.185534765e-6).abs() < 1e-11);
/// # Ok::<(), acausal_solver::SolverError>(())
/// ```
pub trait Dae {
    /// Sparsity of the iteration matrix; its size is the number of equations and unknowns. May change only between
    /// [`crate::Bdf::restart`] calls.
    fn pattern(&self) -> &Pattern;

    /// Writes `F(t, y, yp)` to `r`.
    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError>;

    /// Writes the values of `dF/dy + cj * dF/dy'` in the order of [`Dae::pattern`].
    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError>;

    /// The event indicators, where the model has any.
    fn events(&mut self) -> Option<&mut dyn Events> {
        None
    }

    /// What saves time where the vectors do not stay in a cache.
    fn large(&mut self) -> Option<&mut dyn LargeDae> {
        None
    }
}

/// Event indicators: functions whose sign changes are located.
pub trait Events {
    /// Number of event indicators. May change only between [`crate::Bdf::restart`] calls.
    fn indicators_len(&self) -> usize;

    /// Writes the event indicators.
    fn indicators(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) -> Result<(), DaeError>;

    /// The same at a point of the integrator's polynomial, inside of the last step, where algebraic unknowns and derivatives need not satisfy the
    /// equations. A model whose indicators depend on them may correct y and y' first; the factors are missing where the integrator has none.
    fn indicators_inside(
        &mut self,
        t: f64,
        y: &mut [f64],
        yp: &mut [f64],
        _factors: Option<StepFactors<'_>>,
        g: &mut [f64],
    ) -> Result<(), DaeError> {
        self.indicators(t, y, yp, g)
    }
}

/// What a large model adds to [`Dae`]. The bits of the results must be those without it.
pub trait LargeDae {
    /// [`Dae::residual`] at a point that is predicted on the way, and whose values are forgotten as soon as they were used: where vectors
    /// do not stay in a cache they would be fetched and sent for nothing. Nothing, and nothing done, for models that do not do this.
    fn predicted_residual(
        &mut self,
        _t: f64,
        _point: Predicted<'_>,
    ) -> Option<Result<(), DaeError>> {
        None
    }

    /// [`Dae::jacobian`] right after [`Dae::residual`] at the same point: what the residual has computed on its way can be used.
    fn jacobian_after_residual(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError>;

    /// Whether the iteration matrix depends on y or y'. If not, those of [`LargeDae::jacobian_after_residual`] may be others than the residual's.
    fn jacobian_needs_point(&self) -> bool {
        true
    }

    /// Threads for the loops of the integrator over long vectors.
    fn team(&mut self) -> Option<&mut Team> {
        None
    }
}

/// The threads of a model.
pub(crate) fn team_of<D: Dae + ?Sized>(dae: &mut D) -> Option<&mut Team> {
    dae.large()?.team()
}

/// The number of event indicators of a model.
pub(crate) fn indicators_len<D: Dae + ?Sized>(dae: &mut D) -> usize {
    dae.events().map_or(0, |events| events.indicators_len())
}

/// Whether the iteration matrix of a model depends on y or y'.
pub(crate) fn jacobian_needs_point<D: Dae + ?Sized>(dae: &mut D) -> bool {
    dae.large().is_none_or(|large| large.jacobian_needs_point())
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
    pub(crate) predict: &'a PredictPart<'a>,
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
pub enum DaeError {
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

impl DaeError {
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

impl fmt::Display for DaeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

impl std::error::Error for DaeError {}

/// Index of the first value that is not finite.
pub(crate) fn first_not_finite(values: &[f64]) -> Option<usize> {
    values.iter().position(|v| !v.is_finite())
}
