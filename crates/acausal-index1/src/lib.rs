//! From the flat model to the special index-one DAE.
mod alias;
mod along;
mod branches;
mod dae;
mod discrete;
mod discrete_start;
mod disentangle;
pub mod element;
mod emit;
mod gaps;
mod hoist;
mod incidence;
mod jumps;
mod linear;
mod nodes;
mod preferences;
mod regularise;
mod report;
mod scalarise;
mod singular;
mod slopes;
mod solvable;
mod stabilise;
mod starts;
mod transform;
mod vanishing;
mod zeros;

pub use dae::{
    Continuity, Dae, DiscreteEquation, Local, Part, Quantity, Residual, Role, RowKind, Unknown,
};
pub use discrete::overlap;
pub use discrete_start::{discrete_start, discrete_target};
pub use hoist::{auxiliary, hoist_reductions};
pub use regularise::Regularised;
pub use report::{BlockReport, FinalForm, FormReport, Report, StepReport};
pub use transform::{Options, transform, transform_noted, transform_with};
