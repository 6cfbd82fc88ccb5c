//! The unknowns of a step: its point (y, y'), and the correction that leads there from the prediction.
//!
//! Vectors that do not stay in a cache are not written before somebody needs them. So a step leaves work behind, and enums say how much: [`Stage`]
//! what y and y' are, [`Storage`] whether they have been computed, [`Progress`] which parts of the correction are in them.
//!
//! ```text
//! stage:     Interpolated ──attempt──► Attempt ──accepted──► Accepted ──asked for──► Settled ──asked for another t──► Interpolated
//!                                     (a failure begins it again)  └────────────── next attempt ──────────────┘
//! progress:  Predicted ──solve──► Held ──residual──► Applied ──solve──► HeldMore ──residual──► Applied
//! ```

use super::kernels;
use super::vector::Vector;

/// What y and y' are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The values at the start, or those of the interpolant at some time.
    Interpolated,
    /// Those of a step that is tried.
    Attempt,
    /// Those of the accepted step, whose correction is not in the history yet: the next prediction takes it there in the same pass.
    Accepted,
    /// The same, with the correction in the history.
    Settled,
}

/// Whether y and y' are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// They are.
    Stored,
    /// They were computed on the way of a residual only, by [`LargeDae::predicted_residual`](crate::LargeDae::predicted_residual).
    Deferred,
}

/// How much of the correction of a step there is. The last Newton correction `-factor * d` is held back until it is known that another one follows: if it
/// is enough, the next step needs it in the history only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Progress {
    /// Nothing.
    Predicted,
    /// One that is not applied.
    Held(f64),
    /// e, which is applied to y and y'.
    Applied,
    /// e, which is applied, and one that is not.
    HeldMore(f64),
}

impl Progress {
    /// The factor of the correction that is held back.
    pub fn held(self) -> Option<f64> {
        match self {
            Progress::Held(factor) | Progress::HeldMore(factor) => Some(factor),
            Progress::Predicted | Progress::Applied => None,
        }
    }

    /// Something is in e.
    pub fn is_applied(self) -> bool {
        matches!(self, Progress::Applied | Progress::HeldMore(_))
    }
}

/// The vectors of a step.
pub(super) struct Corrector {
    pub y: Vector,
    pub yp: Vector,
    /// Corrections that are applied to y and y'.
    pub e: Vector,
    /// Residual, then Newton correction.
    pub d: Vector,
    pub stage: Stage,
    pub storage: Storage,
    pub progress: Progress,
    /// Sums of squares of the correction that was found.
    pub sums: kernels::Sums,
}

impl Corrector {
    pub fn new(n: usize) -> Corrector {
        Corrector {
            y: Vector::zeros(n, 0),
            yp: Vector::zeros(n, 1),
            e: Vector::zeros(n, 2),
            d: Vector::zeros(n, 3),
            stage: Stage::Interpolated,
            storage: Storage::Stored,
            progress: Progress::Predicted,
            sums: kernels::Sums::default(),
        }
    }

    /// Takes given values.
    pub fn restart(&mut self, y: &[f64], yp: &[f64]) {
        self.y.copy_from_slice(y);
        self.yp.copy_from_slice(yp);
        self.stage = Stage::Interpolated;
        self.storage = Storage::Stored;
        self.progress = Progress::Predicted;
    }

    /// Holds the correction `-factor * d` back.
    pub fn hold(&mut self, factor: f64) {
        self.progress = match self.progress.is_applied() {
            false => Progress::Held(factor),
            true => Progress::HeldMore(factor),
        };
    }

    /// The correction of the step so far; there is one.
    pub fn correction(&self) -> kernels::Correction<'_> {
        match self.progress.held() {
            Some(factor) => kernels::Correction {
                earlier: self.progress.is_applied().then_some(&self.e[..]),
                scale: -factor,
                last: &self.d,
            },
            None => kernels::Correction {
                earlier: None,
                scale: 1.0,
                last: &self.e,
            },
        }
    }
}
