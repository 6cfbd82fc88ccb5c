//! The numerical core of acausal: integrates implicit DAEs `F(t, y, y') = 0` of index one with sparse Jacobians.
//!
//! | module | what it does |
//! |---|---|
//! | `dae` | [`Dae`], the three methods that a model implements; [`Events`] and [`LargeDae`], what it may add |
//! | `pattern` | [`Pattern`]: where a sparse matrix has entries, column by column |
//! | [`bdf`] | [`Bdf`]: variable-order, variable-step BDF with event location and dense output |
//! | `factors` | [`StepFactors`]: the factors of the last step, for points inside of it |
//! | [`linear`] | LU factorisations of dense, banded and sparse matrices with a fixed pattern; ordering, rank, substitution |
//! | [`newton`] | damped Newton iteration for initialisation, torn and in blocks, with rescue by continuation |
//! | `parallel` | loops over long vectors in parts on several threads |
//! | `integrator` | [`Integrator`]: what [`Bdf`] and SUNDIALS IDA have in common |
//! | `ida` | SUNDIALS IDA (cargo feature `sundials`), the judge |
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
mod parallel;
mod pattern;

pub use bdf::{
    Bdf, BdfOptions, IntegratorProfile, InvalidInput, Move, RootCrossing, SolverError, Statistics,
    StepLimit, StepOutcome,
};
pub use dae::{Dae, DaeError, EvalReason, Events, LargeDae, Predicted};
pub use factors::StepFactors;
#[cfg(feature = "sundials")]
pub use ida::Ida;
pub use integrator::Integrator;
pub use newton::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
pub use pattern::{Pattern, PatternError};
