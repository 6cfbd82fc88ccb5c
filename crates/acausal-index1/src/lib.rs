//! From the flat model to the special index-one DAE.
mod branches;
mod dae;
mod discrete;
mod discrete_start;
pub mod element;
mod emit;
mod hoist;
mod incidence;
mod linear;
mod nodes;
mod regularise;
mod report;
mod scalarise;
mod singular;
mod slopes;
mod solvable;
mod stabilise;
mod transform;
mod zeros;

pub use dae::{Dae, DiscreteEquation, Local, Part, Quantity, Residual, Role, RowKind, Unknown};
pub use discrete_start::{discrete_start, discrete_target};
pub use hoist::{auxiliary, hoist_reductions};
pub use regularise::Regularised;
pub use report::{BlockReport, FinalForm, FormReport, Report, StepReport};
pub use transform::{Options, transform, transform_noted, transform_with};
