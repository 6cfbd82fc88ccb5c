//! The numerical core of acausal: integrates implicit DAEs `F(t, y, y') = 0` of index one with sparse Jacobians.
//!
//! - [`Dae`]: what a model provides (residual, iteration matrix, event indicators).
//! - [`Bdf`]: variable-order, variable-step BDF with event location and dense output.
//! - [`newton`]: damped Newton iteration for initialisation.
//! - [`Integrator`]: what [`Bdf`] and SUNDIALS IDA (cargo feature `sundials`) have in common.
//! - [`linear`]: LU factorisations of sparse matrices with a fixed pattern.
//!
//! The crate knows nothing of Modelica, of expressions or of files; indices in errors and statistics are rows and
//! columns of the caller's system.

pub mod bdf;
mod dae;
mod factors;
#[cfg(feature = "sundials")]
pub mod ida;
mod integrator;
pub mod linear;
pub mod newton;
mod pattern;
mod two;

pub use bdf::{
    Bdf, BdfOptions, InvalidInput, Move, Profile, RootCrossing, SolverError, Statistics, StepLimit,
    StepOutcome,
};
pub use dae::{Dae, EvalError, EvalReason, Predicted};
pub use factors::StepFactors;
#[cfg(feature = "sundials")]
pub use ida::Ida;
pub use integrator::Integrator;
pub use newton::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
pub use pattern::{Pattern, PatternError};
