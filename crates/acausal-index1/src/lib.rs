//! From the flat model to the special index-one DAE.
mod dae;

pub use dae::{Dae, DiscreteEquation, Local, Quantity, Residual, Role, Unknown};
