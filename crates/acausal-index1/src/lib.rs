//! From the flat model to the special index-one DAE.
mod dae;
pub mod element;
mod hoist;
mod transform;

pub use dae::{Dae, DiscreteEquation, Local, Quantity, Residual, Role, Unknown};
pub use hoist::{auxiliary, hoist_reductions};
pub use transform::transform;
